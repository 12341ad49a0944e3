"""The maps that the function `userMap` of expressions looks in, loaded for this program.

Knobs: TOOL_CLASSAD_USER_MAP_NAMES (or that of the subsystem whose part the program takes),
CLASSAD_USER_MAPFILE_<name>, CLASSAD_USER_MAPDATA_<name>, CLASSAD_USER_MAP_PREFIX_<name>.
"""

from __future__ import annotations

from kettle.compat.classad2.convert import USER_MAPS
from kettle.compat.htcondor2.errors import HTCondorException
from kettle.compat.htcondor2.process import PROCESS
from kettle.config.knobs.daemon import DaemonKnobs
from kettle.errors import KettleError
from kettle.runtime.user_maps import load_user_map, read_user_maps


def load_a_config_usermap_file(name: str, mapfile_path: str, /) -> None:
    """Load a map, lines of `* USER NAMES`, or load it again, from this file."""
    prefixes = PROCESS.config.value(DaemonKnobs.CLASSAD_USER_MAP_PREFIX[name])
    try:
        USER_MAPS.update(load_user_map(name, mapfile_path, prefixes=prefixes, report=_tell))
    except (KettleError, OSError) as error:
        raise HTCondorException(f"Failed to load userMap file: {mapfile_path}") from error


def reload_config_usermaps() -> None:
    """Load the maps that the configuration names, and forget all others."""
    maps = read_user_maps(PROCESS.config, _tell)
    USER_MAPS.clear()
    USER_MAPS.update(maps)


def _tell(problem: str) -> None:
    PROCESS.say(0, problem)
