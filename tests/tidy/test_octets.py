"""Text that may hold bytes that are no UTF-8 is never encoded or decoded strictly.

A strict encoder raises for such a byte, wherever a job's or a peer's word happens to come along. So
bytes and text change into one another in `kettle.octets`, or with an error handler that is named,
or as ASCII, which says that the text is our own; and a file is opened the same way.
"""

from __future__ import annotations

import ast
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "src" / "kettle"
# What has both ends in its own hands.
OTHERWISE = ("testing/",)
OPENERS = frozenset({"open", "fdopen", "read_text", "write_text"})


def strictly(text: str) -> list[int]:
    """Return the lines that encode, decode or open as strict UTF-8."""
    calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    return sorted(node.lineno for node in calls if _is_strict(node))


def _is_strict(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    named = {word.arg: ast.unparse(word.value) for word in call.keywords}
    if "errors" in named:
        return False
    if name in {"encode", "decode"}:
        # A codec's own `encode(message)` has an argument that is no text.
        return not named and [ast.unparse(word) for word in call.args] in ([], ["'utf-8'"])
    if name in OPENERS or name in {"run", "Popen"}:
        return named.get("encoding") == "'utf-8'" or named.get("text") == "True"
    return False


def test_no_text_is_strict() -> None:
    found = {
        name: lines
        for path in sorted(SOURCES.rglob("*.py"))
        if not (name := str(path.relative_to(SOURCES))).startswith(OTHERWISE)
        and (lines := strictly(path.read_text(encoding="utf-8")))
    }
    assert found == {}


def test_what_is_strict_is_seen() -> None:
    assert strictly("a.encode()\nb.decode('utf-8')\nopen(c, 'w', encoding='utf-8')") == [1, 2, 3]
    assert strictly("run(words, text=True)") == [1]
    assert strictly("a.encode('ascii')\nchannel.encode(message)\nopen(c, 'rb')") == []
    assert strictly("open(c, encoding='utf-8', errors=AS_IS)\na.decode('utf-8', 'replace')") == []
