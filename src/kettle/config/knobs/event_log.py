"""Knobs of job event logs: a pure table."""

from kettle.config.knob import boolean, integer, listing, path, place, string
from kettle.config.ranges import COUNT, OR_NONE


class EventLogKnobs:
    """Knobs of job event logs."""

    ALWAYS_CLOSE_USERLOG = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    CREATE_LOCKS_ON_LOCAL_DISK = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DEFAULT_USERLOG_FORMAT_OPTIONS = string(None, doc="How the events of jobs are written.")
    ENABLE_USERLOG_FSYNC = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    ENABLE_USERLOG_LOCKING = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    EVENT_LOG = place("", doc="A log of the events of all jobs; empty for none.")
    EVENT_LOG_COUNT_EVENTS = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    EVENT_LOG_FORMAT_OPTIONS = string(
        None, doc="How the events in the log of all jobs are written."
    )
    EVENT_LOG_FSYNC = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    EVENT_LOG_JOB_AD_INFORMATION_ATTRS = listing(
        "",
        doc="Attributes of the job that follow each event in the event log of all jobs.",
    )
    EVENT_LOG_LOCKING = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    EVENT_LOG_MAX_ROTATIONS = integer(
        "1",
        sense=COUNT,
        doc="How many older event logs of all jobs are kept.",
    )
    EVENT_LOG_MAX_SIZE = integer(
        "1000000",
        sense=OR_NONE,
        doc="How large the event log of all jobs may grow before it is renamed, in bytes.",
    )
    EVENT_LOG_ROTATION_LOCK = place(
        "$(LOCK)/EventLogLock",
        doc="The file that is locked while the event log of all jobs is made or renamed.",
    )
    EVENT_LOG_USE_XML = boolean(
        "false",
        doc="Whether the event log of all jobs is written in XML.",
    )
    IGNORE_NFS_LOCK_ERRORS = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    LOCAL_DISK_LOCK_DIR = path("", doc="Known path.", unread=True)
    LOG_ON_NFS_IS_ERROR = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    WANT_XML_LOG = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
