"""What each step did for a job, for whoever makes later jobs of few of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kettle.named_tuples import NamedTuple
from kettle.submit.job import FIELDS, JobBuilder
from kettle.submit.steps import TOGETHER, Step, with_followers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


class Taken(NamedTuple):
    """A step that was run for a job.

    `asked` are the commands that it looked at, in lower case; `is_live` says that something of it
    changes from job to job.
    """

    step: Step
    is_live: bool
    asked: frozenset[str]
    before: tuple[Mapping[str, Any], Mapping[str, Any]]
    after: tuple[Mapping[str, Any], Mapping[str, Any]]

    @property
    def fields(self) -> dict[str, object]:
        """What it set of the job's fields."""
        return {
            name: one for name, one in _changes(self.before[0], self.after[0]) if name in FIELDS
        }

    @property
    def attributes(self) -> frozenset[str]:
        """The attributes that it set to something else, in lower case."""
        return frozenset(name for name, _ in _changes(self.before[1], self.after[1]))


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    return ((name, one) for name, one in after.items() if before.get(name) != one)


def take_each(job: JobBuilder, steps: Iterable[Step]) -> list[Taken]:
    """Run steps for a job and return what each of them did; raises what they raise."""
    found = []
    now = vars(job).copy(), job.attributes.texts.copy()
    for step in steps:
        _, is_live = job.macros.watch(job.take_step, step.run)
        asked = frozenset(map(str.lower, job.asked))
        before, now = now, (vars(job).copy(), job.attributes.texts.copy())
        found.append(Taken(step, is_live, asked, before, now))
    return found


def take_all(job: JobBuilder, steps: Iterable[Step]) -> frozenset[str]:
    """Run all steps for the first job of a cluster.

    Returns what has to be said again, in lower case, where later jobs are made of nothing but the
    cluster and what is said again: what is looked at together with something that changes from job
    to job, and what forces an attribute that changes.
    """
    taken = take_each(job, steps)
    live = with_followers({one.step.run for one in taken if one.is_live})
    looking = live if live.isdisjoint(TOGETHER) else live.union(TOGETHER)
    again: set[str] = set()
    for one in taken:
        if one.step.run in looking:
            again |= one.asked
        if one.step.run in live:
            again |= {f"my.{key}" for key in one.attributes}
    return frozenset(again)
