"""The page of recorded answers is up to date; each file and each difference has its test."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

from conformance.classad.test_expressions import FILES

ROOT = Path(__file__).parents[2]


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("vectors", ROOT / ".ci/generate_vectors.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_recorded_answers_is_as_the_files_say() -> None:
    module = generator()
    assert module.PAGE.read_text(encoding="utf-8") == module.render(), "run .ci/generate_vectors.py"


def test_every_file_of_recorded_answers_is_read_by_its_test() -> None:
    module = generator()
    unread = []
    for name in module.file_names():
        stem = name.partition("/")[2]
        if name not in module.READ_BY:
            unread += [name] if stem not in FILES else []
            continue
        for test in module.READ_BY[name].split(", "):
            text = (ROOT / "tests/conformance" / test).read_text(encoding="utf-8")
            unread += [name] if f'"{stem}' not in text else []
    assert unread == []


def test_every_difference_has_a_test_that_shows_it_and_names_a_case() -> None:
    module = generator()
    wrong = []
    for row in module.read_differences():
        path, _, test = row.test.partition("::")
        text = (ROOT / "tests" / path).read_text(encoding="utf-8")
        if not re.search(rf"^def {test}\(", text, re.MULTILINE):
            wrong.append(row.test)
        if row.case.isdigit() and int(row.case) >= len(module.read_cases(row.name)):
            wrong.append(f"{row.name} {row.case}")
    assert wrong == []
