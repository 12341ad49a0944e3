"""Every method of authentication, with the real programs at the one end and ours at the other.

Each row of the tables is a pairing that was seen; the manual's page on methods is made from them.

Known by: every method of the second table; encrypted.
"""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest

from certificates import Authority
from interop.real_pool import inside, peer_root, real_pool
from kettle.tools.programs import Streams
from kettle.tools.status import condor_ping
from kettle.wire.security import tokens
from kettle.wire.sinful import Sinful

pytestmark = pytest.mark.interop

KEY = b"0123456789abcdef0123456789abcdef"
ALIAS = "pool.example"
# What the daemons of both sides are told; {pki} is a folder that both sides see.
SERVER = """\
SEC_DEFAULT_AUTHENTICATION_METHODS=SSL,FS_REMOTE,PASSWORD,IDTOKENS,FS,CLAIMTOBE,ANONYMOUS
SEC_DEFAULT_AUTHENTICATION=REQUIRED
SEC_DEFAULT_ENCRYPTION=REQUIRED
SEC_DEFAULT_INTEGRITY=REQUIRED
TRUST_DOMAIN=test
UID_DOMAIN=test
HOST_ALIAS=pool.example
FS_LOCAL_DIR={pki}/fs
FS_REMOTE_DIR={pki}/fs
AUTH_SSL_SERVER_CERTFILE={pki}/host.pem
AUTH_SSL_SERVER_KEYFILE={pki}/host.key
AUTH_SSL_SERVER_CAFILE={pki}/ca.pem
SEC_PASSWORD_FILE={pki}/keys/POOL
SEC_TOKEN_POOL_SIGNING_KEY_FILE={pki}/keys/POOL
SEC_PASSWORD_DIRECTORY={pki}/keys
CERTIFICATE_MAPFILE={pki}/mapfile
"""
CLIENT = """\
SEC_CLIENT_AUTHENTICATION=REQUIRED
SEC_CLIENT_ENCRYPTION=REQUIRED
TRUST_DOMAIN=test
UID_DOMAIN=test
AUTH_SSL_CLIENT_CAFILE={pki}/ca.pem
SEC_PASSWORD_FILE={pki}/keys/POOL
SEC_TOKEN_POOL_SIGNING_KEY_FILE={pki}/none
SEC_PASSWORD_DIRECTORY={pki}/none
SEC_TOKEN_DIRECTORY={pki}/tokens
SEC_TOKEN_SYSTEM_DIRECTORY={pki}/none
"""
MAPFILE = """\
SSL "/O=Test/CN=alice" alice@mapped
CLAIMTOBE root@test claimed@mapped
"""

# What the client has, which method comes of it, as whom it is known. {me} is the client's account.
WITH_CERTIFICATE = (
    "AUTH_SSL_CLIENT_CERTFILE={pki}/user.pem\nAUTH_SSL_CLIENT_KEYFILE={pki}/user.key\n"
)
NO_AUTHORITY = "AUTH_SSL_CLIENT_CAFILE={pki}/none\nAUTH_SSL_CLIENT_USE_DEFAULT_CAS=false\n"
NO_SECRETS = "SEC_PASSWORD_FILE={pki}/none\nSEC_TOKEN_DIRECTORY={pki}/none\n"
PAIRINGS = {
    "FS": ("FS", "", "FS", "{fs}"),
    "FS_REMOTE": ("FS_REMOTE", "", "FS_REMOTE", "{fs}"),
    "CLAIMTOBE": ("CLAIMTOBE", "", "CLAIMTOBE", "{claimed}"),
    "ANONYMOUS": ("ANONYMOUS", "", "ANONYMOUS", "CONDOR_ANONYMOUS_USER"),
    "PASSWORD": ("PASSWORD", "", "PASSWORD", "condor@password"),
    "a token": ("IDTOKENS", "", "IDTOKENS", "bob@test"),
    "SSL without a certificate": ("SSL", "", "SSL", "unauthenticated@unmapped"),
    "SSL with a mapped certificate": ("SSL", WITH_CERTIFICATE, "SSL", "alice@mapped"),
    "the server's order decides": ("CLAIMTOBE,FS,PASSWORD", "", "PASSWORD", "condor@password"),
    "unknown methods are passed over": ("KERBEROS,MUNGE,CLAIMTOBE", "", "CLAIMTOBE", "{claimed}"),
    "a client without a token": ("IDTOKENS,CLAIMTOBE", NO_SECRETS, "CLAIMTOBE", "{claimed}"),
    "a client without the password": ("PASSWORD,CLAIMTOBE", NO_SECRETS, "CLAIMTOBE", "{claimed}"),
    "a client that trusts nobody": ("SSL,CLAIMTOBE", NO_AUTHORITY, "CLAIMTOBE", "{claimed}"),
}
# What fails, and the last thing that is said about it.
NO_METHOD = "SECMAN:2005:Protocol Error: No auth methods."
FAILED = "AUTHENTICATE:1003:Failed to authenticate with any method"
CLOSED = (
    "SECMAN:2011:Connection closed during command authorization. "
    "Probably due to an unknown command."
)
FAILURES = {
    "a method that nobody has": ("MUNGE", "", [NO_METHOD]),
    "SSL that trusts nobody": (
        "SSL",
        NO_AUTHORITY,
        [FAILED, "AUTHENTICATE:1004:Failed to authenticate using SSL"],
    ),
    "no token": (
        "IDTOKENS",
        NO_SECRETS,
        [FAILED, "AUTHENTICATE:1004:Failed to authenticate using IDTOKENS"],
    ),
    "two that fail": (
        "PASSWORD,IDTOKENS",
        NO_SECRETS,
        [
            FAILED,
            "AUTHENTICATE:1004:Failed to authenticate using IDTOKENS",
            "AUTHENTICATE:1004:Failed to authenticate using PASSWORD",
        ],
    ),
    "no encryption": ("FS", "SEC_CLIENT_ENCRYPTION=NEVER\n", [CLOSED]),
}


