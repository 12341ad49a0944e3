"""Arguments and environments of jobs, in both syntaxes.

Old: words separated by blanks, or `NAME=value` separated by `;`. New: the whole in double quotes,
with single quotes around what holds blanks. What the ads hold (`Arguments`, `Environment`) is the
new syntax without the outer double quotes; `Args` holds the old one (vectors, topics "arguments",
"environment").
"""

from __future__ import annotations

import fnmatch
from typing import TYPE_CHECKING

from kettle.errors import SubmitError
from kettle.octets import BLANKS
from kettle.patterns import late_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# Limit: letters of a pattern of names that counts, as many as a path has at most; a longer one with
# open brackets takes time as its square to read.
LONGEST_PATTERN = 4096
OLD_DELIMITER = ";"
_DELIMITERS = frozenset("!#$%&*+,-/:;<>?@^`|~\x1f")
# What parts words in both syntaxes; around the outer quotes there is more white space.
_BLANKS = " \t\r\n"
TO_QUOTE = late_pattern(r"[ \t\r\n']+")
OLD_WORD = late_pattern(r"[^ \t\r\n]+")


def is_new_syntax(text: str) -> bool:
    """Tell whether a text is in the new syntax."""
    return text.lstrip(BLANKS).startswith('"')


def require_new_syntax(text: str, what: str = "double-quoted input string") -> None:
    """Raise SubmitError for a text of a command that takes the new syntax alone."""
    if not is_new_syntax(text):
        raise SubmitError(f"Expecting {what} (V2 format).", mark="")


def strip_outer_quotes(text: str) -> str:
    """Return the inside of a text in the new syntax; raise SubmitError."""
    text = text.lstrip(BLANKS)
    end = text.find('"', 1)
    if end > 0 and not text[end + 1 :].strip(BLANKS):
        # Most texts have no quotes inside.
        return text[1:end]
    inner = []
    position = 1
    while position < len(text):
        if text[position] != '"':
            inner.append(text[position])
            position += 1
        elif text[position + 1 : position + 2] == '"':
            inner.append('"')
            position += 2
        elif text[position + 1 :].strip(BLANKS):
            raise SubmitError(
                "Unexpected characters following double-quote.  Did you forget to escape the "
                "double-quote by repeating it?  Here is the quote and trailing characters: "
                f"{text[position:]}\n",
                mark="",
            )
        else:
            return "".join(inner)
    raise SubmitError("Unterminated double-quote.", mark="")


def split_new(text: str) -> list[str]:
    """Split the inside of the new syntax into words; raise SubmitError for an open quote."""
    if "'" not in text:
        return split_old(text)
    words: list[str] = []
    current: list[str] | None = None
    position = 0
    while position < len(text):
        character = text[position]
        if character == "'":
            current = current if current is not None else []
            position = _quoted(text, position, current)
        elif character in _BLANKS:
            if current is not None:
                words.append("".join(current))
                current = None
            position += 1
        else:
            current = current if current is not None else []
            current.append(character)
            position += 1
    if current is not None:
        words.append("".join(current))
    return words


def _quoted(text: str, start: int, current: list[str]) -> int:
    position = start + 1
    while position < len(text):
        if text[position] != "'":
            current.append(text[position])
            position += 1
        elif text[position + 1 : position + 2] == "'":
            current.append("'")
            position += 2
        else:
            return position + 1
    raise SubmitError(f"Unbalanced quote starting here: {text[start:]}", mark="")


def join_new(words: Iterable[str]) -> str:
    """Join words so that `split_new` gives them back."""
    return " ".join(
        TO_QUOTE.sub(lambda found: "'" + found.group().replace("'", "''") + "'", word) or "''"
        for word in words
    )


def parse_old_arguments(text: str) -> str:
    """Return old arguments as the ad holds them, one blank between two of them.

    Raises SubmitError for a bare double quote.
    """
    plain = text
    if '"' in text:
        parts = text.split('\\"')
        position = 0
        for part in parts:
            if '"' in part:
                bare = text[position + part.index('"') :]
                raise SubmitError(f"Found illegal unescaped double-quote: {bare}", mark="")
            position += len(part) + 2
        plain = '"'.join(parts)
    return " ".join(split_old(plain))


def split_old(text: str) -> list[str]:
    """Split a text at blanks."""
    # In what can be printed nothing but the blank is white space.
    return text.split() if text.isprintable() else OLD_WORD.findall(text)


