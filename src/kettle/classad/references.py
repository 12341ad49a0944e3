"""What an expression needs: attributes from inside an ad, and from outside."""

from __future__ import annotations

from kettle.classad.ad import ClassAd
from kettle.classad.nodes import Expr


def find_references(expr: Expr, ad: ClassAd | None) -> tuple[set[str], set[str]]:
    """Return the names found inside `ad`, and the names that must come from elsewhere."""
    raise NotImplementedError
