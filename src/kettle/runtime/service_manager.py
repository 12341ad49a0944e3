"""Telling the service manager how we are: systemd's notification socket."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Mapping

from kettle.octets import to_bytes


def notify(message: str, environment: Mapping[str, str] | None = None) -> bool:
    """Send `READY=1`, `STOPPING=1`, `STATUS=…`; False where no manager listens."""
    where = (os.environ if environment is None else environment).get("NOTIFY_SOCKET", "")
    if not where.startswith(("/", "@")):
        return False
    address = "\0" + where[1:] if where.startswith("@") else where
    with (
        contextlib.suppress(OSError),
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sock,
    ):
        sock.connect(address)
        sock.send(to_bytes(message))
        return True
    return False
