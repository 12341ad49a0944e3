"""Knobs of workflows (DAGMan): a pure table."""

from kettle.config.knob import boolean, integer, listing, path, seconds, string
from kettle.config.ranges import OR_NONE


class DagmanKnobs:
    """Knobs of workflows (DAGMan)."""

    DAGMAN_ABORT_DUPLICATES = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DAGMAN_ABORT_ON_SCARY_SUBMIT = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DAGMAN_AGGRESSIVE_SUBMIT = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DAGMAN_ALLOW_ANY_NODE_NAME_CHARACTERS = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DAGMAN_ALLOW_EVENTS = integer(
        "114",
        doc="Known and checked as a number.",
        unread=True,
    )
    DAGMAN_ALWAYS_RUN_POST = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DAGMAN_AUTO_RESCUE = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DAGMAN_CHECK_QUEUE_INTERVAL = seconds(
        "28800",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    DAGMAN_CONDOR_RM_EXE = path(
        "$(BIN)/condor_rm",
        doc="Known path.",
        unread=True,
    )
    DAGMAN_CONDOR_SUBMIT_EXE = path(
        "$(BIN)/condor_submit",
        doc="Known path.",
        unread=True,
    )
    DAGMAN_CONFIG_FILE = path("", doc="Known path.", unread=True)
    DAGMAN_DEBUG = listing("", doc="Known list of words.", unread=True)
    DAGMAN_DEBUG_CACHE_ENABLE = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DAGMAN_DEBUG_CACHE_SIZE = integer(
        "5*1024*1024",
        doc="Known and checked as a number.",
        unread=True,
    )
    DAGMAN_DEFAULT_APPEND_VARS = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DAGMAN_DEFAULT_NODE_LOG = path(
        "@(DAG_DIR)/@(DAG_FILE).nodes.log",
        doc="Known path.",
        unread=True,
    )
    DAGMAN_DEFAULT_PRIORITY = integer(
        "0",
        doc="Known and checked as a number.",
        unread=True,
    )
    DAGMAN_GENERATE_SUBDAG_SUBMITS = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DAGMAN_HOLD_CLAIM_TIME = seconds(
        "20",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    DAGMAN_INSERT_SUB_FILE = path("", doc="Known path.", unread=True)
    DAGMAN_LOG_ON_NFS_IS_ERROR = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DAGMAN_MANAGER_JOB_APPEND_GETENV = string(
        "",
        doc="Known text.",
        unread=True,
    )
    DAGMAN_MAX_HOLD_SCRIPTS = integer(
        "20",
        doc="Known and checked as a number.",
        unread=True,
    )
    DAGMAN_MAX_JOBS_IDLE = integer(
        "1000",
        doc="Known and checked as a number.",
        unread=True,
    )
    DAGMAN_MAX_JOBS_SUBMITTED = integer(
        "0",
        doc="Known and checked as a number.",
        unread=True,
    )
    DAGMAN_MAX_JOB_HOLDS = integer(
        "100",
        doc="Known and checked as a number.",
        unread=True,
    )
    DAGMAN_MAX_POST_SCRIPTS = integer(
        "20",
        doc="Known and checked as a number.",
        unread=True,
    )
    DAGMAN_MAX_PRE_SCRIPTS = integer(
        "20",
        doc="Known and checked as a number.",
        unread=True,
    )
    DAGMAN_MAX_RESCUE_NUM = integer(
        "100",
        doc="Known and checked as a number.",
        unread=True,
    )
    DAGMAN_MAX_SUBMITS_PER_INTERVAL = integer(
        "100",
        doc="Known and checked as a number.",
        unread=True,
    )
    DAGMAN_MAX_SUBMIT_ATTEMPTS = integer(
        "6",
        doc="Known and checked as a number.",
        unread=True,
    )
    DAGMAN_MUNGE_NODE_NAMES = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DAGMAN_NODE_RECORD_INFO = string("", doc="Known text.", unread=True)
    DAGMAN_ON_EXIT_REMOVE = string(
        "(ExitSignal =?= 11 || (ExitCode =!= UNDEFINED && ExitCode >=0 && ExitCode <= 2))",
        doc="Known text.",
        unread=True,
    )
    DAGMAN_PENDING_REPORT_INTERVAL = seconds(
        "600",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    DAGMAN_PROHIBIT_MULTI_JOBS = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DAGMAN_PUT_FAILED_JOBS_ON_HOLD = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DAGMAN_QUEUE_UPDATE_INTERVAL = seconds(
        "300",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    DAGMAN_RECORD_MACHINE_ATTRS = listing(
        "",
        doc="Known list of words.",
        unread=True,
    )
    DAGMAN_REMOVE_JOBS_AFTER_LIMIT_CHANGE = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DAGMAN_REMOVE_NODE_JOBS = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DAGMAN_REPORT_GRAPH_METRICS = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DAGMAN_RESET_RETRIES_UPON_RESCUE = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DAGMAN_RETRY_NODE_FIRST = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DAGMAN_RETRY_SUBMIT_FIRST = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DAGMAN_STARTUP_CYCLE_DETECT = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DAGMAN_SUBMIT_DELAY = seconds(
        "0",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    DAGMAN_SUBMIT_DEPTH_FIRST = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DAGMAN_SUPPRESS_JOB_LOGS = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DAGMAN_SUPPRESS_NOTIFICATION = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DAGMAN_USER_LOG_SCAN_INTERVAL = seconds(
        "5",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    DAGMAN_USE_DIRECT_SUBMIT = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DAGMAN_USE_JOIN_NODES = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DAGMAN_USE_SHARED_PORT = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DAGMAN_USE_STRICT = integer(
        "1",
        doc="Known and checked as a number.",
        unread=True,
    )
    DAGMAN_VERBOSITY = integer(
        "3",
        doc="Known and checked as a number.",
        unread=True,
    )
    DAGMAN_WRITE_PARTIAL_RESCUE = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
