"""What an expression needs: attributes of its own ad, and names it must get from elsewhere.

References are followed through the ad: what an attribute it uses needs, it needs. Names chosen
by `eval` cannot be seen. Circular references end where they meet themselves.
"""

from __future__ import annotations

from itertools import islice

from kettle.classad.ad import ClassAd
from kettle.classad.nodes import AdNode, AttributeReference, Parentheses, Selection, children
from kettle.classad.unparse import unparse
from kettle.classad.values import Ad, Expr

_HERE = frozenset({"my", "self"})
_OUTERMOST = frozenset({"toplevel", "root"})


def find_references(expr: Expr, ad: Ad | None) -> tuple[set[str], set[str]]:
    """Return the names of `ad`'s attributes it uses, and those it needs from outside.

    Names are spelled as where they were met first; `TARGET.x` keeps its scope, `MY.x` loses it.
    Source: vectors/classad/references.json.
    """
    search = _Search(ad if ad is not None else ClassAd())
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


class _Search:
    """One search: what was found so far, and what is still to be looked at."""

    __slots__ = ("_seen", "external", "internal", "top")

    def __init__(self, top: Ad) -> None:
        self.top = top
        self.internal: dict[str, str] = {}
        self.external: dict[str, str] = {}
        self._seen: set[tuple[int, int]] = set()

    def walk(self, expr: Expr, scope: Ad) -> None:
        pending = [(expr, scope)]
        while pending:
            node, here = pending.pop()
            if (id(node), id(here.table)) in self._seen:
                continue
            self._seen.add((id(node), id(here.table)))
            if isinstance(node, AttributeReference):
                self._name(node, here, pending)
            elif isinstance(node, Selection):
                self._selection(node, here, pending)
            elif isinstance(node, AdNode):
                # Compat: names are looked up around the nested ad, not in it; shown by the
                # vectors of unresolved().
                pending += [(entry, here) for entry in _entries(ClassAd.view_of(node, here))]
            else:
                pending += [(child, here) for child in reversed(children(node))]

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

    def _name(self, node: AttributeReference, here: Ad, pending: list[tuple[Expr, Ad]]) -> None:
        found = self._found(node.name, self.top if node.absolute else here)
        if found is not None:
            pending.append(found)
            return
        special = self._special(node.key, here)
        if special is not None:
            pending += [(entry, special) for entry in _entries(special)]
        elif node.key != "currenttime":
            self.external.setdefault(node.key, node.name)

    def _special(self, key: str, here: Ad) -> Ad | None:
        if key in _HERE:
            return here
        if key in _OUTERMOST:
            return self.top
        return here.scope if key == "parent" else None

    def _selection(self, node: Selection, here: Ad, pending: list[tuple[Expr, Ad]]) -> None:
        base = node.base
        if not isinstance(base, AttributeReference | Selection | Parentheses | AdNode):
            # Compat: the reference evaluates what something is selected from, and has no answer at
            # all where that is no ad; we say what it needs
            # (test_a_selection_from_what_is_no_ad_still_says_what_it_needs).
            pending.append((base, here))
            return
        ad = self._ad_meant(base, here)
        if ad is None:
            text = unparse(node)
            self.external.setdefault(text.lower(), text)
            return
        found = self._found(node.name, ad)
        if found is not None:
            pending.append(found)
        else:
            self.external.setdefault(node.key, node.name)

    def _ad_meant(self, expr: Expr, here: Ad) -> Ad | None:
        names: list[str] = []
        while isinstance(expr, Parentheses | Selection):
            if isinstance(expr, Selection):
                names.append(expr.name)
                expr = expr.base
            else:
                expr = expr.inner
        if isinstance(expr, AdNode):
            ad: Ad | None = ClassAd.view_of(expr, here)
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
