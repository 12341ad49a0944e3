"""The kinds of knob: how a configuration text becomes a typed value, and which values are allowed.

A knob is a typed constant of a table class in `config/knobs/`. This module decides what a text
means for each kind and refuses what is out of range; where texts come from is `store.py`, what
`$(NAME)` in them means is `expander.py`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from kettle.errors import ConfigError
from kettle.octets import BLANKS, words_of
from kettle.patterns import late_pattern

if TYPE_CHECKING:
    from collections.abc import Callable

    from kettle.classad import Expr
    from kettle.config.ranges import Range

T = TypeVar("T")

TRUE_WORDS = frozenset({"true", "t", "yes", "y", "1"})
FALSE_WORDS = frozenset({"false", "f", "no", "n", "0"})
# A time as people write it, by the first letter of its unit.
_WITH_UNIT = late_pattern(r"\s*(\d{1,9}(?:\.\d{1,9})?)\s*([smhdwSMHDW])[A-Za-z]*\s*")
# Where a log goes that is no file of its own.
_NO_FILES = frozenset({"SYSLOG", "1>", "2>"})
# What becomes of a number outside of what is taken.
_NOT_STARTED = "daemons that read it do not start; those that run keep their older configuration"
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


class Knob(Generic[T]):
    """One knob: its name, its default as configuration text, its kind and its sentence.

    `default` is what `condor_config_val` shows, None where the reference's table does not have the
    name and tools say that it is not defined; `unset` is the text the daemons act on while there is
    neither a value nor a default. What is set to nothing is unset too; numbers and truth values
    then have their default, as the reference reads them. `unread` marks what is known and checked,
    and nothing here acts on: whoever sets it is told (tests/tidy/test_knob_readers.py).
    `strictest` is the text that allows least, of a knob that forbids something or limits it: it
    counts where nobody can read the value (`strictest.py`). None is for a knob whose default does
    no harm then.
    """

    kind = "text"
    empty_is_default = False
    __slots__ = ("default", "doc", "name", "strictest", "unread", "unset")

    def __init__(
        self,
        default: str | None,
        *,
        doc: str,
        unset: str = "",
        strictest: str | None = None,
        unread: bool = False,
    ) -> None:
        self.name = ""
        self.default = default
        self.doc = doc
        self.unset = unset
        self.strictest = strictest
        self.unread = unread

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<{self.kind} knob {self.name}>"

    def parse(self, text: str) -> T:
        """Return the value of expanded text; raise ConfigError where it is not of this kind."""
        raise NotImplementedError

    def allowed(self) -> str:
        """Say which values the knob takes, for the manual and for error messages."""
        return self.kind

    def nearest(self, text: str) -> str:
        """Return the text that is meant by one that this knob does not take, empty for none."""
        del text
        return ""

    def why_senseless(self, text: str) -> str:
        """Say of a text that is taken why it makes no sense, and what counts; empty if it does."""
        del text
        return ""

    def refuse(self, text: str) -> ConfigError:
        """Return the error for a text that this knob does not take."""
        near = self.nearest(text)
        hint = f"did you mean {near}?" if near else ""
        return ConfigError(f"{self.name} = {text} is not {self.allowed()}", hint=hint, nearest=near)


class StringKnob(Knob[str]):
    """Any text; surrounding white space and one pair of double quotes do not count."""

    kind = "string"
    __slots__ = ()

    def parse(self, text: str) -> str:
        """Return the text without surrounding white space and quotes."""
        text = text.strip(BLANKS)
        if len(text) > 1 and text[0] == text[-1] == '"':
            return text[1:-1]
        return text


class PathKnob(StringKnob):
    """The path of a file or folder, a command's path, or empty for none."""

    kind = "path"
    __slots__ = ()


