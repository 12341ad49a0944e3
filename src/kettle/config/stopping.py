"""How long a graceful stop may take, as its knobs say: read by whoever stops and is stopped."""

from __future__ import annotations

from kettle.config.knobs.master import MasterKnobs
from kettle.config.store import Config


def graceful_seconds(config: Config, daemon: str = "") -> float:
    """Return the seconds until a graceful stop of a daemon, or of any, becomes a fast one."""
    own = config.real(f"{daemon}_SHUTDOWN_GRACEFUL_TIMEOUT") if daemon else None
    return own or float(config.value(MasterKnobs.SHUTDOWN_GRACEFUL_TIMEOUT))


def longest_graceful_seconds(config: Config) -> float:
    """Return the seconds after which the last daemon of DAEMON_LIST is stopped fast."""
    names = {word.strip("+").upper() for word in config.words("DAEMON_LIST")}
    return max(graceful_seconds(config, name) for name in ("", *names))
