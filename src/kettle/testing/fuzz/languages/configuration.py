"""Configuration files: every kind of statement, and macros of every kind within one another."""

from __future__ import annotations

from kettle.testing.fuzz.grammar import Grammar, Rules

_FUNCTIONS = (
    *("$INT(`macro_name`)", "$INT(`macro_name`,%`width`d)", "$INT(`number`*2)", "$REAL(`macro_name`)"),
    *("$REAL(`macro_name`,%.2f)", "$STRING(`macro_name`)", "$STRING(`macro_name`,%10s)", "$EVAL(`macro_name`)"),
    *("$CHOICE(`macro_name`,LIST)", "$CHOICE(1,x,y,z)", "$CHOICE(`number`,a,b)", "$SUBSTR(`macro_name`,`number`)"),
    *("$SUBSTR(`macro_name`,`number`,`number`)", "$ENV(HOME)", "$ENV(NOSUCH)", "$ENV(NOSUCH:`value`)"),
    *("$F(`macro_name`)", "$Fp(`macro_name`)", "$Fnx(`macro_name`)", "$Fdb(`macro_name`)", "$Fqa(`macro_name`)"),
    *("$BASENAME(`macro_name`)", "$DIRNAME(`macro_name`)", "$RANDOM_CHOICE(`macro_name`)", "$NOSUCH(`macro_name`)"),
    *("$RANDOM_INTEGER(1,1,1)", "$Fpnq(`macro_name`)", "$(DOLLAR)", "$$(`macro_name`)", "$$([ 1 + 1 ])"),
)  # fmt: skip

MACRO_RULES: Rules = {
    "value": ("`piece*`", "`piece`", "`piece`", "`piece` `piece`", "`piece` `piece+`"),
    "piece": (*("`word`",) * 3, "`number`", *("`macro`",) * 4, "`function`", "`strange`"),
    "word": ("x", "one", "a b", "/usr/lib", "dir/file.txt", "a,b,c", '"quoted"', "'single'", "true", "1 + 1", "x;y"),
    "number": ("0", "1", "-1", "2", "3.5", "10", "99999999999", "1e3", "0x10"),
    "width": ("", "3", "05", "-4", "+"),
    "macro": (
        *("$(`macro_name`)",) * 4,
        *("$(`macro_name`:`value`)", "$(`macro_name`:)", "$(`macro_name`", "$()", "$( `macro_name` )"),
        *("$($(`macro_name`))", "$(`macro_name`?)", "$(`macro_name`+)", "$(`macro_name`:$(`macro_name`))"),
    ),
    "macro_name": ("A", "B", "C", "D_1", "LIST", "PATH1", "lower", "NOSUCH", "SUB.A", "LOCAL.B"),
    "function": _FUNCTIONS,
    "strange": ("$", "$$", "\\", "#", "(", ")", ":", "=", "%", "@", "é", "\t", "'", '"'),
}  # fmt: skip
"""What values with macros are made of."""

CONFIGURATION_RULES: Rules = {
    **MACRO_RULES,
    "file": ("`line+`",),
    "line": ("`statement``end`",),
    "end": (*("\n",) * 8, "\n\n", "\r\n", " \n"),
    "statement": (
        *("`key``assign``value`",) * 10,
        *("`key` = `value` \\\n  `value`", "`key` = `value`\\\n`value`", "`key` = \\\n# c\n `value`"),
        *("# `value`", "  # c", "", "# c \\", "`if_block`", "`if_block`", "`heredoc`"),
        *("use `category`:`template`", "use `category` : `template`, `template`", "@use `category`:`template`"),
        *("warning : `value`", "error : `value`", "include : /nosuch", "include ifexist : /nosuch", "[`word`]"),
        "`odd`",
    ),
    "key": (*("`macro_name`",) * 5, "SUBSYS.`macro_name`", "a.b.c", "1A", "A B", "A-B", "$(A)", "+A", "-A"),
    "assign": (*(" = ",) * 5, "=", " =", " : ", " += ", " @= ", " ,,= ", "==", "+=", " ||= "),
    "if_block": (
        "if `condition`\n`file`endif",
        "if `condition`\n`file`else\n`file`endif",
        "if `condition`\n`file`elif `condition`\n`file`else\n`file`endif",
        *("if `condition`", "endif", "else", "elif `condition`"),
    ),
    "condition": (
        *("true", "false", "1", "0", "yes", "defined `macro_name`", "! defined `macro_name`", "$(`macro_name`)"),
        *("version >= 25.14", "version < 9.0.1", "version == 25", "!true", "`value`", "", "defined use FEATURE:GPUs"),
        "defined $(`macro_name`)",
    ),
    "heredoc": ("`macro_name` @=end\n`value`\n`value`\n@end", "`macro_name` @=x\n`file`@x", "`macro_name` @=end\n`value`"),
    "category": ("POLICY", "ROLE", "FEATURE", "SECURITY", "NOSUCH", "policy"),
    "template": ("Always_Run_Jobs", "Personal", "GPUs", "Desktop", "Hold_If(A, B)", "Nosuch", "PartitionableSlot(1, 50%)", ""),
    "odd": ("A", "A B", "= 1", "if", "use", "use POLICY", "include", "@end", "elif", "A =\\", ":", "@"),
}  # fmt: skip

CONFIGURATION = Grammar(CONFIGURATION_RULES, "file")
