"""`condor_userlog_job_counter`: how many jobs of an event log are queued, as the exit code.

Submissions count up, ends count down; scripts ask so whether a workflow is done.
"""

from __future__ import annotations

from collections.abc import Mapping

from kettle.records.event_ends import JobTerminatedEvent
from kettle.records.event_kinds import JobAbortedEvent, SubmitEvent
from kettle.tools.jobs.condor_check_userlogs import name_of
from kettle.tools.jobs.condor_userlog import read_events, says_version, tell_skipped
from kettle.tools.programs import Streams

USAGE = """\
Usage: condor_userlog_job_counter LOG-FILE

Count the jobs that an event log says are queued: submitted, and not ended yet.
The exit code is that number, up to 254; 255 is for a log that cannot be read or
counted.

  -help       show this and end
  -version    show the version and end
"""
UNCOUNTED = 255


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_userlog_job_counter`; the number of jobs, or 255.

    Compat: a log of which a part is no event cannot be counted; the reference reads up to there
    (test_a_log_that_is_not_all_events_cannot_be_counted).
    """
    del environment
    if argv[1:] == ["-help"]:
        streams.stdout.write(USAGE)
        return 0
    if len(argv) == 2 and says_version(argv[1], streams):
        return 0
    if len(argv) != 2:
        streams.stderr.write(f"usage: {argv[0]} file\n")
        return UNCOUNTED
    queued, seen, outcome = 0, False, "ULOG_NO_EVENT "
    try:
        for event in read_events(argv[1]):
            if isinstance(event, int):
                seen = seen and not event
                streams.stderr.write(tell_skipped(argv[1], event) if event else "")
            elif type(event) is SubmitEvent:
                seen, queued = True, queued + 1
                streams.stdout.write(f"Log event: {name_of(event.number)}\nQueued Jobs: {queued}\n")
            elif type(event) is JobTerminatedEvent or isinstance(event, JobAbortedEvent):
                queued -= 1
                streams.stdout.write(f"Log event: {name_of(event.number)}\nQueued Jobs: {queued}\n")
    except OSError as error:
        outcome = "ULOG_RD_ERROR "
        streams.stderr.write(f"{argv[1]} cannot be read: {error.strerror}\n")
    streams.stdout.write(f"Log outcome: {outcome}\n")
    return queued if seen and 0 <= queued < UNCOUNTED else UNCOUNTED
