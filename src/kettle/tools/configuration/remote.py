"""`condor_config_val` about a running daemon: ask it, or set something in it.

How values are shown is the same as for one's own configuration, with what the daemon says of the
place where a name was set.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kettle.errors import (
    ConfigError,
    KettleError,
    NotConnected,
    NotFoundError,
    RefusedError,
    RemoteProtocolError,
)
from kettle.structs import Struct
from kettle.tools.configuration import listing
from kettle.tools.configuration.request import TEMPLATE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kettle.client.pool import Located
    from kettle.tools.configuration.request import Request
    from kettle.tools.programs import Streams
    from kettle.tools.reach import Reach

# Option, persistent, what it does; a setting is NAME = VALUE, an unsetting a name.
EDITS = {
    "set": (True, "set"),
    "rset": (False, "set"),
    "unset": (True, "unset"),
    "runset": (False, "unset"),
}
_SUMMARY = ".*|.summary"


class Asked(Struct):
    """A daemon that is asked, and its kind as the command line has it."""

    daemon: Located
    kind: str
    reach: Reach
    request: Request
    streams: Streams

    @property
    def shown(self) -> str:
        """The daemon as complaints name it."""
        return f"{self.kind} {self.daemon.name} {self.daemon.address}"


class Details(Struct):
    """What a daemon says of a name: `raw` is as it was written, `name` as it was first."""

    name: str
    value: str
    raw: str
    source: str
    default: str
    use: str


def run_remote(
    request: Request, names: Sequence[str], environment: Mapping[str, str], streams: Streams
) -> int:
    """Ask the daemon that the options name, or set values in it; 0, or 1 if it cannot be done."""
    from kettle.tools.reach import Reach

    kind = request.daemon or "master"
    where = {key: request.values.get(key, "") for key in ("pool", "name", "address")}
    try:
        reach = Reach(environment, **where)
    except ConfigError as error:
        streams.stderr.write(f"{error}\n")
        return 1
    daemon = _find(kind, reach, where, streams)
    if daemon is None:
        return 1
    asked = Asked(daemon, kind, reach, request, streams)
    if request.has("dump"):
        shown = f"{daemon.name} {daemon.address}"
        streams.stdout.write(f"# Configuration from {kind} on {shown}\n")
    try:
        if request.edit:
            return set_values(asked, names)
        return max([_show(asked, name) for name in names], default=0)
    except NotConnected:
        name = "" if where["address"] else daemon.name
        streams.stderr.write(f"Can't connect to {kind} on {name} {daemon.address}\n")
    except KettleError as error:
        streams.stderr.write(f"condor_config_val: {error}\n")
    return 1


def _find(kind: str, reach: Reach, where: Mapping[str, str], streams: Streams) -> Located | None:
    """Find the daemon; None if that cannot be, which is then told."""
    from kettle.client.pool import KINDS

    try:
        if ":" in (where["address"] or ":"):
            return reach.locate(KINDS[kind], to_command=True)
    except (NotFoundError, NotConnected, RemoteProtocolError):
        pass
    except KettleError as error:
        streams.stderr.write(f"{error}\n")
    streams.stderr.write(
        f"Can't find address for {kind} '{where['name'] or 'default'}' in "
        f"{where['pool'] or 'local pool'}\nPerhaps you need to query another pool.\n"
    )
    return None


def _show(asked: Asked, name: str) -> int:
    """Print what one word of the command line asks a daemon for; 1 if it is not defined."""
    request, streams = asked.request, asked.streams
    if name.startswith(TEMPLATE):
        streams.stderr.write(f"remote query not supported for use {name[1:]}\n")
        return 1
    if request.has("stats"):
        # Compat: the reference counts its tables in memory, which we have none of
        # (test_a_daemon_has_no_tables_in_memory_to_count).
        streams.stderr.write("# remote HTCondor version does not support -stats\n")
        return 1
    if request.has("dump") or request.has("summary"):
        show_matching(asked, name)
        return 0
    if request.has("raw") or request.has("default") or request.verbose:
        return show_details(asked, name)
    from kettle.client.daemon import read_config_value

    value = read_config_value(asked.reach.connector, asked.daemon.address, name)
    if request.has("evaluate"):
        streams.stdout.write(f"{evaluate(value or 'undefined', streams)}\n")
        return 0
    # Compat: on stdout and no failure, as in the reference (test_ask_a_daemon).
    streams.stdout.write("Not defined\n" if value is None else f"{value}\n")
    return 0


def evaluate(text: str, streams: Streams) -> str:
    """Return what a daemon's value is as an expression, or itself if it is none, which is told.

    As in the reference only what a daemon answers is evaluated, and in no ad.
    """
    from kettle.classad import ClassAd, parse_expression, to_expression, unparse
    from kettle.errors import ClassAdSyntaxError

    try:
        value = ClassAd().evaluate_expression(parse_expression(text))
    except ClassAdSyntaxError:
        streams.stderr.write(
            f"Warning: Failed to evaluate '{text}', returning it as config value\n"
        )
        return text
    return unparse(to_expression(value))


def read_details(asked: Asked, name: str) -> Details | None:
    """Return what the daemon says of a name, None if it has none of that name."""
    from kettle.client.daemon import read_config_details

    found = read_config_details(asked.reach.connector, asked.daemon.address, name)
    if not found:
        return None
    value, raw, source, default, use = (*found, "", "", "", "", "")[:5]
    own_name, _, text = raw.partition(" = ")
    return Details(own_name or name, value, text, source, default, use)


def show_details(asked: Asked, name: str) -> int:
    """Print a value as it was written, its default, or all that is known of it.

    Compat: of a name that it does not have the reference also says that the daemon is too old for
    the option (tests/cli/test_config_val_recordings.py).
    """
    request, streams = asked.request, asked.streams
    found = read_details(asked, name)
    wanted = found and (
        found.default if request.has("default") else found.value if request.verbose else found.raw
    )
    if found is None or (request.has("default") and not found.default):
        streams.stderr.write(f"Not defined: {name.upper()}\n")
        return 1
    if request.has("evaluate"):
        wanted = evaluate(wanted or "", streams)
    if not request.verbose:
        streams.stdout.write(f"{wanted}\n")
        return 0
    streams.stdout.write(listing.assignment(name.upper(), wanted or ""))
    streams.stdout.write(f" # at: {found.source}\n" + listing.raw_note(found.name, found.raw))
    if found.default:
        streams.stdout.write(listing.note("default", found.default))
    if request.filters("verbose", usage=2, use=0):
        streams.stdout.write(f" # use_count: {' / '.join(found.use.split()) or '0'}\n")
    streams.stdout.write("\n")
    return 0


def show_matching(asked: Asked, pattern: str) -> None:
    """Print every name of a daemon that matches, or with -summary what its files changed."""
    from kettle.client.daemon import read_config_details

    request, write = asked.request, asked.streams.stdout.write
    if pattern:
        write(f"\n# Parameters with names that match {pattern}:\n")
    summary = request.has("summary")
    query = f"?names:{_SUMMARY if summary else pattern}" if summary or pattern else "?names"
    names = read_config_details(asked.reach.connector, asked.daemon.address, query)
    if names[:1] and names[0].startswith("!"):
        asked.streams.stderr.write(f"{names[0][1:]}\n")
        return
    sources: set[str] = set()
    for name in _wanted(names, detected=bool(request.filters("summary", detected=3))):
        if not name.startswith("#"):
            _dump_one(asked, name, sources)
        elif "$CondorVersion:" in name:
            write(f"# {name[1:]}\n#  at {asked.daemon.name} {asked.daemon.address}\n")
        else:
            write(f"\n#\n# from {name[1:]}\n#\n")
    if summary:
        write("\n")
    elif not request.verbose and sources:
        write("# Contributing configuration file(s):\n")
        write("".join(f"#\t{source}\n" for source in sorted(sources)))


def _wanted(names: Sequence[str], *, detected: bool) -> Iterator[str]:
    """Yield the names in the reference's order, without what was detected unless it is wanted."""
    if not any(name.startswith("#") for name in names):
        yield from sorted((name for name in names if name), key=str.lower)
        return
    skipped = False
    for name in names:
        if name.startswith("#"):
            skipped = name == "#<Detected>" and not detected
        if name and not skipped:
            yield name


