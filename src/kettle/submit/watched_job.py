"""A job whose steps are watched: what each of them reads, asks and writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kettle.named_tuples import NamedTuple
from kettle.submit.job import FIELDS, Attributes, JobBuilder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kettle.submit.steps import Step

# What steps read and write goes by one name: an attribute by its lower case, one that is forced
# with a plus before it, a field of the builder with a dot.
FORCED, FIELD = "+", "."
# The names of all attributes, and all their texts; with a plus those of the forced ones.
NAMES, TEXTS = "*", "**"
Texts = dict[str, tuple[str, str]]


class State(NamedTuple):
    """A job between two steps; it does not change with it.

    Its attributes are its own; those of the `cluster` show through.
    """

    fields: Mapping[str, object]
    attributes: Texts
    forced: Texts
    cluster: Mapping[str, tuple[str, str]]

    def value(self, name: str) -> object:
        """Return what stands under a name."""
        if name[0] == FIELD:
            return self.fields[name[1:]]
        if name[0] == FORCED:
            found = self.forced.get(name[1:])
        else:
            found = self.attributes.get(name) or self.cluster.get(name)
        return None if found is None else found[1]


class Question(NamedTuple):
    """A question about the job that a step asked, the answer, and what was read for it."""

    ask: Callable[..., object]
    words: tuple[object, ...]
    answer: Any
    read: frozenset[str]


class Record:
    """What a step did, and the job before and after it."""

    def __init__(self, before: State) -> None:
        self.before = self.after = before
        self.read: set[str] = set()
        self.written: set[str] = set()
        self.answers: dict[tuple[object, tuple[object, ...]], Question] = {}
        self.is_live = False
        # Whether anything was looked at that the step has written itself.
        self.saw_own = False

    def all_read(self) -> set[str]:
        """Return what was read, for questions too."""
        return self.read.union(*(question.read for question in self.answers.values()))

    def saw(self, name: str) -> None:
        """Note what is read; what the step has written itself follows from the rest."""
        if name in self.written:
            self.saw_own = True
            return
        # All names and all texts are its own ones too.
        self.saw_own = self.saw_own or (NAMES in name and bool(self.written))
        self.read.add(name)


# Keeps what is read and written between two steps.
_NOBODY = Record(State({}, {}, {}, {}))


class _WatchedAttributes(Attributes):
    """Attributes that tell what is read and written."""

    def __init__(
        self, job: WatchedJob, prefix: str, cluster: Mapping[str, tuple[str, str]] | None = None
    ) -> None:
        super().__init__(cluster)
        self._job, self._prefix = job, prefix

    def set(self, name: str, text: str) -> None:
        """Set an attribute."""
        super().set(name, text)
        self._job.record.written.add(self._prefix + name.lower())

    def get(self, name: str) -> str | None:
        """Return the text of an attribute, None if it is not there."""
        self._job.record.saw(self._prefix + name.lower())
        return super().get(name)

    def __contains__(self, name: str) -> bool:
        self._job.record.saw(self._prefix + name.lower())
        return super().__contains__(name)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        self._job.record.saw(self._prefix + TEXTS)
        return super().__iter__()

    def names(self) -> Iterator[str]:
        """Return the names alone."""
        self._job.record.saw(self._prefix + NAMES)
        return super().names()


class WatchedJob(JobBuilder):
    """Runs steps one by one and keeps a record of each."""

    record: Record

    def __init__(self, *means: Any, **more: Any) -> None:
        super().__init__(*means, **more)
        self.attributes = _WatchedAttributes(self, "", self.attributes.cluster)
        self.forced = _WatchedAttributes(self, FORCED)
        self.record = _NOBODY

    def watch(self, step: Step) -> Record:
        """Run a step and return the record of it."""
        record = self.record = Record(self.state())
        _, record.is_live = self.macros.watch(self.take_step, step.run)
        record.after = self.state()
        self.record = _NOBODY
        return record

    def state(self) -> State:
        """Return what the job is now."""
        get = super().__getattribute__
        fields = {name: get(name) for name in FIELDS}
        attributes, forced = self.attributes, self.forced
        return State(fields, attributes.texts.copy(), forced.texts.copy(), attributes.cluster)

    def ask(self, question: Callable[..., Any], *words: object) -> Any:
        """Note a question as such: if its answer is the same, nothing of what it read counts.

        It asks no other. Where it looks at what the step wrote itself, its answer follows from
        that, and it is none; nor is it where it looks at what changes from job to job.
        """
        record = self.record
        kept, record.read, record.saw_own = record.read, set(), False
        answer, is_live = self.macros.watch(lambda job: question(job, *words), self)
        if record.saw_own or is_live:
            record.read |= kept
            return answer
        asked = Question(question, words, answer, frozenset(record.read))
        record.answers[question, words] = asked
        record.read = kept
        return answer

    def __getattribute__(self, name: str) -> Any:
        if name in FIELDS:
            self.record.saw(FIELD + name)
        return super().__getattribute__(name)

    def __setattr__(self, name: str, value: object) -> None:
        if name in FIELDS:
            self.record.written.add(FIELD + name)
        super().__setattr__(name, value)
