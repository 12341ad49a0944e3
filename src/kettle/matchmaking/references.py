"""Which attributes of a slot and of a request an expression may look at, whichever side it is on.

A name without scope may be found on either side, so it counts for both: too many names only tell
more slots apart than need be. Definitions are followed; `columns.py` has the slots' texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kettle.classad import ClassAd, Expr
from kettle.classad.nodes import AttributeReference, Selection
from kettle.matchmaking.columns import Columns
from kettle.matchmaking.elsewhere import is_scope, looks_elsewhere, parts
from kettle.matchmaking.slot_classes import is_plain, is_steady
from kettle.matchmaking.slots import read_text

SLOT = "slot"
REQUEST = "request"
_OTHER = {SLOT: REQUEST, REQUEST: SLOT}

# A column of this name is the same for all slots.
NOTHING = ""


@dataclass(frozen=True, slots=True)
class Reach:
    """Names in lower case, sorted: columns of the slots, attributes of the request."""

    slot: tuple[str, ...]
    request: tuple[str, ...]
    # Whether that is all that the result depends on.
    steady: bool


def find_names(expression: Expr) -> Iterator[tuple[str, str]]:
    """Yield scope (`my`, `target` or nothing) and name in lower case of all that is looked up."""
    todo = [expression]
    while todo:
        node = todo.pop()
        if isinstance(node, AttributeReference):
            yield "", node.key
        elif isinstance(node, Selection):
            if isinstance(node.base, AttributeReference) and is_scope(node.base):
                yield node.base.key, node.key
            else:
                todo.append(node.base)
        else:
            todo.extend(parts(node))


def find_reach(expression: Expr, side: str, columns: Columns, request: ClassAd) -> Reach:
    """Return what an expression that stands in the ad of one side may look at on both."""
    found: dict[str, set[str]] = {SLOT: {NOTHING}, REQUEST: set()}
    steady = not looks_elsewhere(expression)
    todo = list(_places(expression, side))
    while todo:
        where, name = todo.pop()
        if name in found[where]:
            continue
        found[where].add(name)
        for text, definition in _definitions(where, name, columns, request):
            steady = steady and is_steady((text,))
            todo.extend(_places(definition, where))
    return Reach(tuple(sorted(found[SLOT])), tuple(sorted(found[REQUEST])), steady)


class Reaches:
    """Remembers what expressions reach; a request with definitions of its own is looked at anew."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._known: dict[tuple[int, str], tuple[Expr, Reach]] = {}

    def find(
        self, expression: Expr, side: str, request: ClassAd
    ) -> tuple[Reach, tuple[str | None, ...]]:
        """Return what `find_reach` finds, and the request's texts of what is looked at there."""
        key = (id(expression), side)
        known = self._known.get(key)
        if known is not None:
            reach = known[1]
            if not reach.request:
                return reach, ()
            texts = tuple([read_text(request, name) for name in reach.request])
            if all(map(is_plain, texts)):
                return reach, texts
        reach = find_reach(expression, side, self._columns, request)
        texts = tuple(map(request.text, reach.request))
        if all(map(is_plain, texts)):
            # The expression is kept too: its identity is the key.
            self._known[key] = (expression, reach)
        return reach, texts

    def slots_alone(self, expression: Expr, side: str) -> tuple[str, ...] | None:
        """Return what an expression that `find` was asked about looks at in slots.

        None if it may look at the request, too.
        """
        known = self._known.get((id(expression), side))
        return known[1].slot if known is not None and not known[1].request else None


def _places(expression: Expr, side: str) -> Iterator[tuple[str, str]]:
    for scope, name in find_names(expression):
        if scope != "target":
            yield side, name
        if scope != "my":
            yield _OTHER[side], name


def _definitions(
    side: str, name: str, columns: Columns, request: ClassAd
) -> Iterator[tuple[str | None, Expr]]:
    """Yield the expressions, other than values, that define a name on one side, and their texts."""
    if side == REQUEST:
        text = request.text(name)
        if not is_plain(text) and (definition := request.lookup(name)) is not None:
            yield text, definition
        return
    column = columns.column(name)
    if column.plain:
        return
    for text, row in zip(column.texts, column.firsts, strict=True):
        if not is_plain(text):
            definition = columns.rows[row].ad.lookup(name)
            if definition is not None:
                yield text, definition
