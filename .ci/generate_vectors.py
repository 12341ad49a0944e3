"""Write the page of recorded answers: how many cases each file has, and which of them differ.

`python .ci/generate_vectors.py` rewrites `docs/generated/vectors.md` from the files in
`tests/data/vectors` and from `differences.tsv` there. That all other cases agree, and that these
differ, is what the tests of `tests/conformance` hold; `tests/tidy/test_generated_vectors.py` fails
when the page is out of date, when a file has no test, and when a difference has none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/generated/vectors.md"
TESTS = ROOT / "tests"
VECTORS = TESTS / "data/vectors"
PARTS = ("classad", "config", "submit", "output", "router")
# The files that a test reads by other words than their name.
READ_BY = {
    "config/known_knobs": "config/test_known_knobs.py",
    "config/metaknobs": "config/test_metaknobs.py",
    "config/cases": "config/test_cases.py",
    "submit/cases": "submit/test_cases.py",
    "submit/commands": "submit/test_commands.py",
    "output/cases": "test_tool_output.py, output/test_condor_status.py",
    "router/convert_old_routes": "transforms/test_cases.py",
    "router/old_job_transforms": "transforms/test_cases.py",
    "router/transform_options": "transforms/test_cases.py",
    "router/transforms": "transforms/test_cases.py",
    "classad/ads_new": "classad/test_forms.py",
    "classad/ads_old": "classad/test_forms.py",
    "classad/ads_stream": "classad/test_forms.py",
    "classad/forms_in": "classad/test_forms.py",
    "classad/forms_out": "classad/test_forms.py",
    "classad/quote": "classad/test_forms.py",
    "classad/deep": "classad/test_deep.py",
    "classad/equality": "classad/test_equality.py",
    "classad/flatten": "classad/test_flatten.py",
    "classad/match": "classad/test_match.py",
    "classad/references": "classad/test_references.py",
}
EXPRESSIONS = "classad/test_expressions.py"
# What a case has where the reference gave no answer.
NO_ANSWER = ("crash", "hang", "exception")


class Difference(NamedTuple):
    """A case that is answered otherwise: its file, its number or name, what shows how, and why."""

    name: str
    case: str
    test: str
    reason: str


def read_differences() -> list[Difference]:
    """Return the rows of the list."""
    lines = (VECTORS / "differences.tsv").read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines if not line.startswith("#"))
    return [Difference(*row) for row in rows]


def read_cases(name: str) -> list[Any]:
    """Return the cases of a file: of those that are tables a row each."""
    document = json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))
    if isinstance(document, list):
        return document
    for key in ("cases", "knobs", "templates"):
        if key in document:
            found = document[key]
            return found if isinstance(found, list) else list(found.values())
    raise ValueError(f"{name} has no cases")


def file_names() -> list[str]:
    """Return the names of all files of the five languages."""
    return [
        f"{part}/{path.stem}" for part in PARTS for path in sorted((VECTORS / part).glob("*.json"))
    ]


def render() -> str:
    """Return the page."""
    lines = [
        "# Recorded answers",
        "",
        "Generated from the recordings of HTCondor 25.14.1 that the tests compare Kettle with.",
        "Where the reference crashes, hangs or gives up, Kettle has to answer, whatever it says.",
        "Every other case agrees, but for those that are listed below with their reason.",
        "",
        "| File | Cases | Without an answer there | Knowingly different | Agree | Test |",
        "|---|---|---|---|---|---|",
        *_rows(),
        "",
        "## What differs",
        "",
        "| File | Cases | Why | Shown by |",
        "|---|---|---|---|",
        *_differences(),
    ]
    return "\n".join(lines) + "\n"


def _rows() -> Iterator[str]:
    differences = read_differences()
    total = [0, 0, 0]
    for name in file_names():
        cases = read_cases(name)
        silent = sum(any(key in case for key in NO_ANSWER) for case in cases)
        different = sum(row.name == name for row in differences)
        total = [total[0] + len(cases), total[1] + silent, total[2] + different]
        yield _row(f"`{name}`", len(cases), silent, different, READ_BY.get(name, EXPRESSIONS))
    yield _row("all", *total, "")


def _row(name: str, cases: int, silent: int, different: int, test: str) -> str:
    agree = 100 * (cases - different) / cases
    shown = f"`{test}`" if test else ""
    rate = "100 %" if not different else f"{agree:.2f} %"
    return f"| {name} | {cases} | {silent or ''} | {different or ''} | {rate} | {shown} |"


def _differences() -> Iterator[str]:
    """Yield a row for each reason; cases that have the same one stand together."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for row in read_differences():
        groups.setdefault((row.name, row.reason, row.test), []).append(row.case)
    for (name, reason, test), numbers in groups.items():
        shown = ", ".join(numbers)
        yield f"| `{name}` | {shown} | {reason} | `{test}` |"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
