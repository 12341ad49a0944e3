r"""Perl's regular expressions, as the field writes them, in the words of Python's.

Python reads most of them as they are. What it has other words for is rewritten here: classes such
as `[[:alpha:]]`, `\h`, `\R`, `\z`, `\Q…\E`, `\x{41}`, named groups, options in the middle. What
it has no words for (recursion, `\\K`, properties) stays, and does not compile. Patterns and texts
are bytes: a letter is an ASCII letter. Source: the manual, ClassAd functions regexp() and map
files; observed of the real ones.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from typing import Final

_SPACES: Final = b" \t\n\x0b\f\r"
_HORIZONTAL: Final = rb"\t \xa0"
_VERTICAL: Final = rb"\n\x0b\f\r\x85"


def _of(test: str) -> frozenset[int]:
    return frozenset(number for number in range(128) if getattr(chr(number), test)())


_ALPHA, _DIGIT = _of("isalpha"), _of("isdigit")
_GRAPH: Final = frozenset(range(33, 127))
_NAMED: Final = {
    b"alpha": _ALPHA,
    b"digit": _DIGIT,
    b"alnum": _ALPHA | _DIGIT,
    b"upper": _of("isupper"),
    b"lower": _of("islower"),
    b"space": frozenset(_SPACES),
    b"blank": frozenset(b" \t"),
    b"punct": _GRAPH - _ALPHA - _DIGIT,
    b"cntrl": frozenset(range(32)) | {127},
    b"graph": _GRAPH,
    b"print": _GRAPH | {32},
    b"xdigit": frozenset(b"0123456789abcdefABCDEF"),
    b"word": _ALPHA | _DIGIT | {95},
    b"ascii": frozenset(range(128)),
}

# What has to be rewritten begins with one of these.
_FOREIGN: Final = re.compile(
    rb"\\[hHvVRNzZGeQExocgk]|\[[:.=]|\[\[|\{,|\(\?(?:[<'](?![=!])|[a-zA-Z^-]+\))"
)
_CLASS: Final = re.compile(rb"\[:(\^?)([a-z]+):\]")
_COLLATING: Final = re.compile(rb"\[([.=])[^]]*?\1\]")
_UP_TO: Final = re.compile(rb"\{,[0-9]+\}")
_OPTIONS: Final = re.compile(rb"\(\?([imsxn]*)(?:-([imsx]*))?\)")
_NAMED_GROUP: Final = re.compile(rb"\(\?(?:<([A-Za-z_]\w*)>|'([A-Za-z_]\w*)')")
_NUMBER: Final = re.compile(rb"\\x\{([0-9a-fA-F]{1,6})\}|\\o\{([0-7]{1,8})\}|\\x([0-9a-fA-F]{0,2})")
_REFERENCE: Final = re.compile(
    rb"\\g\{?([1-9][0-9]{0,2})\}?|\\[gk]\{([A-Za-z_]\w*)\}|\\k<([A-Za-z_]\w*)>|\\k'([A-Za-z_]\w*)'"
)
_QUOTED: Final = re.compile(rb"\\Q(.*?)(?:\\E|\Z)", re.DOTALL)
_COMMENT: Final = re.compile(rb"#[^\n]*")

# Limit: options that stand alone in one group; they are repeated in each of its branches.
_MOST_OPTIONS: Final = 20
# Limit: by how much a pattern that is not short may grow.
_MOST_GROWTH: Final = 8
_SHORT: Final = 1000

# Escapes outside of a class, and those that mean the same within one.
_OUTSIDE: Final = {
    b"h": b"[" + _HORIZONTAL + b"]",
    b"H": b"[^" + _HORIZONTAL + b"]",
    b"v": b"[" + _VERTICAL + b"]",
    b"V": b"[^" + _VERTICAL + b"]",
    b"R": rb"(?>\r\n|[" + _VERTICAL + b"])",
    b"N": rb"[^\n]",
    b"z": rb"\Z",
    b"Z": rb"(?=\n?\Z)",
    b"G": rb"\A",
    b"e": rb"\x1b",
    b"E": b"",
}
_WITHIN: Final = {b"h": _HORIZONTAL, b"v": _VERTICAL, b"e": rb"\x1b", b"E": b""}


def compile_perl(pattern: bytes, flags: int = 0) -> re.Pattern[bytes]:
    """Return the compiled pattern. Raises re.error, OverflowError or RecursionError if it is none.

    `flags` are Python's.
    """
    if _FOREIGN.search(pattern):
        pattern = translate(pattern, verbose=bool(flags & re.VERBOSE))
    with warnings.catch_warnings():
        # What some day may be read otherwise is read as it is now.
        warnings.simplefilter("ignore", FutureWarning)
        return re.compile(pattern, flags)


@dataclass(slots=True)
class _Level:
    """A group that is open: the options that hold from their place on, up to its end."""

    verbose: bool
    options: list[bytes] = field(default_factory=list)


def translate(pattern: bytes, *, verbose: bool = False) -> bytes:
    """Return the pattern in Python's words; re.error for one that no group of options closes."""
    out: list[bytes] = []
    levels = [_Level(verbose)]
    position = 0
    while position < len(pattern):
        level = levels[-1]
        char = pattern[position : position + 1]
        if char == b"\\":
            position = _escape(pattern, position, out, _OUTSIDE)
        elif char == b"[":
            position = _bracket(pattern, position, out)
        elif char == b"#" and level.verbose:
            position = _matched_end(_COMMENT, pattern, position)
        elif char == b"(":
            position = _open(pattern, position, out, levels)
        elif char == b"{" and _UP_TO.match(pattern, position):
            # Without a lower bound these are letters.
            out.append(b"\\{")
            position += 1
        elif char == b"|":
            # Options hold in the branches that follow, too.
            out += [b")" * len(level.options), b"|", *level.options]
            position += 1
        elif char == b")":
            out.append(b")" * len(level.options) + b")")
            if len(levels) > 1:
                levels.pop()
            position += 1
        else:
            out.append(char)
            position += 1
    out += [b")" * len(level.options) for level in reversed(levels)]
    translated = b"".join(out)
    if len(translated) > _MOST_GROWTH * (len(pattern) + _SHORT):
        raise re.error("its options are repeated in too many branches")
    return translated


