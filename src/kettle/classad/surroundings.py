"""What lies around the two ads of a match: `PARENT`, `TOPLEVEL` and `.name` lead there.

Each ad of the match is in a context, which knows it as `MY` and the other one as `TARGET`; both are
in one ad, which knows them as `LEFT` and `RIGHT`. Names and expressions are the reference's, as its
ad of a match is printed. Source: tests/data/compat/surroundings.py.
"""

from __future__ import annotations

from typing import Final

from kettle.classad.ad import ClassAd, parse_ad, to_expression
from kettle.classad.nodes import AdNode
from kettle.classad.values import Ad

_AROUND: Final = """[
    symmetricMatch = RIGHT.requirements && LEFT.requirements;
    leftMatchesRight = RIGHT.requirements;
    rightMatchesLeft = LEFT.requirements;
    leftRankValue = LEFT.rank;
    rightRankValue = RIGHT.rank;
    lCtx = [ other = .RIGHT; target = .RIGHT; my = .LEFT; ad = .LEFT ];
    rCtx = [ other = .LEFT; target = .LEFT; my = .RIGHT; ad = .RIGHT ]
]"""


def surrounding_ad(left: Ad, right: Ad) -> ClassAd:
    """Return the ad around both ads of a match; they are evaluated to themselves in it."""
    around = parse_ad(_AROUND)
    around.insert("LEFT", _itself(left))
    around.insert("RIGHT", _itself(right))
    return around


def count_steps(ad: Ad) -> int:
    """Return what an ad counts as that is put into the one around: it is parsed for that alone."""
    steps = 0
    assert isinstance(ad, ClassAd)
    one: ClassAd | None = ad
    while one is not None:
        texts = (each for each in one.table.values() if type(each) is str)
        steps += len(one.table) + sum(len(text) >> 4 for text in texts)
        one = one.parent
    return steps


def _itself(ad: Ad) -> AdNode:
    """Return the ad as an expression whose value is no copy: what is around it is found again."""
    # Of a copy: what is parsed for this is not kept in an ad that many matches look at.
    assert isinstance(ad, ClassAd)
    node = to_expression(ad.copy())
    assert isinstance(node, AdNode)
    return AdNode(node.table, node.names, lambda _state: ad)
