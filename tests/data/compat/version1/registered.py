"""Functions of a program's own: what they are given, what they may return, and who is called."""

import datetime

import classad

ad = classad.ClassAd({"A": 5, "S": "x"})


def told(text: str) -> str:
    try:
        value = classad.ExprTree(text).eval(ad)
    except Exception as error:  # noqa: BLE001 - whatever it is
        kinds = [kind.__name__ for kind in type(error).__mro__]
        return f"{kinds[0]} {'ValueError' in kinds} {error}"
    return f"{type(value).__name__} {value!r}"


class Thing:
    pass


def pyShow(one: object, other: object = None) -> int:
    print("   given", type(one).__name__, repr(one), "" if other is None else repr(other))
    return 1


# What it is given.
classad.register(pyShow)
for given in (
    'absTime("2020-01-01T00:00:00Z")',
    'absTime("2020-01-01T00:00:00+02:00")',
    'relTime("01:00:00")',
    'relTime("1+01:00:00.5"), absTime("1970-01-02T00:00:00Z")',
    '{absTime("2020-01-01T00:00:00Z"), A}',
    '[t = absTime("2020-01-01T00:00:00Z")]',
    "absTime()",
    "absTime(0, 0)",
    "relTime(5)",
    "(1)",
    "A",
):
    print(given, "->", told(f"pyShow({given})"))

# What it may return.
for returned in (
    object(),
    Thing(),
    len,
    int,
    1j,
    [1, object()],
    {"a": Thing()},
    datetime.timedelta(1),
    datetime.date(2020, 1, 1),
    datetime.datetime(2020, 1, 1),
    None,
    (1, 2),
    b"x",
    range(3),
    classad.Value.Error,
    classad.ExprTree("A + 1"),
):
    classad.register(lambda returned=returned: returned, "pyGive")
    print(type(returned).__name__, "->", told("pyGive()"))
classad.register(lambda: 1 << 70, "pyGive")
print(told("pyGive()").split()[0])

# Who is called.
classad.register(lambda x: x + 1, "pyAdd")
early = classad.ExprTree("pyAdd(1) + A")
print(early.eval(ad))
classad.register(lambda x: x + 100, "pyAdd")
print(early.eval(ad), classad.ExprTree("pyAdd(1) + A").eval(ad), told("pyAdd(1)"))
for name in ("toUpper", "TOUPPER", "strcat", "size", "debug"):
    before = told(f"{name}(S)")
    classad.register(lambda *given: "mine", name)
    print(name, before == told(f"{name}(S)"), told(f"{name.lower()}(S)"))
classad.register(lambda *given: "mine", "ifThenElse")
print(told("ifThenElse(A > 1, S, 2)"))
