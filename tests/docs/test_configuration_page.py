"""The examples of the manual's page about the configuration language."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.config.vectors import run_tool, use_machine

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "configuration.md"
PAIR = re.compile(r"```ini\n(.*?)```\n\n```console\n(.*?)```", re.DOTALL)
EXAMPLES = PAIR.findall(PAGE.read_text(encoding="utf-8"))


def test_every_configuration_on_the_page_is_followed_by_what_is_said_about_it() -> None:
    assert len(EXAMPLES) == PAGE.read_text(encoding="utf-8").count("```ini")


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_says_what_the_page_says(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, session = EXAMPLES[number]
    (tmp_path / "condor_config").write_text(text, encoding="utf-8")
    use_machine(monkeypatch)
    shown = ""
    for line in session.splitlines():
        if not line.startswith("$ condor_config_val "):
            continue
        _, stdout, stderr = run_tool(line.split()[2:], tmp_path, {})
        shown += f"{line}\n{stdout}"
        shown += "".join(f"! {said}\n" for said in stderr.splitlines())
    assert shown == session
