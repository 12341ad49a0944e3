"""Every template of `use` has the recorded effect, without and with arguments."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.config.vectors import first_line, load, run_tool, use_machine, write_files

TEMPLATES = load("metaknobs.json")["templates"]
EFFECTS = [(name, arguments) for name in TEMPLATES for arguments in TEMPLATES[name]["effect"]]
FROM = "#\n# from @DIR@/condor_config\n#\n"


@pytest.mark.parametrize(("name", "arguments"), EFFECTS)
def test_a_template_has_the_recorded_effect(
    name: str, arguments: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    effect = TEMPLATES[name]["effect"][arguments]
    brackets = "" if arguments == "no arguments" else f"({arguments.split()[1]})"
    use_machine(monkeypatch)
    write_files({"condor_config": f"use {name}{brackets}\n"}, tmp_path)
    code, stdout, stderr = run_tool(["-summary"], tmp_path, {})
    assert code == effect["exit"]
    assert first_line(stderr) == first_line("\n".join(effect["stderr"]))
    # Compat: where a template warns, the reference also defines a knob named "warning".
    expected = [line for line in effect["summary"] if not line.startswith("warning = ")]
    assert stdout.partition(FROM)[2].splitlines() == expected


def test_the_tool_lists_exactly_the_recorded_templates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_machine(monkeypatch)
    listed = []
    for category in ("ROLE", "FEATURE", "POLICY", "SECURITY"):
        _, stdout, _ = run_tool(["use", category], tmp_path, {})
        listed += [f"{category}:{name.strip()}" for name in stdout.splitlines()[1:]]
    assert sorted(listed) == sorted(TEMPLATES)
