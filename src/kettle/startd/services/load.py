"""Measuring the machine while somebody uses it: load, idle times, and what the jobs use.

Every POLLING_INTERVAL, as the owner's expressions are looked at; between, all stays as it was.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from kettle.config.knobs.startd import StartdKnobs
from kettle.startd import latches
from kettle.startd.facts import Readings
from kettle.startd.load_shares import deal_out
from kettle.startd.machine import SlotRecord
from kettle.startd.services.execute_folder import ExecuteFolder
from kettle.startd.services.facts import read_readings
from kettle.startd.services.parts import Startd

_IN_USE = frozenset({"Matched", "Claimed", "Preempting"})


class LoadMeter:
    """What is measured of jobs, and of the machine."""

    def __init__(self, startd: Startd) -> None:
        self._startd = startd
        self._execute = ExecuteFolder(startd.runtime, self._on_changed)
        startd.starters.forking.changed = self._on_changed

    async def begin(self) -> None:
        """Measure for the first time, before there are slots; EXECUTE has to answer once."""
        await self._execute.answers()
        self._startd.machine.readings = self._read()

    def _read(self) -> Readings:
        config, now = self._startd.runtime.config, self._startd.runtime.clock.now()
        folder = self._execute.look()
        return read_readings(config, now, folder, self._trouble())

    def _trouble(self) -> str:
        """Why no job can be started here, empty if one can."""
        return self._execute.trouble or self._startd.starters.forking.trouble

    def _on_changed(self) -> None:
        """EXECUTE was looked at in its own time, or starters were: things are not as before."""
        machine = self._startd.machine
        machine.readings = replace(machine.readings, trouble=self._trouble())
        if machine.slots:
            self._startd.refresh_base()
            self._startd.updates.note_all()

    async def measure_when_due(self) -> None:
        """Wait for the next moment to measure.

        Nobody does while no slot is or was in use, unless there is trouble that may be over.
        """
        config = self._startd.runtime.config
        await asyncio.sleep(config.value(StartdKnobs.POLLING_INTERVAL))
        machine = self._startd.machine
        readings = machine.readings
        in_use = any(record.slot.phase.state in _IN_USE for record in machine)
        if in_use or readings.jobs_load or readings.trouble:
            await self._measure()

    async def _measure(self) -> None:
        startd = self._startd
        for record in startd.machine:
            self._look_at(record)
            # A job may have very many processes.
            await asyncio.sleep(0)
        self.read()

    def _look_at(self, record: SlotRecord) -> None:
        runtime = self._startd.runtime
        starter = self._startd.starters.find(record.slot.activation)
        pid = starter.pid if starter is not None else 0
        worked = runtime.processes.cpu_seconds(pid) if pid else 0.0
        longest = float(runtime.config.value(StartdKnobs.POLLING_INTERVAL))
        record.load.observe(pid, worked, runtime.clock.steady(), longest)

    def read(self) -> None:
        """Read what changes, and say whose load is whose."""
        startd, machine = self._startd, self._startd.machine
        trouble = machine.readings.trouble
        readings = self._read()
        for record in machine:
            record.load.settle(machine.facts.cores, readings.load)
        jobs_load = min(sum(record.load.of_job for record in machine), readings.load)
        deal_out(machine, readings.load - jobs_load)
        machine.readings = replace(readings, jobs_load=jobs_load)
        if readings.trouble != trouble:
            # Nobody is to send a job here, or may again.
            startd.refresh_base()
            startd.updates.note_all()
        self._look_at_latches()

    def _look_at_latches(self) -> None:
        startd = self._startd
        config = startd.runtime.config
        names = latches.latch_names(
            [
                *config.value(StartdKnobs.STARTD_LATCH_EXPRS),
                *config.value(StartdKnobs.SYSTEM_STARTD_LATCH_EXPRS),
            ]
        )
        for record in startd.machine:
            if names or record.latches:
                ad = startd.slot_ad(record, policy=True)
                latches.look(record.latches, names, ad, int(startd.runtime.clock.now()))
