"""`kettle up`: make and start a pool in a folder; ready when the command returns.

By default the pool is one machine; with --host others may join it, with --join this machine joins
another's. What keeps it out there is found by `pool.joining`.
"""

from __future__ import annotations

import argparse
import json
import shlex
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from kettle.config import Sources, load_config
from kettle.config.check import broken_config
from kettle.config.declared import check_values, find_slips
from kettle.errors import ConfigError, NotFoundError, UsageError
from kettle.pool import joining
from kettle.pool.folder import SYSTEM_FOLDER
from kettle.pool.location import Centre, Member, Role, join_endpoint, parse_endpoint
from kettle.pool.making import has_lost_configuration
from kettle.pool.personal import PersonalPool
from kettle.pool.readiness import Tells
from kettle.pool.settings import GIVEN_FROM
from kettle.pool.turns import turn_in
from kettle.runtime.machine_facts import read_machine_facts
from kettle.runtime.sockets.addresses import DEFAULT_PORT
from kettle.runtime.sockets.host_names import is_own_address
from kettle.runtime.storage.files import RememberingSources
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
    several = parser.add_argument_group("several machines")
    several.add_argument(
        "--host",
        metavar="ADDRESS[:PORT]",
        nargs="?",
        const="",
        help="let other machines join: listen at this address (default: the one of the default "
        "route), the collector at port 9618 or PORT; 'kettle token' lets a machine in",
    )
    several.add_argument(
        "--join",
        metavar="HOST[:PORT]",
        help="be a machine of the pool whose collector is there, Kettle's or HTCondor's",
    )
    several.add_argument("--token-file", metavar="F", help="the token that lets this machine in")
    several.add_argument(
        "--role",
        choices=[role.value for role in Role],
        help="run jobs (execute, the default), submit them, or both",
    )
    several.add_argument("--name", metavar="NAME", help="its name in the pool, if not the host's")
    several.add_argument(
        "--behind-firewall",
        action="store_true",
        help="nobody can connect to this machine: it is called back through the collector",
    )
    parser.add_argument("--json", action="store_true", help="print what was done as JSON")
    return parser


def run(arguments: argparse.Namespace, environment: Mapping[str, str], streams: Streams) -> int:
    """Start the pool, or say that it is up already."""
    began = time.monotonic()
    sources = RememberingSources()
    text = read_settings(arguments.config, sources) if arguments.config else None
    check_options(arguments)
    location, offered = choose_location(arguments)
    if offered is not None and offered.is_open:
        streams.stderr.write(
            f"others can read {offered.path}, and may join in this machine's place: "
            f"chmod 600 {shlex.quote(offered.path)}\n"
        )
    pool = PersonalPool(
        str(place.choose_folder(_named_folder(arguments), environment)),
        environment=environment,
        system=arguments.system,
        location=location,
    )
    if arguments.system and pool.exists() and not pool.is_system():
        raise UsageError(f"{pool.folder} holds a personal pool", hint="name another with --dir")
    check_settings(arguments.config, sources, environment, streams)
    troubles: list[str] = []
    losses: list[str] = []
    with turn_in(pool.folder):
        was_up = _bring_up(pool, text, location, offered, troubles.append, losses.append)
    seconds = time.monotonic() - began
    for loss in losses:
        streams.stderr.write(f"{loss}\n")
    for trouble in troubles:
        streams.stderr.write(f"no job can run on this machine: {trouble}\n")
    if arguments.json:
        facts = {
            "folder": pool.folder,
            "config": pool.config_file,
            "master": pool.master_pid(),
            "started": not was_up,
            "seconds": round(seconds, 3),
            "trouble": troubles,
        }
        streams.stdout.write(json.dumps(facts) + "\n")
        return 0
    if was_up:
        streams.stdout.write(f"The pool in {pool.folder} is up.\n")
        return 0
    streams.stdout.write(f"The pool in {pool.folder} is up ({seconds:.1f} s).\n")
    option = _option(arguments)
    streams.stdout.write(describe_location(pool))
    streams.stdout.write(
        f'To use it from this shell:  eval "$(kettle env{option})"\n'
        f"To stop it:                 kettle down{option}\n"
    )
    return 0


def _bring_up(
    pool: PersonalPool,
    settings: str | None,
    location: Centre | Member | None,
    offered: joining.Offered | None,
    tell_trouble: Tells,
    tell_loss: Tells,
) -> bool:
    """Make the pool and start it; return whether it was up already."""
    if isinstance(location, Member) and offered is None:
        offered = read_kept_token(pool)
    was_up = pool.master_pid() is not None
    if settings is not None or location is not None:
        pool.configure(settings)
    existed = pool.exists()
    if not existed and has_lost_configuration(pool.folder):
        existed = True
        tell_loss(
            f"the condor_config of the pool in {pool.folder} is gone, and is written anew: what it "
            "said beyond this command line is lost"
        )
    pool.make()
    try:
        if offered is not None and not was_up:
            joining.keep_token(pool, offered)
            joining.ask_for_admission(pool, offered)
        elif isinstance(pool.location, Member) and not was_up:
            joining.check_still_admitted(pool, time.time())
        pool.start(tell_trouble=tell_trouble if existed or _has_others(pool) else None)
    except BaseException:
        if not existed:
            # Nothing half done: what was made for a pool that does not start goes, but for its
            # logs, if it has any.
            pool.discard()
        raise
    return was_up


