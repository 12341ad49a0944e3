# Expressions: made, compared, evaluated, simplified, flattened, and what they refer to.
try:  # With this module loaded the wheel evaluates as the daemons do; without, as strict ads.
    import htcondor2
except ImportError:
    pass

import classad2
from classad2 import ClassAd, ExprTree


def show(what):
    try:
        found = what()
    except Exception as error:
        print("!", type(error).__name__, error)
    else:
        print(type(found).__name__, repr(found), "|", str(found))


ad = ClassAd('[a=1;b=2.5;s="x";d={1,"two",a+1};e=[f=a;g=MY.a];u=undefined;h=zz+1]')
other = ClassAd("[a=9;zz=7;only=1]")
for made in [
    None,
    "1",
    "",
    "a+",
    "1 2",
    "a; b=3",
    5,
    True,
    "(a)",
    "a ? b : c",
    "a.b[0].c",
    "!a && -b",
    "a =?= b || c is d",
    '"q\\"uote\\n"',
    "{}",
    "{1,{2}}",
    "[x=1;y=[z=2]]",
    "f(a,b)",
    "a ?: b",
    "'my name'",
    "1e3",
    "x.TARGET.y",
    "parent.x",
    ExprTree("a*2"),
    "1 + 2 * 3",
    "(1 + 2) * 3",
    "a>>>2",
    "~a",
]:
    show(lambda: ExprTree(made))
for text in [
    "a",
    "A+1",
    "b*2",
    "s",
    "d",
    "e",
    "e.f",
    "u",
    "h",
    "zz",
    "1/0",
    "nofunc(1)",
    "strcat(a,s)",
    "{1,a,b+2,{3}}",
    "[x=1;y=a]",
    "d[2]",
    "MY.a",
    "TARGET.a",
    "OTHER.a",
    "TARGET.zz",
    "only",
    "relTime(3.5)",
    "a == 1 && zz",
    'absTime("2020-01-01T00:00:00+01:00")',
    'relTime("1+02:03:04")',
    "isUndefined(u)",
    "size(d)",
    "9223372036854775807 + 1",
    'real("INF")',
    'substr("hello", 1, 2)',
    "toUpper(s)",
    "ifThenElse(a > 0, s, d)",
    "a is undefined",
    "member(1, d)",
    "(a)",
    "a ? s : b",
    'eval("a")',
    "(undefined) ? s : a",
    "size({1,a})",
    "u ?: 3",
    "zz ?: u",
]:
    tree = ExprTree(text)
    print("#", text)
    show(lambda: tree.eval())
    show(lambda: tree.eval(ad))
    show(lambda: tree.eval(ad, other))
    show(lambda: tree.eval(scope=ad, target=ad))
    show(lambda: tree.eval(target=other))
    show(lambda: tree.simplify(ad, other))
    show(lambda: ad.flatten(tree))
    show(lambda: ad.externalRefs(tree))
    show(lambda: ad.internalRefs(tree))
for name in ["a", "D", "e", "h", "nope", 3]:
    show(lambda: ad.lookup(name))
    show(lambda: ad.eval(name))
show(lambda: ad["e"].eval("f"))
show(lambda: ExprTree("[x=1;y=a]").eval(ad).eval("y"))
show(lambda: ExprTree("[a=1;b=a+1]").eval().eval("b"))
show(lambda: ClassAd("[a=b;b=a]").eval("a"))
for left, right in [
    ("a", "a"),
    ("a", "A"),
    ("a+1", "(a+1)"),
    ("1", "1.0"),
    ('"a"', '"A"'),
    ("[a=1]", "[A=1]"),
    ("a.b", "a.B"),
    ("a is b", "a =?= b"),
    ("'a'", "a"),
    ("{a}", "{A}"),
    ("strcat(a)", "strCat(a)"),
]:
    show(lambda: (ExprTree(left) == ExprTree(right), ExprTree(left) != ExprTree(right)))
tree = ExprTree("a")
show(lambda: tree == 3)
show(lambda: tree == "a")
show(lambda: hash(tree))
show(lambda: tree + 1)
show(lambda: tree < tree)
show(lambda: int(tree))
show(lambda: bool(ExprTree("false")))
show(lambda: tree(1))
show(lambda: tree.eval(3))
show(lambda: tree.eval(target=3))
show(lambda: tree.simplify(3))
show(lambda: ad.flatten("a"))
show(lambda: ad.externalRefs("a"))
show(lambda: ad.internalRefs("a"))
show(lambda: ExprTree([1]))
show(
    lambda: sorted(name for name in dir(tree) if not name.startswith("_") and name != "expression")
)
show(lambda: [classad2.Value.Undefined, int(classad2.Value.Error), bool(classad2.Value.Undefined)])
