"""Knobs of all daemons: a pure table."""

from kettle.config.knob import boolean, expression, family, integer, listing, path, seconds, string
from kettle.config.ranges import AS_IT_IS, COUNT, OR_NONE


class DaemonKnobs:
    """Knobs of all daemons."""

    AUTO_INCLUDE_CREDD_IN_DAEMON_LIST = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    CLASSAD_ENABLE_USER_HOME = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    CLASSAD_USER_LIBS = listing("", doc="Known list of words.", unread=True)
    CLASSAD_USER_PYTHON_LIB = path(
        "$(LIBEXEC)/libclassad_python_user.so",
        doc="Known path.",
        unread=True,
    )
    CLASSAD_USER_PYTHON_MODULES = listing(
        "",
        doc="Known list of words.",
        unread=True,
    )
    CORE_FILE_NAME = string(
        "core.$(SUBSYSTEM)",
        doc="Known text.",
        unread=True,
    )
    CREATE_CORE_FILES = boolean(
        "true",
        doc="Whether daemons may leave core files.",
    )
    DAEMON_CORE_KILL_ANY_PROCESS = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DAEMON_SHUTDOWN = expression(
        None,
        doc="When a daemon ends by itself, gracefully, and is not started again until `condor_on`: "
        "asked of its own ad whenever the collector is told of that.",
    )
    DAEMON_SHUTDOWN_FAST = expression(
        None,
        doc="When it ends so without waiting for jobs.",
    )
    DISABLE_SETUID = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DROP_CORE_ON_RECONFIG = boolean(
        "",
        unset="false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    ENABLE_CLASSAD_CACHING = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    EXCEPT_ON_ERROR = boolean(
        "",
        unset="false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    FILE_LOCK_VIA_MUTEX = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    JOB_MINIMUM_UID = integer(
        None,
        unset="100",
        sense=COUNT,
        instead=AS_IT_IS,
        doc="The lowest uid that a job may have because it is its owner's; below are the accounts "
        "of the system, whose jobs run as the slot's account. Kettle's own knob.",
    )
    MAX_PID_COLLISION_RETRY = integer(
        "9",
        within=COUNT,
        doc="Known and checked as a number.",
        unread=True,
    )
    MAX_TIME_SKIP = integer(
        "1200",
        within=COUNT,
        doc="Known and checked as a number.",
        unread=True,
    )
    MAX_TRACKING_GID = integer(
        "0",
        doc="Known and checked as a number.",
        unread=True,
    )
    MIN_TRACKING_GID = integer(
        "0",
        doc="Known and checked as a number.",
        unread=True,
    )
    PARENT_CHECK_FIRST_INTERVAL = seconds(
        "15",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    PARENT_CHECK_INTERVAL = seconds(
        "120",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    PASSWD_CACHE_REFRESH = seconds(
        "72000",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    PID_SNAPSHOT_INTERVAL = seconds(
        "15",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    PIPE_BUFFER_MAX = integer(
        "10240",
        doc="Known and checked as a number.",
        unread=True,
    )
    PROCD = path("$(SBIN)/condor_procd", doc="Known path.", unread=True)
    PROCD_ADDRESS = path("$(RUN)/procd_pipe", doc="Known path.", unread=True)
    PROCD_LOG = path("$(LOG)/ProcLog", doc="Known path.", unread=True)
    PROCD_MAX_SNAPSHOT_INTERVAL = seconds(
        "60",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    PYTHON3_MODULE_SUFFIX = string(
        ".cpython-314-x86_64-linux-gnu.so",
        doc="Known text.",
        unread=True,
    )
    PYTHON3_VERSION_MINOR = integer(
        "14",
        doc="Known and checked as a number.",
        unread=True,
    )
    RESTART_PROCD_ON_ERROR = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    UPDATE_SPREAD_TIME = integer(
        "$(UPDATE_COLLECTOR_WITH_TCP:0) ? 0 : 8",
        doc="Known and checked as a number.",
        unread=True,
    )
    USE_CLONE_TO_CREATE_PROCESSES = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    USE_GID_PROCESS_TRACKING = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    USE_PROCD = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    USE_PROCESS_GROUPS = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    UTSNAME_MACHINE = string("", doc="What uname says of the hardware; detected.")
    UTSNAME_NODENAME = string("", doc="What uname says of the host's name; detected.")
    UTSNAME_RELEASE = string("", doc="What uname says of the kernel's release; detected.")
    UTSNAME_SYSNAME = string("", doc="What uname says of the system; detected.")
    UTSNAME_VERSION = string("", doc="What uname says of the kernel's version; detected.")
    SUBSYS_ADDRESS_FILE = family(
        "{subsys}_ADDRESS_FILE",
        path,
        "",
        doc=(
            "Where a daemon leaves its address, version and platform for tools on the same machine."
        ),
    )
    SUBSYS_DAEMON_AD_FILE = family(
        "{subsys}_DAEMON_AD_FILE",
        path,
        "",
        doc="Where a daemon leaves its ad for tools on the same machine.",
    )
    SUBSYS_CLASSAD_USER_MAP_NAMES = family(
        "{subsys}_CLASSAD_USER_MAP_NAMES",
        listing,
        "",
        doc="The maps that userMap() finds in a daemon's expressions; TOOL_ and SUBMIT_ for tools.",
    )
    CLASSAD_USER_MAPFILE = family(
        "CLASSAD_USER_MAPFILE_{name}",
        path,
        "",
        doc="The file of a map for userMap(): lines of *, a user or /expression/, and its names.",
    )
    CLASSAD_USER_MAPDATA = family(
        "CLASSAD_USER_MAPDATA_{name}",
        string,
        "",
        doc="The lines of a map for userMap() that has no CLASSAD_USER_MAPFILE_.",
    )
    CLASSAD_USER_MAP_PREFIX = family(
        "CLASSAD_USER_MAP_PREFIX_{name}",
        boolean,
        "false",
        doc="Whether the second words of a map for userMap() are how a user begins.",
    )
    SUBSYS_ATTRS = family(
        "{subsys}_ATTRS",
        listing,
        "",
        doc="Names of configuration entries that a daemon puts into its ad.",
    )