def _has_others(pool: PersonalPool) -> bool:
    """Whether other machines may run what is submitted on this one."""
    location = pool.location
    if isinstance(location, Member):
        return location.role is not Role.EXECUTE
    return isinstance(location, Centre)


def read_kept_token(pool: PersonalPool) -> joining.Offered:
    """Return the token that a member was made with; UsageError if there was none yet."""
    try:
        return joining.read_token_file(joining.token_path(pool), time.time())
    except NotFoundError:
        raise UsageError(
            "--join needs --token-file F, the token that lets this machine in",
            hint="kettle token, on the central manager, makes one",
        ) from None


def _named_folder(arguments: argparse.Namespace) -> str | None:
    """Return the folder that the command line names, by --dir or by --system."""
    folder: str | None = arguments.dir
    return folder or (SYSTEM_FOLDER if arguments.system else None)


def _option(arguments: argparse.Namespace) -> str:
    """Return the option by which other subcommands find this pool."""
    if arguments.dir:
        return f" --dir {shlex.quote(arguments.dir)}"
    return " --system" if arguments.system else ""


def describe_location(pool: PersonalPool) -> str:
    """Return a line for a pool of several machines, empty for others."""
    location = pool.location
    if isinstance(location, Centre):
        where = join_endpoint(location.address, location.port)
        return f"Others join it with:         kettle up --join {where} --token-file F\n"
    if isinstance(location, Member):
        where = join_endpoint(location.address, location.port)
        way = ", called back through its collector" if location.walled else ""
        return f"It is a member of the pool at {where}, for {location.role}{way}.\n"
    return ""


def check_options(arguments: argparse.Namespace) -> None:
    """Raise UsageError for options that do not go together."""
    if arguments.host is not None and arguments.join:
        raise UsageError("--host makes a pool and --join enters another's: use one of them")
    if arguments.join:
        return
    for option in ("token_file", "role", "name", "behind_firewall"):
        if getattr(arguments, option):
            word = option.replace("_", "-")
            raise UsageError(f"--{word} says how to join a pool", hint="use it with --join HOST")


def choose_location(
    arguments: argparse.Namespace,
) -> tuple[Centre | Member | None, joining.Offered | None]:
    """Return where the pool is to stand (None: as it stood, else alone), and the token given."""
    if arguments.host is not None:
        own = address = read_machine_facts()["IP_ADDRESS"]
        port = DEFAULT_PORT
        if arguments.host:
            address, port = parse_endpoint(arguments.host)
        if not is_own_address(address):
            raise UsageError(
                f"{address} is no address of this machine",
                hint=f"names are not looked up; give one that others reach, such as {own}",
            )
        return Centre(address, port), None
    if not arguments.join:
        return None, None
    offered = None
    if arguments.token_file:
        offered = joining.read_token_file(arguments.token_file, time.time())
    host, port = parse_endpoint(arguments.join)
    interface, manager = joining.find_way(host, port)
    walled = arguments.behind_firewall or joining.is_evidently_walled(interface, manager)
    role = Role(arguments.role or Role.EXECUTE)
    return Member(host, port, role, interface, arguments.name or "", walled), offered


def check_settings(
    paths: Sequence[str], sources: Sources, environment: Mapping[str, str], streams: Streams
) -> None:
    """Raise ConfigError, naming file and line, if one of the files is wrong; warn of slips."""
    for path in paths:
        try:
            config = load_config(sources, environment, subsystem="MASTER", root=path)
            check_values(config)
        except ConfigError as error:
            found = broken_config(error)
            where = f"{found.source or path}, line {found.line}" if found.line else path
            shown = found.sentence
            if not shown.startswith(where):
                shown = f"{where}: {shown}"
            raise ConfigError(shown, hint=found.hint) from None
        for name, where, near in find_slips(config):
            streams.stderr.write(f"{where}: nothing reads {name}; did you mean {near}?\n")


def read_settings(paths: Sequence[str], sources: Sources) -> str:
    """Return the texts of the files, one after the other; NotFoundError names a missing one."""
    parts = []
    for path in paths:
        try:
            text = sources.read_text(path)
        except FileNotFoundError:
            raise NotFoundError(f"there is no file {path}") from None
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}") from None
        parts.append(f"{GIVEN_FROM}{Path(path).absolute()}\n{text.rstrip()}\n")
    return "\n".join(parts)
