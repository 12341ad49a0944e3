"""The queue log through crashes: cut at every byte, cut at every step of being written anew."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import random
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from kettle.errors import StorageError
from kettle.runtime.context import Runtime
from kettle.runtime.process.snapshot import InlineSnapshots
from kettle.runtime.storage.files import Files
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.queue.job_queue import JobQueue
from kettle.schedd.services import journal
from kettle.schedd.services.journal import QueueJournal
from kettle.testing.disk import CrashingDisk, DiskSynchronizer, Image
from kettle.testing.simulation.disk import SimulatedDisk, SimulatedFiles
from kettle.testing.virtual_loop import run_virtually
from kettle.testing.world import World
from kettle.wire.messages import qmgmt as calls
from unit.schedd.queue_fixture import NOW, MemoryJournal, Schedd


def runtime_over(tmp_path: Path, disk: CrashingDisk | None = None) -> Runtime:
    runtime, _, _ = World(tmp_path).runtime("SCHEDD")
    if disk is not None:
        runtime.files = Files(DiskSynchronizer(disk), disk)
    return runtime


def opened(path: Path, runtime: Runtime) -> tuple[QueueJournal, JobQueue]:
    """Do what a start of the schedd does."""
    journal = QueueJournal(runtime, str(path), rotations=0)
    queue = JobQueue(journal, uid_domain="vm")
    journal.open(queue, NOW)
    return journal, queue


def contents(queue: JobQueue) -> dict[str, dict[str, str]]:
    """Return every ad as texts, by key."""
    found = {str(job.id): job.ad for job in queue.jobs.values()}
    found |= {str(cluster.id): cluster.ad for cluster in queue.clusters.values()}
    return {key: {name: ad.text(name) or "" for name in ad} for key, ad in found.items()}


def add(queue: JobQueue) -> int:
    """Make a cluster, and do not wait until it is on disk."""
    cluster = queue.take_cluster_number()
    transaction = queue.transaction()
    transaction.new_ad(f"0{cluster}.-1", "Job")
    transaction.set_attribute(f"0{cluster}.-1", "Owner", '"bob"')
    queue.commit(transaction)
    return cluster


def test_a_log_cut_at_every_byte_of_its_last_transactions_restarts_with_what_was_whole(
    tmp_path: Path,
) -> None:
    schedd = Schedd()
    # Length of the log after each commit, and what the queue held then.
    states = [(len(schedd.journal.data), contents(schedd.queue))]

    def note() -> None:
        states.append((len(schedd.journal.data), contents(schedd.queue)))

    first = schedd.submit(1, Cmd='"/bin/true"')
    note()
    schedd.queue.update(first[0].id, {"JobStatus": "2", "RemoteHost": '"slot1@ep"'})
    note()
    schedd.queue.update(first[0].id, {"JobStatus": "4", "RemoteHost": None, "Note": '"à → b"'})
    note()
    transaction = schedd.queue.transaction()
    transaction.destroy_ad(f"{first[0].id}")
    schedd.queue.commit(transaction)
    note()
    data = bytes(schedd.journal.data)
    runtime = runtime_over(tmp_path)
    path = tmp_path / "spool" / "job_queue.log"
    for cut in range(states[0][0], len(data) + 1):
        for tail in (b"", bytes(64)) if cut % 5 == 0 else (b"",):
            path.write_bytes(data[:cut] + tail)
            journal, queue = opened(path, runtime)
            whole, held = max((size, held) for size, held in states if size <= cut)
            assert contents(queue) == held, f"cut at byte {cut}"
            assert journal.size == whole
            # What is committed from here on is not lost behind the cut.
            cluster = queue.take_cluster_number()
            transaction = queue.transaction()
            transaction.new_ad(f"0{cluster}.-1", "Job")
            transaction.set_attribute(f"0{cluster}.-1", "Owner", '"bob"')
            queue.commit(transaction)
            journal.close()
            journal, again = opened(path, runtime)
            assert contents(again) == contents(queue)
            assert cluster in again.clusters
            journal.close()


def test_a_log_cut_inside_its_first_line_begins_anew_but_garbage_is_refused(
    tmp_path: Path,
) -> None:
    runtime = runtime_over(tmp_path)
    path = tmp_path / "spool" / "job_queue.log"
    path.write_bytes(b"107 1 Crea")
    journal, queue = opened(path, runtime)
    assert queue.sequence == 1
    journal.close()
    path.write_bytes(b"a letter\nto somebody\n")
    journal = QueueJournal(runtime, str(path))
    with pytest.raises(StorageError, match="is no queue log"):
        journal.open(JobQueue(journal, uid_domain="vm"), NOW)
    assert path.read_bytes() == b"a letter\nto somebody\n"


def test_damage_of_a_log_that_was_written_anew_is_refused_and_nothing_is_cut_off(
    tmp_path: Path,
) -> None:
    schedd = Schedd()
    schedd.submit(2, Cmd='"/bin/true"')
    lines = "".join(schedd.queue.snapshot(2, NOW)).encode().splitlines(keepends=True)
    runtime = runtime_over(tmp_path)
    path = tmp_path / "spool" / "job_queue.log"
    for number in range(len(lines) - 2):
        damaged = b"".join([*lines[:number], b"\0" + lines[number][1:], *lines[number + 1 :]])
        path.write_bytes(damaged)
        journal = QueueJournal(runtime, str(path), rotations=0)
        with pytest.raises(StorageError, match=rf"job_queue\.log is damaged .* line {number + 1} "):
            journal.open(JobQueue(journal, uid_domain="vm"), NOW)
        journal.close()
        assert path.read_bytes() == damaged


class SlowSnapshots(InlineSnapshots):
    """As a child does it: the state of one moment is written, and is done with much later."""

    async def run(self, make: Callable[[], Callable[[], None]], name: str) -> None:
        await super().run(make, name)
        await asyncio.sleep(0.05)


class Rewriting:
    """A journal on a disk that crashes, being written anew while commits go on."""

    def __init__(self, tmp_path: Path) -> None:
        self.path = tmp_path / "spool" / "job_queue.log"
        self.disk = CrashingDisk()
        self.runtime = runtime_over(tmp_path, self.disk)
        self.runtime.snapshots = SlowSnapshots()
        schedd = Schedd()
        jobs = schedd.submit(3, Cmd='"/bin/true"')
        self.path.write_bytes(bytes(schedd.journal.data))
        self.disk.seed(str(self.path), bytes(schedd.journal.data))
        self.aborted = 0
        self.runtime.abort = self._on_abort
        self.journal, self.queue = opened(self.path, self.runtime)
        self.job = jobs[0].id
        self.acknowledged = 0
        self.written = 0
        self.checked = 0

    def _on_abort(self) -> None:
        self.aborted += 1

    async def commit_for_ever(self, count: int) -> None:
        """Commit one number after the other, each acknowledged when it is on disk."""
        for number in range(1, count + 1):
            self.written = number
            self.queue.update(self.job, {"Number": str(number)})
            await self.journal.flush()
            self.acknowledged = number

    def check(self, step: str) -> None:
        """Look at everything that a crash after this step could leave."""
        for kind, image in self.disk.images():
            queue = self.restarted(image)
            number = queue.jobs[self.job].ad.integer("Number") or 0
            assert self.acknowledged <= number <= self.written, (step, kind)
            assert len(queue.jobs) == 3, (step, kind)
            self.checked += 1

    def restarted(self, image: Image) -> JobQueue:
        """Return the queue of a restart on what the crash left."""
        queue = JobQueue(MemoryJournal(), uid_domain="vm")
        queue.restore(image[str(self.path)])
        return queue


def test_a_crash_at_any_step_of_writing_the_log_anew_loses_nothing_acknowledged(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        one = Rewriting(tmp_path)
        one.disk.on_step = one.check
        committing = asyncio.ensure_future(one.commit_for_ever(40))
        for _ in range(5):
            await asyncio.sleep(0.035)
            await one.journal.compact(one.queue, NOW)
        await committing
        assert one.journal.compactions == 5
        assert one.queue.sequence == 6
        assert one.checked > 500
        assert one.aborted == 0
        # What is there now is the new log, and nothing of the way to it is left.
        images = dict(one.disk.images())
        assert list(images["killed"]) == [str(one.path)]
        assert images["killed"][str(one.path)].startswith(b"107 6 ")

    run_virtually(scenario())


@pytest.mark.parametrize("room", [0, 10, 3000, 6000])
def test_a_disk_without_room_for_the_new_log_leaves_the_old_one_in_force(
    tmp_path: Path, room: int
) -> None:
    async def scenario() -> None:
        one = Rewriting(tmp_path)
        one.disk.on_step = one.check
        size = one.journal.size
        one.disk.room = min(room, size // 2)
        with pytest.raises(StorageError):
            await one.journal.compact(one.queue, NOW)
        one.disk.room = None
        await one.commit_for_ever(3)
        assert one.aborted == 0
        assert one.queue.sequence == 1
        await one.journal.compact(one.queue, NOW)
        assert one.queue.sequence == 2

    run_virtually(scenario())


def test_a_failed_sync_ends_the_schedd_with_one_line(tmp_path: Path) -> None:
    async def scenario() -> None:
        one = Rewriting(tmp_path)
        lines: list[str] = []
        one.runtime.log.problem = lines.append  # type: ignore[method-assign, assignment]
        one.disk.fails = "sync"
        with pytest.raises(StorageError) as caught:
            await one.commit_for_ever(1)
        assert caught.value.ends_daemon
        assert one.aborted == 1
        assert len(lines) == 1
        assert "cannot sync" in lines[0]
        assert "next start goes on from what is on disk" in lines[0]

    run_virtually(scenario())


@pytest.mark.parametrize("deleted", ["log", "folder"])
def test_a_log_that_somebody_deletes_is_put_back_before_anything_is_acknowledged(
    tmp_path: Path, deleted: str
) -> None:
    async def scenario() -> None:
        runtime = runtime_over(tmp_path)
        lines: list[str] = []
        runtime.log.problem = lines.append  # type: ignore[method-assign, assignment]
        path = tmp_path / "spool" / "job_queue.log"
        journal, queue = opened(path, runtime)
        numbers = [add(queue)]
        await journal.flush()
        for _ in range(2):
            path.unlink()
            if deleted == "folder":
                shutil.rmtree(path.parent)
            numbers += [add(queue), add(queue)]
            await asyncio.gather(journal.flush(), journal.flush())
            restarted = JobQueue(MemoryJournal(), uid_domain="vm")
            restarted.restore(path.read_bytes())
            assert list(restarted.clusters) == numbers
        assert len(lines) == 2
        assert str(path) in lines[0]
        # And nobody else takes the queue over meanwhile.
        with pytest.raises(StorageError, match="another schedd uses"):
            opened(path, runtime)
        journal.close()

    run_virtually(scenario())


class Deleting(InlineSnapshots):
    """While the log is written anew, at its beginning or at its end, somebody deletes files."""

    def __init__(self, delete: Callable[[], None], flush: Callable[[], Awaitable[None]]) -> None:
        super().__init__()
        self._delete = delete
        self._flush = flush

    async def run(self, make: Callable[[], Callable[[], None]], name: str) -> None:
        def work() -> None:
            write()
            self._delete()

        write = make()
        await super().run(lambda: work, name)
        await self._flush()


@pytest.mark.parametrize("deleted", ["log", "folder", "new log"])
@pytest.mark.parametrize("flushes", [True, False])
def test_what_is_deleted_while_the_log_is_written_anew_costs_nothing_acknowledged(
    tmp_path: Path, deleted: str, flushes: bool
) -> None:
    async def scenario() -> None:
        runtime = runtime_over(tmp_path)
        path = tmp_path / "spool" / "job_queue.log"
        # What a schedd that was killed meanwhile has left.
        path.parent.mkdir(exist_ok=True)
        path.with_name("job_queue.log.tmp").write_text("old\n")
        path.with_name("job_queue.log.again").write_text("old\n")
        journal, queue = opened(path, runtime)
        numbers = [add(queue) for _ in range(5)]
        await journal.flush()

        def delete() -> None:
            if deleted == "folder":
                shutil.rmtree(path.parent)
            else:
                path.with_name(f"job_queue.log{'' if deleted == 'log' else '.tmp'}").unlink()

        async def flush() -> None:
            if flushes:
                numbers.append(add(queue))
                await journal.flush()

        runtime.snapshots = Deleting(delete, flush)
        with contextlib.suppress(StorageError):
            await journal.compact(queue, NOW)
        runtime.snapshots = InlineSnapshots()
        for _ in range(2):
            numbers.append(add(queue))
            await journal.flush()
            restarted = JobQueue(MemoryJournal(), uid_domain="vm")
            restarted.restore(path.read_bytes())
            assert list(restarted.clusters) == numbers
            await journal.compact(queue, NOW)
        journal.close()

    run_virtually(scenario())


def test_another_file_in_the_place_of_the_log_ends_the_schedd(tmp_path: Path) -> None:
    """It may be a backup that was put back; neither file is the whole truth, and one is theirs."""

    async def scenario() -> None:
        runtime = runtime_over(tmp_path)
        aborted: list[str] = []
        runtime.abort = lambda: aborted.append("now")  # type: ignore[method-assign]
        path = tmp_path / "spool" / "job_queue.log"
        journal, queue = opened(path, runtime)
        path.rename(path.with_suffix(".old"))
        path.write_text("theirs")
        add(queue)
        with pytest.raises(StorageError, match="another file"):
            await journal.flush()
        assert aborted == ["now"]
        assert path.read_text() == "theirs"

    run_virtually(scenario())


def test_what_the_schedd_before_could_not_bring_to_the_disk_is_written_anew_at_the_start(
    tmp_path: Path,
) -> None:
    """Else it is a hole in front of what this one acknowledges: the kernel tells of it once."""

    async def scenario() -> None:
        disk = SimulatedDisk(random.Random(1))
        runtime = runtime_over(tmp_path)
        runtime.files = SimulatedFiles(disk)
        runtime.abort = lambda: None  # type: ignore[method-assign]
        path = tmp_path / "spool" / "job_queue.log"

        journal, queue = opened(path, runtime)
        add(queue)
        disk.sync_error = errno.EIO
        with pytest.raises(StorageError):
            await journal.flush()
        journal.close()
        disk.sync_error = 0
        journal, queue = opened(path, runtime)
        acknowledged = add(queue)
        await journal.flush()
        journal.close()
        disk.lose_power()
        journal, queue = opened(path, runtime)
        assert acknowledged in queue.clusters
        journal.close()

    run_virtually(scenario())


def test_a_full_disk_refuses_what_a_client_asks_for_and_what_happened_waits_for_room(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        one = Rewriting(tmp_path)
        lines: list[str] = []
        one.runtime.log.problem = lines.append  # type: ignore[method-assign, assignment]
        journal = QueueJournal(one.runtime, str(one.path), rotations=0)
        one.journal.close()
        queue = JobQueue(journal, uid_domain="vm")
        journal.open(queue, NOW)
        one.journal, one.queue = journal, queue
        one.disk.room = 20
        transaction = queue.transaction()
        transaction.set_attribute(str(one.job), "JobPrio", "7")
        with pytest.raises(StorageError, match="No space"):
            queue.commit(transaction, refusable=True)
        assert queue.jobs[one.job].ad.integer("JobPrio") == 0
        one.check("refused")
        committing = asyncio.ensure_future(one.commit_for_ever(1))
        await asyncio.sleep(60)
        queue.update(one.job, {"Later": "1"})
        one.disk.room = 60
        with pytest.raises(StorageError, match="No space"):
            queue.commit(transaction, refusable=True)
        with pytest.raises(StorageError, match="No space"):
            await journal.compact(queue, NOW)
        one.check("waiting")
        assert not committing.done()
        assert journal.compactions == 0
        one.disk.room = None
        await committing
        one.check("written")
        images = dict(one.disk.images())
        assert one.restarted(images["killed"]).jobs[one.job].ad.integer("Later") == 1
        assert one.aborted == 0
        assert [line.partition(";")[0].partition(":")[0] for line in lines] == [
            f"cannot write {one.path}",
            "There is room again",
        ]

    run_virtually(scenario())


def test_a_disk_that_is_full_before_it_is_quiet_has_no_log_written_anew(tmp_path: Path) -> None:
    class Later(InlineSnapshots):
        """Whose moment is one in which something has happened that waits for room."""

        async def run(
            self, make: Callable[[], Callable[[], None]], name: str, seconds: int = 0
        ) -> None:
            one.disk.room = 20
            one.queue.update(one.job, {"Later": "1"})
            one.disk.room = None
            await super().run(make, name, seconds)

    one = Rewriting(tmp_path)

    async def scenario() -> None:
        one.runtime.snapshots = Later()
        with pytest.raises(StorageError, match="No space"):
            await one.journal.compact(one.queue, NOW)
        assert one.journal.compactions == 0
        assert one.journal.are_waiting
        await one.journal.written()
        one.check("written")

    run_virtually(scenario())


def test_a_schedd_that_leaves_does_not_wait_for_room(tmp_path: Path) -> None:
    async def scenario() -> None:
        one = Rewriting(tmp_path)
        one.disk.room = 20
        one.queue.update(one.job, {"JobStatus": "4"})
        assert one.aborted == 0
        one.journal.wait_no_more()
        assert one.aborted == 1

    run_virtually(scenario())


def test_a_spool_without_hard_links_keeps_no_old_logs_and_has_its_log_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    runtime = runtime_over(tmp_path)
    path = tmp_path / "spool" / "job_queue.log"
    schedd = Schedd()
    schedd.submit(1)
    path.write_bytes(bytes(schedd.journal.data))
    journal, queue = opened(path, runtime)
    journal.rotations = 2

    async def scenario() -> None:
        await journal.compact(queue, NOW)
        await journal.compact(queue, NOW)

    run_virtually(scenario())
    journal.close()
    assert [each.name for each in path.parent.glob("job_queue.log*")] == ["job_queue.log"]
    assert path.read_bytes().startswith(b"107 3 ")


def test_old_logs_are_kept_as_many_as_are_wanted(tmp_path: Path) -> None:
    runtime = runtime_over(tmp_path)
    path = tmp_path / "spool" / "job_queue.log"
    schedd = Schedd()
    schedd.submit(1)
    path.write_bytes(bytes(schedd.journal.data))
    journal, queue = opened(path, runtime)
    journal.rotations = 2

    async def scenario() -> None:
        for _ in range(4):
            await journal.compact(queue, NOW)
            queue.update(JobId(1, 0), {"JobPrio": "3"})

    run_virtually(scenario())
    journal.close()
    kept = sorted(each.name for each in path.parent.glob("job_queue.log*"))
    assert kept == ["job_queue.log", "job_queue.log.3", "job_queue.log.4"]
    assert path.read_bytes().startswith(b"107 5 ")
    journal, queue = opened(path, runtime)
    assert queue.jobs[JobId(1, 0)].ad.integer("JobPrio") == 3
    journal.close()


def test_a_commit_of_a_full_disk_is_answered_with_a_refusal(tmp_path: Path) -> None:
    schedd = Schedd()
    client = schedd.client()
    cluster = client.call(calls.NewCluster()).value
    client.set(cluster, -1, "Owner", "undefined")
    client.call(calls.NewProc(cluster))

    def refuse(data: bytes, *, refusable: bool = False) -> None:
        assert refusable
        raise StorageError("cannot write job_queue.log: No space left on device")

    schedd.journal.append = refuse  # type: ignore[method-assign]
    reply = client.call(calls.CommitTransactionNoFlags())
    assert reply.value < 0
    assert reply.details is not None
    assert "No space left" in (reply.details.string("ErrorReason") or "")
    assert not schedd.queue.jobs


def test_a_long_log_is_synced_on_the_way_and_says_that_its_writing_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    disk, steps = CrashingDisk(), list[str]()
    monkeypatch.setattr(journal, "_TOGETHER", 10)
    monkeypatch.setattr(journal, "note_progress", lambda: steps.append("goes on"))
    disk.on_step = steps.append
    journal.write_log(disk, "/log", ["0123456789"] * 200)
    assert steps.count("write") == steps.count("goes on") == 200
    assert steps.count("sync") == 200 // 64 + 1
    assert steps[-2:] == ["sync", "close"]
