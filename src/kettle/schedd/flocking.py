"""Which other pools hear of a submitter whose jobs find no machine at home.

The pools of FLOCK_COLLECTOR_HOSTS are asked one after the other: a level says up to which. It rises
when the last pool asked rejects a job and falls when nothing waits any more. Telling the pools is
`services/flocking.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class FlockLevels:
    """How many of the other pools each submitter's jobs are offered to."""

    # The other pools' collectors as the configuration names them.
    pools: tuple[str, ...]
    increment: int = 1
    least: int = 0
    _levels: dict[str, int] = field(default_factory=dict)

    def level(self, submitter: str) -> int:
        """Return how many pools beside the own one a submitter's jobs are offered to."""
        return min(max(self._levels.get(submitter, 0), self.least), len(self.pools))

    def pools_of(self, submitter: str) -> Sequence[str]:
        """Return those pools, the first to be asked first."""
        return self.pools[: self.level(submitter)]

    def on_rejected(self, submitter: str, pool: str) -> bool:
        """A pool (empty: the own one) has nothing for a job; True if a further one is to be asked.

        Only the last one asked counts: the others have been passed over already.
        """
        level = self.level(submitter)
        last = self.pools[level - 1] if level else ""
        if pool != last or level >= len(self.pools):
            return False
        self._levels[submitter] = level + max(1, self.increment)
        return True

    def on_satisfied(self, submitters: Iterable[str]) -> None:
        """Nothing of these waits any more: they begin at home again."""
        for submitter in submitters:
            self._levels.pop(submitter, None)
