"""Many ads as `-long` prints them: what is alike in them is worked out once.

The result is that of `classad.forms.render_long` for each ad. Slots of a pool have the same names
and often the same expressions; and a plain value is printed as it came.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.classad import ClassAd, Expr, unparse
from kettle.patterns import late_pattern

if TYPE_CHECKING:
    from kettle.wire.ad_shapes import AdRun

# Values that are printed as they stand, without being parsed.
_VALUE = r'0|-?[1-9][0-9]{0,17}|true|false|undefined|"[ !#-\[\]-~]*"'
_PLAIN = late_pattern(_VALUE)
_ALL_PLAIN = late_pattern(rf"(?:(?:{_VALUE})(?:\n|\Z))*")
# Limit: different orders of names, and different expressions, that are remembered.
_MOST_ORDERS = 1000
_MOST_TEXTS = 20_000


class _Order:
    """How ads with the same names are printed: the order of their lines, with gaps for values.

    `odd` are the places whose values are not always plain.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        ordered = sorted(names, key=str.lower)
        self.keys = [name.lower() for name in ordered]
        self.template = "".join(f"{name.replace('%', '%%')} = %s\n" for name in ordered) + "\n"
        self.odd: list[int] = []


class LongAds:
    """Renders ads one after the other."""

    def __init__(self) -> None:
        # By the names as they come.
        self._orders: dict[tuple[str, ...], _Order] = {}
        self._texts: dict[str, str] = {}

    def render(self, ad: ClassAd) -> str:
        """Return an ad as lines of old syntax in the order of their names, and an empty line.

        An ad without attributes is nothing at all.
        """
        names = tuple(ad.names())
        if not names:
            return ""
        order = self._order(names)
        table = ad.table if ad.parent is None else ad.flattened().table
        values = [table[key] for key in order.keys]
        odd = [(place, values[place]) for place in order.odd]
        for place in order.odd:
            values[place] = "0"
        if not _are_plain(values):
            more = [place for place, raw in enumerate(values) if not _are_plain([raw])]
            odd += [(place, values[place]) for place in more]
            order.odd += more
        for place, raw in odd:
            values[place] = self._text(ad, order.keys[place], raw)
        return order.template % tuple(values)

    def render_run(self, run: AdRun) -> list[str]:
        """Return what `render` returns for each ad of a run."""
        model = run.model
        if model.parent is not None or not model.table:
            return [self.render(ad) for ad in run]
        order = self._order(tuple(model.own_names()))
        columns = dict(zip(model.table, zip(*run.rows, strict=True), strict=True))
        shown = []
        for key in order.keys:
            texts = columns[key]
            distinct = set(texts)
            if not _are_plain(list(distinct)):
                printed = {text: self._text(_only(key, text), key, text) for text in distinct}
                texts = tuple(map(printed.__getitem__, texts))
            shown.append(texts)
        return list(map(order.template.__mod__, zip(*shown, strict=True)))

    def _order(self, names: tuple[str, ...]) -> _Order:
        order = self._orders.get(names)
        if order is None:
            order = _Order(names)
            if len(self._orders) < _MOST_ORDERS:
                self._orders[names] = order
        return order

    def _text(self, ad: ClassAd, key: str, raw: Expr | str) -> str:
        """Return a value as it is printed."""
        if not isinstance(raw, str):
            return raw.text(old=True)
        return raw if _PLAIN.fullmatch(raw) else self._canonical(ad, key, raw)

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


def _only(key: str, text: str) -> ClassAd:
    """Return an ad with one attribute; its name's spelling does not matter."""
    ad = ClassAd()
    ad.table[key] = text
    return ad


def _are_plain(values: list[Expr | str]) -> bool:
    """Tell whether all values are texts that are printed as they came."""
    try:
        joined = "\n".join(values)  # type: ignore[arg-type]
    except TypeError:
        return False  # an expression that somebody has parsed
    return joined.count("\n") < len(values) and _ALL_PLAIN.fullmatch(joined) is not None
