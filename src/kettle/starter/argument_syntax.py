"""Arguments and environments as job ads spell them, in the old and the new syntax.

New syntax: words apart by blanks, single quotes group, two of them inside quotes are one quote.
Old syntax: arguments apart by blanks and nothing else; environments apart by a delimiter or a line
break, blanks before an entry no part of it, all others of its name or value. What submit files
allow on top of this is the submit room's business.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from kettle.errors import LanguageError

_BLANKS = " \t\r\n"
_OLD_WORD = re.compile(r"[^ \t\r\n]+")
_QUOTED = re.compile(r"[ \t\r\n']+")


def split_new_syntax(text: str) -> list[str]:
    """Split `Arguments` or `Environment` into words; LanguageError for an open quote."""
    words: list[str] = []
    word: list[str] = []
    inside = started = False
    position = 0
    while position < len(text):
        char = text[position]
        position += 1
        if inside:
            if char != "'":
                word.append(char)
            elif text[position : position + 1] == "'":
                word.append("'")
                position += 1
            else:
                inside = False
        elif char == "'":
            inside = started = True
        elif char in _BLANKS:
            if started:
                words.append("".join(word))
                word, started = [], False
        else:
            word.append(char)
            started = True
    if inside:
        raise LanguageError(f"unbalanced quote in {text!r}", hint="close the single quote")
    if started:
        words.append("".join(word))
    return words


def parse_arguments(new: str | None, old: str | None) -> list[str]:
    """Return the arguments of a job; the new syntax wins where both are there."""
    if new is not None:
        return split_new_syntax(new)
    return _OLD_WORD.findall(old or "")


def parse_environment(new: str | None, old: str | None, delimiter: str = ";") -> dict[str, str]:
    """Return the environment of a job; entries without `=` are an error (LanguageError)."""
    if new is not None:
        entries = split_new_syntax(new)
    else:
        lines = (old or "").replace(delimiter or ";", "\n").split("\n")
        entries = list(filter(None, (line.lstrip(_BLANKS) for line in lines)))
    found: dict[str, str] = {}
    for entry in entries:
        name, equals, value = entry.partition("=")
        if not equals or not name:
            raise LanguageError(f"environment entry {entry!r} has no name and value")
        found[name] = value
    return found


def parse_either_environment(text: str) -> dict[str, str]:
    """Read an environment of a configuration: the new syntax in double quotes, else the old one.

    Inside the quotes two double quotes are one. LanguageError for what is neither.
    """
    text = text.strip()
    if not text.startswith('"'):
        return parse_environment(None, text)
    if len(text) < 2 or not text.endswith('"'):
        raise LanguageError(f"unbalanced quote in {text!r}", hint="close the double quote")
    return parse_environment(text[1:-1].replace('""', '"'), None)


def render_new_syntax(words: list[str]) -> str:
    """Join words so that `split_new_syntax` gives them back."""
    return " ".join(
        "'" + word.replace("'", "''") + "'"
        if not word or "'" in word or any(b in word for b in _BLANKS)
        else word
        for word in words
    )


def show_words(words: Iterable[str]) -> str:
    """Join words as the reference shows them: only what needs quotes is inside them."""
    return " ".join(_QUOTED.sub(_quote, word) or "''" for word in words)


def _quote(found: re.Match[str]) -> str:
    return "'" + found[0].replace("'", "''") + "'"


def render_environment(environment: Mapping[str, str]) -> str:
    """Spell an environment in the new syntax."""
    return render_new_syntax([f"{name}={value}" for name, value in environment.items()])
