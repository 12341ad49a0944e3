"""Map files: method and principal to canonical user, as for certificates.

    METHOD  principal  canonical

A principal is a regular expression, slashes and all, or with CERTIFICATE_MAPFILE_ASSUME_HASH_KEYS
a literal unless written `/regex/flags`. In maps of prefixes, as of the places of checkpoints, it is
how something begins. Reading included files is the caller's. Source: wire notes, Map file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from kettle.classad.functions.regex import search_in_time
from kettle.errors import AuthenticationFailed, ConfigError
from kettle.named_tuples import NamedTuple
from kettle.patterns import late_pattern
from kettle.patterns.perl import compile_perl

# Limit: included files inside included files.
MAXIMUM_DEPTH = 10
_QUOTED, _PLAIN = r'"((?:[^"\\]|\\.)*)"', r"(\S+)"
_SLASHED = r"/((?:[^/\\]|\\.)*)/([iU]*)(?=\s|\Z)"
_WORD = late_pattern(rf"\s*(?:{_QUOTED}|{_SLASHED}|{_PLAIN})")
_WORD_WITHOUT_SLASHES = late_pattern(rf"\s*(?:{_QUOTED}|(?!)()()|{_PLAIN})")
_GROUP = late_pattern(r"\\([0-9])")

ReadIncluded: TypeAlias = Callable[[str], Iterable[tuple[str, str]]]


@dataclass(frozen=True, slots=True)
class MapLine:
    """One line: a literal or a pattern, and what it becomes."""

    method: str
    canonical: str
    literal: str | None = None
    pattern: re.Pattern[bytes] | None = None
    prefix: str | None = None

    def apply(self, principal: str) -> str | None:
        """Return the canonical name of a principal, None if this line is not about it.

        AuthenticationFailed where a daemon would have to look for too long.
        """
        if self.prefix is not None:
            found_prefix = principal.startswith(self.prefix)
            return self.canonical.replace("\\0", self.prefix) if found_prefix else None
        if self.literal is not None:
            return self.canonical.replace("\\0", principal) if self.literal == principal else None
        assert self.pattern is not None
        try:
            found = search_in_time(self.pattern, _bytes(principal))
        except TimeoutError:
            # The next line might give more than this one: whoever it was meant for, nobody is in.
            expression = self.pattern.pattern[:200].decode("utf-8", "replace")
            raise AuthenticationFailed(
                f"the map file's expression {expression} takes too long for {principal[:200]!r}"
            ) from None
        if found is None:
            return None

        def group(one: re.Match[str]) -> str:
            number = int(one[1])
            if number > found.re.groups:
                return one[0]
            text = found[number]
            return (text or b"").decode("utf-8", "surrogateescape")

        return _GROUP.sub(group, self.canonical)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


class MapFile:
    """A parsed map file; lines of one method are tried in order and the first match wins."""

    def __init__(self, lines: Iterable[MapLine]) -> None:
        # Literals in a row are one table: maps of users may have thousands of them.
        self._lines: dict[str, list[MapLine | dict[str, MapLine]]] = {}
        for line in lines:
            ordered = self._lines.setdefault(line.method, [])
            if line.literal is None:
                ordered.append(line)
                continue
            if not ordered or not isinstance(ordered[-1], dict):
                ordered.append({})
            table = ordered[-1]
            assert isinstance(table, dict)
            table.setdefault(line.literal, line)

    @property
    def methods(self) -> frozenset[str]:
        """The methods, in upper case, that any line is for."""
        return frozenset(self._lines)

    def map(self, method: str, principal: str) -> str | None:
        """Return the canonical name of a principal, None if no line matches."""
        for entry in self._lines.get(method.upper(), ()):
            line = entry.get(principal) if isinstance(entry, dict) else entry
            canonical = line.apply(principal) if line is not None else None
            if canonical is not None:
                return canonical
        return None


def parse_mapfile(
    text: str,
    *,
    literal_keys: bool = False,
    source: str = "mapfile",
    read_included: ReadIncluded | None = None,
    complain: Callable[[str], None] | None = None,
) -> MapFile:
    """Read a map file.

    `read_included` returns (name, text) of every file that `@include path` means; the path is as
    seen from the file that says so. Raises ConfigError with file and line, or has `complain` told
    and leaves the line out.
    """
    reading = _Reading(literal_keys, literal_keys, read_included, complain)
    return MapFile(_parse_lines(text, source, reading, 0))


def parse_prefix_map(
    text: str, *, source: str = "mapfile", complain: Callable[[str], None] | None = None
) -> MapFile:
    r"""Read a map file whose principals are beginnings: the longest is tried first, `\0` is it.

    Raises ConfigError with file and line, or has `complain` told and leaves the line out.
    """
    reading = _Reading(literal_keys=True, slashed=False, complain=complain)
    lines = [
        replace(line, literal=None, prefix=line.literal)
        for line in _parse_lines(text, source, reading, 0)
    ]
    return MapFile(sorted(lines, key=lambda line: -len(line.prefix or "")))


class _Reading(NamedTuple):
    """How lines are read: principals are `literal_keys`, but for those `slashed`, or patterns."""

    literal_keys: bool
    slashed: bool
    read_included: ReadIncluded | None = None
    complain: Callable[[str], None] | None = None


def _parse_lines(text: str, source: str, reading: _Reading, depth: int) -> Iterator[MapLine]:
    """Yield the lines of one file and of those it includes."""
    if depth > MAXIMUM_DEPTH:
        raise ConfigError("map files include each other too deeply", source=source)
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        words = _split(stripped, slashed=reading.slashed)
        if words[0].text.lower() == "@include" and len(words) > 1:
            if reading.read_included is not None:
                for name, included in reading.read_included(_beside(source, words[1].text)):
                    yield from _parse_lines(included, name, reading, depth + 1)
            continue
        try:
            yield _parse_line(words, source, number, reading)
        except ConfigError as error:
            if reading.complain is None:
                raise
            reading.complain(str(error))


def _beside(source: str, path: str) -> str:
    """Return an included file's path as seen from the file that includes it."""
    folder, slash, _ = source.rpartition("/")
    return path if path.startswith("/") else f"{folder}{slash}{path}"


