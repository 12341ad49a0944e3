"""Ads: reading, writing, matching, texts and files."""

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


import datetime
import tempfile
from pathlib import Path

a = classad.ClassAd({"a": 1, "b": E("a+1"), "c": "x", "d": [1, E("a+1")], "e": {"f": 1}, "n": None})
b = classad.ClassAd("[x = 1; Requirements = TARGET.a == 1; r = 2.5; t = true]")
for one in (
    lambda: a,
    lambda: a["b"],
    lambda: a["c"],
    lambda: a["d"],
    lambda: a["e"],
    lambda: a["n"],
    lambda: a["nothing"],
    lambda: a.get("nothing"),
    lambda: a.get("nothing", 3),
    lambda: a.get("b", 3),
    lambda: a.lookup("c"),
    lambda: a.eval("b"),
    lambda: a.lookup("nothing"),
    lambda: list(a.keys()),
    lambda: list(a),
    lambda: [str(value) for value in a.values()],
    lambda: [name for name, _ in a.items()],
    lambda: len(a),
    lambda: "A" in a,
    lambda: bool(classad.ClassAd()),
    lambda: a == {},
    lambda: a == classad.ClassAd(repr(a)),
    lambda: a.setdefault("q", 5),
    lambda: a.setdefault("q", 6),
    lambda: a.update({"w": 1}),
    lambda: a.update([("v", 2)]),
    lambda: a.update(b),
    lambda: a.matches(b),
    lambda: b.matches(a),
    lambda: a.symmetricMatch(b),
    lambda: a.matches({}),
    lambda: a.flatten(E("a + zz")),
    lambda: a.flatten(E("a + 1")),
    lambda: a.flatten(3),
    lambda: a.externalRefs(E("a + zz")),
    lambda: a.internalRefs(E("a + zz")),
    lambda: a.internalRefs(E("zz")),
    lambda: a.printOld(),
    lambda: a.printJson(),
    lambda: classad.ClassAd("foo"),
    lambda: classad.ClassAd("a = 1"),
    lambda: classad.ClassAd(1),
    lambda: classad.ClassAd("[a = 1] x"),
    lambda: classad.parse("[a = 1]"),
    lambda: classad.parse("a = 1"),
    lambda: classad.parseOld("a = 1\nb = 2"),
    lambda: classad.parseOne("a = 1\n\na = 2\nc = 3"),
    lambda: classad.parseOne(""),
    lambda: list(classad.parseAds("[a = 1][b = 2]")),
    lambda: list(classad.parseAds("a = 1\n\nb = 2\n")),
    lambda: list(classad.parseAds("a = 1\n\nb = 2\n", classad.Parser.Old)),
    lambda: list(classad.parseOldAds("a = 1\n\nb = 2\n")),
    lambda: classad.parseNext("[a = 1]"),
    lambda: classad.parseNext("a = 1"),
    lambda: classad.parseNext("[a = 1][b = 2]", parser=classad.Parser.New),
    lambda: classad.parseNext(""),
):
    attempt(one)
for value in (
    *(object(), classad.Value.Undefined, classad.Value.Error, None, (1, 2), b"x", 1.5),
    *(10**30, datetime.datetime(2020, 1, 1), iter([1]), True, "y", {"k": {"l": 1}}, a["e"], b),
):

    def put(value=value):
        a["v"] = value
        return repr(a.lookup("v")), a["v"]

    attempt(put)
del a["V"]
attempt(lambda: a["v"])
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "ads")
    path.write_text("a = 1\nb = 2\n\na = 3\n\n")
    with path.open() as file:
        attempt(lambda: [dict(one) for one in classad.parseAds(file)])
    with path.open() as file:
        print(dict(classad.parseNext(file)), dict(classad.parseNext(file)))
        attempt(lambda: classad.parseNext(file))
