"""The steps that make a job of a description, in their order."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING

from kettle.errors import SubmitError
from kettle.named_tuples import NamedTuple
from kettle.octets import BLANKS
from kettle.submit import (
    evictions,
    grid,
    policy,
    program,
    requests,
    requirements,
    simple,
    transfer,
    universes,
    virtual_machine,
    words,
)
from kettle.submit.job import JobBuilder, evaluate

if TYPE_CHECKING:
    from kettle.submit.macros import SubmitMacros, Variable

# What every new job has, whatever the description says.
BASE: tuple[tuple[str, str], ...] = (
    ("MyType", '"Job"'),
    ("TargetType", '"Machine"'),
    ("Owner", "undefined"),
    ("NumCkpts", "0"),
    ("ExitStatus", "0"),
    ("NumRestarts", "0"),
    ("CurrentHosts", "0"),
    ("ExitBySignal", "false"),
    ("NumJobStarts", "0"),
    ("RemoteSysCpu", "0.0"),
    ("CommittedTime", "0"),
    ("RemoteUserCpu", "0.0"),
    ("NumSystemHolds", "0"),
    ("JobSubmitMethod", "0"),
    ("JobPrio", "0"),
    ("TotalSuspensions", "0"),
    ("CommittedSlotTime", "0"),
    ("NumJobCompletions", "0"),
    ("CumulativeSlotTime", "0"),
    ("LastSuspensionTime", "0"),
    ("RemoteWallClockTime", "0.0"),
    ("CumulativeRemoteSysCpu", "0.0"),
    ("CommittedSuspensionTime", "0"),
    ("CumulativeRemoteUserCpu", "0.0"),
    ("CumulativeSuspensionTime", "0"),
)


OWN_NUMBERS = ("CLUSTERID", "PROCID")


class Step(NamedTuple):
    """One step; one that `forces` takes an attribute that the description itself names.

    One that `copies` has no eye for digits: where a text that it looks at has a word with one, so
    has what it writes, and nothing else depends on it (`copies.py`). One of `any_slash` has none
    for slashes, either.
    """

    run: Callable[[JobBuilder], None]
    forces: bool = False
    copies: bool = False
    any_slash: bool = False


def set_base(job: JobBuilder) -> None:
    """Set what every new job has."""
    attributes, facts = job.attributes, job.facts
    attributes.set("ClusterId", str(facts.cluster))
    for name, text in BASE:
        attributes.set(name, text)
    if job.config.boolean("SUBMIT_SHOULD_SET_LOCAL_OWNER") and not job.spooled:
        job.set_string("Owner", facts.user)
    attributes.set("QDate", str(facts.now))
    attributes.set("EnteredCurrentStatus", str(facts.now))
    # Of what came by standard input there is no file.
    if facts.file_name not in ("", "-"):
        job.set_string("JobSubmitFile", facts.file_name)
    job.set_string("CondorVersion", facts.version)
    job.set_string("SubmitVersion", facts.version)
    job.set_string("CondorPlatform", facts.platform)


def set_configured(job: JobBuilder) -> None:
    """Take the configuration's SUBMIT_ATTRS; as `+Attr` and `MY.Attr` they override all others."""
    for knob in ("SUBMIT_ATTRS", "SUBMIT_EXPRS"):
        for name in job.config.words(knob):
            text = job.config.get(name)
            if text is not None:
                job.forced.set(name, job.checked(name, text))


def _force(job: JobBuilder, variable: Variable) -> None:
    """Take one `+Attr` or `MY.Attr`."""
    variable.used = True
    name = variable.name[3:]
    job.note(variable.name)
    text = job.expand(variable.text).strip(BLANKS)
    if name.upper() in OWN_NUMBERS:
        # The queue gives a job its numbers; what a description says of them counts for nothing.
        return
    if name.lower() == "jobstatus":
        # Each job has it for itself; the queue takes no other than idle and held.
        asked = evaluate(job.checked(name, text or "undefined"))
        job.asked_status = asked if isinstance(asked, int) else None
        return
    if not text and name.lower() == "requirements":
        # None are forced then, and they are worked out.
        return
    try:
        job.forced.set(name, _checked(job, name, text))
    except SubmitError:
        job.wrong_forced += (variable.name, text)


