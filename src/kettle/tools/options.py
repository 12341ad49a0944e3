"""How the classic tools read their options: the one- and two-dash rule.

One dash: the rest may be any beginning of the option's name that is long enough to be its own
(each row says how long). Two dashes: the whole name and nothing else. After a colon come
qualifiers (`-af:jr`, `-echo:UTC`) for the rows that take them. Rows are tried in order, as the
reference does, so a short beginning belongs to the first row that admits it. Anything else that
starts with a dash is an error, which names the nearest option. Source: drop-in reference, list
item 2; checked against the real tools.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kettle.errors import UsageError


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a tool.

    `shortest` is how many letters one dash needs (0: the whole name); `values` how many words
    follow it; `qualified` whether a colon with qualifiers may follow the name.
    """

    name: str
    shortest: int = 1
    values: int = 0
    qualified: bool = False


@dataclass(frozen=True, slots=True)
class Given:
    """An option as it was given; a positional word has the empty name and itself as value.

    `word` is the option as typed, `index` its place in the arguments.
    """

    name: str
    word: str
    qualifiers: str = ""
    values: tuple[str, ...] = ()
    index: int = 0

    @property
    def value(self) -> str:
        """The first value, which is the word itself for a positional."""
        return self.values[0]


def match_option(word: str, option: Option) -> str | None:
    """Return the qualifiers (perhaps none: empty) if `word` names `option`, else None."""
    name, colon, qualifiers = word.partition(":")
    if colon and not option.qualified:
        return None
    if name.startswith("--"):
        return qualifiers if name[2:] == option.name else None
    beginning = name[1:]
    shortest = option.shortest or len(option.name)
    if len(beginning) >= shortest and option.name.startswith(beginning):
        return qualifiers
    return None


def read_options(words: Sequence[str], options: Sequence[Option]) -> Iterator[Given]:
    """Yield what the command line `words` (without the program's name) gives, in order.

    Raises UsageError for an unknown option or one whose values are missing.
    """
    index = 0
    while index < len(words):
        word = words[index]
        start = index
        index += 1
        if not word.startswith("-") or word == "-":
            yield Given("", word, "", (word,), start)
            continue
        for option in options:
            qualifiers = match_option(word, option)
            if qualifiers is not None:
                break
        else:
            raise UsageError(f"unknown option {word}", hint=suggest_option(word, options))
        values = tuple(words[index : index + option.values])
        if len(values) < option.values:
            what = "an argument" if option.values == 1 else f"{option.values} arguments"
            raise UsageError(f"option {word} needs {what}")
        index += option.values
        yield Given(option.name, word, qualifiers, values, start)


def suggest_option(word: str, options: Sequence[Option]) -> str:
    """Return a hint naming the option nearest to a mistyped `word`, empty if none is near."""
    names = [option.name for option in options]
    near = difflib.get_close_matches(word.lstrip("-").partition(":")[0], names, n=1)
    return f"did you mean -{near[0]}?" if near else ""
