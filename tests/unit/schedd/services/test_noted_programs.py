"""The next schedd ends what the last one had noted of its scheduler-universe jobs."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest

from kettle.runtime.process.census import note_of
from kettle.schedd.services.earlier_runs import EarlierRuns
from unit.schedd.census_fixture import make_schedd


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
