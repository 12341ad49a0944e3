"""The codes that daemons end with, which their masters, tools and service managers read."""

from __future__ import annotations

EXIT_OK = 0
EXIT_FAILURE = 1
EXIT_BAD_CONFIGURATION = 44
# A daemon that leaves with this one asks not to be started again (the reference's own number).
EXIT_NO_RESTART = 99

# What a daemon says by its code: one that may have no log to tell it in, and one that asks for
# rest, in the words that programs look for.
REASONS = {
    EXIT_BAD_CONFIGURATION: (
        "its configuration or its log file is not right, as it says on its standard error"
    ),
    EXIT_NO_RESTART: "daemon will not restart automatically",
}
