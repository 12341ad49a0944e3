"""Expressions: every operator, every function by its table, and each kind of argument."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kettle.classad.functions.library import families
from kettle.testing.fuzz.grammar import Grammar, Rules

_NAMES = ("a", "B", "Memory", "Cpus", "d", "x_1", "nested", "list", "'x y'", "ERRORS", "undefinedX")
_REALS = ("0.0", "1.5", "-2.25", "1e3", "1E-5", "1e400", "5e-324", ".5", "3.", "123456789.125")
_STRINGS = (
    "",
    "a",
    "abc",
    "A b,c",
    "1",
    "2.5",
    "true",
    "a=1;b=2",
    "é",
    "x@y",
    "1+02:03:04",
    "v1.2",
)
_ESCAPES = (r"\n", r"\"", r"\\", r"\t", r"\101", r"\7", r"\x41", r"\'", r"\0", r"\/", r"\400", "'")
_INTEGERS = (
    *("0", "1", "2", "3", "-1", "7", "10", "255", "1024", "86400", "1700000000"),
    *("9223372036854775807", "-9223372036854775808", "9223372036854775808", "99999999999999999999"),
    *("010", "0x1F", "1K"),
)
_OPERATORS = (
    *("+", "-", "*", "/", "%", "==", "!=", "=?=", "=!=", "<", "<=", ">", ">=", "is", "isnt"),
    *("&&", "||", "&", "|", "^", "<<", ">>", ">>>", "&&", "||", "==", "+"),
)
_PATTERNS = (
    *(
        "a",
        "^a",
        "b$",
        "[a-c]+",
        "(a)(b)?",
        "a|b",
        "",
        ".",
        "^$",
        r"\\d+",
        r"\\w*",
        "(?i)A",
        "[[:alpha:]]",
    ),
    *("(", "[", "a{2}", "(a*)*b", r"\\1"),
)
_FUNCTIONS = tuple(row.name for rows in families().values() for row in rows)
# A literal of an example of a function, and what may stand in its place.
_LITERAL = re.compile(r'("(?:[^"\\]|\\.?)*+"?)|(?<![\w.])(\d+\.\d+)|(?<![\w.])(\d+)(?![\w.])')
_IN_PLACE = ("", "`text`", "`number`", "`integer`")


def _calls() -> Iterator[str]:
    """Yield each example of a function as it stands, and with other values of the same kinds.

    So that arguments are not always of the wrong kind, whatever functions there are.
    """
    for example in (
        text for rows in families().values() for row in rows for text, _ in row.examples
    ):
        yield example
        yield _LITERAL.sub(lambda found: _IN_PLACE[found.lastindex or 0], example)


# Calls with what only some functions take.
_SPECIAL = (
    *("sum(`numbers`)", "avg(`numbers`)", "min(`numbers`)", "max(`numbers`)", "quantize(`number`, `numbers`)"),
    *("size(`listed`)", "join(`text`, `listed`)", "join(`listed`)", "listToArgs(`listed`)"),
    *("member(`literal`, `listed`)", "identicalMember(`literal`, `listed`)"),
    *('anyCompare("`relation`", `listed`, `literal`)', 'allCompare("`relation`", `listed`, `literal`)'),
    *("int(`literal`)", "real(`literal`)", "bool(`literal`)", "string(`expr`)", "unparse(`name`)"),
    *("ifThenElse(`expr`, `expr`, `expr`)", "eval(`text`)", 'eval("`expression_text`")', "unresolved(`name`)"),
    *("isUndefined(`expr`)", "isError(`expr`)", "isString(`expr`)", "isInteger(`expr`)", "isReal(`expr`)"),
    *("isBoolean(`expr`)", "isList(`expr`)", "isClassAd(`expr`)", "isAbsTime(`time`)", "isRelTime(`time`)"),
    *("regexp(`pattern`, `text`)", 'regexp(`pattern`, `text`, "`letters`")'),
    *('regexps(`pattern`, `text`, `filling`)', 'regexpMember(`pattern`, `listed`, "`letters`")'),
    *('replace(`pattern`, `text`, `filling`, "`letters`")', "replaceAll(`pattern`, `text`, `filling`)"),
    "stringList_regexpMember(`pattern`, `text`)",
    *("splitTime(`time`)", 'formatTime(`integer`, "`format`")', "getYear(`time`)", "getDays(`time`)"),
    *("getHours(`time`)", "getMinutes(`time`)", "getSeconds(`time`)", "getMonth(`time`)", "getDayOfWeek(`time`)"),
    *("evalInEachContext(`expr`, `ads`)", "countMatches(`expr`, `ads`)"),
)  # fmt: skip
_TYPED = (*_calls(), *_SPECIAL)
_TIMES = (
    *("absTime(`integer`)", 'absTime("2026-01-02T03:04:05+01:00")', 'absTime("20260102T030405Z")'),
    *(
        "relTime(`number`)",
        'relTime("1+02:03:04")',
        'relTime("02:03")',
        "absTime(`integer`, `integer`)",
    ),
    *("`time` - `time`", "`time` + `integer`"),
)

EXPRESSION_RULES: Rules = {
    "expr": (
        *("`primary`",) * 3,
        *("`expr` `operator` `expr`",) * 4,
        *("`expr`?`expr`:`expr`", "`expr` ? `expr` : `expr`", "`expr` ?: `expr`"),
        "`expr``gap``operator``gap``expr`",
    ),
    "operator": _OPERATORS,
    "gap": ("", " ", "\t", "  ", " /* c */ "),
    "primary": (
        *("`literal`",) * 4,
        *("`name`",) * 3,
        *("MY.`plain`", "TARGET.`plain`", "PARENT.`plain`", ".`plain`", "(`expr`)", "(`expr`)"),
        *("-`primary`", "+`primary`", "!`primary`", "~`primary`", "`primary`.`plain`"),
        *("`primary`[`expr`]", "`listed`[`integer`]", "`listed`", "`ad`", *("`call`",) * 4),
        "`time`",
    ),
    "name": _NAMES,
    "plain": ("a", "B", "Memory", "Cpus", "d", "x_1", "nested", "list"),
    "literal": ("`number`", "`integer`", "`text`", "`text`", "true", "FALSE", "undefined", "error"),
    "number": ("`integer`", "`real`"),
    "integer": _INTEGERS,
    "real": _REALS,
    "text": ('"`string`"', '"`characters`"'),
    "string": _STRINGS,
    "characters": ("`character*`", "`string``character*`"),
    "character": (*"abz ,.:;@#$%", *_ESCAPES),
    "pattern": ('"`pattern_text`"',),
    "pattern_text": _PATTERNS,
    "letters": ("", "i", "m", "s", "x", "f", "g", "ig", "q"),
    "filling": (r'"\\0"', r'"\\1-\\2"', '"x"', '""', r'"\\9"'),
    "relation": ("<", "<=", "==", "!=", ">", ">=", "=?=", "is", "isnt", "is not", ""),
    "format": ("%Y-%m-%d", "%H:%M:%S", "%s", "%j %U", "%%", "%", "%q", "%c"),
    "listed": ("{`exprs`}", "{}", "list", "{`literal`, `literal`}"),
    "numbers": ("{`number`, `number`}", "{}", "{`number`}", "{`number`, `literal`}", "list"),
    "exprs": ("`expr`", "`expr`, `exprs`"),
    "ad": ("[]", "[`pairs`]", "nested"),
    "ads": ("{`ad`, `ad`}", "{`ad`}", "{}", "`listed`"),
    "pairs": ("`name` = `expr`", "`name` = `expr`; `pairs`", "`name`=`expr`;"),
    "call": ("`function`()", "`function`(`exprs`)", *("`typed`",) * 8, "nosuch(`exprs`)"),
    "function": _FUNCTIONS,
    "typed": _TYPED,
    "time": _TIMES,
    "expression_text": ("1 + 1", "`name`", "a + Memory", "{1, 2}[1]", "1 +", ""),
}
"""What an expression is made of; other languages have them within theirs."""

EXPRESSIONS = Grammar(EXPRESSION_RULES, "expr")
