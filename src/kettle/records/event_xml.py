"""Reads what can be read of an event in XML that was written by hand, or is broken inside."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kettle.classad import ClassAd, parse_ads
from kettle.errors import ClassAdSyntaxError
from kettle.patterns import late_pattern

_TAG = late_pattern(r"<[ \t]*+(/?)[ \t]*+(?i:(un|er|at|rt|[calsirben]))\b([^<>]*?)(/?)>")
_NAME = late_pattern(r"""\b[nN]\s*=\s*(?:"([^"]*)"|'([^'"]*)'|([^\s"'>/]+))""")
_VALUE = late_pattern(r"""\bv\s*=\s*["']?([A-Za-z]+)""")
_NUMBER = late_pattern(r"<([irn])>\s*\+?(-?\d{1,400})")


def loose_xml_ad(text: str) -> ClassAd:
    """Return the attributes of an XML ad, each that can be read, whatever is beside them.

    Elements may be empty (`<s/>`) or in capitals, names have other quotes or none, comments stand
    anywhere, and of a number counts what is one. The last of two attributes of one name counts.

    Compat: the reference leaves out an attribute whose quotes are others, ends the ad at a comment
    or word between its attributes, and reads no more of the log then; it takes what has no `</c>`
    yet for whole (test_event_xml.py).
    """
    found = ClassAd()
    for one in _attributes(_without_comments(text)):
        ad = _parsed(one) or _parsed(_with_number_alone(one))
        if ad is not None:
            found.update(ad)
    return found


def _without_comments(text: str) -> str:
    kept, place = [], 0
    while (begin := text.find("<!--", place)) >= 0 and (end := text.find("-->", begin)) >= 0:
        kept.append(text[place:begin])
        place = end + len("-->")
    return "".join([*kept, text[place:]])


def _attributes(text: str) -> Iterator[str]:
    """Yield the `<a>` elements of the outermost ad, in the tags that are written."""
    depth, place = 0, 0
    one: list[str] = []
    for tag in _TAG.finditer(text):
        end, name = tag[1], tag[2].lower()
        written = _written(end, name, tag)
        ends_one = depth == 1 and (name == "a" or (name == "c" and bool(end)))
        if one:
            one += [text[place : tag.start()], "" if ends_one else written]
        place = tag.end()
        if ends_one and one:
            yield "".join([*one, "</a>"])
            one = []
        if ends_one and name == "a" and not end:
            one = [written]
        if name == "c" and not tag[4]:
            depth += -1 if end else 1


def _written(end: str, name: str, tag: re.Match[str]) -> str:
    """Return a tag as it is written where nobody wrote by hand."""
    said = ""
    if name == "a" and (of := _NAME.search(tag[3])) is not None:
        said = f' n="{of[1] or of[2] or of[3] or ""}"'
    if name == "b" and (of := _VALUE.search(tag[3])) is not None:
        said = f' v="{of[1]}"'
    return f"<{end}{name}{said}>" + (f"</{name}>" if tag[4] else "")


def _with_number_alone(attribute: str) -> str:
    found = _NUMBER.search(attribute)
    if found is None:
        return ""
    return f"{attribute[: found.start()]}<{found[1]}>{found[2]}</{found[1]}></a>"


def _parsed(attribute: str) -> ClassAd | None:
    """Return an attribute as an ad, None if that has none."""
    try:
        ad = next(parse_ads(f"<c>{attribute}</c>", "xml"), None)
    except (ClassAdSyntaxError, ValueError):
        return None
    return ad if ad is not None and len(ad) else None
