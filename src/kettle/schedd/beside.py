"""Jobs that run beside the schedd: local and scheduler universe, without negotiation and shadow.

Pure: which may start now, what a start changes, what is started, and what an end means for the job.
What the job's log is told of that is `beside_events.py`'s; the processes are `services.beside`'s
(scheduler) and `services.local`'s (local, under a starter). Source: S007, S008.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from kettle.attributes.codes import (
    BESIDE_THE_SCHEDD,
    HoldReasonCode,
    JobStatus,
    JobUniverse,
    ShadowExit,
    VacateReasonCode,
)
from kettle.attributes.secret_variables import SECURITY_SESSION
from kettle.classad import ClassAd, Expr
from kettle.classad.text import quote_line
from kettle.config.knobs.schedd import ScheddKnobs
from kettle.errors import KettleError, NotForked
from kettle.named_tuples import NamedTuple
from kettle.policy.attribute_protection import RESTS_UNTIL
from kettle.policy.job_policy import Decision, SystemPolicy, Verdict, decide_exit
from kettle.policy.kill_signals import kill_signal, signal_death, wished_seconds
from kettle.schedd import job_machine
from kettle.schedd.job_machine import ON_A_MACHINE, Attributes
from kettle.schedd.job_runs import last_start
from kettle.schedd.queue.job_queue import JobQueue
from kettle.schedd.queue.jobs import Job
from kettle.submit.arguments import read_environment, split_arguments

if TYPE_CHECKING:
    from kettle.config import Config

# How long a job that was asked to leave may take before it is killed, unless its ad says so.
LEAVE_SECONDS = 30.0


# Until when a job waits whose last run failed.
COOLS_UNTIL = "JobCoolDownExpiration"


@dataclass(frozen=True, slots=True)
class Program:
    """What to start for a job of the scheduler universe."""

    argv: tuple[str, ...]
    environment: dict[str, str]
    cwd: str
    stdin: str
    stdout: str
    stderr: str


class NotStarted(KettleError):  # noqa: N818 - the name says what happened
    """The job's program could not be started, for a reason that holds the job."""

    def __init__(
        self,
        message: str,
        code: int = HoldReasonCode.FailedToCreateProcess,
        subcode: int = 0,
    ) -> None:
        super().__init__(message)
        self.code, self.subcode = int(code), subcode


class StarterDied(KettleError):  # noqa: N818 - the name says what happened
    """A local job's starter ended, with this wait status, and did not say how the job did."""

    def __init__(self, status: int) -> None:
        how = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "no word of its job"
        super().__init__(f"The starter ended with {how}")


@dataclass(slots=True)
class Run:
    """One running job beside the schedd."""

    job: Job
    began: int
    # Why it is to leave, once somebody wants that: a signal of the shadow's vocabulary.
    wish: str = ""
    reason: str = ""
    code: int = 0
    subcode: int = 0
    # Whether a hold was taken back before it was carried out: its log gets no 012 behind the 013.
    released: bool = False
    # Whether the job's log has its event 001.
    executed: bool = False
    # What the file with the job's ad holds: the ad as it was before the start.
    ad_text: str = ""
    attributes: dict[str, object] = field(default_factory=dict)

    def ask(self, wish: str, reason: str, code: int, subcode: int) -> bool:
        """Take a wish for the job to leave; whether that is news to it.

        The queue has told of a hold and of a removal, and the log has to have them when the job is
        gone: that a stop of the schedd makes it leave, too, takes the place of neither.
        """
        if wish == self.wish or (wish == "Vacate" and self.wish in {"Hold", "Remove"}):
            return False
        self.wish, self.reason, self.code, self.subcode = wish, reason, code, subcode
        return True


class Process(NamedTuple):
    """Who started a process, and when, in the kernel's ticks."""

    uid: int
    birth: int


