"""Steps that copy their commands' texts: what they write is filled in, and they need not run.

Most texts that change from job to job have a number or an item in them (`out.$(Process)`), and most
steps copy such a text into an attribute, splitting and quoting what stands around it. Such a step
runs once with a sign in each place that changes. Where the signs come out is where a job's values
go. This holds for values that the step cannot take for anything else: words with a digit in them.
For all others it runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.classad.parser import is_plain
from kettle.classad.text import is_long_formula
from kettle.errors import ConfigError, SubmitError
from kettle.named_tuples import NamedTuple
from kettle.patterns import late_pattern
from kettle.submit.literals import has_in_strings
from kettle.submit.macros import NUMBERS
from kettle.submit.notices import WARNING_MARK
from kettle.submit.quick_job import QuickJob, UnforeseenError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kettle.submit.fillings import Computed, Filling
    from kettle.submit.job import JobBuilder
    from kettle.submit.quick_job import Writes
    from kettle.submit.steps import Step
    from kettle.submit.watched_job import Record, Texts

# The first of the characters that stand for places: Unicode leaves them to private use.
_FIRST_SIGN = 0xF0000
# No keyword, blank, quote, slash or comma is part of one, and none of these is all of one.
_WORD = late_pattern(r"[A-Za-z_.-]*[0-9][A-Za-z0-9_.-]*")
# The same with slashes, for steps that do not look at those.
_PATH = late_pattern(r"[A-Za-z_./-]*[0-9][A-Za-z0-9_./-]*")
# Limit: the letters of a word; with longer ones an expression may be too long to be read.
_LONGEST_WORD = 2048


def _is_word(value: str) -> bool:
    return _WORD.fullmatch(value) is not None and len(value) <= _LONGEST_WORD


def _is_path(value: str) -> bool:
    return _PATH.fullmatch(value) is not None and len(value) <= _LONGEST_WORD


class _Form(NamedTuple):
    """An attribute of which the text is filled in."""

    key: str
    name: str
    form: str


class Copy(NamedTuple):
    """What a step writes."""

    attributes: tuple[_Form, ...]
    forced: tuple[_Form, ...]
    # Which live names have to be words, and the functions whose values have to be, each with the
    # name whose text it stands in.
    words: tuple[str, ...]
    computed: tuple[tuple[str, Computed], ...]
    any_slash: bool = False

    def make(self, job: QuickJob) -> bool:
        """Write what the step writes for a job; false where it has to run for that."""
        macros = job.macros
        live = macros.live
        is_word = _is_path if self.any_slash else _is_word
        for name, (key, compute, call) in self.computed:
            macros.reading = name
            live[key] = value = compute(call)
            if not is_word(value):
                return False
        for key in self.words:
            if not is_word(live[key]):
                return False
        texts = job.attributes.texts
        for key, name, form in self.attributes:
            texts[key] = (name, form % live)
        if self.forced:
            texts = job.forced.texts
            for key, name, form in self.forced:
                texts[key] = (name, form % live)
        return True


def copy_of(job: JobBuilder, step: Step, record: Record, writes: Writes) -> Copy | None:
    """Return what a step writes that had this record and changes with what is live alone.

    None where it does not copy the texts that it looks at, or does not always write the same
    attributes; and where that cannot be seen, as what it wrote then has no words in it.
    """
    if not step.copies or writes.fields:
        return None
    draft = _Draft.beside(job, record.before.fields)
    draft.begin_signs()
    try:
        draft.run(step, record, writes, set())
    except (_NoCopyError, UnforeseenError, ConfigError, SubmitError):
        return None
    if draft.attributes.texts.keys() != writes.attributes:
        return None
    if draft.forced.texts.keys() != writes.forced:
        return None
    found = draft.copy(any_slash=step.any_slash)
    draft.macros.drew = False
    if not found.make(draft) or draft.macros.drew:
        # Where a drawn word is none, the step would draw again: words would be drawn more often.
        return None
    after, own, forced = record.after, draft.attributes.texts, draft.forced.texts
    is_same = all(after.attributes.get(key) == one for key, one in own.items())
    return (
        found if is_same and all(after.forced[key] == one for key, one in forced.items()) else None
    )


class _NoCopyError(Exception):
    """A step asks more of a text than what it is."""


class _Signs(dict[str, str]):
    """A sign for each live name that is met."""

    def __missing__(self, name: str) -> str:
        sign = self[name] = chr(_FIRST_SIGN + len(self))
        return sign


class _Draft(QuickJob):
    """A job whose texts have signs where those of other jobs have something else."""

    _signs: _Signs
    _functions: list[tuple[str, Computed]]

    def begin_signs(self) -> None:
        """Begin; nothing is marked yet."""
        vars(self).update(_signs=_Signs(), _functions=[])

    def copy(self, *, any_slash: bool) -> Copy:
        """Return what was written, as what fills it in for any job."""
        computed = {one.key for _, one in self._functions}
        return Copy(
            tuple(self._forms(self.attributes.texts)),
            tuple(self._forms(self.forced.texts)),
            tuple(key for key in self._signs if key not in computed and key not in NUMBERS),
            tuple(self._functions),
            any_slash,
        )

    def _forms(self, texts: Texts) -> Iterable[_Form]:
        for key, (name, text) in texts.items():
            form = text.replace("%", "%%")
            for live, sign in self._signs.items():
                form = form.replace(sign, f"%({live})s")
            yield _Form(key, name, form)

    def fill_in(self, name: str, known: Filling) -> str:
        """Return a text with its signs; _NoCopyError where nobody knows where they stand."""
        if known.form is None:
            raise _NoCopyError
        self._functions += ((name, one) for one in known.computed)
        return known.form % self._signs

    def checked(self, name: str, text: str) -> str:
        """Return an expression that is printed as it stands."""
        if self._is_marked(text) and not (text[0] == '"' and is_plain(text)):
            raise _NoCopyError
        return super().checked(name, text)

    def set_conjunction(self, name: str, clauses: list[str]) -> None:
        """Set an attribute to clauses of which what changes stands in strings."""
        signs = self._signs.values()
        longest = " && ".join(clauses)
        for sign in signs:
            longest = longest.replace(sign, "." * _LONGEST_WORD)
        marked = filter(self._is_marked, clauses)
        if is_long_formula(longest) or not all(has_in_strings(one, signs) for one in marked):
            raise _NoCopyError
        super().set_conjunction(name, clauses)

    def said(self, command: str, attribute: str) -> str | None:
        """Return what does not change: who asks so decides by it."""
        text = super().said(command, attribute)
        if self._is_marked(text):
            raise _NoCopyError
        return text

    def boolean(self, command: str) -> bool | None:
        """Return a truth that does not change."""
        if self._is_marked(self.param(command)):
            raise _NoCopyError
        return super().boolean(command)

    def integer(self, command: str, shown: str = "", *, bits: int = 65) -> int | None:
        """Return a number that does not change."""
        if self._is_marked(self.param(command)):
            raise _NoCopyError
        return super().integer(command, shown, bits=bits)

    def warn(self, command: str, text: str, mark: str = WARNING_MARK) -> None:
        """Leave warnings to the step."""
        del command, text, mark
        raise _NoCopyError

    def _is_marked(self, text: str | None) -> bool:
        return text is not None and any(sign in text for sign in self._signs.values())
