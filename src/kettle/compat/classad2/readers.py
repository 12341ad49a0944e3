"""Ads out of texts and files, one after the other: `parseAds`, `parseOne`, `parseNext`.

Where an ad ends decides what the next call reads, so the functions here count what they took. The
form is found out anew for each ad, as the wheel does: what begins with `[` or a comment is new.
Source: runs of the wheel, tests/data/compat/readers.py.
"""

# ruff: noqa: N802 - the wheel's names
from __future__ import annotations

import io
import os
from collections.abc import Iterator
from typing import IO, Final

from kettle.classad import ClassAd as Ad
from kettle.classad.ad import parse_ad_at
from kettle.classad.forms import detect_form, next_foreign_ad, parse_ads
from kettle.classad.nodes import Literal
from kettle.classad.parser import (
    parse_beginning,
    parse_expression,
    parse_old_value,
    plain_integer,
    plain_string,
)
from kettle.classad.unparse import quote as quote_text
from kettle.classad.values import Expr
from kettle.compat.classad2.ads import ClassAd
from kettle.compat.classad2.convert import in_this_world, is_time, whole_text
from kettle.compat.classad2.names import LAST_ERROR, ClassAdException, ParserType
from kettle.errors import ClassAdSyntaxError
from kettle.octets import to_bytes
from kettle.patterns import late_pattern

_NO_AD: Final = "Unable to parse input stream into a ClassAd."
_NO_LOOKING_AHEAD: Final = "Can not look ahead in stream; you must explicitly specify a parser."
# What is read of a file at first to find its next ad in.
_CHUNK: Final = 8192
_FORMS: Final = {ParserType.Old: "long", ParserType.XML: "xml", ParserType.JSON: "json"}
_NOT_BLANK: Final = late_pattern(r"[^ \t\n\v\f\r]")
# What may stand before an ad in new syntax, and what hides the brackets that end one. What nothing
# ends reaches to the text's end, so that it is read once.
_BEFORE: Final = late_pattern(r"(?:[\s{},]++|//[^\n]*+|/\*[\s\S]*?(?:\*/|\Z))*")
_BRACKET: Final = late_pattern(
    r'"[^"\\]*+(?:\\[\s\S][^"\\]*+)*+(?:"|\\?\Z)|'
    r"'[^'\\]*+(?:\\[\s\S][^'\\]*+)*+(?:'|\\?\Z)|//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)|[\[\]]"
)
# The last token of a text: whole, or a string or a name in quotes that has no end.
_LAST: Final = late_pattern(
    r'[\w.]++\s*+\Z|[^\w\s"\']\Z|'
    r'"[^"\\]*+(?:\\[\s\S][^"\\]*+)*+(?:"\s*+|\\?+)\Z|'
    r"'[^'\\]*+(?:\\[\s\S][^'\\]*+)*+(?:'\s*+|\\?+)\Z"
)


def parseAds(input: str | IO[str], parser: ParserType = ParserType.Auto) -> Iterator[ClassAd]:  # noqa: A002
    """Yield the ads of a text or file; a file stands after the ad that was yielded last.

    Ads in old syntax have blank lines between them. Raises ValueError where no ad can be read.
    """
    before = 0 if isinstance(input, str) else input.tell()
    parser = _numbered(parser)
    text = _given("".join(input))
    form = _form(text, 0, parser) if text else "long"
    if form in ("xml", "json"):
        yield from map(ClassAd._of, _foreign(text, form))  # noqa: SLF001
        return
    position = 0
    while True:
        ad, end = _next(text, position, parser)
        if not isinstance(input, str):
            before += 0 if ad is None else len(to_bytes(text[position:end]))
            input.seek(before, 0)
        if ad is None or end == position:
            return
        yield ClassAd._of(ad)  # noqa: SLF001
        position = end


def _foreign(text: str, form: str) -> Iterator[Ad]:
    # Compat: the wheel ends without a word where an ad is cut off, or something else follows the
    # last one; we raise what it raises at other errors, and `lastError` says where. Shown by
    # test_what_is_no_ad_in_a_stream_of_json_is_told.
    try:
        yield from parse_ads(text, form)
    except ClassAdSyntaxError as error:
        LAST_ERROR.text = str(error)
        raise ValueError(_NO_AD) from None


def parseOne(input: str | IO[str], parser: ParserType = ParserType.Auto) -> ClassAd:  # noqa: A002
    """Return one ad of all the ads of a text or file; what comes later wins.

    A file stands after the last ad, at its end if there was none.
    """
    result = ClassAd()
    for ad in parseAds(input, parser):
        result.update(ad)
    if not isinstance(input, str) and not result:
        input.seek(0, os.SEEK_END)
    return result


