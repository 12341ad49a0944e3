"""Ads as XML, in the tags of the ClassAd DTD.

Compat: strings and names carry the escapes of new syntax, of the entities only `lt`, `gt` and `amp`
mean anything, and a boolean is true only as `v="t"`; shown by forms_in.json, forms_out.json and
test_names_in_xml.py.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Final

from kettle.classad.ad import ClassAd
from kettle.classad.lexer import unescape
from kettle.classad.nodes import AdNode, Call, ListNode, Literal, literal
from kettle.classad.parser import parse_expression
from kettle.classad.text import render_real
from kettle.classad.unparse import by_length, quote, unparse
from kettle.classad.values import ERROR, UNDEFINED, Expr
from kettle.digits import MAX_INTEGER, MIN_INTEGER, whole
from kettle.errors import ClassAdSyntaxError
from kettle.octets import BLANKS
from kettle.patterns import late_pattern

XML_HEADER: Final = '<?xml version="1.0"?>\n<!DOCTYPE classads SYSTEM "classads.dtd">\n<classads>\n'
XML_FOOTER: Final = "</classads>\n"
# Limit: ads and lists nested deeper than this are refused.
_MAX_DEPTH: Final = 160
_TAG: Final = late_pattern(r"<(/?)([A-Za-z]+)((?:\s[^<>]*?)?)(/?)>", re.ASCII)
_PROLOGUE: Final = late_pattern(r"\s*(?:<[?!][^>]*>\s*)*(?:<classads\s*/?>)?", re.ASCII)
_ATTRIBUTE: Final = late_pattern(r'\b([A-Za-z]+)\s*=\s*"((?:[^"\\]|\\.)*)"', re.ASCII)
_WHOLE: Final = late_pattern(r"-?[0-9]+", re.ASCII)
# What only ASCII calls blank parts tags; other blanks are text.
_BLANKS: Final = frozenset(BLANKS)


def to_xml(ad: ClassAd, *, sort: bool = False) -> str:
    """Return the ad as a `<c>` element and a newline; by name's length, or sorted by name."""
    table: dict[str, Expr | str] = {}
    for name in ad.names():
        expr = ad.lookup(name)
        assert expr is not None
        table[name.lower()] = expr
    node = AdNode(table, {name.lower(): name for name in ad.names()})
    return _render(node, "", sort=sort) + "\n"


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _name(name: str) -> str:
    return name if name.isidentifier() and name.isascii() else _escape(quote(name)[1:-1])


def _render(expr: Expr, indent: str, *, sort: bool = False) -> str:
    if isinstance(expr, Literal):
        return _render_literal(expr)
    if isinstance(expr, ListNode):
        return "<l>" + "".join(_render(item, indent) for item in expr.elements) + "</l>"
    if isinstance(expr, AdNode):
        inner = indent + "    "
        order = str.lower if sort else by_length
        names = sorted((expr.names[key] for key in expr.table), key=order)
        lines = ["<c>\n"]
        for name in names:
            value = expr.table[name.lower()]
            assert isinstance(value, Expr)
            lines.append(f'{inner}<a n="{_name(name)}">{_render(value, inner)}</a>\n')
        return "".join(lines) + indent + "</c>"
    if isinstance(expr, Call) and len(expr.arguments) == 1:
        argument = expr.arguments[0]
        if isinstance(argument, Literal) and isinstance(argument.value, str):
            if expr.name == "absTime":
                return f"<at>{argument.value}</at>"
            span = expr.evaluate() if expr.name == "relTime" else None
            if isinstance(span, float):
                return f"<r>{render_real(span)}</r>"
    return f"<e>{_escape(unparse(expr))}</e>"


def _render_literal(expr: Literal) -> str:
    value = expr.value
    if value is UNDEFINED:
        return "<un/>"
    if value is ERROR:
        return "<er/>"
    if isinstance(value, bool):
        return f'<b v="{"t" if value else "f"}"/>'
    if isinstance(value, int):
        return f"<i>{value}</i>"
    if isinstance(value, float):
        if not math.isfinite(value):
            return "<r>NaN</r>" if value != value else f"<r>{'-' if value < 0 else ''}INF</r>"
        return f"<r>{render_real(abs(value) if value == 0 else value)}</r>"
    if isinstance(value, str):
        return f"<s>{_escape(quote(value)[1:-1].replace(chr(92) + chr(34), chr(34)))}</s>"
    return f"<e>{_escape(unparse(expr))}</e>"


def parse_xml_ads(text: str) -> Iterator[ClassAd]:
    """Yield the ads of an XML document.

    Raises ClassAdSyntaxError where an element is not closed or not known.
    """
    reader = _Reader(text)
    while reader.opens("c"):
        yield ClassAd.view_of(reader.ad(0), None)


