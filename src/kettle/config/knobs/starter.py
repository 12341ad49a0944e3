"""Knobs of the starter: a pure table."""

from kettle.config.knob import (
    boolean,
    choice,
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
from kettle.config.ranges import COUNT, FRACTION, OR_NONE, POSITIVE


class StarterKnobs:
    """Knobs of the starter."""

    ASSIGN_CPU_AFFINITY = expression(
        "false",
        doc="For which jobs it is so that they run on their slot's cores only.",
    )
    BASE_CGROUP = string(
        "htcondor",
        doc="The control group that holds those of all jobs; empty: jobs have none.",
    )
    CGROUP_HARD_MEMORY_LIMIT_EXPR = expression(
        "",
        doc="With policy custom: the memory in MiB above which a job is held.",
    )
    CGROUP_IGNORE_CACHE_MEMORY = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    CGROUP_LOW_MEMORY_LIMIT_EXPR = expression(
        "",
        doc="With policy custom: the memory in MiB that a job keeps when others need some.",
    )
    CGROUP_MEMORY_LIMIT_POLICY = choice(
        "hard",
        ("hard", "soft", "custom", "none"),
        instead="no control group limits the memory of jobs then",
        strictest="hard",
        doc="What memory a job is held above. hard: its slot's; soft: the machine's; custom: by "
        "expressions; none.",
    )
    CGROUP_POLLING_INTERVAL = seconds(
        "5",
        sense=POSITIVE,
        doc="How often a job's memory and disk are looked at, at the least.",
    )
    CHECKPOINT_DESTINATION_MAPFILE = place(
        "$(LOCAL_DIR)/checkpoint-destination-mapfile",
        doc="Map of the beginnings of checkpoint destinations to the plug-in that deletes files "
        "there: lines of `* BEGINNING PROGRAM,ARGUMENT,...`.",
    )
    CHECK_REACTIVATE_AFTER_CHECKPOINT = boolean(
        "true",
        doc="Whether a job that left a checkpoint goes back to the queue where its claim may run "
        "no other job, as when CLAIM_WORKLIFE is over; else it goes on in its place.",
    )
    CHIRP_DELAYED_UPDATE_MAX_ATTRS = integer(
        "100",
        within=COUNT,
        doc="How many attributes a job may set through delayed chirp updates.",
    )
    CHIRP_DELAYED_UPDATE_PREFIX = string(
        "Chirp*",
        doc="Names of the attributes that delayed chirp updates may set.",
    )
    CONDOR_SSH_TO_JOB_FAKE_PASSWD_ENTRY = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DEDICATED_EXECUTE_ACCOUNT_REGEXP = string(
        None,
        doc="Accounts that belong to jobs only: all their processes end with their job.",
    )
    DEFAULT_KILL_CHILDREN_ON_EXIT = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DISABLE_EXECUTE_DIRECTORY_ENCRYPTION = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DISABLE_SWAP_FOR_JOB = boolean(
        "true",
        strictest="true",
        doc="Whether a job may use no swap, so that one that needs more memory is held.",
    )
    ENABLE_CHIRP = boolean(
        "true",
        strictest="false",
        doc="Whether jobs may use chirp.",
    )
    ENABLE_CHIRP_DELAYED = boolean(
        "true",
        strictest="false",
        doc="Whether jobs may set attributes through chirp, with delay.",
    )
    ENABLE_CHIRP_IO = boolean(
        "true",
        strictest="false",
        doc="Whether jobs may read and write files of the submit side through chirp.",
    )
    ENABLE_CHIRP_UPDATES = boolean(
        "true",
        strictest="false",
        doc="Whether jobs may set attributes through chirp at once.",
    )
    ENABLE_SSH_TO_JOB = boolean(
        "true",
        strictest="false",
        doc="Whether people may log in to their running jobs.",
    )
    ENCRYPT_EXECUTE_DIRECTORY = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    ENFORCE_CPU_AFFINITY = boolean(
        None, doc="Whether every job of slot n is bound to the cores of SLOT<n>_CPU_AFFINITY."
    )
    ENVIRONMENT_FOR_AssignedGPUs = string(
        "GPU_DEVICE_ORDINAL=/(CUDA|OCL)//  CUDA_VISIBLE_DEVICES=/CUDA//",
        doc="Known text.",
        unread=True,
    )
    ENVIRONMENT_VALUE_FOR_UnAssignedGPUs = integer(
        "10000",
        doc="Known and checked as a number.",
        unread=True,
    )
    JOB_DISK_LIMIT_POLICY = choice(
        None,
        ("hard", "soft", "none"),
        instead="it counts as soft",
        unset="soft",
        strictest="hard",
        doc="Whether a job whose sandbox outgrows its slot's Disk is held. hard: at once; soft: "
        "when that is by more than a 64th of the machine's, or others need it; none. Kettle's own "
        "knob.",
    )
    JOB_EXECDIR_PERMISSIONS = string("user", doc="Known text.", unread=True)
    JOB_INHERITS_STARTER_ENVIRONMENT = string(
        "false",
        strictest="false",
        doc="Whether jobs get the starter's environment: true, false or a list of names.",
    )
    JOB_MEMORY_LIMIT_POLICY = choice(
        None,
        ("hard", "soft", "none"),
        instead="it counts as soft",
        unset="soft",
        strictest="hard",
        doc="Whether a job that no control group limits is held when it uses more than its slot's "
        "Memory. hard: at once; soft: when that is by more than a 16th of the machine's, or others "
        "need it; none. Kettle's own knob.",
    )
    JOB_RENICE_INCREMENT = expression(
        "0",
        doc="How much nicer jobs are than the daemons, 0 to 19.",
    )
    LVM_BACKING_FILE = path(
        "$(SPOOL)/startd_disk.img",
        doc="Known path.",
        unread=True,
    )
    LVM_BACKING_FILE_SIZE_MB = integer(
        "10240",
        doc="Known and checked as a number.",
        unread=True,
    )
    LVM_HIDE_MOUNT = string("auto", doc="Known text.", unread=True)
    LVM_THICK_LV_MARGIN = real(
        "0.98",
        within=FRACTION,
        doc="Known and checked as a real number.",
        unread=True,
    )
    LVM_THIN_LV_EXTRA_SIZE_MB = integer(
        "2000",
        doc="Known and checked as a number.",
        unread=True,
    )
    LVM_USE_THIN_PROVISIONING = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    MAX_STARTER_LOG = size(
        "$(MAX_DEFAULT_LOG)",
        doc="How large the starter's log may grow before it is renamed.",
    )
    MEMORY_USAGE_METRIC = expression(
        "((ResidentSetSize+1023)/1024)",
        doc="Known expression.",
        unread=True,
    )
    MEMORY_USAGE_METRIC_VM = expression(
        "((ImageSize+1023)/1024)",
        doc="Known expression.",
        unread=True,
    )
    MOUNT_PRIVATE_DEV_SHM = boolean(
        "true",
        strictest="true",
        doc="Whether a job of a root pool has its own /dev/shm.",
    )
    NOBODY_SLOT_USER = string(None, doc="The account of jobs whose slot has none of its own.")
    PER_JOB_NAMESPACES = boolean(
        "true",
        strictest="true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    REUSE_CONDOR_RUN_ACCOUNT = string("", doc="Known text.", unread=True)
    SCP = string("", doc="Known text.", unread=True)
    SSHD = string("", unset="/usr/sbin/sshd", doc="The sshd that people log in to jobs through.")
    SSHD_ARGS = string("", doc="Known text.", unread=True)
    SSH_KEYGEN = string(
        "", unset="/usr/bin/ssh-keygen", doc="The program that makes the keys for it."
    )
    SSH_KEYGEN_ARGS = string("", doc="Known text.", unread=True)
    STARTER = place("$(SBIN)/condor_starter", doc="The starter's program.")
    STARTER_ALLOW_JOB_PRE_AND_POST_CMD = expression(
        None,
        unset="true",
        strictest="false",
        doc="For which jobs their PreCmd and PostCmd are run, in the slot's ad with the job as "
        "TARGET. HTCondor runs none unless this is set.",
    )
    STARTER_ALLOW_RUNAS_OWNER = boolean(
        None,
        unset="true",
        strictest="false",
        doc="Whether a job runs as its owner where the domains agree.",
    )
    STARTER_ALWAYS_HOLD_ON_OOM = boolean(
        "true",
        doc="Whether a job is also held that the kernel killed below its own limit.",
    )
    STARTER_DEBUG = listing("D_PID ", doc="Kinds of messages that the starter logs.")
    STARTER_DEBUG_WAIT = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    STARTER_DEFAULT_JOB_HOOK_KEYWORD = string(
        None, doc="The hooks of a job that names none that are there."
    )
    STARTER_DIAGNOSTIC_send_ep_logs = path(
        "$(LIBEXEC)/condor_diagnostic_send_ep_logs",
        doc="Known path.",
        unread=True,
    )
    STARTER_FIRST_CHILDALIVE_DELAY = seconds(
        "30",
        within=COUNT,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    STARTER_HIDE_GPU_DEVICES = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    STARTER_INITIAL_UPDATE_INTERVAL = seconds(
        "8",
        sense=COUNT,
        doc="When the starter first tells how the job is, in seconds after its start.",
    )
    STARTER_JOB_ENVIRONMENT = string("", doc="Variables that every job gets.")
    STARTER_JOB_HOOK_KEYWORD = string(
        "", doc="Whose hooks jobs have; none is called yet, which the starter's log says."
    )
    STARTER_LIST = listing("STARTER", doc="Known list of words.", unread=True)
    STARTER_LOG = place("$(LOG)/StarterLog", doc="The starter's log.")
    STARTER_LOG_NAME_APPEND = string(
        "", unset="Slot", doc="What the log's name ends with: Slot, Cluster, JobId, or false."
    )
    STARTER_NESTED_SCRATCH = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    STARTER_NUM_THREADS_ENV_VARS = listing(
        (
            "CUBACORES GOMAXPROCS JULIA_NUM_THREADS MKL_NUM_THREADS NUMEXPR_NUM_THREADS "
            "OMP_NUM_THREADS OMP_THREAD_LIMIT OPENBLAS_NUM_THREADS PYTHON_CPU_COUNT "
            "ROOT_MAX_THREADS TF_LOOP_PARALLEL_ITERATIONS TF_NUM_THREADS"
        ),
        doc="Known list of words.",
        unread=True,
    )
    STARTER_RLIMIT_AS = integer(
        "0",
        doc="Known and checked as a number.",
        unread=True,
    )
    STARTER_SETS_HOME_ENV = boolean(
        "true",
        doc="Whether jobs get HOME.",
    )
    STARTER_STATS_LOG = path(
        "$(LOG)/XferStatsLog",
        doc="Known path.",
        unread=True,
    )
    STARTER_UPDATE_INTERVAL = seconds(
        None,
        unset="300",
        within=POSITIVE,
        doc="How often a starter tells the shadow what its job uses.",
    )
    STARTER_UPLOAD_TIMEOUT = seconds(
        "300",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    STARTER_USER_LOG = path(None, doc="A log of each job's events in its sandbox.")
    TRUNC_STARTER_LOG_ON_OPEN = boolean(
        "false",
        doc="Whether the daemon empties its log when it starts.",
    )
    USER_JOB_WRAPPER = path("", doc="A program that starts jobs in its own way.")
    # Compat: the reference's default is false; but without it what hides lives on beside a second
    # start of its job when all daemons of a machine are killed in one moment
    # (test_what_hid_is_dead_at_once_when_all_daemons_are_killed_at_once).
    USE_PID_NAMESPACES = boolean(
        "true",
        strictest="true",
        doc="Whether each job of a root pool has a PID namespace, which ends with its starter.",
    )
    USE_VISIBLE_DESKTOP = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    WINDOWS_RMDIR = string("", doc="Known text.", unread=True)
    WINDOWS_SOFTKILL = string("", doc="Known text.", unread=True)
