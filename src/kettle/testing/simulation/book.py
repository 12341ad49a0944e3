"""The book of a campaign: which seeds were run, on which commit, and what came of them.

One JSON file, written anew every few seconds, so that a campaign may be ended at any moment and
goes on where it stopped: a seed that is in the book is not run again.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from kettle.runtime.storage.files import Files
from kettle.testing.simulation.run import Verdict


@dataclass
class Chapter:
    """What came of the seeds that were run on one commit."""

    seeds: list[list[int]] = field(default_factory=list)
    failed: dict[str, list[str]] = field(default_factory=dict)
    jobs: int = 0
    executions: int = 0
    troubles: dict[str, int] = field(default_factory=dict)
    virtual_hours: float = 0.0
    cpu_seconds: float = 0.0

    @property
    def count(self) -> int:
        """How many seeds these are."""
        return sum(last - first + 1 for first, last in self.seeds)


class Book:
    """All chapters, by commit."""

    def __init__(self, path: Path | None, commit: str) -> None:
        self._path = path
        self.chapters: dict[str, Chapter] = {}
        if path is not None and path.exists():
            read = json.loads(path.read_text())
            self.chapters = {name: Chapter(**chapter) for name, chapter in read.items()}
        self._commit = commit
        self._done = {
            seed
            for chapter in self.chapters.values()
            for first, last in chapter.seeds
            for seed in range(first, last + 1)
        }

    def missing(self, seeds: Iterable[int]) -> list[int]:
        """Return those of the seeds that were never run."""
        return [seed for seed in seeds if seed not in self._done]

    def note(self, verdict: Verdict) -> None:
        """Take a verdict over."""
        chapter = self.chapters.setdefault(self._commit, Chapter())
        self._done.add(verdict.seed)
        chapter.seeds = _with(chapter.seeds, verdict.seed)
        if verdict.violations:
            chapter.failed[str(verdict.seed)] = [each[:500] for each in verdict.violations[:5]]
        chapter.jobs += verdict.jobs
        chapter.executions += verdict.executions
        chapter.troubles = dict(Counter(chapter.troubles) + Counter(verdict.kinds))
        chapter.virtual_hours = round(chapter.virtual_hours + verdict.virtual_seconds / 3600, 3)
        chapter.cpu_seconds = round(chapter.cpu_seconds + verdict.cpu_seconds, 2)

    def save(self) -> None:
        """Write the file, if there is one."""
        if self._path is not None:
            chapters = {name: asdict(chapter) for name, chapter in self.chapters.items()}
            Files().write_atomically(str(self._path), json.dumps(chapters, indent=1) + "\n")


def _with(ranges: list[list[int]], seed: int) -> list[list[int]]:
    """Return ranges of whole numbers, first and last, with one more number in them."""
    made: list[list[int]] = []
    for first, last in sorted([*ranges, [seed, seed]]):
        if made and first <= made[-1][1] + 1:
            made[-1][1] = max(made[-1][1], last)
        else:
            made.append([first, last])
    return made
