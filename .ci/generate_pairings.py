"""Write the manual's page of pairings: what meets the real HTCondor, and the tests that say so.

`python .ci/generate_pairings.py` rewrites `docs/generated/pairings.md` from the tests of
`tests/interop`: each module's first sentence is a pairing, its docstring's last says how the two
know each other, each test's name what was seen, and the tables of its methods are read as they
stand there. `tests/tidy/test_generated_pairings.py` fails when the page is out of date.
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/generated/pairings.md"
TESTS = ROOT / "tests/interop"
KNOWN_BY = "Known by: "


def _constant(tree: ast.Module, name: str) -> ast.expr:
    """Return the value that a module gives a name."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return node.value
    raise LookupError(name)


def _mixtures() -> list[str]:
    """Return the table of pools that are ours and theirs in part."""
    tree = ast.parse((TESTS / "test_mixed_pools.py").read_text(encoding="utf-8"))
    roles = list(ast.literal_eval(_constant(tree, "ROLES")))
    lines = [
        f"| {' | '.join(role.capitalize() for role in roles)} | Known by |",
        "|---|---|---|---|",
    ]
    for theirs, method in ast.literal_eval(_constant(tree, "MIXTURES")):
        cells = ["HTCondor" if role in theirs else "Kettle" for role in roles]
        lines.append(f"| {' | '.join(cells)} | {method} |")
    return lines


def _methods() -> list[str]:
    """Return the table of what a client has and by which method it is known."""
    tree = ast.parse((TESTS / "test_security_pairings.py").read_text(encoding="utf-8"))
    table = _constant(tree, "PAIRINGS")
    assert isinstance(table, ast.Dict)
    lines = ["| Case | The client's methods | The one that comes of it |", "|---|---|---|"]
    for key, value in zip(table.keys, table.values, strict=True):
        assert isinstance(key, ast.Constant)
        assert isinstance(value, ast.Tuple)
        offered, chosen = value.elts[0], value.elts[2]
        assert isinstance(offered, ast.Constant)
        assert isinstance(chosen, ast.Constant)
        lines.append(f"| {key.value} | {offered.value} | {chosen.value} |")
    return lines


def _modules() -> list[str]:
    """Return the table of pairings, of how the two know each other, and of what was seen."""
    lines = ["| Pairing | Known by | What was seen |", "|---|---|---|"]
    for path in sorted(TESTS.glob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        paragraphs = (ast.get_docstring(tree) or "").split("\n\n")
        said = paragraphs[0].replace("\n", " ")
        known_by = paragraphs[-1].removeprefix(KNOWN_BY).removesuffix(".").replace("\n", " ")
        if not paragraphs[-1].startswith(KNOWN_BY):
            raise LookupError(f"{path.name} does not end its docstring with {KNOWN_BY!r}")
        seen = "<br>".join(
            node.name.removeprefix("test_").replace("_", " ")
            for node in tree.body
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        )
        lines.append(f"| {said}<br>`{path.name}` | {known_by} | {seen} |")
    return lines


def render() -> str:
    """Return the page."""
    lines = [
        "# Pairings with HTCondor",
        "",
        "Generated from the tests that meet HTCondor 25.14.1: its Debian package, which",
        "`.ci/peer-condor` sets up, and its PyPI wheel. `pytest -m interop` runs them all.",
        "",
        "## Pools of both",
        "",
        "In each a job runs with its files, is suspended, held, released and removed with tools",
        "of either side; authentication, encryption and integrity are required everywhere.",
        "",
        *_mixtures(),
        "",
        "## Methods",
        "",
        "Each between our tools and their daemons, their tools and ours, and among themselves,",
        "always with AES encryption and integrity.",
        "",
        *_methods(),
        "",
        "## All pairings",
        "",
        *_modules(),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
