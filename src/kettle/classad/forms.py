"""Whole ads in and out of their forms: long (old syntax), new, JSON, XML, and streams of them.

What one expression or ad looks like in old and new syntax is decided in `unparse.py`; here is
what lies around it, and the two foreign forms. Ads of tools are sorted by name (`sort=True`),
those of the library by length of name. Source: vectors/classad, forms_out, forms_in, ads_stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from kettle.classad.ad import ClassAd, parse_ad_at, parse_old_ad
from kettle.classad.unparse import quote_name, unparse
from kettle.errors import ClassAdSyntaxError
from kettle.patterns import late_pattern

FORMS: Final = ("long", "new", "json", "xml")
_BLANK: Final = late_pattern(r"(?:[ \t\n\v\f\r,]++|//[^\n]*+|/\*[\s\S]*?\*/)*")


def parse_ads(text: str, form: str = "auto") -> Iterator[ClassAd]:
    """Yield the ads of a stream; the form is one of FORMS, or found out.

    Raises ClassAdSyntaxError, with the line of the stream, at the first that does not parse, after
    those before it.
    """
    try:
        yield from _parse_form(text, detect_form(text) if form == "auto" else form)
    except ClassAdSyntaxError as error:
        raise _with_line(error, text) from None


def _with_line(error: ClassAdSyntaxError, text: str) -> ClassAdSyntaxError:
    """Return an error of what is left of a text as one of a line of the whole."""
    if error.line or not error.text:
        return error
    place = len(text) - len(error.text) + error.column
    line, column = text.count("\n", 0, place) + 1, place - text.rfind("\n", 0, place)
    problem = error.complaint
    return ClassAdSyntaxError(
        f"line {line}, column {column}: {problem}",
        text=text,
        column=place,
        line=line,
    )


def _parse_form(text: str, chosen: str) -> Iterator[ClassAd]:
    if chosen == "xml":
        from kettle.classad.forms_xml import parse_xml_ads

        return parse_xml_ads(text)
    if chosen == "json":
        from kettle.classad.forms_json import parse_json_ads

        return parse_json_ads(text)
    return _parse_new(text) if chosen == "new" else _parse_long(text)


def next_foreign_ad(text: str, form: str) -> tuple[ClassAd | None, int]:
    """Return the first ad of a text in JSON or XML and where it ends; None if there is none.

    What follows is the rest of the same stream. Raises ClassAdSyntaxError if it does not parse.
    """
    if form == "xml":
        from kettle.classad.forms_xml import next_xml_ad

        return next_xml_ad(text)
    from kettle.classad.forms_json import next_json_ad

    return next_json_ad(text)


def detect_form(text: str) -> str:
    """Return the form the text seems to be in; what is nothing else is long."""
    start = _skip(text, 0)
    first = text[start : start + 1]
    if first == "<":
        return "xml"
    second = text[_skip(text, start + 1) :][:1]
    if first == "{":
        return "new" if second == "[" else "json"
    if first == "[":
        return "json" if second == "{" else "new"
    return "long"


def _skip(text: str, position: int) -> int:
    found = _BLANK.match(text, position)
    return found.end() if found is not None else position


def _parse_new(text: str) -> Iterator[ClassAd]:
    position = _skip(text, 0)
    in_list = text[position : position + 1] == "{"
    if in_list:
        position = _skip(text, position + 1)
    while position < len(text):
        if in_list and text[position] == "}":
            return
        ad, position = parse_ad_at(text, position)
        yield ad
        position = _skip(text, position)


def _parse_long(text: str) -> Iterator[ClassAd]:
    """Yield ads of lines, with blank lines between them.

    Compat: a line that is no `Name = value` ends its ad, and what follows up to the next blank
    line is left out; shown by ads_stream.json.
    """
    block: list[str] = []
    first, broken = 1, False
    for number, line in enumerate([*text.split("\n"), ""], 1):
        stripped = line.strip()
        if not stripped or (stripped.startswith("***") and block):
            if block:
                yield parse_old_ad(block, first_line=first)
            block, broken = [], False
        elif stripped[0] == "#":
            # It keeps the count of lines.
            block += [""] if block else []
        elif broken:
            continue
        elif "=" not in stripped:
            broken = True
        else:
            first = first if block else number
            block.append(line)


def render_ads(
    ads: Iterable[ClassAd], form: str, *, sort: bool = True, keep_empty: bool = False
) -> str:
    """Return ads as the tools print them in one of FORMS; empty ads are mostly left out."""
    return "".join(render_each(ads, form, sort=sort, keep_empty=keep_empty))


def render_each(
    ads: Iterable[ClassAd], form: str, *, sort: bool = True, keep_empty: bool = False
) -> Iterator[str]:
    """Yield what `render_ads` returns, a piece for each ad and what may follow the last."""
    shown = (ad for ad in ads if keep_empty or len(ad))
    if form == "long":
        for ad in shown:
            yield render_long(ad, sort=sort) + "\n"
        return
    if form == "xml":
        from kettle.classad.forms_xml import XML_FOOTER, XML_HEADER, to_xml

        first = XML_HEADER
        for ad in shown:
            yield first + to_xml(ad, sort=sort) + "\n"
            first = ""
        yield first + XML_FOOTER
        return
    start, end = ("[\n", "]\n") if form == "json" else ("{\n", "}\n")
    before = start
    for ad in shown:
        yield f"{before}{_enclosed(ad, form, sort=sort)}\n"
        before = ",\n"
    if before != start:
        yield end


def _enclosed(ad: ClassAd, form: str, *, sort: bool) -> str:
    """Return an ad as one element of the forms that put brackets around a list of them."""
    if form == "json":
        from kettle.classad.forms_json import to_json

        return to_json(ad, sort=sort)
    return _new_line(ad) if sort else unparse(ad)


def _new_line(ad: ClassAd) -> str:
    parts = []
    for name in sorted(ad.names(), key=str.lower):
        expr = ad.lookup(name)
        assert expr is not None
        parts.append(f"{quote_name(name)} = {unparse(expr)}")
    return f"[ {'; '.join(parts)} ]"


def render_long(ad: ClassAd, *, sort: bool = True) -> str:
    """Return the ad as lines of old syntax; names are never quoted here."""
    names = sorted(ad.names(), key=str.lower) if sort else ad.names()
    lines = []
    for name in names:
        expr = ad.lookup(name)
        if expr is None:
            raise ClassAdSyntaxError(f"no attribute {name}")
        lines.append(f"{name} = {unparse(expr, old=True)}\n")
    return "".join(lines)
