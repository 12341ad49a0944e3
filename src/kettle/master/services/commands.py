"""The commands to a master: daemons on, off and restarted, one or all.

Each handler decodes, asks `MasterControl`, and is done; what becomes of a daemon is decided in
`child_machine`. Source: wire notes, Command integers (M), Which tool uses what.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Protocol

from kettle.classad import ClassAd
from kettle.errors import RemoteProtocolError
from kettle.master.ads import answers
from kettle.master.child_machine import How
from kettle.master.services.pool_password import may_set_password, store_pool_password
from kettle.wire.commands import Command
from kettle.wire.dialog import Words
from kettle.wire.messages.credentials import StorePoolPassword, StorePoolPasswordReply
from kettle.wire.sinful import Sinful

if TYPE_CHECKING:
    from kettle.runtime.context import Runtime
    from kettle.runtime.sockets.stream import Stream

_ALL_OFF = {
    int(Command.DAEMONS_OFF): How.GRACEFUL,
    int(Command.DAEMONS_OFF_FAST): How.FAST,
    int(Command.DAEMONS_OFF_PEACEFUL): How.PEACEFUL,
}
_ONE_OFF = {
    int(Command.DAEMON_OFF): How.GRACEFUL,
    int(Command.DAEMON_OFF_FAST): How.FAST,
    int(Command.DAEMON_OFF_PEACEFUL): How.PEACEFUL,
    int(Command.CHILD_OFF): How.GRACEFUL,
    int(Command.CHILD_OFF_FAST): How.FAST,
}
_ONE_ON = (Command.DAEMON_ON, Command.CHILD_ON)
_MASTER_OFF = {
    int(Command.MASTER_OFF): "graceful",
    int(Command.MASTER_OFF_FAST): "fast",
}
_RESTART = {
    int(Command.RESTART): "graceful",
    int(Command.RESTART_PEACEFUL): "peaceful",
}
# The numbers of DRAIN_JOBS, which DAEMONS_OFF_FLEX uses as well.
# Limit: how long somebody may have us wait for his daemons, and a connection be held.
_MOST_READY_SECONDS = 3600
_FLEXIBLE = {0: How.GRACEFUL, 10: How.FAST, 20: How.FAST}


class MasterControl(Protocol):
    """What commands may ask of the master."""

    def turn_all_on(self) -> None:
        """Start every daemon of the list."""
        ...

    def turn_all_off(self, how: How) -> None:
        """Stop every daemon; the master stays."""
        ...

    def turn_on(self, name: str) -> bool:
        """Start one daemon; False if there is none of that name."""
        ...

    def turn_off(self, name: str, how: How) -> bool:
        """Stop one daemon; False if there is none of that name."""
        ...

    def restart_everything(self, how: str) -> None:
        """Stop every daemon and the master, and begin anew."""
        ...

    def set_shutdown_program(self, name: str) -> bool:
        """Run the program MASTER_SHUTDOWN_<name> at the end; False if there is none."""
        ...

    def on_ready(self, pid: int, address: Sinful | None = None) -> None:
        """A daemon serves requests, at that address if it says so."""
        ...

    def on_alive(self, pid: int, seconds: float) -> None:
        """A daemon is alive and will say so again within that time."""
        ...

    def readiness(self, *, with_addresses: bool = False) -> ClassAd:
        """The states of all daemons."""
        ...

    async def change(self) -> None:
        """Wait until a daemon's state is another."""
        ...


