"""What a row of a command says beside its value: its role for the check, and its few words."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from kettle.errors import SubmitError
from kettle.submit import registry
from kettle.submit.commands.command import Command, Role
from kettle.submit.refusals import words_of
from unit.submit.submitting import submission

ROWS = registry.all_commands()
CONDITION = "MyProbe > 1"
# Expressions that are no condition under which something happens, or need none to be true, each
# pattern with the reason.
NO_CONDITIONS = {
    r"\w+_(reason|subcode)": "what is said when a condition is true",
    r"request_\w+|rank|stack_size|max_transfer_\w+|buffer_\w+": "a quantity",
    r"concurrency_limits_expr|file_remaps": "a text",
    r"keep_claim_idle|next_job_start_delay|deferral_time|batch_runtime|\w*_duration|"
    r"max_job_retirement_time|job_max_vacate_time": "a time",
    r"noop_job(_\w+)?|want_graceful_removal": "false is a plain wish",
    r"leave_in_queue": "a job that leaves is what happens without",
}
# Paths that the check looks for in no other way, each pattern with the reason.
NO_FILES = {
    r"dagman_log|starter_log": "written by others, into a folder that they know",
    r"output_directory": "made where it is not there",
    r"(ec2|gce|azure)_\w+": "what is done with files of grid jobs is not known here",
    r"scitokens_file": "read by the credentials' own service, and may be made later",
}


def described(row: Command, value: str) -> str:
    """Return a description in which a command has a value, of a universe that looks at it."""
    universe = row.universes or "vanilla"
    resource = "grid_resource = condor a b\n" if universe == "grid" else ""
    first = "" if row.name == "universe" else f"universe = {universe}\n{resource}"
    return f"executable = job.sh\n{first}{row.name} = {value}\nqueue\n"


def made_of(row: Command, value: str) -> str:
    """Return what a command's attribute becomes; nothing where its value is refused."""
    made = submission(described(row, value))
    try:
        list(made.jobs())
    except SubmitError:
        return ""
    return (made.cluster.get(row.attribute) if row.attribute else "") or ""


def undecided(rows: list[Command], reasons: dict[str, str], *roles: Role) -> list[str]:
    """Return the commands that have neither a role nor a reason, or both, and stale reasons."""
    names = [row.name for row in rows]
    said = {name for name in names if any(re.fullmatch(one, name) for one in reasons)}
    wrong = [row.name for row in rows if (row.role in roles) == (row.name in said)]
    return wrong + [one for one in reasons if not any(re.fullmatch(one, name) for name in names)]


def test_each_expression_is_a_condition_or_there_is_a_reason() -> None:
    expressions = [row for row in ROWS if made_of(row, CONDITION) == CONDITION]
    assert len(expressions) > 20
    wrong = undecided(expressions, NO_CONDITIONS, "condition")
    assert wrong == [], "say role= in their rows, or a reason here; not both"


def test_each_path_is_a_file_that_is_looked_for_or_there_is_a_reason() -> None:
    paths = [row for row in ROWS if made_of(row, "job.sh") == '"/work/job.sh"']
    assert {"executable", "log"} <= {row.name for row in paths}
    wrong = undecided(paths, NO_FILES, "input", "written")
    assert wrong == [], "say role= in their rows, or a reason here; not both"


@pytest.mark.parametrize("role", [role for role in get_args(Role) if role])
def test_a_command_with_a_role_has_an_attribute(role: Role) -> None:
    found = registry.commands_of(role)
    assert found
    assert all(found)


@pytest.mark.parametrize("row", [row for row in ROWS if row.words], ids=lambda row: row.name)
def test_the_words_of_a_command_are_taken(row: Command) -> None:
    words = words_of(row)
    assert len(words) > 1
    if row.name != "grid_resource":
        # It has more than the word.
        refused = [word for word in words if _complaint(row, word) == _complaint(row, "xyzzy")]
        assert refused == []


def _complaint(row: Command, value: str) -> str:
    made = submission(described(row, value))
    try:
        list(made.jobs())
    except SubmitError as error:
        return error.complaint.replace(value, "@")
    return ""


# Refused, and not for being none of a few words: each pattern with what is asked for.
NOT_A_FEW_WORDS = {
    r"executable|initialdir|\w*x509userproxy": "a file or a folder that is there",
    r"\w*environment2?|\w*arguments2": "the language of these",
    r"core_size|\w*exit_code|match_list_length|max_\w+|priority|dagman_job_id|image_size|disk_usage|"
    r"\w+_increase|\w+_length|cuda_version|\w+_lifetime": "a number",
    r"ec2_ebs_volumes": "pairs",
    r"use_oauth_services": "names of a site",
}


def test_what_is_refused_for_its_word_says_which_words_there_are() -> None:
    wrong = []
    for row in ROWS:
        made = submission(described(row, "xyzzy"))
        try:
            list(made.jobs())
        except SubmitError as error:
            own = registry.find_command(error.command or "")
            if own is row and not error.choices and not row.words:
                wrong.append(row.name)
    forgotten = [
        name for name in wrong if not any(re.fullmatch(one, name) for one in NOT_A_FEW_WORDS)
    ]
    assert forgotten == [], "say words= in their rows, or a reason here"
    stale = [one for one in NOT_A_FEW_WORDS if not any(re.fullmatch(one, n) for n in wrong)]
    assert stale == []