def may_be_of(jobs: Iterable[Process], own: int, uid: int, birth: int) -> bool:
    """Tell whether a process that left its family may be of one of these other jobs.

    `own` is the account of a job that has ended. Nothing is older than what it comes from; what is
    of `own` is that job's, unless another one is of the same account. What is of neither's became
    that by sudo or its kind, of whichever job: it is left alone as long as one lives that it may be
    of, for to kill another job's process is worse.
    """
    return any(job.birth <= birth and (job.uid == uid or uid != own) for job in jobs)


def startable(
    queue: JobQueue, schedd: ClassAd, allowed: dict[int, Expr | None], now: int
) -> Iterator[Job | None]:
    """Yield the jobs that may start now, those of higher priority first; None for each other.

    `schedd` is what START_LOCAL_UNIVERSE and START_SCHEDULER_UNIVERSE look at, and what a job's own
    requirements have for a machine (`schedd_as_machine`); it is the caller's to count a started job
    in before the next is asked for. Source: observed of a real schedd.
    """
    waiting = [
        job
        for job in queue.by_status[JobStatus.IDLE].values()
        if job.universe in BESIDE_THE_SCHEDD
        and job.waits
        and (job.ad.integer(COOLS_UNTIL) or 0) < now
        and (job.ad.integer(RESTS_UNTIL) or 0) <= now
    ]
    waiting.sort(key=lambda job: (-(job.ad.integer("JobPrio") or 0), job.id))
    for job in waiting:
        if job.id not in queue.jobs or not job.waits:
            # Others had their turn since.
            continue
        yield job if _may_start(job, schedd, allowed.get(job.universe)) else None


def _may_start(job: Job, schedd: ClassAd, expression: Expr | None) -> bool:
    if expression is not None and not schedd.satisfies(expression, job.ad):
        return False
    wanted = job.ad.lookup("Requirements")
    return wanted is None or job.ad.satisfies(wanted, schedd)


# What the schedd says of its host where jobs beside it look for a machine, and whose word that is.
_HOST_WORDS = {
    "Arch": "ARCH",
    "OpSys": "OPSYS",
    "OpSysVer": "OPSYSVER",
    "OpSysAndVer": "OPSYSANDVER",
    "UidDomain": "UID_DOMAIN",
}
_HOST_SIZES = {"Cpus": "DETECTED_CPUS", "Memory": "DETECTED_MEMORY"}


def schedd_as_machine(config: Config, disk_kib: int | None) -> ClassAd:
    """Return what the schedd is to jobs beside it: its host, without the counts.

    It has no name, address or type, unlike the ad that the collector is sent. `disk_kib` is what is
    free where local jobs have their folders. Source: observed of a real schedd.
    """
    ad = ClassAd({"HasContainer": True, "HasSIF": True})
    for name, knob in _HOST_WORDS.items():
        word = config.get(knob)
        if word:
            ad[name] = word
    for name, knob in _HOST_SIZES.items():
        size = config.integer(knob)
        if size is not None:
            ad[name] = size
    if disk_kib is not None:
        ad["Disk"] = disk_kib
    return ad


def counts(queue: JobQueue) -> dict[str, int]:
    """Return the counts that the start expressions look at."""
    found = {}
    for universe, word in ((JobUniverse.LOCAL, "Local"), (JobUniverse.SCHEDULER, "Scheduler")):
        running = sum(queue.count(status, universes=(universe,)) for status in ON_A_MACHINE)
        found[f"Total{word}JobsRunning"] = running
        found[f"Total{word}JobsIdle"] = queue.count(JobStatus.IDLE, universes=(universe,))
    return found


def has_idle(queue: JobQueue) -> bool:
    """Tell whether any such job waits, without looking at the jobs."""
    return bool(queue.count(JobStatus.IDLE, universes=BESIDE_THE_SCHEDD))


