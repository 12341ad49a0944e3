"""What keeps a machine out of a pool: one sentence with the nearest right thing, and no traces."""

from __future__ import annotations

import contextlib
import io
import os
import pwd
import re
import socket
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kettle.pool.joining import check_still_admitted, token_path
from kettle.pool.location import Member, Role
from kettle.pool.personal import PersonalPool
from kettle.tools.programs import Streams, load_tool
from kettle.wire.security.tokens import mint_token, parse_token
from pool_jobs import run_tool, wait_until
from system_pools import LIBRARIES, SOURCES, find_interpreter


def kettle(*words: str) -> tuple[int, str]:
    """Run the program in this process; return its exit code and what it said."""
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    code: int = load_tool("kettle")(["kettle", *words], os.environ, streams)
    assert isinstance(streams.stdout, io.StringIO)
    assert isinstance(streams.stderr, io.StringIO)
    return code, streams.stdout.getvalue() + streams.stderr.getvalue()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


@dataclass
class Centre:
    """A pool that others may join, at this machine's own loopback address."""

    folder: Path
    port: int

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def token(self, path: Path, *words: str) -> str:
        made = ("--dir", str(self.folder), "--output", str(path), *words)
        assert kettle("token", *made) == (0, "")
        return str(path)


@pytest.fixture(scope="module")
def centre() -> Iterator[Centre]:
    # Under root, jobs' accounts have to get into it.
    above = Path(tempfile.mkdtemp(prefix="kettle-centre-"))
    above.chmod(0o755)
    made = Centre(above / "pool", free_port())
    code, said = kettle("up", "--dir", str(made.folder), "--host", made.address)
    try:
        assert code == 0, said
        yield made
    finally:
        kettle("down", "--dir", str(made.folder), "--fast", "--purge")
        above.rmdir()


@pytest.fixture
def home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="kettle-member-") as made:
        Path(made).chmod(0o755)
        yield Path(made)


def refusal(folder: Path, *words: str) -> str:
    """Return why a machine may not join; nothing of it is left."""
    code, said = kettle("up", "--dir", str(folder / "member"), "--join", *words)
    assert code == 1, said
    assert not (folder / "member").exists()
    return said


def test_a_way_that_leads_elsewhere_is_told_from_a_token_that_is_not_good(
    centre: Centre, home: Path, tmp_path: Path
) -> None:
    token = centre.token(tmp_path / "token")
    said = refusal(home, centre.address)
    assert "--join needs --token-file F" in said
    said = refusal(home, f"127.0.0.3:{centre.port}", "--token-file", token)
    assert f"nothing listens at 127.0.0.3:{centre.port} ({centre.address} answers: use it)" in said
    address = (centre.folder / "spool" / ".schedd_address").read_text()
    schedd = re.search(r"127\.0\.0\.1:\d+", address)
    assert schedd is not None
    said = refusal(home, schedd[0], "--token-file", token)
    assert f"what listens at {schedd[0]} is no collector" in said
    assert "others can read" not in said
    forged = tmp_path / "forged"
    forged.write_text(token_of(token)[:-8] + "AAAAAAAA\n")
    forged.chmod(0o644)
    said = refusal(home, centre.address, "--token-file", str(forged))
    assert f"{centre.address} does not accept the token in {forged}" in said
    assert f"others can read {forged}, and may join in this machine's place: chmod 600 " in said
    assert f"kettle token, on the machine of {centre.address}, makes another one" in said
    submits = centre.token(tmp_path / "submits", "--for", "submit")
    said = refusal(home, centre.address, "--token-file", submits)
    assert "it refuses ADVERTISE_STARTD (make a token with kettle token --for execute)" in said


def test_what_is_no_daemon_at_all_is_said_to_be_none(
    centre: Centre, home: Path, tmp_path: Path
) -> None:
    token = centre.token(tmp_path / "token")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def greet() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection, contextlib.suppress(OSError):
                    connection.sendall(b"SSH-2.0-OpenSSH_9.9\r\n")
                    connection.recv(1 << 16)

        threading.Thread(target=greet, daemon=True).start()
        said = refusal(home, f"127.0.0.1:{port}", "--token-file", token)
        server.shutdown(socket.SHUT_RDWR)
    assert f"what listens at 127.0.0.1:{port} is nothing of HTCondor's" in said


