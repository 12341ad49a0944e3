"""What a power cut leaves of names: a beginning of their changes, and all that was synced."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kettle.testing.simulation.children import run_in_child
from kettle.testing.simulation.disk import SimulatedDisk, SimulatedFiles
from kettle.testing.simulation.names import NameJournal, WatchedNames


class Worst(random.Random):
    """Keeps as little as may be."""

    def choice(self, seq: Any) -> Any:
        """Return the first one."""
        return seq[0]

    def randint(self, a: int, b: int) -> int:
        """Return the smallest one."""
        del b
        return a


class Most(random.Random):
    """Keeps everything."""

    def choice(self, seq: Any) -> Any:
        """Return the last one."""
        return seq[-1]


def play(top: Path, scenario: Callable[[SimulatedDisk, str], object], source: random.Random) -> str:
    """Play a scenario in a folder and cut the power, in a child; return what names are left."""

    def call() -> bytes:
        folder = str(top)
        disk = SimulatedDisk(source, {folder: NameJournal(f"{folder}.graves")})
        WatchedNames(disk.names).install()
        scenario(disk, folder)
        disk.lose_power()
        return " ".join(sorted(_names(folder))).encode()

    top.mkdir(exist_ok=True)
    return run_in_child(call).decode()


def _names(folder: str) -> list[str]:
    found = []
    for where, folders, files in os.walk(folder):
        found += [os.path.relpath(f"{where}/{name}", folder) for name in (*folders, *files)]
    return found


def write(path: str, text: str = "") -> None:
    """Make a file, or write one anew, with the calls that daemons have."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.write(fd, text.encode())
    os.close(fd)


def test_a_file_whose_folder_was_not_synced_may_be_gone_though_it_was_synced_itself(
    tmp_path: Path,
) -> None:
    def scenario(disk: SimulatedDisk, folder: str) -> None:
        async def main() -> None:
            file = SimulatedFiles(disk).open_durable(f"{folder}/log")
            file.append(b"text")
            await file.commit()
            file.close()

        asyncio.run(main())

    assert play(tmp_path / "fs", scenario, Worst()) == ""


def test_what_was_synced_stays_and_so_does_all_that_came_before(tmp_path: Path) -> None:
    def scenario(disk: SimulatedDisk, folder: str) -> None:
        os.mkdir(f"{folder}/other")
        write(f"{folder}/other/early")
        write(f"{folder}/kept")
        SimulatedFiles(disk).sync_folder(folder)
        write(f"{folder}/late")
        os.unlink(f"{folder}/kept")

    assert play(tmp_path / "fs", scenario, Worst()) == "kept other other/early"


def test_a_file_written_in_one_step_has_its_old_content_again_unless_it_was_durable(
    tmp_path: Path,
) -> None:
    def scenario(disk: SimulatedDisk, folder: str) -> None:
        files = SimulatedFiles(disk)
        for name in ("a", "b"):
            files.write_atomically(f"{folder}/{name}", "old", durable=True)
        files.write_atomically(f"{folder}/a", "new", durable=True)
        files.write_atomically(f"{folder}/b", "new")

    assert play(tmp_path / "fs", scenario, Worst()) == "a b"
    assert [(tmp_path / "fs" / name).read_text() for name in "ab"] == ["new", "old"]


def test_a_folder_that_was_made_or_removed_or_renamed_is_as_it_was(tmp_path: Path) -> None:
    for name in ("gone", "moved"):
        (tmp_path / "fs" / name).mkdir(parents=True)
        (tmp_path / "fs" / name / "file").write_text(name)

    def scenario(disk: SimulatedDisk, folder: str) -> None:
        os.makedirs(f"{folder}/new/below")
        write(f"{folder}/new/below/file")
        os.remove(f"{folder}/gone/file")
        os.rmdir(f"{folder}/gone")
        os.replace(f"{folder}/moved", f"{folder}/elsewhere")

    left = play(tmp_path / "fs", scenario, Worst())
    assert left == "gone gone/file moved moved/file"
    assert (tmp_path / "fs" / "gone" / "file").read_text() == "gone"


def test_of_names_below_an_open_folder_the_journal_hears_too(tmp_path: Path) -> None:
    def scenario(disk: SimulatedDisk, folder: str) -> None:
        write(f"{folder}/file")
        write(f"{folder}/other")
        top = os.open(folder, os.O_RDONLY)
        os.fsync(top)
        os.unlink("file", dir_fd=top)
        os.rename("other", "another", src_dir_fd=top, dst_dir_fd=top)
        os.mkdir("folder", dir_fd=top)
        os.close(os.open("made", os.O_WRONLY | os.O_CREAT, 0o600, dir_fd=top))
        os.close(top)

    assert play(tmp_path / "fs", scenario, Worst()) == "file other"


def test_what_is_left_is_always_a_beginning(tmp_path: Path) -> None:
    def scenario(disk: SimulatedDisk, folder: str) -> None:
        for number in range(6):
            write(f"{folder}/{number}")

    ends = {play(tmp_path / f"fs{seed}", scenario, random.Random(seed)) for seed in range(20)}
    whole = "0 1 2 3 4 5"
    assert all(whole.startswith(end) for end in ends)
    assert {"", whole} < ends


def test_what_was_there_after_one_power_cut_is_not_lost_with_the_next(tmp_path: Path) -> None:
    def scenario(disk: SimulatedDisk, folder: str) -> None:
        write(f"{folder}/file")
        disk.names[folder].lose_power(Most())

    assert play(tmp_path / "fs", scenario, Worst()) == "file"