def _checked(job: JobBuilder, name: str, text: str) -> str:
    """Return what is forced as ads print it; SubmitError where it is no attribute."""
    checked = job.checked(name, text or "undefined")
    if not name:
        raise SubmitError(f"Unable to insert expression: {name} = {checked}")
    return checked


def refuse_forced(job: JobBuilder) -> None:
    """Refuse the first `+Attr` that is wrong; whatever else is wrong is told before it."""
    if job.wrong_forced:
        name, text = job.wrong_forced[:2]
        job.note(name)
        _checked(job, name[3:], text)


def set_ignored(job: JobBuilder) -> None:
    """Take notice of commands that are accepted and change nothing."""
    for command in IGNORED:
        job.param(command)


IGNORED = (
    "interactive_args",
    "interactive_executable",
)
# Of two faults of a description that is told which is met first. So this is the order in which the
# reference looks at commands, recorded from all pairs of 107 of them.
# Compat: job_lease_duration, job_machine_attrs_history_length and docker_send_credentials are not
# simple, and stand there among commands that are (test_the_order_of_faults_is_the_reference_s).
_FIRST_STEPS = (
    Step(set_ignored),
    Step(policy.set_materialization),
    Step(universes.set_remote_universe),
    Step(program.set_universe),
    Step(set_configured),
)
# Behind these come what the description forces, one step for each.
_NEXT_STEPS = (
    Step(universes.set_parallel),
    Step(program.check_file_checks),
    Step(grid.read_grid_type),
    Step(program.set_folder),
    Step(virtual_machine.set_virtual_machine),
    Step(universes.set_container),
    Step(program.set_executable),
    Step(words.set_arguments, copies=True, any_slash=True),
    Step(grid.set_grid),
    Step(universes.set_java),
    Step(words.set_java_words, copies=True),
    Step(words.set_tool),
    Step(program.set_environment),
    Step(policy.set_hold),
    Step(program.set_input),
    Step(program.set_output, copies=True),
    Step(program.set_error, copies=True),
    Step(virtual_machine.tell_of_memory),
    Step(transfer.set_proxy),
    Step(policy.set_notification),
    Step(requests.set_rank),
)
# Behind these come the simple commands about a job's end.
_MIDDLE_STEPS = (
    Step(policy.set_leave_in_queue),
    Step(policy.set_retries),
    Step(program.set_signals),
    Step(program.set_event_log, copies=True),
    Step(evictions.set_evict_checks),
    Step(requests.set_requests),
    Step(program.set_starter_log),
    Step(requests.concurrency_limits),
    Step(policy.set_accounting),
    Step(transfer.check_docker_credentials),
    Step(requests.set_attribute_history),
)
# Behind these come all other simple commands.
_LAST_STEPS = (
    Step(simple.set_extended),
    Step(policy.set_lease),
    Step(policy.set_deferral),
    Step(program.set_sizes),
    Step(transfer.set_transfer),
    Step(transfer.say_transfer),
    Step(transfer.set_checkpoint),
    Step(transfer.set_transfer_sizes),
    Step(refuse_forced, forces=True),
    Step(requirements.set_requirements, copies=True, any_slash=True),
)


@cache
def _later_steps() -> tuple[Step, ...]:
    early, late = (
        [Step(run, copies=copies) for run, copies in setters] for setters in simple.simple_setters()
    )
    return (*_NEXT_STEPS, *early, *_MIDDLE_STEPS, *late, *_LAST_STEPS)


def all_steps(macros: SubmitMacros) -> tuple[Step, ...]:
    """Return the steps that make a job of a description, in their order."""
    # What is forced is looked at by name.
    forcing = (
        Step(
            partial(_force, variable=macros.variables[key]),
            forces=True,
            copies=True,
            any_slash=True,
        )
        for key in sorted(macros.variables, key=str.lower)
        if key.startswith("MY.")
    )
    return (*_FIRST_STEPS, *forcing, *_later_steps())


# Steps that say to each other what is in no ad: where one runs, the others' commands count.
TOGETHER = (transfer.set_transfer, universes.set_java, universes.set_container)
Run = Callable[[JobBuilder], None]


def with_followers(live: set[Run]) -> set[Run]:
    """Return what runs for each job where this does: what travels is what others say."""
    return live if live.isdisjoint(TOGETHER) else live | {TOGETHER[0]}
