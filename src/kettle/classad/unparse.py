"""Trees and ads to text, byte for byte as the reference prints them.

New syntax is what `parse_expression` and `parse_ad` read; old syntax (`old=True`) is the long
form of the tools and the wire, which escapes only quotes in strings and prints reals short.
Ads print their attributes by length of name, then alphabetically, as the reference's library
does; tools that sort otherwise do it themselves.
"""

from __future__ import annotations

import re
from typing import Final

from kettle.classad.nodes import (
    AdNode,
    AttributeReference,
    Binary,
    Call,
    Conditional,
    ListNode,
    Literal,
    Parentheses,
    Selection,
    Subscript,
    Unary,
)
from kettle.classad.parser import (
    CHOICE_PRECEDENCE,
    CONDITIONAL_PRECEDENCE,
    PRECEDENCE,
    RESERVED,
    UNARY_PRECEDENCE,
    parse_expression,
)
from kettle.classad.text import quote_old, render_real
from kettle.classad.values import (
    ERROR,
    UNDEFINED,
    AbsoluteTime,
    Ad,
    Expr,
    ExprList,
    RelativeTime,
    Value,
)
from kettle.errors import ClassAdSyntaxError
from kettle.octets import to_bytes
from kettle.patterns import late_pattern, replace_each
from kettle.remembered import Answers

_PLAIN_NAME: Final = late_pattern(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_TO_QUOTE: Final = RESERVED | {"parent"}
NEW_SPELLING: Final = {"=?=": "is", "=!=": "isnt"}
_NEEDS_ESCAPE: Final = late_pattern(r"[^ !#-\[\]-~]")
_NAME_NEEDS_ESCAPE: Final = late_pattern(r"[^ -&(-\[\]-~]")
# A text of old syntax that is what both syntaxes print of its value.
_WRITTEN_ALIKE: Final = late_pattern(r'(?:[1-9][0-9]{0,16}|"[ !#-\[\]-~]*+")\Z')
_ESCAPES: Final = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
    "'": "\\'",
}


def unparse(item: Expr | Ad, *, old: bool = False) -> str:
    """Return the text of an expression, or of a whole ad; `old` for old syntax.

    An ad in old syntax is one `Name = value` line an attribute.
    """
    if isinstance(item, Expr):
        return item.text(old=old)
    if not old:
        return render_ad(item)
    names = item.names()
    layout = _layouts[tuple(names)]
    table = item.table
    if len(table) != len(names):
        return "".join(f"{beginning}{item.text(key)}\n" for key, beginning in layout.old) or "\n"
    texts = [
        found if type(found) is str else found.old_text  # type: ignore[union-attr]
        for found in map(table.__getitem__, layout.keys)
    ]
    return layout.old_lines % tuple(texts) or "\n"


def write_out(expr: Expr, *, old: bool) -> str:
    """Return the text of an expression, made anew; `Expr.text` remembers it."""
    out: list[str] = []
    _write(expr, out, old)
    return "".join(out)


def library_order(ad: Ad) -> list[str]:
    """Return the ad's names, the chained ad's included, in the order the library prints them."""
    return sorted(ad.names(), key=by_length)


class _Layout:
    """How ads with these names are printed: the keys in order, and each with `Name = `.

    `old_lines` and `new_line` are the whole ad with a place for each expression.
    """

    __slots__ = ("keys", "new", "new_line", "old", "old_lines")

    def __init__(self, names: tuple[str, ...]) -> None:
        ordered = sorted(names, key=by_length)
        self.keys = [name.lower() for name in ordered]
        self.new = [(name.lower(), f"{quote_name(name)} = ") for name in ordered]
        self.old = [(name.lower(), f"{quote_name(name, old=True)} = ") for name in ordered]
        self.new_line = "; ".join(_with_place(beginning) for _, beginning in self.new)
        self.old_lines = "".join(_with_place(beginning) + "\n" for _, beginning in self.old)


def _with_place(beginning: str) -> str:
    return beginning.replace("%", "%%") + "%s"


# Limit: the bytes of what is remembered of sets of names; those of most ads of a pool are alike.
_MOST_LAYOUTS: Final = 2 * 1024 * 1024
_NAME_BYTES: Final = 500
_layouts: Final = Answers(_Layout, _MOST_LAYOUTS, lambda names: _NAME_BYTES * (len(names) + 1))


