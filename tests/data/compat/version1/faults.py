"""What has no value, what can be no expression, and what texts are as numbers, in version 1."""

import datetime

import htcondor  # With this module loaded the wheel evaluates as the daemons do.
from classad import Attribute, ClassAd, ExprTree, Function, Literal, parseNext, parseOldAds, parseOne


def attempt(what, *given):
    try:
        found = what(*given)
    except Exception as error:
        told = "" if isinstance(error, SyntaxError) else error
        # What Boost says of arguments is the signatures of its functions.
        name = "TypeError" if "Python argument types" in str(told) else type(error).__name__
        return f"{name}: {'' if isinstance(error, TypeError) and 'ClassAd' not in name else told}"
    return f"{type(found).__name__} {found!r}"


AD = ClassAd(
    """[a = a; b = c + 1; c = b; d = {a}; e = [x = e.x; y = 1]; f = ifThenElse(true, 1, a); g = a ?: 7;
    h = true || a; i = toplevel.i; j = 1; k = strcat("x", a); l = .j; m = isUndefined(a); n = .a]"""
)
for name in sorted(AD):
    tree = AD.lookup(name)
    print(name, attempt(AD.eval, name), attempt(tree.eval), attempt(bool, tree), attempt(int, tree))
for text in ("a", "b + 1", "e.x", "e.y", "d[1]", "{a, 1}[1]", "[q = q].q", "true || a", "a || true", ".a", ".j", "m"):
    tree = ExprTree(text)
    print(text, attempt(tree.eval, AD), attempt(tree.eval), attempt(tree.simplify, AD), attempt(tree.simplify))
    print("   ", attempt(AD.flatten, tree), attempt(AD.externalRefs, tree), attempt(AD.internalRefs, tree))
OTHER = ClassAd("[Requirements = a; a = b; b = a]")
WANTS = ClassAd("[Requirements = true]")
print(attempt(WANTS.matches, OTHER), attempt(OTHER.matches, WANTS), attempt(WANTS.symmetricMatch, OTHER))

for value in (datetime.timedelta(1), object(), [object()], 1j, {1: 2}):
    tree = ExprTree("j")
    for what in (tree.is_, tree.isnt_, tree.__eq__, tree.__ne__, tree.__lt__, tree.__add__, tree.and_, Literal):
        print(type(value).__name__, attempt(what, value))
    print("   ", attempt(Function, "f", value), attempt(AD.flatten, value), attempt(AD.externalRefs, value))
for value in (None, [], [1], {}, {"a": 1}, b"a", "a", 1, True, Attribute("j")):
    print(repr(value), attempt(AD.flatten, value), attempt(AD.externalRefs, value), attempt(AD.internalRefs, value))
for value in (None, 1, 2.5, True, {"z": 1}, [("z", 2)]):
    print(repr(value), attempt(ClassAd("[a = 1]").update, value))
for value in (None, 1, [], {}, 2.5):
    print(repr(value), attempt(parseOne, value), attempt(parseNext, value))
    if value is not None:
        print("   ", attempt(ExprTree("1").simplify, AD, value))
print([repr(ad) for ad in parseOldAds(["a = 1\n", "b = 2\n", "\n", "c = 3\n"])], [repr(ad) for ad in parseOldAds(["a = 1", "b = 2"])])

for text in ("", "1", " 2", "2 ", "1.5", "1e3", "0x10", "1_0", "nan", "-7", "+7", "x", "2x"):
    tree = Literal(text)
    print(repr(text), attempt(int, tree), attempt(float, tree))
for text in ('absTime("2020-01-01T00:00:00Z")', 'relTime("1")', "1", "true", "undefined", "j", '"ab"', "{ 3 }"):
    tree = ExprTree(text)
    print(text, attempt(tree.__getitem__, 0), attempt(int, tree), attempt(Literal, tree))
