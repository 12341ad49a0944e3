"""Connections that begin at the other end, for tools: a daemon behind a wall calls us (R089).

The tool listens for a moment, asks the daemon's broker to have it call, and is the client on
whatever calls with the right word. What is said is `wire.ccb`'s; the twin for daemons is
`runtime.sockets.ccb`.
"""

from __future__ import annotations

import secrets
import select
import socket
import time
from collections.abc import Callable

from kettle.client.stream import BlockingStream
from kettle.errors import ConnectionLost, NotConnected, RefusedError, WireError
from kettle.wire.ccb import accept_reversed, connection_request, read_answer
from kettle.wire.commands import Command
from kettle.wire.sinful import Endpoint, Sinful

Connect = Callable[[Sinful, int, float], BlockingStream]
"""Opens a connection to an address, for a command, within so many seconds."""

# Limit: how long a caller may take to say who it is, and how many wrong ones are heard.
_WORD_SECONDS = 5.0
_MOST_CALLERS = 16


def open_reversed(connect: Connect, address: Sinful, seconds: float) -> BlockingStream:
    """Have a daemon call us, through the first of its brokers that can; we are the client then.

    Raises NotConnected if no broker could bring it about in time.
    """
    problems: list[str] = []
    deadline = time.monotonic() + seconds
    for broker, number in address.ccb_contacts:
        try:
            left = max(1.0, deadline - time.monotonic())
            with connect(broker, Command.CCB_REQUEST, left) as asking:
                return _ask(asking, number, str(address), deadline, seconds)
        except (WireError, RefusedError) as error:
            problems.append(str(error))
    raise NotConnected(f"{address} did not call back: {'; '.join(problems)}", address=str(address))


def _ask(
    asking: BlockingStream, number: str, name: str, deadline: float, seconds: float
) -> BlockingStream:
    """Send the request to a broker and wait for the call or for the broker's refusal."""
    local = asking.local_host
    family = socket.AF_INET6 if ":" in local else socket.AF_INET
    with socket.create_server((local, 0), family=family, backlog=_MOST_CALLERS) as listener:
        ours = Endpoint(local, listener.getsockname()[1])
        connect_id = secrets.token_hex(20)
        return_address = Sinful(ours.host, ours.port).with_addresses([ours]).with_parameter("noUDP")
        asking.send(connection_request(number, connect_id, str(return_address), "TOOL"))
        waiting: list[int] = [listener.fileno(), asking.fileno()]
        for _ in range(_MOST_CALLERS):
            left = deadline - time.monotonic()
            ready, _, _ = select.select(waiting, (), (), max(0.0, left))
            if listener.fileno() in ready:
                stream = _take_call(listener, connect_id, name, seconds)
                if stream is not None:
                    return stream
            elif asking.fileno() in ready:
                # After its good news the broker closes; the call itself is on its way.
                _hear(asking)
                waiting = [listener.fileno()]
            else:
                raise ConnectionLost("nothing came in time")
    raise ConnectionLost("only strangers called")


def _hear(asking: BlockingStream) -> None:
    """Take the broker's answer; RefusedError if it is bad."""
    try:
        read_answer(asking.receive(_WORD_SECONDS))
    except ConnectionLost:
        return


def _take_call(
    listener: socket.socket, connect_id: str, name: str, seconds: float
) -> BlockingStream | None:
    """Accept a connection; None if it is not the one that was asked for."""
    connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    stream = BlockingStream(connection, remote_name=name, timeout=_WORD_SECONDS)
    try:
        wanted = stream.run(accept_reversed(connect_id))
    except WireError:
        wanted = False
    if not wanted:
        stream.close()
        return None
    stream.timeout = seconds
    return stream
