"""A daemon's side of its master: it is told that we are ready and alive; its death is ours.

The death is seen at once through the inherited pipe, and by the changed parent pid where there
is no pipe (a daemon started by the reference's master). Source: wire notes, DC_SET_READY,
DC_CHILDALIVE; DESIGN: daemons whose master is gone shut down fast.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from kettle.classad import ClassAd
from kettle.config.knobs.master import MasterKnobs
from kettle.errors import KettleError
from kettle.runtime import tasks
from kettle.wire.commands import Command
from kettle.wire.dialog import Words

if TYPE_CHECKING:
    from kettle.runtime.context import Runtime
    from kettle.runtime.process.inheritance import Inheritance

_PARENT_CHECK_SECONDS = 5.0


class ParentLink:
    """What this daemon has to do with its master; nothing if it was started by hand."""

    def __init__(
        self, runtime: Runtime, inheritance: Inheritance, shut_down: Callable[[str], None]
    ) -> None:
        self._runtime = runtime
        self._inheritance = inheritance
        self._shut_down = shut_down
        self._watching = False

    def start(self) -> None:
        """Begin to watch the master and to tell it that we are alive."""
        inheritance = self._inheritance
        if inheritance.pipe >= 0:
            os.set_inheritable(inheritance.pipe, False)
            asyncio.get_running_loop().add_reader(inheritance.pipe, self._on_pipe)
            self._watching = True
        elif inheritance.parent_pid and os.getppid() == inheritance.parent_pid:
            tasks.spawn(self._watch_pid(), "watching the master")
        if inheritance.parent_address:
            tasks.repeat(self._say_alive, "telling the master that we are alive")

    def stop(self) -> None:
        """Watch no more."""
        if self._watching:
            asyncio.get_running_loop().remove_reader(self._inheritance.pipe)
            self._watching = False

    async def say_ready(self) -> None:
        """Tell the master that this daemon serves requests, and where, now and when it moves."""
        self._runtime.network.on_moved(self._say_ready_soon)
        await self._say_ready()

    def _say_ready_soon(self) -> None:
        tasks.spawn(self._say_ready(), "telling the master where we are")

    async def _say_ready(self) -> None:
        identity = self._runtime.identity
        ad = ClassAd(
            {
                "DaemonName": identity.local_name or identity.subsystem,
                "DaemonPID": identity.pid,
                "DaemonState": "Ready",
                # The reference's master passes over it.
                "MyAddress": str(self._runtime.network.address),
            }
        )
        await self._tell(Command.DC_SET_READY, Words(ad))

    def _on_pipe(self) -> None:
        if os.read(self._inheritance.pipe, 64):
            return
        self.stop()
        self._on_death()

    def _on_death(self) -> None:
        self._runtime.log("Our parent process is gone; shutting down fast")
        self._shut_down("fast")

    async def _watch_pid(self) -> None:
        while os.getppid() == self._inheritance.parent_pid:  # noqa: ASYNC110 - nobody tells us
            await asyncio.sleep(_PARENT_CHECK_SECONDS)
        self._on_death()

    async def _say_alive(self) -> None:
        """Say so three times in each NOT_RESPONDING_TIMEOUT."""
        config = self._runtime.config
        timeout = config.value(MasterKnobs.NOT_RESPONDING_TIMEOUT)
        await asyncio.sleep(timeout / 3)
        await self._tell(Command.DC_CHILDALIVE, Words(self._runtime.identity.pid, timeout, 0.0))

    async def _tell(self, command: Command, message: Words) -> None:
        if not self._inheritance.parent_address:
            return
        try:
            stream = await self._runtime.network.connect(self._inheritance.parent_address, command)
            try:
                await stream.send(message)
            finally:
                stream.close()
        except KettleError as error:
            self._runtime.log.full(f"Cannot tell the master {command.name}: {error}")
