"""Knobs of high availability and replication: a pure table."""

from kettle.config.knob import boolean, integer, listing, path, place, seconds, size, string
from kettle.config.ranges import OR_NONE


class HighAvailabilityKnobs:
    """Knobs of high availability and replication."""

    HAD = place("$(SBIN)/condor_had", doc="The high availability daemon's program.")
    HAD_ARGS = string(
        "-sock $(HAD_SOCKET_NAME)",
        doc="Further words of the command line when the master starts it.",
    )
    HAD_CONNECTION_TIMEOUT = seconds(
        "5",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    HAD_DEBUG = listing("", doc="Known list of words.", unread=True)
    HAD_FIPS_MODE = integer(
        "1",
        doc="Known and checked as a number.",
        unread=True,
    )
    HAD_LIST = listing("", doc="Known list of words.", unread=True)
    HAD_LOG = path("$(LOG)/HADLog", doc="Known path.", unread=True)
    HAD_SOCKET_NAME = string("had", doc="Which socket condor_had has, for HAD_ARGS to mention.")
    HAD_STAND_ALONE_DEBUG = listing(
        "",
        doc="Known list of words.",
        unread=True,
    )
    HAD_UPDATE_INTERVAL = seconds(
        "300",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    HAD_USE_PRIMARY = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    HAD_USE_REPLICATION = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    HAD_USE_SHARED_PORT = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    HA_LOCK_HOLD_TIME = string("", doc="Known text.", unread=True)
    HA_LOCK_URL = string("", doc="Known text.", unread=True)
    HA_POLL_PERIOD = string("", doc="Known text.", unread=True)
    MASTER_HA_LIST = listing("", doc="Known list of words.", unread=True)
    MAX_HAD_LOG = size("$(MAX_DEFAULT_LOG)", doc="Known text.", unread=True)
    MAX_REPLICATION_LOG = size(
        "$(MAX_DEFAULT_LOG)",
        doc="Known text.",
        unread=True,
    )
    MAX_TRANSFERER_LOG = size(
        "$(MAX_DEFAULT_LOG)",
        doc="Known text.",
        unread=True,
    )
    REPLICATION = place(
        "$(SBIN)/condor_replication",
        doc="The program that is started where DAEMON_LIST names it: HTCondor's own.",
    )
    REPLICATION_ARGS = string(
        "-sock $(REPLICATION_SOCKET_NAME)",
        doc="Further words of the command line when the master starts it.",
    )
    REPLICATION_DEBUG = listing("", doc="Known list of words.", unread=True)
    REPLICATION_INTERVAL = seconds(
        "300",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    REPLICATION_LIST = listing("", doc="Known list of words.", unread=True)
    REPLICATION_LOG = path(
        "$(LOG)/ReplicationLog",
        doc="Known path.",
        unread=True,
    )
    REPLICATION_SOCKET_NAME = string(
        "replication",
        doc="Which socket condor_replication has, for REPLICATION_ARGS to mention.",
    )
    REPLICATION_USE_SHARED_PORT = boolean(
        "$(HAD_USE_SHARED_PORT)",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    TRANSFERER = place(
        "$(LIBEXEC)/condor_transferer",
        doc="The program that is started where DAEMON_LIST names it: HTCondor's own.",
    )
    TRANSFERER_DEBUG = listing("", doc="Known list of words.", unread=True)
    TRANSFERER_LOG = path(
        "$(LOG)/TransfererLog",
        doc="Known path.",
        unread=True,
    )
