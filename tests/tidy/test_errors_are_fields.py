"""What an error says is for people: whoever decides anything by one looks at its class and fields.

A sentence that is compared, searched or taken apart breaks with the next better sentence. Warnings
and remarks are values for the same reason (`kettle.errors.Remark`, `kettle.submit.notices`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

import pytest

import code_shape

# Where an error's text is looked at all the same, by file and function, and why.
LOOKED_AT = {
    # The words of a daemon on the wire, whose code is the same for all that a job still waits for:
    # whether they are others than the last time.
    ("tools/jobs/condor_ssh_to_job.py", "_reach_shell"),
    # Whether there are any words: without them the usage says all.
    ("tools/jobs/condor_prio.py", "main"),
    ("tools/jobs/condor_qedit.py", "_complain"),
}
# What takes a text apart, or asks what it is like.
_METHODS = frozenset(
    {
        "startswith",
        "endswith",
        "removeprefix",
        "removesuffix",
        "partition",
        "rpartition",
        "split",
        "rsplit",
        "find",
        "rfind",
        "index",
        "rindex",
        "replace",
        "count",
        "translate",
    }
)
_SEARCHES = frozenset(
    {"match", "search", "fullmatch", "finditer", "findall", "sub", "subn", "split"}
)
# What a text stays the text of an error in.
_KEEPING = frozenset({"strip", "lstrip", "rstrip", "lower", "upper", "casefold"}) | _METHODS
_TREE = ast.parse((code_shape.SOURCE / "errors.py").read_text(encoding="utf-8"))
_ERRORS = {node.name for node in _TREE.body if isinstance(node, ast.ClassDef)} - {"Form", "Remark"}
_ERRORS |= {"Exception", "BaseException", "OSError", "ValueError", "Trouble"}


def decisions(function: ast.AST) -> set[int]:
    """Return the lines of a function that look at the text of an error that it has a name for."""
    nodes = list(ast.walk(function))
    errors = set(_error_names(nodes))
    texts: set[str] = set()
    while more := set(_texts(nodes, errors, texts)) - texts if errors else set():
        texts |= more
    return {node.lineno for node in nodes if errors and _asks(node, errors, texts)}


def _error_names(nodes: list[ast.AST]) -> Iterator[str]:
    """Yield the names of what a function catches, and of arguments that are errors."""
    for node in nodes:
        if isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name
        elif isinstance(node, ast.arg) and node.annotation is not None:
            words = {part.id for part in ast.walk(node.annotation) if isinstance(part, ast.Name)}
            if words & _ERRORS:
                yield node.arg


def _texts(nodes: list[ast.AST], errors: set[str], texts: set[str]) -> Iterator[str]:
    """Yield the names that a function gives to the text of an error."""
    for node in nodes:
        if isinstance(node, ast.Assign) and _is_text(node.value, errors, texts):
            for target in node.targets:
                yield from (part.id for part in ast.walk(target) if isinstance(part, ast.Name))


def _is_text(node: ast.AST, errors: set[str], texts: set[str]) -> bool:
    """Tell whether an expression is the text of an error, or one that was made of it."""
    match node:
        case ast.Attribute(ast.Name(name), "message"):
            return name in errors
        case ast.Call(ast.Name("str" | "repr"), [ast.Name(name)]):
            return name in errors
        case ast.FormattedValue(ast.Name(name)):
            return name in errors or name in texts
        case ast.Name(name):
            return name in texts
        case ast.JoinedStr(parts):
            return any(_is_text(part, errors, texts) for part in parts)
        case ast.FormattedValue(inner) | ast.Subscript(inner):
            return _is_text(inner, errors, texts)
        case ast.Call(ast.Attribute(inner, method)) if method in _KEEPING:
            return _is_text(inner, errors, texts)
        case ast.BoolOp(_, parts):
            return any(_is_text(part, errors, texts) for part in parts)
        case ast.BinOp(left, _, right):
            return _is_text(left, errors, texts) or _is_text(right, errors, texts)
    return False


def _asks(node: ast.AST, errors: set[str], texts: set[str]) -> TypeGuard[ast.expr | ast.stmt]:
    if isinstance(node, ast.If | ast.While):
        return _is_text(node.test, errors, texts)
    return isinstance(node, ast.expr) and _looks_at(node, errors, texts)


def _looks_at(node: ast.AST, errors: set[str], texts: set[str]) -> bool:
    def is_text(part: ast.AST) -> bool:
        return _is_text(part, errors, texts)

    match node:
        case ast.Compare(left, _, others):
            return any(map(is_text, (left, *others)))
        case ast.Call(ast.Attribute(inner, method), given):
            is_taken_apart = method in _METHODS and is_text(inner)
            return is_taken_apart or (method in _SEARCHES and any(map(is_text, given)))
        case ast.BoolOp(_, parts):
            # Whether there is a text at all; what stands last is no question.
            return any(map(is_text, parts[:-1]))
        case ast.UnaryOp(ast.Not(), asked) | ast.IfExp(asked):
            return is_text(asked)
    return False


def test_nothing_is_decided_by_the_text_of_an_error() -> None:
    found: dict[tuple[str, str], set[int]] = {}
    for module in code_shape.modules():
        for name, function in code_shape.functions(module):
            lines = decisions(function)
            if lines:
                found[module.name, name.rpartition(".")[2]] = lines
    more = {place: sorted(lines) for place, lines in found.items() if place not in LOOKED_AT}
    assert not more, f"give the error a field that says it: {more}"
    assert found.keys() == LOOKED_AT, f"mended, so take off: {LOOKED_AT - found.keys()}"


@pytest.mark.parametrize(
    "line",
    [
        "if 'no' in error.message: pass",
        "if str(error) == 'no': pass",
        "why = error.message.strip()\n        x = why.partition(': ')",
        "PATTERN.match(str(error))",
        "re.sub('a', '', f'{error}!')",
        "return f'{error}'.startswith('no')",
        "said = str(error) or 'nothing'",
        "if error.message: pass",
        "x = 1 if not str(error) else 2",
    ],
)
def test_what_looks_at_a_text_is_seen(line: str) -> None:
    tree = ast.parse(f"def f():\n    try: pass\n    except KettleError as error:\n        {line}\n")
    assert decisions(tree)
    tree = ast.parse(f"def f(error: ConfigError | None):\n    if error:\n        {line}\n")
    assert decisions(tree)


@pytest.mark.parametrize(
    "line", ["print(error.message)", "x = error.code == 3", "raise X(f'{error}') from error"]
)
def test_what_shows_a_text_is_none(line: str) -> None:
    assert not decisions(ast.parse(f"def f(error: KettleError):\n    {line}\n"))
