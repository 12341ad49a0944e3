"""What functions make of arguments that are missing, unknown or of another type."""

import itertools

try:  # With this module loaded the wheel evaluates as the daemons do; without, as strict ads.
    import htcondor2
except ImportError:
    pass

import classad2

VALUES = ["undefined", "error", "true", "1", "2.5", '"a"', '""', "{}", '{"a",undefined}', "[b=1]"]
# What is called with three arguments, too.
THREE = """join substr regexp regexpMember regexps replace replaceAll anyCompare allCompare ifThenElse
version_in_range stringListMember stringListIMember stringListSubsetMatch stringListISubsetMatch
stringListsIntersect stringList_regexpMember userMap strcat""".split()
TWO = """abs acos absTime avg bool ceiling countMatches envV1ToV2 eval evalInEachContext floor getDays
getYear identicalMember inDays int interval isAbsTime isBoolean isClassAd isError isInteger isList
isReal isRelTime isString isUndefined listToArgs argsToList max member mergeEnvironment min pow
quantize real relTime round size split splitSlotName splitTime splitUserName strcmp stricmp string
stringListAvg stringListMax stringListMin stringListSize stringListSum sum toLower toUpper unparse
unresolved versioncmp versionEQ versionGE versionGT versionLE versionLT formatTime""".split()
# The wheel raises an exception where these have another number of arguments.
ONLY_RIGHT = {"userHome": (1, 2), "unresolved": (1,)}
LETTERS = {bool: "b", int: "i", float: "r", str: "s", list: "l"}


def letter(text: str) -> str:
    """Return what kind of value the expression has; texts and numbers are shown where short."""
    value = classad2.ExprTree(text).eval(classad2.ClassAd("[s = 1]"))
    if value is classad2.Value.Undefined:
        return "U"
    if value is classad2.Value.Error:
        return "E"
    if isinstance(value, bool):
        return "T" if value else "F"
    return LETTERS.get(type(value), "o")


def show(name: str, number: int) -> None:
    """Print a line for each beginning of the arguments, with a letter for each last one."""
    for first in itertools.product(VALUES, repeat=max(number - 1, 0)):
        lasts = VALUES if number else [None]
        calls = [f"{name}({','.join([*first, *([last] if last else [])])})" for last in lasts]
        if name in ("absTime", "relTime"):
            # A text alone is read where it is parsed.
            calls = [call for call in calls if '("' not in call or number > 1]
        print(f"{name}({','.join(first)}", "".join(map(letter, calls)))


for function in [*THREE, *TWO, "userHome"]:
    numbers = ONLY_RIGHT.get(function, (0, 1, 2, 3) if function in THREE else (0, 1, 2))
    for number in numbers:
        if function not in ("absTime", "formatTime") or number:
            show(function, number)
