"""What tests against real pools share."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def work() -> Iterator[Path]:
    """A folder that the account of jobs can reach and write to."""
    folder = Path(tempfile.mkdtemp(prefix="kettle-work-"))
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
