"""Which branch of `if`, `elif`, `else`, `endif` is taken.

Conditions are simple on purpose: a truth value, a number, `defined NAME`, `version OP x.y.z`.
Anything else is refused with the reference's words (vectors, topics "condition", "if structure").
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum, auto
from typing import Protocol

from kettle.attributes.version import VERSION_NUMBERS
from kettle.digits import whole
from kettle.errors import ConfigError
from kettle.octets import BLANKS
from kettle.patterns import late_pattern

# Limit: the reference keeps the branches in the bits of one machine word.
DEEPEST_NESTING = 63

KEYWORD = late_pattern(
    r"(if|elif|else|endif)(?:\s+(.*)|(?=[!-/:-@\[-^`{-~])(.*))?$",
    re.IGNORECASE | re.DOTALL | re.ASCII,
)
_FIRST_LETTERS = frozenset("iIeE")
VERSION = late_pattern(r"(!?)([<=>]?)(=?)\s*v?(\d+)\.(\d+)(?:\.(\d+))?", re.IGNORECASE)
# What most conditions of this kind look like; their characters need not be looked at one by one.
_PLAIN_VERSION = late_pattern(
    r"version[ \t]+(?:[<>=]=?|!=)[ \t]*[0-9]+(?:\.[0-9]+){1,2}", re.IGNORECASE
)
NUMBER = late_pattern(r"-?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE)
OLDEST_VERSION = 6

# Words that are true or false where a condition is one word; Y and N are names like any other.
TRUE_WORDS = frozenset({"true", "t", "yes"})
FALSE_WORDS = frozenset({"false", "f", "no"})

_TOO_COMPLEX = "complex conditionals are not supported"
# What a text is worth, and how it was written before macros were replaced; None for no truth.
TruthOf = Callable[[str, str], bool | None]


class Kind(Enum):
    """What a condition, or what is asked of `defined`, looks like from its characters alone."""

    NUMBER = auto()
    NAME = auto()
    VERSION = auto()
    DEFINED = auto()
    NOTHING = auto()
    COMPLEX = auto()


class Names(Protocol):
    """What a condition may ask."""

    def expand(self, text: str) -> str:
        """Return the text with its macros replaced."""

    def is_defined(self, name: str) -> bool:
        """Tell whether a name has a value that is not empty."""

    def has_template(self, text: str) -> bool:
        """Tell whether `CATEGORY:NAME`, or a category alone, is known to `use`."""


class Branches:
    """The open `if`s of one file, innermost last."""

    def __init__(self, truth_of: TruthOf | None = None) -> None:
        """`truth_of` is asked for the truth of what is no simple condition."""
        self._truth_of = truth_of
        # For each open if: is the branch in force, was one taken, was `else` seen.
        self._open: list[tuple[bool, bool, bool]] = []

    @property
    def enabled(self) -> bool:
        """Whether lines count at this place."""
        return not self._open or all(branch[0] for branch in self._open)

    @property
    def depth(self) -> int:
        """How many `if`s are open."""
        return len(self._open)

    def read(self, line: str, names: Names) -> bool:
        """Take a line if it belongs to an `if`; raise ConfigError for what makes no sense."""
        # Nearly all lines are told from these by their first letter.
        match = KEYWORD.match(line) if line[:1] in _FIRST_LETTERS else None
        if match is None:
            return False
        word = match.group(1).lower()
        condition = (match.group(2) or match.group(3) or "").strip(BLANKS)
        if word == "if":
            self._begin(condition, names)
            return True
        if not self._open:
            raise ConfigError(f"{word} without matching if")
        if word == "endif":
            self._open.pop()
            return True
        _, taken, seen_else = self._open.pop()
        if seen_else:
            self._open.append((False, taken, True))
            raise ConfigError(f"{word} is not allowed after else")
        if word == "else":
            self._open.append((not taken, True, True))
        elif taken or not self.enabled:
            self._open.append((False, taken, False))
        else:
            truth = decide_condition(condition, names, word, self._truth_of)
            self._open.append((truth, truth, False))
        return True

    def _begin(self, condition: str, names: Names) -> None:
        if len(self._open) >= DEEPEST_NESTING:
            raise ConfigError("if nesting too deep!")
        if not self.enabled:
            # Nothing below is in force whatever it says, so it is not even looked at.
            self._open.append((False, True, False))
            return
        truth = decide_condition(condition, names, truth_of=self._truth_of)
        self._open.append((truth, truth, False))


def decide_condition(
    written: str, names: Names, word: str = "if", truth_of: TruthOf | None = None
) -> bool:
    """Return the truth of a condition; raise ConfigError if it is none.

    `truth_of` is asked for the truth of what is no simple condition, and gets how it was written.
    """
    text = names.expand(written).strip(BLANKS)
    negated = text.startswith("!")
    if negated:
        text = text[1:].strip(BLANKS)
    truth, why_not = _decide(text, names)
    if why_not == _TOO_COMPLEX and truth_of is not None:
        found = truth_of(text, written)
        if found is not None:
            truth, why_not = found, ""
    # What turns out to be empty is false; what is written empty is no condition.
    if why_not or (not text and "$" not in written):
        why = why_not or "expression is not a conditional"
        raise ConfigError(f"{written} is not a valid {word} condition because {why}", complaint=why)
    return truth is not negated


def _decide(text: str, names: Names) -> tuple[bool, str]:
    plain = _PLAIN_VERSION.fullmatch(text)
    kind = Kind.VERSION if plain else kind_of(text, with_keywords=True)
    if kind is Kind.VERSION:
        return _decide_version(text[7:].strip(BLANKS))
    if kind is Kind.DEFINED:
        return _decide_defined(text[7:].strip(BLANKS), names)
    if kind is Kind.NUMBER:
        number = NUMBER.match(text)
        return number is not None and float(number.group()) != 0, ""
    word = text.lower()
    if word in TRUE_WORDS or word in FALSE_WORDS or not text:
        return word in TRUE_WORDS, ""
    if kind is Kind.COMPLEX:
        return False, _TOO_COMPLEX
    return False, "expression is not a conditional"


def kind_of(text: str, *, with_keywords: bool = False) -> Kind:
    """Return what a text looks like; `version` and `defined` count where they may stand."""
    found = _characters(text)
    if found <= {"digit", "float"}:
        return (Kind.NUMBER if "digit" in found else Kind.COMPLEX) if found else Kind.NOTHING
    if with_keywords:
        keyword = _keyword(text, found)
        if keyword is not None:
            return keyword
    is_name = "alpha" in found and found <= _NAME
    # Such as `A.`, whose dot counts as the beginning of a fraction, are no names.
    return Kind.NAME if is_name and _goes_with_digits(found) else Kind.COMPLEX


def _keyword(text: str, found: set[str]) -> Kind | None:
    word = text[:7].lower()
    if text[7:8].isalnum() or word not in {"version", "defined"}:
        return None
    if len(text) == len(word):
        return Kind.VERSION if word == "version" else Kind.DEFINED
    rest = found - {"alpha", "space"}
    if "space" not in found:
        return None
    if word == "version":
        return Kind.VERSION if {"compare", "digit"} <= rest <= _VERSION else None
    fits = rest <= {"ident", "colon"} or rest <= {"digit", "ident", "float"}
    return Kind.DEFINED if fits and _goes_with_digits(found) else None


_NAME = {"alpha", "digit", "float", "ident"}
_VERSION = {"compare", "digit", "float"}


def _goes_with_digits(found: set[str]) -> bool:
    return "float" not in found or "digit" in found


def _characters(text: str) -> set[str]:
    """Return the kinds of character in a text; a minus sign in front does not count."""
    found: set[str] = set()
    body = text.removeprefix("-")
    for index, letter in enumerate(body):
        following = body[index + 1 : index + 2]
        if letter == ".":
            is_point = found == {"digit"} or not following or following in _DIGITS
            found.add("float" if is_point else "ident")
        elif letter in "eE":
            found.add("float" if found in ({"digit"}, _REAL) else "alpha")
        elif letter in "+-":
            # The sign of an exponent does not count.
            found.update(() if found == _REAL else ("sum",))
        elif letter == "!":
            found.add("compare" if following == "=" else "other")
        else:
            found.add(_PLAIN.get(letter, "other"))
    return found


_DIGITS = frozenset("0123456789")
_REAL = {"digit", "float"}
_PLAIN = {
    **dict.fromkeys(_DIGITS, "digit"),
    **dict.fromkeys("abcdfghijklmnopqrstuvwxyzABCDFGHIJKLMNOPQRSTUVWXYZ", "alpha"),
    **dict.fromkeys("_/", "ident"),
    **dict.fromkeys("<=>", "compare"),
    **dict.fromkeys(" \t\v\f\r\n", "space"),
    ":": "colon",
}


def _decide_defined(argument: str, names: Names) -> tuple[bool, str]:
    if not argument:
        return False, ""
    kind = kind_of(argument)
    word = argument.lower()
    if kind is Kind.NUMBER or word in {"true", "false"}:
        return True, ""
    if kind is Kind.NAME:
        return names.is_defined(argument) or word in TRUE_WORDS | FALSE_WORDS, ""
    if word.startswith("use "):
        template = argument[4:].strip(BLANKS)
        if len(template.split()) > 1:
            return False, "defined use meta argument with internal spaces will never match"
        return names.has_template(template), ""
    return False, "defined argument must be param name, boolean, or number"


def _decide_version(text: str) -> tuple[bool, str]:
    match = VERSION.match(text)
    if match is None or whole(match.group(4)) < OLDEST_VERSION:
        return False, "the version literal is invalid"
    negation, operator, equals = match.group(1, 2, 3)
    wanted = tuple(whole(part) for part in match.group(4, 5, 6) if part is not None)
    # Where the last number is missing it is not compared.
    ours = VERSION_NUMBERS[: len(wanted)]
    truth = {"<": ours < wanted, ">": ours > wanted}.get(operator, ours == wanted)
    truth = truth or bool(equals and ours == wanted)
    return truth is not bool(negation), ""
