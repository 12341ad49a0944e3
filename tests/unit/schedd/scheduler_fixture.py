"""A scheduler whose hands only write down what they were asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kettle.classad import ClassAd
from kettle.matchmaking.autoclusters import AutoClusters
from kettle.policy.job_policy import SystemPolicy
from kettle.schedd.claims import Claim
from kettle.schedd.idle_jobs import IdleJobs
from kettle.schedd.job_machine import Attributes
from kettle.schedd.outside import Outside
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.queue.job_queue import JobQueue
from kettle.schedd.queue.jobs import Job
from kettle.schedd.recovery import Recovery
from kettle.schedd.scheduler import Scheduler
from kettle.schedd.statistics import Statistics
from kettle.wire.messages.claims import RequestClaimReply
from unit.schedd.queue_fixture import NOW, Schedd

ADDRESS = "<127.0.0.1:9620>"


class Hands:
    """All parts outside in one: everything the scheduler wants done, in order."""

    def __init__(self) -> None:
        self.done: list[tuple[str, ...]] = []
        self.requested: list[Claim] = []
        # Where claims were released.
        self.released_at: list[str] = []
        self.queue: JobQueue | None = None
        self.recorded: list[list[str]] = []
        self.runs: list[str] = []
        # Claims whose sessions are known no more.
        self.forgotten: list[str] = []
        # Jobs that the history has from before a crash.
        self.known: set[str] = set()
        # Jobs of which the log has the end.
        self.told: set[str] = set()
        self.scheduler: Scheduler | None = None
        # Jobs that rest, for how long, and what wakes them.
        self.resting: list[tuple[JobId, int, Callable[[], None]]] = []
        # What failed, and is to be done again after so many seconds.
        self.again: list[tuple[int, Callable[[], None]]] = []
        self.troubles: list[str] = []
        # Jobs that run beside the schedd.
        self.beside: set[str] = set()
        # Jobs whose process of an earlier schedd was ended.
        self.ended_leftovers: list[str] = []
        # How often the negotiator was asked to come.
        self.wanted = 0
        # Whether the disk of the history is full.
        self.full = False

    def take(self) -> list[tuple[str, ...]]:
        """Return what was done since the last call."""
        done, self.done = self.done, []
        return done

    def request(self, claim: Claim, job: Job) -> None:
        self.requested.append(claim)
        self.done.append(("request", claim.id, str(job.id)))

    def release(self, claim_id: str, address: str) -> None:
        self.done.append(("release", claim_id))
        self.released_at.append(address)

    def forget(self, claim_id: str) -> None:
        self.forgotten.append(claim_id)

    def start_shadow(self, job: Job, claim: Claim, *, reconnect: bool) -> None:
        self.done.append(("reconnect" if reconnect else "start", claim.id, str(job.id)))

    def signal(self, job: Job, word: str, reason: str, code: int, subcode: int) -> None:
        self.done.append(("signal", word, str(job.id), str(code)))

    def is_beside(self, job: Job) -> bool:
        return str(job.id) in self.beside

    def end_leftover(self, job: Job) -> None:
        self.ended_leftovers.append(str(job.id))

    def held(self, job: Job, reason: str, code: int, subcode: int) -> None:
        self.done.append(("012", str(job.id), reason, str(code)))

    def held_running(self, job: Job) -> None:
        self.done.append(("mail", str(job.id)))

    def released(self, job: Job, reason: str) -> None:
        self.done.append(("013", str(job.id)))

    def aborted(self, jobs: Sequence[Job]) -> None:
        self.done += [("009", str(job.id)) for job in jobs]

    def recall(self, job: Job) -> None:
        self.done.append(("recall", str(job.id)))

    def run_ended(self, job: Job, was: Attributes) -> None:
        self.runs.append(str(job.id))

    def begin(self, job: Job) -> None:
        """Everything is on disk at once."""
        assert self.scheduler is not None
        self.scheduler.departures.take_out(self.scheduler.departures.record([job]))

    def finished(self, jobs: Sequence[Job]) -> Sequence[Job]:
        if self.full:
            return ()
        for job in jobs:
            self.recorded.append(list(job.ad.lines()))
            self.done.append(("history", str(job.id), str(job.status)))
        return jobs

    def has(self, job: Job) -> bool:
        return str(job.id) in self.known

    def was_told(self, job: Job) -> bool:
        return str(job.id) in self.told

    def clean_up(self, job: Job) -> None:
        pass

    def want_matches(self) -> None:
        self.wanted += 1


class World(Schedd):
    """A schedd's pure half with its scheduler."""

    def __init__(self) -> None:
        super().__init__()
        self.hands = Hands()
        self.idle = IdleJobs(self.queue, AutoClusters())
        self.scheduler = self.make_scheduler(self.queue, self.idle)

    def make_scheduler(self, queue: JobQueue, idle: IdleJobs) -> Scheduler:
        made = self.hands.scheduler = Scheduler(
            queue,
            idle,
            Outside(
                claims=self.hands,
                runs=self.hands,
                owners=self.hands,
                records=self.hands,
                departures=self.hands,
                want_matches=self.hands.want_matches,
                rest=lambda job, seconds, act: self.hands.resting.append((job, seconds, act)),
                again=lambda seconds, act: self.hands.again.append((seconds, act)),
                trouble=self.hands.troubles.append,
            ),
            lambda: self.now,
            most_running=0,
            statistics=Statistics(NOW),
            system_policy=SystemPolicy(),
        )
        return made

    def match(self, job: Job, claim_id: str = "<c>#1#1#key", **slot: object) -> Claim:
        """Have the negotiator offer a slot for a job, and return the claim that is requested."""
        number, proc = job.id
        ad = ClassAd(
            {
                "Name": "slot1@vm",
                "MyAddress": ADDRESS,
                "Memory": 1024,
                "_condor_RESOURCE_CLUSTER": number,
                "_condor_RESOURCE_PROC": proc,
                **slot,
            }
        )
        assert self.scheduler.on_match(job.submitter, claim_id, ad)
        return self.hands.requested[-1]

    def grant(self, claim: Claim, leftover: tuple[str, ClassAd] | None = None) -> None:
        """Have the startd grant a claim."""
        reply = RequestClaimReply(True, [(claim.id, claim.slot)], leftover)
        self.scheduler.on_claim_reply(claim, reply)

    def run(self, job: Job, claim_id: str = "<c>#1#1#key") -> Claim:
        """Bring a job to running."""
        claim = self.match(job, claim_id)
        self.grant(claim)
        self.hands.take()
        return claim

    def exit(self, job: Job, reason: int = 100, *, reusable: bool = True, **more: object) -> None:
        """Have a job's shadow report its end."""
        self.scheduler.on_shadow_exited(
            job.id, reason, dict(ClassAd(more).own_texts()), reusable=reusable
        )


def restart(world: World, *, known: str = "", told: str = "") -> World:
    """Return the world that a new schedd makes of the journal.

    The job `known` is in the history, and the log of `told` has its end.
    """
    again = World()
    again.now = world.now
    again.journal.data[:] = world.journal.data
    again.queue = again.replayed()
    again.hands = type(world.hands)()
    again.hands.known = {known}
    again.hands.told = {told}
    again.idle = IdleJobs(again.queue, AutoClusters())
    again.scheduler = again.make_scheduler(again.queue, again.idle)
    Recovery(again.scheduler).recover()
    return again
