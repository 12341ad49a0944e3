"""A pool of the whole machine for tests: root starts it, its daemons work as another account.

The account must be able to read Python and Kettle. Where the interpreter that runs the tests lies
in root's own folder, the system's Python of the same version stands in for it, with its libraries.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import kettle
from kettle.pool.personal import PersonalPool
from kettle.runtime.process.privileges import account_of, first_closed
from kettle.testing.pool_fixture import print_logs, wait_until_gone

SOURCES = os.path.dirname(os.path.dirname(os.path.abspath(kettle.__file__)))
LIBRARIES = sysconfig.get_path("purelib")
SYSTEM_PYTHON = "/usr/bin/python3"
_VERSION = "import sys; print(sys.version_info[:2])"


def find_interpreter(uid: int) -> str:
    """Return a Python that an account can run; skips aloud where there is none."""
    account = account_of(uid)
    if any(first_closed(account, place) for place in (SOURCES, LIBRARIES)):
        pytest.skip(f"{SOURCES} or {LIBRARIES} is closed to other accounts")
    if not any(first_closed(account, place) for place in (sys.prefix, sys.base_prefix)):
        return sys.executable
    with contextlib.suppress(OSError):
        words = [SYSTEM_PYTHON, "-c", _VERSION]
        said = subprocess.run(words, capture_output=True, text=True, check=False).stdout
        if said.strip() == str(sys.version_info[:2]):
            return SYSTEM_PYTHON
    pytest.skip(f"{sys.base_prefix} is closed to other accounts, and {SYSTEM_PYTHON} is another")


@dataclass
class SystemPool:
    """A pool of the whole machine in a folder of its own."""

    pool: PersonalPool
    account: pwd.struct_passwd
    python: str
    settings: Path

    def environment(self) -> dict[str, str]:
        path = os.pathsep.join((SOURCES, LIBRARIES))
        return {
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": path,
            "CONDOR_CONFIG": self.pool.config_file,
        }

    def call(self, name: str, *words: str, by: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a tool as a program, as somebody."""
        code = (
            f"import sys; sys.argv[0] = {name!r}\n"
            f"from kettle.tools.programs import {name} as run; sys.exit(run())"
        )
        return subprocess.run(
            [self.python, "-P", "-c", code, *words],
            env=self.environment(),
            cwd="/",
            user=by,
            group=pwd.getpwuid(by).pw_gid,
            extra_groups=[],
            capture_output=True,
            text=True,
            check=False,
        )

    def up(self, *, again: bool = False) -> None:
        """Start it; `again` with the configuration that it has."""
        given = () if again else ("--config", str(self.settings))
        done = self.call("kettle", "up", "--system", "--dir", self.pool.folder, *given)
        assert done.returncode == 0, done.stderr


@contextlib.contextmanager
def system_pool(account: pwd.struct_passwd, config: str = "") -> Iterator[SystemPool]:
    """Start the machine's pool with an account in place of `condor`; nothing of it is left."""
    python = find_interpreter(account.pw_uid)
    outside = Path(tempfile.mkdtemp(prefix="kettle-system-"))
    outside.chmod(0o755)
    settings = outside / "settings"
    settings.write_text(f"CONDOR_IDS = {account.pw_uid}.{account.pw_gid}\n{config}")
    pool = PersonalPool(str(outside / "pool"))
    try:
        try:
            machine = SystemPool(pool, account, python, settings)
            machine.up()
            yield machine
        except BaseException:
            print_logs(pool)
            raise
        finally:
            pool.stop(how="fast")
        wait_until_gone(pool)
    finally:
        shutil.rmtree(outside, ignore_errors=True)
