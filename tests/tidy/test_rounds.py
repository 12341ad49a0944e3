"""What a daemon does round after round goes on after one that failed: `tasks.repeat` sees to it.

A loop of its own dies in the background of the first thing that nobody thought of, and what it did
for everybody is done for nobody any more.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

import code_shape

# Loops that end with a connection, or with the one thing they are for, whose end is seen.
ENDED_BY_OTHERS = {
    "runtime/sockets/ccb.py _beat",
    "runtime/sockets/ccb.py _listen",
    "runtime/sockets/stream.py wait_for_end",
    "schedd/services/local.py _listen",
    "schedd/services/shadows.py _listen",
}
# Loops whose rounds are guarded one by one, with `tasks.reported`.
GUARDED = {"runtime/sockets/ccb.py run"}
# What says of a daemon's part that it is over.
_FLAG = re.compile(r"self\.\w+")


def _own_nodes(loop: ast.While) -> Iterator[ast.AST]:
    """Yield what is inside a loop, without what is inside functions there."""
    waiting: list[ast.AST] = list(loop.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (*code_shape.FUNCTIONS, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(node))


def _is_endless(loop: ast.While) -> bool:
    """Tell whether a loop waits again and again, and only a flag or a failure ends it."""
    test = loop.test
    forever = isinstance(test, ast.Constant)
    flag = isinstance(test, ast.UnaryOp) and _FLAG.fullmatch(ast.unparse(test.operand)) is not None
    nodes = list(_own_nodes(loop))
    leaves = any(isinstance(node, ast.Return | ast.Break) for node in nodes)
    return (forever or flag) and not leaves and any(isinstance(node, ast.Await) for node in nodes)


def endless(tree: ast.AST) -> Iterator[str]:
    """Yield the names of coroutines with a loop without end."""
    for function in ast.walk(tree):
        if isinstance(function, ast.AsyncFunctionDef):
            loops = [node for node in ast.walk(function) if isinstance(node, ast.While)]
            if any(_is_endless(loop) for loop in loops):
                yield function.name


def test_rounds_are_repeated_by_the_one_who_reports_their_failures() -> None:
    found = {
        f"{module.name} {name}"
        for module in code_shape.modules()
        if not module.name.startswith("testing/")
        for name in endless(module.tree)
    }
    assert found == ENDED_BY_OTHERS | GUARDED, "let `tasks.repeat` go round"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("while True:\n  await asyncio.sleep(1)", ["serve"]),
        ("while not self._stopping:\n  await self._wake.wait()", ["serve"]),
        ("while True:\n  if await more():\n   return", []),
        ("while True:\n  await asyncio.sleep(1)\n  def inner():\n   return 1", ["serve"]),
        ("while jobs:\n  await asyncio.sleep(0)", []),
    ],
)
def test_the_gate_sees(text: str, names: list[str]) -> None:
    body = "\n".join(f" {line}" for line in text.splitlines())
    assert list(endless(ast.parse(f"async def serve():\n{body}"))) == names
