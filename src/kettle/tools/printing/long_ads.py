"""Many ads as `-long` prints them: what is alike in them is worked out once.

The result is that of `classad.forms.render_long` for each ad. Slots of a pool have the same names
and often the same expressions; and a plain value is printed as it came.
"""

from __future__ import annotations

from kettle.classad import ClassAd, Expr, unparse
from kettle.patterns import late_pattern

# Values that are printed as they stand, without being parsed.
_PLAIN = late_pattern(r'0|-?[1-9][0-9]{0,17}|true|false|undefined|"[ !#-\[\]-~]*"')
# Limit: different orders of names, and different expressions, that are remembered.
_MOST_ORDERS = 1000
_MOST_TEXTS = 20_000


class LongAds:
    """Renders ads one after the other."""

    def __init__(self) -> None:
        # Names as they come → key and printed beginning of each line, in order.
        self._orders: dict[tuple[str, ...], list[tuple[str, str]]] = {}
        self._texts: dict[str, str] = {}

    def render(self, ad: ClassAd) -> str:
        """Return an ad as lines of old syntax in the order of their names, and an empty line.

        An ad without attributes is nothing at all.
        """
        names = tuple(ad.names())
        if not names:
            return ""
        order = self._orders.get(names)
        if order is None:
            order = [(name.lower(), f"{name} = ") for name in sorted(names, key=str.lower)]
            if len(self._orders) < _MOST_ORDERS:
                self._orders[names] = order
        pieces: list[str] = []
        plain, table = _PLAIN.fullmatch, ad.table
        for key, beginning in order:
            found = table.get(key)
            if found is None:
                found = _inherited(ad, key)
            if type(found) is not str:
                text = found.text(old=True)  # type: ignore[union-attr]
            elif plain(found):
                text = found
            else:
                text = self._canonical(ad, key, found)
            pieces += (beginning, text, "\n")
        pieces.append("\n")
        return "".join(pieces)

    def _canonical(self, ad: ClassAd, key: str, text: str) -> str:
        """Return an expression as it is printed once it has been parsed."""
        known = self._texts.get(text)
        if known is None:
            expression = ad.lookup(key)
            assert expression is not None
            known = unparse(expression, old=True)
            if len(self._texts) < _MOST_TEXTS:
                self._texts[text] = known
        return known


def _inherited(ad: ClassAd, key: str) -> Expr | str:
    parent = ad.parent
    while parent is not None:
        found = parent.table.get(key)
        if found is not None:
            return found
        parent = parent.parent
    raise KeyError(key)