class PlaceKnob(PathKnob):
    """The path of what daemons of different folders find: an absolute one, or empty for none."""

    __slots__ = ()

    def why_senseless(self, text: str) -> str:
        """Say that a path is relative; where a log may also go is none."""
        # A macro that is left is told of by itself.
        if self.parse(text)[:1] in ("/", "$", "") or text in _NO_FILES:
            return ""
        return "is no absolute path: each daemon looks for it in the folder in which it works"


class SizeKnob(StringKnob):
    """How large a log may grow: a number of bytes, or one with a unit of size or of time."""

    kind = "size"
    __slots__ = ()

    def parse(self, text: str) -> str:
        """Return the text; raise ConfigError where daemons could not read it."""
        from kettle.config.log_sizes import read_log_size  # no tool reads one

        if text.strip(BLANKS) and read_log_size(text) is None:
            raise self.refuse(text)
        return super().parse(text)

    def allowed(self) -> str:
        """Say how sizes are written."""
        return "a size such as 10 Mb, or a time such as 2 days"


class AutoKnob(StringKnob):
    """True, false or auto."""

    kind = "boolean or auto"
    __slots__ = ()

    def parse(self, text: str) -> str:
        """Return the text; raise ConfigError where it is none of the three."""
        word = text.strip(BLANKS).lower()
        if word != "auto" and parse_boolean(word) is None:
            raise self.refuse(text)
        return super().parse(text)

    def allowed(self) -> str:
        """Name the three."""
        return "true, false or auto"

    def nearest(self, text: str) -> str:
        """Name the word that a misspelt one is most like."""
        return _most_alike(text, ("true", "false", "auto"))


class BooleanKnob(Knob[bool]):
    """True or false, as a word, a number or a ClassAd expression."""

    kind = "boolean"
    empty_is_default = True
    __slots__ = ()

    def parse(self, text: str) -> bool:
        """Return the truth of the text; an empty text is false."""
        value = parse_boolean(text)
        if value is None:
            raise self.refuse(text)
        return value

    def nearest(self, text: str) -> str:
        """Name the word that a misspelt one is most like; both where it is like none."""
        return _most_alike(text, ("true", "false", "yes", "no")) or "true or false"


class NumberKnob(Knob[T]):
    """What integers, seconds and reals share: ranges.

    `within` is what is taken at all, else what a number of the kind can be. `sense` is what it can
    mean: of any other that is taken the nearest in it counts, or, for a knob whose reader has
    another rule, what `instead` says. Neither is given for a knob whose range nobody has settled.
    """

    empty_is_default = True
    is_whole = False
    __slots__ = ("instead", "is_settled", "sense", "within")

    def __init__(
        self,
        default: str | None,
        *,
        doc: str,
        within: Range | None = None,
        sense: Range | None = None,
        instead: str = "",
        unset: str = "0",
        strictest: str | None = None,
        unread: bool = False,
    ) -> None:
        super().__init__(default, doc=doc, unset=unset, strictest=strictest, unread=unread)
        from kettle.config.ranges import ANY, WHOLE  # no tool makes one

        widest = WHOLE if self.is_whole else ANY
        self.within = within or widest.with_(sense or widest)
        self.sense = sense or self.within
        self.instead = instead
        self.is_settled = within is not None or sense is not None

    def allowed(self) -> str:
        """Name the kind and its range."""
        return self._name_range(self.sense)

    def parse(self, text: str) -> T:
        """Return the number that counts; raise ConfigError if it is none or out of range."""
        value = self.number(text)
        if value is None or not self.within.holds(value):
            raise self.refuse(text)
        return cast("T", value if self.instead else type(value)(self.sense.nearest(value)))

    def number(self, text: str) -> float | None:
        """Return the number that a text is, None for none."""
        raise NotImplementedError

    def refuse(self, text: str) -> ConfigError:
        """Return the error for what is no number of the kind, or none that is taken."""
        value = self.number(text)
        if value is None:
            return super().refuse(text)
        wanted = self._name_range(self.sense, value)
        return ConfigError(
            f"{self.name} = {text} is not {wanted}", hint="" if self.unread else _NOT_STARTED
        )

    def why_senseless(self, text: str) -> str:
        """Say why a number that is taken makes no sense, and what counts for it."""
        value = self.number(text)
        if value is None or not self.within.holds(value) or self.sense.holds(value):
            return ""
        counts = self.instead or f"{self.sense.nearest(value):.12g} counts instead"
        wanted = self._name_range(self.sense, value)
        return f"makes no sense: it is not {wanted}" + ("" if self.unread else f"; {counts}")

    def _name_range(self, which: Range, value: float | None = None) -> str:
        article = "an" if self.kind[0] in "aeiou" else "a"
        return f"{article} {self.kind} {which.words(value)}".rstrip()


