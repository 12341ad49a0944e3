"""What the tidy tests measure of the source: complexity, nesting, the graph of imports.

Read from the syntax tree alone; nothing is imported. Complexity is McCabe's measure with boolean
operators, conditional expressions and comprehensions counted: one more than the decisions.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "kettle"
PACKAGE = SOURCE.name
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DECISIONS = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.IfExp,
    ast.ExceptHandler,
    ast.match_case,
)


@dataclass(frozen=True)
class Module:
    """One source file, parsed."""

    path: Path
    tree: ast.Module
    text: str

    @property
    def name(self) -> str:
        """Its place below the package, as `schedd/service.py`."""
        return self.path.relative_to(SOURCE).as_posix()

    @property
    def dotted(self) -> str:
        """Its name in an import."""
        parts = [PACKAGE, *self.path.relative_to(SOURCE).with_suffix("").parts]
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def modules() -> tuple[Module, ...]:
    """Return every module of the package."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        found.append(Module(path, ast.parse(text), text))
    return tuple(found)


def functions(
    module: Module,
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield every function with its name: room, file, qualified name; no folder between."""
    room = module.name.split("/")[0]
    yield from _functions(module.tree, f"{room} {module.path.stem}.")


def _functions(
    node: ast.AST, prefix: str
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for child in ast.iter_child_nodes(node):
        inside = prefix
        if isinstance(child, (*FUNCTIONS, ast.ClassDef)):
            inside = f"{prefix}{child.name}."
        if isinstance(child, FUNCTIONS):
            yield inside[:-1], child
        yield from _functions(child, inside)


def complexity(function: ast.AST) -> int:
    """Return how many ways lead through a function, functions inside it apart."""
    total = 1
    for node in _own_nodes(function):
        if isinstance(node, ast.BoolOp):
            total += len(node.values) - 1
        elif isinstance(node, ast.comprehension):
            total += 1 + len(node.ifs)
        elif isinstance(node, _DECISIONS):
            total += 1
    return total


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, (*FUNCTIONS, ast.ClassDef)):
            yield child
            yield from _own_nodes(child)


def nesting(body: Sequence[ast.stmt]) -> int:
    """Return how many compound statements stand around the innermost one; `elif` adds none."""
    deepest = 0
    for statement in body:
        if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            continue
        blocks = [getattr(statement, "body", []), getattr(statement, "finalbody", [])]
        blocks += [part.body for part in getattr(statement, "handlers", [])]
        blocks += [part.body for part in getattr(statement, "cases", [])]
        deepest = max([deepest, *(1 + nesting(block) for block in blocks if block)])
        orelse = getattr(statement, "orelse", [])
        if orelse:
            is_elif = len(orelse) == 1 and isinstance(orelse[0], ast.If)
            deepest = max(deepest, nesting(orelse) + (not is_elif))
    return deepest


def import_graph() -> dict[str, set[str]]:
    """Return which module imports which: at load, inside functions and for types alone."""
    known = {module.dotted for module in modules()}
    return {module.dotted: _imports(module, known) for module in modules()}


def _imports(module: Module, known: set[str]) -> set[str]:
    found = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in known else node.module)
    return (found & known) - {module.dotted}


def cycles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Return the groups of modules that lead to each other."""
    reached = {name: _reachable(graph, name) for name in graph}
    groups: list[set[str]] = []
    for name in graph:
        group = {other for other in reached[name] if name in reached[other]}
        if len(group) > 1 and group not in groups:
            groups.append(group)
    return groups


def _reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    seen = {start}
    waiting = [start]
    while waiting:
        for other in graph[waiting.pop()] - seen:
            seen.add(other)
            waiting.append(other)
    return seen
