"""Random expressions and streams of ads, and what `classad2` makes of them."""

import contextlib
import random

with contextlib.suppress(ImportError):
    import htcondor2  # noqa: F401 - with it the wheel evaluates as the daemons do

from classad2 import ClassAd, ExprTree, Parser, parseAds, parseNext, parseOne

DICE = random.Random(7)
ATOMS = [
    *("a", "b", "TARGET.a", "MY.b", "zz", "1", "2.5", '"s"', "true", "undefined", "error"),
    *("{1,a}", "[x=1;y=a]", "e.f", "TARGET.zz", "-3", "c", "d"),
]
OPERATORS = "+ - * / && || == != < =?= =!= >= & | %".split()  # noqa: SIM905
FUNCTIONS = "isUndefined string int size strcat ifThenElse isError real member max".split()  # noqa: SIM905
LINES = [
    *("a=1", "b = 2 + x", "", "#c", "  ", 'c="x\\"y"', 'd="q\\\\"', "junk", "e = {1,2}"),
    *("f=[g=1;h=2]", "x y = 3", "'q r'=4", "z=1 2", "k=", "=5", "N = undefined", "***", "// c"),
    *("/* c */ a=1", 'v="é"', "p=1e5", "o=010", "h=0x10", "m=-5", "w=true && false"),
    *("y=a.b.c", 'u="unterminated', 'i= "tab\t"', "B=5 // c", "l=1;", 's="a" "b"'),
]
MINE = ClassAd('[a=1;b=a+zz;c="s";d=undefined;e=[f=2;g=a];u=TARGET.only]')
OTHER = ClassAd("[a=9;zz=7;only=1;b=MY.a]")


def expression(depth):
    if depth == 0 or DICE.random() < 0.2:
        return DICE.choice(ATOMS)
    inner = [expression(depth - 1) for _ in range(3)]
    return DICE.choice(
        [
            *3 * [f"{inner[0]} {DICE.choice(OPERATORS)} {inner[1]}"],
            f"({inner[0]})",
            f"({inner[0]}) ? {inner[1]} : {inner[2]}",
            f"{DICE.choice(FUNCTIONS)}({','.join(inner[: DICE.randint(1, 3)])})",
            f"{DICE.choice('!-~')}({inner[0]})",
        ]
    )


def show(*named):
    for name, what in named:
        try:
            found = what()
            print(name, type(found).__name__, repr(found))
        except Exception as error:
            print(name, type(error).__name__)


for _ in range(1000):
    text = expression(3)
    tree = ExprTree(text)
    print("#", text)
    show(
        ("repr", lambda: tree),  # noqa: B023
        ("str", lambda: str(tree)),  # noqa: B023
        ("alone", lambda: tree.eval()),  # noqa: B023
        ("mine", lambda: tree.eval(MINE)),  # noqa: B023
        ("both", lambda: tree.eval(MINE, OTHER)),  # noqa: B023
        ("simplified", lambda: tree.simplify(MINE, OTHER)),  # noqa: B023
        ("external", lambda: MINE.externalRefs(tree)),  # noqa: B023
        ("internal", lambda: MINE.internalRefs(tree)),  # noqa: B023
        ("json", lambda: ClassAd({"x": tree}).printJson()),  # noqa: B023
        ("old", lambda: ClassAd({"x": tree}).printOld()),  # noqa: B023
    )
for _ in range(1000):
    text = "\n".join(DICE.choices(LINES, k=DICE.randint(1, 6))) + DICE.choice(["", "\n"])
    print("#", repr(text))
    show(
        ("all", lambda: list(parseAds(text, Parser.Old))),  # noqa: B023
        ("one", lambda: parseOne(text, Parser.Old)),  # noqa: B023
        ("next", lambda: parseNext(text, Parser.Old)),  # noqa: B023
    )
