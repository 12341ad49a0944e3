"""Functions stay simple and modules do not lead to each other in circles.

The lists name what does not hold yet. They may only shrink: what is mended must be taken off, and
nothing is put on.
"""

from __future__ import annotations

import code_shape

COMPLEXITY = 15
NESTING = 4

TOO_COMPLEX = {
    "transfer plan.split_url_outputs",
    "transfer plugins.read_results",
}
TOO_DEEP: set[str] = set()
# Groups of modules that import each other, inside functions or for types alone: their rooms, and
# how many modules of each are in such a group.
IN_CYCLES: dict[str, int] = {}


def assert_only_shrinks(found: set[str], known: set[str], what: str) -> None:
    assert found <= known, f"{what}: split {sorted(found - known)}"
    assert known <= found, f"mended, so take off the list: {sorted(known - found)}"


def test_a_function_is_simple() -> None:
    found = {
        name
        for module in code_shape.modules()
        for name, function in code_shape.functions(module)
        if code_shape.complexity(function) > COMPLEXITY
    }
    assert_only_shrinks(found, TOO_COMPLEX, f"more than {COMPLEXITY} ways through")


def test_a_function_is_flat() -> None:
    found = {
        name
        for module in code_shape.modules()
        for name, function in code_shape.functions(module)
        if code_shape.nesting(function.body) > NESTING
    }
    assert_only_shrinks(found, TOO_DEEP, f"more than {NESTING} statements around another")


def test_modules_that_import_each_other_become_fewer() -> None:
    found: dict[str, int] = {}
    groups = code_shape.cycles(code_shape.import_graph())
    for group in groups:
        for name in group:
            room = name.split(".")[1]
            found[room] = found.get(room, 0) + 1
    more = {room: n for room, n in found.items() if n > IN_CYCLES.get(room, 0)}
    assert not more, f"give a part a Protocol of what it needs: {more}: {groups}"
    fewer = {room: found.get(room, 0) for room, n in IN_CYCLES.items() if found.get(room, 0) < n}
    assert not fewer, f"fewer now, so lower the numbers: {fewer}"
