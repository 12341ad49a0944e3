"""Transforms: the statements of the native language, and the old form, which is an ad."""

from __future__ import annotations

from kettle.testing.fuzz.grammar import Grammar
from kettle.testing.fuzz.languages.configuration import CONFIGURATION_RULES
from kettle.testing.fuzz.languages.expressions import EXPRESSION_RULES

_PATTERNS = ("^(M)(.*)$", ".*", "Type", "(", "^$", "a|b", "[A-Z]+", "(.)(.)(.)", "^C.*Id$", "")

_RULES = {
    **EXPRESSION_RULES,
    **CONFIGURATION_RULES,
    "start": ("`rule`", "`rule`", "`rule`", "`rule`TRANSFORM `iteration`\n", "TRANSFORM `iteration`\n"),
    "rule": ("`rule_line+`",),
    "rule_line": ("`rule_statement`\n",),
    "rule_statement": (*("`change`",) * 8, "`macro_name` = `value`", "`if_rule`", "`heredoc`", "# c", "", "`strange_line`"),
    "change": (
        *("SET `target` `right`", "SET `target` `right`", "DEFAULT `target` `right`", "EVALSET `target` `right`"),
        *("EVALMACRO `macro_name` `right`", "COPY `target` `target`", "COPY /`match`/`flags` `template`"),
        *("RENAME `target` `target`", "RENAME /`match`/`flags` `template`", "DELETE `target`", "DELETE /`match`/`flags`"),
        *("REQUIREMENTS `expr`", "NAME `value`", "UNIVERSE `value`", "set `target` = `right`", "SET `target`, `right`"),
    ),
    "if_rule": ("if `rule_condition`\n`rule`endif", "if `rule_condition`\n`rule`else\n`rule`endif", "endif", "if"),
    "rule_condition": ("`condition`", "defined MY.`target`", "$(MY.ClusterId)", "defined MY.Nosuch"),
    "target": ("A", "B", "MyType", "ClusterId", "Requirements", "x y", "$(A)", "/", "TARGET.A", "MY.A", "1a"),
    "right": ("`expr`", "`expr`", '"`value`"', "`value`", "$(MY.ClusterId) + 1", '"$(MY.MyType)"', ""),
    "match": _PATTERNS,
    "flags": ("", "i", "g", "m", "U", "ig", "x"),
    "template": (r"\1", r"X\2\1", r"\0_old", r"\9", "New", "", r"\\", "a b"),
    "iteration": ("", "2", "`variables` in (a, b)", "`variables` from (\na b\nc d\n)", "x from items", "2 x in (a", "-1", "x"),
    "variables": ("x", "x,y", "Item", ""),
    "strange_line": ("SET", "SET A", "FOO A 1", "COPY /a A", "DELETE", "REQUIREMENTS", "TRANSFORM x", "SET A =", "@"),
}  # fmt: skip

TRANSFORMS = Grammar(_RULES, "start")

_ROUTE_RULES = {
    **EXPRESSION_RULES,
    "start": ("[`route`]", "[ `route` ]", "[`route`][`route`]", "[`route`] \n[`route`]"),
    "route": ("`entries*``entry`",),
    "entries": ("`entry`; ", "`entry`;\n"),
    "entry": (
        *('Name = "`string`"', "Requirements = `expr`", "set_`target` = `expr`", "eval_set_`target` = `expr`"),
        *('copy_`target` = "`target`"', "delete_`target` = `flag`", "TargetUniverse = `integer`", "`name` = `expr`"),
        *('GridResource = "`string`"', "MaxJobs = `number`", "set_`target` = `text`", "copy_`target` = `expr`"),
        *("OverrideRoutingEntry = true", "EditJobInPlace = `flag`", "UseSharedX509UserProxy = `expr`"),
    ),
    "target": ("A", "B", "MyType", "ClusterId", "requirements", "x"),
    "flag": ("true", "false", "1", "`expr`"),
}  # fmt: skip

OLD_ROUTES = Grammar(_ROUTE_RULES, "start")
