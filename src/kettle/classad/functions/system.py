"""Environments, arguments, users: what jobs' descriptions need.

The two spellings of environments and arguments: V1 separates variables with semicolons and
arguments with blanks; V2 separates both with blanks and quotes with single quotes.
"""

from __future__ import annotations

import re
from typing import Final

from kettle.classad.functions.convert import elements_of, list_of
from kettle.classad.functions.table import Function, Price, plain, strict
from kettle.classad.state import State
from kettle.classad.values import ERROR, UNDEFINED, ExprList, Value
from kettle.patterns import late_pattern

_BLANKS: Final = " \t\n\r"
# What a word of arguments counts as.
_WORD_BYTES: Final = 64
_TO_QUOTE: Final = late_pattern(r"[ \t\n\r']+")
_BLANK: Final = late_pattern(r"[ \t\n\r]")


def split_arguments(text: str) -> list[str] | None:
    """Return the words of V2 text, None where a quote is not closed."""
    words: list[str] = []
    word: list[str] | None = None
    position, quoted = 0, False
    while position < len(text):
        letter = text[position]
        position += 1
        if letter == "'":
            word = [] if word is None else word
            if quoted and text[position : position + 1] == "'":
                word.append("'")
                position += 1
            else:
                quoted = not quoted
        elif letter in _BLANKS and not quoted:
            if word is not None:
                words.append("".join(word))
            word = None
        else:
            word = [] if word is None else word
            word.append(letter)
    if quoted:
        return None
    if word is not None:
        words.append("".join(word))
    return words


def quote_argument(word: str) -> str:
    """Return a word as V2 text writes it: blanks and quotes in single quotes."""
    if not word:
        return "''"
    return _TO_QUOTE.sub(lambda found: "'" + found.group().replace("'", "''") + "'", word)


def _assignments(texts: list[str]) -> dict[str, str] | None:
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            return None
        found[name] = value
    return found


def _render_environment(variables: dict[str, str]) -> str:
    return " ".join(quote_argument(f"{name}={variables[name]}") for name in sorted(variables))


def environment_v1_to_v2(values: list[Value]) -> Value:
    """`envV1ToV2(text)`."""
    if len(values) != 1:
        return ERROR
    value = values[0]
    if value is UNDEFINED:
        return UNDEFINED
    if not isinstance(value, str):
        return ERROR
    entries = [entry.lstrip(_BLANKS) for entry in value.split(";")]
    variables = _assignments([entry for entry in entries if entry])
    return ERROR if variables is None else _render_environment(variables)


def merge_environment(values: list[Value]) -> Value:
    """`mergeEnvironment(text, …)`: later ones win."""
    merged: dict[str, str] = {}
    for value in values:
        if value is UNDEFINED:
            continue
        words = split_arguments(value) if isinstance(value, str) else None
        variables = None if words is None else _assignments(words)
        if variables is None:
            return ERROR
        merged.update(variables)
    return _render_environment(merged)


def _version(values: list[Value]) -> int | None:
    version = values[1] if len(values) == 2 else 2
    return version if type(version) is int and version in (1, 2) else None


def list_to_arguments(state: State, values: list[Value]) -> Value:
    """`listToArgs(list[, version])`."""
    if len(values) not in (1, 2) or _version(values) is None:
        return ERROR
    if not isinstance(values[0], ExprList):
        return ERROR
    words: list[str] = []
    for word in elements_of(state, values[0]):
        if not isinstance(word, str):
            return ERROR
        words.append(word)
    if _version(values) == 2:
        return " ".join(map(quote_argument, words))
    if any(_TO_QUOTE.search(word.replace("'", "")) for word in words):
        return ERROR
    # Compat: empty words are lost, as in the reference (test_empty_words_of_old_arguments).
    first = next((at for at, word in enumerate(words) if word), len(words))
    return " ".join(words[first:])


def arguments_to_list(state: State, values: list[Value]) -> Value:
    """`argsToList(text[, version])`."""
    if len(values) not in (1, 2) or not isinstance(values[0], str):
        return ERROR
    version = _version(values)
    if version is None:
        return ERROR
    if version == 1:
        words: list[str] | None = [word for word in _BLANK.split(values[0]) if word]
    else:
        words = split_arguments(values[0])
    if words is None:
        return ERROR
    state.spend(_WORD_BYTES * len(words))
    return list_of(list(words))


def user_home(state: State, values: list[Value]) -> Value:
    """`userHome(user[, default])`.

    Compat: another number of arguments is an ERROR; the reference's API raises an exception
    (test_wrong_arguments_are_an_error_and_no_exception).
    """
    if len(values) not in (1, 2):
        return ERROR
    user = values[0]
    home = state.context.home_of(user) if isinstance(user, str) and user else None
    if home:
        return home
    default = values[1] if len(values) == 2 else UNDEFINED
    if isinstance(default, str) and default:
        return default
    return UNDEFINED if user is UNDEFINED or isinstance(user, str) else ERROR


def user_map(state: State, values: list[Value]) -> Value:
    """`userMap(map, user[, preferred[, default]])`."""
    if not 2 <= len(values) <= 4:
        return ERROR
    default = values[3] if len(values) == 4 else UNDEFINED
    name, user = values[:2]
    if name is ERROR or user is ERROR:
        return ERROR
    found = None
    if isinstance(name, str) and isinstance(user, str):
        look_up = state.context.user_maps.get(name.lower())
        found = look_up(user) if look_up is not None else None
    if found is None:
        return default
    return found if len(values) == 2 else _chosen_item(found, values[2], default)


def _chosen_item(found: str, preferred: Value, default: Value) -> Value:
    items = [item for item in re.split("[, ]+", found) if item]
    if isinstance(preferred, str):
        for item in items:
            if item.lower() == preferred.lower():
                return item
    return items[0] if items else default


# fmt: off
SYSTEM: Final[tuple[Function, ...]] = (
    plain("envV1ToV2", "envV1ToV2(text)", "An environment in the old spelling in the new one.",
          environment_v1_to_v2, ('envV1ToV2("a=1;b=2")', '"a=1 b=2"'),
          ('envV1ToV2("a=b c")', '"a=b\' \'c"'), ("envV1ToV2(undefined)", "undefined")),
    plain("mergeEnvironment", "mergeEnvironment(text, …)",
          "The environments as one; of the same variable the last value counts.",
          merge_environment, ('mergeEnvironment("a=1","a=2 b=3")', '"a=2 b=3"'),
          ('mergeEnvironment("a=\'b c\'",undefined)', '"a=b\' \'c"')),
    strict("listToArgs", "listToArgs(list[, version])",
           "The words as a line of arguments, quoted as version 2 (the default) or 1 has it.",
           list_to_arguments, ('listToArgs({ "a","b c" })', '"a b\' \'c"'),
           ('listToArgs({ "a","b" },1)', '"a b"')),
    strict("argsToList", "argsToList(text[, version])", "The words of a line of arguments.",
           arguments_to_list, ("argsToList(\"a 'b c'\")", '{ "a","b c" }'),
           ('argsToList("a b",1)', '{ "a","b" }')),
    strict("userHome", "userHome(user[, default])", "The user's home directory.",
           user_home, ('userHome("","/none")', '"/none"'),
           ('userHome(undefined,"/none")', '"/none"'), price=Price(steps=16)),
    strict("userMap", "userMap(map, user[, preferred[, default]])",
           "What the map says of the user; with `preferred`, that one of the items, else the "
           "first.",
           user_map, ('userMap("nomap","u","x","none")', '"none"'),
           ('userMap("nomap","u")', "undefined")),
)
# fmt: on
