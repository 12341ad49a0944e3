"""The maps that `userMap` looks in, as the configuration of this daemon or tool names them.

Knobs: <SUBSYS>_CLASSAD_USER_MAP_NAMES, CLASSAD_USER_MAPFILE_<name>, CLASSAD_USER_MAPDATA_<name>,
CLASSAD_USER_MAP_PREFIX_<name>. Source: manual, configuration macros, the user maps.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from kettle.classad.context import UserMap, ambient
from kettle.config.knobs.daemon import DaemonKnobs
from kettle.errors import AuthenticationFailed, KettleError
from kettle.runtime.storage.files import Files
from kettle.wire.security.mapfile import MapFile, parse_mapfile, parse_prefix_map

if TYPE_CHECKING:
    from kettle.config import Config

Report = Callable[[str], None]

# Limit: the file of a map, in bytes.
LARGEST_MAP = 64 * 1024 * 1024


def install_user_maps(config: Config, report: Report) -> None:
    """Let expressions of this process look in the maps of its configuration, and in no others."""
    ambient().user_maps = read_user_maps(config, report)


def read_user_maps(config: Config, report: Report) -> dict[str, UserMap]:
    """Read every map that is named for this subsystem; `report` is told of what cannot be read."""
    maps: dict[str, UserMap] = {}
    for name in config.value(DaemonKnobs.SUBSYS_CLASSAD_USER_MAP_NAMES[config.subsystem]):
        try:
            maps.update(_read_map(config, name, report))
        except (KettleError, OSError) as error:
            report(f"The user map {name} is not read: {error}")
    return maps


def load_user_map(name: str, path: str, *, prefixes: bool, report: Report) -> dict[str, UserMap]:
    """Read one map from a file. Raises KettleError, OSError."""
    text = Files().read_text(path, limit=LARGEST_MAP)
    return _entries(name, _parse(text, path, prefixes, report), report)


def _read_map(config: Config, name: str, report: Report) -> dict[str, UserMap]:
    prefixes = config.value(DaemonKnobs.CLASSAD_USER_MAP_PREFIX[name])
    path = config.value(DaemonKnobs.CLASSAD_USER_MAPFILE[name])
    if path:
        return load_user_map(name, path, prefixes=prefixes, report=report)
    data = config.value(DaemonKnobs.CLASSAD_USER_MAPDATA[name])
    return _entries(name, _parse(data, name, prefixes, report), report) if data else {}


def _parse(text: str, source: str, prefixes: bool, report: Report) -> MapFile:
    if prefixes:
        return parse_prefix_map(text, source=source, complain=report)

    def read_included(path: str) -> list[tuple[str, str]]:
        try:
            return [(one, Files().read_text(one, limit=LARGEST_MAP)) for one in _files_at(path)]
        except (KettleError, OSError) as error:
            report(f"{source} includes what cannot be read: {error}")
            return []

    return parse_mapfile(
        text, literal_keys=True, source=source, read_included=read_included, complain=report
    )


def _files_at(path: str) -> list[str]:
    if not os.path.isdir(path):
        return [path]
    return sorted(os.path.join(path, name) for name in os.listdir(path))


def _entries(name: str, found: MapFile, report: Report) -> dict[str, UserMap]:
    """Return a map by its names: as it is for lines of `*`, and with a dot for each first word."""

    def look_in(method: str) -> UserMap:
        def look_up(user: str) -> str | None:
            try:
                return found.map(method, user)
            except AuthenticationFailed as error:
                report(f"The user map {name} gives nothing: {error}")
                return None

        return look_up

    key = name.lower()
    maps = {f"{key}.{method.lower()}": look_in(method) for method in found.methods}
    if "*" in found.methods:
        maps[key] = maps[f"{key}.*"]
    return maps
