"""Whatever happens to a schedd between two jobs of a cluster, it makes each of them once."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import re
from collections.abc import Callable
from types import SimpleNamespace

from hypothesis import example, settings
from hypothesis import given as over
from hypothesis import strategies as st

from kettle.attributes.codes import JobAction, JobStatus
from kettle.classad import ClassAd
from kettle.config import Config
from kettle.errors import StorageError
from kettle.schedd.queue import actions
from kettle.schedd.queue.job_queue import JobQueue
from kettle.schedd.services.factories import Factories
from kettle.wire.messages import qmgmt as calls
from unit.schedd.queue_fixture import ALICE, NOW, ROOT, Client, MemoryJournal, Schedd, plan_action

DIGEST = "arguments=$(x)\nqueue 2 x in (a b c)\n"
ARGUMENTS = ["a", "a", "b", "b", "c", "c"]
EDITED = ("JobMaterializeNextProcId", "JobMaterializeNextRow", "JobMaterializeItemsFile")

# What happens, in any order. A kill comes in the middle of what is written next, behind so many of
# a hundred parts of it; a restart between two commits.
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("limit"), st.integers(0, 7)),
        st.tuples(st.just("edit"), st.integers(0, 5)),
        st.tuples(st.just("leave"), st.integers(0, 5)),
        st.tuples(st.just("start"), st.integers(0, 5)),
        st.tuples(st.just("hold"), st.just(0)),
        st.tuples(st.just("release"), st.just(0)),
        st.tuples(st.just("unreadable"), st.sampled_from((errno.EIO, errno.ENOENT))),
        st.tuples(st.just("full"), st.just(0)),
        st.tuples(st.just("kill"), st.sampled_from((0, 30, 60, 99, 100))),
        st.tuples(st.just("restart"), st.just(0)),
    ),
    max_size=14,
)


class Killed(BaseException):
    """The schedd is killed."""


class Disk(MemoryJournal):
    """Takes a part of what is written, or nothing, if it is told to."""

    kills_at: int | None = None
    is_full = False

    def append(self, data: bytes, *, refusable: bool = False) -> None:
        if self.is_full:
            self.is_full = False
            raise StorageError("no room", errno=errno.ENOSPC)
        if self.kills_at is not None:
            self.data += data[: len(data) * self.kills_at // 100]
            self.kills_at = None
            raise Killed
        super().append(data)


class World:
    """One cluster of a schedd that is killed and started again."""

    def __init__(self) -> None:
        self.schedd = Schedd()
        self.unreadable = 0
        client = self.schedd.client()
        client.call(calls.NewCluster())
        client.call(calls.SetJobFactory(1, 2, "", DIGEST))
        for name, text in {"Owner": "undefined", "JobUniverse": "5", "Cmd": '"x"'}.items():
            client.set(1, -1, name, text)
        assert client.call(calls.CommitTransactionNoFlags()).value == 0
        self.restart()

    def restart(self) -> None:
        """Go on with what is on disk, as a new schedd."""
        disk = Disk(self.schedd.journal.data)
        queue = JobQueue(disk, uid_domain="vm")
        kept = queue.restore(bytes(disk.data)).kept_bytes
        del disk.data[kept:]
        self.disk = self.schedd.journal = disk
        self.schedd.queue = queue
        shell = SimpleNamespace(
            queue=queue,
            queue_settings=self.schedd.settings,
            journal=SimpleNamespace(flush=self.flush),
            now=lambda: NOW,
            spool=SimpleNamespace(cluster_file=lambda *_: "", remove_cluster=lambda _: None),
            events=SimpleNamespace(write_cluster=lambda *_: None, cluster_removed=lambda *_: None),
            runtime=SimpleNamespace(
                clock=SimpleNamespace(monotonic=lambda: 0.0),
                log=SimpleNamespace(problem=lambda _: None),
                files=SimpleNamespace(read_text=lambda _: self.read()),
                config=Config.from_text("", subsystem="SCHEDD"),
            ),
        )
        self.factories = Factories(shell)  # type: ignore[arg-type]
        self.factories._running = True
        queue.observe(self.factories.on_changes)
        self.factories.start()

    async def flush(self) -> None:
        """All is on disk at once."""

    def read(self) -> str:
        if self.unreadable:
            code, self.unreadable = self.unreadable, 0
            raise StorageError("cannot read", errno=code)
        return DIGEST

    def serve(self) -> None:
        """Make what is to be made."""
        asyncio.run(self.factories._serve())
        self.factories._running = True

    def go_on(self, what: str, number: int) -> None:
        """Take one step, and make what may be made behind it."""
        try:
            self.step(what, number)
            self.serve()
        except Killed:
            self.restart()

    def step(self, what: str, number: int) -> None:
        queue = self.schedd.queue
        jobs = list(queue.jobs.values())
        job = jobs[number] if number < len(jobs) else None
        if what == "limit" and 1 in queue.clusters:
            self.set(self.schedd.client(), "JobMaterializeLimit", number)
        elif what == "edit" and 1 in queue.clusters:
            for name in EDITED:
                for actor in (ALICE, ROOT):
                    self.set(self.schedd.client(actor), name, number)
        elif what == "leave" and job is not None:
            gone = queue.transaction()
            gone.destroy_ad(str(job.id))
            self.tolerate(lambda: queue.commit(gone))
        elif what == "start" and job is not None:
            running = {"JobStatus": str(int(JobStatus.RUNNING))}
            self.tolerate(lambda: queue.update(job.id, running))
        elif what in {"hold", "release"}:
            action = JobAction.HOLD if what == "hold" else JobAction.RELEASE
            request = actions.parse(ClassAd({"JobAction": int(action), "ActionIds": "1"}))
            _, plan = plan_action(queue, request, ALICE, NOW)
            self.tolerate(lambda: queue.commit(plan.transaction))
            if 1 in queue.clusters:
                self.factories._want(queue.clusters[1])
        elif what == "unreadable":
            self.unreadable = number
        elif what == "full":
            self.disk.is_full = True
        elif what == "kill":
            self.disk.kills_at = number
        elif what == "restart":
            self.restart()

    @staticmethod
    def tolerate(do: Callable[[], object]) -> None:
        with contextlib.suppress(StorageError):
            do()

    @staticmethod
    def set(client: Client, name: str, number: int) -> None:
        client.call(calls.SetAttribute(1, -1, str(number), name))
        client.call(calls.CommitTransactionNoFlags())

    def made(self) -> list[tuple[int, str]]:
        """Return number and arguments of every job that was ever made, by the log."""
        text = self.disk.data.decode()
        numbers = [int(proc) for proc in re.findall(r"^101 1\.(\d+) ", text, re.MULTILINE)]
        said = dict(re.findall(r'^103 1\.(\d+) Args "(.*)"', text, re.MULTILINE))
        return [(number, said.get(str(number), "")) for number in numbers]


@settings(max_examples=150, deadline=None)
@over(STEPS)
@example([("start", 0), ("edit", 0), ("restart", 0), ("limit", 6)])
@example([("kill", 99), ("limit", 4), ("leave", 0), ("full", 0), ("limit", 6)])
def test_each_job_of_a_cluster_is_made_once(steps: list[tuple[str, int]]) -> None:
    world = World()
    world.serve()
    for what, number in steps:
        world.go_on(what, number)
    made = world.made()
    assert made == list(enumerate(ARGUMENTS))[: len(made)]
    # Nothing that befell it keeps the rest from being made.
    world.unreadable, world.disk.is_full, world.disk.kills_at = 0, False, None
    for what, number in (("release", 0), ("limit", 7), ("restart", 0)):
        world.go_on(what, number)
    assert world.made() == list(enumerate(ARGUMENTS))
