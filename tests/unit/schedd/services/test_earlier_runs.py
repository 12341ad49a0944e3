"""What earlier schedds' jobs began is known by its mark, and by nobody else's number."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kettle.attributes.codes import JobUniverse
from kettle.config import Config
from kettle.runtime.process import hunt
from kettle.runtime.process.privileges import Privileges
from kettle.schedd.job_processes import JobProcess
from kettle.schedd.services.earlier_runs import EarlierRuns
from unit.schedd.queue_fixture import Schedd

# No process has it.
NOBODY = 2**22 + 1


@pytest.mark.parametrize("universe", [JobUniverse.LOCAL, JobUniverse.SCHEDULER])
@pytest.mark.parametrize(
    ("number_again", "ended"),
    [
        # Nobody has the number of the schedd that is gone, or one that came later.
        (0, True),
        (2**62, True),
        # Who has it was there first: it may have begun that job itself.
        (1, False),
    ],
)
def test_a_mark_is_an_earlier_run_s_unless_another_schedd_with_that_number_may_have_made_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    universe: JobUniverse,
    number_again: int,
    *,
    ended: bool,
) -> None:
    queue = Schedd()
    (job,) = queue.submit(JobUniverse=str(int(universe)))
    queue.queue.update(job.id, JobProcess(NOBODY, 7, NOBODY + 1).note())
    config = Config.from_text(f"LOCAL_UNIV_EXECUTE = {tmp_path}\nBASE_CGROUP =\n")
    runtime = SimpleNamespace(config=config, privileges=Privileges.find(), log=lambda _: None)
    earlier = EarlierRuns(cast(Any, SimpleNamespace(runtime=runtime)))
    below = f"{NOBODY}" if universe == JobUniverse.LOCAL else f"{NOBODY + 1}"
    mark = {f"_CONDOR_ANCESTOR_{NOBODY + 1}": f"{below}:{job.id}:"}
    birth_of = hunt.birth_of
    monkeypatch.setattr(
        hunt, "birth_of", lambda pid: number_again if pid == NOBODY + 1 else birth_of(pid)
    )
    title = "condor_schedd -f" if number_again else ""
    monkeypatch.setattr(hunt, "title_of", lambda pid: title if pid == NOBODY + 1 else "sleep")
    child = subprocess.Popen(["/bin/sleep", "60"], env=mark)
    try:
        earlier.end(job)
        asyncio.run(earlier.end_all())
        assert (child.poll() is not None) is ended
    finally:
        child.kill()
        child.wait()
