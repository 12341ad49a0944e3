"""What an expression needs: attributes of its own ad, and names it must get from elsewhere.

References are followed through the ad: what an attribute it uses needs, it needs. Names chosen
by `eval` cannot be seen. Circular references end where they meet themselves.
"""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from kettle.classad.ad import ClassAd
from kettle.classad.nodes import (
    AdNode,
    AttributeReference,
    Literal,
    Parentheses,
    Selection,
    children,
)
from kettle.classad.unparse import unparse
from kettle.classad.values import UNDEFINED, Ad, Expr

_HERE = frozenset({"my", "self"})
_OUTERMOST = frozenset({"toplevel", "root"})
_OTHER = frozenset({"target", "other"})
_NOW = "currenttime"


def find_references(
    expr: Expr, ad: Ad | None, other: Ad | None = None
) -> tuple[set[str], set[str]]:
    """Return the names of `ad`'s attributes it uses, and those it needs from outside.

    Names are spelled as where they were met first; `TARGET.x` keeps its scope, `MY.x` loses it.
    In a match with `other`, what is selected from TARGET is followed there, and what that ad does
    not have loses its scope, too. Source: vectors/classad/references.json; for a match, runs of
    the wheel (test_what_is_unresolved_in_a_match_is_what_neither_ad_has).
    """
    search = _Search(ad if ad is not None else ClassAd(), other)
    search.walk(expr, search.top)
    return set(search.internal.values()), set(search.external.values())


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
    """What is to be looked at, the ad it stands in, and whether what is outside is taken down."""

    expr: Expr
    ad: Ad
    outside: bool

    def beside(self, expr: Expr, ad: Ad) -> _Place:
        """Return another place that counts as this one does."""
        return _Place(expr, ad, self.outside)


class _Search:
    """One search: what was found so far, and what is still to be looked at."""

    __slots__ = ("_others", "_seen", "external", "internal", "top")

    def __init__(self, top: Ad, other: Ad | None = None) -> None:
        self.top = top
        self._others = {} if other is None else {id(top.table): other, id(other.table): top}
        self.internal: dict[str, str] = {}
        self.external: dict[str, str] = {}
        self._seen: set[tuple[int, int, bool]] = set()

    def walk(self, expr: Expr, scope: Ad) -> None:
        pending = [_Place(expr, scope, True)]
        while pending:
            place = pending.pop()
            node, here, outside = place
            if (id(node), id(here.table), outside) in self._seen:
                continue
            self._seen.add((id(node), id(here.table), outside))
            if isinstance(node, AttributeReference):
                self._name(node, place, pending)
            elif isinstance(node, Selection):
                self._selection(node, place, pending)
            elif isinstance(node, AdNode):
                # Compat: names are looked up around the nested ad, not in it; shown by
                # functions_control.json.
                entries = _entries(ClassAd.view_of(node, here))
                pending += [place.beside(entry, here) for entry in reversed(entries)]
            else:
                pending += [place.beside(child, here) for child in reversed(children(node))]

    def _miss(self, text: str, place: _Place) -> None:
        """Take down that a name, or a selection, is needed from outside."""
        if place.outside:
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
            pending.append(place.beside(*found))
            return
        special = self._special(node.key, here)
        if special is not None:
            pending += [place.beside(entry, special) for entry in reversed(_entries(special))]
        elif node.key != _NOW:
            self._miss(node.name, place)

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
        nowhere = isinstance(base, Literal) and base.value is UNDEFINED
        if not (nowhere or isinstance(base, AttributeReference | Selection | Parentheses | AdNode)):
            # Compat: the reference evaluates what something is selected from, and has no answer at
            # all where that is no ad; we say what it needs
            # (test_a_selection_from_what_is_no_ad_still_says_what_it_needs).
            pending.append(place.beside(base, here))
            return
        ad = self._ad_meant(base, here)
        if ad is None:
            # The selection as a whole is what is missing; what it is selected from is known of.
            self._miss(unparse(node), place)
            pending.append(_Place(base, here, False))
            return
        found = self._found(node.name, ad)
        if found is not None:
            pending.append(place.beside(*found))
        elif node.key != _NOW:
            self._miss(node.name, place)

    def _ad_meant(self, expr: Expr, here: Ad) -> Ad | None:
        names: list[str] = []
        while isinstance(expr, Parentheses | Selection):
            if isinstance(expr, Selection):
                names.append(expr.name)
                expr = expr.base
            else:
                expr = expr.inner
        if isinstance(expr, AdNode):
            # From an ad that is written out only what it says itself is selected: for it, what
            # the ad around has is outside.
            ad: Ad | None = ClassAd.view_of(expr, None)
        elif isinstance(expr, AttributeReference):
            found = self._found(expr.name, self.top if expr.absolute else here)
            ad = self._special(expr.key, here) if found is None else _as_ad(*found)
        else:
            return None
        while names and ad is not None:
            found = self._found(names.pop(), ad)
            ad = None if found is None else _as_ad(*found)
        return ad


def _as_ad(expr: Expr, scope: Ad) -> Ad | None:
    while isinstance(expr, Parentheses):
        expr = expr.inner
    return ClassAd.view_of(expr, scope) if isinstance(expr, AdNode) else None


def _entries(ad: Ad) -> list[Expr]:
    found = (ad.lookup(name) for name in ad.names())
    return [entry for entry in found if entry is not None]