def start_attributes(ad: ClassAd, host: str, now: int) -> Attributes:
    """Return what the start changes in a job."""
    changes: Attributes = {
        **job_machine.step(ad, job_machine.Started(), now),
        "ShadowBday": str(now),
        **last_start(ad),
        "OrigMaxHosts": "1",
        "JobCurrentStartDate": str(now),
        "JobCurrentStartExecutingDate": str(now),
        "NumJobStarts": str((ad.integer("NumJobStarts") or 0) + 1),
        "JobRunCount": str((ad.integer("JobRunCount") or 0) + 1),
        "RemoteHost": quote_line(host),
    }
    if ad.integer("JobUniverse") == JobUniverse.LOCAL:
        changes["NumShadowStarts"] = str((ad.integer("NumShadowStarts") or 0) + 1)
    if "JobStartDate" not in ad:
        changes["JobStartDate"] = str(now)
    return changes


def unstarted_attributes(run: Run, *, begun: bool = True) -> dict[str, str]:
    """Return what takes back the count of a start that came to nothing.

    A starter that was `begun` stays counted, its program does not; without a starter nothing was.
    """
    if run.executed:
        return {}
    ad = run.job.ad
    names = ["NumJobStarts"]
    if run.job.universe != JobUniverse.LOCAL:
        names += ["JobRunCount"]
    elif not begun:
        names += ["JobRunCount", "NumShadowStarts"]
    counts = {name: (ad.integer(name) or 0) - 1 for name in names}
    # Who never ran has no count of runs, nor of starters.
    return {
        name: "undefined" if name != "NumJobStarts" and count <= 0 else str(max(0, count))
        for name, count in counts.items()
    }


def leave_attributes(run: Run) -> dict[str, object]:
    """Return why a run was ended before its time; nothing for one that ended by itself."""
    if not run.wish or not run.code:
        return {}
    return {
        "VacateReason": run.reason,
        "VacateReasonCode": run.code,
        "VacateReasonSubCode": run.subcode,
    }


def lost_attributes(failure: StarterDied | NotForked) -> dict[str, object]:
    """Return what a job is told of a run that nobody wished to end, and that was no fault of it."""
    code = VacateReasonCode.JobNotStarted
    if isinstance(failure, StarterDied):
        code = VacateReasonCode.StarterError
    return {
        "VacateReason": str(failure),
        "VacateReasonCode": int(code),
        "VacateReasonSubCode": 0,
    }


def cool_down(run: Run, status: int | None, seconds: int, now: int) -> dict[str, object]:
    """Return what has a scheduler-universe job wait that left with an exit code other than 0.

    Whoever wanted it to leave: one that is held and released waits, too. Without a status it could
    not be started, and waits even with DisableCoolDown. Nothing for others. Source: observed of a
    real schedd.
    """
    ad = run.job.ad
    if run.job.universe != JobUniverse.SCHEDULER:
        return {}
    if status is not None:
        failed = os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0
        if not failed or ad.boolean("DisableCoolDown"):
            return {}
    return {"NumJobCoolDowns": (ad.integer("NumJobCoolDowns") or 0) + 1, COOLS_UNTIL: now + seconds}


def own_environment(config: Config, session: str) -> dict[str, str]:
    """Return what tells a scheduler-universe job of its schedd: where it is, how it is trusted."""
    told = {SECURITY_SESSION: session}
    if config[ScheddKnobs.USE_LOCAL_SCHEDD_FOR_SCHEDULER_UNIVERSE]:
        for name in ("SCHEDD_DAEMON_AD_FILE", "SCHEDD_ADDRESS_FILE"):
            path = config.get(name)
            if path:
                told[f"_condor_{name}"] = path
    return told


