"""Daemons know which of their modules are imported in functions, and import them in time."""

from __future__ import annotations

import ast
import subprocess
import sys

import code_shape
from kettle.runtime.process.late import LATE

# Rooms that no daemon lives in: tools are programs of a moment, what others import, what tests use.
_OTHERS = frozenset({"tools", "client", "compat", "pool", "testing"})


def _imports_in_functions() -> set[tuple[str, str]]:
    found = set()
    for module in code_shape.modules():
        name = module.dotted
        if name.endswith("__main__") or _OTHERS & {*name.split(".")[1:2]}:
            continue
        for function in ast.walk(module.tree):
            if isinstance(function, code_shape.FUNCTIONS):
                found |= {(name, imported) for imported in _imported(function)}
    return found


def _imported(function: ast.AST) -> set[str]:
    names = set()
    for node in ast.walk(function):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kettle"):
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                names.add(whole if _is_module(whole) else str(node.module))
    return names


def _is_module(name: str) -> bool:
    path = code_shape.SOURCE.parent.joinpath(*name.split("."))
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def test_the_list_is_as_the_code_has_it() -> None:
    assert set(LATE) == _imports_in_functions()


def test_a_daemon_keeps_the_code_of_what_brings_a_large_library() -> None:
    """It is run when it is wanted, and nothing of ours is read from the disk then."""
    script = (
        "import sys, kettle.negotiator.service\n"
        "from kettle.runtime.process.late import import_one\n"
        "for _ in iter(import_one, False): pass\n"
        "print('numpy' in sys.modules)\n"
        "import numpy, numpy.typing\n"
        "opened = []\n"
        "sys.addaudithook(lambda event, given: event == 'open' and opened.append(str(given[0])))\n"
        "from kettle.matchmaking.wide_search import WideSearch\n"
        "from kettle.matchmaking.columns import Columns\n"
        "print([name for name in opened if 'kettle' in name], Columns.__module__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n[] kettle.matchmaking.columns\n"


def test_nothing_is_left_to_import() -> None:
    script = (
        "import sys, kettle.runtime.daemon, kettle.startd.service\n"
        "from kettle.runtime.process.late import LATE, import_all\n"
        "import_all()\n"
        "assert 'kettle.classad.compile' in sys.modules\n"
        "print([l for i, l in LATE if i in sys.modules and l not in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
