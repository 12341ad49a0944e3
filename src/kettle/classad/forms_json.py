r"""Ads as JSON. What JSON has no word for is a string `\/Expr(…)\/`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from sys import getsizeof
from typing import Final

from kettle.classad.ad import ClassAd
from kettle.classad.nodes import (
    FALSE,
    TRUE,
    UNDEFINED_LITERAL,
    AdNode,
    Call,
    ListNode,
    Literal,
)
from kettle.classad.parser import parse_expression
from kettle.classad.text import render_real
from kettle.classad.unparse import by_length
from kettle.classad.values import UNDEFINED, Expr
from kettle.errors import ClassAdSyntaxError
from kettle.octets import to_text
from kettle.patterns import late_pattern, replace_each
from kettle.remembered import Answers

# Limit: objects and lists nested deeper than this are refused.
_MAX_DEPTH: Final = 160
_CONSTANTS: Final = {"true": TRUE, "false": FALSE, "null": UNDEFINED_LITERAL}
_ESCAPE: Final = late_pattern(r'["\\\x00-\x1f]')
_ESCAPES: Final = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
}
# A text of old syntax that is what JSON writes of its value.
_WRITTEN_ALIKE: Final = late_pattern(r'(?:[1-9][0-9]{0,16}|"[^"\\\x00-\x1f]*+")\Z')
_UNESCAPE: Final = late_pattern(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))",
    re.DOTALL,
)
# What a string begins and ends with that is an expression, as it is written; the first letters in
# any case.
_OPENS: Final = r"\/expr("
_CLOSES: Final = r")\/"
_UNESCAPES: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_TOKEN: Final = late_pattern(
    r"(?:[ \t\r\n]++|//[^\n]*+|/\*[\s\S]*?\*/)*"
    r'(?:([{}\[\],:])|"([^"\\]*+(?:\\[\s\S][^"\\]*+)*+)"'
    r"|(-?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?![.\w])|([A-Za-z]+)|(\Z)|)"
)


def to_json(ad: ClassAd, *, sort: bool = False) -> str:
    """Return the ad as JSON, by length of name or, with `sort`, by name."""
    names = ad.names()
    layout = (_sorted_layouts if sort else _layouts)[tuple(names)]
    if not names:
        return _enclosed([], "")
    keys, table = layout.keys, ad.table
    if len(table) != len(names):
        return layout.text % tuple(_render(_entry_of(ad, key), "  ") for key in keys)
    alike = _WRITTEN_ALIKE.match
    texts = []
    for key in keys:
        found = table[key]
        kind = type(found)
        if kind is str:
            plain = alike(found)  # type: ignore[arg-type]
            texts.append(found if plain else _render(_entry_of(ad, key), "  "))
        elif kind is Literal:
            texts.append(_render_literal(found))  # type: ignore[arg-type]
        elif kind in _WITH_PARTS:
            texts.append(_render(found, "  "))  # type: ignore[arg-type]
        else:
            texts.append(_json_text[found.new_text])  # type: ignore[union-attr]
    return layout.text % tuple(texts)


def _entry_of(ad: ClassAd, key: str) -> Expr:
    expr = ad.entry(key)
    assert expr is not None
    return expr


def _enclosed(members: list[str], indent: str) -> str:
    return "{\n" + ",\n".join(members) + ("\n" if members else "") + indent + "}"


class _Layout:
    """How ads with these names are written: their keys in order, and the text with places."""

    __slots__ = ("keys", "text")

    def __init__(self, names: tuple[str, ...], *, sort: bool) -> None:
        ordered = sorted(names, key=str.lower if sort else by_length)
        self.keys = [name.lower() for name in ordered]
        members = [f"  {_quote(name)}: ".replace("%", "%%") + "%s" for name in ordered]
        self.text = _enclosed(members, "")


def _bytes_of(names: tuple[str, ...]) -> int:
    return _NAME_BYTES * (len(names) + 1)


# Limit: the bytes of what is remembered of sets of names; those of most ads of a pool are alike.
_MOST_BYTES: Final = 1024 * 1024
_NAME_BYTES: Final = 250
_layouts: Final = Answers(lambda names: _Layout(names, sort=False), _MOST_BYTES, _bytes_of)
_sorted_layouts: Final = Answers(lambda names: _Layout(names, sort=True), _MOST_BYTES, _bytes_of)


def _render(expr: Expr, indent: str) -> str:
    kind = type(expr)
    if kind is Literal:
        return _render_literal(expr)  # type: ignore[arg-type]
    if kind not in _WITH_PARTS:
        return _json_text[expr.new_text]
    inner = indent + "  "
    if isinstance(expr, ListNode):
        items = [inner + _render(item, inner) for item in expr.elements]
        return "[\n" + ",\n".join(items) + ("\n" if items else "") + indent + "]"
    if isinstance(expr, AdNode):
        names = sorted((expr.names[key] for key in expr.table), key=by_length)
        members = []
        for name in names:
            value = expr.table[name.lower()]
            assert isinstance(value, Expr)
            members.append(f"{inner}{_quote(name)}: {_render(value, inner)}")
        return _enclosed(members, indent)
    if isinstance(expr, Call) and expr.name == "relTime" and len(expr.arguments) == 1:
        span = expr.evaluate() if expr.arguments[0].is_literal else None
        if isinstance(span, float):
            return render_real(span, old=True)
    return _render_expression(expr)


def _render_literal(expr: Literal) -> str:
    value = expr.value
    if type(value) is str:
        return _quote(value)
    if type(value) is int:
        return str(value)
    if type(value) is float and math.isfinite(value):
        return render_real(value, old=True)
    if value is UNDEFINED:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return _render_expression(expr)


def _render_expression(expr: Expr) -> str:
    return _json_text[expr.new_text]


# What JSON has its own way to write, or may have.
_WITH_PARTS: Final = frozenset({ListNode, AdNode, Call})


def _expression_text(text: str) -> str:
    return '"\\/Expr(' + _quote(text)[1:-1] + ')\\/"'


# Limit: the bytes of the expressions of which it is remembered how JSON writes them.
_MOST_EXPRESSIONS: Final = 512 * 1024
_json_text: Final = Answers(_expression_text, _MOST_EXPRESSIONS, lambda text: 4 * getsizeof(text))


def _quote(text: str) -> str:
    if (text.isprintable() and '"' not in text and "\\" not in text) or not _ESCAPE.search(text):
        return f'"{text}"'
    return '"' + replace_each(_ESCAPE, _escape, text) + '"'


def _escape(found: re.Match[str]) -> str:
    letter = found.group()
    return _ESCAPES.get(letter) or f"\\u{ord(letter):04X}"


def parse_json_ads(text: str) -> Iterator[ClassAd]:
    """Yield the objects of a stream or list of JSON as ads.

    Trailing commas and comments are taken. Compat: the commas also of a list, and strings in a row
    are not one (test_a_comma_behind_the_last_element). Raises ClassAdSyntaxError at what is no
    object.
    """
    reader = _Reader(text)
    reader.take("[")
    while (ad := reader.ad()) is not None:
        yield ad


def next_json_ad(text: str) -> tuple[ClassAd | None, int]:
    """Return the first object of a stream or list as an ad, and where it ends.

    None if there is none. The rest of a list is read as a stream.
    """
    reader = _Reader(text)
    reader.take("[")
    ad = reader.ad()
    return ad, reader.position


class _Reader:
    """JSON being read."""

    __slots__ = ("_position", "_text")

    def __init__(self, text: str) -> None:
        self._text: Final = text
        self._position = 0

    def _match(self) -> re.Match[str]:
        found = _TOKEN.match(self._text, self._position)
        assert found is not None
        return found

    def take(self, symbol: str) -> bool:
        """Return whether the symbol is next, and pass it."""
        found = self._match()
        if found.group(1) != symbol:
            return False
        self._position = found.end()
        return True

    @property
    def position(self) -> int:
        """Return where what was read last ends."""
        return self._position

    def ad(self) -> ClassAd | None:
        """Return the object that is next as an ad, None at the end."""
        while self.take(",") or self.take("]"):
            continue
        if self.at_end():
            return None
        node = self.value(0)
        if not isinstance(node, AdNode):
            raise self.error("expected an object")
        return ClassAd.view_of(node, None)

    def at_end(self) -> bool:
        """Return whether nothing is left."""
        return self._match().group(5) is not None

    def error(self, problem: str) -> ClassAdSyntaxError:
        """Return the error to raise here."""
        near = self._text[self._position : self._position + 40].lstrip()
        return ClassAdSyntaxError(
            f"{problem} in JSON near {near!r}", text=self._text, column=self._position
        )

    def value(self, depth: int) -> Expr:
        """Return the value that is next."""
        if depth > _MAX_DEPTH:
            raise self.error("nested too deeply")
        found = self._match()
        symbol, text, number, word, _ = found.groups()
        if symbol == "{":
            self._position = found.end()
            return self._object(depth + 1)
        if symbol == "[":
            self._position = found.end()
            return self._list(depth + 1)
        self._position = found.end()
        if text is not None:
            return _string(text)
        if number is not None:
            return parse_expression(number)
        constant = _CONSTANTS.get((word or "").lower())
        if constant is None:
            self._position = found.start()
            raise self.error("expected a value")
        return constant

    def _list(self, depth: int) -> Expr:
        items: list[Expr] = []
        while not self.take("]"):
            items.append(self.value(depth))
            if not self.take(",") and self._match().group(1) != "]":
                raise self.error("expected , or ]")
        return ListNode(tuple(items))

    def _object(self, depth: int) -> AdNode:
        table: dict[str, Expr | str] = {}
        names: dict[str, str] = {}
        while not self.take("}"):
            found = self._match()
            name = found.group(2)
            if not name:
                raise self.error("expected a name")
            self._position = found.end()
            if not self.take(":"):
                raise self.error("expected :")
            name = _unescape(name)
            names.setdefault(name.lower(), name)
            table[name.lower()] = self.value(depth)
            if not self.take(",") and self._match().group(1) != "}":
                raise self.error("expected , or }")
        return AdNode(table, names)


def _string(text: str) -> Expr:
    """Return what a string stands for, whose escapes are as they were written.

    It is an expression only where both slashes around it are escaped, as no string that is printed
    has them: nobody's text becomes code.
    """
    if text[: len(_OPENS)].lower() == _OPENS and text.endswith(_CLOSES):
        return parse_expression(_unescape(text[len(_OPENS) : -len(_CLOSES)]))
    return Literal(_unescape(text))


def _unescape(text: str) -> str:
    def resolve(found: re.Match[str]) -> str:
        high, low, code, letter = found.groups()
        if high is not None:
            return bytes.fromhex(high + low).decode("utf-16-be")
        if code is not None:
            return to_text(chr(int(code, 16)).encode("utf-8", "surrogatepass"))
        return _UNESCAPES.get(letter, letter)

    return replace_each(_UNESCAPE, resolve, text) if "\\" in text else text