def _matched_end(what: re.Pattern[bytes], pattern: bytes, position: int) -> int:
    found = what.match(pattern, position)
    return position + 1 if found is None else found.end()


def _open(pattern: bytes, position: int, out: list[bytes], levels: list[_Level]) -> int:
    """Copy what opens a group, or open one for options that stand alone; return where it ends."""
    level = levels[-1]
    if pattern.startswith(b"(?#", position):
        end = pattern.find(b")", position)
        return len(pattern) if end < 0 else end + 1
    options = _OPTIONS.match(pattern, position)
    if options is not None:
        on, off = (options[1] or b"").replace(b"n", b""), options[2] or b""
        if b"x" in on + off:
            level.verbose = b"x" in on
        if on or off:
            if len(level.options) >= _MOST_OPTIONS:
                raise re.error("too many options")
            level.options.append(b"(?" + on + (b"-" + off if off else b"") + b":")
            out.append(level.options[-1])
        return options.end()
    levels.append(_Level(level.verbose))
    named = _NAMED_GROUP.match(pattern, position)
    if named is not None:
        out.append(b"(?P<" + (named[1] or named[2]) + b">")
        return named.end()
    out.append(b"(")
    return position + 1


def _escape(pattern: bytes, position: int, out: list[bytes], known: dict[bytes, bytes]) -> int:
    """Copy one escape in Python's words; return where it ends."""
    letter = pattern[position + 1 : position + 2]
    if letter == b"Q":
        quoted = _QUOTED.match(pattern, position)
        assert quoted is not None
        out.append(re.escape(quoted[1]))
        return quoted.end()
    if pattern.startswith(b"\\N{", position):
        raise re.error("\\N{name} is not supported")
    if letter in known:
        out.append(known[letter])
        return position + 2
    if letter == b"c" and position + 2 < len(pattern):
        out.append(b"\\x%02x" % (pattern[position + 2 : position + 3].upper()[0] ^ 64))
        return position + 3
    number = _NUMBER.match(pattern, position)
    if number is not None:
        out.append(_byte(number))
        return number.end()
    reference = _REFERENCE.match(pattern, position) if known is _OUTSIDE else None
    if reference is not None:
        out.append(_same_again(reference))
        return reference.end()
    out.append(pattern[position : position + 2])
    return position + 2


def _byte(number: re.Match[bytes]) -> bytes:
    """Return a byte that is written as a number."""
    value = int(number[2], 8) if number[2] else int(number[1] or number[3] or b"0", 16)
    if value > 255:
        raise re.error("character code point value in \\x{} or \\o{} is too large")
    return b"\\x%02x" % value


def _same_again(reference: re.Match[bytes]) -> bytes:
    """Return what matches what a group has matched."""
    name = reference[2] or reference[3] or reference[4]
    return b"(?P=" + name + b")" if name else b"(?:\\" + reference[1] + b")"


def _bracket(pattern: bytes, position: int, out: list[bytes]) -> int:
    """Copy a class in brackets; return where it ends."""
    if _CLASS.match(pattern, position) is not None:
        raise re.error("POSIX named classes are supported only within a class")
    out.append(b"[")
    position += 1
    if pattern.startswith(b"^", position):
        out.append(b"^")
        position += 1
    if pattern.startswith(b"]", position):
        out.append(b"\\]")
        position += 1
    while position < len(pattern) and not pattern.startswith(b"]", position):
        named = _CLASS.match(pattern, position)
        if named is not None:
            out.append(_ranges(named[2], negated=bool(named[1])))
            position = named.end()
        elif _COLLATING.match(pattern, position) is not None:
            raise re.error("POSIX collating elements are not supported")
        elif pattern.startswith(b"\\", position):
            position = _escape(pattern, position, out, _WITHIN)
        else:
            char = pattern[position : position + 1]
            out.append(b"\\[" if char == b"[" else char)
            position += 1
    out.append(pattern[position : position + 1])
    return position + 1


def _ranges(name: bytes, *, negated: bool) -> bytes:
    """Return what is written in brackets for a named class."""
    members = _NAMED.get(name)
    if members is None:
        raise re.error("unknown POSIX class name")
    numbers = [each for each in range(256) if (each in members) is not negated]
    runs: list[tuple[int, int]] = []
    for each in numbers:
        if runs and runs[-1][1] == each - 1:
            runs[-1] = runs[-1][0], each
        else:
            runs.append((each, each))
    return b"".join(
        b"\\x%02x" % low if low == high else b"\\x%02x-\\x%02x" % (low, high) for low, high in runs
    )
