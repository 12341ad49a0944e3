"""A schedd notes what its scheduler-universe jobs began, soon, again and again, until none runs."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path

from kettle.runtime.process.census import note_of, read_note
from kettle.schedd.services.program_census import ProgramCensus
from kettle.testing.virtual_loop import run_virtually
from unit.schedd.census_fixture import make_schedd


def test_what_a_program_began_and_what_fell_to_us_is_noted_until_no_program_runs(
    tmp_path: Path,
) -> None:
    schedd = make_schedd(tmp_path / "local")
    path = note_of(f"{tmp_path}/local", os.getpid())
    # A shell that waits, and what it began; who is nobody's child in the schedd.
    with (
        subprocess.Popen(
            ["/bin/sh", "-c", "sleep 60 & echo; wait"], stdout=subprocess.PIPE
        ) as program,
        subprocess.Popen(["/bin/sleep", "60"]) as stray,
    ):
        assert program.stdout is not None
        program.stdout.readline()
        programs = [program.pid]
        try:

            async def main() -> None:
                census = ProgramCensus(schedd, lambda: programs)
                census.on_start()
                await asyncio.sleep(0.06)
                first = read_note(path)
                assert program.pid in first
                assert len(first) == 2
                schedd.runtime.processes.found = [stray.pid]
                await asyncio.sleep(1.1)
                assert {*read_note(path)} == {*first, stray.pid}
                # Nobody can tell for a moment: who was known is.
                schedd.runtime.processes.found = None
                await asyncio.sleep(1.1)
                assert {*read_note(path)} == {*first, stray.pid}
                programs.clear()
                await asyncio.sleep(1.1)
                assert not read_note(path)

            run_virtually(main())
            assert not os.path.exists(path)
        finally:
            subprocess.run(["pkill", "-9", "-P", str(program.pid)], check=False)
            program.kill()
            stray.kill()
