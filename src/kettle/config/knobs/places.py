"""Knobs of folders, programs and files every program uses: a pure table."""

from kettle.config.knob import boolean, path, place, string


class PlaceKnobs:
    """Knobs of folders, programs and files every program uses."""

    BIN = place("$(RELEASE_DIR)/bin", doc="Where the tools are.")
    CONDOR_HOST = string(
        None, doc="The host of the central manager, for other settings to mention."
    )
    CONDOR_IDS = string(
        None,
        doc="User and group, numbers with a dot, of daemons started by root; empty for condor's.",
    )
    ETC = place("$(LOCAL_DIR)", doc="Where configuration, passwords and tokens are.")
    INCLUDE = place("$(RELEASE_DIR)/include", doc="Where header files are.")
    LIB = place("$(RELEASE_DIR)/lib", doc="Known path, for other settings to mention.")
    LIBEXEC = place("$(RELEASE_DIR)/libexec", doc="Where programs are that only daemons start.")
    LOCALNAME = string("", doc="The name of this instance, by default the subsystem's.")
    LOCAL_CONFIG_DIR = path(
        "", doc="Folders whose files are read after the first file, in lexical order."
    )
    LOCAL_CONFIG_DIR_EXCLUDE_REGEXP = string(
        (
            "^((\\..*)|(.*\\.pl)|(.*\\.py)|(.*\\.sh)|(.*~)|(#.*)|(.*\\.rpmsave)|(.*\\.rpmnew)|"
            "(.*\\.dpkg-old)|(.*\\.dpkg-dist)|(.*\\.cfsaved))$"
        ),
        doc="Names in those folders that are not read.",
    )
    LOCAL_CONFIG_FILE = path(
        "", doc="Files that are read after those folders; a name that ends in `|` is a command."
    )
    LOCAL_DIR = place(
        "$(TILDE)", doc="The folder that holds everything that belongs to this machine."
    )
    LOCK = place("$(LOG)", doc="Where lock files are.")
    LOG = place("$(LOCAL_DIR)/log", doc="Where daemons write their logs.")
    RELEASE_DIR = place("/usr", doc="Known path, for other settings to mention.")
    REQUIRE_LOCAL_CONFIG_FILE = boolean(
        "true",
        doc="Whether a missing local configuration file is an error.",
    )
    RUN = place("$(LOCK)", doc="Where sockets and pid files are.")
    SBIN = place("$(RELEASE_DIR)/sbin", doc="Where the daemons' programs are.")
    SPOOL = place("$(LOCAL_DIR)/spool", doc="Where the job queue, histories and spooled files are.")
    SUBSYSTEM = string("", doc="The kind of program that reads the configuration.")
    TEMP_DIR = place("", doc="Known path, for other settings to mention.")
    TMP_DIR = place("", doc="Known path, for other settings to mention.")
    USER_CONFIG_FILE = path("user_config", doc="A person's own configuration file in `~/.condor`.")
