"""The statements of the transform language, one row each, and how a line is taken apart.

Source: the manual, chapter ClassAd transforms; vectors `router/transforms.json`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from sys import getsizeof
from typing import TYPE_CHECKING, Final

from kettle.errors import TransformError
from kettle.named_tuples import NamedTuple
from kettle.remembered import Answers

if TYPE_CHECKING:
    from kettle.transforms.editor import Editor
    from kettle.transforms.macros import TransformMacros

_BLANKS = " \t\r\n"
_PATTERN_LETTERS = "gimU"


class Statement(NamedTuple):
    """One statement: its word, how many arguments it needs, whether the first may be a pattern.

    `carry_out` does it; it is None for one that is about the rule as a whole, which `source.py` has
    taken out of the text. `names_attribute` says whether the first argument is the attribute that
    it changes. `usage` is how it is written, `meaning` what it does, `example` a rule whose effect
    on an ad with `A = 1` and `B = "b"` is `effect`; both are tests. None of them has a default: a
    statement of which something is forgotten is an error when this module is loaded.
    """

    word: str
    carry_out: Act | None
    arguments: int
    takes_pattern: bool
    names_attribute: bool
    usage: str
    meaning: str
    example: str
    effect: str


# Carries out a statement: its parts, what follows the name with macros replaced, the ad's editor
# and the rule's macros.
Act = Callable[["Line", str, "Editor", "TransformMacros"], None]


def _set(line: Line, argument: str, editor: Editor, _macros: TransformMacros) -> None:
    editor.set(line.name, argument, line.statement.word)


def _evaluate_and_set(line: Line, argument: str, editor: Editor, _macros: TransformMacros) -> None:
    editor.evaluate_and_set(line.name, argument)


def _evaluate_macro(line: Line, argument: str, editor: Editor, macros: TransformMacros) -> None:
    text = editor.evaluate_text(line.name, argument)
    if text is not None:
        macros.assign_value(line.name, text)


def _named(change: Callable[[Editor, str, str], None]) -> Act:
    """Return what makes a change of one attribute, or of each whose name the pattern matches."""

    def act(line: Line, argument: str, editor: Editor, _macros: TransformMacros) -> None:
        if line.letters is None:
            change(editor, line.name, argument)
        else:
            for name, to in editor.matching(line.name, line.letters, argument):
                change(editor, name, to)

    return act


_ROWS = (
    Statement(
        "SET",
        _set,
        2,
        False,
        True,
        "SET attribute expression",
        "Sets the attribute to the expression, unevaluated.",
        "SET C A + 1",
        "C = A + 1",
    ),
    Statement(
        "EVALSET",
        _evaluate_and_set,
        2,
        False,
        True,
        "EVALSET attribute expression",
        "Sets the attribute to what the expression is worth in the ad now.",
        "EVALSET C A + 1",
        "C = 2",
    ),
    Statement(
        "DEFAULT",
        _set,
        2,
        False,
        True,
        "DEFAULT attribute expression",
        "Sets the attribute to the expression where the ad does not have it.",
        "DEFAULT A 7",
        "A = 1",
    ),
    Statement(
        "COPY",
        _named(lambda editor, name, to: editor.copy(name, to)),
        2,
        True,
        True,
        "COPY attribute|/pattern/ name",
        r"Copies the expression under another name; after a pattern \0 to \9 are what matched.",
        r"COPY /^(.)$/ Old\1",
        "OldA = 1",
    ),
    Statement(
        "RENAME",
        _named(lambda editor, name, to: editor.rename(name, to)),
        2,
        True,
        True,
        "RENAME attribute|/pattern/ name",
        "Copies the expression under another name and deletes it under the first.",
        "RENAME A C",
        "C = 1",
    ),
    Statement(
        "DELETE",
        _named(lambda editor, name, _to: editor.delete(name)),
        1,
        True,
        True,
        "DELETE attribute|/pattern/",
        "Deletes the attribute, or all whose names match.",
        "DELETE /^a/",
        'B = "b"',
    ),
    Statement(
        "EVALMACRO",
        _evaluate_macro,
        2,
        False,
        False,
        "EVALMACRO name expression",
        "Sets a macro to what the expression is worth in the ad now, strings without quotes.",
        'EVALMACRO half B\nSET C "$(half)$(half)"',
        'C = "bb"',
    ),
    Statement(
        "REQUIREMENTS",
        None,
        1,
        False,
        False,
        "REQUIREMENTS expression",
        "The rule is applied to ads for which this is true, and to no others.",
        "REQUIREMENTS A > 1\nSET A 5",
        "A = 1",
    ),
    Statement(
        "NAME",
        None,
        1,
        False,
        False,
        "NAME word",
        "What the rule is called in messages, where nothing else has named it.",
        "NAME Fives\nSET A 5",
        "A = 5",
    ),
    Statement(
        "UNIVERSE",
        None,
        1,
        False,
        False,
        "UNIVERSE name|number",
        "The universe of the jobs that a route makes; job transforms do not change theirs by it.",
        "UNIVERSE grid\nSET A 5",
        "A = 5",
    ),
    Statement(
        "TRANSFORM",
        None,
        0,
        False,
        False,
        "TRANSFORM [N] [variables] [in|from|matching items]",
        "Ends the rule; it is applied once for each item, each time to a copy of the ad.",
        'SET A "$(Item)"\nTRANSFORM in (x)',
        'A = "x"',
    ),
)
STATEMENTS = {row.word: row for row in _ROWS}
# Those about the rule as a whole.
OF_THE_RULE: Final = tuple(row.word for row in _ROWS if row.carry_out is None)


class Line(NamedTuple):
    """One statement taken apart.

    `name` is its first word; `letters` are those behind a pattern, None where it is none; `rest` is
    what follows, before macros are replaced.
    """

    statement: Statement
    name: str = ""
    letters: str | None = None
    rest: str = ""


# The few lines of a schedd's rules are met with every job.
# Limit: the bytes of the statements that are remembered, taken apart.
_MOST_BYTES: Final = 1 << 20
_COPIES: Final = 3


def take_apart(text: str) -> Line:
    """Return the parts of one statement; TransformError for what is none."""
    return _taken_apart[text]


def _take_apart(text: str) -> Line:
    word, position = _next_word(text, 0)
    statement = STATEMENTS.get(word.upper())
    if statement is None:
        near = _nearest(word)
        hint = f"did you mean {near}?" if near else ""
        raise TransformError(f"{word} is not a valid transform keyword\n", hint=hint, nearest=near)
    start = _skip(text, position)
    if start == len(text):
        if not statement.arguments:
            return Line(statement)
        raise TransformError(f"{statement.word} needs {_counted(statement.arguments)}")
    letters = None
    if statement.takes_pattern and text[start] == "/":
        name, letters, position = _pattern(text, start)
    else:
        name, position = _next_word(text, start)
        if name[-1:] in {",", "="}:
            # Compat: the reference leaves a byte without a name there
            # (test_a_comma_after_the_attribute_is_no_part_of_it).
            name = name[:-1]
    if statement.arguments < 2:
        return Line(statement, name, letters, text[start:].strip())
    start = _skip(text, position)
    if text[start : start + 1] in {"=", ","} and text[start + 1 : start + 2] in {"", " ", "\t"}:
        start = _skip(text, start + 1)
    if start == len(text):
        raise TransformError(f"{statement.word} needs {_counted(2)}")
    return Line(statement, name, letters, text[start:])


_taken_apart: Final = Answers(_take_apart, _MOST_BYTES, lambda text: _COPIES * getsizeof(text))


def _counted(number: int) -> str:
    return f"{number} arguments" if number > 1 else "an argument"


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in _BLANKS:
        position += 1
    return position


def _next_word(text: str, position: int) -> tuple[str, int]:
    """Return the next word, without the quotes around it, and where it ends."""
    start = _skip(text, position)
    if text[start : start + 1] in {'"', "'"}:
        end = text.find(text[start], start + 1)
        return (text[start + 1 :], len(text)) if end < 0 else (text[start + 1 : end], end + 1)
    end = start
    while end < len(text) and text[end] not in _BLANKS:
        end += 1
    return text[start:end], end


def _pattern(text: str, start: int) -> tuple[str, str, int]:
    """Return a pattern, the letters behind it and where they end; no slash can be in one."""
    end = text.find("/", start + 1)
    if end < 0:
        raise TransformError("invalid regex", hint="there is no slash at the end of the pattern")
    position = end + 1
    while position < len(text) and text[position] not in _BLANKS:
        position += 1
    letters = text[end + 1 : position]
    wrong = re.sub(f"[{_PATTERN_LETTERS}]", "", letters)
    if wrong:
        raise TransformError("invalid regex", hint=f"{wrong} means nothing behind a pattern")
    return text[start + 1 : end], letters, position


def _nearest(word: str) -> str:
    from kettle.nearest import nearest_of  # for those alone who mistype

    return nearest_of(word, STATEMENTS, cutoff=0.7)
