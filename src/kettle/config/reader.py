"""From configuration text to entries of the macro table (first version: assignments only)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kettle.config.store import Origin
from kettle.errors import ConfigError

if TYPE_CHECKING:
    from kettle.config.store import Config

ASSIGNMENT = re.compile(r"\s*([A-Za-z0-9_./]+)\s*[=:]\s*(.*?)\s*$", re.DOTALL)


def read_text(config: Config, text: str, source: str) -> None:
    """Enter what a text assigns; raise ConfigError with file and line."""
    pending = ""
    for number, line in enumerate(text.splitlines(), 1):
        line = pending + line.strip()
        if line.endswith("\\"):
            pending = line[:-1]
            continue
        pending = ""
        if not line or line.startswith("#"):
            continue
        match = ASSIGNMENT.match(line)
        if match is None:
            raise ConfigError(f"{source}, line {number}: {line}", source=source, line=number)
        name, value = match.groups()
        config.set(name, value, Origin(source, number))
