"""Knobs of the schedd: a pure table."""

from kettle.config.knob import (
    boolean,
    expression,
    family,
    integer,
    listing,
    path,
    place,
    real,
    seconds,
    size,
    string,
)
from kettle.config.ranges import COUNT, FRACTION, OR_NONE, POSITIVE, Range


class ScheddKnobs:
    """Knobs of the schedd."""

    ABORT_ON_EXCEPTION = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    ALIVE_INTERVAL = seconds(
        "300",
        sense=COUNT,
        doc="How often the schedd tells a startd that it still wants a claim, in seconds.",
    )
    ALLOW_SUBMIT_FROM_KNOWN_USERS_ONLY = boolean(
        "false",
        strictest="true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    AUTO_USE_FEATURE_PelicanRetryPolicy = boolean(
        "$(IsSchedd)",
        doc="Whether the template that retries Pelican transfers is in force.",
    )
    CHOWN_JOB_SPOOL_FILES = boolean(
        "False",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    CLASSAD_LOG_STRICT_PARSING = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    CURB_MATCHMAKING = expression(
        (
            "(RecentDaemonCoreDutyCycle > 0.98) || (TransferQueueNumWaitingToUpload > "
            "TransferQueueMaxUploading)"
        ),
        doc="When the negotiator matches no job of the schedd, evaluated in its ad.",
    )
    DCSTATISTICS_TIMESPANS = string(
        "4m:240 20m:1200 4h:14400",
        doc="Known text.",
        unread=True,
    )
    DCSTATISTICS_WINDOW_SECONDS = seconds(
        "",
        unset="-1",
        sense=OR_NONE,
        doc='How long "recent" is in what a daemon says of itself; -1 or 0 for as long as in other '
        "statistics.",
    )
    DEDICATED_SCHEDULER_USE_FIFO = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    EXTENDED_SUBMIT_COMMANDS = string(
        None,
        doc=(
            "An ad, one `name = example` a line, of submit commands that this schedd adds; "
            "`error` forbids a command."
        ),
    )
    EXTENDED_SUBMIT_HELPFILE = string(
        None,
        doc="A URL, or a small file, that explains them; `condor_submit -capabilities` shows it.",
    )
    FLOCK_BY_DEFAULT = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    FLOCK_COLLECTOR_HOSTS = listing(
        "$(FLOCK_TO)",
        doc="Collectors of other pools to which jobs are offered that find no machine at home.",
    )
    FLOCK_INCREMENT = integer(
        "1",
        within=POSITIVE,
        doc="How many further pools hear of a job each time that the last one has nothing for it.",
    )
    FLOCK_NEGOTIATOR_HOSTS = listing(
        "$(FLOCK_TO)",
        doc="Negotiators of other pools; named in ALLOW_NEGOTIATOR_SCHEDD.",
    )
    FLOCK_TO = listing(None, doc="Other pools to which jobs go that find no machine at home.")
    GLOBAL_JOB_ID_WITH_TIME = boolean(
        "true",
        doc="Whether a job's global identity ends in the time of its submission.",
    )
    GRACEFULLY_REMOVE_JOBS = boolean(
        "true",
        doc=(
            "Whether a running job that is removed or held may end by itself, if its "
            "want_graceful_removal says nothing; else it is killed at once."
        ),
    )
    IGNORE_ATTEMPTS_TO_SET_SECURE_JOB_ATTRS = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    IMMUTABLE_JOB_ATTRS = listing(
        "", doc="Attributes of jobs that nobody may change once they are queued."
    )
    JOB_QUEUE_LOG = place(
        "$(SPOOL)/job_queue.log",
        doc="The file that holds the job queue.",
    )
    JOB_SPOOL_PERMISSIONS = string("user", doc="Known text.", unread=True)
    JOB_START_COUNT = integer(
        "1",
        within=POSITIVE,
        doc="Known and checked as a number.",
        unread=True,
    )
    JOB_START_DELAY = seconds(
        "0",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    KEEP_OUTPUT_SANDBOX = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    LOCAL_UNIVERSE_CGROUP_ENFORCEMENT = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    LOCAL_UNIVERSE_JOB_CLEANUP_RETRY_DELAY = seconds(
        "30",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    LOCAL_UNIVERSE_MAX_JOB_CLEANUP_RETRIES = integer(
        "5",
        doc="Known and checked as a number.",
        unread=True,
    )
    LOCAL_UNIV_EXECUTE = place(
        "$(SPOOL)/local_univ_execute",
        doc="Where local universe jobs run, and where scheduler universe jobs find their ads.",
    )
    MAX_CLAIM_ALIVES_MISSED = integer(
        "6",
        sense=COUNT,
        doc="How many of these messages may be missed before a claim is given up.",
    )
    MAX_GLOBAL_JOB_PRIOS = integer(
        "500",
        doc="Known and checked as a number.",
        unread=True,
    )
    MAX_JOBS_PER_OWNER = integer(
        "100000",
        sense=COUNT,
        strictest="1",
        doc="How many jobs one user may have in the queue.",
    )
    MAX_JOBS_PER_SUBMISSION = integer(
        "20000",
        sense=COUNT,
        strictest="1",
        doc="How many jobs one submission may have.",
    )
    MAX_JOBS_RUNNING = integer(
        "MIN({$(DETECTED_MEMORY), 10000})",
        sense=COUNT,
        strictest="1",
        doc="How many jobs of this schedd may run at a time.",
    )
    MAX_JOBS_SUBMITTED = integer(
        "2147483647",
        sense=COUNT,
        strictest="1",
        doc="How many jobs the queue may hold.",
    )
    MAX_JOB_QUEUE_LOG_ROTATIONS = integer(
        "1",
        sense=COUNT,
        doc="How many old queue logs are kept when it is written anew.",
    )
    MAX_PENDING_STARTD_CONTACTS = integer(
        "0",
        within=COUNT,
        doc="How many startds the schedd speaks to at a time; 0 for no limit.",
    )
    MAX_PERIODIC_EXPR_INTERVAL = seconds(
        "1200",
        sense=COUNT,
        doc="The longest pause between two looks at periodic expressions, in seconds, however much"
        " they cost.",
    )
    MAX_RUNNING_SCHEDULER_JOBS_PER_OWNER = integer(
        "200",
        doc="Known and checked as a number.",
        unread=True,
    )
    MAX_SCHEDD_LOG = size(
        "$(MAX_DEFAULT_LOG)",
        doc="How large the log grows before it is moved aside: 10 Mb, 1 day.",
    )
    MIN_FLOCK_LEVEL = integer(
        "0",
        within=COUNT,
        doc="How many other pools hear of every job from the start.",
    )
    NEGOTIATE_ALL_JOBS_IN_CLUSTER = boolean(
        "",
        unset="false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    PERIODIC_EXPR_INTERVAL = seconds(
        "60",
        sense=COUNT,
        doc="How often the periodic expressions of jobs are evaluated, in seconds; 0: never.",
    )
    PERIODIC_EXPR_TIMESLICE = real(
        "0.01",
        within=FRACTION,
        doc="Which part of its time the schedd gives to the periodic expressions of jobs that do"
        " not run; 0 is no bound. Users take turns: whose expressions cost more, waits longer.",
    )
    PERSONAL_CONDOR_IS_SUPER_USER = boolean(
        None,
        unset="true",
        doc="Whether the account of a pool without root may do anything in its queue.",
    )
    PROTECTED_JOB_ATTRS = listing(
        "", doc="Attributes of jobs that only queue super users may change."
    )
    QUEUE_ALL_USERS_TRUSTED = boolean(
        "false",
        strictest="false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    QUEUE_CLEAN_INTERVAL = seconds(
        "28800",
        sense=Range(60, COUNT.most),
        doc="How often the job queue's file is written anew, in seconds.",
    )
    QUEUE_SUPER_USERS = listing(
        "root, condor",
        doc="Users who may act on everybody's jobs.",
    )
    QUEUE_SUPER_USER_MAY_IMPERSONATE = string(
        "",
        doc="Known text.",
        unread=True,
    )
    REMOVE_SIGNIFICANT_ATTRIBUTES = string(
        "CpusUsage,DiskUsage,GPUsUsage,MemoryUsage,ResidentSetSize",
        doc="Known text.",
        unread=True,
    )
    REMOVE_SIGNIFICANT_ATTRIBUTES_REGEX = string(
        "^Slot[0-9]*_",
        doc="Known text.",
        unread=True,
    )
    REQUEST_CLAIM_TIMEOUT = seconds(
        None,
        unset="1800",
        sense=COUNT,
        doc="How long the schedd waits for a startd to answer a claim.",
    )
    SCHEDD = place("$(SBIN)/condor_schedd", doc="The schedd's program.")
    SCHEDD_ADDRESS_FILE = place(
        "$(SPOOL)/.schedd_address",
        doc="Where the schedd leaves its address for tools on the same machine.",
    )
    SCHEDD_ALLOW_LATE_MATERIALIZE = boolean(
        "true",
        doc="Whether clusters may make their jobs later.",
    )
    SCHEDD_ASSUME_NEGOTIATOR_GONE = integer(
        "2000000000",
        doc="Known and checked as a number.",
        unread=True,
    )
    SCHEDD_AUDIT_LOG = path(
        "$(LOG)/SchedAuditLog",
        doc="Known path.",
        unread=True,
    )
    SCHEDD_BACKUP_SPOOL = string("", doc="Known text.", unread=True)
    SCHEDD_CRON_NAME = string("", doc="Known text.", unread=True)
    SCHEDD_DAEMON_AD_FILE = place(
        "$(SPOOL)/.schedd_classad",
        doc="Where the schedd leaves its ad for tools on the same machine.",
    )
    SCHEDD_DEBUG = listing("D_PID", doc="What is logged: D_FULLDEBUG, D_PID, D_CAT and others.")
    SCHEDD_INTERVAL = seconds(
        "",
        unset="300",
        sense=POSITIVE,
        doc="How often the schedd sends its ads and looks after its jobs, in seconds.",
    )
    SCHEDD_JOB_QUEUE_LOG_FLUSH_DELAY = seconds(
        "5",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    SCHEDD_LOG = place("$(LOG)/SchedLog", doc="The daemon's log.")
    SCHEDD_MAX_FILE_DESCRIPTORS = integer(
        "20000",
        within=COUNT,
        doc="Known and checked as a number.",
        unread=True,
    )
    SCHEDD_MIN_INTERVAL = seconds(
        "5",
        sense=COUNT,
        doc="Shortest pause between two of the schedd's own ads that tell of changes, in seconds.",
    )
    SCHEDD_NAME = string("", doc="The schedd's name; its host's by default.")
    SCHEDD_NON_DURABLE_LATE_MATERIALIZE = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    SCHEDD_NOW_JOB_VACATE_TIMEOUT = seconds(
        "20",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    SCHEDD_PREEMPTION_RANK = expression(
        "",
        doc="Known expression.",
        unread=True,
    )
    SCHEDD_PREEMPTION_REQUIREMENTS = expression(
        "",
        doc="Known expression.",
        unread=True,
    )
    SCHEDD_QUERY_WORKERS = integer(
        "8",
        sense=COUNT,
        doc="How many answers to long queries are made beside the schedd at the same time.",
    )
    SCHEDD_ROUND_ATTR_DiskUsage = string(
        "25%", doc="By how much of its value DiskUsage is rounded up, such as 25%."
    )
    SCHEDD_ROUND_ATTR_ExecutableSize = string(
        "25%",
        doc="By how much of its value ExecutableSize is rounded up, such as 25%.",
    )
    SCHEDD_ROUND_ATTR_ImageSize = string(
        "25%", doc="By how much of its value ImageSize is rounded up, such as 25%."
    )
    SCHEDD_ROUND_ATTR_NumCkpts = integer(
        "4",
        doc="Known and checked as a number.",
        unread=True,
    )
    SCHEDD_ROUND_ATTR_ProportionalSetSizeKb = string(
        "25%",
        doc="By how much of its value ProportionalSetSizeKb is rounded up, such as 25%.",
    )
    SCHEDD_ROUND_ATTR_ResidentSetSize = string(
        "25%",
        doc="By how much of its value ResidentSetSize is rounded up, such as 25%.",
    )
    SCHEDD_SEND_RESCHEDULE = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    SCHEDD_SEND_VACATE_VIA_TCP = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    SCHEDD_SLOT_WEIGHT = expression(
        "", doc="Of jobs; what one that waits counts for in fair share, if not SLOT_WEIGHT says."
    )
    SCHEDD_SUPER_ADDRESS_FILE = place(
        "$(SPOOL)/.schedd_address.super",
        doc="Where root's tools look for the address; it is the one that everybody has.",
    )
    SCHEDD_USE_SLOT_WEIGHT = boolean(
        "true",
        doc="Whether waiting jobs are weighed; without, each counts for one.",
    )
    SCHEDULER_UNIVERSE_COOL_DOWN_DURATION = seconds(
        "300",
        sense=COUNT,
        doc="How long a scheduler-universe job waits that left with an exit code other than 0.",
    )
    SCHED_DEBUG_WAIT = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    SCHED_UNIV_RENICE_INCREMENT = integer(
        "0",
        doc="Known and checked as a number.",
        unread=True,
    )
    SECURE_JOB_ATTRS = listing("", doc="Attributes of jobs that only the schedd itself may set.")
    START_LOCAL_UNIVERSE = expression(
        "TotalLocalJobsRunning < 200",
        strictest="false",
        doc="Which local universe jobs may start.",
    )
    START_SCHEDULER_UNIVERSE = expression(
        "TotalSchedulerJobsRunning < 500",
        strictest="false",
        doc="Which scheduler universe jobs may start.",
    )
    STATISTICS_TO_PUBLISH = string(
        None,
        unset="DEFAULT",
        doc=(
            "Which statistics the schedd's ad shows: SCHEDD, TRANSFER, ALL or DEFAULT, each with "
            "a level from 0 to 2 and !R for no recent ones (SCHEDD:2, TRANSFER:0); NONE for none. "
            "What is not named is not shown."
        ),
    )
    STATISTICS_TO_PUBLISH_LIST = listing(
        None,
        doc="Statistics of level 2 that are shown at level 1, too.",
    )
    STATISTICS_WINDOW_QUANTUM = integer(
        "240",
        within=Range(1, 1000000000),
        doc='In which steps "recent" statistics forget, in seconds.',
    )
    STATISTICS_WINDOW_QUANTUM_DC = seconds(
        "",
        sense=COUNT,
        doc="The same for what a daemon says of itself; 0 for as in other statistics.",
    )
    STATISTICS_WINDOW_QUANTUM_SCHEDD = seconds(
        "",
        sense=COUNT,
        doc="The same for the schedd's statistics; 0 for as in others.",
    )
    STATISTICS_WINDOW_SECONDS = seconds(
        "1200",
        within=Range(1, 1000000000),
        doc='How long "recent" is in statistics, in seconds.',
    )
    SYSTEM_IMMUTABLE_JOB_ATTRS = listing(
        "Owner ClusterId JobUniverse ProcId MyType TargetType User OsUser",
        doc="The part of IMMUTABLE_JOB_ATTRS that is always in force.",
    )
    SYSTEM_JOB_MACHINE_ATTRS = listing(
        "Cpus,SlotWeight",
        doc="Known list of words.",
        unread=True,
    )
    SYSTEM_MAX_RELEASES = integer(
        "-1",
        sense=OR_NONE,
        strictest="0",
        doc="How many holds a job may have had for its owner to release it; -1 is any number.",
    )
    SYSTEM_PROTECTED_JOB_ATTRS = listing(
        "",
        doc="The part of PROTECTED_JOB_ATTRS that is always in force.",
    )
    SYSTEM_SECURE_JOB_ATTRS = listing(
        (
            "x509userProxySubject x509UserProxyEmail x509UserProxyVOName "
            "x509UserProxyFirstFQAN x509UserProxyFQAN TotalSubmitProcs AuthTokenSubject "
            "AuthTokenIssuer AuthTokenGroups AuthTokenId AuthTokenScopes AuthTokenProject "
            "OsUser"
        ),
        doc="The part of SECURE_JOB_ATTRS that is always in force.",
    )
    SYSTEM_STARTD_ATTRS = listing(
        "COLLECTOR_HOST_STRING DedicatedScheduler",
        doc="Known list of words.",
        unread=True,
    )
    SYSTEM_STARTD_JOB_ATTRS = listing(
        (
            "ImageSize, ExecutableSize, JobUniverse, NiceUser, CPUsUsage, ResidentSetSize, "
            "ProportionalSetSizeKb, MemoryUsage, DiskUsage, StdoutMtime, StderrMtime, "
            "ScratchDirFileCount"
        ),
        doc="Known list of words.",
        unread=True,
    )
    SYSTEM_STARTD_SLOT_ATTRS = listing(
        "",
        doc="Known list of words.",
        unread=True,
    )
    TRANSFORM_FACTORY_AND_JOB_ADS = boolean(
        None,
        unset="true",
        doc="Whether JOB_TRANSFORM_ rules change each job that is made late, not its cluster only.",
    )
    TRUNC_SCHED_LOG_ON_OPEN = boolean(
        "false",
        doc="Whether the daemon empties its log when it starts.",
    )
    UNUSED_CLAIM_TIMEOUT = seconds(
        "600",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    USE_GLOBAL_JOB_PRIOS = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    USE_LOCAL_SCHEDD_FOR_SCHEDULER_UNIVERSE = boolean(
        None,
        unset="true",
        doc="Whether jobs of the scheduler universe are told in which files their schedd is found.",
    )
    SCHEDD_COLLECT_STATS_BY = family(
        "SCHEDD_COLLECT_STATS_BY_{name}",
        expression,
        "",
        doc="Of jobs; its every value has statistics of its own in the schedd's ad (SCHEDD:2).",
    )
    SCHEDD_COLLECT_STATS_FOR = family(
        "SCHEDD_COLLECT_STATS_FOR_{name}",
        expression,
        "",
        doc="Of jobs; those of which it is true have statistics of their own in the schedd's ad.",
    )
    SCHEDD_EXPIRE_STATS_BY = family(
        "SCHEDD_EXPIRE_STATS_BY_{name}",
        seconds,
        "604800",
        sense=COUNT,
        doc="How long the statistics of a value are kept that no job has had since, in seconds.",
    )
