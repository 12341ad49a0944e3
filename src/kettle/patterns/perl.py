r"""Perl's regular expressions, as the field writes them, in the words of Python's.

Python reads most of them as they are. What it has other words for is rewritten here: classes such
as `[[:alpha:]]`, `\h`, `\R`, `\z`, `\Q…\E`, `\x{41}`, `\g{-1}`, named groups, options in the
middle, looks behind at one of several things; and what numbers mean (`\12`). What it has no words
for (recursion, `\\K`, properties) stays, and does not compile. Patterns and texts
are bytes: a letter is an ASCII letter. Source: the manual, ClassAd functions regexp() and map
files; observed of the real ones.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from typing import Final

from kettle.patterns.look_behind import by_width

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
    rb"\\[hHvVRNzZGeQExocgk0-9]|\[[:.=]|\[\[|\(\?(?:[<'^]|[a-zA-Z-]+\))"
    rb"|\{(?:[ \t,]|[0-9]+,?[ \t]|[0-9]+,[0-9]+[ \t]|[0-9]*,?[0-9]{5})"
)
_CLASS: Final = re.compile(rb"\[:(\^?)([a-z]+):\]")
_COLLATING: Final = re.compile(rb"\[([.=])(?:(?!\[\1)[^]])*?\1\]")
# No blank is taken back: four repetitions would else share them in every way there is.
_BRACES: Final = re.compile(rb"\{[ \t]*+([0-9]*+)[ \t]*+(,?)[ \t]*+([0-9]*+)[ \t]*+\}")
_OPTIONS: Final = re.compile(rb"\(\?(\^?)([imsxn]*)(?:-([imsx]*))?\)")
_RESET_GROUP: Final = re.compile(rb"\(\?\^([imsxn]*):")
_NAMED_GROUP: Final = re.compile(rb"\(\?(?:<([A-Za-z_]\w*)>|'([A-Za-z_]\w*)')")
_NUMBER: Final = re.compile(rb"\\x\{([0-9a-fA-F]{1,6})\}|\\o\{([0-7]{1,8})\}|\\x([0-9a-fA-F]{0,2})")
_REFERENCE: Final = re.compile(
    rb"\\g(?:\{([+-]?[1-9][0-9]{0,2})\}|([+-]?[1-9][0-9]{0,2}))|\\[gk]\{([A-Za-z_]\w*)\}|\\k<([A-Za-z_]\w*)>|\\k'([A-Za-z_]\w*)'"
)
# A number that is a reference, or a byte in octal digits.
_DECIMAL: Final = re.compile(rb"\\([1-9][0-9]*)")
_OCTAL: Final = re.compile(rb"\\([0-7]{1,3})")
_CAPTURE: Final = re.compile(rb"\((?![?*])|\(\?(?:P?<[A-Za-z_]|')")
_BEHIND: Final = re.compile(rb"\(\?<[=!]")
# What has to be stepped over to find the groups of a pattern. What nothing closes goes on to the
# end, so that nothing is read twice.
_STEP: Final = re.compile(
    rb"\\Q.*?(?:\\E|\Z)|\\.|\(\?#[^)]*(?:\)|\Z)"
    rb"|\[\^?\]?(?:\[:\^?[a-z]+:\]|\\.|[^\]\\])*(?:\]|\\?\Z)|(" + _CAPTURE.pattern + rb")",
    re.DOTALL,
)
# How often something is asked for, and what has to be stepped over to find that.
_GREED: Final = re.compile(
    rb"\\.|\[\^?\]?(?:\\.|[^\]\\])*(?:\]|\\?\Z)|\(\?"
    rb"|(?P<times>[*+?]|\{(?:[0-9]+(?:,[0-9]*)?|,[0-9]+)\})(?P<after>[?+]?)",
    re.DOTALL,
)
_NEVER: Final = b"(?!)"
_QUOTED: Final = re.compile(rb"\\Q(.*?)(?:\\E|\Z)", re.DOTALL)
_COMMENT: Final = re.compile(rb"#[^\n]*")

# Limit: options that stand alone in one group; they are repeated in each of its branches.
_MOST_OPTIONS: Final = 20
# The most times that something can be asked for in braces.
_MOST_TIMES: Final = 65_535
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


def compile_perl(pattern: bytes, flags: int = 0, *, lazy: bool = False) -> re.Pattern[bytes]:
    """Return the compiled pattern. Raises re.error, OverflowError or RecursionError if it is none.

    `flags` are Python's; `lazy` is Perl-compatible patterns' own option U.
    """
    with warnings.catch_warnings():
        # What some day may be read otherwise is read as it is now.
        warnings.simplefilter("ignore", FutureWarning)
        if _FOREIGN.search(pattern):
            pattern = translate(pattern, verbose=bool(flags & re.VERBOSE))
        return re.compile(_swap_greed(pattern) if lazy else pattern, flags)


def _swap_greed(pattern: bytes) -> bytes:
    """Return a pattern of Python's in which what took as much as it can takes as little.

    And the other way round; what never gives anything back stays as it is.
    """

    def swapped(found: re.Match[bytes]) -> bytes:
        times, after = found["times"], found["after"]
        if times is None:
            return found[0]
        return bytes(times + {b"": b"?", b"?": b""}.get(after, after))

    return _GREED.sub(swapped, pattern)


@dataclass(slots=True)
class _Level:
    """A group that is open: the options that hold from their place on, up to its end.

    `number` is that of a group that is remembered, else 0; `behind` how a look behind begins, and
    `branches` where in what was written each of its branches does; `around` whether blanks mean
    nothing around it.
    """

    verbose: bool
    options: list[bytes] = field(default_factory=list)
    number: int = 0
    behind: bytes = b""
    branches: list[int] = field(default_factory=list)
    around: bool = False


@dataclass(slots=True)
class _Groups:
    """The groups that are remembered: how many a pattern has, was opened, and which are open."""

    total: int
    levels: list[_Level]
    opened: int = 0

    def same_again(self, number: int) -> bytes:
        """Return what matches what a group has matched: nothing as long as it is not closed."""
        if not 1 <= number <= self.total:
            raise re.error(f"there is no group {number}")
        if number > self.opened or any(level.number == number for level in self.levels):
            return _NEVER
        return b"(?:\\%d)" % number


def translate(pattern: bytes, *, verbose: bool = False) -> bytes:
    """Return the pattern in Python's words; re.error for one that no group of options closes."""
    out: list[bytes] = []
    levels = [_Level(verbose)]
    groups = _Groups(_count_groups(pattern), levels)
    position = 0
    while position < len(pattern):
        level = levels[-1]
        char = pattern[position : position + 1]
        if char == b"\\":
            position = _escape(pattern, position, out, _OUTSIDE, groups)
        elif char == b"[":
            position = _bracket(pattern, position, out)
        elif char == b"#" and level.verbose:
            position = _matched_end(_COMMENT, pattern, position)
        elif char == b"(":
            position = _open(pattern, position, out, groups)
        elif char == b"{":
            position = _brace(pattern, position, out)
        elif char == b"|":
            # Options hold in the branches that follow, too.
            out.append(b")" * len(level.options) + (b"" if level.behind else b"|"))
            level.branches.append(len(out))
            out += level.options
            position += 1
        elif char == b")":
            _close(levels, out)
            position += 1
        else:
            out.append(char)
            position += 1
    out += [b")" * len(level.options) for level in reversed(levels)]
    translated = b"".join(out)
    if len(translated) > _MOST_GROWTH * (len(pattern) + _SHORT):
        raise re.error("its options are repeated in too many branches")
    return translated