def _parse_line(words: list[_Word], source: str, number: int, reading: _Reading) -> MapLine:
    if len(words) < 3:
        raise ConfigError(
            f"line {number} of {source} has not METHOD, principal and name",
            source=source,
            line=number,
        )
    method, principal, canonical = words[:3]
    return _make_line(
        method.text.upper(), principal, canonical.text, reading.literal_keys, source, number
    )


class _Word(NamedTuple):
    """A word of a line: its text, what it was enclosed in, and the letters behind a slash."""

    text: str
    mark: str = ""
    flags: str = ""


def _split(line: str, *, slashed: bool) -> list[_Word]:
    """Split a line into words; those in quotes, or in slashes if they count, may hold blanks.

    In there a backslash keeps the enclosing mark and itself from being read as such, and stays
    before anything else.
    """
    words = []
    for found in (_WORD if slashed else _WORD_WITHOUT_SLASHES).finditer(line):
        quoted, between, flags, plain = found.groups()
        mark = '"' if quoted is not None else "/" if between is not None else ""
        text = quoted or between or plain or ""
        if mark:
            text = re.sub(rf"\\([\\{mark}])", r"\1", text)
        words.append(_Word(text, mark, flags or ""))
    return words


def _make_line(
    method: str, principal: _Word, canonical: str, literal_keys: bool, source: str, number: int
) -> MapLine:
    """Make a line from its three words."""
    if literal_keys and principal.mark != "/":
        return MapLine(method, canonical, literal=principal.text)
    flags = re.IGNORECASE if "i" in principal.flags else re.RegexFlag(0)
    lazy = "U" in principal.flags
    try:
        pattern = compile_perl(_bytes(principal.text), flags, lazy=lazy)
        return MapLine(method, canonical, pattern=pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ConfigError(
            f"line {number} of {source} has a bad expression: {error}", source=source, line=number
        ) from error
