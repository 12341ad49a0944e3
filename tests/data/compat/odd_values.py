"""Values of odd types, and arguments that are not what is asked for."""

import collections.abc
import copy
import datetime
import enum

try:  # With this module loaded the wheel evaluates as the daemons do; without, as strict ads.
    import htcondor2
except ImportError:
    pass

from classad2 import ClassAd, ExprTree, ParserType, Value, parseAds, parseNext, parseOne, quote, unquote


class Text(str):
    pass


class Whole(int):
    pass


class Real(float):
    pass


class Number(enum.IntEnum):
    FIVE = 5


class One(collections.abc.Mapping):
    def __getitem__(self, key):
        return {"a": 1}[key]

    def __iter__(self):
        return iter(["a"])

    def __len__(self):
        return 1

    def __repr__(self):
        return "One()"


UTC = datetime.timezone.utc
VALUES = [
    *(None, True, Value.Error, Value.Undefined, ParserType.New, Number.FIVE, 1, -(1 << 63), (1 << 63) - 1, Whole(3)),
    *(2.5, -0.0, 1e300, 5e-324, float("inf"), float("nan"), Real(2.5), "", "a", "é", 'a"b\\c\n', Text("t"), b"b", bytearray(b"b")),
    *([], (1, (2, [3])), {1}, frozenset([1]), range(3), [None, [1]], {}, {"a": {"b": [1, {"c": 2}]}}, One()),
    *({"A": 1, "a": 2}, {"": 1}, {"a b": 1}, {"true": 1, "my": 2, "error": 3}, ClassAd("[a = b]"), ExprTree("a + 1")),
    *(datetime.datetime(2020, 1, 2, 3, 4, 5, 6, UTC), datetime.datetime(1, 1, 1, tzinfo=UTC)),
    *(datetime.datetime(9999, 12, 31, tzinfo=UTC), datetime.datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)),
]


def attempt(what, *given):
    try:
        found = what(*given)
        found = list(found) if hasattr(found, "__next__") else found
        return f"{type(found).__name__} {found!r}"
    except Exception as error:
        # What the system's texts of characters and of types are is Python's.
        told = "" if isinstance(error, (TypeError, UnicodeError)) else error
        return f"{type(error).__name__}: {told}"


for value in VALUES:
    ad = ClassAd({"x": value, "y": [value]})
    print(repr(ad), attempt(ad.get, "x"), attempt(ad.eval, "x"), attempt(ad.__getitem__, "y"))
    print("   ", repr(ad.printOld()), repr(ad.printJson()), attempt(ad.lookup("x").simplify))
    ad = ClassAd("[a = 1; x = 2]")
    for what in (ad.__getitem__, ad.get, ad.eval, ad.lookup, ad.__contains__, ad.matches, ad.flatten, ad.externalRefs, ad.pop, ad.update):
        print("   ", attempt(what, value))
    for what in (ExprTree, ClassAd, quote, unquote, ad.__eq__, ExprTree("a").eval, ExprTree("a").simplify):
        if what is not unquote or value is not None:
            print("   ", attempt(what, value))
    print("   ", attempt(ad.setdefault, "z", value), attempt(ad.setdefault, value, 1), attempt(ExprTree("a").eval, ad, value), ad)
for name in ("a\0b", "\ud800", "", " "):
    for what in (ad.__getitem__, ad.get, ad.eval, ad.lookup, ad.__contains__, ad.__delitem__, ClassAd, ExprTree, quote, unquote):
        print(repr(name), attempt(what, name))
    print("   ", attempt(ad.__setitem__, name, 1), attempt(ad.pop, name, 2), attempt(parseAds, name), attempt(parseNext, name))
for parser in (-1, 0, 2, 3, 7, -2, 99, True, 2.9, "1", "x", None, [], ParserType.New):
    print(parser, *(attempt(what, text, parser) for what in (parseAds, parseOne) for text in ("[a=1]", "a=1", '{"a":1}')))
for text in ("1", "2.5", "true", "undefined", "error", "a", "{1}", "[a=1]", 'absTime("2020-01-01T00:00:00Z")', 'relTime("1")', "-1", '"a" + "b"', '("a")'):
    print(text, attempt(unquote, text))
ad = ClassAd("[a = 1; b = [c = {1, x}]]")
for again in (copy.copy(ad), copy.deepcopy(ad)):
    print(again == ad, again is ad, repr(again))