class MasterCommands:
    """The handlers, bound to one master."""

    def __init__(self, runtime: Runtime, master: MasterControl) -> None:
        self._runtime = runtime
        self._master = master

    def register(self) -> None:
        """Make the master's network answer these commands."""
        register = self._runtime.network.register
        for number in _ALL_OFF:
            register(number, self._all_off)
        for number in _ONE_OFF:
            register(number, self._one_off)
        for command in _ONE_ON:
            register(command, self._one_on)
        for number in _MASTER_OFF:
            register(number, self._master_off)
        for number in _RESTART:
            register(number, self._restart)
        register(Command.DAEMONS_ON, self._all_on)
        register(Command.DAEMONS_OFF_FLEX, self._off_flexibly)
        register(Command.SET_SHUTDOWN_PROGRAM, self._set_shutdown_program)
        register(Command.STORE_POOL_CRED, self._store_pool_password)
        register(Command.DC_SET_READY, self._set_ready)
        register(Command.DC_QUERY_READY, self._query_ready)
        register(Command.DC_CHILDALIVE, self._child_alive)

    async def _all_on(self, stream: Stream) -> None:
        self._log(stream, "all daemons on")
        self._master.turn_all_on()

    async def _all_off(self, stream: Stream) -> None:
        self._log(stream, "all daemons off")
        self._master.turn_all_off(_ALL_OFF[stream.command])

    async def _off_flexibly(self, stream: Stream) -> None:
        ad = (await stream.receive()).ad()
        self._log(stream, "all daemons off")
        self._master.turn_all_off(_FLEXIBLE.get(ad.integer("HowFast") or 0, How.GRACEFUL))

    async def _one_on(self, stream: Stream) -> None:
        name = await self._daemon_name(stream)
        self._log(stream, f"daemon {name} on")
        if not self._master.turn_on(name):
            self._log(stream, f"there is no daemon {name} here")

    async def _one_off(self, stream: Stream) -> None:
        name = await self._daemon_name(stream)
        self._log(stream, f"daemon {name} off")
        if name == "MASTER":
            self._runtime.stop("graceful")
        elif not self._master.turn_off(name, _ONE_OFF[stream.command]):
            self._log(stream, f"there is no daemon {name} here")

    async def _master_off(self, stream: Stream) -> None:
        self._log(stream, "master off")
        self._runtime.stop(_MASTER_OFF[stream.command])

    async def _restart(self, stream: Stream) -> None:
        self._log(stream, "restart")
        self._master.restart_everything(_RESTART[stream.command])

    async def _set_shutdown_program(self, stream: Stream) -> None:
        name = (await stream.receive()).string()
        known = self._master.set_shutdown_program(name)
        self._log(stream, f"shutdown program {name}{'' if known else ': there is none'}")

    async def _store_pool_password(self, stream: Stream) -> None:
        config = self._runtime.config
        if not may_set_password(stream.remote_host, config):
            self._log(stream, "the credential daemon's host sets its pool password itself")
            return
        request = StorePoolPassword.read(await stream.receive())
        answer = store_pool_password(config, request.password)
        verb = "stored" if request.password else "deleted"
        self._log(stream, f"pool password of {request.domain} to be {verb}: {answer.name}")
        await stream.send(StorePoolPasswordReply(answer))

    async def _set_ready(self, stream: Stream) -> None:
        ad = (await stream.receive()).ad()
        pid = ad.integer("DaemonPID")
        if pid is not None and (ad.string("DaemonState") or "").lower() == "ready":
            address = ad.string("MyAddress")
            self._master.on_ready(pid, Sinful.parse(address) if address else None)

    async def _query_ready(self, stream: Stream) -> None:
        request = (await stream.receive()).ad()
        seconds = min(request.integer("WaitTimeout") or 0, _MOST_READY_SECONDS)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0, seconds)):
                while not answers(self._master.readiness(), request):
                    await self._master.change()
        states = self._master.readiness(with_addresses=request.boolean("WantAddrs") is True)
        answers(states, request)  # Says what is wrong with the condition, if anything is.
        await stream.send(Words(states))

    async def _child_alive(self, stream: Stream) -> None:
        reader = await stream.receive()
        pid, seconds = reader.integer(), reader.integer()
        self._master.on_alive(pid, float(max(1, seconds)))

    async def _daemon_name(self, stream: Stream) -> str:
        name = (await stream.receive()).string()
        if len(name) > 256:
            raise RemoteProtocolError("the name of a daemon is too long")
        return name.upper()

    def _log(self, stream: Stream, text: str) -> None:
        self._runtime.log(f"{stream.peer.user} at {stream.remote_name}: {text}")
