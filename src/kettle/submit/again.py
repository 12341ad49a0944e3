"""What has to be done again for each job of a cluster, and nothing else.

A step of `steps.py` is a function of what it looks at. So one job is made by steps that are
watched: what each of them reads and writes is known then, and whether it looks at something that
changes from job to job. For every further job a step runs again only if it does, or if something
that it read is otherwise than it was for the watched job. A step that does not run has done what it
did for that job.

Where a step writes what the watched one did not, the job has to be made from the beginning, and
another one watched (`UnforeseenError`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.errors import ConfigError, SubmitError
from kettle.named_tuples import NamedTuple
from kettle.submit.copies import copy_of
from kettle.submit.differences import otherwise
from kettle.submit.quick_job import QuickJob, UnforeseenError, Writes
from kettle.submit.watched_job import FIELD, FORCED, NAMES, TEXTS, Record, State, Texts, WatchedJob

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from kettle.submit.copies import Copy
    from kettle.submit.job import Attributes
    from kettle.submit.steps import Step


class _Again(NamedTuple):
    """A step that may have to run again, and what of its surroundings it finds."""

    step: Step
    record: Record
    # It runs for each job; otherwise only where something that it read has changed.
    always: bool
    # It changes with the job alone, and not with what other steps write for it.
    is_alone: bool
    # Fields that steps which never run again have set between the one before in this list and it.
    fields: dict[str, object]
    # Fields that it leaves behind where it does not run.
    left: dict[str, object]
    writes: Writes
    # What of that later steps look at, and what it wrote for other jobs alone.
    watched: tuple[str, ...]
    # What stands in for it where it copies texts of this job alone.
    copy: Copy | None = None


class Again:
    """Makes the jobs behind the watched one."""

    def __init__(self, job: WatchedJob, steps: Sequence[Step], more: Collection[str]) -> None:
        """Run steps on a job and watch them.

        `more` is what they write for some jobs and may not for this one. Raises what they raise.
        """
        records = [(step, job.watch(step)) for step in steps]
        self.last = job.state()
        again = _steps_again(records, frozenset(more))
        self._steps = tuple(one._replace(copy=_copy(job, one)) for one in again)
        first = self._steps[0].record.before if self._steps else self.last
        passed = self._steps[-1].record.after if self._steps else self.last
        self._end = _otherwise(self.last, passed)
        self._job = QuickJob.beside(job, first.fields)
        moves = self._end or any(one.fields or one.writes.fields for one in self._steps)
        self._first = dict(first.fields) if moves else {}

    def always_writes(self) -> Writes:
        """Return what steps may write which run for each job."""
        writes = [one.writes for one in self._steps if one.always]
        none = frozenset[str]()
        return Writes(
            none.union(*(one.fields for one in writes)),
            none.union(*(one.attributes for one in writes)),
            none.union(*(one.forced for one in writes)),
        )

    def make(self) -> QuickJob:
        """Make the job of the row that is set; good until the next one is made.

        Raises UnforeseenError, and what the steps raise.
        """
        job = self._job
        job.begin(self._first)
        changed: set[str] = set()
        for one in self._steps:
            # No field here or below is changed: what writes over others' runs for each job.
            if one.fields:
                job.move(one.fields)
            if one.copy is not None and one.copy.make(job):
                continue
            if one.always or (changed and _has_to_run(one.record, job, changed)):
                job.run(one.step, one.record, one.writes, changed)
                _note_changes(one, job, changed)
            elif one.left:
                job.move(one.left)
        if self._end:
            job.move(self._end)
        return job


def _steps_again(records: Sequence[tuple[Step, Record]], more: frozenset[str]) -> Iterable[_Again]:
    """Return the steps that run again for each job, and those that may have to because of them."""
    found: list[tuple[Step, Record, bool, bool, frozenset[str]]] = []
    written: set[str] = set()
    for step, record in records:
        writes = frozenset(record.written)
        # What is written over has to be written again.
        always = record.is_live or not written.isdisjoint(writes)
        depends = _depends(record, written)
        if always or depends:
            # Nobody knows which of them writes the rest.
            writes |= more
            found.append((step, record, always, always and not depends, writes))
            written |= writes
    for number, (step, record, always, is_alone, writes) in enumerate(found):
        later = [other for _, other, *_ in found[number + 1 :]]
        kinds, own = _by_kind(writes), _by_kind(record.written)
        yield _Again(
            step,
            record,
            always,
            is_alone,
            _otherwise(record.before, found[number - 1][1].after) if number else {},
            {} if always else {name: record.after.fields[name] for name in own.fields},
            kinds,
            tuple(
                name
                for name in writes
                if record.after.value(name) is None or any(_reads(one, {name}) for one in later)
            ),
        )


def _copy(job: WatchedJob, one: _Again) -> Copy | None:
    """Return what stands in for a step, None if it has to run."""
    if not one.is_alone or one.watched:
        return None
    return copy_of(job, one.step, one.record, one.writes)


def _otherwise(now: State, earlier: State) -> dict[str, object]:
    """Return the fields that have other values than earlier."""
    return {name: v for name, v in now.fields.items() if earlier.fields[name] != v}


def _depends(record: Record, written: Collection[str]) -> bool:
    """Tell whether a step reads anything of what was written."""
    if _reads(record, written):
        return True
    prefixes = {FORCED if name[0] == FORCED else "" for name in written if name[0] != FIELD}
    return any(prefix + NAMES in record.all_read() for prefix in prefixes)


def _reads(record: Record, written: Collection[str]) -> bool:
    """Tell whether a step reads the text of anything that was written."""
    read = record.all_read()
    prefixes = {FORCED if name[0] == FORCED else "" for name in written if name[0] != FIELD}
    return not read.isdisjoint(written) or any(prefix + TEXTS in read for prefix in prefixes)


def _by_kind(writes: Iterable[str]) -> Writes:
    fields = frozenset(name[1:] for name in writes if name[0] == FIELD)
    forced = frozenset(name[1:] for name in writes if name[0] == FORCED)
    return Writes(
        fields, frozenset(name for name in writes if name[0] not in FORCED + FIELD), forced
    )


def _has_to_run(record: Record, job: QuickJob, changed: set[str]) -> bool:
    """Tell whether anything that a step read is otherwise than for the watched job."""
    if not record.read.isdisjoint(changed):
        return True
    job.stand_before(record)
    return any(
        not one.read.isdisjoint(changed) and one.ask(job, *one.words) != one.answer
        for one in record.answers.values()
    )


def _note_changes(one: _Again, job: QuickJob, changed: set[str]) -> None:
    """Note what is otherwise behind a step that has run than it was for the watched job."""
    fields, attributes, forced = one.writes
    after = one.record.after
    for name in fields:
        if vars(job)[name] == after.fields[name]:
            changed.discard(FIELD + name)
        else:
            changed.add(FIELD + name)
    if not attributes <= job.attributes.texts.keys() and job.attributes.note_lacking(attributes):
        changed.add(NAMES)
    if forced and job.forced.note_lacking(forced):
        changed.add(FORCED + NAMES)
    for name in one.watched:
        if name[0] == FIELD:
            continue
        prefix = FORCED if name[0] == FORCED else ""
        texts = job.forced if prefix else job.attributes
        text, other = texts.get(name.removeprefix(prefix)), after.value(name)
        if text == other:
            changed.discard(name)
            continue
        changed.update((name, prefix + TEXTS))
        if text is None or other is None:
            changed.add(prefix + NAMES)


class Comparison:
    """What a job has otherwise than the cluster.

    `watched` is what the watched job has otherwise, and what is `fixed` nobody has otherwise.
    """

    def __init__(self, again: Again, watched: Attributes, fixed: frozenset[str]) -> None:
        self._cluster = again.last.cluster
        self._fixed = fixed
        always, forced = again.always_writes(), again.last.forced
        plain = {key: one for key, one in watched.texts.items() if key not in forced}
        plain.update(again.last.attributes)
        # What steps that do not run have left otherwise, and what they force: that hides what
        # others set, whatever the cluster has.
        left = {key: one for key, one in plain.items() if key not in always.attributes}
        self._left = otherwise(left, self._cluster).texts
        self._forced = {key: one for key, one in forced.items() if key not in always.forced}

    def differences(self, job: QuickJob) -> Attributes:
        """Return what a job has otherwise."""
        own = job.attributes.texts
        if self._left:
            own = {**_but(self._left, job.attributes.lacking), **own}
        if self._forced or job.forced.texts:
            own = {**own, **_but(self._forced, job.forced.lacking), **job.forced.texts}
        found = otherwise(own, self._cluster)
        for key in self._fixed:
            found.texts.pop(key, None)
        return found


def _but(texts: Texts, names: Collection[str]) -> Texts:
    """Return texts but those of some names."""
    return {key: one for key, one in texts.items() if key not in names} if names else texts


class Later(NamedTuple):
    """What makes the jobs behind a watched one, and what says how they differ from the cluster."""

    again: Again
    comparison: Comparison

    def attempt(self, unforeseen: set[str]) -> QuickJob | None:
        """Make the job of the row that is set; None where it has to be made as a whole.

        What is `unforeseen` then is something that steps did not write for the watched job.
        """
        try:
            return self.again.make()
        except UnforeseenError as error:
            unforeseen.add(error.name)
        except (ConfigError, SubmitError):
            # It is told with its place, which is found by all that was looked at.
            pass
        return None