class IntegerKnob(NumberKnob[int]):
    """A whole number, written as digits or as a ClassAd expression (R036)."""

    kind = "integer"
    is_whole = True
    __slots__ = ()

    def number(self, text: str) -> int | None:
        """Return the whole number that a text is."""
        return parse_integer(text)


class SecondsKnob(IntegerKnob):
    """A span of time in whole seconds."""

    kind = "number of seconds"
    __slots__ = ()

    def nearest(self, text: str) -> str:
        """Count the seconds of a time that was written with its unit."""
        match = _WITH_UNIT.fullmatch(text)
        unit = _UNITS.get(match[2][0].lower()) if match else None
        if match is None or unit is None:
            return super().nearest(text)
        seconds = round(float(match[1]) * unit)
        return str(seconds) if self.within.holds(seconds) else ""


class RealKnob(NumberKnob[float]):
    """A number with a fraction."""

    kind = "real number"
    __slots__ = ()

    def number(self, text: str) -> float | None:
        """Return the number that a text is; what is not a number is none."""
        value = parse_real(text)
        return None if value is None or math.isnan(value) else value


class ExpressionKnob(Knob["Expr | None"]):
    """A ClassAd expression, evaluated later against ads; empty is None."""

    kind = "expression"
    __slots__ = ()

    def parse(self, text: str) -> Expr | None:
        """Return the parsed expression; raise ConfigError where it does not parse."""
        try:
            return parse_expression_text(text)
        except ConfigError as error:
            raise ConfigError(f"{self.name} = {text} is not an expression: {error}") from None


class ListKnob(Knob[tuple[str, ...]]):
    """Words separated by commas, white space or both."""

    kind = "list"
    __slots__ = ()

    def parse(self, text: str) -> tuple[str, ...]:
        """Return the words in order."""
        return split_list(text)


class EnumKnob(Knob[str]):
    """One of a few words, in any case.

    `instead` says what any other word means, of a knob whose reader takes those too.
    """

    kind = "choice"
    __slots__ = ("choices", "instead")

    def __init__(
        self,
        default: str | None,
        choices: tuple[str, ...],
        *,
        doc: str,
        unset: str = "",
        strictest: str | None = None,
        unread: bool = False,
        instead: str = "",
    ) -> None:
        super().__init__(default, doc=doc, unset=unset, strictest=strictest, unread=unread)
        self.choices = choices
        self.instead = instead

    def parse(self, text: str) -> str:
        """Return the choice as the table spells it, or another word that is taken as it stands."""
        for choice in self.choices:
            if choice.lower() == text.strip(BLANKS).lower():
                return choice
        if self.instead:
            return text.strip(BLANKS)
        raise self.refuse(text)

    def why_senseless(self, text: str) -> str:
        """Say of a word that is taken and is none of the choices what it means."""
        if not self.instead or self.parse(text) in self.choices:
            return ""
        return f"is not {self.allowed()}: {self.instead}"

    def nearest(self, text: str) -> str:
        """Name the choice that a misspelt one is most like."""
        return _most_alike(text, self.choices)

    def allowed(self) -> str:
        """List the choices."""
        return "one of " + ", ".join(self.choices)