def test_a_member_whose_token_is_revoked_is_out_at_once_and_told_so_when_it_comes_again(
    centre: Centre, home: Path, tmp_path: Path
) -> None:
    token, member = centre.token(tmp_path / "token"), home / "member"
    pool = PersonalPool(str(centre.folder))
    code, said = kettle(
        "up", "--dir", str(member), "--join", centre.address, "--token-file", token, "--name", "m"
    )
    revoked = centre.folder / "config.d" / "revoked"
    try:
        assert code == 0, said
        named = ("-constraint", 'regexp("m@", Name)', "-af", "Name")
        assert run_tool(pool, "condor_status", *named)[1].startswith("slot1@m@")
        jti = parse_token(token_of(token).strip()).claim("jti")
        revoked.write_text(f'SEC_TOKEN_REVOCATION_EXPR = jti == "{jti}"\n')
        assert run_tool(pool, "condor_reconfig", "-all")[0] == 0
        wait_until(lambda: not run_tool(pool, "condor_status", *named)[1], 20)
        assert kettle("down", "--dir", str(member), "--fast")[0] == 0
        code, said = kettle("up", "--dir", str(member))
        assert code == 1, said
        assert f"{centre.address} does not accept the token in {member}" in said
        assert "has been revoked" in said
    finally:
        kettle("down", "--dir", str(member), "--fast", "--purge")
        revoked.unlink(missing_ok=True)
        run_tool(pool, "condor_reconfig", "-all")


def test_a_member_that_comes_before_its_centre_is_not_taken_for_refused(home: Path) -> None:
    key = bytes(64)
    text = mint_token(
        key, key_id="POOL", issuer="there", subject="m@there", issued_at=1, token_id="1"
    )
    location = Member("127.0.0.1", free_port(), Role.EXECUTE, "127.0.0.1", "m")
    pool = PersonalPool(str(home / "member"), location=location)
    check_still_admitted(pool, 2.0)
    pool.make()
    Path(token_path(pool)).write_text(f"{text}\n")
    Path(token_path(pool)).chmod(0o600)
    check_still_admitted(pool, 2.0)


def token_of(path: str) -> str:
    return Path(path).read_text().strip()


@pytest.mark.root
def test_another_account_of_the_centre_s_own_host_joins_with_its_token(
    centre: Centre, home: Path, make_account: Callable[[str], pwd.struct_passwd]
) -> None:
    account = make_account("member")
    os.chown(home, account.pw_uid, account.pw_gid)
    token = centre.token(home / "token")
    os.chown(token, account.pw_uid, account.pw_gid)

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        return call_as(account, find_interpreter(account.pw_uid), home, *words)

    where = ("--dir", str(home / "member"))
    joins = ("--join", centre.address, "--token-file", token, "--name", "guest")
    done = call("kettle", "up", *where, *joins)
    try:
        assert done.returncode == 0, done.stderr
        assert f"It is a member of the pool at {centre.address}, for execute." in done.stdout
        seen = call("condor_status", "-af", "Name")
        assert any(name.startswith("slot1@guest@") for name in seen.stdout.split()), seen
        # Its own daemons know nothing of tokens, and the account by the file system.
        assert call("condor_off", "-startd").returncode == 0
    finally:
        done = call("kettle", "down", *where, "--fast", "--purge")
    assert done.returncode == 0, done.stderr


def call_as(
    account: pwd.struct_passwd, python: str, home: Path, *words: str
) -> subprocess.CompletedProcess[str]:
    code = f"import sys; from kettle.tools.programs import {words[0]} as it; sys.exit(it())"
    return subprocess.run(
        [python, "-c", code, *words[1:]],
        cwd=home,
        env={
            "PATH": os.defpath,
            "HOME": str(home),
            "CONDOR_CONFIG": str(home / "member" / "condor_config"),
            "PYTHONPATH": os.pathsep.join((SOURCES, LIBRARIES)),
        },
        user=account.pw_uid,
        group=account.pw_gid,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
