"""`kettle up`: make and start a pool in a folder; ready when the command returns."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from kettle.config import load_config
from kettle.config.declared import check_values, find_slips
from kettle.errors import ConfigError, KettleError, NotFoundError, UsageError
from kettle.pool.personal import SYSTEM_FOLDER, PersonalPool
from kettle.runtime.files import SystemSources
from kettle.tools.front import place
from kettle.tools.programs import Streams


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of `kettle up`."""
    parser = argparse.ArgumentParser(
        description="Start a personal pool. When the command returns, a submit would run at once.",
        epilog="Your own settings go into the folder config.d of the pool; after a change of "
        "them, 'kettle down' and 'kettle up', or condor_reconfig.",
    )
    place.add_folder(parser)
    parser.add_argument(
        "--system",
        action="store_true",
        help="the pool of the whole machine, for everybody on it: root starts it, and its daemons "
        f"run as the account condor; in {SYSTEM_FOLDER} unless --dir says otherwise",
    )
    parser.add_argument(
        "--config",
        metavar="FILE",
        action="append",
        default=[],
        help="a file of settings for the pool; may be given again, later ones win",
    )
    parser.add_argument("--json", action="store_true", help="print what was done as JSON")
    return parser


def run(arguments: argparse.Namespace, environment: Mapping[str, str], streams: Streams) -> int:
    """Start the pool, or say that it is up already."""
    began = time.monotonic()
    text = read_settings(arguments.config)
    pool = PersonalPool(
        str(place.choose_folder(_named_folder(arguments), environment)),
        configuration=text,
        environment=environment,
        system=arguments.system,
    )
    if arguments.system and pool.exists() and not pool.is_system():
        raise UsageError(f"{pool.folder} holds a personal pool", hint="name another with --dir")
    was_up = pool.master_pid() is not None
    check_settings(arguments.config, environment, streams)
    if arguments.config:
        pool.configure(text)
    existed = pool.exists()
    pool.make()
    try:
        pool.start()
    except KettleError:
        if not existed:
            # Nothing half done: what was made for a pool that does not start goes again.
            pool.stop(how="fast")
            pool.purge()
        raise
    seconds = time.monotonic() - began
    if arguments.json:
        facts = {
            "folder": pool.folder,
            "config": pool.config_file,
            "master": pool.master_pid(),
            "started": not was_up,
            "seconds": round(seconds, 3),
        }
        streams.stdout.write(json.dumps(facts) + "\n")
        return 0
    if was_up:
        streams.stdout.write(f"The pool in {pool.folder} is up.\n")
        return 0
    streams.stdout.write(f"The pool in {pool.folder} is up ({seconds:.1f} s).\n")
    option = _option(arguments)
    streams.stdout.write(
        f'To use it from this shell:  eval "$(kettle env{option})"\n'
        f"To stop it:                 kettle down{option}\n"
    )
    return 0


def _named_folder(arguments: argparse.Namespace) -> str | None:
    """Return the folder that the command line names, by --dir or by --system."""
    folder: str | None = arguments.dir
    return folder or (SYSTEM_FOLDER if arguments.system else None)


def _option(arguments: argparse.Namespace) -> str:
    """Return the option by which other subcommands find this pool."""
    if arguments.dir:
        return f" --dir {arguments.dir}"
    return " --system" if arguments.system else ""


def check_settings(paths: Sequence[str], environment: Mapping[str, str], streams: Streams) -> None:
    """Raise ConfigError, naming file and line, if one of the files is wrong; warn of slips."""
    for path in paths:
        try:
            config = load_config(SystemSources(), environment, subsystem="MASTER", root=path)
            check_values(config)
        except ConfigError as error:
            where = f"{error.source or path}, line {error.line}" if error.line else path
            text = error.message.partition("\n")[2] or error.message
            shown = text if text.startswith(where) else f"{where}: {text}"
            raise ConfigError(shown, hint=error.hint) from None
        for name, where, near in find_slips(config):
            streams.stderr.write(f"{where}: nothing reads {name}; did you mean {near}?\n")


def read_settings(paths: Sequence[str]) -> str:
    """Return the texts of the files, one after the other; NotFoundError names a missing one."""
    parts = []
    for path in paths:
        try:
            text = Path(path).read_text(encoding="utf-8")
        except FileNotFoundError:
            raise NotFoundError(f"there is no file {path}") from None
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{path} cannot be read: {error}") from None
        parts.append(f"# From {Path(path).absolute()}\n{text.rstrip()}\n")
    return "\n".join(parts)
