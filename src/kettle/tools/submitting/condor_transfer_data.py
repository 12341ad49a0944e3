"""`condor_transfer_data`: fetch the output of jobs whose files were spooled."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kettle.classad import parse_expression
from kettle.errors import (
    ClassAdSyntaxError,
    KettleError,
    NotFoundError,
    UnknownHostError,
    Unreached,
    UsageError,
)
from kettle.tools.failures import explain_in_line, explain_silence, explain_unknown_host
from kettle.tools.options import (
    BriefError,
    MissingValueError,
    Option,
    UnknownOptionError,
    check_address,
    read_options,
    run_tool,
)
from kettle.tools.programs import Streams
from kettle.tools.queue.wish import render_jobs
from kettle.tools.reach import Reach

if TYPE_CHECKING:
    from kettle.client.pool import Located

OPTIONS = (
    Option("help"),
    Option("version"),
    Option("debug", qualified=True),
    Option("name", 1, 1),
    Option("pool", 1, 1),
    Option("addr", 2, 1),
    Option("constraint", 1, 1),
    Option("all"),
)
USAGE = """\
Usage: condor_transfer_data [OPTIONS] {CLUSTER | CLUSTER.PROC | OWNER | -constraint EXPR | -all}…

  -help, -version   say this, or the version, and end
  -name SCHEDD, -addr ADDRESS, -pool HOST
                    the schedd that has the jobs
  -constraint EXPR  jobs for which EXPR is true
  -all              all jobs; with no other choice
"""
_FAILED = "\nDCSchedd::receiveJobSandbox:7003:File transfer failed for target job {}"


@dataclass
class Wish:
    """Whose output to fetch."""

    ids: list[str] = field(default_factory=list)
    owners: list[str] = field(default_factory=list)
    constraints: list[str] = field(default_factory=list)
    everything: bool = False
    # What is wrong with a constraint, which no job satisfies then, whatever else is said.
    nonsense: str = ""
    reach: dict[str, str] = field(default_factory=dict)

    def constraint(self) -> str:
        """Return the expression that the jobs meant satisfy."""
        jobs = render_jobs(self.ids, self.owners)
        parts = [f"({jobs})"] if jobs else []
        parts += [f"({text})" for text in self.constraints]
        return " || ".join(parts) or "true"


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_transfer_data`."""
    return run_tool(
        argv,
        environment,
        streams,
        usage=USAGE,
        read_wish=read_wish,
        act=fetch,
        complain=_complain,
        prefix="ERROR: Failed to spool job files: ",
    )


def _complain(error: UsageError) -> str:
    """Return the error in the reference's words, mostly with the usage."""
    if isinstance(error, MissingValueError):
        return f"condor_transfer_data: -{error.option.name} requires another argument\n"
    if isinstance(error, UnknownOptionError):
        return f"Unrecognized option: {error.word}\n{USAGE}"
    return f"{error}\n{USAGE}"


def _find_schedd(reach: Reach) -> Located:
    """Return the schedd that is meant; BriefError if nobody knows it."""
    if not reach.name and reach.named_pool:
        # A pool alone names no schedd: the own one is meant, and the pool is only asked without it.
        with contextlib.suppress(Unreached, NotFoundError):
            return Reach(reach.environment, address=reach.address).schedd()
    try:
        return reach.schedd()
    except UnknownHostError as error:
        why = explain_unknown_host(error, reach.name, reach.config)
        raise BriefError(f"condor_transfer_data: {why}") from None
    except NotFoundError:
        raise BriefError(
            f"condor_transfer_data: Can't find address for schedd {reach.name}"
        ) from None
    except Unreached as error:
        raise BriefError(f"condor_transfer_data: {explain_in_line(error)}") from None


def fetch(wish: Wish, environment: Mapping[str, str], streams: Streams) -> int:
    """Fetch what the jobs left; 1 if the files of any job could not be had."""
    from kettle.client.spool import fetch_output, place_for

    reach = Reach(environment, **wish.reach)
    schedd = _find_schedd(reach)
    jobs = failures = 0
    streams.stdout.write("Fetching data files...\n")
    if wish.nonsense:
        streams.stderr.write(f"{wish.nonsense}\n")
        return 0
    fetched = fetch_output(reach.connector, schedd.address, wish.constraint(), place_for)
    try:
        for job, outcome in fetched:
            jobs += 1
            if outcome.failure is not None:
                failures += 1
                name = f"{job.integer('ClusterId')}.{job.integer('ProcId')}"
                # Compat: the reference gives up at the first one; here the others' files still come
                # (test_output_that_is_named_and_not_there_is_no_success).
                streams.stderr.write(f"{_FAILED.format(name)}: {outcome.failure.reason}\n")
    except Unreached as error:
        why = explain_silence(error, "receiveJobSandbox")
        streams.stderr.write(f"\n{why}\nERROR: Failed to spool job files.\n")
        return 1
    except KettleError:
        # A schedd of HTCondor's ends the conversation at the first failure, which is told.
        if not failures:
            raise
    if failures:
        streams.stderr.write("ERROR: Failed to spool job files.\n")
    elif not jobs:
        # Compat: the reference is silent then, also of somebody else's jobs
        # (test_condor_transfer_data_says_that_no_job_was_meant).
        streams.stderr.write("Nothing was fetched: no job that was asked for is there and yours.\n")
    return 1 if failures else 0


def read_wish(words: Sequence[str]) -> Wish:
    """Return what the command line asks for; UsageError for what it cannot mean."""
    wish = Wish()
    for given in read_options(words, OPTIONS):
        match given.name:
            case "name" | "pool":
                wish.reach[given.name] = given.value
            case "addr":
                wish.reach["address"] = check_address("condor_transfer_data", given.value)
            case "constraint":
                try:
                    parse_expression(given.value)
                except ClassAdSyntaxError as error:
                    # Compat: that is no error to the reference, which finds no jobs
                    # (test_condor_transfer_data_finds_no_job_by_a_constraint_that_means_nothing).
                    wish.nonsense = f"{given.value} is no constraint: {error}"
                wish.constraints.append(given.value)
            case "all":
                wish.everything = True
            case "" if re.fullmatch(r"\d+(\.\d+)?", given.value):
                wish.ids.append(given.value)
            case "":
                wish.owners.append(given.value)
    chosen = bool(wish.ids or wish.owners or wish.constraints)
    if chosen == wish.everything:
        raise UsageError(
            # Compat: of the former the reference says only its usage (test_small_words).
            "-all cannot be used with other constraints"
            if chosen
            else "You did not specify any jobs"
        )
    return wish
