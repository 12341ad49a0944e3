"""What tests against real pools share."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


@pytest.fixture
def work() -> Iterator[Path]:
    """A folder that the account of jobs can reach and write to."""
    folder = Path(tempfile.mkdtemp(prefix="kettle-work-"))
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def work_folder() -> Iterator[Path]:
    """A folder like `work`, for all tests of a module."""
    folder = Path(tempfile.mkdtemp(prefix="kettle-work-"))
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def make_account() -> Iterator[Callable[[str], pwd.struct_passwd]]:
    """Make throw-away accounts of this machine; needs root. All their processes end with them."""
    made: list[str] = []

    def make(label: str) -> pwd.struct_passwd:
        name = f"kt{label}{os.getpid() % 100000}"
        subprocess.run(["useradd", "--no-create-home", "--shell", "/bin/sh", name], check=True)
        made.append(name)
        return pwd.getpwnam(name)

    yield make
    for name in made:
        uid = pwd.getpwnam(name).pw_uid
        for entry in os.listdir("/proc"):
            with contextlib.suppress(OSError, ValueError):
                if os.stat(f"/proc/{entry}").st_uid == uid:
                    os.kill(int(entry), signal.SIGKILL)
        subprocess.run(["userdel", "--force", name], check=True, capture_output=True)
