"""Where the pool's collectors and this host's daemons are, by configuration and address files.

No asyncio here: tools use this module as well as daemons. Source: wire reference, Sinful strings
(address file).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.errors import KettleError
from kettle.wire.sinful import Sinful

if TYPE_CHECKING:
    from kettle.config import Config
    from kettle.runtime.files import Files

DEFAULT_PORT = 9618


def find_collectors(config: Config, files: Files, *, knob: str = "COLLECTOR_HOST") -> list[Sinful]:
    """Return the addresses of the pool's collectors, in the order of COLLECTOR_HOST.

    One whose address file is not there yet is left out. Raises RemoteProtocolError for an
    address that is none.
    """
    found = []
    for word in config.words(knob):
        if word.startswith(("<", "{")):
            found.append(Sinful.parse(word))
            continue
        bare = ":" not in word or (word.startswith("[") and word.endswith("]"))
        port = config.integer("COLLECTOR_PORT") or DEFAULT_PORT
        sinful = Sinful.parse(f"{word}:{port}" if bare else word)
        if sinful.port == 0:
            address = read_address_file(config.get("COLLECTOR_ADDRESS_FILE"), files)
            if address is not None:
                found.append(address)
        else:
            found.append(sinful)
    return found


def read_address_file(path: str | None, files: Files) -> Sinful | None:
    """Return the address that a daemon wrote, None if it has not (or only half)."""
    if not path:
        return None
    try:
        lines = files.read_text(path, limit=64 * 1024).split("\n")
        return Sinful.parse(lines[0]) if len(lines) > 1 and lines[0] else None
    except KettleError:
        return None
