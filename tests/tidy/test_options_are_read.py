"""Every option that a tool's table takes does something, or is known to do nothing.

An option counts as read if its name stands as a string in the package of its table, other than in
the table itself, if it is the name of a field of the same module (`setattr`), or if the tools'
common reader (`options.py`) answers it. What does nothing is marked in its row (`ignored`).
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import kettle.tools

TOOLS = Path(kettle.tools.__file__).parent
# What `choose_option` and `with_debugging` answer for all tools.
COMMON = {"help", "version", "debug"}


def _rows(tree: ast.AST) -> Iterator[tuple[ast.Call, str]]:
    """Yield the calls that make the rows of a table, and the options' names."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or ast.unparse(node.func) != "Option" or not node.args:
            continue
        name = node.args[0]
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            yield node, name.value


def _strings(tree: ast.AST) -> set[str]:
    """Return the strings of a module that stand in no row of a table."""
    inside = {id(part) for call, _ in _rows(tree) for part in ast.walk(call)}
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside
    }


def _fields(tree: ast.AST) -> set[str]:
    """Return the fields of a module's classes: a tool may set them by the names of options."""
    return {
        node.target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }


def _is_ignored(row: ast.Call) -> bool:
    return any(word.arg == "ignored" for word in row.keywords)


def test_every_option_is_read_or_said_to_be_ignored() -> None:
    said: dict[Path, set[str]] = defaultdict(set)
    rows = []
    for path in sorted(TOOLS.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        said[path.parent] |= _strings(tree)
        rows += [(path, name, _is_ignored(row), _fields(tree)) for row, name in _rows(tree)]
    assert len(rows) > 200
    unread = [
        f"{path.relative_to(TOOLS)} -{name}"
        for path, name, ignored, fields in rows
        if not ignored and name not in COMMON | said[path.parent] | fields
    ]
    assert not unread, f"taken, and nothing looks at it: {unread}"
