"""The books on a disk that is full, fails, loses its power, or holds what nobody can read."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kettle.errors import StorageError
from kettle.negotiator.books_table import table_of
from kettle.negotiator.services.books import Books
from kettle.negotiator.settings import read_settings
from kettle.records.accounting_log import AccountingTable, replay
from kettle.runtime.storage.files import Files
from kettle.testing.disk import CrashingDisk, DiskSynchronizer
from kettle.testing.virtual_loop import run_virtually
from kettle.testing.world import World

# As a negotiator wrote it that took any name: `a b@here` is two words of its line.
UNREADABLE = b"""107 3 CreationTimestamp 1795262827
105 \n101 Customer.a b@here * *
103 Customer.a b@here Priority 0.500000
106 \n105 \n103 Accountant. LastUpdateTime 1795262900
106 \n"""


class Desk:
    """The books of a negotiator and the disk below them."""

    def __init__(self, tmp_path: Path, left: bytes = b"", *, limit: int = 0) -> None:
        self.world = World(tmp_path)
        self.disk = CrashingDisk()
        self.files = Files(DiskSynchronizer(self.disk), self.disk)
        text = f"MAX_ACCOUNTANT_DATABASE_SIZE = {limit}\n" if limit else ""
        runtime, _, _ = self.world.runtime("NEGOTIATOR", text)
        runtime.files = self.files
        settings = read_settings(runtime.config)
        self.path = settings.accounting_path
        if left:
            self.disk.seed(self.path, left)
            Path(self.path).write_bytes(left)
        self.books = Books(runtime, settings)

    def on_disk(self, kind: str = "cut") -> AccountingTable:
        """Return what a restart would read after a crash now."""
        return replay(dict(self.disk.images())[kind][self.path])[0]

    def check(self) -> None:
        """See that everything in the books would survive a power cut."""
        assert self.on_disk().ads == table_of(self.books.accountant).ads

    @property
    def problems(self) -> list[str]:
        return [line for line in self.world.log if "cannot be written" in line]


def test_what_a_full_disk_did_not_take_is_on_disk_once_there_is_room(tmp_path: Path) -> None:
    async def scenario() -> None:
        desk = Desk(tmp_path, limit=2000)
        await desk.books.open()
        accountant, disk = desk.books.accountant, desk.disk
        accountant.set_factor("gone@here", 10.0)
        await desk.books.save()
        desk.check()
        disk.room = 100
        accountant.delete("gone@here")
        for number in range(5):
            accountant.set_factor(f"u{number}@here", 10.0)
            await desk.books.save()
        assert len(desk.problems) == 5
        assert "No space left" in desk.problems[0]
        # The last that was whole is still there.
        assert "Customer.gone@here" in desk.on_disk().ads
        disk.room = None
        await desk.books.save()
        desk.check()
        accountant.set_factor("v@here", 10.0)
        await desk.books.save()
        desk.check()
        assert len(desk.problems) == 5

    run_virtually(scenario())


@pytest.mark.parametrize("call", ["write", "sync", "rename", "open", "truncate"])
def test_a_disk_that_failed_and_works_again_has_the_books(tmp_path: Path, call: str) -> None:
    async def scenario() -> None:
        desk = Desk(tmp_path, limit=200)
        await desk.books.open()
        accountant = desk.books.accountant
        for fails in (call, "", call, ""):
            desk.disk.fails = fails
            for number in range(3):
                accountant.set_usage(f"u{number}@here", float(len(fails) + number))
                await desk.books.save()
        desk.check()
        assert desk.problems
        before = len(desk.problems)
        accountant.set_usage("u@here", 7.0)
        await desk.books.save()
        desk.check()
        assert len(desk.problems) == before

    run_virtually(scenario())


def test_a_negotiator_starts_on_a_full_disk_and_goes_on(tmp_path: Path) -> None:
    async def scenario() -> None:
        left = b"107 1 CreationTimestamp 1\n101 Customer.u@here * *\n"
        left += b"103 Customer.u@here PriorityFactor 7.0\n"
        desk = Desk(tmp_path, left + b"105 \n103 Customer.u@here Pri")
        desk.disk.room = 0
        await desk.books.open()
        assert desk.books.accountant.factor("u@here") == 7.0
        assert len(desk.problems) == 1
        desk.disk.room = None
        await desk.books.save()
        desk.check()

    run_virtually(scenario())


def test_a_power_cut_at_any_step_loses_nothing_that_was_saved(tmp_path: Path) -> None:
    async def scenario() -> None:
        desk = Desk(tmp_path, limit=600)
        await desk.books.open()
        saved, seen = 0, 0

        def check(step: str) -> None:
            nonlocal seen
            for kind, image in desk.disk.images():
                table = replay(image[desk.path])[0]
                text = table.ads.get("Customer.u@here", {}).get("WeightedAccumulatedUsage", "0")
                assert saved <= float(text), (step, kind)
                seen += 1

        desk.disk.on_step = check
        for number in range(1, 11):
            desk.books.accountant.set_usage("u@here", float(number))
            await desk.books.save()
            saved = number
        assert seen > 100

    run_virtually(scenario())


def test_saves_at_the_same_time_and_one_that_is_broken_off_leave_everything(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        desk = Desk(tmp_path, limit=200)
        await desk.books.open()
        waiting = []
        for number in range(10):
            desk.books.accountant.set_factor(f"u{number}@here", 10.0)
            waiting.append(asyncio.ensure_future(desk.books.save()))
            await asyncio.sleep(0.003)
        for task in waiting[::2]:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await desk.books.save()
        desk.check()
        assert not desk.problems

    run_virtually(scenario())


def test_books_that_nobody_can_read_are_set_aside_and_begun_anew(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        replay(UNREADABLE)

    async def scenario() -> None:
        desk = Desk(tmp_path, UNREADABLE)
        await desk.books.open()
        (aside,) = (tmp_path / "spool").glob("*.unreadable.*")
        assert aside.read_bytes() == UNREADABLE
        (line,) = (line for line in desk.world.log if "cannot be read" in line)
        assert str(aside) in line
        desk.books.accountant.set_factor("u@here", 10.0)
        await desk.books.save()
        assert desk.on_disk().ads.keys() >= {"Customer.u@here", "Accountant."}

    run_virtually(scenario())


def test_books_that_cannot_be_set_aside_are_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        desk = Desk(tmp_path, UNREADABLE)

        def refuse(source: str, target: str) -> None:
            raise StorageError(f"cannot rename {source} to {target}")

        monkeypatch.setattr(desk.files, "rename", refuse)
        with pytest.raises(StorageError, match="cannot rename"):
            await desk.books.open()
        assert desk.files.read(desk.path) == UNREADABLE

    run_virtually(scenario())