def _brace(pattern: bytes, position: int, out: list[bytes]) -> int:
    """Copy how often something is asked for; return where that ends.

    Blanks mean nothing in it, without a lower bound it begins at 0; without either it is letters.
    Source: observed of 25.14, whose library is PCRE2 10.43 or later.
    """
    found = _BRACES.match(pattern, position)
    if found is None or not (found[1] or found[3]):
        out.append(b"\\{")
        return position + 1
    least, comma, most = found.groups()
    if not comma and most:
        # Two numbers with a blank between.
        out.append(b"\\{")
        return position + 1
    if int((least or b"0")[:9]) > _MOST_TIMES or int((most or b"0")[:9]) > _MOST_TIMES:
        raise re.error("number too big in {} quantifier")
    out.append(b"{" + (least or b"0") + comma + most + b"}")
    return found.end()


def _count_groups(pattern: bytes) -> int:
    return sum(1 for step in _STEP.finditer(pattern) if step[1])


def _close(levels: list[_Level], out: list[bytes]) -> None:
    """Close the innermost group, with the options that stood alone in it."""
    level = levels[-1]
    out.append(b")" * len(level.options))
    if level.behind:
        _write_behind(level, out)
    out.append(b")")
    if len(levels) > 1:
        levels.pop()


def _write_behind(level: _Level, out: list[bytes]) -> None:
    """Put a look behind in the place of what it looks at: one for each width there can be."""
    ends = [*level.branches[1:], len(out)]
    looks = [
        level.behind + text + b")"
        for begin, end in zip(level.branches, ends, strict=True)
        for text in by_width(b"".join(out[begin:end]), verbose=level.around)
    ]
    # All of them have to fail if it is one for what is not there.
    out[level.branches[0] :] = [(b"|" if level.behind.endswith(b"=") else b"").join(looks)]


def _matched_end(what: re.Pattern[bytes], pattern: bytes, position: int) -> int:
    found = what.match(pattern, position)
    return position + 1 if found is None else found.end()


