"""Which lines of a text read a clock, whatever they call it: by its syntax, without running it.

Names are followed through imports, with or without `as`, through assignments of one name, and
through `getattr` and `import_module` with a word. Limit: what is handed over as an argument, or is
text for another process, is not seen.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

# Clocks of the processor, and the one that is read for nothing but differences.
SPEED = {
    *("time.process_time", "time.process_time_ns", "time.perf_counter", "time.perf_counter_ns"),
    *("time.thread_time", "time.thread_time_ns", "os.times", "resource.getrusage"),
}
# How long something really takes.
PASSING = {
    *("time.monotonic", "time.monotonic_ns", "time.clock_gettime", "time.clock_gettime_ns"),
    "loop.time",
}
# What date it is.
DATES = {
    *("time.time", "time.time_ns", "datetime.now", "datetime.utcnow", "datetime.today"),
    *("date.today", "time.localtime", "time.gmtime", "time.ctime", "time.asctime", "time.strftime"),
}
_ALL = SPEED | PASSING | DATES
_MODULES = {"time", "os", "resource", "datetime"}
# What an alias may stand for besides a clock.
_MADE_OF = _MODULES | {"loop", "datetime.datetime", "datetime.date"}
# How many arguments say of which moment; with fewer it is the present one.
_MOMENT_IS = {
    "time.localtime": 1,
    "time.gmtime": 1,
    "time.ctime": 1,
    "time.asctime": 1,
    "time.strftime": 2,
}
_MANY = 1 << 10
# What is not called reads nothing that has a moment, and may read any other clock elsewhere.
_NOT_CALLED = _MANY - 1


def find_readings(text: str, clocks: set[str]) -> list[int]:
    """Return the lines that read one of these clocks, or take one from its module."""
    nodes = list(ast.walk(ast.parse(text)))
    names = _names(nodes)
    given = {
        id(node.func): len(node.args) + len(node.keywords)
        for node in nodes
        if isinstance(node, ast.Call)
    }
    words = {clock.partition(".")[2] for clock in clocks}
    found = set()
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            if any(_is_taken(clock, node, name) for clock in clocks for name in node.names):
                found.add(node.lineno)
        elif isinstance(node, ast.Attribute | ast.Name | ast.Call) and _may_be(node, names, words):
            clock = _last_two(_resolve(node, names))
            if clock in clocks and given.get(id(node), _NOT_CALLED) < _MOMENT_IS.get(clock, _MANY):
                found.add(node.lineno)
    return sorted(found)


def _may_be(node: ast.expr, names: dict[str, str], words: set[str]) -> bool:
    """Tell whether something is worth a closer look: most of a text is none of it."""
    match node:
        case ast.Attribute(attr=word, ctx=ast.Load()):
            return word in words
        case ast.Name(id=name, ctx=ast.Load()):
            return name in names
        case ast.Call(func=ast.Name(id="getattr")):
            return True
        case _:
            return False


def _is_taken(clock: str, node: ast.ImportFrom, taken: ast.alias) -> bool:
    module, _, own = clock.partition(".")
    # One that is told the moment where it is used may be none.
    return (
        module == node.module
        and module in _MODULES
        and (taken.name == "*" or (taken.name == own and clock not in _MOMENT_IS))
    )


def _names(nodes: Sequence[ast.AST]) -> dict[str, str]:
    """Return what the names of a text stand for, wherever they are given."""
    names: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for each in node.names:
                top = each.name.partition(".")[0]
                names[each.asname or top] = each.name if each.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module in _MODULES:
            for each in node.names:
                names[each.asname or each.name] = f"{node.module}.{each.name}"
    # An assignment may stand before what it is an alias of.
    for _ in range(3):
        names |= dict(_assigned(nodes, names))
    return names


def _assigned(nodes: Sequence[ast.AST], names: dict[str, str]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        pairs: list[tuple[ast.expr, ast.expr]] = []
        if isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            pairs = [(node.target, node.value)]
        for target, value in pairs:
            meant = _resolve(value, names)
            if isinstance(target, ast.Name) and (meant in _MADE_OF or _last_two(meant) in _ALL):
                yield target.id, meant


def _resolve(node: ast.expr, names: dict[str, str]) -> str:
    """Return the dotted name of what an expression is; empty for what has none."""
    if isinstance(node, ast.Name):
        return names.get(node.id, "loop" if node.id.endswith("loop") else node.id)
    if isinstance(node, ast.Attribute):
        if node.attr.endswith("loop"):
            return "loop"
        return f"{_resolve(node.value, names)}.{node.attr}"
    if not isinstance(node, ast.Call):
        return ""
    called = _resolve(node.func, names).rpartition(".")[2]
    if called == "loop":
        # As get_running_loop() and its kin.
        return "loop"
    values = (each.value for each in node.args if isinstance(each, ast.Constant))
    words = [value for value in values if isinstance(value, str)]
    if called in {"import_module", "__import__"} and words:
        return words[0]
    if called == "getattr" and words:
        return f"{_resolve(node.args[0], names)}.{words[0]}"
    return ""


def _last_two(name: str) -> str:
    return ".".join(name.split(".")[-2:])
