"""Knobs of the shared port: a pure table."""

from kettle.config.knob import boolean, integer, listing, path, place, size, string
from kettle.config.ranges import COUNT, PORT


class SharedPortKnobs:
    """Knobs of the shared port."""

    AUTO_INCLUDE_SHARED_PORT_IN_DAEMON_LIST = boolean(
        "true",
        doc="Whether the master starts the shared port daemon where it is used.",
    )
    DAEMON_SOCKET_DIR = path(
        "auto", doc="Where daemons have the sockets that the shared port passes connections to."
    )
    MAX_SHARED_PORT_LOG = size(
        "$(MAX_DEFAULT_LOG)",
        doc="How large the log grows before it is moved aside: 10 Mb, 1 day.",
    )
    SHARED_PORT = place(
        "$(LIBEXEC)/condor_shared_port",
        doc="The shared port daemon's program.",
    )
    SHARED_PORT_DAEMON_AD_FILE = place(
        "$(LOCK)/shared_port_ad",
        doc="Where the shared port daemon leaves its ad.",
    )
    SHARED_PORT_DEBUG = listing("", doc="What is logged: D_FULLDEBUG, D_PID, D_CAT and others.")
    SHARED_PORT_DEFAULT_ID = string(
        "", unset="collector", doc="The daemon that gets connections which name none."
    )
    SHARED_PORT_HTTP_FORWARDING_ID = string(
        None, doc="The socket to which connections go that begin as HTTP or TLS."
    )
    SHARED_PORT_LOG = place(
        "$(LOG)/SharedPortLog",
        doc="The daemon's log.",
    )
    SHARED_PORT_MAX_FILE_DESCRIPTORS = integer(
        "20000",
        within=COUNT,
        doc="Known and checked as a number.",
        unread=True,
    )
    SHARED_PORT_PORT = integer(
        "$(COLLECTOR_PORT)",
        sense=PORT,
        doc="The port that all daemons share.",
    )
    USE_SHARED_PORT = boolean(
        "true",
        doc="Whether all daemons of the machine share one port.",
    )