def _open(pattern: bytes, position: int, out: list[bytes], groups: _Groups) -> int:
    """Copy what opens a group, or open one for options that stand alone; return where it ends."""
    levels = groups.levels
    level = levels[-1]
    if pattern.startswith(b"(?#", position):
        end = pattern.find(b")", position)
        return len(pattern) if end < 0 else end + 1
    options = _OPTIONS.match(pattern, position)
    if options is not None:
        _stand_alone(level, options, out)
        return options.end()
    return _open_group(pattern, position, out, groups)


def _stand_alone(level: _Level, options: re.Match[bytes], out: list[bytes]) -> None:
    """Open a group for options that stand alone: it ends where the one around it does."""
    on, off = (options[2] or b"").replace(b"n", b""), options[3] or b""
    if options[1]:
        if options[3] is not None:
            raise re.error("invalid hyphen in option setting")
        off = _others(on)
    if b"x" in on + off:
        level.verbose = b"x" in on
    if on or off:
        if len(level.options) >= _MOST_OPTIONS:
            raise re.error("too many options")
        level.options.append(b"(?" + on + (b"-" + off if off else b"") + b":")
        out.append(level.options[-1])


def _open_group(pattern: bytes, position: int, out: list[bytes], groups: _Groups) -> int:
    """Copy what opens a group of which all is its own; return where it ends."""
    levels = groups.levels
    level = levels[-1]
    levels.append(_Level(level.verbose))
    reset = _RESET_GROUP.match(pattern, position)
    if reset is not None:
        on = reset[1].replace(b"n", b"")
        levels[-1].verbose = b"x" in on
        off = _others(on)
        out.append(b"(?" + on + (b"-" + off if off else b"") + b":")
        return reset.end()
    behind = _BEHIND.match(pattern, position)
    if behind is not None:
        levels[-1].behind = behind[0]
        levels[-1].around = level.verbose
        out.append(b"(?:")
        levels[-1].branches.append(len(out))
        return behind.end()
    if _CAPTURE.match(pattern, position):
        groups.opened += 1
        levels[-1].number = groups.opened
    named = _NAMED_GROUP.match(pattern, position)
    if named is not None:
        out.append(b"(?P<" + (named[1] or named[2]) + b">")
        return named.end()
    out.append(b"(")
    return position + 1


def _others(options: bytes) -> bytes:
    """Return the options that are off where only these are on."""
    return bytes(letter for letter in b"imsx" if letter not in options)


def _escape(
    pattern: bytes,
    position: int,
    out: list[bytes],
    known: dict[bytes, bytes],
    groups: _Groups | None = None,
) -> int:
    """Copy one escape in Python's words, outside of a class with `groups`; return where it ends."""
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
    if letter.isdigit():
        return _digits(pattern, position, out, groups)
    reference = _REFERENCE.match(pattern, position) if groups is not None else None
    if reference is not None and groups is not None:
        out.append(_same_again(reference, groups))
        return reference.end()
    out.append(pattern[position : position + 2])
    return position + 2


def _byte(number: re.Match[bytes]) -> bytes:
    """Return a byte that is written as a number."""
    value = int(number[2], 8) if number[2] else int(number[1] or number[3] or b"0", 16)
    if value > 255:
        raise re.error("character code point value in \\x{} or \\o{} is too large")
    return b"\\x%02x" % value


def _digits(pattern: bytes, position: int, out: list[bytes], groups: _Groups | None) -> int:
    """Copy an escape that is a number; return where it ends.

    It is a reference if it has one digit, if so many groups there are, or if it begins with 8 or 9;
    else a byte in octal digits, and always so in a class.
    """
    number = _DECIMAL.match(pattern, position) if groups is not None else None
    if number is not None and groups is not None:
        value = int(number[1][:4])
        if len(number[1]) == 1 or value <= groups.total or number[1][:1] in b"89":
            out.append(groups.same_again(value))
            return number.end()
    octal = _OCTAL.match(pattern, position)
    if octal is None:
        # An 8 or 9 in a class.
        out.append(pattern[position + 1 : position + 2])
        return position + 2
    value = int(octal[1], 8)
    if value > 255:
        raise re.error("octal value is greater than \\377")
    out.append(b"\\x%02x" % value)
    return octal.end()


def _same_again(reference: re.Match[bytes], groups: _Groups) -> bytes:
    """Return what matches what a group has matched, by its name, its number, or counted from here.

    Source: observed, a group that is still open is counted too.
    """
    number, name = reference[1] or reference[2], reference[3] or reference[4] or reference[5]
    if name:
        return b"(?P=" + name + b")"
    value = int(number)
    if number.startswith(b"-"):
        value += groups.opened + 1
    elif number.startswith(b"+"):
        value += groups.opened
    return groups.same_again(value)


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
