"""What a pool's jobs left when all of its daemons were killed: found and ended for `kettle down`.

The next startd and schedd of a pool end it before they begin a job (`runtime/process/leftovers.py`,
`schedd/services/earlier_runs.py`). A pool that stays down, or goes, has none, and its records are
what tells whose the processes are. They are ended here in the same way.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping

from kettle.config import Config, load_config
from kettle.errors import KettleError
from kettle.named_tuples import NamedTuple
from kettle.pool.folder import PoolFolder
from kettle.pool.processes import have_left
from kettle.pool.turns import turn_in
from kettle.runtime.process.abandoned import Abandoned, hierarchy_of, is_starter
from kettle.runtime.process.census import birth_of
from kettle.runtime.process.hunt import begun_by, hunt
from kettle.runtime.process.liveness import is_zombie
from kettle.runtime.process.privileges import Privileges
from kettle.runtime.process.processes import descendants, real_uid_of
from kettle.runtime.storage.files import SystemSources
from kettle.schedd.job_processes import JobProcess, read_noted
from kettle.schedd.settings import local_execute


class Remains(NamedTuple):
    """How many processes of jobs were ended, and which cannot be."""

    ended: int = 0
    staying: tuple[int, ...] = ()


def end_remains(pool: PoolFolder) -> Remains:
    """End what the jobs of a pool that is down have left on this machine.

    Only for the account that the pool's folder belongs to, as what lies in it names processes; for
    root none that is root's own, for which the daemons' account, who keeps these records, has no
    word. Nothing is ended of a pool whose configuration is broken.
    """
    try:
        if os.stat(pool.folder).st_uid != os.geteuid():
            return Remains()
        startd, schedd = (_load(pool, subsystem) for subsystem in ("STARTD", "SCHEDD"))
        # Nobody brings the pool up meanwhile: its daemons do this work themselves.
        with turn_in(pool.folder):
            return _end_what_is_left(pool, startd, schedd)
    except (KettleError, OSError):
        return Remains()


def _end_what_is_left(pool: PoolFolder, startd: Config, schedd: Config) -> Remains:
    # Daemons whose master was killed follow it, and what they do at their end is theirs.
    if pool.is_up() or not have_left({pool.log_folder}):
        return Remains()
    privileges = Privileges.find(startd.get("CONDOR_IDS") or None)
    base = (startd.get("BASE_CGROUP") or "").strip("/")
    places = [
        Abandoned(folder.rstrip("/"), base, privileges, _tell_nobody, hierarchy_of(base))
        for folder in (startd.get("EXECUTE"), local_execute(schedd))
        if folder
    ]
    noted = _noted(schedd)
    if not noted and not any(place.starters() for place in places):
        return Remains()
    # Loaded here: what it brings along is seldom needed.
    from kettle.runtime import life

    return life.run(_End(privileges).end(places, noted))


def _tell_nobody(_text: str) -> None:
    """Log nothing: whoever takes the pool down is told how many they were."""


class _End:
    """One such end; counts whom it finds."""

    def __init__(self, privileges: Privileges) -> None:
        self._privileges = privileges
        self._found: set[int] = set()
        self._staying: set[int] = set()

    async def end(self, places: Iterable[Abandoned], noted: Mapping[str, JobProcess]) -> Remains:
        """End what works in these execute folders, and these processes of jobs."""
        for place in places:
            await self._end_at(place)
        marks: dict[int, list[str]] = {}
        for job, process in noted.items():
            marks.setdefault(process.parent, []).extend(process.marks(job))
        if noted:
            await self._hunt(lambda: [*_living(noted.values()), *begun_by(self._privileges, marks)])
        return Remains(len(self._found), tuple(sorted(self._staying)))

    async def _end_at(self, place: Abandoned) -> None:
        starters = place.starters()
        self._found.update(filter(place.lives, starters))
        await place.see_off(starters)
        if starters:
            await self._hunt(lambda: place.inhabitants(starters))
        # What a control group still has.
        await place.end(())

    async def _hunt(self, find: Callable[[], list[int]]) -> None:
        def find_and_count() -> list[int]:
            found = [pid for pid in find() if not self._is_roots(pid)]
            self._found.update(found)
            self._found.update(pid for one in found for pid in descendants(one))
            return found

        self._staying.update(await hunt(find_and_count, self._privileges))

    def _is_roots(self, pid: int) -> bool:
        """Whether a process is root's, and so no job's (R087), nor the starter of a local job."""
        return self._privileges.can_switch and real_uid_of(pid) == 0 and not is_starter(pid)


def _living(noted: Iterable[JobProcess]) -> list[int]:
    return [
        each.pid for each in noted if birth_of(each.pid) == each.birth and not is_zombie(each.pid)
    ]


def _load(pool: PoolFolder, subsystem: str) -> Config:
    return load_config(SystemSources(), pool.environment(), subsystem=subsystem)


def _noted(schedd: Config) -> dict[str, JobProcess]:
    """Return the processes of jobs beside the schedd that the queue's log names."""
    try:
        with open(schedd.get("JOB_QUEUE_LOG") or "", "rb") as log:
            return read_noted(log)
    except (KettleError, OSError):
        return {}