def parseNext(
    input: str | IO[str],  # noqa: A002
    parser: ParserType = ParserType.Auto,
) -> ClassAd | None:
    """Return the first ad of a text, or the next one of a file; None at the end.

    A file must have a number (`fileno`), and is read no further than the ad. One that cannot be
    looked into before it is read needs its form said: ClassAdException. Raises ValueError where
    no ad can be read.
    """
    parser = _numbered(parser)
    if isinstance(input, str):
        ad, _ = _next(_given(input), 0, parser)
    else:
        if parser == ParserType.Auto:
            parser = _look_ahead(input)
        ad = _next_of_file(input.fileno(), parser)
    return None if ad is None else ClassAd._of(ad)  # noqa: SLF001


def _numbered(parser: ParserType) -> ParserType:
    """Return the parser of a number, which need be no member; TypeError for what is no number."""
    number = int(parser)
    return ParserType(number) if number in ParserType._value2member_map_ else ParserType.Old


def _given(text: str) -> str:
    """Return a text as C reads it, up to a NUL; UnicodeEncodeError for half a character."""
    return whole_text(text.partition("\0")[0])


def _look_ahead(file: IO[str]) -> ParserType:
    try:
        before = file.tell()
        found = ParserType.New
        while letter := file.read(1):
            if letter in "/[":
                break
            if not letter.isspace():
                found = ParserType.Old
                break
        file.seek(before)
    except io.UnsupportedOperation as error:
        raise ClassAdException(_NO_LOOKING_AHEAD) from error
    return found


def _next_of_file(number: int, parser: ParserType) -> Ad | None:
    """Return the next ad of a descriptor, and leave it after the ad."""
    try:
        before = os.lseek(number, 0, os.SEEK_CUR)
    except OSError:
        return _next_of_pipe(number, parser)
    last_error, data = LAST_ERROR.text, b""
    while True:
        wanted = max(_CHUNK, len(data))
        piece = os.read(number, wanted)
        data, is_whole = data + piece, len(piece) < wanted
        text = data.decode("utf-8", "surrogateescape")
        try:
            ad, end = _next(text, 0, parser)
        except ValueError:
            if is_whole:
                end = _behind_fault(text, parser)
                os.lseek(number, before + len(to_bytes(text[:end])), 0)
                raise
            continue
        # What stands behind an ad shows that it is whole.
        if is_whole or (ad is not None and end < len(text)):
            break
    LAST_ERROR.text = last_error
    os.lseek(number, before + len(to_bytes(text[:end])), 0)
    return ad


def _behind_fault(text: str, parser: ParserType) -> int:
    """Return where the next call goes on: after the ad if it is closed, or else after the line.

    Compat: the wheel goes on behind the fault, in the midst of the ad. Shown by
    test_behind_a_broken_ad_that_is_closed_a_file_goes_on.
    """
    end = None
    begin = _NOT_BLANK.search(text)
    if begin is not None and _form(text, begin.start(), parser) == "new":
        end = _end_of_new(text, begin.start())
    return end or text.find("\n") + 1 or len(text)


def _next_of_pipe(number: int, parser: ParserType) -> Ad | None:
    """Return the next ad of what cannot be wound back: it is read line by line up to its end."""
    text = ""
    while line := _line(number):
        text += line
        if parser is ParserType.Old and text.strip() and not line.strip():
            break
        if parser is not ParserType.Old and "]" in line:
            try:
                parse_ad_at(text, 0)
            except ClassAdSyntaxError:
                continue
            break
    return _next(text, 0, parser)[0]


def _line(number: int) -> str:
    taken = bytearray()
    while piece := os.read(number, 1):
        taken += piece
        if piece == b"\n":
            break
    return taken.decode("utf-8", "surrogateescape")


def _next(text: str, start: int, parser: ParserType) -> tuple[Ad | None, int]:
    """Return the ad that begins at `start` and where it ends; None where there is nothing left.

    Raises ValueError if what is there is no ad. Compat: the wheel takes a text of new syntax that
    ends within the fault for one that has ended; we do not (test_what_is_no_ad_is_told).
    """
    while (found := _NOT_BLANK.search(text, start)) is not None:
        begin = found.start()
        form = _form(text, begin, parser)
        try:
            ad, end = _next_in_form(text, begin, form)
        except (ClassAdSyntaxError, RecursionError) as error:
            LAST_ERROR.text = str(error)
            raise ValueError(_NO_AD) from None
        if ad is None or len(ad):
            return ad, end
        if end == len(text):
            return None, end
        if form == "long":
            raise ValueError(_NO_AD)
        # Compat: the wheel reads on after an empty ad as if the next bracket were part of a name;
        # we pass over it. Shown by test_an_empty_ad_in_a_stream_is_passed_over.
        start = end
    return None, len(text)


def _next_in_form(text: str, begin: int, form: str) -> tuple[Ad | None, int]:
    if form == "new":
        return _next_new(text, begin)
    if form == "long":
        return _next_long(text, begin)
    ad, end = next_foreign_ad(text[begin:], form)
    return ad, begin + end