def split_list(text: str) -> list[str]:
    """Return what a list names: apart by commas and the blanks that part words, no other ones.

    Those that C has besides are none of a word's ends. Source: dry runs of 25.14.1.
    """
    text = text.replace(",", " ")
    if text.isprintable():
        return text.split()
    return [word for part in OLD_WORD.findall(text) if (word := part.strip(BLANKS))]


def split_arguments(arguments: str | None, args: str | None) -> list[str]:
    """Return the words of a job's `Arguments` (new), else of its `Args` (old)."""
    if arguments is not None:
        return split_new(arguments)
    return split_old(args or "")


def read_environment(environment: str | None, env: str | None, delimiter: str) -> dict[str, str]:
    """Return a job's `Environment` (new), else its `Env` (old); raise SubmitError.

    In an ad, unlike a submit file, the name tells the syntax: nothing stands in outer quotes.
    """
    if environment is not None:
        return pairs(split_new(environment))
    return pairs(_entries((env or "").replace(delimiter, "\n").split("\n")))


def parse_environment(text: str) -> dict[str, str]:
    """Read an environment in either syntax; raise SubmitError.

    In the old one the first character says what stands between two entries, if it may.
    """
    if is_new_syntax(text):
        return pairs(split_new(strip_outer_quotes(text)))
    delimiter = text[:1] if text[:1] in _DELIMITERS else OLD_DELIMITER
    return pairs(_entries(text.removeprefix(delimiter).replace(delimiter, "\n").split("\n")))


def _entries(parts: Iterable[str]) -> Iterable[str]:
    """Return the entries of the old syntax: blanks before one are none of it, all others are."""
    return filter(None, (part.lstrip(_BLANKS) for part in parts))


def pairs(words: Iterable[str]) -> dict[str, str]:
    """Read `NAME=value` words, later ones winning; raise SubmitError where there is no `=`.

    A name is all before the `=`, blanks among it (recorded).
    """
    found = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise SubmitError(f"Missing '=' after environment variable '{name}'.")
        if not name:
            raise SubmitError(f"missing variable in '{word}'.")
        found[name] = value
    return found


def render_environment(variables: Mapping[str, str]) -> str:
    """Return an environment as the ad holds it, ordered by name."""
    return join_new(f"{name}={variables[name]}" for name in sorted(variables))


def render_old_environment(variables: Mapping[str, str]) -> str:
    """Return an environment in the old syntax, ordered by name; raise SubmitError.

    What holds the delimiter or a line break has no old form.
    """
    for name, value in variables.items():
        if OLD_DELIMITER in value or "\n" in value:
            raise SubmitError(
                "failed to insert environment into job ad: Environment entry is not "
                f"compatible with V1 syntax: {name}={value}"
            )
    return OLD_DELIMITER.join(f"{name}={variables[name]}" for name in sorted(variables))


def select_environment(
    wanted: str, environment: Mapping[str, str], *, beside_old: bool = False
) -> dict[str, str]:
    """Return what `getenv` takes along: all, or what its patterns allow and none forbids.

    What no ad can hold stays behind without a word, as exported functions of a shell do, and beside
    a command that may be in the old syntax what that cannot say (recorded).

    Compat: no secret is taken along, not even one that is named, for anybody can read a job's ad;
    the reference takes them (test_getenv_takes_no_secret_along). A carriage return, and what ends a
    line in a name, the reference takes, and its schedd refuses the job
    (test_getenv_leaves_out_what_no_ad_can_hold).
    """
    from kettle.attributes.secret_variables import without_secrets  # few jobs have `getenv`

    patterns = [word for word in split_list(wanted) if len(word) <= LONGEST_PATTERN]
    forbidden = [pattern[1:].lower() for pattern in patterns if pattern.startswith("!")]
    allowed = [pattern.lower() for pattern in patterns if not pattern.startswith("!")]
    if not allowed or allowed == ["true"]:
        allowed = ["*"]

    def matches(name: str, among: list[str]) -> bool:
        return any(fnmatch.fnmatchcase(name.lower(), pattern) for pattern in among)

    def can_be_said(name: str, value: str) -> bool:
        if beside_old and OLD_DELIMITER in value:
            return False
        return not any(end in text for end in "\r\n" for text in (name, value))

    return {
        name: value
        for name, value in without_secrets(environment).items()
        if can_be_said(name, value) and matches(name, allowed) and not matches(name, forbidden)
    }
