"""Knobs of connection brokering: a pure table."""

from kettle.config.knob import boolean, integer, listing, place, real, seconds, string
from kettle.config.ranges import COUNT, FRACTION, OR_NONE


class CcbKnobs:
    """Knobs of connection brokering."""

    CCB_ADDRESS = listing(
        "", doc="Addresses of brokers through which a daemon behind a firewall is reached."
    )
    CCB_CLIENT_STREAMING = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    CCB_HEARTBEAT_INTERVAL = seconds(
        "300",
        within=COUNT,
        doc="How often a daemon tells its broker that it is still there, in seconds.",
        unread=True,
    )
    CCB_OUTBOUND_NEXT_HOP = string("", doc="Known text.", unread=True)
    CCB_OUTBOUND_PROXY = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    CCB_OUTBOUND_TARGET_ALLOWLIST = listing(
        "*",
        doc="Known and checked as a number.",
        unread=True,
    )
    CCB_OUTBOUND_TARGET_DENYLIST = string(
        "127.0.0.0/8 ::1 fe80::/10 169.254.0.0/16 localhost",
        doc="Known text.",
        unread=True,
    )
    CCB_OUTBOUND_TTL = integer(
        "8",
        doc="Known and checked as a number.",
        unread=True,
    )
    CCB_POLLING_INTERVAL = seconds(
        "20",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    CCB_POLLING_MAX_INTERVAL = seconds(
        "600",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    CCB_POLLING_TIMESLICE = real(
        "0.05",
        sense=FRACTION,
        doc="Known and checked as a real number.",
        unread=True,
    )
    CCB_RECONNECT_FILE = place(
        "",
        doc="Where a broker keeps its daemons' numbers over restarts; a file in SPOOL if empty.",
    )
    CCB_SERVER_MAX_STREAMING_HANDSHAKES = integer(
        "0",
        doc="Known and checked as a number.",
        unread=True,
    )
    CCB_SERVER_MAX_STREAMING_SESSIONS = integer(
        "0",
        doc="Known and checked as a number.",
        unread=True,
    )
    CCB_SERVER_READ_BUFFER = integer(
        "2048",
        doc="Known and checked as a number.",
        unread=True,
    )
    CCB_SERVER_STREAMING = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    CCB_SERVER_STREAMING_HANDSHAKE_TIMEOUT = seconds(
        "300",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    CCB_SERVER_WRITE_BUFFER = integer(
        "2048",
        doc="Known and checked as a number.",
        unread=True,
    )
    CCB_SWEEP_INTERVAL = seconds(
        "1200",
        sense=COUNT,
        doc="Half of how long a broker keeps the number of a daemon whose connection is lost.",
    )
    CCB_TUNNEL_REGISTRATION_TIMEOUT = seconds(
        "300",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    OUTBOUND_CCB_ADDRESS = string("", doc="Known text.", unread=True)
    USE_OUTBOUND_CCB = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
