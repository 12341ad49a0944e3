"""What an expression needs: attributes of its own ad, and names it must get from elsewhere.

References are followed through the ad: what an attribute it uses needs, it needs. Names chosen
by `eval` cannot be seen. Circular references end where they meet themselves.
"""

from __future__ import annotations

from itertools import islice
from typing import Final, TypeAlias

from kettle.classad.ad import ClassAd
from kettle.classad.nodes import (
    AdNode,
    AttributeReference,
    Parentheses,
    Selection,
    Subscript,
    children,
    literal,
)
from kettle.classad.state import ANY_FAULT, State, new_state
from kettle.classad.unparse import unparse
from kettle.classad.values import ERROR, UNDEFINED, Ad, Expr, Value
from kettle.named_tuples import NamedTuple

_HERE = frozenset({"my", "self"})
_OUTERMOST = frozenset({"toplevel", "root"})
_OTHER = frozenset({"target", "other"})
_NOW = "currenttime"

# What a node counts as that is looked at within an evaluation.
_PLACE_BYTES: Final = 64

# An expression and an ad's table, by their addresses, and what the expression is there.
_Mark: TypeAlias = tuple[int, int, bool, bool]


class Found(NamedTuple):
    """What a search found: names as they were met, those of the ad and those from outside.

    `internal_fault` and `external_fault` say how many there were where the reference ends its own
    search for them without an answer: at a reference that comes back to itself, and at a selection
    from what is neither an ad nor undefined; None if it ends nowhere.
    """

    internal: list[str]
    external: list[str]
    internal_fault: int | None
    external_fault: int | None


def find_references(
    expr: Expr, ad: Ad | None, other: Ad | None = None
) -> tuple[set[str], set[str]]:
    """Return the names of `ad`'s attributes it uses, and those it needs from outside.

    Names are spelled as where they were met first; `TARGET.x` keeps its scope, `MY.x` loses it.
    In a match with `other`, what is selected from TARGET is followed there, and what that ad does
    not have loses its scope, too. Source: vectors/classad/references.json; for a match, runs of
    the wheel (test_what_is_unresolved_in_a_match_is_what_neither_ad_has).
    """
    found = search_references(expr, ad, other)
    return set(found.internal), set(found.external)


def search_references(
    expr: Expr, ad: Ad | None, other: Ad | None = None, state: State | None = None
) -> Found:
    """Return what `find_references` does, and where the reference would find no answer.

    What something is selected from is evaluated; a `state` under way counts its steps,
    and those of the search; SpentError if they are too many.
    """
    search = _Search(ad if ad is not None else ClassAd(), other, state)
    search.walk(expr, search.top)
    return Found(
        list(search.internal.values()),
        list(search.external.values()),
        search.internal_fault,
        search.external_fault,
    )


class References:
    """What several expressions use of one ad, each attribute looked into once for all of them."""

    def __init__(self, ad: Ad) -> None:
        self._search = _Search(ad)

    def follow(self, expr: Expr) -> tuple[list[str], list[str]]:
        """Return what `find_references` finds and no expression before did."""
        search = self._search
        internal, external = len(search.internal), len(search.external)
        search.walk(expr, search.top)
        return _added(search.internal, internal), _added(search.external, external)


def _added(found: dict[str, str], before: int) -> list[str]:
    """Return what was found behind the first so many names."""
    return list(islice(found.values(), before, None)) if len(found) > before else []


class _Place(NamedTuple):
    """What is to be looked at, the ad it stands in, and what it is there.

    `chosen_from` is what something is selected from: names in it are used, what it lacks is not
    needed, since the selection as a whole is, and ads are not looked into. An `entry` is what an
    attribute is worth; None in its place ends the entry that `ended` tells.
    """

    expr: Expr | None
    ad: Ad
    chosen_from: bool = False
    entry: bool = False
    ended: _Mark | None = None

    def beside(self, expr: Expr, ad: Ad, *, entry: bool = False) -> _Place:
        """Return another place that counts as this one does."""
        return _Place(expr, ad, self.chosen_from, entry)

    def mark(self) -> _Mark:
        """Return what tells this place from all others."""
        return id(self.expr), id(self.ad.table), self.chosen_from, self.entry


