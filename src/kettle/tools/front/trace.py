"""`kettle trace`: a job's life as a timeline across daemons, with the time each step took.

The job's ad comes from queue or history; where its moments are and how they are drawn is
`kettle.tools.tracing`'s.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Mapping

from kettle.attributes.codes import JobStatus
from kettle.classad import ClassAd
from kettle.errors import ConnectionLost, UsageError
from kettle.tools.front import place
from kettle.tools.front.why import find_job, name_of
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach
from kettle.tools.tracing.sources import (
    fetch_lines,
    find_in_history,
    read_job_events,
    read_lines,
)
from kettle.tools.tracing.timeline import Timeline, as_facts, make_moments
from kettle.wire.commands import Command
from kettle.wire.dialog import Words

_NARROWEST = 40
# How long the schedd may take for the question that costs it least.
PATIENCE = 5.0
# A job's time goes on in these.
_AT_WORK = (JobStatus.RUNNING, JobStatus.TRANSFERRING_OUTPUT, JobStatus.SUSPENDED)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of `kettle trace`."""
    parser = argparse.ArgumentParser(
        description="Draw a job's life across the daemons: each step, when, and how long it took.",
        epilog="Steps are read from the daemons' logs, here and on the machine that ran the job "
        "last, where D_JOB is in their _DEBUG knobs (in pools of 'kettle up' it is); what only the "
        "job's ad or event log knows is marked ~ and known to the second.",
    )
    place.add_folder_option(parser)
    parser.add_argument("job", metavar="JOB", help="CLUSTER.PROC, or CLUSTER for its first job")
    parser.add_argument("--width", type=int, metavar="N", help="draw for so many columns")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    return parser


def run(arguments: argparse.Namespace, environment: Mapping[str, str], streams: Streams) -> int:
    """Find, put in order, draw."""
    if not re.fullmatch(r"\d+(\.\d+)?", arguments.job):
        raise UsageError(f"{arguments.job} is no job id", hint="CLUSTER.PROC, such as 12.0")
    reach = place.reach_queue(arguments.dir, environment)
    job, gone, trouble = find_patiently(reach, arguments.job)
    global_id = job.string("GlobalJobId") or ""
    lines, gaps = read_lines(reach.config, global_id)
    more, further = fetch_lines(reach, job, lines, gaps_told=bool(gaps))
    leaving = not gone and is_leaving(job)
    until = time.time() if leaving or job.integer("JobStatus") in _AT_WORK else 0.0
    timeline = Timeline(
        name_of(job),
        global_id,
        describe_status(job, leaving=leaving),
        make_moments(job, [*lines, *more], read_job_events(job), until=until),
        (*trouble, *gaps, *further),
        until,
    )
    if arguments.json:
        streams.stdout.write(json.dumps(as_facts(timeline), indent=2) + "\n")
        return 0
    show(timeline, arguments.width, environment, streams)
    return 0


def find_patiently(reach: Reach, word: str) -> tuple[ClassAd, bool, list[str]]:
    """Return the job's ad, and whether it has left the queue.

    From the history here, and with the reason, if its schedd is silent.

    Whoever traces a job may do so because something is wrong: a daemon that is dead or hangs is
    told of within seconds.
    """
    try:
        address = reach.schedd().address
        stream = reach.connector.connect(address, Command.DC_QUERY_INSTANCE, timeout=PATIENCE)
        try:
            stream.send(Words())
            stream.receive(PATIENCE)
        finally:
            stream.close()
        return *find_job(reach, word), []
    except ConnectionLost as error:
        found = find_in_history(reach.config, word)
        if found is None:
            raise ConnectionLost(
                f"the schedd does not answer, and the history here has no job {word}: {error}"
            ) from error
        why = f"the schedd does not answer; this is from the history here: {error}"
        return found, True, [why]


def is_leaving(job: ClassAd) -> bool:
    """Whether a job of the queue does not run, and its program has not left its machine.

    It was removed or held, and may have been released since.
    """
    stopped = job.integer("JobStatus") in (JobStatus.REMOVED, JobStatus.HELD, JobStatus.IDLE)
    return stopped and bool(job.string("RemoteHost"))


def describe_status(job: ClassAd, *, leaving: bool) -> str:
    """Return a job's status in a word, or in two while its program leaves."""
    try:
        status = JobStatus(job.integer("JobStatus") or 0).name.replace("_", " ").lower()
    except ValueError:
        return "unknown"
    if leaving and status == "idle":
        return "idle while its last run leaves"
    return f"being {status}" if leaving else status


def show(
    timeline: Timeline, width: int | None, environment: Mapping[str, str], streams: Streams
) -> None:
    """Draw a timeline on the terminal, or as text of a width."""
    from rich.console import Console

    from kettle.tools.tracing.drawing import draw_head, draw_steps, render_moment

    colour = place.may_colour(environment, streams)
    console = Console(
        file=streams.stdout,
        no_color=not colour,
        highlight=False,
        width=max(_NARROWEST, width) if width else None,
    )
    console.print(draw_head(timeline, console.width))
    if timeline.moments:
        console.print(f"from {render_moment(timeline.moments[0].time)}", style="dim")
        console.print(draw_steps(timeline, console.width))
    for gap in timeline.gaps:
        console.print(f"! {gap}", style="yellow")
