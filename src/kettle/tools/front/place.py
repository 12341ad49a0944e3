"""Which pool a `kettle` subcommand means, and how to speak to it.

The folder comes from --dir, else $KETTLE_DIR, else the default folder. What a pool in a folder is
and does is `kettle.pool`'s.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kettle.config import Config, load_config
from kettle.errors import ConfigError, KettleError, NotFoundError, StorageError
from kettle.pool.folder import SYSTEM_FOLDER, default_folder
from kettle.pool.personal import PersonalPool
from kettle.runtime.storage.files import RememberingSources
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach
from kettle.wire.commands import Command

# How long a daemon of one's own pool may take to answer before it counts as silent.
ANSWER_SECONDS = 5.0


def add_folder_option(parser: argparse.ArgumentParser) -> None:
    """Give a subcommand the options that say which pool it means."""
    add_folder(parser)
    parser.add_argument(
        "--system",
        dest="dir",
        action=_SystemFolder,
        help=f"the pool of the whole machine, in {SYSTEM_FOLDER}",
    )


class _SystemFolder(argparse.Action):
    """Means the machine's pool, but leaves a folder that --dir names, wherever that stands."""

    def __init__(self, option_strings: Sequence[str], dest: str, **settings: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, **settings)

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, *_: object
    ) -> None:
        """Choose the folder unless one is chosen."""
        del parser
        if getattr(namespace, self.dest) is None:
            setattr(namespace, self.dest, SYSTEM_FOLDER)


def add_folder(parser: argparse.ArgumentParser) -> None:
    """Give a subcommand --dir alone."""
    parser.add_argument(
        "--dir",
        metavar="D",
        help="the pool's folder (default: $KETTLE_DIR, else the XDG state folder)",
    )


def choose_folder(given: str | None, environment: Mapping[str, str]) -> Path:
    """Return the folder that is meant."""
    return Path(given) if given else Path(default_folder(environment))


def open_pool(given: str | None, environment: Mapping[str, str]) -> PersonalPool:
    """Return the pool that is meant, whether it exists or not."""
    return PersonalPool(str(choose_folder(given, environment)), environment=environment)


def pool_environment(given: str | None, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment in which tools address the pool that is meant.

    A pool named by --dir or $KETTLE_DIR is that one; else a CONDOR_CONFIG that is set already wins,
    so that the subcommands serve any pool; else the default folder's pool, which must be up.
    """
    if is_configured(given, environment):
        return dict(environment)
    pool = open_pool(given, environment)
    if not pool.exists():
        raise missing_pool(pool)
    if not pool.is_up():
        raise NotFoundError(f"the pool in {pool.folder} is not up", hint="kettle up")
    return {**environment, "CONDOR_CONFIG": pool.config_file}


def missing_pool(pool: PersonalPool) -> KettleError:
    """Return what to say where no pool is found in a folder: none is there, or we may not look."""
    try:
        with open(pool.config_file, "rb"):
            pass
    except (FileNotFoundError, NotADirectoryError):
        if pool.master_pid() is not None:
            return NotFoundError(
                f"the pool in {pool.folder} is up, and its condor_config is gone",
                hint="kettle down, and kettle up with the options that it was made with",
            )
    except OSError as error:
        return StorageError(f"{pool.config_file} cannot be read: {error.strerror}")
    return NotFoundError(f"there is no pool in {pool.folder}", hint="kettle up makes one")


def reach_pool(given: str | None, environment: Mapping[str, str]) -> Reach:
    """Return connections to the pool that is meant."""
    return Reach(pool_environment(given, environment))


def reach_queue(given: str | None, environment: Mapping[str, str]) -> Reach:
    """Return connections to the pool that is meant; NotFoundError if there is no queue to ask."""
    reach = reach_pool(given, environment)
    if not has_queue(reach):
        raise NotFoundError(
            "this machine runs jobs for its pool and has no schedd of its own",
            hint="ask on the machine where the job was submitted",
        )
    return reach


def has_queue(reach: Reach) -> bool:
    """Whether there is a queue to ask: not on a machine that only runs jobs for its pool."""
    daemons = {word.upper() for word in reach.config.words("DAEMON_LIST")}
    return "STARTD" not in daemons or bool(daemons & {"SCHEDD", "COLLECTOR"})


def is_configured(given: str | None, environment: Mapping[str, str]) -> bool:
    """Whether CONDOR_CONFIG says which pool is meant, because nothing else does."""
    return not given and "KETTLE_DIR" not in environment and "CONDOR_CONFIG" in environment


def read_configuration(
    given: str | None,
    environment: Mapping[str, str],
    tell: Callable[[ConfigError], object] | None = None,
) -> tuple[str, Config | None]:
    """Return which files make up the configuration, and it; none where there is no pool yet.

    Raises ConfigError if a line of it is wrong, but where `tell` hears of those.
    """
    if not is_configured(given, environment):
        pool = open_pool(given, environment)
        if not pool.exists():
            return "no pool yet; kettle up makes a configuration", None
        environment = {**environment, "CONDOR_CONFIG": pool.config_file}
    if tell is None:
        config = Reach(environment).config
    else:
        config = load_config(RememberingSources(), environment, tell=tell)
    if not config.files:
        return "no file, only the environment", config
    number = f"{len(config.files)} file{'s' if len(config.files) != 1 else ''}"
    return f"{number}, beginning with {config.files[0]}", config


def find_missing(given: str | None, environment: Mapping[str, str]) -> dict[str, str]:
    """Return what is wrong with daemons of the pool that are not as they should be, by their name.

    Those of DAEMON_LIST that the collector knows nothing of, and those that do not answer within
    ANSWER_SECONDS. Raises the error if there is no pool, or its collector does not answer.
    """
    from kettle.client.daemon import ping
    from kettle.client.pool import KINDS

    reach = reach_pool(given, environment)
    wrong = {}
    wanted = re.split(r"[,\s]+", (reach.config.get("DAEMON_LIST") or "").strip().lower())
    for name in wanted:
        kind = KINDS.get(name)
        if kind is None:
            continue
        try:
            found = reach.pool.locate(kind)
            ping(reach.connector, found.address, Command.DC_NOP, timeout=ANSWER_SECONDS)
        except NotFoundError:
            wrong[name] = "is not there"
        except KettleError as error:
            wrong[name] = f"does not answer ({error})"
    return wrong


def may_colour(environment: Mapping[str, str], streams: Streams) -> bool:
    """Whether the output may have colours: a terminal, and nobody said NO_COLOR."""
    return not environment.get("NO_COLOR") and streams.stdout.isatty()
