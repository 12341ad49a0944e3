"""Knobs of the histories: a pure table."""

from kettle.config.knob import boolean, integer, path, place, seconds
from kettle.config.ranges import BYTES, COUNT, POSITIVE


class HistoryKnobs:
    """Knobs of the histories."""

    ENABLE_HISTORY_ROTATION = boolean(
        "true",
        doc="Whether history files are rotated; without it they grow for ever.",
    )
    HISTORY = place(
        "$(SPOOL)/history",
        doc="The file that keeps the ads of jobs that left the queue; empty for none.",
    )
    HISTORY_CONTAINS_JOB_ENVIRONMENT = boolean(
        "true",
        doc="Whether the history keeps the environment of jobs, which may hold secrets.",
    )
    HISTORY_HELPER = path(
        "$(BIN)/condor_history",
        doc="Known path.",
        unread=True,
    )
    HISTORY_HELPER_MAX_CONCURRENCY = integer(
        "50",
        within=COUNT,
        doc="Known and checked as a number.",
        unread=True,
    )
    HISTORY_HELPER_MAX_HISTORY = integer(
        "2000000000",
        within=COUNT,
        doc="Known and checked as a number.",
        unread=True,
    )
    JOB_EPOCH_HISTORY = place(
        "$(SPOOL)/epoch_history",
        doc="The file that keeps an ad for each run of each job; empty for none.",
    )
    JOB_EPOCH_HISTORY_DIR = place(
        None,
        doc="A folder that gets one file for each job, job.runs.CLUSTER.PROC.ads, with an ad for "
        "each of its runs; empty for none.",
    )
    MAX_DAEMON_HISTORY_LOG = integer(
        None, sense=BYTES, doc="MAX_HISTORY_LOG for the history of daemons alone."
    )
    MAX_DAEMON_HISTORY_ROTATIONS = integer(
        None,
        unset="2",
        within=POSITIVE,
        doc="MAX_HISTORY_ROTATIONS for the history of daemons alone.",
    )
    MAX_EPOCH_HISTORY_LOG = integer(
        None, sense=BYTES, doc="MAX_HISTORY_LOG for the history of runs alone."
    )
    MAX_EPOCH_HISTORY_ROTATIONS = integer(
        None, unset="2", within=POSITIVE, doc="MAX_HISTORY_ROTATIONS for the history of runs alone."
    )
    MAX_HISTORY_LOG = integer(
        None,
        unset="20971520",
        sense=BYTES,
        doc="Bytes at which a history is rotated; 0 for never.",
    )
    MAX_HISTORY_ROTATIONS = integer(
        None, unset="2", within=POSITIVE, doc="How many rotated files of a history are kept."
    )
    PER_JOB_HISTORY_DIR = place(
        "", doc="A folder that gets one file for each job that leaves the queue; empty for none."
    )
    ROTATE_HISTORY_DAILY = boolean(None, doc="Whether a history is rotated each day.")
    ROTATE_HISTORY_MONTHLY = boolean(None, doc="Whether a history is rotated each month.")
    SCHEDD_DAEMON_HISTORY = place(
        "$(SPOOL)/schedd_daemon_history",
        doc="The file in which the schedd records its own ad now and then; empty for none.",
    )
    SCHEDD_HISTORY_RECORD_INTERVAL = seconds(
        None,
        unset="900",
        within=COUNT,
        doc="How often the schedd records its own ad, in seconds at least.",
    )
    STARTD_HISTORY = place(
        "$(LOG)/startd_history",
        doc="The file in which a startd keeps the ads of its jobs; empty for none.",
    )
    SYSTEM_JOB_MACHINE_ATTRS_HISTORY_LENGTH = integer(
        "1",
        within=COUNT,
        doc="Known and checked as a number.",
        unread=True,
    )
