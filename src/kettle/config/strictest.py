"""What counts for a knob that forbids something, or limits it, where nobody can read its value.

Whoever is at work goes on with the value from before. Where there was none that could be read, the
default of such a knob may allow what the administrator meant to forbid: then the answer is the one
that allows least. Only the names of knobs that restrict are here; all others have their defaults.
"""

from __future__ import annotations

import re

from kettle.levels import CONFIGURED

# An entry of a list of who may do something, which nobody is.
_NOBODY = "*/0.0.0.0"

_STRICTEST = {
    # Who may do what, and who is believed to be whom.
    "ALLOW_ADMIN_COMMANDS": "false",
    "ALLOW_SUBMIT_FROM_KNOWN_USERS_ONLY": "true",
    "AUTH_SSL_ALLOW_CLIENT_PROXY": "false",
    "AUTH_SSL_REQUIRE_CLIENT_CERTIFICATE": "true",
    "AUTH_SSL_REQUIRE_CLIENT_MAPPING": "true",
    "DISABLE_AUTHENTICATION_IP_CHECK": "false",
    "ENABLE_PERSISTENT_CONFIG": "false",
    "ENABLE_RUNTIME_CONFIG": "false",
    "ENCRYPT_SECRETS": "true",
    "FS_ALLOW_UNSAFE": "false",
    "FS_ROOT_TO_CONDOR": "false",
    "QUEUE_ALL_USERS_TRUSTED": "false",
    "SEC_ACCEPT_CAPABILITY_TOKENS": "false",
    "SEC_DEBUG_PRINT_KEYS": "false",
    "SEC_ENABLE_IMPERSONATION_TOKENS": "false",
    "SEC_ENABLE_MATCH_PASSWORD_AUTHENTICATION": "false",
    "SEC_ENABLE_REMOTE_ADMINISTRATION": "false",
    "SEC_ENABLE_TOKEN_FETCH": "false",
    "SEC_ENABLE_TOKEN_REQUEST": "false",
    "SEC_TOKEN_MAX_AGE": "1",
    "TRUST_UID_DOMAIN": "false",
    "USE_POOL_USERNAME_EQUIVALENT": "false",
    # What a job may do where it runs, and how much of it.
    "ALLOW_TRANSFER_REMAP_TO_MKDIR": "false",
    "CGROUP_MEMORY_LIMIT_POLICY": "hard",
    "DISABLE_SWAP_FOR_JOB": "true",
    "ENABLE_CHIRP": "false",
    "ENABLE_CHIRP_DELAYED": "false",
    "ENABLE_CHIRP_IO": "false",
    "ENABLE_CHIRP_UPDATES": "false",
    "ENABLE_SSH_TO_JOB": "false",
    "ENABLE_URL_TRANSFERS": "false",
    "JOB_DISK_LIMIT_POLICY": "hard",
    "JOB_INHERITS_STARTER_ENVIRONMENT": "false",
    "JOB_MEMORY_LIMIT_POLICY": "hard",
    "MAX_TRANSFER_INPUT_MB": "0",
    "MAX_TRANSFER_OUTPUT_MB": "0",
    "MOUNT_PRIVATE_DEV_SHM": "true",
    "PER_JOB_NAMESPACES": "true",
    "RUN_FILETRANSFER_PLUGINS_WITH_ROOT": "false",
    "SHADOW_RUN_UNKNOWN_USER_JOBS": "false",
    "STARTD_ENFORCE_DISK_LIMITS": "true",
    "STARTER_ALLOW_JOB_PRE_AND_POST_CMD": "false",
    "STARTER_ALLOW_RUNAS_OWNER": "false",
    "USE_PID_NAMESPACES": "true",
    # Which jobs begin.
    "MAX_JOBS_PER_OWNER": "1",
    "MAX_JOBS_PER_SUBMISSION": "1",
    "MAX_JOBS_RUNNING": "1",
    "MAX_JOBS_SUBMITTED": "1",
    "START": "false",
    "START_LOCAL_UNIVERSE": "false",
    "START_SCHEDULER_UNIVERSE": "false",
}

_LEVEL = f"(?:{'|'.join(CONFIGURED)})"
_FAMILIES = (
    (re.compile(rf"ALLOW_{_LEVEL}(_\w+)?"), _NOBODY),
    (re.compile(rf"DENY_{_LEVEL}(_\w+)?"), "*"),
    (re.compile(rf"SEC_{_LEVEL}_(AUTHENTICATION|ENCRYPTION|INTEGRITY|NEGOTIATION)"), "REQUIRED"),
    (re.compile(rf"SEC_{_LEVEL}_AUTHENTICATION_METHODS"), "FS"),
)


def strictest(name: str) -> str | None:
    """Return the text that allows least for a knob, None for one that restricts nothing."""
    key = name.upper()
    found = _STRICTEST.get(key)
    if found is not None:
        return found
    return next((text for pattern, text in _FAMILIES if pattern.fullmatch(key)), None)
