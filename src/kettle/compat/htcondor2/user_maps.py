"""The maps that the function `userMap` of expressions looks in, loaded for this program.

Knobs: CLASSAD_USER_MAP_NAMES, CLASSAD_USER_MAPFILE_<name>, CLASSAD_USER_MAPDATA_<name>.
"""

from __future__ import annotations

from kettle.compat.classad2.convert import USER_MAPS
from kettle.compat.htcondor2.errors import HTCondorException
from kettle.compat.htcondor2.process import PROCESS
from kettle.errors import ConfigError, KettleError
from kettle.runtime.storage.files import Files
from kettle.wire.security.mapfile import parse_mapfile

# Limit: the file of a map, in bytes.
_LARGEST_MAP = 64 * 1024 * 1024


def load_a_config_usermap_file(name: str, mapfile_path: str, /) -> None:
    """Load a map, lines of `* USER NAMES`, or load it again, from this file."""
    try:
        _add(name, Files().read_text(mapfile_path, limit=_LARGEST_MAP), mapfile_path)
    except KettleError as error:
        raise HTCondorException(f"Failed to load userMap file: {mapfile_path}") from error


def reload_config_usermaps() -> None:
    """Load the maps that the configuration names; one that cannot be read is left as it was."""
    config = PROCESS.config
    for name in config.words("CLASSAD_USER_MAP_NAMES"):
        data = config.get(f"CLASSAD_USER_MAPDATA_{name}")
        path = config.get(f"CLASSAD_USER_MAPFILE_{name}")
        try:
            if path is not None:
                _add(name, Files().read_text(path, limit=_LARGEST_MAP), path)
            elif data is not None:
                _add(name, data, name)
        except KettleError as error:
            PROCESS.say(0, f"the user map {name} is not loaded: {error}")


def _add(name: str, text: str, source: str) -> None:
    try:
        found = parse_mapfile(text, literal_keys=True, source=source)
    except ValueError as error:
        raise ConfigError(str(error), source=source) from error
    USER_MAPS[name.lower()] = lambda user: found.map("*", user)
