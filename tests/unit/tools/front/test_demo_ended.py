"""A demonstration that is ended while it makes its folder takes that away."""

from __future__ import annotations

import argparse
import io
import os
import signal
import tempfile
from pathlib import Path

import pytest

from kettle.tools.front import demo
from kettle.tools.programs import Streams


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_who_ends_it_as_its_folder_is_made_finds_none(
    tmp_path: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tempfile.mkdtemp

    def make(prefix: str) -> str:
        folder = made(prefix=prefix, dir=tmp_path)
        os.kill(os.getpid(), number)
        return folder

    monkeypatch.setattr(tempfile, "mkdtemp", make)
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    # A shell has what it starts in the background ignore SIGINT.
    before = signal.signal(number, signal.SIG_DFL)
    try:
        with pytest.raises(KeyboardInterrupt):
            demo.run(argparse.Namespace(keep=None, json=True), {"PATH": os.defpath}, streams)
    finally:
        signal.signal(number, before)
    assert list(tmp_path.iterdir()) == []
