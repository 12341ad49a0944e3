"""Knobs of addresses, ports and connections: a pure table."""

from kettle.config.knob import boolean, integer, listing, path, seconds, string, true_false_auto
from kettle.config.ranges import COUNT, OR_NONE, PORT, POSITIVE


class NetworkKnobs:
    """Knobs of addresses, ports and connections."""

    ADVERTISE_IPV4_FIRST = boolean(
        "$(PREFER_IPV4)",
        doc="Whether a daemon with both protocols names its IPv4 address first.",
    )
    ALWAYS_REUSEADDR = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    BIND_ALL_INTERFACES = boolean(
        "true",
        doc="Whether daemons listen on all of the machine's networks.",
    )
    CM_IP_ADDR = string("", doc="Known text.", unread=True)
    COLLECTOR_PORT = integer(
        "9618",
        within=PORT,
        doc="The port of a collector whose address names none.",
    )
    COLLECTOR_USES_SHARED_PORT = boolean(
        "true",
        doc="Whether the collector is behind the shared port, which then has the collector's port.",
    )
    CONDOR_VIEW_CLASSAD_TYPES = string("", doc="Known text.", unread=True)
    CONDOR_VIEW_HOST = string("", doc="Known text.", unread=True)
    DEAD_COLLECTOR_MAX_AVOIDANCE_TIME = seconds(
        "3600",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    DEFAULT_DOMAIN_NAME = string(
        "",
        doc="What is put behind the name of this machine, and of a host, that has no dot.",
    )
    DNS_CACHE_REFRESH = seconds(
        "28800",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    ENABLE_IPV4 = true_false_auto(
        "auto", doc="Whether IPv4 is used: true, false, or auto for where there is an address."
    )
    ENABLE_IPV6 = true_false_auto(
        "auto", doc="Whether IPv6 is used: true, false, or auto for where there is an address."
    )
    HIGHPORT = integer(
        "",
        unset="0",
        sense=PORT,
        doc="The highest port that daemons use; with LOWPORT.",
    )
    HOST_ALIAS = string(
        "$(FULL_HOSTNAME)",
        doc="The name that daemons give in their addresses, to which certificates are compared.",
    )
    IGNORE_DNS_PROTOCOL_PREFERENCE = boolean(
        "$(PREFER_IPV4)",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    IGNORE_TARGET_PROTOCOL_PREFERENCE = boolean(
        "$(PREFER_IPV4)",
        doc="Whether PREFER_OUTBOUND_IPV4 decides, not the daemon's first address.",
    )
    IN_HIGHPORT = integer(
        "",
        unset="0",
        sense=PORT,
        doc="The highest port that daemons listen on; with IN_LOWPORT.",
    )
    IN_LOWPORT = integer(
        "",
        unset="0",
        sense=PORT,
        doc="The lowest port that daemons listen on; with IN_HIGHPORT.",
    )
    LOWPORT = integer(
        "",
        unset="0",
        sense=PORT,
        doc="The lowest port that daemons use; with HIGHPORT.",
    )
    MAX_ACCEPTS_PER_CYCLE = integer(
        "8",
        within=COUNT,
        doc="Known and checked as a number.",
        unread=True,
    )
    MAX_REAPS_PER_CYCLE = integer(
        "0",
        within=COUNT,
        doc="Known and checked as a number.",
        unread=True,
    )
    MAX_TIMER_EVENTS_PER_CYCLE = integer(
        "0",
        within=COUNT,
        doc="Known and checked as a number.",
        unread=True,
    )
    MAX_UDP_MSGS_PER_CYCLE = integer(
        "100",
        within=COUNT,
        doc="Known and checked as a number.",
        unread=True,
    )
    NETWORK_HOSTNAME = string(
        "",
        doc="The name that this machine goes by, instead of the one that its system knows.",
    )
    NETWORK_INTERFACE = string(
        "*",
        doc="The network or address that daemons use; `*` for any.",
    )
    NETWORK_MAX_PENDING_CONNECTS = integer(
        "0",
        doc="Known and checked as a number.",
        unread=True,
    )
    NONBLOCKING_COLLECTOR_UPDATE = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    NO_DNS = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    OUT_HIGHPORT = integer(
        "",
        unset="0",
        sense=PORT,
        doc="Known and checked as a number.",
        unread=True,
    )
    OUT_LOWPORT = integer(
        "",
        unset="0",
        sense=PORT,
        doc="Known and checked as a number.",
        unread=True,
    )
    PARROT = string("", doc="Known text.", unread=True)
    PREFER_IPV4 = boolean(
        "true",
        doc="The default of the other protocol preferences.",
    )
    PREFER_OUTBOUND_IPV4 = boolean(
        "$(PREFER_IPV4)",
        doc="Whether IPv4 is dialed first where a daemon offers both protocols.",
    )
    PRIVATE_NETWORK_INTERFACE = string("", doc="Known text.", unread=True)
    PRIVATE_NETWORK_NAME = string(
        "$(FULL_HOSTNAME)",
        doc="Machines with the same name reach each other without a broker.",
    )
    QUERY_TIMEOUT = seconds(
        "60",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    RECEIVE_MSGS_DURATION = seconds(
        "250",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    SCHEDD_RESTART_REPORT = path(
        "$(LOG)/ScheddRestartReport",
        doc="Known path.",
        unread=True,
    )
    SOCKET_LISTEN_BACKLOG = integer(
        "4096",
        within=POSITIVE,
        doc="Known and checked as a number.",
        unread=True,
    )
    TCP_FORWARDING_HOST = string(
        "", doc="The host whose ports lead to ours; daemons give its address for their own."
    )
    TCP_KEEPALIVE_INTERVAL = seconds(
        "360",
        within=OR_NONE,
        doc="After so many seconds without a sign of life the kernel asks whether the machine at "
        "the other end of a connection is still there; 0 leaves that to the system's own rules, "
        "less than 0 never asks.",
    )
    TCP_UPDATE_COLLECTORS = listing(
        "",
        doc="Known list of words.",
        unread=True,
    )
    TOOLS_ASSUME_FIREWALLS = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    UPDATE_COLLECTOR_WITH_TCP = boolean(
        "true",
        doc="Whether ads go to the collector over TCP; if not, in UDP messages.",
    )
    UPDATE_VIEW_COLLECTOR_WITH_TCP = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    USE_COLLECTOR_HOST_CNAME = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    WANT_UDP_COMMAND_SOCKET = boolean(
        "true",
        doc="Whether a daemon takes commands in UDP messages at its port, too.",
    )
