"""Names that sites make up by a pattern, such as `JOB_TRANSFORM_<name>`: one row for each pattern.

Whoever judges a name asks here: whether it is a site's own or a slip of the pen, whether its text
is a condition or another language, which list must name it, and why it counts for nothing where it
does. Which values such a name takes is said by the rows of `knobs/` that are families, for those
that are read: each of these is here, but for knobs of each level, which are few and no site's own
(`declared.names_of_levels`), and the program of a daemon, whose name may be any. Source: the
manual.
"""

from __future__ import annotations

import re
from functools import cache

from kettle.levels import CONFIGURED
from kettle.named_tuples import NamedTuple
from kettle.patterns import late_pattern

_LEVELS = "|".join(CONFIGURED)
# The knobs of a slot that let something happen when they are true, also for one type of slots.
_SLOT_POLICIES = (
    "START|SUSPEND|CONTINUE|PREEMPT|KILL|IS_OWNER|WANT_SUSPEND|WANT_VACATE|PERIODIC_CHECKPOINT|"
    "CLAIM_PARTITIONABLE_LEFTOVERS|WANT_HOLD"
)
# An entry of a list of who may do something, which nobody is.
NOBODY = "*/0.0.0.0"
# What a master may run: a name of a knob that each of these has is no slip of the pen.
_OWN_DAEMONS = "COLLECTOR|NEGOTIATOR|SCHEDD|STARTD|SHARED_PORT|JOB_ROUTER"
_FOREIGN_DAEMONS = "CREDD|DEFRAG|GANGLIAD|HAD|KBDD|REPLICATION|ROOSTER|TRANSFERER"
_MASTERS_DAEMONS = f"(?:{_OWN_DAEMONS}|{_FOREIGN_DAEMONS})"
# And what has a log besides: the master itself, and what these start.
_LOGGING = f"(?:{_OWN_DAEMONS}|MASTER|SHADOW|STARTER|SCHED|START)"
_CATEGORIES = "COMMAND|ERROR|JOB|MATCH|NETWORK|SECURITY"
_NO_CLOCK = "Kettle's {} runs no programs by the clock; HTCondor's own does"
_NEVER_A_CLOCK = "a {} runs no programs by the clock, HTCondor's own neither"


class MadeUp(NamedTuple):
    """The names of one pattern, and what is known of all of them."""

    # What matches a whole name, in upper case, and a name that it matches.
    pattern: str
    example: str
    # What such a setting is, as a sentence for the manual.
    makes: str
    # Whether no slip of the pen looks like one. SCHED_LOG is a slip, and of the pattern `\w+_LOG`.
    is_sure: bool = True
    # Whether its text is a condition under which something happens, and whether it goes with such
    # a condition and is none itself, as its REASON.
    is_policy: bool = False
    is_beside: bool = False
    # The language whose macros its text has: "submit" or "transform", empty for the configuration.
    language: str = ""
    # The settings that list which of them count, and the name that a listed word, put in for {},
    # needs to be set: JOB_TRANSFORM_NAMES, and JOB_TRANSFORM_{}.
    lists: tuple[str, ...] = ()
    needs: str = ""
    # For names that nothing reads: the table that knobs of their kind are in, and why they count
    # for nothing, where what is said of the whole table (`unread.py`) is not enough.
    area: str = ""
    why: str = ""
    # Of many such settings for one thing, the pattern of those that users are told of.
    told: str = ""
    # What allows least, where nobody can read the text: see `Knob.strictest`.
    strictest: str = ""


