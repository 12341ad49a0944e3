"""Knobs of the negotiator and its accountant: a pure table."""

from kettle.config.knob import (
    boolean,
    expression,
    integer,
    listing,
    path,
    place,
    real,
    seconds,
    size,
    string,
)
from kettle.config.ranges import COUNT, NOT_NEGATIVE, POSITIVE, Range


class NegotiatorKnobs:
    """Knobs of the negotiator and its accountant."""

    ACCOUNTANT_DATABASE_FILE = place(
        "$(SPOOL)/Accountantnew.log",
        doc="Where priorities and usage are kept.",
    )
    ACCOUNTANT_HOST = string("", doc="Known text.", unread=True)
    ACCOUNTANT_LOCAL_DOMAIN = string(
        "", doc="Users of this domain are accounted without their domain."
    )
    ACCOUNTING_DOMAIN = string("$(UID_DOMAIN)", doc="Known text.", unread=True)
    CLAIM_PARTITIONABLE_LEFTOVERS = expression(
        "$(NEGOTIATOR_USE_SLOT_WEIGHTS)",
        doc="Known expression.",
        unread=True,
    )
    CLAIM_RECYCLING_CONSIDER_LIMITS = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    CONCURRENCY_LIMIT_DEFAULT = integer(
        "2308032",
        sense=COUNT,
        doc="Capacity of a concurrency limit that has no knob of its own.",
    )
    CONSUMPTION_POLICY = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DEFAULT_PRIO_FACTOR = integer(
        "1000",
        sense=COUNT,
        doc="Priority factor of a submitter for whom none was set.",
    )
    FORCE_NEGOTIATOR_SLOT_WEIGHT = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    GROUP_ACCEPT_SURPLUS = boolean(
        "false",
        doc="Whether groups may use what others leave.",
    )
    GROUP_AUTOREGROUP = boolean(
        "false",
        doc="Whether groups compete for what is left after all quotas.",
    )
    GROUP_NAMES = listing(
        "", doc="The accounting groups, with dots between the levels of their tree."
    )
    GROUP_QUOTA_MAX_ALLOCATION_ROUNDS = integer(
        "3",
        within=Range(1, 1000000000),
        doc="How often in a cycle what groups found no slots for is handed on to others.",
    )
    GROUP_QUOTA_ROUND_ROBIN_RATE = real(
        "1.0e100",
        within=Range(1.0, 1e100),
        doc=(
            "Weight by which the group that lacks most grows in each turn of all, at least 1, and "
            "as much more as it takes to come to an end within 10,000 turns."
        ),
    )
    GROUP_SORT_EXPR = expression(
        (
            'ifThenElse(AccountingGroup=?="<none>",3.4e+38,ifThenElse(GroupQuota>0,'
            "GroupResourcesInUse/GroupQuota,3.3e+38))"
        ),
        doc="Groups are served in the order of this expression, smallest first.",
    )
    MAX_ACCOUNTANT_DATABASE_SIZE = integer(
        "1000000",
        sense=COUNT,
        doc="Bytes at which the accounting log is written anew.",
    )
    MAX_NEGOTIATOR_LOG = size(
        "$(MAX_DEFAULT_LOG)",
        doc="How large the log grows before it is moved aside: 10 Mb, 1 day.",
    )
    MAX_NEGOTIATOR_MATCH_LOG = size(
        "$(MAX_DEFAULT_LOG)",
        doc="How large the log of matches grows before it is moved aside: 10 Mb, 1 day.",
    )
    NEGOTIATION_CYCLE_STATS_LENGTH = integer(
        "3",
        within=Range(0, 100),
        doc="How many past cycles the negotiator's ad describes.",
        unread=True,
    )
    NEGOTIATOR = place(
        "$(SBIN)/condor_negotiator",
        doc="The negotiator's program.",
    )
    NEGOTIATOR_ADVERTISE_ACCOUNTING = boolean(
        None, unset="true", doc="Whether accounting ads are sent to the collector."
    )
    NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION = boolean(
        "true",
        doc="Whether quotas may add up to more than the pool.",
    )
    NEGOTIATOR_CONSIDER_EARLY_PREEMPTION = boolean(
        "false",
        doc="Whether slots with retirement time left are looked at.",
    )
    NEGOTIATOR_CONSIDER_PREEMPTION = boolean(
        "true",
        doc="Whether claimed slots are looked at.",
    )
    NEGOTIATOR_CROSS_SLOT_PRIOS = boolean(
        "false",
        doc="Whether slots tell of the users of their neighbours, as in slot1_RemoteUserPrio.",
    )
    NEGOTIATOR_CYCLE_DELAY = seconds(
        None,
        unset="0",
        within=COUNT,
        doc="Shortest pause between the end of a cycle and the start of the next.",
    )
    NEGOTIATOR_DEBUG = listing(
        "D_MATCH",
        doc="What is logged: D_FULLDEBUG, D_PID, D_CAT and others.",
    )
    NEGOTIATOR_DEBUG_WAIT = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    NEGOTIATOR_DEPTH_FIRST = boolean(
        "false",
        doc="Whether jobs that are alike fill one partitionable slot before the next is looked at.",
    )
    NEGOTIATOR_DISCOUNT_SUSPENDED_RESOURCES = boolean(
        "false",
        doc="Whether nobody is charged for a slot whose job is suspended.",
    )
    NEGOTIATOR_IGNORE_USER_PRIORITIES = boolean(
        "false",
        doc="Whether who comes first may take all there is; shares of users count for nothing.",
    )
    NEGOTIATOR_INFORM_STARTD = boolean(
        "false",
        doc="Whether the negotiator tells a startd of its match before the schedd does.",
    )
    NEGOTIATOR_INTERVAL = seconds(
        "60",
        sense=POSITIVE,
        doc="Longest pause between two cycles when no schedd asks for one.",
    )
    NEGOTIATOR_JOB_CONSTRAINT = expression(
        "",
        doc="Which jobs are negotiated for at all; empty for all.",
    )
    NEGOTIATOR_LOG = place(
        "$(LOG)/NegotiatorLog",
        doc="The daemon's log.",
    )
    NEGOTIATOR_MATCHLIST_CACHING = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    NEGOTIATOR_MATCH_EXPRS = listing(
        "",
        doc="Knobs whose expressions matched slots have, as NegotiatorMatchExpr<knob>.",
    )
    NEGOTIATOR_MATCH_LOG = place(
        "$(LOG)/MatchLog",
        doc="The log of matches and rejections alone (D_MATCH).",
    )
    NEGOTIATOR_MAX_TIME_PER_CYCLE = seconds(
        "1200",
        sense=COUNT,
        doc=(
            "A cycle that has taken so long serves nobody any more; what it has matched is "
            "told, the rest waits for the next one."
        ),
    )
    NEGOTIATOR_MAX_TIME_PER_PIESPIN = seconds(
        "120",
        sense=COUNT,
        doc=(
            "How long one submitter of a schedd is served in one turn of the pie; it goes "
            "on in the next turn."
        ),
    )
    NEGOTIATOR_MAX_TIME_PER_SCHEDD = seconds(
        "120",
        sense=COUNT,
        doc=(
            "How long a cycle may spend on all submitters of one schedd; who is left out is "
            "in ScheddsOutOfTime of the negotiator's ad."
        ),
    )
    NEGOTIATOR_MAX_TIME_PER_SUBMITTER = seconds(
        "60",
        sense=COUNT,
        doc=(
            "How long a cycle may spend on one submitter of a schedd; who is left out is in "
            "SubmittersOutOfTime of the negotiator's ad."
        ),
    )
    NEGOTIATOR_MIN_INTERVAL = seconds(
        "0", sense=COUNT, doc="Shortest pause between the starts of two cycles."
    )
    NEGOTIATOR_NAME = string(
        None, doc="What the negotiator is called in its ad; empty for the name of the machine."
    )
    NEGOTIATOR_NUM_THREADS = integer(
        "1",
        doc="Known and checked as a number.",
        unread=True,
    )
    NEGOTIATOR_POST_JOB_RANK = expression(
        (
            "(RemoteOwner =?= UNDEFINED) * (ifthenElse(isUndefined(KFlops), 1000, Kflops) - "
            "SlotID - 1.0e10*(Offline=?=True)) - 1.0e8 * (100000 * Cpus + Memory)"
        ),
        doc="Slots that the job likes equally are preferred by this.",
    )
    NEGOTIATOR_PREFETCH_REQUESTS = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    NEGOTIATOR_PREFETCH_REQUESTS_MAX_TIME = seconds(
        "60",
        within=COUNT,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    # Compat: the reference prefers small slots here, before the job is asked, so that a job's rank
    # decides between slots of one size only; it is to decide before that (R054,
    # test_rows_matching). The preference for small slots is in NEGOTIATOR_POST_JOB_RANK.
    NEGOTIATOR_PRE_JOB_RANK = expression(
        "(10000000 * My.Rank) + (1000000 * (RemoteOwner =?= UNDEFINED))",
        doc="Slots are preferred by this before the job is asked.",
    )
    NEGOTIATOR_READ_CONFIG_BEFORE_CYCLE = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    NEGOTIATOR_RESOURCE_REQUEST_LIST_SIZE = integer(
        "200",
        within=POSITIVE,
        sense=Range(1, 10_000),
        doc="How many requests are fetched from a schedd at a time.",
    )
    NEGOTIATOR_SLOT_CONSTRAINT = expression(
        "",
        doc="Only slots whose ad satisfies this are handed out.",
    )
    NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT = expression(
        "",
        doc="Which slots count for how large the pool is, of which shares and quotas are parts.",
    )
    NEGOTIATOR_SOCKET_CACHE_SIZE = integer(
        "500",
        within=POSITIVE,
        doc="How many connections to schedds the negotiator has at most, and keeps.",
    )
    NEGOTIATOR_STATE_FILE = path("", doc="Known path.", unread=True)
    NEGOTIATOR_SUBMITTER_CONSTRAINT = expression(
        None, doc="Only submitters whose ad satisfies this are served."
    )
    NEGOTIATOR_TIMEOUT = seconds(
        "30",
        sense=COUNT,
        doc="How long a schedd may take to answer.",
    )
    NEGOTIATOR_TRIM_SHUTDOWN_THRESHOLD = integer(
        "0",
        doc="Known and checked as a number.",
        unread=True,
    )
    NEGOTIATOR_UPDATE_AFTER_CYCLE = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    NEGOTIATOR_UPDATE_INTERVAL = seconds(
        "300",
        sense=POSITIVE,
        doc="How often the negotiator sends its ad to the collector.",
    )
    NEGOTIATOR_USE_NONBLOCKING_STARTD_CONTACT = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    NEGOTIATOR_USE_SLOT_WEIGHTS = boolean(
        "true",
        doc="Whether shares are counted in slot weights rather than in slots.",
    )
    NEGOTIATOR_USE_WEIGHTED_DEMAND = boolean(
        "true",
        doc="Whether what a group wants is counted in slot weights rather than in jobs.",
    )
    NICE_USER_ACCOUNTING_GROUP_NAME = string(
        "nice-user",
        doc="The accounting group of jobs that yield to all others.",
    )
    NICE_USER_PRIO_FACTOR = real(
        "1e10",
        sense=NOT_NEGATIVE,
        doc="Priority factor of nice users.",
    )
    PREEMPTION_RANK = expression(
        (
            "(RemoteUserPrio * 1000000) - ifThenElse(isUndefined(TotalJobRuntime), 0, "
            "TotalJobRuntime)"
        ),
        doc="Claimed slots that are otherwise equal are preferred by this.",
    )
    PREEMPTION_REQUIREMENTS = expression(
        "False",
        doc="Whether a better priority may take a claimed slot.",
    )
    PRIORITY_HALFLIFE = seconds(
        "86400",
        within=Range(1e-05, POSITIVE.most),
        doc="How long until past usage counts half in a priority.",
    )
    REMOTE_PRIO_FACTOR = real(
        "1e7",
        sense=NOT_NEGATIVE,
        doc="Priority factor of submitters from other domains.",
    )
    TRUNC_MATCH_LOG_ON_OPEN = boolean(
        "false",
        doc="Whether the daemon empties its log when it starts.",
    )
    TRUNC_NEGOTIATOR_LOG_ON_OPEN = boolean(
        "false",
        doc="Whether the daemon empties its log when it starts.",
    )
    USE_RESOURCE_REQUEST_COUNTS = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
