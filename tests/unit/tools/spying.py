"""Ads that note which of their attributes somebody looks at."""

from __future__ import annotations

from kettle.classad import ClassAd, Expr


class _Spy(dict[str, Expr | str]):
    """An ad's table that notes the names that somebody looks for."""

    def __init__(self, table: dict[str, Expr | str], seen: set[str]) -> None:
        super().__init__(table)
        self.seen = seen

    def get(self, key: str, default: object = None) -> object:  # type: ignore[override]
        self.seen.add(key)
        return super().get(key, default)

    def __contains__(self, key: object) -> bool:
        self.seen.add(str(key))
        return super().__contains__(key)


def spy_on(ad: ClassAd, seen: set[str]) -> ClassAd:
    """Have an ad note the names that are looked for in `seen`, in lower case."""
    ad.table = _Spy(ad.table, seen)
    return ad