class _Search:
    """One search: what was found so far, and what is still to be looked at."""

    __slots__ = (
        "_counted",
        "_others",
        "_seen",
        "_state",
        "_under_way",
        "_values",
        "external",
        "external_fault",
        "internal",
        "internal_fault",
        "top",
    )

    def __init__(self, top: Ad, other: Ad | None = None, state: State | None = None) -> None:
        self.top = top
        self._state = new_state(top, other) if state is None else state
        self._counted = state is not None
        self._others = {} if other is None else {id(top.table): other, id(other.table): top}
        self.internal: dict[str, str] = {}
        self.external: dict[str, str] = {}
        self.internal_fault: int | None = None
        self.external_fault: int | None = None
        self._seen: set[_Mark] = set()
        self._under_way: set[_Mark] = set()
        # What rows begin with, by the addresses of the beginning and of the table of its ad.
        self._values: dict[tuple[int, int], Value] = {}

    def walk(self, expr: Expr, scope: Ad) -> None:
        pending = [_Place(expr, scope)]
        while pending:
            place = pending.pop()
            if place.expr is None:
                self._under_way.discard(place.ended)
            elif self._is_new(place, pending):
                if self._counted:
                    self._state.spend(_PLACE_BYTES)
                self._look(place.expr, place, pending)

    def _is_new(self, place: _Place, pending: list[_Place]) -> bool:
        """Return whether nothing was seen of it yet; note where an entry comes back to itself."""
        mark = place.mark()
        if mark in self._seen:
            if place.entry and mark in self._under_way:
                self._fail(place)
            return False
        self._seen.add(mark)
        if place.entry:
            self._under_way.add(mark)
            pending.append(_Place(None, place.ad, ended=mark))
        return True

    def _look(self, node: Expr, place: _Place, pending: list[_Place]) -> None:
        here = place.ad
        if isinstance(node, AttributeReference):
            self._name(node, place, pending)
        elif isinstance(node, Selection):
            self._selection(node, place, pending)
        elif isinstance(node, AdNode):
            # Compat: names are looked up around the nested ad, not in it; shown by
            # functions_control.json.
            if not place.chosen_from:
                entries = _entries(ClassAd.view_of(node, here))
                pending += [place.beside(entry, here) for entry in reversed(entries)]
        else:
            pending += [place.beside(child, here) for child in reversed(children(node))]

    def _fail(self, place: _Place) -> None:
        """Note that the reference's search ends here; one of outer names looks into no base."""
        if self.internal_fault is None:
            self.internal_fault = len(self.internal)
        if self.external_fault is None and not place.chosen_from:
            self.external_fault = len(self.external)

    def _miss(self, text: str, place: _Place) -> None:
        """Take down that a name, or a selection, is needed from outside."""
        if not place.chosen_from:
            self.external.setdefault(text.lower(), text)

    def _found(self, name: str, here: Ad) -> tuple[Expr, Ad] | None:
        current: Ad | None = here
        while current is not None:
            entry = current.entry(name.lower())
            if entry is not None:
                if current is self.top:
                    self.internal.setdefault(name.lower(), name)
                return entry, current
            current = current.scope
        return None

    def _name(self, node: AttributeReference, place: _Place, pending: list[_Place]) -> None:
        here = place.ad
        found = self._found(node.name, self.top if node.absolute else here)
        if found is not None:
            pending.append(place.beside(*found, entry=True))
            return
        self._not_there(node, here, place, pending)

    def _not_there(
        self, node: AttributeReference | Selection, ad: Ad, place: _Place, pending: list[_Place]
    ) -> None:
        """Look into the ad that a name means which `ad` has not; else it is missing."""
        special = self._special(node.key, ad)
        if special is None:
            if node.key != _NOW:
                self._miss(node.name, place)
        elif not place.chosen_from:
            entries = reversed(_entries(special))
            pending += [place.beside(entry, special, entry=True) for entry in entries]

    def _special(self, key: str, here: Ad) -> Ad | None:
        if key in _HERE:
            return here
        if key in _OUTERMOST:
            return self.top
        if key in _OTHER:
            return self._others.get(id(here.outermost().table))
        return here.scope if key == "parent" else None

    def _selection(self, node: Selection, place: _Place, pending: list[_Place]) -> None:
        base, here = node.base, place.ad
        value = self._worth(base, here)
        if isinstance(value, Ad):
            found = self._found(node.name, value)
            if found is not None:
                pending.append(place.beside(*found, entry=True))
            else:
                # Compat: of an ad that is written out the reference ends its search for internal
                # names here, without a word; we do not
                # (test_what_stands_behind_a_name_that_a_written_ad_lacks_is_used_too).
                self._not_there(node, value, place, pending)
            pending.append(_Place(base, here, True))
            return
        if value is not UNDEFINED:
            self._fail(place)
            if not isinstance(base, AttributeReference | Selection | Parentheses):
                # Compat: the reference has no answer at all; who does not mind that is told what
                # it needs (test_a_selection_from_what_is_no_ad_still_says_what_it_needs).
                pending.append(place.beside(base, here))
                return
        # The selection as a whole is missing; what it is selected from is known of.
        if not place.chosen_from:
            self._miss(unparse(node), place)
        pending.append(_Place(base, here, True))

    def _worth(self, expr: Expr, here: Ad) -> Value:
        """Return what something is selected from."""
        mark = (id(expr), id(here.table))
        if mark not in self._values:
            self._evaluate_row(expr, here)
        return self._values[mark]

    def _evaluate_row(self, expr: Expr, here: Ad) -> None:
        """Evaluate each beginning of a row of names and subscripts, once for all of them."""
        links: list[Selection | Subscript | Parentheses] = []
        start = expr
        while isinstance(start, Selection | Subscript | Parentheses):
            links.append(start)
            start = start.inner if isinstance(start, Parentheses) else start.base
        around: Ad | None = here
        if isinstance(start, AdNode) and not any(isinstance(link, Subscript) for link in links):
            # From an ad that is written out only what it says itself is selected: for it, what
            # the ad around has is outside.
            around = None
        elif isinstance(start, AttributeReference) and start.absolute:
            around = self.top
        value = self._values[id(start), id(here.table)] = self._evaluate(start, around)
        for link in reversed(links):
            if isinstance(link, Selection):
                value = self._evaluate(Selection(literal(value), link.name), around)
            elif isinstance(link, Subscript):
                value = self._evaluate(Subscript(literal(value), link.index), around)
            self._values[id(link), id(here.table)] = value

    def _evaluate(self, expr: Expr, around: Ad | None) -> Value:
        try:
            return self._state.evaluate_in(expr, around)
        except ANY_FAULT:
            return ERROR


def _entries(ad: Ad) -> list[Expr]:
    found = (ad.lookup(name) for name in ad.names())
    return [entry for entry in found if entry is not None]
