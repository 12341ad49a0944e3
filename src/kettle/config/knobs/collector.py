"""Knobs of the collector: a pure table."""

from kettle.config.knob import (
    boolean,
    expression,
    integer,
    listing,
    path,
    place,
    seconds,
    size,
    string,
)
from kettle.config.ranges import COUNT, OR_NONE, POSITIVE, Range


class CollectorKnobs:
    """Knobs of the collector."""

    ABSENT_EXPIRE_ADS_AFTER = seconds(
        None,
        unset="60*60*24*30",
        sense=COUNT,
        doc="How long the ad of a machine that is gone stays, marked as absent.",
    )
    ABSENT_REQUIREMENTS = expression(
        None, doc="An expiring slot ad for which this is true stays, marked as absent."
    )
    CLASSAD_LIFETIME = seconds(
        None,
        unset="900",
        sense=POSITIVE,
        doc="How long an ad is kept after its last update, if it does not say so itself.",
    )
    COLLECTOR = place(
        "$(SBIN)/condor_collector",
        doc="The collector's program.",
    )
    COLLECTOR_ADDRESS_FILE = place(
        "$(LOG)/.collector_address",
        doc="Where the collector leaves its address for tools on the same machine.",
    )
    COLLECTOR_ALLOW_ONLY_ONE_NEGOTIATOR = boolean(
        None, unset="false", doc="Whether the ad of one negotiator removes those of all others."
    )
    COLLECTOR_DAEMON_STATS = boolean(
        None,
        unset="true",
        doc="Whether ads show how many of their updates came and how many were lost.",
    )
    COLLECTOR_DEBUG = listing("", doc="What is logged: D_FULLDEBUG, D_PID, D_CAT and others.")
    COLLECTOR_DEBUG_WAIT = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    COLLECTOR_ENVIRONMENT = string("", doc="Environment variables that the master starts it with.")
    COLLECTOR_FLAG = string("", doc="Known text.", unread=True)
    COLLECTOR_FORWARD_CLAIMED_PRIVATE_ADS = boolean(
        "$(NEGOTIATOR_CONSIDER_PREEMPTION)",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    COLLECTOR_FORWARD_FILTERING = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    COLLECTOR_FORWARD_PROJECTION = string("", doc="Known text.", unread=True)
    COLLECTOR_FORWARD_WATCH_LIST = listing(
        "State,Cpus,Memory,IdleJobs,ClaimId,Capability,ClaimIdList,ChildClaimIds",
        doc="Known list of words.",
        unread=True,
    )
    COLLECTOR_HOST = listing(
        "$(CONDOR_HOST)",
        doc="The pool's collectors: names or addresses, with a port unless it is COLLECTOR_PORT.",
    )
    COLLECTOR_HOST_FOR_NEGOTIATOR = string(
        "$(FULL_HOSTNAME)",
        doc="Known text.",
        unread=True,
    )
    COLLECTOR_HOST_STRING = string(
        '"$(COLLECTOR_HOST)"',
        doc="COLLECTOR_HOST as a ClassAd string, for the ads of slots.",
    )
    COLLECTOR_LOG = place("$(LOG)/CollectorLog", doc="The daemon's log.")
    COLLECTOR_MAX_FILE_DESCRIPTORS = integer(
        "10240",
        within=COUNT,
        doc="Known and checked as a number.",
        unread=True,
    )
    COLLECTOR_NAME = string(
        "My Pool - $(CONDOR_HOST)",
        doc="What the pool is called in the ad of its collector.",
    )
    COLLECTOR_PERSISTENT_AD_LOG = place(
        None, doc="Where offline and absent ads are kept over restarts; empty keeps none."
    )
    COLLECTOR_QUERY_MAX_WORKTIME = integer(
        "0",
        within=COUNT,
        doc="Known and checked as a number.",
        unread=True,
    )
    COLLECTOR_QUERY_WORKERS = integer(
        "4",
        within=COUNT,
        doc="How many answers to long queries are made beside the collector at the same time.",
    )
    COLLECTOR_QUERY_WORKERS_PENDING = integer(
        "50",
        within=COUNT,
        doc="Known and checked as a number.",
        unread=True,
    )
    COLLECTOR_QUERY_WORKERS_RESERVE_FOR_HIGH_PRIO = integer(
        "1",
        within=COUNT,
        doc="Known and checked as a number.",
        unread=True,
    )
    COLLECTOR_REQUIREMENTS = expression(None, doc="An ad for which this is not true is not taken.")
    COLLECTOR_SOCKET_BUFSIZE = integer(
        "10000*1024",
        within=Range(1024, POSITIVE.most),
        doc="Known and checked as a number.",
        unread=True,
    )
    COLLECTOR_STATS_SWEEP = integer(
        "14400",
        doc="Known and checked as a number.",
        unread=True,
    )
    COLLECTOR_SUPER_ADDRESS_FILE = place(
        "$(LOG)/.collector_address.super",
        doc="Where root's tools look for the address; it is the one that everybody has.",
    )
    COLLECTOR_TCP_SOCKET_BUFSIZE = integer(
        "128*1024",
        within=Range(1024, POSITIVE.most),
        doc="Known and checked as a number.",
        unread=True,
    )
    COLLECTOR_UPDATE_INTERVAL = seconds(
        "900",
        sense=POSITIVE,
        doc="How often the collector makes its own ad anew.",
    )
    EXPIRE_INVALIDATED_ADS = boolean(
        None, unset="false", doc="Whether a withdrawn slot ad is treated as one that expired."
    )
    KEEP_POOL_HISTORY = boolean(
        "",
        unset="false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    MAX_COLLECTOR_LOG = size(
        "$(MAX_DEFAULT_LOG)",
        doc="How large the log grows before it is moved aside: 10 Mb, 1 day.",
    )
    OFFLINE_EXPIRE_ADS_AFTER = seconds(
        None, unset="2147483647", sense=COUNT, doc="How long the ad of a sleeping machine stays."
    )
    POOL_HISTORY_DIR = path("", doc="Known path.", unread=True)
    POOL_HISTORY_MAX_STORAGE = integer(
        "10000000",
        doc="Known and checked as a number.",
        unread=True,
    )
    POOL_HISTORY_SAMPLING_INTERVAL = seconds(
        "60",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    STATISTICS_WINDOW_QUANTUM_COLLECTOR = seconds(
        None,
        sense=COUNT,
        doc="STATISTICS_WINDOW_QUANTUM for the collector's statistics; 0 for as in others.",
    )
    TRUNC_COLLECTOR_LOG_ON_OPEN = boolean(
        "false",
        doc="Whether the daemon empties its log when it starts.",
    )
    UPDATE_INTERVAL = seconds(
        "300",
        sense=POSITIVE,
        doc="How often a startd sends its ads even if nothing changed, in seconds.",
    )
