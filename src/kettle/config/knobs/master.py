"""Knobs of the master and its daemons: a pure table."""

from kettle.config.knob import (
    boolean,
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
from kettle.config.ranges import BYTES, COUNT, NOT_NEGATIVE, OR_NONE, POSITIVE


class MasterKnobs:
    """Knobs of the master and its daemons."""

    ADD_WINDOWS_FIREWALL_EXCEPTION = boolean(
        "$(CondorIsAdmin)",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    CONDOR_ADMIN = string(
        "root@$(FULL_HOSTNAME)",
        doc="The address that mail about the pool goes to.",
    )
    CONDOR_SUPPORT_EMAIL = string("", doc="Known text.", unread=True)
    DAEMON_LIST = listing("MASTER", doc="The daemons that the master starts and watches.")
    DC_DAEMON_LIST = listing(
        "",
        doc="The daemons that speak with their master; with + first, besides HTCondor's own. Other"
        " programs get no -f, and count as ready once they run.",
    )
    DEFAULT_MASTER_SHUTDOWN_SCRIPT = path("", doc="Known path.", unread=True)
    EMAIL_DOMAIN = string("", doc="Known text.", unread=True)
    ENABLE_KERNEL_TUNING = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    INVALID_LOG_FILES = string("", doc="Known text.", unread=True)
    KERNEL_TUNING_LOG = path(
        "$(LOG)/KernelTuning.log",
        doc="Known path.",
        unread=True,
    )
    LINUX_KERNEL_TUNING_SCRIPT = path(
        "$(LIBEXEC)/linux_kernel_tuning",
        doc="Known path.",
        unread=True,
    )
    MAIL = path("/usr/bin/mail", doc="The program that sends mail.")
    MASTER = place("$(SBIN)/condor_master", doc="The master's program.")
    MASTER_ADDRESS_FILE = place(
        "$(LOG)/.master_address",
        doc="Where the master writes its address.",
    )
    MASTER_BACKOFF_CEILING = seconds(
        "3600",
        sense=POSITIVE,
        doc="Longest pause before a daemon that keeps failing is started again, in seconds.",
    )
    MASTER_BACKOFF_CONSTANT = integer(
        "9",
        sense=COUNT,
        doc="Shortest pause before a daemon that failed is started again, in seconds.",
    )
    MASTER_BACKOFF_FACTOR = real(
        "2.0",
        sense=NOT_NEGATIVE,
        doc="How much longer the master waits before each further start of a daemon that dies.",
    )
    MASTER_CHECK_NEW_EXEC_INTERVAL = seconds(
        "300",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    MASTER_DAEMON_AD_FILE = path("", doc="Known path.", unread=True)
    MASTER_DEBUG = listing("", doc="What is logged: D_FULLDEBUG, D_PID, D_CAT and others.")
    MASTER_DEBUG_WAIT = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    MASTER_ENVIRONMENT = string("", doc="Known text.", unread=True)
    MASTER_FLAG = string("", doc="Known text.", unread=True)
    MASTER_INSTANCE_LOCK = string("", doc="Known text.", unread=True)
    MASTER_LOG = place("$(LOG)/MasterLog", doc="The daemon's log.")
    MASTER_NAME = string("", doc="The master's name in its ad, with its machine's behind an @.")
    MASTER_NEW_BINARY_DELAY = seconds(
        "120",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    MASTER_NEW_BINARY_RESTART = string(
        "GRACEFUL",
        doc="Known text.",
        unread=True,
    )
    MASTER_RECOVER_FACTOR = integer(
        "300",
        sense=POSITIVE,
        doc="How long a daemon must run until its earlier failures are forgotten, in seconds.",
    )
    MASTER_TIMEOUT_MULTIPLIER = seconds(
        "0",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    MASTER_UPDATE_INTERVAL = seconds(
        "300",
        sense=POSITIVE,
        doc="How often the master sends its ad to the collector, in seconds.",
    )
    MAX_MASTER_LOG = size(
        "$(MAX_DEFAULT_LOG)",
        doc="How large the log grows before it is moved aside: 10 Mb, 1 day.",
    )
    NOT_RESPONDING_TIMEOUT = seconds(
        "3600",
        within=POSITIVE,
        doc="How long a daemon may say nothing before the master kills it, in seconds.",
    )
    OBITUARY_LOG_LENGTH = integer(
        "200",
        doc="Known and checked as a number.",
        unread=True,
    )
    PREEN = path("$(SBIN)/condor_preen", doc="Known path.", unread=True)
    PREEN_ADMIN = string("", doc="Whom condor_preen mails to; CONDOR_ADMIN where it is empty.")
    PREEN_ARGS = string("-m -r", doc="Known text.", unread=True)
    PREEN_COREFILES_PER_PROCESS = integer(
        "10",
        sense=COUNT,
        doc="How many core files in LOG condor_preen keeps, the newest ones.",
    )
    PREEN_COREFILE_MAX_SIZE = integer(
        "50000000",
        sense=BYTES,
        doc="Above which size condor_preen keeps no core file, in bytes.",
    )
    PREEN_COREFILE_STALE_AGE = seconds(
        "5184000",
        sense=COUNT,
        doc="From which age on condor_preen keeps no core file, in seconds.",
    )
    PREEN_INTERVAL = seconds(
        "86400",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    PUBLISH_OBITUARIES = boolean(
        "",
        unset="true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    SENDMAIL = string("sendmail", doc="Known text.", unread=True)
    SHUTDOWN_FAST_TIMEOUT = seconds(
        "300",
        sense=POSITIVE,
        doc="How long a fast shutdown may take before the daemon is killed, in seconds.",
    )
    SHUTDOWN_GRACEFUL_TIMEOUT = seconds(
        "",
        unset="1800",
        within=POSITIVE,
        doc="How long a graceful shutdown may take before it becomes a fast one, in seconds.",
    )
    SMTP_SERVER = string("", doc="Known text.", unread=True)
    START_DAEMONS = boolean(
        "",
        unset="true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    START_MASTER = boolean(
        "",
        unset="true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    SYSTEM_VALID_SPOOL_FILES = string(
        (
            "job_queue.log, job_queue.log.tmp, history, Accountant.log, Accountantnew.log, "
            "local_univ_execute, .pgpass, .schedd_address, .schedd_address.super, "
            ".schedd_classad, OfflineLog, startd_disk.img, checkpoint-cleanup, TokensDatabase"
        ),
        doc="Known text.",
        unread=True,
    )
    TRUNC_MASTER_LOG_ON_OPEN = boolean(
        "false",
        doc="Whether the daemon empties its log when it starts.",
    )
    USE_SCRIPT_TO_CREATE_CONFIG = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    VALID_SPOOL_FILES = string("", doc="Known text.", unread=True)
    WINDOWS_FIREWALL_FAILURE_RETRY = integer(
        "2",
        doc="Known and checked as a number.",
        unread=True,
    )
    SUBSYS = family("{subsys}", path, "", doc="The program of a daemon in DAEMON_LIST.")
    SUBSYS_ARGS = family("{subsys}_ARGS", string, "", doc="Further arguments of a daemon.")
    SUBSYS_ENVIRONMENT = family(
        "{subsys}_ENVIRONMENT",
        string,
        "",
        doc="Further environment of a daemon, in the submit language's new syntax.",
    )
