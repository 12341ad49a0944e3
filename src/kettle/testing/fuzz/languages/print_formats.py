"""Print-format files."""

from __future__ import annotations

from kettle.testing.fuzz.grammar import Grammar
from kettle.testing.fuzz.languages.expressions import EXPRESSION_RULES

PRINT_FORMATS = Grammar(
    {
        **EXPRESSION_RULES,
        "start": ("SELECT`options`\n`columns``rest`", "# c\nSELECT`options`\n`columns``rest`", "`columns`", "SELECT"),
        "options": ("`spaced_option*`", ""),
        "spaced_option": (" `option`",),
        "option": (
            *("NOSUMMARY", "BARE", "NOTITLE", "NOHEADER", "UNIQUE", "FROM AUTOCLUSTER", "FROM", "LABEL", "x"),
            *('SEPARATOR "`string`"', "RECORDPREFIX `string`", 'FIELDSUFFIX "`characters`"', "FIELDPREFIX ("),
        ),
        "columns": ("`column_line*`",),
        "column_line": ("`column`\n",),
        "column": ("`expr``settings`", "`name``settings`", "  `name``settings`", "# c", "`name` `settings`"),
        "settings": ("`spaced_setting*`", " `setting`"),
        "spaced_setting": (" `setting`",),
        "setting": (
            *("AS `name`", 'AS "`string`"', "AS ''", "PRINTF `printf`", "PRINTF `printf`", "PRINTAS `renderer`"),
            *("WIDTH `width`", "WIDTH AUTO", "OR `or`", "NOPREFIX", "NOSUFFIX", "TRUNCATE", "LEFT", "RIGHT", "FIT"),
            *("AS", "PRINTF", "WIDTH", "OR", "x"),
        ),
        "printf": (
            *("%d", "%5d", "%-10s", "%v", "%.2f", "%T", "%V", "%s %s", "%", "%%", "%q", "%ld", "%05.3e", '"%s\\n"'),
            *("%*d", "%-", "%99999999999d", "%.99999999999f", "%c", "%x", "%i", "%u", "%llu", "%+d", "% d", "%#x"),
        ),
        "renderer": ("JOB_STATUS", "OWNER", "QDATE", "NOSUCH", "job_status", "BATCH_NAME", "MEMORY_USAGE"),
        "width": ("1", "-5", "10", "0", "9999", "99999999999999999999", "x", "-", "5.5"),
        "or": ("?", "??", "-", "*", "", '"a b"', "é"),
        "rest": (
            "",
            *("WHERE `expr`\n`rest`", "GROUP BY `name`\n`rest`", "GROUP BY\n`name` DESCENDING\n`name`\n"),
            *("SUMMARY STANDARD\n", "SUMMARY NONE\n", "SUMMARY\n", "WHERE\n", "GROUP\n", "SELECT\n`columns`"),
        ),
    },
    "start",
)  # fmt: skip