def by_length(name: str) -> tuple[int, str]:
    """Return what names are sorted by where the library prints them: their bytes come first."""
    return len(name if name.isascii() else to_bytes(name)), name.lower()


def render_ad(ad: Ad, *, old: bool = False) -> str:
    """Return the ad on one line, its expressions in new or `old` syntax."""
    names = ad.names()
    if not names:
        return "[  ]"
    layout = _layouts[tuple(names)]
    table = ad.table
    if old or len(table) != len(names):
        parts = [
            beginning + _entry_of(ad, key).text(old=old)
            for key, beginning in (layout.old if old else layout.new)
        ]
        return f"[ {'; '.join(parts)} ]"
    alike = _WRITTEN_ALIKE.match
    texts = []
    for key in layout.keys:
        found = table[key]
        if type(found) is str:
            texts.append(found if alike(found) else _entry_of(ad, key).new_text)
        elif type(found) is Literal and type(found.value) is str:
            texts.append(quote(found.value))
        else:
            texts.append(found.new_text)  # type: ignore[union-attr]
    return f"[ {layout.new_line % tuple(texts)} ]"


def _entry_of(ad: Ad, key: str) -> Expr:
    expr = ad.entry(key)
    assert expr is not None
    return expr


def quote(text: str, *, old: bool = False) -> str:
    r"""Return the text as a string literal; new syntax writes bytes above 127 as octal."""
    if old:
        return quote_old(text)
    if _is_clean(text):
        return f'"{text}"'
    return '"' + replace_each(_NEEDS_ESCAPE, _escape, text) + '"'


def _is_clean(text: str) -> bool:
    return text.isascii() and text.isprintable() and '"' not in text and "\\" not in text


def _escape(found: re.Match[str]) -> str:
    character = found.group()
    simple = _ESCAPES.get(character)
    if simple is not None:
        return simple
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogateescape"))


def quote_name(name: str, *, old: bool = False) -> str:
    """Return an attribute's name, in single quotes where it would not be read as one."""
    if _PLAIN_NAME.match(name) and name.lower() not in _TO_QUOTE:
        return name
    if old:
        return "'" + name.replace("'", "\\'") + "'"
    return "'" + _NAME_NEEDS_ESCAPE.sub(_escape, name) + "'"


def render_value(value: Value, *, old: bool = False) -> str:
    """Return the text of a value."""
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, str):
        return quote(value, old=old)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return render_real(value, old=old)
    if value is UNDEFINED:
        return "undefined"
    if value is ERROR:
        return "error"
    if isinstance(value, AbsoluteTime):
        return f'absTime("{value}")'
    if isinstance(value, RelativeTime):
        return f'relTime("{value}")'
    if isinstance(value, ExprList):
        out: list[str] = []
        _write_list(value.elements, out, old)
        return "".join(out)
    if isinstance(value, list):
        inner = ",".join(render_value(item, old=old) for item in value)
        return "{ " + inner + " }"
    assert isinstance(value, Ad)
    return render_ad(value, old=old)


def _write(expr: Expr, out: list[str], old: bool) -> None:
    links: list[Expr] = []
    grouped = False
    while isinstance(expr, Binary | Selection | Subscript):
        links.append(expr)
        least = PRECEDENCE[expr.operator] if isinstance(expr, Binary) else _HIGHEST
        expr = expr.left if isinstance(expr, Binary) else expr.base
        if _rank(expr) < least or (isinstance(links[-1], Selection) and _is_integer(expr)):
            grouped = True
            break
    if grouped:
        _write_grouped(expr, out, old)
    else:
        _write_operand(expr, out, old)
    for link in reversed(links):
        _write_link(link, out, old)