@dataclass
class Secrets:
    """A folder of keys, tokens and certificates inside the chroot, under a name both sides know."""

    root: Path
    name: str

    @property
    def inside(self) -> str:
        return f"/tmp/{self.name}"

    @property
    def outside(self) -> Path:
        return self.root / "tmp" / self.name

    def make(self) -> None:
        folder = self.outside
        for name in ("fs", "keys", "tokens"):
            (folder / name).mkdir(parents=True)
        (folder / "fs").chmod(0o1777)
        authority = Authority(folder)
        authority.make("host", f"CN={ALIAS},O=Test", dns=ALIAS)
        authority.make("user", "CN=alice,O=Test")
        (folder / "keys/POOL").write_bytes(tokens.scramble(KEY))
        token = tokens.mint_token(
            tokens.signing_key("POOL", tokens.scramble(KEY)),
            key_id="POOL",
            issuer="test",
            subject="bob@test",
            issued_at=int(time.time()),
            token_id="0" * 32,
        )
        (folder / "tokens/bob").write_text(token)
        (folder / "mapfile").write_text(MAPFILE)
        for path in (*folder.glob("*.key"), *folder.glob("keys/*"), *folder.glob("tokens/*")):
            path.chmod(0o600)


@pytest.fixture(scope="module")
def both() -> Iterator[Secrets]:
    """Secrets that both sides find under the same path."""
    found = Secrets(peer_root(), f"kettle-pki-{os.getpid()}")
    found.make()
    link = Path(found.inside)
    link.symlink_to(found.outside)
    try:
        yield found
    finally:
        link.unlink()
        subprocess.run(["rm", "-rf", str(found.outside)], check=True)


def pinged(both: Secrets, address: Sinful, form: str, methods: str, extra: str) -> tuple[int, str]:
    """Run our condor_ping as the user that this test is."""
    text = CLIENT + f"SEC_CLIENT_AUTHENTICATION_METHODS={methods}\n" + extra
    path = both.outside / "client_config"
    path.write_text(text.format(pki=both.inside))
    out = StringIO()
    environment = {"PATH": os.environ["PATH"], "CONDOR_CONFIG": str(path)}
    words = ["condor_ping", "-address", str(address), *([form] if form else []), "READ"]
    code = condor_ping.main(words, environment, Streams(StringIO(), out, out))
    return code, out.getvalue()


