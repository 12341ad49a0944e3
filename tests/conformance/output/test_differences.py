"""What condor_q and condor_status print where the reference is knowingly not followed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance import test_tool_output
from conformance.test_tool_output import run_tool

ALL = ["condor_q", "-jobads", "jobs.ads", "-allusers"]


@pytest.fixture(autouse=True)
def recorded_moment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    yield from test_tool_output.place.__wrapped__(monkeypatch)  # type: ignore[attr-defined]


def test_a_job_has_its_whole_number_under_cputime() -> None:
    _, out, _ = run_tool([*ALL, "-cputime", "-nobatch"])
    numbers = [line.split()[0] for line in out.splitlines() if " I  " in line]
    assert numbers[-1] == "900100.0"


def test_ads_of_a_file_are_shown_also_where_results_are_to_be_streamed() -> None:
    streamed = run_tool([*ALL, "-stream-results", "-nobatch"])
    assert streamed == run_tool([*ALL, "-nobatch"])
    assert streamed[0] == 0


def test_jobs_of_a_file_without_numbers_of_autoclusters_are_each_shown() -> None:
    code, out, err = run_tool([*ALL, "-autocluster"])
    assert (code, err, len(out.splitlines())) == (0, "", 4 + 27)


def test_of_equal_rows_one_is_shown_where_the_format_asks_for_unique_ones() -> None:
    few = ["-constraint", "JobStatus == 1 || ClusterId == 111"]
    code, out, err = run_tool([*ALL, "-pr", "unique.cpf", *few])
    assert (code, err) == (0, "")
    assert sum(line.split() == ["dave", "1"] for line in out.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-af", "bad +"], "bad + is not an attribute or expression: expected a value"),
        (["-af:h", "a b", "Owner"], "a b is not an attribute or expression: unexpected 'b'"),
    ],
)
def test_a_column_that_is_no_expression_is_told(words: list[str], said: str) -> None:
    code, out, err = run_tool([*ALL, *words])
    assert (code, out) == (1, "")
    assert err.startswith(said)


def test_where_ads_come_from_a_file_no_host_is_looked_up() -> None:
    code, out, err = run_tool([*ALL, "-pool", "no.such.host.invalid", "-totals"])
    assert (code, err) == (0, "")
    assert "Total for query: 26 jobs" in out
    told = run_tool(["condor_status", "-ads", "slots.ads", "-direct", "no.such.host.invalid"])
    assert told == run_tool(["condor_status", "-ads", "slots.ads"])


def test_a_target_of_status_is_looked_into_by_nobody() -> None:
    words = ["condor_status", "-ads", "slots.ads", "-target", "slots.ads", "-af", "TARGET.Name"]
    code, out, err = run_tool(words)
    assert (code, err) == (0, "")
    assert set(out.split()) == {"undefined"}
