"""Ads in old and new syntax, JSON and XML, alone and many."""

from __future__ import annotations

from kettle.testing.fuzz.grammar import Grammar
from kettle.testing.fuzz.languages.expressions import EXPRESSION_RULES

_STRANGE = (
    "#",
    "x",
    "= 1",
    "a = ",
    "a = 1 +",
    "a b = 1",
    "*** Offset = 0 ClusterId = 1",
    "[",
    "a : 1",
)

OLD_ADS = Grammar(
    {
        **EXPRESSION_RULES,
        "ads": ("`lines`", "`lines``break``lines`", "`lines``break``lines``break``lines`"),
        "break": ("\n", "\n\n", " \n", "\r\n"),
        "lines": ("`line_end+`",),
        "line_end": ("`line``end`",),
        "end": ("\n", "\n", "\n", "\r\n", " \n"),
        "line": (*("`attribute``equals``expr`",) * 8, "# `string`", "`strange`", "MyType = \"Job\""),
        "attribute": ("`name`", "`name`", " `name`", "'q\\'x'", "é", "a.b", "1a", "true"),
        "equals": (" = ", " = ", "=", "\t=\t", "= "),
        "strange": _STRANGE,
    },
    "ads",
)  # fmt: skip

NEW_ADS = Grammar(
    {
        **EXPRESSION_RULES,
        "start": ("[`pairs`]", "[`pairs`]`gap`[`pairs`]", "{[`pairs`],[`pairs`]}", "`comment`[`pairs`]"),
        "pairs": ("`pair*`", "`pair*``last`", "`last`"),
        "pair": ("`key``gap`=`gap``expr`;`gap`", "`key` = `expr`; ", "`comment`", ";"),
        "last": ("`key` = `expr`", "`key` = `expr`;"),
        "key": ("`name`", "`name`", "'q x'", "'a\\'b'", "''", "é"),
        "comment": ("// c\n", "/* c */", "/* * / **/", "//\n", "/**/"),
    },
    "start",
)  # fmt: skip

_JSON_ESCAPES = (
    r"\n",
    r"\"",
    r"\\",
    r"\/",
    r"\u0041",
    r"\u00e9",
    r"\ud83d\ude00",
    r"\ud800",
    r"\u0000",
    r"\b",
)

JSON_ADS = Grammar(
    {
        **EXPRESSION_RULES,
        "start": ("`object`", "[`objects`]", "[`objects`]", "[]", "`object`\n`object`"),
        "objects": ("`more_object*``object`", "`object`", "`object`,"),
        "more_object": ("`object`,\n", "`object`,"),
        "object": ("{}", "{`members`}", "{ `members` }", "{`members`,}"),
        "members": ("`more_member*``member`", "`member`"),
        "more_member": ("`member`, ", "`member`,\n"),
        "member": ('"`json_key`": `value`', '"`json_key`":`value`'),
        "json_key": (*("a", "B", "Memory", "MyType", "x y", "é", ""), "`json_characters`"),
        "value": (
            *("`json_number`", '"`json_characters`"', "true", "false", "null", "`object`", "[`values`]"),
            *(r'"\/Expr(`json_expr`)\/"', r'"\/Expr(`json_expr`)\/"', r'"\\/Expr(`json_expr`)\\/"'),
            *(r'"/Expr(`json_expr`)/"', r'"\/Expr(`json_expr`)/"', r'"\u002fExpr(`json_expr`)\/"'),
            "`json_word`",
        ),
        "values": ("", "`value`", "`value`, `value`, `value`", "`value`,"),
        "json_number": ("0", "1", "-1", "2.5", "1e5", "-0.0", "1E+400", "9223372036854775808", "01", "1."),
        "json_word": ("True", "nul", "NaN", "Infinity", "undefined", "'a'"),
        "json_expr": ("a + 1", r"a =?= \"x\"", r"b.c[1]", r"size({1, 2})", "1 +", "", r"a)\/", r"{\"\\n\"}"),
        "json_characters": ("`json_character*`", "abc"),
        "json_character": (*"aZ é,:[]{}", *_JSON_ESCAPES),
    },
    "start",
)  # fmt: skip

XML_ADS = Grammar(
    {
        **EXPRESSION_RULES,
        "start": ("`head``classads`", "`head``classads`", "`c`", "`c`\n`c`"),
        "head": (
            "",
            '<?xml version="1.0"?>\n',
            '<?xml version="1.0"?>\n<!DOCTYPE classads SYSTEM "classads.dtd">\n',
            "<!-- c -->",
        ),
        "classads": ("<classads>\n`cs`</classads>\n", "<classads>`cs`", "<classads></classads>"),
        "cs": ("`c*`", "`c`\n`c`\n"),
        "c": ("<c>`as`</c>", "<c>\n`as`</c>", "<c>`as`", "<c/>"),
        "as": ("`a*`", "`a`\n`a`\n", ""),
        "a": ('<a n="`key`">`value`</a>', "<a n='`key`'>`value`</a>", '    <a n="`key`">`value`</a>', "<a>`value`</a>"),
        "key": ("a", "B", "Memory", "x y", "&lt;", "é", ""),
        "value": (
            *("<i>`integer`</i>", "<r>`real`</r>", "<s>`xml_characters`</s>", "<b v=\"`flag`\"/>"),
            *("<b v='`flag`'></b>", "<un/>", "<er/>", "<un></un>", "<e>`xml_expr`</e>", "<e>`xml_expr`</e>"),
            *("<l>`values`</l>", "<l/>", "<c>`as`</c>", "<at>2026-01-02T03:04:05+00:00</at>"),
            *("<rt>1+02:03:04</rt>", "<t>1</t>", "<zz>x</zz>", "", "text", "<s/>", "<i>x</i>"),
        ),
        "values": ("`value*`", "`value`\n`value`"),
        "flag": ("t", "f", "true", "false", "1", ""),
        "xml_expr": ("a + 1", "a &lt; 1 &amp;&amp; b", "strcat(&quot;x&quot;, a)", "1 +", "", "{1, 2}[0]", "a < 1"),
        "xml_characters": ("`xml_character*`", "a b"),
        "xml_character": (*"aZ é\"'\n", "&lt;", "&gt;", "&amp;", "&quot;", "&apos;", "&#65;", "&#x41;", "&nosuch;", "&", "<!-- c -->"),
    },
    "start",
)  # fmt: skip
