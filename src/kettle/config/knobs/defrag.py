"""Knobs of the defragmenting daemon: a pure table."""

from kettle.config.knob import expression, integer, path, place, seconds, string
from kettle.config.ranges import COUNT, OR_NONE


class DefragKnobs:
    """Knobs of the defragmenting daemon."""

    DEFRAG = place("$(LIBEXEC)/condor_defrag", doc="The defragmenting daemon's program.")
    DEFRAG_CANCEL_REQUIREMENTS = expression(
        "$(DEFRAG_WHOLE_MACHINE_EXPR)",
        doc="Known expression.",
        unread=True,
    )
    DEFRAG_DRAINING_MACHINES_PER_HOUR = seconds(
        "0",
        within=COUNT,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    DEFRAG_DRAINING_SCHEDULE = string(
        "graceful",
        doc="Known text.",
        unread=True,
    )
    DEFRAG_DRAINING_START_EXPR = expression(
        "FALSE",
        doc="Known expression.",
        unread=True,
    )
    DEFRAG_INTERVAL = seconds(
        "600",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    DEFRAG_LOG = path("$(LOG)/DefragLog", doc="Known path.", unread=True)
    DEFRAG_MAX_CONCURRENT_DRAINING = integer(
        "-1",
        within=OR_NONE,
        doc="Known and checked as a number.",
        unread=True,
    )
    DEFRAG_MAX_WHOLE_MACHINES = integer(
        "-1",
        within=OR_NONE,
        doc="Known and checked as a number.",
        unread=True,
    )
    DEFRAG_NAME = string("", doc="Known text.", unread=True)
    DEFRAG_RANK = expression(
        "-ExpectedMachineGracefulDrainingBadput",
        doc="Known expression.",
        unread=True,
    )
    DEFRAG_REQUIREMENTS = expression(
        "",
        doc="Known expression.",
        unread=True,
    )
    DEFRAG_UPDATE_INTERVAL = seconds(
        "300",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    DEFRAG_WHOLE_MACHINE_EXPR = expression(
        "Cpus == TotalSlotCpus",
        doc="Known expression.",
        unread=True,
    )
