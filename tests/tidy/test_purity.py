"""Only shells touch files, sockets, processes, clock, environment and randomness.

The linter bans what it can name in an import; this reads the code for the rest: calls of `open`,
functions of `os` that ask or change the system, sources of randomness, the loop.
"""

from __future__ import annotations

import ast
import re

import pytest

import code_shape

# Where the system may be touched: whole rooms, and the shell of each daemon.
SHELL = re.compile(
    r"(runtime|client|compat|pool|tools|testing)/|\w+/((service|__main__)\.py$|services/)|__init__\.py$"
)
MODULES = {
    "asyncio",
    "fcntl",
    "glob",
    "grp",
    "multiprocessing",
    "pathlib",
    "psutil",
    "pwd",
    "secrets",
    "select",
    "selectors",
    "shutil",
    "socket",
    "subprocess",
    "tempfile",
    "threading",
    "urllib.request",
    "uvloop",
}
# Names of values and of pure functions; everything else in `os` asks the system something.
PURE_OS = re.compile(
    r"path\.(join|basename|dirname|normpath|isabs|split|splitext|commonpath|relpath)$"
    r"|(sep|pathsep|linesep|devnull|fspath|fsencode|fsdecode|strerror|path|stat_result)$"
    r"|(O|SEEK|W|EX|R|F|X|PRIO|SCHED|POSIX)_\w+$|W[A-Z]+$|waitstatus_to_exitcode$"
)
CLOCKS = {"time.time", "time.monotonic", "time.perf_counter", "time.sleep", "time.time_ns"}
CHANCE = re.compile(r"random\.(?!Random$)\w+$|uuid\.uuid[14]$")


def dotted(node: ast.AST) -> str:
    """Return an attribute's full name, empty if it hangs on something computed."""
    if isinstance(node, ast.Attribute):
        inner = dotted(node.value)
        return f"{inner}.{node.attr}" if inner else ""
    return node.id if isinstance(node, ast.Name) else ""


def impurities(tree: ast.Module) -> list[str]:
    """Return what in a module touches the world, with its lines."""
    found = []
    inside = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [f"{node.lineno} {a.name}" for a in node.names if a.name in MODULES]
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
            found.append(f"{node.lineno} {node.module}")
        elif isinstance(node, ast.Call) and (name := dotted(node.func)) in {
            "open",
            "input",
            "random.Random",
        }:
            # A generator made from an argument is the caller's choice; one without is the system's.
            if name != "random.Random" or not node.args:
                found.append(f"{node.lineno} {name}()")
        elif isinstance(node, ast.Attribute) and id(node) not in inside:
            name = dotted(node)
            asks = name.startswith("os.") and not PURE_OS.match(name[3:])
            if asks or name in CLOCKS or CHANCE.match(name):
                found.append(f"{node.lineno} {name}")
    return found


def test_only_shells_touch_the_world() -> None:
    impure = {}
    for module in code_shape.modules():
        if not SHELL.match(module.name) and (found := impurities(module.tree)):
            impure[module.name] = found
    assert impure == {}


@pytest.mark.parametrize(
    "line",
    [
        "open('x')",
        "os.stat('x')",
        "os.path.exists('x')",
        "os.urandom(3)",
        "f(os.urandom)",
        "time.time()",
        "random.random()",
        "random.Random()",
        "import shutil",
        "from secrets import token_bytes",
        "import asyncio",
    ],
)
def test_the_gate_sees(line: str) -> None:
    assert impurities(ast.parse(line))


@pytest.mark.parametrize(
    "line",
    ["os.path.join(a, b)", "os.O_RDONLY", "file.open()", "random.Random(seed)", "os.sep", "x.time"],
)
def test_the_gate_lets_pass(line: str) -> None:
    assert not impurities(ast.parse(line))