class Family(Generic[T]):
    """Knobs that share a pattern, such as `{subsys}_LOG`; `FAMILY["SCHEDD"]` is one of them."""

    __slots__ = (
        "default",
        "doc",
        "kind",
        "make",
        "name",
        "pattern",
        "ranges",
        "strictest",
        "unread",
        "unset",
    )

    def __init__(
        self,
        pattern: str,
        make: Callable[..., Knob[T]],
        default: str = "",
        *,
        doc: str,
        within: Range | None = None,
        sense: Range | None = None,
        instead: str = "",
        unset: str = "",
        strictest: str | None = None,
        unread: bool = False,
    ) -> None:
        self.pattern = pattern
        self.make = make
        ranges = {"within": within, "sense": sense, "instead": instead}
        self.ranges = {key: value for key, value in ranges.items() if value}
        self.default = default
        self.doc = doc
        self.unset = unset
        self.strictest = strictest
        self.unread = unread
        self.name = ""
        self.kind = "family"

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __getitem__(self, key: str) -> Knob[T]:
        """Return the knob for one subsystem, slot type, hook keyword and so on."""
        field = self.pattern[self.pattern.index("{") : self.pattern.index("}") + 1]
        more: dict[str, object] = {"unset": self.unset} if self.unset else {}
        default = self.default.replace(field, key)
        knob = self.make(default, doc=self.doc, strictest=self.strictest, **more, **self.ranges)
        knob.name = self.pattern.replace(field, key)
        return knob


string = StringKnob
size = SizeKnob
true_false_auto = AutoKnob
path = PathKnob
place = PlaceKnob
boolean = BooleanKnob
integer = IntegerKnob
seconds = SecondsKnob
real = RealKnob
expression = ExpressionKnob
listing = ListKnob
choice = EnumKnob
family = Family


def _most_alike(text: str, words: tuple[str, ...]) -> str:
    from kettle.nearest import LOOSE, nearest_of  # for those alone who mistype

    return nearest_of(text.strip(BLANKS), words, LOOSE)


def split_list(text: str) -> tuple[str, ...]:
    """Split words at commas and white space."""
    return tuple(words_of(text.replace(",", " ")))


def parse_boolean(text: str) -> bool | None:
    """Read a truth value; None if the text is neither a word, a number nor such an expression."""
    word = text.strip(BLANKS).lower()
    if word in TRUE_WORDS:
        return True
    if word in FALSE_WORDS or not word:
        return False
    value = evaluate_text(text)
    return bool(value) if isinstance(value, (bool, int, float)) else None


def parse_integer(text: str) -> int | None:
    """Read a whole number or an expression that is one; None otherwise."""
    if _may_be_number(text):
        try:
            return int(text)
        except ValueError:
            pass
    value = evaluate_text(text)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return int(value) if isinstance(value, (bool, int, float)) else None


def parse_real(text: str) -> float | None:
    """Read a number or an expression that is one; None otherwise."""
    if _may_be_number(text):
        try:
            return float(text)
        except ValueError:
            pass
    value = evaluate_text(text)
    return float(value) if isinstance(value, (bool, int, float)) else None


def _may_be_number(text: str) -> bool:
    """Whether Python's numbers may be asked: they know digits and blanks that C does not."""
    return text.isascii() and text.isprintable() and "_" not in text


def parse_expression_text(text: str) -> Expr | None:
    """Parse a ClassAd expression; empty is None; raise ConfigError where it does not parse."""
    if not text.strip(BLANKS):
        return None
    # The language is loaded only by those who need it: most tools read a handful of plain texts.
    from kettle.classad import parse_expression
    from kettle.errors import ClassAdSyntaxError

    try:
        return parse_expression(text, old=True)
    except ClassAdSyntaxError as error:
        raise ConfigError(str(error)) from None


def evaluate_text(text: str) -> object:
    """Evaluate an expression that needs no ad; None where it does not parse."""
    try:
        tree = parse_expression_text(text)
    except ConfigError:
        return None
    if tree is None:
        return None
    from kettle.classad import ClassAd

    return cast("object", ClassAd().evaluate_expression(tree))
