"""Whether starters can be started: while they cannot, the machine takes no jobs and says why.

A job that is sent here all the same would come back at once, and be sent here again. So the first
start that fails is told in the log and in the slots' ads, and tries of our own, further and further
apart, find out when it is over.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from kettle.errors import KettleError
from kettle.runtime import tasks
from kettle.runtime.context import Runtime

_PROOF = "kettle.runtime.process.zygote_process:prove"
# How soon after a failure the first try is, and how far apart they get.
_FIRST_SECONDS = 2.0
_LONGEST_SECONDS = 60.0


class Forking:
    """What is known of starting starters."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._trying: asyncio.Task[None] | None = None
        # Why no starter can be started, empty if one can; and who hears of a change.
        self.trouble = ""
        self.changed: Callable[[], object] = lambda: None

    def on_failure(self, error: KettleError) -> None:
        """A starter could not be started: take no jobs until one can."""
        self._set(f"no starter can be started: {error}")
        if self._trying is None:
            self._trying = tasks.spawn(self._try_until_it_works(), "tries to start a process")

    def _set(self, trouble: str) -> None:
        if trouble == self.trouble:
            return
        self.trouble = trouble
        if trouble:
            self._runtime.log.problem(f"{trouble}; no job is taken meanwhile")
        else:
            self._runtime.log("Starters can be started again.")
        self.changed()

    async def _try_until_it_works(self) -> None:
        pause = _FIRST_SECONDS
        try:
            while self.trouble:
                await asyncio.sleep(pause)
                pause = min(_LONGEST_SECONDS, pause * 2)
                try:
                    child = await self._runtime.processes.zygote.fork(_PROOF)
                    await child.wait()
                    self._set("")
                except KettleError as error:
                    self._set(f"no starter can be started: {error}")
        finally:
            self._trying = None
