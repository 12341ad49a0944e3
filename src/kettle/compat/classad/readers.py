"""Ads out of texts and files, as version 1 has them: the end of a stream is StopIteration."""

# ruff: noqa: N802 - the wheel's names
from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import IO, Final, cast

from kettle.compat import classad2
from kettle.compat.classad.ads import ClassAd, of_version_2
from kettle.compat.classad.names import ClassAdParseError, Parser
from kettle.compat.classad2 import ClassAdException

_PARSERS: Final = {
    Parser.Auto: classad2.ParserType.Auto,
    Parser.Old: classad2.ParserType.Old,
    Parser.New: classad2.ParserType.New,
}


def parseAds(
    input: str | IO[str],  # noqa: A002
    parser: Parser = Parser.Auto,
) -> Iterator[ClassAd]:
    """Return an iterator over the ads of a text or file.

    ClassAdParseError for what is neither, TypeError for what is no parser.

    Compat: the ads are read as version 2 reads them. The wheel makes an attribute of a line that is
    none, and raises at an unfinished one. Shown by
    test_a_line_that_is_no_attribute_ends_its_ad.
    """
    return _ads_of(input, _parser_of(input, parser))


def _ads_of(given: str | IO[str], parser: classad2.ParserType) -> Iterator[ClassAd]:
    with _parse_errors():
        yield from map(of_version_2, classad2.parseAds(given, parser))


def parseNext(input: str | IO[str], parser: Parser = Parser.Auto) -> ClassAd:  # noqa: A002
    """Return the first ad of a text, or the next one of a file; StopIteration at the end."""
    with _parse_errors():
        found = classad2.parseNext(input, _parser_of(input, parser))
    if found is None:
        raise StopIteration("All ads processed")
    return of_version_2(found)


def parseOne(input: str | IO[str], parser: Parser = Parser.Auto) -> ClassAd:  # noqa: A002
    """Return one ad of all the ads of a text or file; what comes later wins."""
    with _parse_errors():
        return of_version_2(classad2.parseOne(input, _parser_of(input, parser)))


def parse(input: str | IO[str]) -> ClassAd:  # noqa: A002
    """Return the ad of a text or file in new syntax."""
    return ClassAd(_text_of(input))


def parseOld(input: str | IO[str]) -> ClassAd:  # noqa: A002
    """Return the ad of a text or file in old syntax."""
    return parseOne(_text_of(input), Parser.Old)


def parseOldAds(input: str | IO[str] | Iterable[str]) -> Iterator[ClassAd]:  # noqa: A002
    """Yield the ads of a text or file, or of lines, in old syntax."""
    if isinstance(input, str) or hasattr(input, "read"):
        return parseAds(cast("str | IO[str]", input), Parser.Old)
    return parseAds("\n".join(line.removesuffix("\n") for line in input), Parser.Old)


def quote(input: str) -> str:  # noqa: A002
    """Return the text as a string literal of the language."""
    return classad2.quote(input)


def unquote(input: str) -> str:  # noqa: A002
    """Return the text that a string literal stands for."""
    with _parse_errors():
        return classad2.unquote(input)


def _parser_of(given: object, parser: Parser) -> classad2.ParserType:
    """Return version 2's parser for this input; ClassAdParseError, TypeError."""
    _check_input(given)
    if not isinstance(parser, Parser):
        raise TypeError(f"parser cannot be {type(parser).__name__}")
    return _PARSERS[parser]


def _check_input(given: object) -> None:
    if isinstance(given, bytes):
        raise TypeError("a text or a file is read, not bytes")
    if not isinstance(given, str) and not hasattr(given, "read"):
        raise ClassAdParseError(f"a text or a file is read, not {type(given).__name__}")


def _text_of(given: str | IO[str]) -> str:
    _check_input(given)
    return given if isinstance(given, str) else given.read()


@contextlib.contextmanager
def _parse_errors() -> Iterator[None]:
    try:
        yield
    except ClassAdParseError:
        raise
    except (ClassAdException, ValueError) as error:
        raise ClassAdParseError(str(error)) from error
