"""`condor_prio`: change the priority of jobs among their owner's jobs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kettle.classad.text import equals
from kettle.client.queue import Queue
from kettle.digits import MAX_32
from kettle.errors import NotFoundError, RefusedError, Unreached, UsageError
from kettle.tools.jobs.condor_qedit import render_id
from kettle.tools.options import Asked, BriefError, run_tool
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach
from kettle.wire.messages.qmgmt import SetAttributeFlags

# A new priority is told in the job's event log.
_IN_LOG = int(SetAttributeFlags.LOG)
_NO_PRIORITY = "You must specify a new priority or priority adjustment."
USAGE = """\
Usage: condor_prio [{+|-}CHANGE] [-p PRIORITY] [-a] [-n SCHEDD] [-pool POOL]
                   [USER | CLUSTER | CLUSTER.PROC]…

  +N, -N       raise or lower the priority by N
  -p N         set the priority to N
  -a           all jobs
  -n SCHEDD    at this schedd
  -pool POOL   ask this pool's collector where the schedd is
"""


@dataclass
class Wish:
    """The new priority or the change, and of which jobs."""

    priority: int | None = None
    change: int | None = None
    everything: bool = False
    words: list[str] = field(default_factory=list)
    # Words that begin as a job's id, or as an option, and are none.
    skipped: list[str] = field(default_factory=list)
    reach: dict[str, str] = field(default_factory=dict)

    def constraint(self) -> str:
        """Return the expression that the jobs meant satisfy."""
        if self.everything:
            return "true"
        parts = []
        for word in self.words:
            if re.fullmatch(r"\d+(\.\d+)?", word):
                parts.append(f"({render_id(word)})")
            else:
                parts.append(f"({equals('Owner', word)})")
        return " || ".join(parts)


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_prio`."""

    def act(wish: Wish, environment: Mapping[str, str], streams: Streams) -> int:
        reach = Reach(environment, **wish.reach)
        try:
            schedd = reach.schedd_or_none_such()
        except NotFoundError as error:
            said = str(error) if reach.name else f"ERROR: {error}"
            raise NotFoundError(said) from None
        # As in the reference the schedd comes before what makes no sense.
        if wish.priority is None and not wish.change:
            raise UsageError(_NO_PRIORITY)
        streams.stderr.writelines(
            f'Warning: unrecognized "{word}" skipped\n' for word in wish.skipped
        )
        if not wish.words and not wish.everything:
            return 0
        try:
            with Queue(reach.connector, schedd.address) as queue:
                changed = change(queue, wish, streams)
        except Unreached as error:
            streams.stderr.write(f"Failed to connect to queue manager {error.address}\n")
            return 1
        for word in wish.words:
            if "." in word and word not in changed:
                streams.stderr.write(f"Couldn't retrieve current priority for {word}.\n")
        return 0

    return run_tool(
        argv,
        environment,
        streams,
        usage=USAGE,
        read_wish=read_wish,
        act=act,
        complain=lambda error: f"{error}\n{USAGE}" if str(error) else USAGE,
        prefix="condor_prio: ",
    )


def read_wish(words: Sequence[str]) -> Wish:
    """Return what the command line asks for; raise UsageError."""
    wish = Wish()
    rest = iter(words)
    for word in rest:
        # Compat: the reference has no -version (test_every_tool); its -help ends as a mistake does.
        if word in {"-version", "--version"}:
            raise Asked("version")
        if word in {"-h", "-help", "--help"}:
            raise UsageError(_NO_PRIORITY)
        number = re.match(r"[+-]\d+", word, re.ASCII)
        if number is not None:
            wish.change = int(number[0])
        elif word in {"-p", "-n", "-pool"}:
            _take_value(wish, word, next(rest, None))
        elif word in {"-a", "-all"}:
            wish.everything = True
        elif word.startswith("-"):
            wish.skipped.append(word)
        elif not word.startswith("+"):
            _take_job(wish, word)
    if not words:
        raise UsageError("")
    if "pool" in wish.reach and "name" not in wish.reach:
        raise BriefError("condor_prio: -pool also requires -n to be specified")
    return wish


def _take_job(wish: Wish, word: str) -> None:
    """Take an id or a user's name; what begins as an id and is none is left out.

    `8.` is job 8.0 here, as in the reference.
    """
    if not word[:1].isdecimal():
        wish.words.append(word)
    elif re.fullmatch(r"[0-9]+(\.[0-9]*)?", word):
        wish.words.append(f"{word}0" if word.endswith(".") else word)
    else:
        wish.skipped.append(word)


def _take_value(wish: Wish, option: str, value: str | None) -> None:
    if value is None:
        # Compat: after -p the reference crashes (test_what_makes_no_sense_is_said).
        raise BriefError(f"condor_prio: {option} requires another argument")
    if option != "-p":
        wish.reach["pool" if option == "-pool" else "name"] = value
        return
    number = re.fullmatch(r"\s*([+-]?\d{1,12})(\.\d*)?", value, re.ASCII)
    if number is not None and abs(int(number[1])) <= MAX_32:
        # Compat: the reference takes a longer number for another, a word for 0, and succeeds
        # (test_what_makes_no_sense_is_said).
        wish.priority = int(number[1])
    else:
        raise UsageError(f"a priority is a whole number, not {value}")


def change(queue: Queue, wish: Wish, streams: Streams) -> set[str]:
    """Set the priorities in one transaction; returns the ids of the jobs there are.

    A job that may not be changed is named, and the others are changed all the same.
    """
    jobs = list(queue.jobs(wish.constraint(), ("ClusterId", "ProcId", "JobPrio")))
    for job in jobs:
        cluster, proc = job.integer("ClusterId") or 0, job.integer("ProcId") or 0
        now = job.integer("JobPrio") or 0
        new = wish.priority if wish.priority is not None else now + (wish.change or 0)
        try:
            queue.set_attribute(cluster, proc, "JobPrio", str(new), flags=_IN_LOG)
        except RefusedError:
            streams.stderr.write(f"Couldn't set new priority for {cluster}.{proc}.\n")
    if jobs:
        queue.commit()
    return {f"{job.integer('ClusterId')}.{job.integer('ProcId')}" for job in jobs}
