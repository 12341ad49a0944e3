"""What a description wants of the patterns of `queue … matching`; said as the reference says it."""

from __future__ import annotations

import itertools

import pytest

from kettle.errors import SubmitError
from kettle.submit.build import SubmitOptions
from stopwatch import cpu_seconds
from unit.submit.submitting import jobs_of, submission

FILES = {"a.dat": "", "b.dat": "", "c.txt": "", "dir/": ""}
EMPTY = "WARNING: 'no*' does not match any files"
AGAIN = "WARNING: 'a.dat' matching pattern 'a*' is a duplicate of item 0, skipping"


def found(lines: str, patterns: str) -> tuple[list[str], list[str]]:
    made, jobs = jobs_of(f'MY.F = "$(f)"\n{lines}\nqueue f matching {patterns}\n', files=FILES)
    values = [job.differences.get("F") or made.cluster.get("F") or "" for job in jobs]
    return [value.strip('"') for value in values], list(map(str, made.warnings + made.unused))


def refusal(lines: str, patterns: str) -> str:
    with pytest.raises(SubmitError) as caught:
        found(lines, patterns)
    return str(caught.value)


@pytest.mark.parametrize("name", ["SubmitWarnEmptyMatches", "submit_warn_empty_matches"])
def test_the_warning_of_a_pattern_that_finds_nothing_can_be_turned_off(name: str) -> None:
    assert found(f"{name} = true", "c* no* a*")[1] == [EMPTY]
    assert found(f"{name} = false", "c* no* a*") == (["c.txt", "a.dat"], [])
    assert found(f"{name} = 1 - $(one)\none = 1", "c* no* a*")[1] == []
    # Nothing is the default.
    assert found(f"{name} =", "c* no* a*")[1] == [EMPTY]


def test_a_pattern_that_finds_nothing_can_be_refused() -> None:
    text = refusal("submit_fail_empty_matches = true", "*.dat n? y?")
    assert text.startswith("\nERROR: on Line 4 of job.sub: no matches for pattern(s): 'n?' 'y?' \n")
    assert "'no'" in refusal("SubmitFailEmptyMatches = true", "no *.dat")
    # What the wanted kind leaves out is not found.
    assert "'dir*'" in refusal("submit_fail_empty_matches = true", "files dir* *.dat")


def test_a_name_that_is_found_again_can_be_taken_again_or_passed_over() -> None:
    assert found("", "*.dat a*") == (["a.dat", "b.dat"], [AGAIN])
    quiet = found("submit_warn_duplicate_matches = false", "*.dat a*")
    assert quiet == (["a.dat", "b.dat"], [])
    twice = found("submit_allow_duplicate_matches = true", "*.dat a*")
    assert twice == (["a.dat", "b.dat", "a.dat"], [])


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("yes", ["c.txt", "dir/"]),
        ("True", ["c.txt", "dir/"]),
        ("", ["c.txt", "dir/"]),
        ("never", ["c.txt"]),
        ("no", ["c.txt"]),
        ("false", ["c.txt"]),
        ("ONLY", ["dir/"]),
    ],
)
def test_a_description_says_whether_folders_count(value: str, names: list[str]) -> None:
    assert found(f"submit_match_directories = {value}", "d* c*") == (
        sorted(names, reverse=True),
        [],
    )


def test_the_word_of_the_statement_counts_before_the_description_s() -> None:
    assert found("submit_match_directories = only", "files c* d*")[0] == ["c.txt"]
    assert found("submit_match_directories = never", "dirs c* d*")[0] == ["dir/"]
    assert found("submit_match_directories = never", "any c* d*")[0] == ["c.txt", "dir/"]


def test_what_is_no_choice_is_refused() -> None:
    said = "ERROR: SubmitWarnEmptyMatches=maybe is invalid, must eval to a boolean."
    assert refusal("submit_warn_empty_matches = maybe", "*.dat").startswith(said)
    said = "Line 4 of job.sub: 1 is not a valid value for SubmitMatchDirectories"
    assert said in refusal("submit_match_directories = 1", "*.dat")


def test_the_other_name_does_not_count_where_the_first_is_set() -> None:
    lines = "SubmitMatchDirectories = only\nsubmit_match_directories = bogus"
    names, warnings = found(lines, "c* d*")
    assert names == ["dir/"]
    assert "'submit_match_directories = bogus' was unused" in warnings[0]


def test_a_mode_sets_them_all() -> None:
    assert "'no*'" in refusal("use strict : true", "c* no* a*")
    assert found("use STRICT:true\nuse STRICT:False", "*.dat no* a*") == (["a.dat", "b.dat"], [])
    assert "'no*'" in refusal("use Strict : harsh", "c* no* a*")
    said = "at use strict:odd\n|Submit:-1:Error: use strict: does not recognise odd"
    assert said in refusal("use strict : odd", "*.dat")
    # Without a blank before the colon the reference shows more of the line.
    said = "at use template:odd:odd\n|Submit:-1:Error: use template:odd: does not recognise odd"
    assert said in refusal("use template:odd", "*.dat")


def test_what_a_mode_sets_is_never_called_a_typing_error() -> None:
    made, _ = jobs_of("submitfailemptyfields = x\nSubmitWarnEmptyMatches = x\nqueue\n")
    assert made.unused == []
    made, _ = jobs_of("SubmitAllowDuplicateMatches = x\nqueue\n")
    assert len(made.unused) == 1


def test_a_pattern_of_a_statement_without_jobs_is_told_of_before_what_is_wrong_behind_it() -> None:
    text = "executable = job.sh\nqueue matching files no d* dir*\nqueue 1.x\n"
    made = submission(text, files=FILES, options=SubmitOptions(allow_many_queues=True))
    with pytest.raises(SubmitError, match="Invalid Queue count"):
        list(made.jobs())
    assert "WARNING: 'd*' does not match any files" in map(str, made.warnings)


@pytest.mark.parametrize("piece", ["[[:", "[", "*a", "[a="])
def test_a_pattern_of_any_length_takes_no_time(piece: str) -> None:
    """No file has a name as long; found by the fuzz of descriptions."""
    run = itertools.count(100)

    def looked_for() -> None:
        # Another pattern each time: what one compiles to is remembered.
        for length in (4_000, 60_000):
            assert found("", f"{piece * (length // len(piece))}{next(run)}")[0] == []

    assert cpu_seconds(looked_for, below=5) < 5
