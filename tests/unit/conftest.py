"""What unit tests share."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.classad import ad as ads
from kettle.remembered import Allowance


@pytest.fixture
def open_place() -> Iterator[Path]:
    """Give a folder that other accounts can reach; pytest's own are closed to them."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)


@pytest.fixture
def names_are_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ads share names, however many other tests have made up before."""
    monkeypatch.setattr(ads, "_shared_names", Allowance(1 << 20, largest=1024))
