"""Submit files: every command by its table, and every form of the queue statement."""

from __future__ import annotations

from kettle.submit.registry import all_commands
from kettle.testing.fuzz.grammar import Grammar, Rules
from kettle.testing.fuzz.languages.configuration import CONFIGURATION_RULES
from kettle.testing.fuzz.languages.expressions import EXPRESSION_RULES

_COMMANDS = tuple(command.name for command in all_commands())
_TYPED = (
    *("arguments = `value`", 'arguments = "`word` \'`word` `word`\' ""`word`"""', "environment = `word`=`value`;B=2"),
    *("environment = \"A=`word` B='`word` `word`'\"", "request_memory = `number` `unit`", "request_disk = `number``unit`"),
    *("request_cpus = `number`", "request_gpus = `number`", "requirements = `expr`", "rank = `expr`"),
    *("transfer_input_files = `word`, items, $(Item)", "transfer_output_files = a, b", "output = out.$(Process)"),
    *('transfer_output_remaps = "a = b; c = d"', "universe = `universe`", "universe = `universe`", "+`attribute` = `expr`"),
    *("MY.`attribute` = `expr`", "periodic_hold = `expr`", "on_exit_remove = `expr`", "priority = `number`"),
    *("notification = `notification`", "should_transfer_files = `choice`", "when_to_transfer_output = `when`"),
    *("max_retries = `number`", "deferral_time = `expr`", "cron_minute = `number`", "initialdir = `word`", "log = `value`"),
    *("concurrency_limits = `word`:`number`", "job_lease_duration = `number`", "kill_sig = `word`", "hold = `choice`"),
    *("getenv = `word`", "getenv = true", "accounting_group = `word`", "max_materialize = `number`", "leave_in_queue = `expr`"),
    *("executable = `word`", "transfer_executable = false", "container_image = `word`.sif", "docker_image = `word`"),
)  # fmt: skip

SUBMIT_RULES: Rules = {
    **EXPRESSION_RULES,
    **CONFIGURATION_RULES,
    "number": (*CONFIGURATION_RULES["number"], "$(Process)", "$(A)"),
    "start": ("executable = job.sh\n`commands``queue`\n", "`commands``queue`\n`commands``queue`\n", "`file``queue`\n"),
    "commands": ("`command_line*`",),
    "command_line": ("`command`\n",),
    "command": (*("`typed_command`",) * 6, *("`any_command` = `setting`",) * 4, "`statement`", "`macro_name` = `value`"),
    "typed_command": _TYPED,
    "any_command": _COMMANDS,
    "setting": ("`value`", "`number`", "true", "false", "`expr`", '"`word`"', ""),
    "unit": ("", "K", "KB", "M", "MB", "GB", "T", "GiB", "x", " G"),
    "universe": ("vanilla", "local", "scheduler", "grid", "java", "parallel", "docker", "container", "vm", "5", "nosuch", "standard"),
    "attribute": ("Mine", "Foo", "'q x'", "Requirements", "JobPrio"),
    "notification": ("never", "Always", "error", "complete", "1"),
    "choice": ("YES", "no", "IF_NEEDED", "true", "1", "x"),
    "when": ("ON_EXIT", "on_exit_or_evict", "ON_SUCCESS", "x"),
    "queue": (
        *("queue", "queue", "queue `count`", "queue `count`", "Queue `count`", "queue `count` in (`items`)"),
        *("queue `variables` in (`items`)", "queue `count` `variables` in `slice` (`items`)", "queue in (`items`)"),
        *("queue `variables` from items", "queue `count` `variables` from `slice` items", "queue from nosuch"),
        *("queue `variables` from (\n`rows`)", "queue `variables` in (\n`rows`\n)", "queue `variables` from `slice` (\n`rows`)"),
        *("queue matching *.sh", "queue matching files `slice` *.sh, items", "queue matching dirs (*)", "queue `variables` matching any (`items`)"),
        *("queue `count` `count`", "queue (`items`", "queue `variables` from (", "queue `value`", "queue $(B)", ""),
    ),
    "count": ("0", "1", "2", "3", "-1", "1.5", "x", "$(A)", "$INT(B)", "(1+1)", "99999999999"),
    "variables": ("x", "x,y", "x, y", "Item", "x y", "x,,y", "1x", ""),
    "slice": ("[1:2]", "[:]", "[::2]", "[-1:]", "[1]", "[0:0]", "[::-1]", "[", "[a]", "[ 1 : 2 ]"),
    "items": ("a", "a b", "a, b", "a,b,c", "", "'a b' c", "`value`", "$(A) b", "a\x1fb"),
    "rows": ("`row*`",),
    "row": ("a b\n", "a, b\n", "`value`\n", "# c\n", "\n", "a\x1fb c\n"),
}  # fmt: skip

SUBMIT = Grammar(SUBMIT_RULES, "start")
