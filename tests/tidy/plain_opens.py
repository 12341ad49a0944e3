"""Finds in a module what opens a file in a way that can wait for ever, as a pipe's opening does.

Read from the syntax tree. Flags are followed through the assignments of their function and module.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from code_shape import FUNCTIONS

# With these nobody waits: a pipe is opened at once, refused, or was not there.
AT_ONCE = {"AT_EASE", "O_NONBLOCK", "O_PATH", "O_DIRECTORY", "O_EXCL"}
# Takes flags, or has them itself.
WITH_FLAGS = {"os.open": 1, "open_inside": 2}
OPENERS = {*WITH_FLAGS, "open_regular", "open_to_read", "open_as_meant", "require_regular"}
TEXTS = {"read_text", "write_text", "read_bytes", "write_bytes", "read_small"}
# The kernel's own files, and those of the machine.
TRUSTED = ("/proc/", "/sys/", "/etc/", "/dev/null")


def plain_opens(tree: ast.Module) -> dict[str, int]:
    """Return the functions with such calls (by name, with the class), and how many."""
    found: dict[str, int] = {}
    for name, scope in _scopes(tree, ""):
        assigned = _assigned(tree.body) | _assigned(scope)
        plain = sum(
            _is_plain(call, assigned)
            for statement in scope
            for call in _walk(statement)
            if isinstance(call, ast.Call)
        )
        if plain:
            found[name] = found.get(name, 0) + plain
    return found


def _scopes(node: ast.AST, prefix: str) -> Iterator[tuple[str, list[ast.AST]]]:
    """Yield the functions of a module; what is in none is `<module>`."""
    body = list(ast.iter_child_nodes(node))
    yield prefix or "<module>", [each for each in body if not isinstance(each, _PARTS)]
    for part in _parts(body):
        yield from _scopes(part, f"{prefix}.{part.name}" if prefix else part.name)


_PARTS = (*FUNCTIONS, ast.ClassDef)


def _parts(body: list[ast.AST]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    for each in body:
        if isinstance(each, _PARTS):
            yield each
        else:
            yield from _parts(list(ast.iter_child_nodes(each)))


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what is in a statement, but not what is in functions in it."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, _PARTS):
            yield from _walk(child)


def _assigned(body: list[ast.stmt] | list[ast.AST]) -> dict[str, list[ast.expr]]:
    """Return what is given to each name."""
    values: dict[str, list[ast.expr]] = {}
    for statement in body:
        for node in _walk(statement) if not isinstance(statement, _PARTS) else ():
            targets: list[ast.expr] = []
            if isinstance(node, ast.Assign):
                targets = node.targets
            elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
                targets = [node.target]
            for target in targets:
                if isinstance(target, ast.Name) and node.value is not None:  # type: ignore[attr-defined]
                    values.setdefault(target.id, []).append(node.value)  # type: ignore[attr-defined]
    return values


def _names(node: ast.AST, assigned: dict[str, list[ast.expr]], left: int = 4) -> set[str]:
    """Return the names in an expression, and in what is given to those."""
    names: set[str] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute):
            names.add(each.attr)
        elif isinstance(each, ast.Name):
            names.add(each.id)
            for value in assigned.get(each.id, ()) if left else ():
                names |= _names(value, assigned, left - 1)
    return names


def _is_plain(call: ast.Call, assigned: dict[str, list[ast.expr]]) -> bool:
    name = _dotted(call.func)
    if name.startswith("Path.") and isinstance(call.func, ast.Attribute):
        # Path(path).open() and its like.
        return name.partition(".")[2] in {"open", *TEXTS} and not _is_path_trusted(call.func.value)
    if not call.args or _is_trusted(call.args[0]):
        return False
    if name in WITH_FLAGS:
        at = WITH_FLAGS[name]
        return len(call.args) > at and not _names(call.args[at], assigned) & AT_ONCE
    if name == "open":
        return not _is_open(call, assigned)
    owner, _, last = name.rpartition(".")
    # Those of kettle.runtime.storage.files are at ease.
    return last in TEXTS and not owner.lower().endswith("files")


def _is_open(call: ast.Call, assigned: dict[str, list[ast.expr]]) -> bool:
    """Whether what `open` is given has been opened before."""
    first = call.args[0]
    if isinstance(first, ast.Constant) and isinstance(first.value, int):
        return True
    values = assigned.get(first.id, []) if isinstance(first, ast.Name) else [first]
    return any(isinstance(value, ast.Call) and _dotted(value.func) in OPENERS for value in values)


def _is_path_trusted(made: ast.expr) -> bool:
    return isinstance(made, ast.Call) and bool(made.args) and _is_trusted(made.args[0])


def _is_trusted(path: ast.expr) -> bool:
    if isinstance(path, ast.JoinedStr) and path.values:
        path = path.values[0]
    if isinstance(path, ast.Constant) and isinstance(path.value, str):
        return path.value.startswith(TRUSTED)
    return _dotted(path) == "os.devnull"


def _dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    if isinstance(node, ast.Call):
        return _dotted(node.func)
    return node.id if isinstance(node, ast.Name) else ""
