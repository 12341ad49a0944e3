"""Defaults and their expansions are the recorded ones, for tools and for each daemon."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.config.vectors import FACTS, load
from conformance.known_differences import read_differences
from kettle.config import Config
from kettle.config.default_texts import DEFAULTS

KNOWN = load("known_knobs.json")
MACHINE = {**load("cases.json")["machine"], **FACTS}


@pytest.fixture(scope="module")
def tool() -> Config:
    return Config.from_text("", facts=MACHINE)


def without_blanks(text: str | None) -> str:
    """A text as it was recorded, without the blanks at the edges of its lines."""
    return "\n".join(line.strip() for line in (text or "").split("\n"))


def test_every_known_knob_has_its_recorded_default(tool: Config) -> None:
    wrong = {
        name: tool.raw(name)
        for name, row in KNOWN["knobs"].items()
        if not row.get("detected")
        and row["default"] not in (tool.raw(name), without_blanks(tool.raw(name)))
    }
    # Facts of the machine that have no value on the recording machine.
    wrong = {name: text for name, text in wrong.items() if name not in MACHINE}
    # These are what is expanded there.
    assert (wrong.pop("LOCALNAME"), wrong.pop("SUBSYSTEM")) == ("TOOL", "TOOL")
    assert set(wrong) == set(read_differences()["config/known_knobs"])
    assert (wrong["NEGOTIATOR_PRE_JOB_RANK"] or "").endswith("=?= UNDEFINED))")
    assert (wrong["NEGOTIATOR_POST_JOB_RANK"] or "").endswith(" - 1.0e8 * (100000 * Cpus + Memory)")
    assert wrong["NEGOTIATOR_MIN_INTERVAL"] == "0"
    assert wrong["USE_PID_NAMESPACES"] == "true"


def test_no_other_name_has_a_default() -> None:
    """What daemons act on, of a knob that the reference has no default for, is its `unset`.

    Compat: knobs of Kettle's own have theirs, and show it to whoever asks for them by name.
    """
    known = {name.upper() for name in KNOWN["knobs"]}
    assert {name for name in DEFAULTS if name not in known} == {
        name for name in DEFAULTS if name.startswith("KETTLE_")
    }


def test_every_default_expands_as_recorded(tool: Config) -> None:
    wrong = {}
    for name, row in KNOWN["knobs"].items():
        if row.get("default") and "expanded" in row and "$RANDOM" not in row["default"]:
            # Of a default with several lines only the first was recorded.
            shown = tool.expand(row["default"]).split("\n")[0].split()
            if shown != row["expanded"].split("\n")[0].split():
                wrong[name] = (shown, row["expanded"])
    assert wrong == {}


@pytest.mark.parametrize("subsystem", sorted(KNOWN["differs_for_subsystem"]))
def test_a_daemon_sees_the_recorded_differences(subsystem: str, tmp_path: Path) -> None:
    config = Config.from_text("", subsystem=subsystem, facts=MACHINE)
    for name, text in KNOWN["differs_for_subsystem"][subsystem].items():
        assert config.raw(name.removeprefix(f"{subsystem}.")) == text.lstrip("\n"), name
