"""A queue in memory with a journal that can be replayed, and a client of its protocol."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar, cast

from kettle.classad import ClassAd
from kettle.schedd.queue import actions, exports
from kettle.schedd.queue.actors import Actor, ActorRules
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.queue.job_queue import JobQueue
from kettle.schedd.queue.jobs import Job
from kettle.schedd.queue.qmgmt import Connection
from kettle.schedd.queue.qmgmt_answers import Answer
from kettle.schedd.queue.transaction import Change
from kettle.schedd.settings import QueueSettings
from kettle.wire.codec import Reader, Writer
from kettle.wire.messages import qmgmt as calls
from kettle.wire.messages.rpc import Call, Reply

NOW = 1_795_217_723

Returned = TypeVar("Returned")

RULES = ActorRules(uid_domain="vm", super_users=frozenset({"root", "condor"}), own_user="condor")
ALICE = Actor("alice@vm", "alice")
BOB = Actor("bob@vm", "bob")
ROOT = Actor("root@vm", "root", super_user=True)

SETTINGS = QueueSettings(
    actors=RULES,
    uid_domain="vm",
    schedd_name="vm",
    version="$CondorVersion: 25.14.1 2026-10-16 BuildID: Kettle $",
    platform="$CondorPlatform: X86_64-Debian_13 $",
    immutable=frozenset(
        ("owner", "clusterid", "procid", "jobuniverse", "mytype", "targettype", "user", "osuser")
    ),
    protected=frozenset(("authtokenid",)),
    secure=frozenset(("x509userproxysubject", "totalsubmitprocs")),
    rounded={"imagesize": 25, "diskusage": 25},
    most_jobs=0,
    most_jobs_of_owner=0,
    most_jobs_of_submission=0,
    late_materialize=True,
    root_may_own=False,
)


@dataclass
class MemoryJournal:
    """What was written, for replay."""

    data: bytearray = field(default_factory=bytearray)

    def append(self, data: bytes, *, refusable: bool = False) -> None:
        self.data += data


@dataclass
class MemoryItems:
    """Items that are being written."""

    files: dict[str, bytes]
    name: str
    data: bytes = b""

    def write(self, data: bytes) -> None:
        self.data += data

    def finish(self) -> str:
        self.files[self.name] = self.data
        return self.name

    def drop(self) -> None:
        self.files.pop(self.name, None)


@dataclass
class MemorySpool:
    """Files of late materialization."""

    files: dict[str, bytes] = field(default_factory=dict)

    def begin_items(self, cluster: int) -> MemoryItems:
        return MemoryItems(self.files, f"/spool/{cluster}.items")

    def write_digest(self, cluster: int, text: str) -> str:
        self.files[f"/spool/{cluster}.digest"] = text.encode()
        return f"/spool/{cluster}.digest"

    def read_help(self, path: str) -> str:
        return self.files.get(path, b"").decode()


class Schedd:
    """The pure half of a schedd."""

    def __init__(self, **settings: object) -> None:
        self.journal = MemoryJournal()
        self.queue = JobQueue(self.journal, uid_domain="vm")
        self.journal.append(self.queue.first_records(NOW).encode())
        self.settings = replace(SETTINGS, **settings)  # type: ignore[arg-type]
        self.spool = MemorySpool()
        self.slots: dict[JobId, ClassAd] = {}
        self.own_ad = ClassAd()
        # What the shadows are told, commit by commit.
        self.edits: list[Sequence[Change]] = []
        self.now = NOW

    def client(self, actor: Actor = ALICE, *, writable: bool = True) -> Client:
        return Client(
            Connection(
                self.queue,
                actor,
                self.settings,
                writable=writable,
                now=lambda: self.now,
                spool=self.spool,
                edited=self.edits.append,
                slot_of=self.slots.get,
                own_ad=lambda: self.own_ad,
            )
        )

    def submit(self, count: int = 1, actor: Actor = ALICE, **attributes: str) -> list[Job]:
        """Submit one cluster with attributes for all its jobs; the texts are expressions."""
        client = self.client(actor)
        cluster = client.call(calls.NewCluster()).value
        for name, text in {"Owner": "undefined", "JobUniverse": "5", **attributes}.items():
            client.set(cluster, -1, name, text)
        for _ in range(count):
            proc = client.call(calls.NewProc(cluster)).value
            client.set(cluster, proc, "ProcId", str(proc))
            client.set(cluster, proc, "JobStatus", "1")
        assert client.call(calls.CommitTransactionNoFlags()).value == 0
        return [self.queue.jobs[JobId(cluster, proc)] for proc in range(count)]

    def replayed(self) -> JobQueue:
        """Return the queue that a restart would find."""
        queue = JobQueue(MemoryJournal(), uid_domain="vm")
        queue.restore(bytes(self.journal.data))
        return queue


class Client:
    """Sends calls as bytes and reads the replies as bytes."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def send(self, call: Call) -> Answer:
        writer = Writer()
        call.write(writer)
        answer = self.connection.handle(Reader(writer.getvalue()))
        while answer.steps is not None:
            try:
                next(answer.steps)
            except StopIteration as end:
                answer = end.value
        return answer

    def call(self, call: Call) -> Reply:
        answer = self.send(call)
        if answer.parts is not None:
            body = b"".join(part for part, _ in answer.parts(False))
            return call.read_answer(Reader(body))
        assert answer.reply is not None
        writer = Writer()
        answer.reply.write(writer)
        return call.read_answer(Reader(writer.getvalue()))

    def set(self, cluster: int, proc: int, name: str, text: str) -> None:
        """Set an attribute without waiting for an answer, as submitters do."""
        answer = self.send(calls.SetAttribute2(cluster, proc, text, name, 2))
        assert answer.reply is None


def plan_action(
    queue: JobQueue, request: actions.Request, actor: Actor, now: int
) -> tuple[actions.Survey, actions.Plan]:
    """Look at the jobs of an action and plan it at once."""
    survey = actions.Survey(queue, request, actor)
    for _ in survey.look():
        pass
    return survey, actions.plan(queue, request, actor, now, survey.jobs, survey.clusters)


def through(steps: Generator[object, None, Returned]) -> Returned:
    """Take work that is done by steps to its end, and return what it returns."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return cast("Returned", end.value)


def give_away(
    schedd: Schedd,
    ids: str,
    *,
    has_run: Callable[[Job], bool] = lambda job: False,
    spool: str = exports.NO_SPOOL,
) -> str:
    """Export clusters, as the schedd does; returns the log."""
    queue = schedd.queue
    chosen = through(exports.choose(queue, ClassAd({"ActionIds": ids}), ALICE, "export"))
    through(exports.check_exportable(chosen, has_run))
    log = exports.NewLog("/folder/job_queue.log", NOW)
    for marks in exports.mark(queue, chosen, log, has_run):
        queue.commit(marks)
    text = "".join(exports.render_log(queue, chosen, log, spool))
    for ends in exports.plan_exported(queue, list(queue.jobs.values()), log):
        queue.commit(ends)
    return text


def take_back(schedd: Schedd, ids: str) -> int:
    """Unexport clusters, as the schedd does; returns how many jobs were exported."""
    queue = schedd.queue
    chosen = through(exports.choose(queue, ClassAd({"ActionIds": ids}), ALICE, "unexport"))
    for transaction in exports.unmark(queue, chosen):
        queue.commit(transaction)
    return chosen.jobs
