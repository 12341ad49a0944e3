"""One campaign: jobs are submitted, held and released while processes die, then all is counted.

What happens, and to whom, follows from the seed; the moments are the machine's, so a seed makes a
failure likely again, not certain. The troubled time is followed by peace, in which every job that
was acknowledged must end.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kettle.errors import KettleError
from kettle.pool.personal import PersonalPool
from kettle.testing.kills import checks, troubles
from kettle.testing.kills.jobs import KINDS, Wish, Workshop
from kettle.testing.pool_fixture import processes_of

CONFIG = (
    "NUM_CPUS = 12\nMASTER_BACKOFF_CONSTANT = 0\nMASTER_BACKOFF_CEILING = 1\n"
    # What a dead schedd had claimed and had not used is free again after six of these.
    "ALIVE_INTERVAL = 10\n"
    "MAX_HISTORY_LOG = 1000000000\nMAX_DEFAULT_LOG = 1000000000\n"
)
HELD_BY_USER = "Held by the campaign"
_BATCH = 8
_RUN_TOOL = (
    "import sys; from kettle.tools.programs import run_program; "
    "sys.exit(run_program(sys.argv.pop(1)))"
)
_TERSE = re.compile(r"\b(\d+)\.(\d+) - \d+\.(\d+)")
# Limit: in which the mended pool must have ended every job, and each of the smaller steps.
_PEACE_SECONDS = 600.0
_STEP_SECONDS = 120.0
_LOOK_SECONDS = 0.2


@dataclass
class Verdict:
    """What came of a campaign."""

    seed: int
    jobs: int = 0
    executions: int = 0
    kills: dict[str, int] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)
    story: list[str] = field(default_factory=list)


class Campaign:
    """A pool, its jobs, and what has been done to it."""

    def __init__(
        self, pool: PersonalPool, workshop: Workshop, seed: int, tell: Callable[[str], object]
    ) -> None:
        self.pool = pool
        self.workshop = workshop
        self.verdict = Verdict(seed)
        self.wishes: list[Wish] = []
        self._random = random.Random(seed)  # noqa: S311 - dice, not secrets
        self._tell = tell
        self._began = time.monotonic()
        self._batches = 0

    def run(self, jobs: int, seconds: float) -> Verdict:
        """Submit so many jobs while things die for so many seconds; then see what holds."""
        deadline = time.monotonic() + seconds
        # The jobs come during the first half, so that there are some to run until the end.
        pace = seconds / 2 / max(1, jobs // _BATCH)
        submit_at = time.monotonic()
        while time.monotonic() < deadline or len(self.wishes) < jobs:
            if time.monotonic() > deadline + _PEACE_SECONDS:
                self._violate("the mended pool takes no jobs")
                break
            if len(self.wishes) < jobs and time.monotonic() >= submit_at:
                self._submit(min(_BATCH, jobs - len(self.wishes)))
                submit_at = max(submit_at + pace, time.monotonic())
            if time.monotonic() < deadline:
                time.sleep(self._random.choice((0.0, 0.05, 0.3, 1.0, 2.0)) * self._random.random())
                self._act()
                self._kill()
            self._progress()
        self._make_peace()
        return self.verdict

    # What the user does.

    def _submit(self, count: int) -> None:
        """Submit a batch of one kind. One that is not acknowledged is forgotten, not submitted."""
        self._batches += 1
        kind = KINDS[self._batches % len(KINDS)]
        batch = f"b{self._batches}"
        path = self.workshop.describe(batch, kind, count, self._random)
        code, said = self._tool("condor_submit", "-terse", str(path))
        found = _TERSE.search(said)
        if code != 0 or found is None:
            self._note(f"{batch} is not taken: {said.strip()[-200:]}")
            return
        self.wishes += [
            Wish(f"{batch}.{number}", kind, int(found[1]), number) for number in range(count)
        ]
        self._note(f"{batch} is cluster {found[1]}: {count} {kind.name} jobs")

    def _act(self) -> None:
        """Hold, release or remove something, now and then."""
        choice = self._random.random()
        if choice > 0.18 or not self.wishes:
            return
        wish = self._random.choice(self.wishes)
        cluster = str(wish.cluster)
        if choice < 0.05:
            code, _ = self._tool("condor_hold", "-reason", HELD_BY_USER, cluster)
            self._note(f"hold {cluster}: {code}")
        elif choice < 0.15:
            code, _ = self._tool("condor_release", cluster)
            self._note(f"release {cluster}: {code}")
        else:
            self._remove(wish)

    def _remove(self, wish: Wish) -> None:
        """Remove a job; one that the queue does not know any more has ended before."""
        which = f"{wish.cluster}.{wish.proc}"
        code, said = self._tool("condor_rm", which)
        self._note(f"remove {which}: {code} {said.strip()[-200:]}")
        wish.removed |= code == 0

    def _tool(self, name: str, *words: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-P", "-c", _RUN_TOOL, name, *words],
            env=self.pool.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=_STEP_SECONDS,
        )
        return done.returncode, done.stdout + done.stderr

    # What goes wrong.

    def _kill(self) -> None:
        trouble = troubles.draw(self._random)
        pids = trouble.find(self.pool, self._random)
        master = self.pool.master_pid()
        if master is None:
            self._violate("the master is gone, and nobody killed it")
            self._start_again()
            return
        if not pids:
            return
        troubles.kill(pids)
        titles = [f"{pid} {title}".strip() for pid, title in pids.items()]
        self._note(f"kill {trouble.name}: {', '.join(titles)}")
        self.verdict.kills[trouble.name] = self.verdict.kills.get(trouble.name, 0) + 1
        if master in pids:
            self._wait_for_death(master)
            self._start_again()
            with contextlib.suppress(ChildProcessError):
                os.waitpid(master, os.WNOHANG)

    def _wait_for_death(self, master: int) -> None:
        """Wait the moment that a killed process takes to be gone; until then its pool is up."""
        deadline = time.monotonic() + _STEP_SECONDS
        while self.pool.master_pid() == master:
            if time.monotonic() > deadline:
                self._violate("a killed master stays")
                return
            time.sleep(0.001)

    def _start_again(self) -> None:
        """Start the pool whose master died; nothing of the old one may be there much longer."""
        pause = self._random.choice((0.0, 0.0, 0.5, 3.0))
        time.sleep(pause)
        before = processes_of(self.pool)
        try:
            self.pool.start(seconds=_STEP_SECONDS)
        except KettleError as error:
            self._violate(f"the pool does not start again: {error}")
            return
        self._note(f"up again after {pause} s, over {len(before)} old processes")

    # What must come of it.

    def _make_peace(self) -> None:
        self._note("peace")
        if self.pool.master_pid() is None:
            self._violate("the pool is down")
            return
        if not self._wait(self._is_finished, _PEACE_SECONDS):
            _, said = self._tool("condor_q", "-all", "-nobatch")
            self._violate(f"the pool does not finish its jobs: {said[:2000]}")
        self._submit(1)
        if not self._wait(self._is_finished, _STEP_SECONDS):
            self._violate("the pool does not run a new job")
        if not self._wait(lambda: not self._claimed_slots(), _STEP_SECONDS):
            self._violate(f"slots stay claimed: {self._claimed_slots()}")
        if not self._wait(lambda: not self.workshop.living(), _LOOK_SECONDS):
            self._violate(f"programs of jobs are left over: {self.workshop.living()}")
        self.verdict.jobs = len(self.wishes)
        executions = self.workshop.read_notes().executions
        self.verdict.executions = sum(map(len, executions.values()))
        folder = Path(self.pool.folder)
        self.verdict.violations += checks.find_violations(
            self.workshop, self.wishes, folder, HELD_BY_USER
        )

    def _is_finished(self) -> bool:
        """Whether the queue is empty; what is on hold is released, as a user would."""
        self._progress()
        code, said = self._tool("condor_q", "-all", "-af", "JobStatus")
        statuses = said.split()
        if code == 0 and "5" in statuses:
            self._tool("condor_release", "-all")
        return code == 0 and not statuses

    def _claimed_slots(self) -> list[str]:
        code, said = self._tool("condor_status", "-af", "Name", "State")
        lines = said.splitlines()
        if code != 0 or not lines:
            return [said]
        return [line for line in lines if line.split()[-1] not in ("Unclaimed", "Owner")]

    def _wait(self, condition: Callable[[], bool], seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                return False
            time.sleep(_LOOK_SECONDS)
        return True

    # What is told.

    def _note(self, text: str) -> None:
        moment = time.strftime("%H:%M:%S")
        self.verdict.story.append(
            f"{time.monotonic() - self._began:8.3f} ({moment}, {time.monotonic():.3f}) {text}"
        )
        self._tell(f"\r{self.verdict.story[-1]}\n")

    def _violate(self, text: str) -> None:
        self._note(text)
        self.verdict.violations.append(text)

    def _progress(self) -> None:
        kills = sum(self.verdict.kills.values())
        began = self.workshop.witness.stat().st_size
        self._tell(
            f"\r{time.monotonic() - self._began:6.0f} s  {len(self.wishes)} jobs  {kills} kills  "
            f"{began} bytes of notes "
        )


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    """Yield a folder that the account of jobs can enter."""
    import tempfile

    folder = Path(tempfile.mkdtemp(prefix="kettle-kills-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run(
    jobs: int,
    seconds: float,
    seed: int,
    *,
    keep: str = "",
    tell: Callable[[str], object] = str,
) -> Verdict:
    """Run a campaign in a pool of its own; a failed one leaves its story in the folder `keep`."""
    with _folder() as folder:
        pool = PersonalPool(str(folder / "pool"), configuration=CONFIG)
        (folder / "jobs").mkdir()
        campaign = Campaign(pool, Workshop(folder / "jobs"), seed, tell)
        pool.make()
        try:
            pool.start(seconds=_STEP_SECONDS)
            verdict = campaign.run(jobs, seconds)
        finally:
            pool.stop(how="fast")
        left = _left_over(pool)
        if left:
            verdict.violations.append(f"processes outlive the pool: {left}")
        if verdict.violations and keep:
            _keep(campaign, Path(keep))
        return verdict


def _left_over(pool: PersonalPool) -> list[int]:
    deadline = time.monotonic() + _STEP_SECONDS
    while (left := processes_of(pool)) and time.monotonic() < deadline:
        time.sleep(_LOOK_SECONDS)
    return left


def _keep(campaign: Campaign, where: Path) -> None:
    """Gather what tells the story of a failure."""
    where.mkdir(parents=True, exist_ok=True)
    pool = Path(campaign.pool.folder)
    for name, folder in (
        ("log", pool / "log"),
        ("spool", pool / "spool"),
        ("jobs", campaign.workshop.folder),
    ):
        shutil.copytree(folder, where / name, dirs_exist_ok=True, ignore=_is_no_file)
    lines = [*campaign.verdict.story, "", *campaign.verdict.violations, ""]
    (where / "story.txt").write_text("\n".join(lines), encoding="utf-8")


def _is_no_file(folder: str, names: list[str]) -> set[str]:
    """Leave out sockets and what is of no use for a story."""
    paths = {name: Path(folder, name) for name in names}
    return {name for name, path in paths.items() if not (path.is_file() or path.is_dir())}
