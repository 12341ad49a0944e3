"""Knobs of the shadow: a pure table."""

from kettle.config.knob import boolean, integer, listing, path, place, seconds, size, string
from kettle.config.ranges import COUNT, OR_NONE, POSITIVE


class ShadowKnobs:
    """Knobs of the shadow."""

    MAX_SHADOW_EXCEPTIONS = integer(
        "2",
        doc="Known and checked as a number.",
        unread=True,
    )
    MAX_SHADOW_LOG = size(
        "$(MAX_DEFAULT_LOG)",
        doc="How large the log grows before it is moved aside: 10 Mb, 1 day.",
    )
    RECONNECT_BACKOFF_CEILING = seconds(
        "300",
        sense=COUNT,
        doc="Longest pause between attempts to find a lost starter again, in seconds.",
    )
    SHADOW = place("$(SBIN)/condor_shadow", doc="The shadow's program.")
    SHADOW_CHECKPROXY_INTERVAL = seconds(
        "600",
        within=POSITIVE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    SHADOW_DEBUG = listing("", doc="What is logged: D_FULLDEBUG, D_PID, D_CAT and others.")
    SHADOW_DEBUG_WAIT = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    SHADOW_JOB_CLEANUP_RETRY_DELAY = seconds(
        "30",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    SHADOW_LAZY_QUEUE_UPDATE = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    SHADOW_LIST = listing("SHADOW", doc="Known list of words.", unread=True)
    SHADOW_LOCK = path("$(LOCK)/ShadowLock", doc="Known path.", unread=True)
    SHADOW_LOG = place("$(LOG)/ShadowLog", doc="The daemon's log.")
    SHADOW_LOG_RECONNECT = boolean(
        None,
        unset="true",
        doc="Whether a line is written for each lost starter that was found again or given up.",
    )
    SHADOW_MAX_JOB_CLEANUP_RETRIES = integer(
        "5",
        doc="Known and checked as a number.",
        unread=True,
    )
    SHADOW_RECONNECT_LOG = place(
        None,
        unset="$(LOG)/ShadowReconnectLog",
        doc="The file of those lines: job, begin of the run, last contact, whether it was found, "
        "when, lease, SHADOW_RECONNECT_TIMEOUT_VERSION, whether the starter is known to be dead.",
    )
    SHADOW_RECONNECT_LOG_MAX = integer(
        None,
        unset="10485760",
        sense=COUNT,
        doc="How large that file grows before it is moved aside, in bytes.",
    )
    SHADOW_RECONNECT_LOG_MAX_NUM = integer(
        None, unset="4", sense=POSITIVE, doc="How many of the moved ones stay."
    )
    SHADOW_RECONNECT_TIMEOUT_VERSION = string(
        None, doc="A word that those lines repeat, to tell settings apart that were tried."
    )
    SHADOW_RENICE_INCREMENT = integer(
        "0",
        doc="Known and checked as a number.",
        unread=True,
    )
    SHADOW_RUN_UNKNOWN_USER_JOBS = boolean(
        "false",
        strictest="false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    SHADOW_SIZE_ESTIMATE = integer(
        "125",
        doc="Known and checked as a number.",
        unread=True,
    )
    SHADOW_STATS_LOG = path(
        "$(LOG)/XferStatsLog",
        doc="Known path.",
        unread=True,
    )
    SHADOW_WORKLIFE = seconds(
        "3600",
        sense=OR_NONE,
        doc="How long one process carries the shadows of a user's new jobs, in seconds; "
        "then another one does.",
    )
    TRUNC_SHADOW_LOG_ON_OPEN = boolean(
        "false",
        doc="Whether the daemon empties its log when it starts.",
    )
