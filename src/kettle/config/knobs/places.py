"""Knobs of folders, programs and files every program uses: a pure table."""

from kettle.config.knob import boolean, path, string


class PlaceKnobs:
    """Knobs of folders, programs and files every program uses."""

    BIN = path("$(RELEASE_DIR)/bin", doc="Known path; no part of Kettle acts on it yet.")
    ETC = path("$(LOCAL_DIR)", doc="Known path; no part of Kettle acts on it yet.")
    INCLUDE = path("$(RELEASE_DIR)/include", doc="Known path; no part of Kettle acts on it yet.")
    LIB = path("$(RELEASE_DIR)/lib", doc="Known path; no part of Kettle acts on it yet.")
    LIBEXEC = path("$(RELEASE_DIR)/libexec", doc="Known path; no part of Kettle acts on it yet.")
    LOCALNAME = string("", doc="Known text; no part of Kettle acts on it yet.")
    LOCAL_CONFIG_DIR = path("", doc="Known path; no part of Kettle acts on it yet.")
    LOCAL_CONFIG_DIR_EXCLUDE_REGEXP = string(
        (
            "^((\\..*)|(.*\\.pl)|(.*\\.py)|(.*\\.sh)|(.*~)|(#.*)|(.*\\.rpmsave)|(.*\\.rpmnew)|"
            "(.*\\.dpkg-old)|(.*\\.dpkg-dist)|(.*\\.cfsaved))$"
        ),
        doc="Known text; no part of Kettle acts on it yet.",
    )
    LOCAL_CONFIG_FILE = path("", doc="Known path; no part of Kettle acts on it yet.")
    LOCAL_DIR = path("$(TILDE)", doc="Known path; no part of Kettle acts on it yet.")
    LOCK = path("$(LOG)", doc="Known path; no part of Kettle acts on it yet.")
    LOG = path("$(LOCAL_DIR)/log", doc="Known path; no part of Kettle acts on it yet.")
    RELEASE_DIR = path("/usr", doc="Known path; no part of Kettle acts on it yet.")
    REQUIRE_LOCAL_CONFIG_FILE = boolean(
        "true",
        doc="Known and checked as a truth value; no part of Kettle acts on it yet.",
    )
    RUN = path("$(LOCK)", doc="Known path; no part of Kettle acts on it yet.")
    SBIN = path("$(RELEASE_DIR)/sbin", doc="Known path; no part of Kettle acts on it yet.")
    SPOOL = path("$(LOCAL_DIR)/spool", doc="Known path; no part of Kettle acts on it yet.")
    SUBSYSTEM = string("", doc="Known text; no part of Kettle acts on it yet.")
    TEMP_DIR = path("", doc="Known path; no part of Kettle acts on it yet.")
    TMP_DIR = path("", doc="Known path; no part of Kettle acts on it yet.")
    USER_CONFIG_FILE = path("user_config", doc="Known path; no part of Kettle acts on it yet.")
