"""The file in which the master and all below it say what they have no log for stays short."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from kettle.config import Config
from kettle.master.services.output import MOST_BYTES, Output
from kettle.runtime.context import Runtime
from kettle.runtime.process.privileges import Privileges

APPENDING = os.O_WRONLY | os.O_CREAT | os.O_APPEND


class Place:
    """A LOG folder with an output that somebody writes to."""

    def __init__(self, folder: Path, flags: int = APPENDING, name: str = "master.out") -> None:
        self.path = folder / "master.out"
        self.old = folder / "master.out.old"
        self.descriptor = os.open(folder / name, flags, 0o640)
        self.said: list[str] = []
        runtime = SimpleNamespace(
            config=Config.from_text(f"LOG = {folder}\n"),
            privileges=Privileges.find(None),
            log=self.said.append,
        )
        self.output = Output(cast(Runtime, runtime), self.descriptor)

    def write(self, data: bytes) -> None:
        os.write(self.descriptor, data)


def test_a_short_output_is_left_alone(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.write(b"x" * MOST_BYTES)
    place.output.shorten()
    assert place.path.stat().st_size == MOST_BYTES
    assert not place.old.exists()
    assert place.said == []


def test_a_long_output_is_emptied_and_its_end_is_kept(tmp_path: Path) -> None:
    place = Place(tmp_path)
    for round_ in (b"a", b"b"):
        place.write(b"gone" + round_ * MOST_BYTES)
        place.output.shorten()
        assert place.old.read_bytes() == round_ * MOST_BYTES
        assert place.old.stat().st_mode & 0o777 == 0o640
        place.write(b"goes on")
        assert place.path.read_bytes() == b"goes on"
        os.truncate(place.path, 0)
    assert len(place.said) == 2


def test_no_link_is_followed_and_the_output_stays_short_all_the_same(tmp_path: Path) -> None:
    place = Place(tmp_path)
    other = tmp_path / "other"
    other.write_bytes(b"mine")
    place.old.symlink_to(other)
    place.write(b"x" * (MOST_BYTES + 1))
    place.output.shorten()
    assert other.read_bytes() == b"mine"
    assert not place.old.is_symlink()
    assert place.path.stat().st_size == 0


@pytest.mark.parametrize(
    ("flags", "name"), [(APPENDING, "elsewhere"), (os.O_WRONLY | os.O_CREAT, "master.out")]
)
def test_what_is_not_that_file_is_not_touched(tmp_path: Path, flags: int, name: str) -> None:
    place = Place(tmp_path, flags, name)
    place.write(b"x" * (MOST_BYTES + 1))
    place.path.touch()
    place.output.shorten()
    assert (tmp_path / name).stat().st_size == MOST_BYTES + 1


def test_the_file_is_looked_at_from_the_start(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.write(b"x" * (MOST_BYTES + 1))

    async def scenario() -> None:
        task = asyncio.ensure_future(place.output.keep_short())
        await asyncio.sleep(0)
        task.cancel()

    asyncio.run(scenario())
    assert place.path.stat().st_size == 0
