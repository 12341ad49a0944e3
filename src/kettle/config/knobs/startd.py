"""Knobs of the startd: a pure table."""

from kettle.config.knob import (
    boolean,
    choice,
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
from kettle.config.ranges import COUNT, LONG, NOT_NEGATIVE, OR_NONE, POSITIVE, WHOLE


class StartdKnobs:
    """Knobs of the startd."""

    ADVERTISE_PSLOT_ROLLUP_INFORMATION = boolean(
        None, unset="true", doc="Whether the ad of a partitionable slot tells what was cut from it."
    )
    BACKFILL_SYSTEM = string("", doc="Known text.", unread=True)
    BENCHMARKS_JOBLIST = listing(
        "mips kflops",
        doc="Known list of words.",
        unread=True,
    )
    BENCHMARKS_KFLOPS_EXECUTABLE = path(
        "$(LIBEXEC)/condor_kflops",
        doc="Known path.",
        unread=True,
    )
    BENCHMARKS_KFLOPS_JOB_LOAD = real(
        "1.0",
        sense=NOT_NEGATIVE,
        doc="Known and checked as a real number.",
        unread=True,
    )
    BENCHMARKS_MAX_JOB_LOAD = real(
        "1.0",
        sense=NOT_NEGATIVE,
        doc="Known and checked as a real number.",
        unread=True,
    )
    BENCHMARKS_MIPS_EXECUTABLE = path(
        "$(LIBEXEC)/condor_mips",
        doc="Known path.",
        unread=True,
    )
    BENCHMARKS_MIPS_JOB_LOAD = real(
        "1.0",
        sense=NOT_NEGATIVE,
        doc="Known and checked as a real number.",
        unread=True,
    )
    BROKEN_SLOT_CONTEXT_ATTRS = listing(
        "JobId,RemoteUser,RemoteScheddName",
        doc="Known list of words.",
        unread=True,
    )
    CATALOG_SPACE = expression(
        '    ifthenelse(\n        MappingMethod ?: "" != "Copy",\n        $(SUM_OF_CATALOGS),\n'
        "        0\n)",
        doc="What catalogs take of a disk, for MODIFY_REQUEST_EXPR_REQUESTDISK to mention.",
    )
    CLAIM_WORKLIFE = seconds(
        "1200",
        unset="-1",
        sense=OR_NONE,
        doc="How long a claim takes new jobs, in seconds; -1 for ever.",
    )
    CONSOLE_DEVICES = listing(
        "mouse, console",
        doc="Devices of /dev at which people sit: what ConsoleIdle is measured of.",
    )
    CONSUMPTION_CPUS = expression(
        "quantize(target.RequestCpus,{1})",
        doc="Known expression.",
        unread=True,
    )
    CONSUMPTION_DISK = expression(
        "quantize(target.RequestDisk,{1024})",
        doc="Known expression.",
        unread=True,
    )
    CONSUMPTION_MEMORY = expression(
        "quantize(target.RequestMemory,{128})",
        doc="Known expression.",
        unread=True,
    )
    CONTINUE = expression("True", doc="When a suspended job goes on.")
    CONTINUE_TO_ADVERTISE_BROKEN_DYNAMIC_SLOTS = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    COUNT_HYPERTHREAD_CPUS = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DISCONNECTED_KEYBOARD_IDLE_BOOST = seconds(
        "1200",
        sense=COUNT,
        doc="How long before the startd began somebody typed, for slots without keyboard.",
    )
    ENABLE_BACKFILL = boolean(
        "false",
        doc="Whether idle slots do backfill work.",
        unread=True,
    )
    ENABLE_CLAIMABLE_PARTITIONABLE_SLOTS = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    ENABLE_STARTD_DAEMON_AD = string("auto", doc="Known text.", unread=True)
    EXECUTE = place("$(LOCAL_DIR)/execute", doc="Where jobs have their scratch folders.")
    GPU_DISCOVERY_EXTRA = string(
        None, doc="Further words for the program that finds GPUs; FEATURE:GPUs mentions it."
    )
    GPU_MONITOR = path(
        "$(LIBEXEC)/condor_gpu_utilization",
        doc="Known path.",
        unread=True,
    )
    IS_OWNER = expression("False", doc="When the machine is kept for its owner.")
    KBDD = place(
        "$(SBIN)/condor_kbdd",
        doc="The program that is started where DAEMON_LIST names it: HTCondor's own.",
    )
    KBDD_ADDRESS_FILE = path(
        "$(LOG)/.kbdd_address",
        doc="Known path.",
        unread=True,
    )
    KBDD_DEBUG = listing("", doc="Known list of words.", unread=True)
    KBDD_LOG = path("$(LOG)/KbdLog", doc="Known path.", unread=True)
    KEYBOARD_CPUS = integer(
        "1",
        doc="Known and checked as a number.",
        unread=True,
    )
    KILL = expression("False", doc="When a job that is leaving is killed at once.")
    KILLING_TIMEOUT = seconds(
        "30",
        within=COUNT,
        doc="How long killing a job may take before the starter itself is killed, in seconds.",
    )
    MachineMaxVacateTime = expression(
        "$(MaxVacateTime)",
        doc="How long a job may take to leave the machine, in seconds.",
    )
    MACHINE_RESOURCE_NAMES = listing(
        None, doc="Which of the MACHINE_RESOURCE_ knobs count; empty for all."
    )
    MATCH_TIMEOUT = seconds(
        "120",
        sense=COUNT,
        doc="How long a matched slot waits for the schedd, in seconds.",
    )
    MAX_DRAINING_ACTIVATION_DELAY = seconds(
        "20",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    MAX_KBDD_LOG = size("$(MAX_DEFAULT_LOG)", doc="Known text.", unread=True)
    MAX_PARTITIONABLE_SLOT_CLAIM_TIME = seconds(
        "3600",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    MAX_SLOT_TYPES = integer(
        "10",
        sense=COUNT,
        doc="The highest number of a slot type.",
    )
    MAX_STARTD_LOG = size(
        "$(MAX_DEFAULT_LOG)",
        doc="How large the log grows before it is moved aside: 10 Mb, 1 day.",
    )
    MEMORY = integer(
        None, within=COUNT, doc="How much memory the machine has for jobs, in MiB; 0 for all of it."
    )
    MODIFY_REQUEST_EXPR_REQUESTCPUS = expression(
        "quantize(RequestCpus,{1})",
        doc="How many CPUs a request for some is rounded to.",
    )
    MODIFY_REQUEST_EXPR_REQUESTDISK = expression(
        "quantize(RequestDisk - $(CATALOG_SPACE),{Target.DiskQuantum?:1024})",
        doc="How much of the disk a request for some is rounded to.",
    )
    MODIFY_REQUEST_EXPR_REQUESTMEMORY = expression(
        "quantize(RequestMemory,{128})",
        doc="How much memory a request for some is rounded to.",
    )
    MUST_MODIFY_REQUEST_EXPRS = boolean(
        "false",
        doc="Whether requests are rounded even where that makes them too large.",
    )
    # Compat: with 0 or less the reference's startd cannot make a slot and has none
    # (test_what_makes_no_sense_is_a_warning_that_says_what_counts).
    NUM_CPUS = integer(
        "$(DETECTED_CPUS_LIMIT)",
        sense=POSITIVE,
        instead="all cores count",
        doc="How many cores the startd offers.",
    )
    NUM_SLOTS = integer(
        None,
        sense=COUNT,
        doc="How many static slots there are, all alike; 0 for one that is partitionable.",
    )
    PERIODIC_CHECKPOINT = expression(
        "((time() - LastPeriodicCheckpoint)/60.0) > (180.0 + $RANDOM_INTEGER(-30,30,1))",
        doc="Known expression.",
        unread=True,
    )
    POLLING_INTERVAL = seconds(
        "5",
        sense=POSITIVE,
        doc="How often the startd looks after claimed slots, in seconds.",
    )
    POLLING_PERIOD = string("", doc="Known text.", unread=True)
    PREEMPT = expression("False", doc="When a running job has to leave.")
    REAL_TIME_JOB_SUSPEND_UPDATES = string("", doc="Known text.", unread=True)
    RESERVED_DISK = integer(
        None,
        unset="0",
        within=WHOLE,
        doc="Disk space that is not offered to jobs and kept free of them and of spooled input, in "
        "MiB.",
    )
    RESERVED_MEMORY = integer(
        "0",
        within=LONG,
        doc="Memory that is not offered to jobs, in MiB.",
    )
    RESERVED_SWAP = integer(
        "0",
        doc="Known and checked as a number.",
        unread=True,
    )
    RunBenchmarks = expression(
        "LastBenchmark == 0",
        doc="When an unclaimed slot measures its machine.",
    )
    SLOTS_CONNECTED_TO_CONSOLE = integer(
        "0",
        sense=COUNT,
        doc="Slots up to this number see ConsoleIdle of the machine.",
    )
    SLOTS_CONNECTED_TO_KEYBOARD = integer(
        "0",
        sense=COUNT,
        doc="Slots up to this number see KeyboardIdle of the machine.",
    )
    # Compat: the manual of 24.0 has the startd end (A037), as `abort` does; 25.14.1 goes on
    # (test_a_startd_goes_on_with_the_slots_that_fit).
    SLOT_CONFIG_FAILURE_MODE = choice(
        None,
        ("abort", "clear", "continue"),
        unset="continue",
        doc="With slots that need more than there is: to end, to have none, or those that fit.",
    )
    SLOT_WEIGHT = expression("Cpus", doc="What a slot counts in accounting.")
    START = expression("True", strictest="false", doc="Which jobs may start on the machine.")
    STARTD = place("$(SBIN)/condor_startd", doc="The startd's program.")
    STARTD_ADDRESS_FILE = place(
        "$(LOG)/.startd_address",
        doc="Where the startd writes its address.",
    )
    STARTD_AD_REEVAL_EXPR = expression(
        "",
        doc="Known expression.",
        unread=True,
    )
    STARTD_ATTRS = listing(
        "", doc="Names of entries of the configuration that the ads of slots show."
    )
    STARTD_CLAIM_ID_FILE = path("", doc="Known path.", unread=True)
    STARTD_CONTACT_TIMEOUT = seconds(
        "45",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    STARTD_CRON_AUTOPUBLISH = string("", doc="Known text.", unread=True)
    STARTD_CRON_NAME = string("", doc="Known text.", unread=True)
    STARTD_DEBUG = listing("", doc="What is logged: D_FULLDEBUG, D_PID, D_CAT and others.")
    STARTD_DETECT_GPUS = string(
        "-properties $(GPU_DISCOVERY_EXTRA)",
        doc="Known text.",
        unread=True,
    )
    STARTD_ENFORCE_DISK_LIMITS = boolean(
        "false",
        strictest="true",
        doc="Whether JOB_DISK_LIMIT_POLICY is hard, whatever it says. No job gets a file system of "
        "its own yet.",
    )
    STARTD_FACTORY_SCRIPT_AVAILABLE_PARTITIONS = string(
        "",
        doc="Known text.",
        unread=True,
    )
    STARTD_FACTORY_SCRIPT_BACK_PARTITION = string(
        "",
        doc="Known text.",
        unread=True,
    )
    STARTD_FACTORY_SCRIPT_BOOT_PARTITION = string(
        "",
        doc="Known text.",
        unread=True,
    )
    STARTD_FACTORY_SCRIPT_DESTROY_PARTITION = string(
        "",
        doc="Known text.",
        unread=True,
    )
    STARTD_FACTORY_SCRIPT_GENERATE_PARTITION = string(
        "",
        doc="Known text.",
        unread=True,
    )
    STARTD_FACTORY_SCRIPT_QUERY_WORK_LOADS = string(
        "",
        doc="Known text.",
        unread=True,
    )
    STARTD_FACTORY_SCRIPT_SHUTDOWN_PARTITION = string(
        "",
        doc="Known text.",
        unread=True,
    )
    STARTD_HAS_BAD_UTMP = integer(
        "0",
        doc="Whether terminals are looked at themselves, as they always are here.",
        unread=True,
    )
    STARTD_JOB_ATTRS = listing("", doc="Attributes of the job that the ad of its slot shows.")
    STARTD_JOB_HOOK_KEYWORD = string(
        "", doc="Whose hooks fetch work; none is called yet, which the startd's log says."
    )
    STARTD_LATCH_EXPRS = listing(
        "",
        doc="Expressions of slots whose last change, and value, ads tell of (NameTime, NameValue).",
    )
    STARTD_LEFTOVER_PROCS_BREAK_SLOTS = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    STARTD_LOG = place("$(LOG)/StartLog", doc="The daemon's log.")
    STARTD_NAME = string("", doc="What the startd and its slots are called instead of the host.")
    STARTD_NOCLAIM_SHUTDOWN = integer(
        "0",
        doc="Known and checked as a number.",
        unread=True,
    )
    STARTD_REBOOT_COMMAND = path(
        "/sbin/reboot",
        doc="Known path.",
        unread=True,
    )
    STARTD_RECOMPUTE_DISK_FREE = boolean(
        "false",
        doc="Whether free disk is measured all the time.",
    )
    STARTD_RESOURCE_PREFIX = string("", doc="Known text.", unread=True)
    STARTD_SHOULD_WRITE_CLAIM_ID_FILE = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    STARTD_SLOT_ATTRS = listing(
        "", doc="Attributes of each slot that the ads of all slots of the machine show."
    )
    SUM_OF_CATALOGS = expression(
        (
            "    ifthenelse(\n"
            "        RequestedCatalogs is undefined || catalogs is undefined,\n"
            "        0,\n"
            "        sum(\n"
            "            evalInEachContext(\n"
            "                member(CatalogID, RequestedCatalogIDs)\n"
            "                ? CatalogSize : 0,\n"
            "                catalogs\n"
            "            )\n"
            "        )\n"
            "    )"
        ),
        doc="What all catalogs take together, for CATALOG_SPACE to mention.",
    )
    SUSPEND = expression("False", doc="When a running job is suspended.")
    SYSTEM_STARTD_LATCH_EXPRS = listing(
        "NumDynamicSlots", doc="More of STARTD_LATCH_EXPRS, which configurations leave alone."
    )
    USE_NFS = boolean(
        "",
        unset="false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    VALID_COD_USERS = listing("", doc="Known list of words.", unread=True)
    WANT_SUSPEND = expression("False", doc="Whether a job is suspended before it is preempted.")
    WANT_VACATE = expression(
        "True", doc="Whether a preempted job is asked to leave before it is killed."
    )
    SLOT_TYPE = family(
        "SLOT_TYPE_{n}", string, "", doc="Which share of the machine a slot of this type gets."
    )
    SLOT_EXECUTE = family(
        "SLOT{n}_EXECUTE", path, "", doc="Where this slot's sandboxes are, if not in EXECUTE."
    )
    NUM_SLOTS_TYPE = family(
        "NUM_SLOTS_TYPE_{n}", integer, "", sense=COUNT, doc="How many slots of this type there are."
    )
    SLOT_TYPE_PARTITIONABLE = family(
        "SLOT_TYPE_{n}_PARTITIONABLE",
        boolean,
        "false",
        doc="Whether slots of this type are divided as jobs need.",
    )
    MACHINE_RESOURCE = family(
        "MACHINE_RESOURCE_{tag}",
        string,
        "",
        doc=("How much of a custom resource the machine has: a number or the names of the pieces."),
    )
    MACHINE_RESOURCE_INVENTORY = family(
        "MACHINE_RESOURCE_INVENTORY_{tag}",
        string,
        "",
        doc="The command that says how much of a custom resource the machine has.",
    )
