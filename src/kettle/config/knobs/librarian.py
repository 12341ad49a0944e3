"""Knobs of the history database: a pure table."""

from kettle.config.knob import boolean, integer, listing, path, real, seconds, size
from kettle.config.ranges import COUNT, LONG, OR_NONE


class LibrarianKnobs:
    """Knobs of the history database."""

    LIBRARIAN = path(
        "$(SBIN)/condor_librarian",
        doc="Known path.",
        unread=True,
    )
    LIBRARIAN_DATABASE = path(
        "$(SPOOL)/library.db",
        doc="Known path.",
        unread=True,
    )
    LIBRARIAN_DATABASE_BUSY_TIMEOUT_MS = seconds(
        "30000",
        within=COUNT,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    LIBRARIAN_DEBUG = listing("", doc="Known list of words.", unread=True)
    LIBRARIAN_GC_BACKOFF_SECONDS = seconds(
        "1800",
        within=COUNT,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    LIBRARIAN_HIGH_WATER_MARK = real(
        "0.97",
        doc="Known and checked as a real number.",
        unread=True,
    )
    LIBRARIAN_LOG = path("$(LOG)/LibrarianLog", doc="Known path.", unread=True)
    LIBRARIAN_LOW_WATER_MARK = real(
        "0.8",
        doc="Known and checked as a real number.",
        unread=True,
    )
    LIBRARIAN_MAX_DATABASE_SIZE = integer(
        "2 * 1024 * 1024 * 1024",
        within=LONG,
        doc="Known and checked as a number.",
        unread=True,
    )
    LIBRARIAN_MAX_JOBS_CACHED = integer(
        "10000",
        doc="Known and checked as a number.",
        unread=True,
    )
    LIBRARIAN_MAX_UPDATES_PER_CYCLE = integer(
        "100000",
        within=LONG,
        doc="Known and checked as a number.",
        unread=True,
    )
    LIBRARIAN_STATUS_RETENTION_SECONDS = seconds(
        "300",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    LIBRARIAN_UPDATE_INTERVAL = seconds(
        "5",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    MAX_LIBRARIAN_LOG = size(
        "$(MAX_DEFAULT_LOG)",
        doc="Known text.",
        unread=True,
    )
    USING_LIBRARIAN = boolean(
        "False",
        doc="Known and checked as a truth value.",
        unread=True,
    )
