"""Text: joining, cutting, comparing, versions.

Positions and sizes count bytes of UTF-8, and only ASCII letters have an upper and a lower case,
as in the reference.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kettle.classad.functions.convert import first_special, list_of, text_of, undefined_or_error
from kettle.classad.functions.table import Function, PlainCall, Price, plain, strict
from kettle.classad.state import State
from kettle.classad.values import ERROR, UNDEFINED, Value
from kettle.digits import wrap_32
from kettle.octets import to_bytes

# Versions are compared byte by byte.
_VERSIONS: Final = Price(steps=2, each=4)
_UPPER: Final = {ord(letter): ord(letter.upper()) for letter in "abcdefghijklmnopqrstuvwxyz"}
_LOWER: Final = {upper: lower for lower, upper in _UPPER.items()}


def concatenate(state: State, values: list[Value]) -> Value:
    """`strcat(…)`."""
    joined = _joined(values)
    return joined if type(joined) is not str or state.charge(len(joined)) else ERROR


def _joined(values: list[Value]) -> Value:
    special = first_special(values)
    if special is not None:
        return special
    return "".join([value if type(value) is str else text_of(value) for value in values])


def substring(values: list[Value]) -> Value:
    """`substr(text, offset[, length])`."""
    if len(values) not in (2, 3):
        return ERROR
    special = undefined_or_error(values)
    if special is not None:
        return special
    text, offset = values[0], values[1]
    length = values[2] if len(values) == 3 else None
    if not isinstance(text, str) or type(offset) is not int:
        return ERROR
    if length is not None and type(length) is not int:
        return ERROR
    raw = text.encode("utf-8", "surrogateescape")
    start = wrap_32(offset)
    start = max(0, len(raw) + start) if start < 0 else min(start, len(raw))
    left = len(raw) - start
    if length is not None:
        assert type(length) is int
        count = wrap_32(length)
        left = max(0, left + count) if count < 0 else min(left, count)
    return raw[start : start + left].decode("utf-8", "surrogateescape")


def _comparing(fold: Callable[[str], str]) -> PlainCall:
    def call(values: list[Value]) -> Value:
        if len(values) != 2:
            return ERROR
        special = undefined_or_error(values)
        if special is not None:
            return special
        left, right = (fold(text_of(value)).encode("utf-8", "surrogateescape") for value in values)
        return (left > right) - (left < right)

    return call


def _changing(change: Callable[[str], str], letters: dict[int, int]) -> PlainCall:
    def call(values: list[Value]) -> Value:
        if len(values) != 1:
            return ERROR
        value = values[0]
        if type(value) is str and value.isascii():
            return change(value)
        if value is UNDEFINED or value is ERROR:
            return value
        return text_of(value).translate(letters)

    return call


def split_user_name(values: list[Value]) -> Value:
    """`splitUserName(name)`: what is before the first @, and what is after."""
    if len(values) != 1 or not isinstance(values[0], str):
        return ERROR
    user, _, domain = values[0].partition("@")
    return list_of([user, domain])


def split_slot_name(values: list[Value]) -> Value:
    """`splitSlotName(name)`: slot and machine; without an @ it is all machine."""
    if len(values) != 1 or not isinstance(values[0], str):
        return ERROR
    slot, at, machine = values[0].partition("@")
    return list_of([slot, machine] if at else ["", slot])


def compare_versions(left: str, right: str) -> int:
    """Return below, above or equal zero as one version comes before, after or with the other.

    Runs of digits compare as numbers, of those that start with zeros the one with more zeros is
    less, and the rest compares like decimal places. Bytes above 127 come before all others.
    """
    one, other = to_bytes(left) + b"\0", to_bytes(right) + b"\0"
    i = j = 0
    while True:
        if _is_digit(one[i]) and _is_digit(other[j]):
            zeros, end_one = _digits(one, i)
            zeros_other, end_other = _digits(other, j)
            if zeros != zeros_other:
                return zeros_other - zeros
            if zeros == 0 and end_one - i != end_other - j:
                return (end_one - i) - (end_other - j)
            while i < end_one and j < end_other:
                if one[i] != other[j]:
                    return _signed(one[i]) - _signed(other[j])
                i, j = i + 1, j + 1
        if one[i] != other[j]:
            return _signed(one[i]) - _signed(other[j])
        if one[i] == 0:
            return 0
        i, j = i + 1, j + 1


def _signed(byte: int) -> int:
    # Compat: characters have a sign in the reference (test_versions_of_strange_letters).
    return byte - 256 if byte > 127 else byte


def _is_digit(byte: int) -> bool:
    return 0x30 <= byte <= 0x39


def _digits(text: bytes, start: int) -> tuple[int, int]:
    end = start
    while _is_digit(text[end]):
        end += 1
    zeros = 0
    while start + zeros < end - 1 and text[start + zeros] == 0x30:
        zeros += 1
    return zeros, end


def _versions(judge: Callable[[int], Value]) -> PlainCall:
    def call(values: list[Value]) -> Value:
        if len(values) != 2:
            return ERROR
        special = undefined_or_error(values)
        if special is not None:
            return special
        return judge(compare_versions(text_of(values[0]), text_of(values[1])))

    return call


def version_in_range(values: list[Value]) -> Value:
    """`version_in_range(version, lowest, highest)`."""
    if len(values) != 3:
        return ERROR
    # Compat: a version is not expected to be unknown, only the ends of the range are; the script
    # arguments.py shows it.
    if any(value is UNDEFINED for value in values[1:]):
        return UNDEFINED
    if any(value is UNDEFINED or value is ERROR for value in values):
        return ERROR
    version, low, high = map(text_of, values)
    return compare_versions(version, low) >= 0 and compare_versions(version, high) <= 0


# fmt: off
STRINGS: Final[tuple[Function, ...]] = (
    strict("strcat", "strcat(value, …)", "The texts of the values, one after the other.",
           concatenate, ('strcat("slot",3 - 2,"_State")', '"slot1_State"'),
           ('strcat("a",undefined)', "undefined"), ("strcat(1,true)", '"1true"'),
           short=_joined),
    plain("substr", "substr(text, offset[, length])",
          "Part of the text. A negative offset counts from the end, a negative length leaves "
          "that many bytes off the end.",
          substring, ('substr("abcdef",2,3)', '"cde"'), ('substr("abcdef",-2)', '"ef"'),
          ('substr("abcdef",1,-2)', '"bcd"')),
    plain("strcmp", "strcmp(one, other)", "-1, 0 or 1 as one comes before, with or after other.",
          _comparing(lambda text: text), ('strcmp("a","b")', "-1"), ('strcmp("b","B")', "1"),
          ('strcmp("a","a")', "0")),
    plain("stricmp", "stricmp(one, other)", "The same without regard to case.",
          _comparing(lambda text: text.translate(_LOWER)), ('stricmp("A","a")', "0"),
          ('stricmp("a","B")', "-1")),
    plain("toUpper", "toUpper(value)", "The text in capitals.",
          _changing(str.upper, _UPPER), ('toUpper("Linux")', '"LINUX"'),
          ("toUpper(true)", '"TRUE"')),
    plain("toLower", "toLower(value)", "The text in small letters.",
          _changing(str.lower, _LOWER), ('toLower("Linux")', '"linux"'), ("toLower(12)", '"12"')),
    plain("splitUserName", "splitUserName(name)", "User and domain; without @ it is all user.",
          split_user_name, ('splitUserName("a@b")', '{ "a","b" }'),
          ('splitUserName("a")', '{ "a","" }')),
    plain("splitSlotName", "splitSlotName(name)",
          "Slot and machine; without @ it is all machine.",
          split_slot_name, ('splitSlotName("slot1@h")', '{ "slot1","h" }'),
          ('splitSlotName("h")', '{ "","h" }')),
    plain("versioncmp", "versioncmp(one, other)",
          "Below, equal or above 0 as version one comes before, with or after other.",
          _versions(lambda order: order), ('versioncmp("8.9","8.10") < 0', "true"),
          ('versioncmp("1.2","1.2")', "0"),
          price=_VERSIONS),
    plain("versionGT", "versionGT(one, other)", "Whether version one is after other.",
          _versions(lambda order: order > 0), ('versionGT("8.10","8.9")', "true"),
          ('versionGT("8.9","8.10")', "false"),
          price=_VERSIONS),
    plain("versionGE", "versionGE(one, other)", "Whether version one is other or after it.",
          _versions(lambda order: order >= 0), ('versionGE("8.9","8.9")', "true"),
          ('versionGE("8.9","8.10")', "false"),
          price=_VERSIONS),
    plain("versionLT", "versionLT(one, other)", "Whether version one is before other.",
          _versions(lambda order: order < 0), ('versionLT("8.9","8.10")', "true"),
          ('versionLT("8.9","8.9")', "false"),
          price=_VERSIONS),
    plain("versionLE", "versionLE(one, other)", "Whether version one is other or before it.",
          _versions(lambda order: order <= 0), ('versionLE("8.9","8.9")', "true"),
          ('versionLE("8.10","8.9")', "false"),
          price=_VERSIONS),
    plain("versionEQ", "versionEQ(one, other)", "Whether the versions are the same.",
          _versions(lambda order: order == 0), ('versionEQ("8.9","8.9.0")', "false"),
          ('versionEQ("8.9","8.9")', "true"),
          price=_VERSIONS),
    plain("version_in_range", "version_in_range(version, lowest, highest)",
          "Whether the version lies in the range, both ends included.",
          version_in_range, ('version_in_range("8.9","8.1","8.10")', "true"),
          ('version_in_range("8.11","8.1","8.10")', "false"),
          price=_VERSIONS),
)
# fmt: on