def _write_operand(expr: Expr, out: list[str], old: bool) -> None:
    """Write what stands at the left end of a chain of operators."""
    if isinstance(expr, Literal):
        out.append(render_value(expr.value, old=old))
    elif isinstance(expr, AttributeReference):
        out.append(("." if expr.absolute else "") + quote_name(expr.name, old=old))
    elif isinstance(expr, Parentheses):
        out.append("(")
        _write(expr.inner, out, old)
        out.append(")")
    elif isinstance(expr, Unary):
        _write_unary(expr, out, old)
    elif isinstance(expr, Conditional):
        _write_conditional(expr, out, old)
    elif isinstance(expr, Call):
        out.append(expr.name + "(")
        _write_items(expr.arguments, out, old)
        out.append(")")
    elif isinstance(expr, ListNode):
        _write_list(expr.elements, out, old)
    else:
        assert isinstance(expr, AdNode)
        _write_ad(expr, out, old)


def _write_link(link: Expr, out: list[str], old: bool) -> None:
    if isinstance(link, Selection):
        out.append("." + link.name)
    elif isinstance(link, Subscript):
        out.append("[")
        _write(link.index, out, old)
        out.append("]")
    else:
        assert isinstance(link, Binary)
        spelling = link.operator if old else NEW_SPELLING.get(link.operator, link.operator)
        out.append(f" {spelling} ")
        _write_at(link.right, PRECEDENCE[link.operator] + 1, out, old)


_HIGHEST: Final = CHOICE_PRECEDENCE + 1


def _is_integer(expr: Expr) -> bool:
    """Return whether the expression is a plain integer, after which a dot would be its own."""
    return isinstance(expr, Literal) and type(expr.value) is int


def _rank(expr: Expr) -> int:
    if isinstance(expr, Binary):
        return PRECEDENCE[expr.operator]
    if isinstance(expr, Conditional):
        return CHOICE_PRECEDENCE if expr.yes is None else CONDITIONAL_PRECEDENCE
    return UNARY_PRECEDENCE if isinstance(expr, Unary) else _HIGHEST


def _write_at(expr: Expr, least: int, out: list[str], old: bool) -> None:
    """Write an operand, in parentheses if it binds less than `least`."""
    if _rank(expr) < least:
        _write_grouped(expr, out, old)
    else:
        _write(expr, out, old)


def _write_grouped(expr: Expr, out: list[str], old: bool) -> None:
    # The parser never makes such trees, programs do; without parentheses they would not come back.
    out.append("(")
    _write(expr, out, old)
    out.append(")")


def _write_unary(expr: Unary, out: list[str], old: bool) -> None:
    inner: Expr = expr
    while isinstance(inner, Unary):
        out.append(" " + inner.operator)
        inner = inner.operand
    _write_at(inner, UNARY_PRECEDENCE, out, old)


def _write_conditional(expr: Conditional, out: list[str], old: bool) -> None:
    # Hundreds may stand in one another without a bracket: what is still to be written is a list.
    pending: list[tuple[Expr, int] | str] = [(expr, 0)]
    while pending:
        part = pending.pop()
        if isinstance(part, str):
            out.append(part)
            continue
        node, least = part
        rank = _rank(node)
        if rank < least or not isinstance(node, Conditional):
            _write_at(node, least, out, old)
        elif node.yes is None:
            pending += [(node.no, rank), " ?: ", (node.condition, rank + 1)]
        else:
            pending += [(node.no, rank), " : ", (node.yes, 0), " ? ", (node.condition, rank + 1)]


def _write_items(items: tuple[Expr, ...], out: list[str], old: bool) -> None:
    for position, item in enumerate(items):
        if position:
            out.append(",")
        _write(item, out, old)


def _write_list(items: tuple[Expr, ...], out: list[str], old: bool) -> None:
    out.append("{ ")
    _write_items(items, out, old)
    out.append(" }")


def _write_ad(expr: AdNode, out: list[str], old: bool) -> None:
    out.append("[ ")
    names = expr.names
    ordered = sorted((names[key] for key in expr.table), key=by_length)
    for position, name in enumerate(ordered):
        if position:
            out.append("; ")
        value = expr.table[name.lower()]
        assert isinstance(value, Expr)
        out.append(quote_name(name, old=old) + " = ")
        _write(value, out, old)
    out.append(" ]")


def unquote(text: str) -> str:
    """Return the text a string literal of new syntax stands for.

    Raises ClassAdSyntaxError if `text` is anything else.
    """
    expr = parse_expression(text)
    if not isinstance(expr, Literal) or not isinstance(expr.value, str):
        raise ClassAdSyntaxError(f"not a string literal: {text[:200]!r}", text=text)
    return expr.value
