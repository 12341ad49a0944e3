"""What an administrator set in a running daemon from afar (`condor_config_val -rset`).

Whether that is allowed is ENABLE_RUNTIME_CONFIG's to say, and which names, by whom, that of
SETTABLE_ATTRS_<LEVEL>. What was set counts from the next reconfiguration on, over everything that
files and environment say, until the daemon ends. A value is a value: nothing is included or run.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import fnmatchcase

from kettle.config import Config
from kettle.config.knobs.security import SecurityKnobs
from kettle.config.origin import Origin
from kettle.errors import RefusedError
from kettle.wire.levels import Level

# Limit: names that may be set in one daemon, and how long a value may be.
MOST_NAMES = 1000
LONGEST_VALUE = 64 * 1024
_SOURCE = "<Runtime>"
_SETTING = re.compile(r"\s*([A-Za-z_][\w.]*)\s*=[ \t]*([^\r\n]*?)\s*")


class RemoteSettings:
    """The names that were set, with their texts."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def change(
        self, config: Config, holds: Callable[[Level], bool], name: str, setting: str
    ) -> None:
        """Set a name as `NAME = VALUE` says, or with an empty setting no longer.

        `holds` tells whether who asks has a level; only those that have a list are asked for.

        Raises RefusedError for who may not, for another name, and for what is no setting.
        """
        if not config[SecurityKnobs.ENABLE_RUNTIME_CONFIG]:
            raise RefusedError("ENABLE_RUNTIME_CONFIG is off")
        if not any(_is_settable(config, level, name) and holds(level) for level in Level):
            raise RefusedError(f"{name} is in no SETTABLE_ATTRS of who asks")
        if not setting:
            self._texts.pop(name.upper(), None)
            return
        found = _SETTING.fullmatch(setting)
        if found is None or found[1].upper() != name.upper() or len(found[2]) > LONGEST_VALUE:
            raise RefusedError(f"that is no setting of {name}")
        if len(self._texts) >= MOST_NAMES:
            raise RefusedError("too many names are set already")
        self._texts[name.upper()] = found[2]

    def apply(self, config: Config) -> None:
        """Set the names in a configuration that was just read."""
        for name, text in self._texts.items():
            config.assign(name, text, Origin(_SOURCE))


def _is_settable(config: Config, level: Level, name: str) -> bool:
    """Tell whether a level's list has a name, in any case and with `*` for any letters."""
    lists = f"SETTABLE_ATTRS_{level.name}", f"{config.subsystem}_SETTABLE_ATTRS_{level.name}"
    patterns = [word for each in lists for word in config.words(each)]
    return any(fnmatchcase(name.upper(), pattern.upper()) for pattern in patterns)
