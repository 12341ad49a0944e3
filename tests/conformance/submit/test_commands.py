"""Every submit command, with good, bad, empty and quoted values, as the real tool answers.

Recorded with `condor_submit -dry-run` of 25.14.1 as the vectors are; all cases share one folder.
What is not here is where the two knowingly differ: hints after a warning, one error instead of
several, sizes of the host's own programs.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.submit.test_cases import (
    FACTS,
    expected_ads,
    run_case,
    write_files,
)

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "data" / "vectors" / "submit" / "commands.json").read_text()
)
USUAL = "Dry-Run job(s).\n1 job(s) dry-run to cluster 1.\n"
# One test for so many cases: a test for each would cost more than the cases do.
GROUP = 50


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("commands")
    write_files(made, {"submit": ""})
    return made


@pytest.mark.parametrize("start", range(0, len(CASES), GROUP))
def test_a_dry_run_answers_every_command_as_recorded(
    start: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr("kettle.runtime.storage.files.read_machine_facts", lambda: FACTS)
    for case in CASES[start : start + GROUP]:
        (folder / "job.sub").write_text(case["submit"].replace("@DIR@", str(folder)))
        (folder / "the_configuration").write_text(case.get("config", ""))
        (folder / "dry.out").unlink(missing_ok=True)
        code, stdout, stderr, ads = run_case(case, folder)
        answer = (case["submit"], code, stdout, stderr.strip(), ads)
        wanted = (case["exit"], case.get("stdout", USUAL), case["stderr"].strip())
        assert answer == (case["submit"], *wanted, expected_ads(case))
