"""A job of which only what changes is made: steps find the rest as it was for another job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from kettle.named_tuples import NamedTuple
from kettle.submit.fillings import Filling, filled
from kettle.submit.job import FIELDS, Attributes, JobBuilder
from kettle.submit.macros import LIVE_NAMES
from kettle.submit.registry import command_names
from kettle.submit.watched_job import FIELD, FORCED, Question, Record, Texts

if TYPE_CHECKING:
    from typing import Self

    from kettle.submit.steps import Step

T = TypeVar("T")
# A text that is the same for all jobs, what gives a job's, or nothing.
_Known = str | Filling | None


class UnforeseenError(Exception):
    """A step writes what it did not write for the other job."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class Writes(NamedTuple):
    """What a step may write, the prefixes of `watched_job` left out."""

    fields: frozenset[str]
    attributes: frozenset[str]
    forced: frozenset[str]


class QuickAttributes(Attributes):
    """A few attributes of one's own over those of another job as it was before the same step."""

    def __init__(self, prefix: str, cluster: Mapping[str, tuple[str, str]] | None = None) -> None:
        super().__init__(cluster)
        self.prefix = prefix
        self.below: Texts = {}
        self.may_write: frozenset[str] = frozenset()
        # What the other job sets and this one does not: it has that of its cluster, if at all.
        self.lacking: set[str] = set()

    def set(self, name: str, text: str) -> None:
        """Set an attribute; UnforeseenError where the step may not."""
        key = name.lower()
        if key not in self.may_write:
            raise UnforeseenError(self.prefix + key)
        known = self.texts.get(key) or self.below.get(key) or self.cluster.get(key)
        self.texts[key] = (known[0] if known else name, text)

    def get(self, name: str) -> str | None:
        """Return the text of an attribute, None if it is not there."""
        found = self._found(name.lower())
        return None if found is None else found[1]

    def _found(self, key: str) -> tuple[str, str] | None:
        found = self.texts.get(key) or (None if key in self.lacking else self.below.get(key))
        return found or self.cluster.get(key)

    def remove(self, name: str) -> None:
        """Raise UnforeseenError: no step of more than one job takes any away."""
        raise UnforeseenError(self.prefix + name.lower())

    def __contains__(self, name: str) -> bool:
        return self._found(name.lower()) is not None

    def all(self) -> Texts:
        """Return all texts, those of the other job and of the cluster among them."""
        below = {key: one for key, one in self.below.items() if key not in self.lacking}
        return {**self.cluster, **below, **self.texts}

    def note_lacking(self, names: frozenset[str]) -> bool:
        """Note what a step that may set these has left as it was before.

        Returns whether there is any that the other job has and this one has not.
        """
        for key in names:
            if key not in self.texts and key not in self.lacking:
                known = self.below.get(key)
                if known is None:
                    self.lacking.add(key)
                else:
                    self.texts[key] = known
        return any(key not in self.cluster for key in self.lacking)


