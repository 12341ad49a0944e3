"""Words of condor_status that contradict each other or only tell; recorded from 25.14.1."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from kettle.tools.programs import Streams
from kettle.tools.status.condor_status import main
from kettle.tools.status.order import natural_order

ADS = 'MyType = "Machine"\nName = "slot1@vm"\nMachine = "vm"\n\n'
WHOLE = 'Machine = "vm"\nMyType = "Machine"\nName = "slot1@vm"\n\n'


def run(*words: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = main(
        ["condor_status", *words],
        {"CONDOR_CONFIG": "ONLY_ENV"},
        Streams(io.StringIO(), out, err),
    )
    return code, out.getvalue(), err.getvalue()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("-long -af Name", "Error:  arg 2 (-af) contradicts arg 1 (-long)\n"),
        ("-af Name -long", ""),
        ("-long -format %s Name", "Error:  arg 2 (-format) contradicts arg 1 (-long)\n"),
        ("-long -pr FILE", "Error:  arg 2 (-pr) contradicts arg 1 (-long)\n" * 2),
    ],
)
def test_whole_ads_are_shown_whatever_columns_are_named(
    tmp_path: Path, words: str, said: str
) -> None:
    (tmp_path / "ads").write_text(ADS)
    (tmp_path / "format").write_text("SELECT\nName\n")
    command = [str(tmp_path / "format") if word == "FILE" else word for word in words.split()]
    assert run(*command, "-ads", str(tmp_path / "ads")) == (0, WHOLE, said)


def test_what_would_be_asked_is_told() -> None:
    words = ("-diagnose", "-schedd", "-limit", "3", "-constraint", "Foo", "-af", "Name")
    code, out, err = run(*words)
    assert (code, out) == (1, "----------\nResult of making query ad was:  0\n")
    assert err.splitlines()[:7] == [
        f"diagnose: condor_status {' '.join(words)} ",
        "----------",
        "QUERY_SCHEDD_ADS",
        "LimitResults = 3",
        'MyType = "Query"',
        "Requirements = ((Foo))",
        'TargetType = "Scheduler"',
    ]
    assert err.splitlines()[7:9] == ["Projection:", "  Machine"]
    assert "Projection: <NULL>\n" in run("-diag", "-long")[2]


def test_ads_of_no_machine_stand_where_one_called_undefined_would() -> None:
    assert natural_order(["vm", None, "a"], ["slot1", "<none>", "x"]) == [2, 1, 0]


def test_the_world_is_the_collectors() -> None:
    assert "QUERY_COLLECTOR_ADS\n" in run("-world", "-diagnose")[2]
