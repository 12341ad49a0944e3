"""A schedd notes what its scheduler-universe jobs began, soon, again and again, until none runs."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kettle.config import Config
from kettle.runtime.process.census import note_of, read_note
from kettle.runtime.process.privileges import Privileges
from kettle.schedd.services.earlier_runs import EarlierRuns
from kettle.schedd.services.program_census import ProgramCensus
from kettle.testing.virtual_loop import run_virtually


class Orphans:
    """Who fell to the schedd."""

    def __init__(self) -> None:
        self.found: list[int] | None = []

    def orphans(self) -> list[int] | None:
        return self.found


def make_schedd(folder: Path) -> Any:
    config = Config.from_text(f"LOCAL_UNIV_EXECUTE = {folder}\nBASE_CGROUP =\n")
    return SimpleNamespace(
        runtime=SimpleNamespace(
            config=config,
            privileges=Privileges.find(),
            processes=Orphans(),
            files=SimpleNamespace(make_folder=lambda path: os.makedirs(path, exist_ok=True)),
            clock=SimpleNamespace(monotonic=lambda: 0.0),
            log=lambda _: None,
        )
    )


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


@pytest.mark.parametrize("lives", [False, True])
def test_the_next_schedd_ends_who_was_noted_and_still_is_that_process(
    tmp_path: Path, *, lives: bool
) -> None:
    """Somebody else who has that number by now is left alone."""
    schedd = make_schedd(tmp_path)
    with subprocess.Popen(["/bin/sleep", "60"], env={}) as sleeper:
        birth = Path(f"/proc/{sleeper.pid}/stat").read_text().rpartition(")")[2].split()[19]
        noted = birth if lives else str(int(birth) + 1)
        # No process has that number.
        Path(note_of(str(tmp_path), 2**22 + 1)).write_text(f"{sleeper.pid} {noted}\n")
        asyncio.run(EarlierRuns(schedd).end_all())
        assert (sleeper.poll() is not None) is lives
        sleeper.kill()
    assert not list(tmp_path.iterdir())
