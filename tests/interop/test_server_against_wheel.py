"""The PyPI wheel `htcondor` as a client of our half of the negotiation, with a token of ours.

Known by: IDTOKENS.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from interop.test_server_against_real_tools import ChrootCredentials, running
from kettle.config import Config
from kettle.wire.security import tokens

pytestmark = pytest.mark.interop

KEY = tokens.signing_key("POOL", bytes(range(1, 65)))
PROGRAM = """
import htcondor2, sys
collector = htcondor2.Collector(sys.argv[1])
for _ in range(3):
    for ad in collector.query(htcondor2.AdTypes.Startd):
        print(ad["Name"], ad["Cpus"])
"""


class TokenCredentials(ChrootCredentials):
    """Server credentials with one signing key."""

    def signing_key(self, key_id: str) -> bytes | None:
        return KEY if key_id == "POOL" else None

    def issuer_keys(self) -> tuple[str, ...]:
        return ("POOL",)


def wheel_python() -> str:
    """Return an interpreter that has the wheel ($KETTLE_WHEEL_PYTHON, else ours), or skip."""
    named = os.environ.get("KETTLE_WHEEL_PYTHON")
    if named:
        return named
    if find_spec("htcondor2") is None:
        pytest.skip("the PyPI wheel htcondor is not installed; set KETTLE_WHEEL_PYTHON")
    return sys.executable


def test_the_wheel_uses_our_token_and_resumes_its_session(tmp_path: Path) -> None:
    folder = tmp_path / "tokens.d"
    folder.mkdir(mode=0o700)
    text = tokens.mint_token(
        KEY,
        key_id="POOL",
        issuer="pool",
        subject="joe@pool",
        issued_at=int(time.time()),
        token_id="ab" * 16,
    )
    (folder / "one").touch(mode=0o600)
    (folder / "one").write_text(f"{text}\n")
    settings = {
        "CONDOR_CONFIG": "/dev/null",
        "_CONDOR_SEC_TOKEN_DIRECTORY": str(folder),
        "_CONDOR_SEC_CLIENT_AUTHENTICATION_METHODS": "TOKEN",
        "_CONDOR_ALLOW_CLIENT": "*",
        "_CONDOR_TRUST_DOMAIN": "pool",
    }
    python = wheel_python()
    with running(("TOKEN",), root=tmp_path) as server:
        server.setup.credentials = TokenCredentials(Config.from_text(""), tmp_path)
        server.setup.trust_domain = "pool"
        done = subprocess.run(
            [python, "-c", PROGRAM, str(server.address)],
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.stdout == "slot1@kettle 3\n" * 3, (done.stderr, server.errors)
    assert {(one.peer.user, one.peer.method) for one in server.accepted} == {("joe@pool", "TOKEN")}
    assert len({one.peer.session_id for one in server.accepted}) == 1
