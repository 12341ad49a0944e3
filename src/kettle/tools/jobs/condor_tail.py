"""`condor_tail`: show the ends of the files of a running job."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kettle.errors import (
    KettleError,
    NotConnected,
    NotFoundError,
    RefusedError,
    Unreached,
    UsageError,
)
from kettle.octets import to_text
from kettle.tools.options import (
    MissingValueError,
    Option,
    UnknownOptionError,
    read_options,
    run_tool,
)
from kettle.tools.programs import Streams

if TYPE_CHECKING:
    from kettle.client.running_job import StarterAccess, Wanted
    from kettle.tools.reach import Reach

OPTIONS = (
    Option("help"),
    Option("version"),
    Option("debug", qualified=True),
    Option("name", 2, 1),
    Option("pool", 1, 1),
    Option("maxbytes", 1, 1),
    Option("auto-retry", 1),
    Option("follow"),
    Option("no-stdout", 4),
    Option("stderr"),
)
USAGE = """\
Usage: condor_tail [OPTIONS] CLUSTER[.PROC] [FILE]…

  -help, -version   say this, or the version, and end
  -name SCHEDD, -pool HOST
                    the schedd that has the job
  -maxbytes N       N bytes at most (1024)
  -follow           go on as the files grow, until the job ends
  -auto-retry       wait for the job to start
  -stderr           the job's standard error instead of its output
  -no-stdout        not its standard output

A FILE is one of the job's transfer_output_files. Without FILE: standard output.
"""
RETRY_SECONDS = 5.0
FOLLOW_SECONDS = 1.0
MOST_BYTES = 1024


@dataclass
class Wish:
    """Which job, which of its files, how much."""

    cluster: int = -1
    proc: int = 0
    files: list[str] = field(default_factory=list)
    stdout: bool = True
    stderr: bool = False
    follow: bool = False
    retry: bool = False
    most: int = MOST_BYTES
    reach: dict[str, str] = field(default_factory=dict)

    def wanted(self) -> list[Wanted]:
        """Return what to look at."""
        from kettle.client.running_job import Wanted

        streams: list[int | str] = [0] if self.stdout and not self.files else []
        streams += [1] if self.stderr else []
        return [Wanted(name) for name in [*streams, *self.files]]


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_tail`."""

    def act(wish: Wish, environment: Mapping[str, str], streams: Streams) -> int:
        from kettle.tools.reach import Reach

        reach = Reach(environment, **wish.reach)
        try:
            starter = wait_for_starter(wish, reach, streams)
        except (RefusedError, NotFoundError) as error:
            # What the schedd says stands alone, and that there is none.
            streams.stderr.write(f"{error}\n")
            return 1
        except NotConnected:
            streams.stderr.write("Failed to connect to schedd\n")
            return 1
        except Unreached:
            streams.stderr.write("Failed to send GET_JOB_CONNECT_INFO to schedd\n")
            return 1
        show(wish, reach, starter, streams)
        return 0

    return run_tool(
        argv,
        environment,
        streams,
        usage=USAGE,
        read_wish=read_wish,
        act=act,
        complain=_complain,
        prefix="Failed to peek at file from starter: ",
    )


def _complain(error: UsageError) -> str:
    """Return the error in the reference's words, with the usage."""
    if isinstance(error, UnknownOptionError):
        # A word that is no option is taken for the job's id.
        return f"Invalid Job ID: {error.word}\n{USAGE}"
    if isinstance(error, MissingValueError):
        return f"-{error.option.name} requires an argument.\n\n{USAGE}"
    return f"{error}\n{USAGE}"


def read_wish(words: Sequence[str]) -> Wish:
    """Return what the command line asks for; UsageError for what it cannot mean."""
    wish = Wish()
    for given in read_options(words, OPTIONS):
        match given.name:
            case "name" | "pool":
                wish.reach[given.name] = given.value
            case "maxbytes":
                if not given.value.isdecimal():
                    raise UsageError(f"Error: maxbytes ({given.value}) is not valid\n")
                wish.most = int(given.value)
            case "follow":
                wish.follow = True
            case "auto-retry":
                wish.retry = True
            case "no-stdout":
                wish.stdout = False
            case "stderr":
                wish.stdout, wish.stderr = False, True
            case "" if wish.cluster < 0:
                found = re.fullmatch(r"(\d+)(?:\.(\d+))?", given.value)
                if found is None:
                    raise UsageError(f"Invalid Job ID: {given.value}")
                wish.cluster, wish.proc = int(found[1]), int(found[2] or 0)
            case "":
                wish.files.append(given.value)
    if wish.cluster < 0:
        raise UsageError("Job ID not specified.")
    if not wish.wanted():
        raise UsageError("No file transfer specified.\n")
    return wish


def wait_for_starter(wish: Wish, reach: Reach, streams: Streams) -> StarterAccess:
    """Return the way to the job's starter; with `-auto-retry` once there is one."""
    from kettle.client.running_job import RETRY, find_starter

    address = reach.schedd_or_none_such().address
    while True:
        try:
            return find_starter(reach.connector, address, wish.cluster, wish.proc)
        except RefusedError as error:
            if not (wish.retry and error.code == RETRY):
                raise
            streams.stderr.write(f"{error}; asking again in {RETRY_SECONDS:.0f} s\n")
            time.sleep(RETRY_SECONDS)


def show(wish: Wish, reach: Reach, starter: StarterAccess, streams: Streams) -> None:
    """Print what the files hold, and with `-follow` what is added, until the starter is gone."""
    from kettle.client.running_job import peek

    wanted = wish.wanted()
    first = True
    while True:
        try:
            found = peek(reach.connector, starter, wanted, wish.most)
        except KettleError:
            if first:
                raise
            return
        for name, data in found:
            where = streams.stderr if name == 1 else streams.stdout
            where.write(to_text(data))
        streams.stdout.flush()
        if not wish.follow:
            return
        first = False
        time.sleep(FOLLOW_SECONDS)
