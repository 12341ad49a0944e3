"""`condor_config_val` about a running daemon: ask it, or set something in it.

How values are shown is the same as for one's own configuration, with what the daemon says of the
place where a name was set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.errors import ConfigError, KettleError, RefusedError
from kettle.tools.configuration import listing

if TYPE_CHECKING:
    from collections.abc import Mapping

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
KIND_OPTIONS = ("collector", "master", "negotiator", "schedd", "startd")


def run_remote(request: Request, environment: Mapping[str, str], streams: Streams) -> int:
    """Ask the daemon that the options name, or set values in it; 0, or 1 if it cannot be done."""
    from kettle.client.pool import KINDS
    from kettle.tools.reach import Reach

    title = next((kind for kind in KIND_OPTIONS if kind in request.remote), "master")
    try:
        reach = Reach(
            environment,
            pool=request.remote.get("pool", ""),
            name=request.remote.get("name", ""),
            address=request.remote.get("address", ""),
        )
    except ConfigError as error:
        streams.stderr.write(f"{error}\n")
        return 1
    try:
        daemon = reach.locate(KINDS[title], to_command=True)
    except KettleError as error:
        named = request.remote.get("name") or "default"
        streams.stderr.write(
            f"Can't find address for {title} '{named}' in local pool\n"
            f"Perhaps you need to query another pool.\n{error}\n"
        )
        return 1
    edit = next((option for option in EDITS if option in request.remote), None)
    try:
        if edit is not None:
            return set_values(edit, title, daemon, reach, request, streams)
        return max([show_value(name, daemon, reach, request, streams) for name in request.names])
    except KettleError as error:
        streams.stderr.write(f"condor_config_val: {error}\n")
        return 1


def show_value(name: str, daemon: Located, reach: Reach, request: Request, streams: Streams) -> int:
    """Print a value that a daemon has, in the way asked for."""
    from kettle.client.daemon import read_config_details

    details = read_config_details(reach.connector, daemon.address, name)
    if not details or not details[0]:
        streams.stdout.write("Not defined\n")
        return 0
    value, raw, source, default = (*details, "", "", "", "")[:4]
    raw_name, _, raw_text = raw.partition(" = ")
    if request.has("default"):
        streams.stdout.write(f"{default}\n")
    elif request.has("verbose"):
        streams.stdout.write(listing.assignment(raw_name or name, value))
        streams.stdout.write(f" # at: {source}\n")
        streams.stdout.write(listing.raw_note(raw_name or name, raw_text))
        if default:
            streams.stdout.write(listing.note("default", default))
        streams.stdout.write("\n")
    else:
        streams.stdout.write(f"{raw_text if request.has('raw') else value}\n")
    return 0


def set_values(
    option: str,
    title: str,
    daemon: Located,
    reach: Reach,
    request: Request,
    streams: Streams,
) -> int:
    """Set or unset names in a daemon; 1 at the first that it does not let be set."""
    from kettle.client.daemon import set_config

    persistent, verb = EDITS[option]
    for text in (request.remote[option], *request.names):
        name, equals, value = text.partition("=")
        name = name.strip()
        if verb == "set" and not equals:
            streams.stderr.write(
                f'condor_config_val: Can\'t set configuration value ("{text}")\n'
                'You must specify "macro_name = value" or "use category:option"\n'
            )
            return 1
        setting = f"{name} = {value.strip()}" if verb == "set" else ""
        try:
            set_config(reach.connector, daemon.address, name, setting, persistent=persistent)
        except RefusedError:
            streams.stderr.write(
                f'Attempt to {verb} configuration "{text}" on {title} {daemon.name} '
                f"{daemon.address} failed.\n"
            )
            return 1
        done = "Set" if verb == "set" else "Unset"
        streams.stdout.write(
            f'Successfully {done.lower()} configuration "{text}" on {title} {daemon.name} '
            f"{daemon.address}.\n"
        )
    return 0
