"""Notes of what scheduler-universe jobs began, for the next schedd, as starters make of theirs.

When all daemons are killed at once, the queue still tells of a job's process, and an environment of
what the job began; of what left its family and threw its environment away only this note tells. It
lies where local jobs have theirs, and is read by the same reader (`runtime/process/leftovers.py`),
which takes us for the starter.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from kettle.errors import KettleError
from kettle.runtime.process.census import Census, note_of
from kettle.runtime.process.hunt import outlives_its_daemon
from kettle.runtime.process.processes import descendants
from kettle.schedd.services.local import execute_folder

if TYPE_CHECKING:
    from kettle.schedd.services.parts import Schedd

# How soon after a start is looked who is there, and how far apart the looks get.
_FIRST_SECONDS = 0.05
_LONGEST_SECONDS = 1.0
# Limit: of very many jobs a look takes long; so many times as long nobody is looked for.
_SHARE = 20


class ProgramCensus:
    """The note of one schedd's jobs; `programs` are the processes of those that run now."""

    def __init__(self, schedd: Schedd, programs: Callable[[], Iterable[int]]) -> None:
        self._schedd = schedd
        self._programs = programs
        self._census: Census | None = None
        self._pause = _FIRST_SECONDS
        # Whether the log has it that no note can be written.
        self._told = False
        # How long the last look took, the next one, and what fell to us and is nobody's child here.
        self._took = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._strays: list[int] = []

    def on_start(self) -> None:
        """Look soon, and from now on until no job runs."""
        self._pause = _FIRST_SECONDS
        self._look_in(self._pause)

    def close(self) -> None:
        """Take the note away: no job runs."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._census is not None:
            self._census.remove()
            self._census = None

    def _look_in(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        when = loop.time() + max(seconds, self._took * _SHARE)
        if self._timer is not None:
            when = min(when, self._timer.when())
            self._timer.cancel()
        self._timer = loop.call_at(when, self._look)

    def _look(self) -> None:
        self._timer = None
        clock = self._schedd.runtime.clock
        began = clock.monotonic()
        programs = list(self._programs())
        if not programs:
            self.close()
            return
        try:
            self._note(programs)
        except (KettleError, OSError) as error:
            if not self._told:
                self._told = True
                self._schedd.runtime.log(
                    f"What scheduler-universe jobs begin cannot be noted: {error}"
                )
        self._took = clock.monotonic() - began
        self._look_in(self._pause)
        self._pause = min(self._pause * 2, _LONGEST_SECONDS)

    def _note(self, programs: list[int]) -> None:
        """Note these, all below them, and what left them and fell to us."""
        runtime = self._schedd.runtime
        orphans = runtime.processes.orphans()
        if orphans is not None:
            with runtime.privileges.as_root():
                self._strays = [pid for pid in orphans if not outlives_its_daemon(pid)]
        if self._census is None:
            folder = execute_folder(self._schedd)
            runtime.files.make_folder(folder)
            self._census = Census(note_of(folder, os.getpid()))
        roots = [*programs, *self._strays]
        self._census.note({*roots, *(pid for root in roots for pid in descendants(root))})