def next_xml_ad(text: str) -> tuple[ClassAd | None, int]:
    """Return the first ad of an XML document, or of the rest of one, and where it ends.

    None if there is none.
    """
    reader = _Reader(text)
    if not reader.opens("c"):
        return None, len(text)
    return ClassAd.view_of(reader.ad(0), None), reader.position


class _Reader:
    """An XML document being read."""

    __slots__ = ("_position", "_text")

    def __init__(self, text: str) -> None:
        self._text: Final = text
        found = _PROLOGUE.match(text)
        self._position = found.end() if found is not None else 0

    @property
    def position(self) -> int:
        """Return where what was read last ends."""
        return self._position

    def _error(self, problem: str) -> ClassAdSyntaxError:
        near = self._text[self._position : self._position + 40]
        return ClassAdSyntaxError(
            f"{problem} in XML near {near!r}", text=self._text, column=self._position
        )

    def _tag(self) -> re.Match[str] | None:
        position = self._position
        while self._text[position : position + 1] in _BLANKS:
            position += 1
        return _TAG.match(self._text, position)

    def opens(self, name: str) -> bool:
        """Return whether the named element opens here, and step into it."""
        found = self._tag()
        if found is None or found.group(1) or found.group(2) != name:
            return False
        self._position = found.end()
        return True

    def _closes(self, name: str) -> bool:
        found = self._tag()
        if found is None or not found.group(1) or found.group(2) != name:
            return False
        self._position = found.end()
        return True

    def ad(self, depth: int) -> AdNode:
        """Return the ad whose `<c>` was just passed."""
        table: dict[str, Expr | str] = {}
        names: dict[str, str] = {}
        while not self._closes("c"):
            found = self._tag()
            if found is None or found.group(1) or found.group(2) != "a":
                raise self._error("expected <a> or </c>")
            name = unescape(_resolve(dict(_ATTRIBUTE.findall(found.group(3))).get("n", "")))
            if not name:
                raise self._error("an attribute has no name")
            self._position = found.end()
            names.setdefault(name.lower(), name)
            table[name.lower()] = self._value(depth + 1)
            if not self._closes("a"):
                raise self._error("expected </a>")
        return AdNode(table, names)

    def _value(self, depth: int) -> Expr:
        found = self._tag()
        if found is None or found.group(1):
            raise self._error("expected a value")
        if depth > _MAX_DEPTH:
            raise self._error("nested too deeply")
        self._position = found.end()
        kind = found.group(2)
        if kind == "c":
            return self.ad(depth)
        if kind == "l":
            items: list[Expr] = []
            while not found.group(4) and not self._closes("l"):
                items.append(self._value(depth + 1))
            return ListNode(tuple(items))
        if kind == "b":
            value = dict(_ATTRIBUTE.findall(found.group(3))).get("v")
            self._finish(found, kind)
            return literal(value == "t")
        if kind in ("un", "er"):
            self._finish(found, kind)
            return literal(UNDEFINED if kind == "un" else ERROR)
        return self._scalar(kind, is_empty=bool(found.group(4)))

    def _finish(self, found: re.Match[str], kind: str) -> None:
        if not found.group(4) and not self._closes(kind):
            raise self._error(f"expected </{kind}>")

    def _scalar(self, kind: str, *, is_empty: bool) -> Expr:
        body = "" if is_empty else self._body(kind)
        if kind == "s":
            return Literal(unescape(body))
        if kind in ("i", "r", "n"):
            return self._number(kind, body.strip(BLANKS))
        if kind == "e":
            return parse_expression(body)
        if kind in ("at", "rt") and body:
            return parse_expression(f"{'abs' if kind == 'at' else 'rel'}Time({quote(body)})")
        raise self._error(f"<{kind}> is not known")

    def _body(self, kind: str) -> str:
        end = self._text.find(f"</{kind}>", self._position)
        if end < 0:
            raise self._error(f"<{kind}> is not closed")
        body = _resolve(self._text[self._position : end])
        self._position = end + len(kind) + 3
        return body

    def _number(self, kind: str, text: str) -> Expr:
        """Return the number that a text begins with, ERROR for none and for one too large."""
        if not text or "<" in text:
            raise self._error("expected a number")
        # Compat: `n`, which the reference does not know, is of either kind
        # (test_a_number_of_either_kind).
        if kind == "i" or (kind == "n" and _WHOLE.fullmatch(text)):
            found = _WHOLE.match(text)
            number = whole(found.group()) if found is not None else None
            is_one = number is not None and MIN_INTEGER <= number <= MAX_INTEGER
            return Literal(number) if number is not None and is_one else literal(ERROR)
        from kettle.classad.functions.convert import number_in  # few read XML

        real = number_in(text)
        return literal(ERROR) if real is None else Literal(real)


def _resolve(text: str) -> str:
    # The ampersand last: what it makes is no entity any more.
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