def really_pinged(
    both: Secrets, address: Sinful, form: str, methods: str, extra: str
) -> tuple[int, str]:
    """Run the real condor_ping as root inside the chroot."""
    text = CLIENT + f"SEC_CLIENT_AUTHENTICATION_METHODS={methods}\n" + extra
    (both.outside / "real_config").write_text(text.format(pki=both.inside))
    setting = f"CONDOR_CONFIG={both.inside}/real_config"
    words = ["condor_ping", "-address", str(address), *([form] if form else []), "READ"]
    done = subprocess.run(
        [*inside(both.root), "env", setting, *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


PINGS = {"ours": pinged, "real": really_pinged}


@pytest.fixture(scope="module")
def real(both: Secrets) -> Iterator[Sinful]:
    """A collector of the real HTCondor with every method."""
    extra = "DAEMON_LIST=MASTER,COLLECTOR,SCHEDD\n" + SERVER.format(pki=both.inside)
    with real_pool(f"kettle-methods-{os.getpid()}", extra) as pool:
        yield pool.collector


OURS = """\
LOCAL_DIR={folder}
LOG=$(LOCAL_DIR)
SPOOL=$(LOCAL_DIR)
NETWORK_INTERFACE=127.0.0.1
COLLECTOR_HOST=127.0.0.1:0
COLLECTOR_ADDRESS_FILE=$(LOG)/.collector_address
USE_SHARED_PORT=false
ALLOW_READ=*
ALLOW_WRITE=*
ALLOW_ADVERTISE_SCHEDD=*
"""


@contextmanager
def our_collector(folder: Path, extra: str) -> Iterator[Sinful]:
    (folder / "condor_config").write_text(OURS.format(folder=folder) + extra)
    environment = {
        "PATH": os.environ["PATH"],
        "CONDOR_CONFIG": str(folder / "condor_config"),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    address_file = folder / ".collector_address"
    with (folder / "out").open("w") as output:
        command = [sys.executable, "-m", "kettle.collector", "-f"]
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
    try:
        deadline = time.monotonic() + 20
        while not address_file.exists():
            assert time.monotonic() < deadline, (folder / "out").read_text()
            time.sleep(0.1)
        yield Sinful.parse(address_file.read_text().split("\n")[0])
    finally:
        process.send_signal(signal.SIGQUIT)
        process.wait(20)


@pytest.fixture(scope="module")
def ours(both: Secrets, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sinful]:
    folder = tmp_path_factory.mktemp("methods")
    with our_collector(folder, SERVER.format(pki=both.inside)) as address:
        yield address


def owner_of_directory(both: Secrets, client: str, server: str) -> str:
    """Whose directory FS finds: root's, or that of the account the real tool changes to."""
    if server == "real":
        return "condor@test"
    if client == "ours":
        accounts = {one.pw_name for one in pwd.getpwall()}
        return "condor@test" if "condor" in accounts else "root@test"
    lines = (both.root / "etc/passwd").read_text().splitlines()
    uid = next(int(one.split(":")[2]) for one in lines if one.startswith("condor:"))
    return f"{pwd.getpwuid(uid).pw_name}@test"


@pytest.mark.parametrize("server", ["ours", "real"])
@pytest.mark.parametrize("client", ["ours", "real"])
@pytest.mark.parametrize("pairing", PAIRINGS)
def test_each_method_works_between_all_of_them(
    request: pytest.FixtureRequest, both: Secrets, client: str, server: str, pairing: str
) -> None:
    address: Sinful = request.getfixturevalue(server)
    methods, extra, method, user = PAIRINGS[pairing]
    code, said = PINGS[client](both, address, "", methods, extra)
    assert code == 0, said
    begin = f"READ command using (AES, AES, and {method}) succeeded as "
    assert said.startswith(begin), said
    known = said.removeprefix(begin).partition(" to ")[0]
    if user == "{claimed}":
        assert known in {"claimed@mapped", "condor@test"}, said
    else:
        assert known == user.format(fs=owner_of_directory(both, client, server)), said


@pytest.mark.parametrize("server", ["ours", "real"])
@pytest.mark.parametrize("client", ["ours", "real"])
@pytest.mark.parametrize("failure", FAILURES)
def test_what_fails_is_said_in_the_same_words(
    request: pytest.FixtureRequest, both: Secrets, client: str, server: str, failure: str
) -> None:
    address: Sinful = request.getfixturevalue(server)
    methods, extra, expected = FAILURES[failure]
    code, said = PINGS[client](both, address, "-verbose", methods, extra)
    assert code == 1, said
    lines = said.splitlines()
    assert lines[0] == "READ failed!"
    assert lines[1 : 1 + len(expected)] == expected, said
    code, said = PINGS[client](both, address, "", methods, extra)
    assert (code, said) == (1, "READ failed!  Use -verbose for more information.\n")


@pytest.mark.parametrize("server", ["ours", "real"])
@pytest.mark.parametrize("client", ["ours", "real"])
def test_a_certificate_for_another_host_is_no_proof(
    request: pytest.FixtureRequest, both: Secrets, client: str, server: str
) -> None:
    address: Sinful = request.getfixturevalue(server).with_parameter("alias", "other.example")
    code, said = PINGS[client](both, address, "-verbose", "SSL", "")
    assert (code, said.splitlines()[1]) == (1, FAILED), said
    code, said = PINGS[client](both, address, "", "SSL,CLAIMTOBE", "")
    assert code == 0, said
    assert "and CLAIMTOBE) succeeded" in said
    code, said = PINGS[client](both, address, "", "SSL", "SSL_SKIP_HOST_CHECK=true\n")
    assert code == 0, said
    assert "and SSL) succeeded" in said


@pytest.mark.parametrize("client", ["ours", "real"])
def test_our_server_can_demand_a_certificate_and_its_mapping(
    both: Secrets, client: str, tmp_path: Path
) -> None:
    demands = "AUTH_SSL_REQUIRE_CLIENT_CERTIFICATE=true\nAUTH_SSL_REQUIRE_CLIENT_MAPPING=true\n"
    with our_collector(tmp_path, SERVER.format(pki=both.inside) + demands) as address:
        code, said = PINGS[client](both, address, "", "SSL", WITH_CERTIFICATE)
        assert code == 0, said
        assert "alice@mapped" in said
        code, said = PINGS[client](both, address, "", "SSL", "")
        assert code == 1, said