def _dump_one(asked: Asked, name: str, sources: set[str]) -> None:
    request, write = asked.request, asked.streams.stdout.write
    found = read_details(asked, name)
    if found is None:
        return
    is_used = found.use not in ("", "0", "0 0")
    if (request.has("used") and not is_used) or (request.has("unused") and is_used):
        return
    text = found.value if request.has("expanded") else found.raw
    if request.has("default") and found.default:
        text = found.default
    write(listing.assignment(name, text))
    if not request.verbose:
        sources.add(re.sub(r", line.*", "", found.source))
        return
    write(f" # at: {found.source}\n")
    if request.has("expanded"):
        write(listing.raw_note(found.name, found.raw))
    else:
        write(listing.note("expanded", found.value))
    if found.default:
        write(listing.note("default", found.default))


def set_values(asked: Asked, texts: Sequence[str]) -> int:
    """Set or unset names in a daemon; 1 at the first that it does not let be set."""
    from kettle.client.daemon import set_config

    streams = asked.streams
    persistent, verb = EDITS[asked.request.edit]
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip()
        template = re.match(r"(?i)use\s+\S+\s*:", text)
        if verb == "set" and not equals and not template:
            streams.stderr.write(
                f'condor_config_val: Can\'t set configuration value ("{text}")\n'
                'You must specify "macro_name = value" or "use category:option"\n'
            )
            return 1
        if not template and not re.fullmatch(r"[\w.$]*", name, re.ASCII):
            streams.stderr.write(
                f"condor_config_val: Error: Configuration variable name ({name}) is not valid, "
                "alphanumeric and _ only\n"
            )
            return 1
        setting = text if template else f"{name} = {value.strip()}"
        name = f"${text[3:].strip()}" if template else name
        try:
            set_config(
                asked.reach.connector,
                asked.daemon.address,
                name,
                setting if verb == "set" else "",
                persistent=persistent,
            )
        except RefusedError:
            streams.stderr.write(
                f'Attempt to {verb} configuration "{text}" on {asked.shown} failed.\n'
            )
            return 1
        done = "set" if verb == "set" else "unset"
        streams.stdout.write(f'Successfully {done} configuration "{text}" on {asked.shown}.\n')
    return 0
