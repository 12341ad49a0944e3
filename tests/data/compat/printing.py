# Ads as text: str, repr, old syntax, JSON; quoting.
try:  # With this module loaded the wheel evaluates as the daemons do; without, as strict ads.
    import htcondor2
except ImportError:
    pass

from classad2 import ClassAd, ExprTree, Value, quote, unquote

for ad in [
    ClassAd(),
    ClassAd({"a": 1}),
    ClassAd(
        {
            "B": 2.5,
            "a": -1,
            "long": "a\"b'c\\d\n\té",
            "list": [1, "x", [2.0, None]],
            "ad": {"x": {"y": []}},
            "e": {},
        }
    ),
    ClassAd(
        {
            "v": Value.Error,
            "u": None,
            "t": True,
            "x": ExprTree("a ?: (b + 1)"),
            "inf": float("inf"),
            "f": 1e300,
            "z": 0.1,
        }
    ),
    ClassAd({"my name": 1, "parent": 2, "error": 3, "it's": 4}),
    ClassAd('[t=absTime("2020-02-03T04:05:06Z");r=relTime("1+02:03:04");l={[a=1],{}}]'),
]:
    print(repr(ad))
    print(str(ad))
    print(ad.printOld())
    print(ad.formatOld() == ad.printOld(), ad.formatJson() == ad.printJson())
    print(ad.printJson())
    print(ClassAd(repr(ad)) == ad, ClassAd(str(ad)) == ad)
for text in ["", "plain", 'a"b', "back\\slash", "new\nline\ttab", "it's", "é", "\x01\x7f"]:
    quoted = quote(text)
    print(quoted, unquote(quoted) == text, ExprTree(quoted).eval() == text)
for text in [
    "",
    "a",
    "1",
    '"',
    '"a" "b"',
    '"a\\"b"',
    '"\\101"',
    "true",
    '("a")',
    ' "a" ',
    '"a',
    "undefined",
    "{}",
]:
    try:
        print(repr(text), repr(unquote(text)))
    except ValueError as error:
        print(repr(text), error)