FAMILIES: tuple[MadeUp, ...] = (
    MadeUp(
        r"(?:SUBMIT_REQUIREMENT|SYSTEM_PERIODIC_(?:HOLD|RELEASE|REMOVE|VACATE))_"
        r"(?:\w+_)?(?:REASON|SUBCODE|IS_WARNING)",
        "SUBMIT_REQUIREMENT_MINE_REASON",
        "What is said, or how, when a rule applies.",
        is_beside=True,
    ),
    MadeUp(
        r"SUBMIT_REQUIREMENT_(?!NAMES\b)\w+",
        "SUBMIT_REQUIREMENT_MINE",
        "What every submitted job must satisfy.",
        is_policy=True,
        lists=("SUBMIT_REQUIREMENT_NAMES",),
        needs="SUBMIT_REQUIREMENT_{}",
    ),
    *(
        MadeUp(
            rf"SYSTEM_PERIODIC_{action}_(?!NAMES\b)\w+",
            f"SYSTEM_PERIODIC_{action}_MINE",
            "When something is done to jobs, whatever they say themselves.",
            is_policy=True,
            lists=(f"SYSTEM_PERIODIC_{action}_NAMES",),
            needs=f"SYSTEM_PERIODIC_{action}_{{}}",
        )
        for action in ("HOLD", "RELEASE", "REMOVE", "VACATE")
    ),
    MadeUp(
        r"SYSTEM_PERIODIC_(?:HOLD|RELEASE|REMOVE|VACATE)_NAMES",
        "SYSTEM_PERIODIC_HOLD_NAMES",
        "Which of these rules count.",
    ),
    MadeUp(
        r"JOB_TRANSFORM_(?!NAMES\b)\w+",
        "JOB_TRANSFORM_MINE",
        "How submitted jobs are changed.",
        language="transform",
        lists=("JOB_TRANSFORM_NAMES",),
        needs="JOB_TRANSFORM_{}",
    ),
    MadeUp(
        r"JOB_ROUTER_ROUTE_(?!NAMES\b)\w+",
        "JOB_ROUTER_ROUTE_MINE",
        "Where the job router sends jobs, and how they are changed.",
        language="transform",
        lists=("JOB_ROUTER_ROUTE_NAMES",),
        needs="JOB_ROUTER_ROUTE_{}",
    ),
    MadeUp(
        r"JOB_ROUTER_TRANSFORM_(?!NAMES\b)\w+",
        "JOB_ROUTER_TRANSFORM_MINE",
        "How the job router changes jobs before or after all routes.",
        language="transform",
        lists=(
            "JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES",
            "JOB_ROUTER_POST_ROUTE_TRANSFORM_NAMES",
        ),
        needs="JOB_ROUTER_TRANSFORM_{}",
    ),
    MadeUp(
        r"SUBMIT_TEMPLATE_\w+",
        "SUBMIT_TEMPLATE_MINE",
        "Submit commands that a description can use under a name.",
        language="submit",
    ),
    MadeUp(
        r"\w+_EXTENDED_\w+",
        "MINE_EXTENDED_SUBMIT",
        "Texts that are read at submission.",
        is_sure=False,
        language="submit",
    ),
    *(
        MadeUp(
            rf"{daemon}_CRON_\w+",
            f"{daemon}_CRON_MINE_EXECUTABLE",
            "A program that a daemon runs by the clock.",
            lists=(f"{daemon}_CRON_JOBLIST",),
            needs=f"{daemon}_CRON_{{}}_EXECUTABLE",
            area=daemon.lower(),
            why=why.format(daemon.lower()),
            told=f"{daemon}_CRON_JOBLIST",
        )
        for daemon, why in (
            ("STARTD", _NO_CLOCK),
            ("SCHEDD", _NO_CLOCK),
            ("MASTER", _NEVER_A_CLOCK),
            ("COLLECTOR", _NEVER_A_CLOCK),
            ("NEGOTIATOR", _NEVER_A_CLOCK),
        )
    ),
    MadeUp(
        r"BENCHMARKS_\w+",
        "BENCHMARKS_MINE_EXECUTABLE",
        "A program that measures the machine.",
        area="startd",
        why=_NO_CLOCK.format("startd"),
        told="BENCHMARKS_JOBLIST",
    ),
    *(
        MadeUp(
            rf"{daemon}_ATTRS",
            f"{daemon}_ATTRS",
            "Names of settings that are put into an ad.",
            lists=(f"{daemon}_ATTRS",),
            needs="{}",
        )
        for daemon in ("STARTD", "SCHEDD", "MASTER", "COLLECTOR", "NEGOTIATOR", "SUBMIT")
    ),
    MadeUp(
        r"GROUP_(?:QUOTA|QUOTA_DYNAMIC|PRIO_FACTOR|ACCEPT_SURPLUS|AUTOREGROUP|SORT_EXPR)_\w+",
        "GROUP_QUOTA_PHYSICS",
        "What a group of GROUP_NAMES may use.",
    ),
    MadeUp(
        r"CONCURRENCY_LIMIT_DEFAULT_\w+",
        "CONCURRENCY_LIMIT_DEFAULT_SMALL",
        "The limit of all names of that beginning.",
    ),
    MadeUp(r"\w+_LIMIT", "XSW_LIMIT", "How many jobs may use a thing at once.", is_sure=False),
    MadeUp(
        r"SLOT_TYPE_\d+(?:_\w+)?|NUM_SLOTS_TYPE_\d+",
        "SLOT_TYPE_1_PARTITIONABLE",
        "What slots of one type are, or a knob for these alone.",
    ),
    MadeUp(
        rf"(?:SLOT_TYPE_\d+_|SLOT\d+_)?(?:{_SLOT_POLICIES})",
        "SLOT_TYPE_1_START",
        "When something happens to a slot or its job.",
        is_policy=True,
    ),
    MadeUp(
        r"(?:SLOT_TYPE_\d+_)?CONSUMPTION_(?!POLICY$)\w+",
        "CONSUMPTION_CPUS",
        "How much of a slot a job takes.",
        is_sure=False,
        area="startd",
        why="Kettle has no consumption policies",
    ),
    MadeUp(
        r"OFFLINE_MACHINE_RESOURCE_\w+",
        "OFFLINE_MACHINE_RESOURCE_GPUS",
        "What of a resource is out of order.",
        area="startd",
    ),
    MadeUp(r"SLOT\d+_\w+", "SLOT1_START", "A knob for one slot alone."),
    MadeUp(
        r"MACHINE_RESOURCE_(?:INVENTORY_)?(?!NAMES\b)\w+",
        "MACHINE_RESOURCE_ACTUATOR",
        "A custom resource of the machine, or the command that finds it.",
    ),
    MadeUp(
        rf"ALLOW_(?:{_LEVELS})_\w+",
        "ALLOW_READ_STARTD",
        "Who may do something, at one daemon.",
        strictest=NOBODY,
    ),
    MadeUp(
        rf"DENY_(?:{_LEVELS})_\w+",
        "DENY_READ_STARTD",
        "Who may not do something, at one daemon.",
        strictest="*",
    ),
    MadeUp(
        r"\w+_(?:ALLOW|DENY)_\w+",
        "STARTD_ALLOW_READ",
        "Who may do something, in the older order.",
        is_sure=False,
    ),
    MadeUp(r"(?:\w+_)?SETTABLE_ATTRS_\w+", "SETTABLE_ATTRS_CONFIG", "Settings for -set and -rset."),
    MadeUp(r"CLASSAD_USER_MAP(?:FILE|DATA|_PREFIX)_\w+", "CLASSAD_USER_MAPFILE_MINE", "A map."),
    MadeUp(
        r"SCHEDD_(?:COLLECT_STATS_(?:BY|FOR)|EXPIRE_STATS_BY)_\w+",
        "SCHEDD_COLLECT_STATS_BY_OWNER",
        "Jobs that have statistics of their own.",
    ),
    MadeUp(r"BOINC_\w+", "BOINC_EXECUTABLE", "How a machine computes for BOINC."),
    MadeUp(r"AUTO_USE_\w+", "AUTO_USE_FEATURE_GPUS", "Whether a template is used by itself."),
    MadeUp(
        r"\w+_HOOK_(?!KEYWORD\b)\w+",
        "MINE_HOOK_PREPARE_JOB",
        "A program of a hook.",
        is_sure=False,
        area="starter",
        why="Kettle calls no hooks",
    ),
    MadeUp(
        r"\w+_HOOK_KEYWORD",
        "MINE_JOB_HOOK_KEYWORD",
        "Which hooks are called.",
        is_sure=False,
    ),
    MadeUp(
        r"ENVIRONMENT_FOR_ASSIGNED\w+|ENVIRONMENT_VALUE_FOR_UNASSIGNED\w+|DOCKER_VOLUME_DIR_\w+|"
        r"SSH_TO_JOB_\w+_CMD",
        "DOCKER_VOLUME_DIR_CVMFS",
        "What jobs see of a resource, a volume or a session.",
        area="starter",
    ),
    MadeUp(
        r"HA_\w+_(?:LOCK_HOLD_TIME|LOCK_URL|POLL_PERIOD)|MASTER_\w+_CONTROLLER",
        "MASTER_NEGOTIATOR_CONTROLLER",
        "A daemon that runs on one of several machines.",
        is_sure=False,
        area="high_availability",
    ),
    MadeUp(
        r"\w+_(?:AUTHORIZATION_URL|CLIENT_SECRET_FILE|RETURN_URL_SUFFIX)|\w+_PELICAN_\w+",
        "BOX_AUTHORIZATION_URL",
        "A provider of credentials.",
        is_sure=False,
        area="credd",
    ),
    MadeUp(
        r"SEC_\w+_AUTHENTICATION_TIMEOUT",
        "SEC_READ_AUTHENTICATION_TIMEOUT",
        "How long a login may take.",
        is_sure=False,
        area="security",
    ),
    MadeUp(
        r"\w+_(?:USERID|TIMEOUT_MULTIPLIER|SUPER_ADDRESS_FILE|MAX_FILE_DESCRIPTORS|ADMIN_EMAIL|"
        r"LOG_KEEP_OPEN|NOT_RESPONDING_TIMEOUT)",
        "SCHEDD_ADMIN_EMAIL",
        "A knob for one daemon alone.",
        is_sure=False,
        area="daemon",
    ),
    MadeUp(
        rf"{_MASTERS_DAEMONS}_(?:ARGS|ENVIRONMENT|ADDRESS_FILE|LOG)|"
        rf"MASTER_{_MASTERS_DAEMONS}_(?:BACKOFF_(?:CONSTANT|FACTOR|CEILING)|RECOVER_FACTOR)|"
        rf"{_MASTERS_DAEMONS}_SHUTDOWN_(?:GRACEFUL|FAST)_TIMEOUT",
        "DEFRAG_ARGS",
        "A knob that each daemon of a master has.",
    ),
    MadeUp(
        rf"{_LOGGING}_(?:(?:(?:{_CATEGORIES})_)?LOG|DEBUG|DAEMON_AD_FILE|CLASSAD_USER_MAP_NAMES|"
        r"USES?_SHARED_PORT)|"
        rf"MAX_(?:NUM_)?{_LOGGING}(?:_(?:{_CATEGORIES}))?_LOG|"
        rf"TRUNC_{_LOGGING}(?:_(?:{_CATEGORIES}))?_LOG_ON_OPEN",
        "TRUNC_SCHEDD_LOG_ON_OPEN",
        "A knob that each daemon has, or for what it writes.",
    ),
    MadeUp(
        r"SCHEDD_ROUND_ATTR_\w+",
        "SCHEDD_ROUND_ATTR_MINE",
        "How coarse an attribute of a job is shown.",
    ),
    MadeUp(
        r"MODIFY_REQUEST_EXPR_REQUEST\w+",
        "MODIFY_REQUEST_EXPR_REQUESTMINE",
        "What a slot makes of a request of a job.",
    ),
    MadeUp(
        r"MASTER_SHUTDOWN_\w+",
        "MASTER_SHUTDOWN_MINE",
        "What a master becomes in place of ending.",
    ),
    *(
        MadeUp(
            rf"{daemons}_(?:DEBUG|DAEMON_AD_FILE)|MAX_(?:NUM_)?{daemons}_LOG|"
            rf"TRUNC_{daemons}_LOG_ON_OPEN",
            example,
            "A knob that each daemon has, for one that is not Kettle's.",
            is_sure=False,
            area=area,
        )
        for daemons, example, area in (
            ("CREDD", "CREDD_DEBUG", "credd"),
            ("DEFRAG", "DEFRAG_DEBUG", "defrag"),
            ("GANGLIAD", "GANGLIAD_DEBUG", "metrics"),
            ("(?:HAD|REPLICATION|TRANSFERER)", "HAD_DEBUG", "high_availability"),
            ("KBDD", "KBDD_DEBUG", "startd"),
            ("ROOSTER", "ROOSTER_DEBUG", "rooster"),
        )
    ),
    MadeUp(
        r"(?!\w*_\w*_CRON_)\w+_(?:ADDRESS_FILE|DAEMON_AD_FILE|CLASSAD_USER_MAP_NAMES|ATTRS|LOG|"
        r"DEBUG|ARGS|ENVIRONMENT|TEST_URL)|(?:MAX|MAX_NUM)_\w+_LOG|TRUNC_\w+_LOG_ON_OPEN|"
        r"MAX_\w+_ROTATIONS",
        "MINE_LOG",
        "A knob that each daemon has.",
        is_sure=False,
    ),
)
_OF_SLOTS = late_pattern(r"SLOT(?:_TYPE_)?\d+_(\w+)")
# Knobs of other patterns, or of none, that let something happen when they are true.
_POLICIES = late_pattern(
    r"START_LOCAL_UNIVERSE|START_SCHEDULER_UNIVERSE|SINGULARITY_JOB|CURB_MATCHMAKING|"
    r"ROOSTER_UNHIBERNATE|DEFRAG_WHOLE_MACHINE_EXPR|SEC_TOKEN_REVOCATION_EXPR|"
    r"SYSTEM_PERIODIC_(?:HOLD|RELEASE|REMOVE|VACATE)|\w+_REQUIREMENTS|\w+_CONSTRAINT"
)


