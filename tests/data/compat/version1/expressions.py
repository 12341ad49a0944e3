"""Expressions: operators, truth, numbers, and the ad that they come from."""

from __future__ import annotations

import classad
from classad import ExprTree as E


def attempt(what, *given):
    try:
        value = what(*given) if callable(what) else what
        print(type(value).__name__, repr(value), "|", value)
    except Exception as error:
        # What the wheel's C++ calls wrong arguments is a TypeError of its own.
        names = [one.__name__ for one in type(error).__mro__[:-2]]
        print("raises", *(name for name in names if name != "ArgumentError"))


a = classad.ClassAd('[x = 1; y = x + 1; z = MY.x; s = "5"; l = {1, x}; e = [f = 1; g = f + 1]]')
y = a.lookup("y")
for one in (
    lambda: y.eval(),
    lambda: a["y"].eval(),
    lambda: E("x + 1").eval(),
    lambda: E("x + 1").eval(a),
    lambda: y.simplify(),
    lambda: (y + 1).eval(),
    lambda: (bool(y), int(y), float(y)),
    lambda: E("TARGET.x + 1").simplify(classad.ClassAd({"x": 2}), a),
    lambda: a["l"],
    lambda: a["e"],
    lambda: a.eval("e"),
    lambda: a.eval("l"),
    lambda: a.eval("nothing"),
):
    attempt(one)
for make in (
    lambda e: e + 1,
    lambda e: 1 + e,
    lambda e: e - 1,
    lambda e: 2 - e,
    lambda e: e * 2,
    lambda e: e / 2,
    lambda e: 2 / e,
    lambda e: e % 2,
    lambda e: e & 1,
    lambda e: e | 1,
    lambda e: e ^ 1,
    lambda e: e << 1,
    lambda e: e >> 1,
    lambda e: e < 1,
    lambda e: e >= 1,
    lambda e: e == 1,
    lambda e: e != "x",
    lambda e: e.and_(1),
    lambda e: e.or_(E("b")),
    lambda e: e.is_(1),
    lambda e: e.isnt_("x"),
    lambda e: e.and_(E("b")).or_(E("c == d")),
    lambda e: e + None,
    lambda e: e // 2,
    lambda e: -e,
    lambda e: ~e,
    lambda e: e["b"],
):
    attempt(make, E("a"))
attempt((E("1") + E("2")).eval())
attempt(((E("1") + E("2")) * E("3")).eval())
for text in ("true", "1", "0", "a", "undefined", '"x"', "error", "2.7", '"12"', '"2.5"', "{1}"):
    attempt(lambda text=text: bool(E(text)))
    attempt(lambda text=text: int(E(text)))
    attempt(lambda text=text: float(E(text)))
attempt(lambda: E("{1,2}")[0])
attempt(lambda: E("{1,2}")[7])
attempt(lambda: E("[q=1]")["q"])
attempt(E("a").sameAs(E("a")))
attempt(E("a").sameAs(E("A")))
attempt(lambda: E("a +"))
attempt(lambda: E(""))
attempt(lambda: E(1))
attempt(lambda: E(None))
attempt(lambda: E(E("a")))
attempt(lambda: E('absTime("2020-01-01T00:00:00Z")').eval())
attempt(lambda: E('relTime("1:00:00")').eval())
b = a["y"]
a["x"] = 5
attempt(b.eval())
moved = classad.ClassAd()
moved["z"] = b
attempt(moved.eval("z"))