class QuickJob(JobBuilder):
    """What steps run on that are done again; texts that do not change are expanded once."""

    may_write: frozenset[str]
    attributes: QuickAttributes
    forced: QuickAttributes

    @classmethod
    def beside(cls, other: JobBuilder, fields: Mapping[str, object]) -> Self:
        """Return a job with the other's means and such fields."""
        job = object.__new__(cls)
        own = vars(job)
        own.update((name, value) for name, value in vars(other).items() if name not in FIELDS)
        own.update(fields)
        own["warnings"], own["asked"] = [], []
        own["attributes"] = QuickAttributes("", other.attributes.cluster)
        own["forced"] = QuickAttributes(FORCED)
        own["_texts"], own["_exact"], own["_expanded"] = {}, {}, {}
        own["_booleans"], own["_integers"], own["_names"] = {}, {}, {}
        return job

    _answers: Mapping[tuple[object, tuple[object, ...]], Question]
    _changed: set[str]
    _texts: dict[str, _Known]
    # By command, by which of its names the description gives it.
    _names: dict[str, str]
    _exact: dict[str, _Known]
    _expanded: dict[str, str | Filling]
    _booleans: dict[str, bool | None]
    _integers: dict[str, int | None]

    def begin(self, fields: dict[str, object]) -> None:
        """Begin another job, with the fields as they are before the first step."""
        if fields:
            vars(self).update(fields)
        self.warnings.clear()
        self.asked.clear()
        for attributes in (self.attributes, self.forced):
            attributes.texts.clear()
            attributes.lacking.clear()

    def move(self, fields: dict[str, object]) -> None:
        """Give fields the values that they had for the other job."""
        vars(self).update(fields)

    def run(self, step: Step, record: Record, writes: Writes, changed: set[str]) -> None:
        """Run a step that had this record; UnforeseenError if it writes what is not named.

        `changed` is what is otherwise than it was for the other job.
        """
        own, before = vars(self), record.before
        own["may_write"], own["_answers"], own["_changed"] = writes.fields, record.answers, changed
        attributes, forced = self.attributes, self.forced
        attributes.below, attributes.may_write = before.attributes, writes.attributes
        forced.below, forced.may_write = before.forced, writes.forced
        step.run(self)

    def stand_before(self, record: Record) -> None:
        """Have the attributes as they were before a step, where they are not changed."""
        self.attributes.below, self.forced.below = record.before.attributes, record.before.forced
        vars(self)["_answers"] = {}

    def ask(self, question: Callable[..., T], *words: object) -> T:
        """Ask a question, if it was not asked of the other job or what it looks at has changed."""
        known = self._answers.get((question, words))
        if known is not None and known.read.isdisjoint(self._changed):
            answer: T = known.answer
            return answer
        return question(self, *words)

    def param(self, command: str) -> str | None:
        """Return the expanded text of a command; None if it is not set or empty."""
        try:
            known = self._texts[command]
        except KeyError:
            known = self._texts[command] = self._learn(command, command_names(command))
            if known == "":
                known = self._texts[command] = None
        if known is None or isinstance(known, str):
            return known
        return self.fill_in(self._names[command], known) or None

    def text_of(self, name: str) -> str | None:
        """Return the expanded text of exactly this name."""
        try:
            known = self._exact[name]
        except KeyError:
            known = self._exact[name] = self._learn(name, (name,))
        if known is None or isinstance(known, str):
            return known
        return self.fill_in(name, known)

    def expand(self, text: str) -> str:
        """Return a text of the description with its macros replaced."""
        if "$" not in text:
            return text
        try:
            known = self._expanded[text]
        except KeyError:
            known = self._expanded[text] = filled(self.macros, text)
        return known if isinstance(known, str) else self.fill_in(self.macros.reading, known)

    def fill_in(self, name: str, known: Filling) -> str:
        """Return a text that changes, of the name that is to blame for what is wrong with it."""
        self.macros.reading = name
        return known.make()

    def _learn(self, command: str, names: tuple[str, ...]) -> _Known:
        """Return what fills in the first of a command's names that is set, None if none is."""
        macros = self.macros
        for name in names:
            text = macros.raw(name)
            if text is None:
                continue
            # What is wrong with a text may be found out as soon as it is looked at.
            self._names[command] = macros.reading = name
            key = name.upper()
            is_live = key in macros.row_variables or (
                key not in macros.variables and key in LIVE_NAMES
            )
            return filled(macros, f"$({name})" if is_live else text)
        return None

    def boolean(self, command: str) -> bool | None:
        """Return the truth of a command; raise SubmitError if it has none."""
        if command in self._booleans:
            return self._booleans[command]
        return self._keep(self._booleans, command, super().boolean(command))

    def integer(self, command: str, shown: str = "", *, bits: int = 65) -> int | None:
        """Return the number of a command; raise SubmitError if it is none, or has more `bits`."""
        if command in self._integers:
            return self._integers[command]
        return self._keep(self._integers, command, super().integer(command, shown, bits=bits))

    def _keep(self, known: dict[str, T], command: str, value: T) -> T:
        """Keep the value of a command whose text does not change."""
        text = self._texts[command]
        if text is None or isinstance(text, str):
            known[command] = value
        return value

    def __setattr__(self, name: str, value: object) -> None:
        if name in FIELDS and name not in self.may_write:
            raise UnforeseenError(FIELD + name)
        vars(self)[name] = value
