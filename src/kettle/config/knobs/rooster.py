"""Knobs of the daemon that wakes machines: a pure table."""

from kettle.config.knob import expression, integer, listing, path, place, seconds, string
from kettle.config.ranges import COUNT


class RoosterKnobs:
    """Knobs of the daemon that wakes machines."""

    ROOSTER = place(
        "$(LIBEXEC)/condor_rooster",
        doc="The program that is started where DAEMON_LIST names it: HTCondor's own.",
    )
    ROOSTER_DEBUG = listing("", doc="Known list of words.", unread=True)
    ROOSTER_INTERVAL = seconds(
        "300",
        within=COUNT,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    ROOSTER_LOG = path("$(LOG)/RoosterLog", doc="Known path.", unread=True)
    ROOSTER_MAX_UNHIBERNATE = integer(
        "0",
        within=COUNT,
        doc="Known and checked as a number.",
        unread=True,
    )
    ROOSTER_UNHIBERNATE = expression(
        "Offline && Unhibernate",
        doc="Known expression.",
        unread=True,
    )
    ROOSTER_UNHIBERNATE_RANK = expression(
        "",
        doc="Known expression.",
        unread=True,
    )
    ROOSTER_WAKEUP_CMD = string(
        '"$(BIN)/condor_power -d -i"',
        doc="Known text.",
        unread=True,
    )