def plan_program(
    ad: ClassAd,
    inherited: dict[str, str],
    job_ad: str = "",
    told: Mapping[str, str] = MappingProxyType({}),
) -> Program:
    """Return what a scheduler-universe job runs; relative names are meant from its Iwd.

    `job_ad` is the file with its ad, if there is one; `told` stands in its environment whatever
    its ad says, `inherited` unless its ad says otherwise.

    Compat: the reference's jobs inherit all of the schedd's environment, ours what a program finds
    its way by. HOME is the daemons' in both, whoever the owner is
    (test_a_scheduler_job_has_the_home_and_the_path_of_its_schedd_and_no_more_of_it).
    """
    cwd = ad.string("Iwd") or "/"

    def path(name: str, default: str) -> str:
        value = ad.string(name) or default
        return os.path.join(cwd, value)

    words = split_arguments(ad.string("Arguments"), ad.string("Args"))
    environment = dict(inherited)
    delimiter = ad.string("EnvDelim") or ";"
    environment.update(read_environment(ad.string("Environment"), ad.string("Env"), delimiter))
    # By this condor_dagman knows which job it is, and names it in its nodes' ads.
    environment["CONDOR_ID"] = f"{ad.integer('ClusterId')}.{ad.integer('ProcId')}"
    if job_ad:
        environment["_CONDOR_JOB_AD"] = job_ad
    environment.update(told)
    return Program(
        argv=(os.path.join(cwd, ad.string("Cmd") or ""), *words),
        environment=environment,
        cwd=cwd,
        stdin=path("In", os.devnull),
        stdout=path("Out", os.devnull),
        stderr=path("Err", os.devnull),
    )


def exit_attributes(status: int) -> dict[str, object]:
    """Return what a wait status says in a job's ad."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return {
            "ExitBySignal": True,
            "ExitSignal": number,
            "ExitReason": signal_death(number),
            **({"JobCoreDumped": True} if os.WCOREDUMP(status) else {}),
        }
    return {"ExitBySignal": False, "ExitCode": os.WEXITSTATUS(status)}


def exit_status(universe: int, status: int) -> dict[str, object]:
    """Return ExitStatus, which of all universes the scheduler's has for how the program ended."""
    if universe != JobUniverse.SCHEDULER or not os.WIFEXITED(status):
        return {}
    return {"ExitStatus": os.WEXITSTATUS(status)}


def leave_signal(ad: ClassAd, wish: str) -> int:
    """Return the signal that asks a scheduler-universe job to leave."""
    names = {"Remove": "RemoveKillSig", "Hold": "HoldKillSig"}
    return kill_signal(ad, names.get(wish, "KillSig"), "KillSig")


def leave_seconds(ad: ClassAd, unless_said: float = LEAVE_SECONDS) -> float:
    """Return how long a job of either universe may take to leave before it is killed.

    `unless_said` is what a job has that wishes for nothing.

    Compat: HTCondor never kills such a job, whatever its ad says: one that ignores its signal stays
    until it ends by itself (test_a_job_beside_the_schedd_gets_its_signal_and_then_its_end).
    """
    wished = wished_seconds(ad)
    return unless_said if wished is None else wished


def decide_end(run: Run, system: SystemPolicy, now: float) -> tuple[int, dict[str, object]]:
    """Return how a run ended in the words of a shadow's exit, with what goes into the ad."""
    if run.wish in {"Remove", "Hold"}:
        # The queue knows already; it waited for the process.
        return int(ShadowExit.KILLED), {}
    if run.wish:
        return int(ShadowExit.SHOULD_REQUEUE), {}
    # Counted before the job's own expressions look at the exit: `max_retries` compares it.
    # Compat: the reference counts it for no such job, and one with `max_retries` that goes on
    # failing is run without end (test_a_job_beside_the_schedd_is_retried_as_often_as_it_may).
    counted: dict[str, object] = {
        "NumJobCompletions": (run.job.ad.integer("NumJobCompletions") or 0) + 1
    }
    ad = ClassAd({**run.attributes, **counted}, parent=run.job.ad)
    decision: Decision = decide_exit(ad, now, system)
    if decision.verdict is Verdict.HOLD:
        return int(ShadowExit.SHOULD_HOLD), {
            **counted,
            "HoldReason": decision.reason,
            "HoldReasonCode": decision.code,
            "HoldReasonSubCode": decision.subcode,
        }
    if decision.verdict is Verdict.REQUEUE:
        run.reason = decision.reason
        return int(ShadowExit.SHOULD_REQUEUE), counted
    return int(ShadowExit.EXITED), counted
