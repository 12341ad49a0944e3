"""Map files: method and principal to canonical user, as for certificates.

    METHOD  principal  canonical

A principal is a regular expression, or with CERTIFICATE_MAPFILE_ASSUME_HASH_KEYS a literal unless
written `/regex/flags`. In maps of prefixes, as of the places of checkpoints, it is how something
begins. Reading included files is the caller's. Source: wire notes, Map file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from kettle.classad.functions.regex import search_in_time
from kettle.errors import AuthenticationFailed, ConfigError
from kettle.patterns import late_pattern
from kettle.perl_patterns import compile_perl

# Limit: included files inside included files.
MAXIMUM_DEPTH = 10
_WORD = late_pattern(r'\s*(?:"((?:[^"\\]|\\.)*)"|/((?:[^/\\]|\\.)*)/([iU]*)(?=\s|\Z)|(\S+))')
_GROUP = late_pattern(r"\\([0-9])")


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
            text = found[number] if number <= found.re.groups else None
            return (text or b"").decode("utf-8", "surrogateescape")

        return _GROUP.sub(group, self.canonical)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


class MapFile:
    """A parsed map file; lines of one method are tried in order and the first match wins."""

    def __init__(self, lines: Iterable[MapLine]) -> None:
        self._lines: dict[str, list[MapLine]] = {}
        for line in lines:
            self._lines.setdefault(line.method, []).append(line)

    def map(self, method: str, principal: str) -> str | None:
        """Return the canonical name of a principal, None if no line matches."""
        for line in self._lines.get(method.upper(), ()):
            canonical = line.apply(principal)
            if canonical is not None:
                return canonical
        return None


def parse_mapfile(
    text: str,
    *,
    literal_keys: bool = False,
    source: str = "mapfile",
    read_included: Callable[[str], Iterable[tuple[str, str]]] | None = None,
) -> MapFile:
    """Read a map file.

    `read_included` returns (name, text) of every file that `@include path` means. Raises
    ConfigError with file and line.
    """
    return MapFile(_parse_lines(text, literal_keys, source, read_included, 0))


def parse_prefix_map(text: str, *, source: str = "mapfile") -> MapFile:
    r"""Read a map file whose principals are beginnings: the longest is tried first, `\0` is it.

    Raises ConfigError with file and line.
    """
    lines = [
        replace(line, literal=None, prefix=line.literal)
        for line in _parse_lines(text, True, source, None, 0, slashed=False)
    ]
    return MapFile(sorted(lines, key=lambda line: -len(line.prefix or "")))


def _parse_lines(
    text: str,
    literal_keys: bool,
    source: str,
    read_included: Callable[[str], Iterable[tuple[str, str]]] | None,
    depth: int,
    *,
    slashed: bool = True,
) -> Iterator[MapLine]:
    """Yield the lines of one file and of those it includes.

    Without `slashed` a principal between slashes is no pattern.
    """
    if depth > MAXIMUM_DEPTH:
        raise ConfigError("map files include each other too deeply", source=source)
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        words = _split(stripped)
        if words[0].text.lower() == "@include" and len(words) > 1:
            for name, included in read_included(words[1].text) if read_included else ():
                yield from _parse_lines(included, literal_keys, name, read_included, depth + 1)
            continue
        if len(words) < 3:
            raise ConfigError(
                f"line {number} of {source} has not METHOD, principal and name",
                source=source,
                line=number,
            )
        method, principal, canonical = words[:3]
        if not slashed and principal.mark == "/":
            principal = _Word(f"/{principal.text}/")
        yield _make_line(
            method.text.upper(), principal, canonical.text, literal_keys, source, number
        )


class _Word(NamedTuple):
    """A word of a line: its text, what it was enclosed in, and the letters behind a slash."""

    text: str
    mark: str = ""
    flags: str = ""


def _split(line: str) -> list[_Word]:
    """Split a line into words; those in quotes or slashes may hold blanks.

    In there a backslash keeps the enclosing mark and itself from being read as such, and stays
    before anything else.
    """
    words = []
    for found in _WORD.finditer(line):
        quoted, slashed, flags, plain = found.groups()
        mark = '"' if quoted is not None else "/" if slashed is not None else ""
        text = quoted or slashed or plain or ""
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
