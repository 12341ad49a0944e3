"""Which branch of `if`, `elif`, `else`, `endif` is taken.

Conditions are simple on purpose: a truth value, a number, `defined NAME`, `version OP x.y.z`.
Anything else is refused with the reference's words (vectors, topics "condition", "if structure").
"""

from __future__ import annotations

import re
from typing import Protocol

from kettle.attributes.version import VERSION_NUMBERS
from kettle.config.knob import FALSE_WORDS, TRUE_WORDS
from kettle.errors import ConfigError
from kettle.patterns import late_pattern

# Limit: the reference keeps the branches in the bits of one machine word.
DEEPEST_NESTING = 63

KEYWORD = late_pattern(r"(if|elif|else|endif)(?:\s+(.*)|(?=\W)(.*))?$", re.IGNORECASE | re.DOTALL)
VERSION = late_pattern(r"version\s*(==|!=|<=|>=|<|>)?\s*(.*)$", re.IGNORECASE)
LITERAL = late_pattern(r"(\d+)\.(\d+)(?:\.(\d+))?(?:[.\s].*)?$")
PLAIN_WORD = late_pattern(r"[A-Za-z_0-9.]*")


class Names(Protocol):
    """What a condition may ask."""

    def expand(self, text: str) -> str:
        """Return the text with its macros replaced."""

    def is_defined(self, name: str) -> bool:
        """Tell whether a name has a value that is not empty."""

    def has_template(self, text: str) -> bool:
        """Tell whether `CATEGORY:NAME` names a template of `use`."""


class Branches:
    """The open `if`s of one file, innermost last."""

    def __init__(self) -> None:
        # For each open if: is the branch in force, was one taken, was `else` seen.
        self._open: list[tuple[bool, bool, bool]] = []

    @property
    def enabled(self) -> bool:
        """Whether lines count at this place."""
        return all(branch[0] for branch in self._open)

    @property
    def depth(self) -> int:
        """How many `if`s are open."""
        return len(self._open)

    def read(self, line: str, names: Names) -> bool:
        """Take a line if it belongs to an `if`; raise ConfigError for what makes no sense."""
        match = KEYWORD.match(line)
        if match is None:
            return False
        word = match.group(1).lower()
        condition = (match.group(2) or match.group(3) or "").strip()
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
            truth = decide_condition(condition, names)
            self._open.append((truth, truth, False))
        return True

    def _begin(self, condition: str, names: Names) -> None:
        if len(self._open) >= DEEPEST_NESTING:
            raise ConfigError("if nesting too deep!")
        if not self.enabled:
            # Nothing below is in force whatever it says, so it is not even looked at.
            self._open.append((False, True, False))
            return
        truth = decide_condition(condition, names)
        self._open.append((truth, truth, False))


def decide_condition(written: str, names: Names) -> bool:
    """Return the truth of a condition; raise ConfigError if it is none."""
    text = names.expand(written).strip()
    negated = text.startswith("!")
    if negated:
        text = text[1:].strip()
    truth, why_not = _decide(text, names)
    if why_not or not written:
        why = why_not or "expression is not a conditional"
        raise ConfigError(f"{written} is not a valid if condition because {why}")
    return truth is not negated


def _decide(text: str, names: Names) -> tuple[bool, str]:
    word = text.lower()
    if re.match(r"version\b", word):
        return _decide_version(text)
    if re.match(r"defined\b", word):
        return _decide_defined(text[7:].strip(), names)
    truth = plain_truth(word)
    if truth is not None:
        return truth, ""
    if PLAIN_WORD.fullmatch(text):
        return False, "" if not text else "expression is not a conditional"
    return False, "complex conditionals are not supported"


def plain_truth(word: str) -> bool | None:
    """Return the truth of a word or number in lower case, None if it is neither."""
    if word in TRUE_WORDS:
        return True
    if word in FALSE_WORDS:
        return False
    if re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", word):
        return float(word) != 0
    return None


def _decide_defined(argument: str, names: Names) -> tuple[bool, str]:
    if not argument:
        return False, ""
    words = argument.split()
    if words[0].lower() == "use":
        if len(words) > 2:
            return False, "defined use meta argument with internal spaces will never match"
        return len(words) == 2 and names.has_template(words[1]), ""
    if len(words) > 1:
        return False, "defined argument must be param name, boolean, or number"
    return plain_truth(argument.lower()) is not None or names.is_defined(argument), ""


def _decide_version(text: str) -> tuple[bool, str]:
    match = VERSION.match(text)
    operator, literal = (match.group(1), match.group(2)) if match else (None, "")
    if operator and not literal:
        return False, "complex conditionals are not supported"
    numbers = LITERAL.match(literal)
    if operator is None or numbers is None:
        return False, "the version literal is invalid"
    wanted = tuple(int(part) for part in numbers.groups() if part is not None)
    # Where the last number is missing it is not compared.
    ours = VERSION_NUMBERS[: len(wanted)]
    truth = {
        "==": ours == wanted,
        "!=": ours != wanted,
        "<": ours < wanted,
        "<=": ours <= wanted,
        ">": ours > wanted,
        ">=": ours >= wanted,
    }
    return truth[operator], ""