def families_of(name: str) -> list[MadeUp]:
    """Return the families that a name, in upper case and without a prefix, is of."""
    return [row for pattern, row in _patterns() if pattern.fullmatch(name)]


def is_policy(name: str) -> bool:
    """Tell whether a name's text is a condition that lets something happen."""
    rows = families_of(name)
    if any(row.is_beside for row in rows):
        return False
    return bool(_POLICIES.fullmatch(name)) or any(row.is_policy for row in rows)


def knob_of_all_slots(name: str) -> str:
    """Return the knob that a name is for some slots alone, empty where it has not that form."""
    match = _OF_SLOTS.fullmatch(name)
    return "" if match is None else match[1]


def languages_of(name: str) -> set[str]:
    """Return whose macros the text of a name has; empty for those of the configuration alone."""
    return {row.language for row in families_of(name)} - {""}


def is_told_of(name: str) -> bool:
    """Tell whether a setting is told of by itself: of many for one thing one is."""
    return all(re.fullmatch(row.told, name) for row in families_of(name) if row.told)


def find_unread_family(name: str) -> MadeUp | None:
    """Return the family of names that count for nothing that a name is of, None for none."""
    return next((row for pattern, row in _patterns() if row.area and pattern.fullmatch(name)), None)


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], MadeUp], ...]:
    # Who asks for some of them compiles no others.
    return tuple((late_pattern(row.pattern), row) for row in FAMILIES)