def _form(text: str, begin: int, parser: ParserType) -> str:
    if parser == ParserType.Auto:
        return "new" if text[begin] in "/[" else "long"
    if parser == ParserType.FileAuto:
        # Compat: for texts too, in which the wheel finds nothing then. Shown by
        # test_the_form_of_a_text_is_found_out_as_that_of_a_file.
        return detect_form(text[begin:])
    return _FORMS.get(parser, "new")


@in_this_world
def _next_new(text: str, begin: int) -> tuple[Ad | None, int]:
    """Return the ad between the next bracket and the one that closes it; None if none does.

    Compat: an ad that is cut off is the end, as in the wheel; shown by the script readers.py. One
    that is wrong before its end is told, closed or not. The
    braces and commas of a list of ads are passed over, which the wheel refuses; shown by
    test_ads_in_a_list_are_read.
    """
    first = _beginning_of_new(text, begin)
    if text[first : first + 1] not in ("[", ""):
        raise ClassAdSyntaxError(f"expected [ before {text[first : first + 40]!r}")
    end = _end_of_new(text, first)
    if end is not None:
        return parse_ad_at(text[first:end], 0)[0], end
    if first < len(text):
        _check_beginning(text[first:])
    return None, len(text)


def _beginning_of_new(text: str, begin: int) -> int:
    before = _BEFORE.match(text, begin)
    return begin if before is None else before.end()


def _end_of_new(text: str, begin: int) -> int | None:
    """Return the end of the ad that begins here, or behind blanks and comments."""
    first = _beginning_of_new(text, begin)
    if text[first : first + 1] != "[":
        return None
    depth = 0
    for found in _BRACKET.finditer(text, first):
        part = found.group()
        if part == "[":
            depth += 1
        elif part == "]":
            depth -= 1
            if not depth:
                return found.end()
    return None


def _check_beginning(text: str) -> None:
    """Raise ClassAdSyntaxError for an ad that nothing closes, if it is wrong before its end.

    Compat: what is wrong in its last token, or in a comment without an end, is cut off, as in the
    wheel (test_an_ad_that_is_cut_off_is_the_end).
    """
    try:
        parse_ad_at(text, 0)
    except ClassAdSyntaxError as error:
        left = text[error.column :]
        in_comment = left.startswith("/*") and "*/" not in left
        if left.strip() and not in_comment and _LAST.match(left) is None:
            raise


def _next_long(text: str, begin: int) -> tuple[Ad, int]:
    """Return the ad of the lines up to a blank one; what follows a line that is none is left out.

    Compat: what follows the expression in its line means nothing, as in the wheel; shown by the
    script readers.py.
    """
    ad = Ad()
    position, broken = begin, False
    while position < len(text):
        end = text.find("\n", position) + 1 or len(text)
        line = text[position:end].strip()
        position = end
        if not line:
            break
        if broken or line[0] == "#":
            continue
        broken = not _take_line(ad, line)
    return ad, position


def _take_line(ad: Ad, line: str) -> bool:
    name, equals, value = line.partition("=")
    name, value = name.strip(" "), value.strip()
    if not equals or not name or not value:
        return False
    if plain_integer(value) is not None or plain_string(value) is not None:
        # Kept as it came, which is how it is printed: most attributes are never read.
        ad.insert_text(name, value)
        return True
    try:
        ad.insert(name, _old_beginning(value))
    except ClassAdSyntaxError as error:
        LAST_ERROR.text = str(error)
        return False
    return True


@in_this_world
def _old_beginning(value: str) -> Expr:
    try:
        return parse_old_value(value)
    except ClassAdSyntaxError:
        return parse_beginning(value)


def quote(input: str | None) -> str:  # noqa: A002
    """Return the text as a string literal of the language; None is the empty text."""
    input = "" if input is None else input  # noqa: A001
    if not isinstance(input, str):
        raise TypeError(f"argument 1 must be str or None, not {type(input).__name__}")
    return quote_text(whole_text(input))


def unquote(input: str) -> str:  # noqa: A002
    """Return the text that a string literal stands for. Raises ValueError for what is none."""
    if not isinstance(input, str):
        # Compat: of None the wheel makes the end of the process; shown by
        # test_unquoting_nothing_raises_a_type_error.
        raise TypeError(f"argument 1 must be str or None, not {type(input).__name__}")
    whole_text(input)
    try:
        expr = parse_expression(input)
    except ClassAdSyntaxError as error:
        LAST_ERROR.text = str(error)
        raise ValueError("Invalid string to unquote") from None
    if is_time(expr):
        raise ValueError("ClassAd literal is not a string value")
    if not isinstance(expr, Literal):
        raise ValueError("String does not parse to a ClassAd literal")  # noqa: TRY004
    if not isinstance(expr.value, str):
        raise ValueError("ClassAd literal is not a string value")  # noqa: TRY004
    return expr.value.partition("\0")[0]
