"""Whether an address belongs to this machine, or to a host of a domain.

Names are believed only when they lead back to the address: whoever holds an address writes its
reverse name. Looking up may take as long as the resolver does; nothing here awaits.
"""

from __future__ import annotations

import contextlib
import ipaddress
import socket


def is_own_address(address: str) -> bool:
    """Whether `address` is one of this machine's: only to those can a socket be bound."""
    try:
        family = socket.AF_INET6 if ipaddress.ip_address(address).version == 6 else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
    except (OSError, ValueError):
        return False
    return True


def is_in_domain(address: str, domain: str) -> bool:
    """Whether the host at `address` lies in `domain`, by a name that leads back to the address."""
    if not domain:
        return False
    try:
        name, aliases, _ = socket.gethostbyaddr(address)
    except OSError:
        return False
    return any(
        lies_in(candidate, domain) and _leads_to(candidate, address)
        for candidate in (name, *aliases)
    )


def lies_in(name: str, domain: str) -> bool:
    """Whether a host's name is the domain's own or below it."""
    host, wanted = name.lower().rstrip("."), domain.lower().strip(".")
    return bool(wanted) and (host == wanted or host.endswith("." + wanted))


def _leads_to(name: str, address: str) -> bool:
    found: set[str] = set()
    with contextlib.suppress(OSError):
        found = {str(entry[4][0]) for entry in socket.getaddrinfo(name, None)}
    return address in found
