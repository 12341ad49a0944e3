"""Expressions put together, functions of the program's own, quoting."""

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


for value in (1, "x", 2.5, True, None, classad.Value.Undefined, E("1+1"), [1], {"a": 1}, object()):
    attempt(classad.Literal, value)
for name in ("a", "a b", "MY.a", 1):
    attempt(classad.Attribute, name)
attempt(classad.Function, "strcat", "a", E("b"), 1)
attempt(lambda: classad.Function("strcat", "a", "b").eval())
attempt(lambda: classad.Function("noSuchFunction", 1).eval())
attempt(classad.Function, 1)


def pyCount(*given):
    return len(given)


def pyScope(x, state):
    return [sorted(state.keys()), x]


def pySame(x):
    return x


def pyRaises(x):
    raise KeyError(x)


def pyWrong(x):
    return object()


for one in (pyCount, pyScope, pySame, pyRaises, pyWrong):
    classad.register(one)
classad.register(pyCount, "pyOther")
attempt(E("pyCount(1, 2)").eval())
attempt(E('pyOther("x")').eval())
attempt(E("pyScope(3)").eval(classad.ClassAd({"z": 1})))
for text in ("undefined", "error", "{1, 2}", "[a = 1]", "1.5", "true", '"x"', "", "1, 2"):
    attempt(lambda text=text: E(f"pySame({text})").eval())
attempt(lambda: E("pyRaises(1)").eval())
attempt(lambda: E("1 + pyRaises(1)").eval())
attempt(lambda: E("1 + 1").eval())
attempt(classad.registerLibrary, "/no/such/library")
attempt(classad.registerLibrary, 1)
attempt(classad.quote, 'a"b\n')
attempt(classad.unquote, '"it\\"s"')
attempt(classad.unquote, "a")
attempt(classad.unquote, "1")
attempt(classad.quote, 1)
for value in (classad.Value.Undefined, classad.Value.Error, classad.Parser.Old):
    print(value, repr(value), f"{value}")
found = classad.ClassAd("[a = undefined]")["a"]
print(bool(found), found is classad.Value.Undefined)
print([int(getattr(classad.Parser, name)) for name in ("Auto", "Old", "New")])


# Who takes any name, or has a default for it, is given the ad where there is one.
def pyAny(*given, **named):
    return [len(given), sorted(named)]


def pyMaybe(x, state=None):
    return [x, state is not None and sorted(state.keys())]


def pyMore(x, y=5, **named):
    return [x, y, sorted(named)]


for function in (pyAny, pyMaybe, pyMore):
    classad.register(function)
around = classad.ClassAd({"a": 1})
for text in ("pyAny(1, 2)", "pyMaybe(a)", "pyMaybe(1, 2)", "pyMore(1)", "pyMore(a, 2)", "pyMore()"):
    attempt(E(text).eval)
    attempt(E(text).eval, around)


def pyEval(x):
    return x.eval() if isinstance(x, E) else ("constant", x)


def pyMoreByOne(x):
    return x + 1


def pyInt(x):
    return int(x)


def pyIn(x, state):
    return x.eval(state)


for function in (pyEval, pyMoreByOne, pyInt, pyIn):
    classad.register(function)
around = classad.ClassAd({"a": 1, "b": E("a+1"), "c": [1, 2], "z": E("pyMoreByOne(b)")})
for argument in ("a", "b", "3", "-3", '"x"', "nope", "a + 1", "(a)", "c", "{1, a}", "[x = a]"):
    for name in ("pyEval", "pyMoreByOne", "pyInt", "pyIn", "pySame"):
        print(name, argument)
        attempt(E(f"{name}({argument})").eval)
        attempt(E(f"{name}({argument})").eval, around)
attempt(around.eval, "z")
