"""`condor_store_cred -c`: our tool at a real master, the real tool at ours, and what is refused.

Both go over the wire, as they do for whoever is not root.

Known by: CLAIMTOBE.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from interop.real_pool import RealPool, inside, peer_root, real_pool
from kettle.testing.pool_fixture import personal_pool
from kettle.tools.programs import Streams
from kettle.tools.tokens import condor_store_cred
from kettle.wire.security.tokens import pool_password

pytestmark = pytest.mark.interop

DOMAIN = "pool.example"
ACCOUNT = f"Account: condor_pool@{DOMAIN}\nCredType: password\n\n"
DONE = ACCOUNT + "Operation succeeded.\n"
NOT_THERE = ACCOUNT + "Operation failed: username not found.\n"
DENIED = (
    ACCOUNT
    + "Operation failed.\n"
    + "    Make sure you have ALLOW_ADMINISTRATOR access to the target Master.\n"
    + "    If the Master is older than 23.2.0, ALLOW_CONFIG access is needed.\n"
)
NOBODY_STORES = (
    "Account: eve@there\nCredType: password\n\n"
    "Operation failed.\n    Make sure your ALLOW_WRITE setting includes this host.\n"
)
CONFIGURATION = """
SEC_DEFAULT_AUTHENTICATION_METHODS = CLAIMTOBE
SEC_CLIENT_AUTHENTICATION_METHODS = CLAIMTOBE
SEC_DEFAULT_AUTHENTICATION = REQUIRED
ALLOW_READ = *
ALLOW_WRITE = *
ALLOW_ADMINISTRATOR = root@*
"""
# What either tool is told, as a user of that name, and what it says.
STORY = [
    ("root", "add -c -p s3cret", 0, DONE),
    ("eve", "delete -c", 1, DENIED),
    ("root", "add -c -p " + "x" * 256, 1, DENIED),
    ("root", "query -u eve@there", 1, NOBODY_STORES),
    ("root", "add -u eve@there -p x", 1, NOBODY_STORES),
    ("root", "delete -c", 0, DONE),
    ("root", "delete -c", 1, NOT_THERE),
]


def tell(run: Callable[[str, str], tuple[int, str]], kept: Path) -> None:
    """Tell a tool the story; the password lies there after the first line, and until the sixth."""
    for number, (user, words, code, said) in enumerate(STORY):
        assert run(user, words) == (code, said), words
        assert kept.exists() is (number < 5)
        if number < 5:
            assert pool_password(kept.read_bytes()) == b"s3cret"


@pytest.fixture
def real() -> Iterator[RealPool]:
    name = f"kettle-password-{os.getpid()}"
    extra = f"{CONFIGURATION}SEC_PASSWORD_FILE = /tmp/{name}/password\n"
    with real_pool(name, f"{extra}DAEMON_LIST = MASTER, COLLECTOR, SCHEDD\n") as pool:
        yield pool


def test_our_tool_at_a_real_master(
    real: RealPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    log = real.folder / "log"

    def run(user: str, words: str) -> tuple[int, str]:
        config = tmp_path / "config"
        config.write_text(
            f"{CONFIGURATION}SEC_CLAIMTOBE_USER = {user}\nUID_DOMAIN = {DOMAIN}\n"
            f"MASTER_ADDRESS_FILE = {log}/.master_address\n"
            f"SCHEDD_ADDRESS_FILE = {real.folder}/spool/.schedd_address\n"
        )
        out = io.StringIO()
        streams = Streams(io.StringIO(), out, io.StringIO())
        argv = ["condor_store_cred", *words.split()]
        code = condor_store_cred.main(argv, {"CONDOR_CONFIG": str(config)}, streams)
        return code, out.getvalue()

    tell(run, real.folder / "password")


def test_the_real_tool_at_our_master(tmp_path: Path) -> None:
    root = peer_root()
    folder = f"/tmp/kettle-stranger-{os.getpid()}"
    place = root / folder[1:]
    kept = tmp_path / "password"
    place.mkdir()
    try:
        with personal_pool(
            tmp_path / "pool", f"{CONFIGURATION}SEC_PASSWORD_FILE = {kept}\n"
        ) as pool:
            for file in Path(pool.log_folder).glob(".*address"):
                shutil.copy(file, place / file.name)

            def run(user: str, words: str) -> tuple[int, str]:
                (place / "config").write_text(
                    f"{CONFIGURATION}SEC_CLAIMTOBE_USER = {user}\nUID_DOMAIN = {DOMAIN}\n"
                    f"LOG = {folder}\nSPOOL = {folder}\nCOLLECTOR_HOST = 127.0.0.1:1\n"
                    f"MASTER_ADDRESS_FILE = {folder}/.master_address\n"
                    f"SCHEDD_ADDRESS_FILE = {folder}/.schedd_address\n"
                )
                line = f"CONDOR_CONFIG={folder}/config condor_store_cred {words}"
                done = subprocess.run(
                    [*inside(root), "su", "tester", "-s", "/bin/bash", "-c", line],
                    capture_output=True,
                    text=True,
                    timeout=60,
                    check=False,
                )
                return done.returncode, done.stdout

            tell(run, kept)
    finally:
        shutil.rmtree(place)
