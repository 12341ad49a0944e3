"""Where the pool's collectors and this host's daemons are, by configuration and address files.

No asyncio here: tools use this module as well as daemons. Source: wire notes, Sinful strings
(address file).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.errors import KettleError
from kettle.wire.sinful import Sinful

if TYPE_CHECKING:
    from kettle.config import Config
    from kettle.runtime.storage.files import Files

DEFAULT_PORT = 9618
_YES = frozenset(("true", "yes", "t", "1"))
_NO = frozenset(("false", "no", "f", "0"))


def choose_route(config: Config, sinful: Sinful) -> Sinful:
    """Return the address to dial for a daemon's, from this host's networks and protocols.

    Among addresses that are equally near PREFER_OUTBOUND_IPV4 decides, or the daemon's own first
    address where IGNORE_TARGET_PROTOCOL_PREFERENCE is false.
    """
    prefer_ipv4 = config.boolean("PREFER_OUTBOUND_IPV4") is not False
    if config.boolean("IGNORE_TARGET_PROTOCOL_PREFERENCE") is False:
        prefer_ipv4 = not sinful.endpoint.is_ipv6
    return sinful.choose_route(
        private_network=config.get("PRIVATE_NETWORK_NAME") or "",
        ipv4=is_protocol_wanted(config, "ENABLE_IPV4") is not False,
        ipv6=is_protocol_wanted(config, "ENABLE_IPV6") is not False,
        prefer_ipv4=prefer_ipv4,
    )


def is_protocol_wanted(config: Config, knob: str) -> bool | None:
    """Return what ENABLE_IPV4 or ENABLE_IPV6 says; None for `auto`: where there is an address."""
    text = (config.get(knob) or "auto").strip().lower()
    return True if text in _YES else False if text in _NO else None


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
    """Return the address that a daemon wrote, None if it has not, or only half, or an ad."""
    if not path:
        return None
    try:
        lines = files.read_text(path, limit=64 * 1024).split("\n")
        whole = len(lines) > 1 and lines[0].startswith("<")
        return Sinful.parse(lines[0]) if whole else None
    except KettleError:
        return None


def may_be_daemon(name: str, config: Config) -> bool:
    """Tell whether a daemon may be called so: by a whole name, or a host's that has one.

    A name with an @ or a dot in it is whole, as in the reference; a host has a whole name if the
    resolver knows one with a dot, or DEFAULT_DOMAIN_NAME makes it one.
    """
    if {"@", "."} & set(name):
        return True
    import socket  # for those alone who name hosts

    try:
        found = socket.getaddrinfo(name, None, flags=socket.AI_CANONNAME) if name else []
    except (OSError, UnicodeError):
        return False
    whole = any("." in canonical for *_, canonical, _ in found)
    return bool(found) and (whole or bool(config.get("DEFAULT_DOMAIN_NAME")))


def is_host(name: str) -> bool:
    """Tell whether a machine has this name, by looking it up."""
    import socket  # for those alone who name hosts

    try:
        socket.getaddrinfo(name, None)
    except (OSError, UnicodeError):
        return False
    return True
