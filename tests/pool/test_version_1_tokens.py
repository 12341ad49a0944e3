"""A token that a script of version 1 asks a pool for, and that its administrator approves."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from kettle.testing.pool_fixture import personal_pool

SCRIPT = """\
import json, sys
from kettle.compat import htcondor

request = htcondor.TokenRequest("ann@example.net", bounding_set=["READ"], lifetime=600)
request.submit()
print(request.request_id, request.done(), flush=True)
if sys.stdin.readline() != "approved\\n":
    sys.exit("nobody approved it")
token = request.result(timeout=60)
token.write("asked_for")
print(json.dumps([request.done(), type(token).__name__]))
"""


def test_a_token_is_there_once_the_request_is_approved(tmp_path: Path) -> None:
    with personal_pool(tmp_path / "pool") as pool:
        around = pool.environment()
        paths = ":".join(path for path in sys.path if path)
        asking = subprocess.Popen(
            [sys.executable, "-c", SCRIPT],
            env={**around, "PYTHONPATH": paths, "_CONDOR_SEC_TOKEN_DIRECTORY": str(tmp_path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert asking.stdout is not None
            number, done = asking.stdout.readline().split()
            assert (number.isdecimal(), done) == (True, "False")
            approved = tool("condor_token_request_approve", "-reqid", number, around=around)
            assert f"Request {number} approved successfully." in approved
            told, _ = asking.communicate("approved\n", timeout=120)
        finally:
            asking.kill()
            asking.wait()
        assert json.loads(told) == [True, "Token"]
        listed = tool("condor_token_list", "-dir", str(tmp_path), around=around)
        assert '"sub":"ann@example.net"' in listed
        assert '"scope":"condor:/READ"' in listed


def tool(name: str, *words: str, around: dict[str, str]) -> str:
    code = f"from kettle.tools.programs import {name}; {name}()"
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        env={**around, "PYTHONPATH": ":".join(path for path in sys.path if path)},
        input="yes\n",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
