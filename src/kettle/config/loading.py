"""Which texts make up a configuration, in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.config.reader import read_text
from kettle.config.store import ENVIRONMENT_SOURCE, Config, Origin
from kettle.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kettle.config.sources import Sources


def load_config(
    sources: Sources,
    environment: Mapping[str, str],
    *,
    subsystem: str = "TOOL",
    local_name: str | None = None,
) -> Config:
    """Read everything that makes up the configuration of one program; raise ConfigError."""
    config = Config(sources, environment, subsystem=subsystem, local_name=local_name)
    root = environment.get("CONDOR_CONFIG", "/etc/condor/condor_config")
    if root != "ONLY_ENV":
        try:
            text = sources.read_text(root)
        except OSError as error:
            raise ConfigError(f"Can't read global config source {root}: {error}") from None
        config.files.append(root)
        read_text(config, text, root)
    for name, value in environment.items():
        if name.lower().startswith("_condor_"):
            config.set(name[8:], value, Origin(ENVIRONMENT_SOURCE))
    return config
