"""What the configuration says of a daemon's log: its file, its verbosity, its limits.

Read for one subsystem: <SUBSYS>_LOG, <SUBSYS>_DEBUG with ALL_DEBUG, MAX_<SUBSYS>_LOG,
MAX_NUM_<SUBSYS>_LOG, TRUNC_<SUBSYS>_LOG_ON_OPEN, DEBUG_TIME_FORMAT. <SUBSYS>_<CATEGORY>_LOG is a
file of its own for the lines of one category (NEGOTIATOR_MATCH_LOG has D_MATCH), with knobs after
the same pattern; a reconfiguration opens, turns and closes these. What is done with
them is `logs`'.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from kettle.config import Config
from kettle.config.knobs.log import LogKnobs
from kettle.errors import StorageError
from kettle.runtime.arguments import DaemonArguments
from kettle.runtime.logs import Log, Verbosity, parse_limit, parse_verbosity

# The categories that lines of ours have, and so may have files of their own.
CATEGORIES = ("COMMAND", "ERROR", "JOB", "MATCH", "NETWORK", "SECURITY")
# Subsystems whose knobs of old have another word.
_OLD_NAMES = {"SCHEDD": "SCHED", "STARTD": "START"}


@dataclass(frozen=True, slots=True)
class LogSettings:
    """How a subsystem's log is written; `limit` is (bytes, 0) or (0, seconds)."""

    verbosity: Verbosity
    limit: tuple[int, int]
    keep: int
    truncate: bool
    time_format: str

    def apply(self, log: Log) -> None:
        """Have an open log follow these settings from now on."""
        log.configure(
            verbosity=self.verbosity,
            limit=self.limit,
            keep=self.keep,
            time_format=self.time_format,
        )


def read_log_settings(config: Config, subsystem: str) -> LogSettings:
    """Take a subsystem's settings from a configuration."""
    keep = config.integer(f"MAX_NUM_{subsystem}_LOG")
    names = {subsystem, _OLD_NAMES.get(subsystem, subsystem)}
    return LogSettings(
        verbosity=parse_verbosity(
            "D_TIMESTAMP" if config.boolean("LOGS_USE_TIMESTAMP") else None,
            config.get("ALL_DEBUG"),
            config.get("DEFAULT_DEBUG"),
            config.get(f"{subsystem}_DEBUG"),
        ),
        limit=parse_limit(config.get(f"MAX_{subsystem}_LOG") or config.get("MAX_DEFAULT_LOG")),
        keep=1 if keep is None else max(0, keep),
        truncate=any(config.boolean(f"TRUNC_{name}_LOG_ON_OPEN") for name in names),
        time_format=config[LogKnobs.DEBUG_TIME_FORMAT],
    )


def open_log(
    config: Config, arguments: DaemonArguments, subsystem: str, *, needed: bool = True
) -> Log:
    """Open <SUBSYS>_LOG as the configuration says; standard error with -t or without a name.

    StorageError if one that is `needed` cannot be opened; another one says why (`Log.trouble`).
    """
    path = None if arguments.log_to_terminal else config.get(f"{subsystem}_LOG")
    if path is not None:
        if arguments.log_folder:
            path = os.path.join(arguments.log_folder, os.path.basename(path))
        if arguments.log_extension:
            path = f"{path}.{arguments.log_extension}"
    settings = read_log_settings(config, subsystem)
    try:
        log = Log(path, truncate=settings.truncate, needed=needed)
    except OSError as error:
        raise StorageError(f"cannot open the log {path}: {error.strerror}") from error
    settings.apply(log)
    _follow_asides(log, config, subsystem)
    return log


def configure_log(log: Log, config: Config) -> None:
    """Take verbosity, rotation and the files of categories of the configuration's own subsystem."""
    read_log_settings(config, config.subsystem).apply(log)
    _follow_asides(log, config, config.subsystem)


def _follow_asides(log: Log, config: Config, subsystem: str) -> None:
    """Have single categories write where the configuration says, from now on.

    One that cannot be opened is no reason not to begin, or to go on.
    """
    if log.path is None:
        return
    for category in CATEGORIES:
        name, path = f"D_{category}", config.get(f"{subsystem}_{category}_LOG")
        if path:
            # Compat: the reference takes a name without a folder from where the daemon stands,
            # which is LOG (test_a_category_has_a_file_of_its_own).
            path = os.path.join(os.path.dirname(log.path), path)
            _follow_aside(log, config, subsystem, category, path)
        elif name in log.asides:
            log.asides.pop(name).close()


def _follow_aside(log: Log, config: Config, subsystem: str, category: str, path: str) -> None:
    """Have a category write into a file from now on."""
    aside = log.asides.get(f"D_{category}")
    if aside is not None:
        aside.turn_to(path)
    else:
        aside = _open_aside(log, config, f"{subsystem}_{category}", path)
    if aside is not None:
        log.asides[f"D_{category}"] = aside
        _configure_aside(aside, config, subsystem, category)


def _open_aside(log: Log, config: Config, name: str, path: str) -> Log | None:
    """Open the file of a category; None, and a line in the log, if that cannot be."""
    try:
        with log.privileged():
            aside = Log(path, truncate=bool(config.boolean(f"TRUNC_{name}_LOG_ON_OPEN")))
    except OSError as error:
        log.problem(f"cannot open the log {path}: {error.strerror}")
        return None
    aside.privileged = log.privileged
    return aside


def _configure_aside(aside: Log, config: Config, subsystem: str, category: str) -> None:
    whole = read_log_settings(config, subsystem)
    own = read_log_settings(config, f"{subsystem}_{category}")
    replace(own, verbosity=whole.verbosity).apply(aside)
