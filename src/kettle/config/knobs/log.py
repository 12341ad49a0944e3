"""Knobs of daemon logs: a pure table."""

from kettle.config.knob import boolean, family, integer, listing, place, seconds, size, string
from kettle.config.ranges import COUNT

# fmt: off
# The kinds of messages, and the words for a line's head, of which <SUBSYS>_DEBUG is a list.
CATEGORIES = [
    "D_ALWAYS", "D_ERROR", "D_STATUS", "D_ZKM", "D_JOB", "D_MACHINE", "D_CONFIG", "D_PROTOCOL",
    "D_PRIV", "D_DAEMONCORE", "D_FULLDEBUG", "D_SECURITY", "D_COMMAND", "D_MATCH", "D_NETWORK",
    "D_KEYBOARD", "D_PROCFAMILY", "D_IDLE", "D_THREADS", "D_ACCOUNTANT", "D_SYSCALLS", "D_CRON",
    "D_HOSTNAME", "D_PERF_TRACE", "D_LOAD", "D_25", "D_26", "D_AUDIT", "D_TEST", "D_STATS",
    "D_MATERIALIZE", "D_DYE", "D_ALL", "D_ANY", "D_PID", "D_FDS", "D_IDENT", "D_LEVEL",
    "D_CATEGORY", "D_CAT", "D_TIMESTAMP", "D_BACKTRACE", "D_FAILURE", "D_NOHEADER", "D_SUB_SECOND",
    "D_FULL", "D_CKPT", "D_PROC", "D_NFS", "D_EXPR", "D_VERBOSE", "D_NONE",
]
# fmt: on


class LogKnobs:
    """Knobs of daemon logs."""

    ALL_DEBUG = listing("", doc="Kinds of messages that every daemon logs.")
    DEBUG_TIME_FORMAT = string(
        "%m/%d/%y %H:%M:%S",
        doc="How a log's lines write the moment (strftime).",
    )
    DEFAULT_DEBUG = listing(None, doc="What daemons log that have no such knob of their own.")
    LOCK_DEBUG_LOG_TO_APPEND = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    LOGS_USE_TIMESTAMP = boolean(
        "false",
        doc="Whether a log's lines say seconds since the epoch instead.",
    )
    LOG_TO_SYSLOG = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    MAX_DAGMAN_LOG = integer(
        "0",
        doc="Known and checked as a number.",
        unread=True,
    )
    MAX_DEFAULT_LOG = size(
        "10 Mb",
        unset="10 Mb",
        doc="How large a daemon's log may grow before it is renamed, where nothing else is set.",
    )
    MAX_GANGLIAD_LOG = size(
        "$(MAX_DEFAULT_LOG)",
        doc="Known text.",
        unread=True,
    )
    MAX_METRICD_LOG = size(
        "$(MAX_DEFAULT_LOG)",
        doc="Known text.",
        unread=True,
    )
    MAX_PROCD_LOG = integer(
        "1000000",
        doc="Known and checked as a number.",
        unread=True,
    )
    MAX_ROOSTER_LOG = size(
        "$(MAX_DEFAULT_LOG)",
        doc="Known text.",
        unread=True,
    )
    PROCD_DEBUG = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    TOUCH_LOG_INTERVAL = seconds(
        "60",
        sense=COUNT,
        doc=(
            "How often a daemon touches its log, whose age says until when it was there; "
            "0 is never."
        ),
    )
    SUBSYS_LOG = family(
        "{subsys}_LOG", place, "$(LOG)/{subsys}Log", doc="Where a daemon writes its log."
    )
    SUBSYS_DEBUG = family(
        "{subsys}_DEBUG",
        listing,
        "",
        doc="Which kinds of message a daemon logs besides the ordinary ones.",
    )
    MAX_SUBSYS_LOG = family(
        "MAX_{subsys}_LOG",
        size,
        "$(MAX_DEFAULT_LOG)",
        doc=(
            "How large a daemon log may grow before it is renamed to .old; a number of bytes, "
            "or with a unit."
        ),
    )
    MAX_NUM_SUBSYS_LOG = family(
        "MAX_NUM_{subsys}_LOG",
        integer,
        "1",
        sense=COUNT,
        doc="How many renamed logs of a daemon are kept.",
    )
    TRUNC_SUBSYS_LOG_ON_OPEN = family(
        "TRUNC_{subsys}_LOG_ON_OPEN",
        boolean,
        "false",
        doc="Whether a daemon empties its log when it starts.",
    )
