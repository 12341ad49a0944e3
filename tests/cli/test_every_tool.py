"""What every command has in common: -help, -version, and a refusal of what it does not know."""

from __future__ import annotations

import io

import pytest

from kettle.errors import KettleError
from kettle.tools.options import HELP_ON_STDERR
from kettle.tools.programs import TOOLS, Streams, load_tool

shows = pytest.mark.shows

# Where every word is an expression, as the reference's takes them.
TAKES_ANYTHING = {"classad_eval"}
# Compat: after the help of these the reference ends with another code (test_admin_recordings).
AFTER_HELP = dict.fromkeys(
    (
        "condor_config_val",
        "condor_drain",
        "condor_manifest",
        "condor_preen",
        "condor_prio",
        "condor_run",
        "condor_store_cred",
        "condor_token_create",
        "condor_token_fetch",
        "condor_token_request",
        "condor_token_request_approve",
        "condor_token_request_list",
        "condor_userprio",
        "condor_who",
    ),
    1,
) | {"classad_eval": 255, "condor_chirp": 255}


def run(name: str, *words: str) -> tuple[int, str, str]:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    try:
        code = load_tool(name)([name, *words], {"CONDOR_CONFIG": "ONLY_ENV"}, streams)
    except KettleError as error:
        # As run_program ends it.
        return 1, "", str(error)
    assert isinstance(streams.stdout, io.StringIO)
    assert isinstance(streams.stderr, io.StringIO)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()


@shows("R075")
@pytest.mark.parametrize("name", TOOLS)
def test_it_says_its_usage(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, said, complaint = run(name, "--help" if name == "kettle" else "-help")
    assert code == AFTER_HELP.get(name, 0)
    # argparse writes to the streams of the process.
    assert "usage" in (said + complaint + capsys.readouterr().out).lower()


@pytest.mark.parametrize("name", sorted(HELP_ON_STDERR | {"condor_q", "condor_submit"}))
def test_help_goes_where_the_reference_says_it(name: str) -> None:
    code, said, complaint = run(name, "-help")
    assert code == AFTER_HELP.get(name, 0)
    assert (said != "", complaint != "") == (name not in HELP_ON_STDERR, name in HELP_ON_STDERR)


@shows("R075")
@pytest.mark.parametrize("name", sorted(set(TOOLS) - TAKES_ANYTHING))
def test_it_says_its_version(name: str) -> None:
    code, said, _ = run(name, "--version" if name == "kettle" else "-version")
    # As the reference's: only the end of jobs is a success of condor_wait.
    assert code == (name == "condor_wait")
    assert "25.14.1" in said or name == "kettle"


@shows("R075")
@pytest.mark.parametrize("name", sorted(set(TOOLS) - TAKES_ANYTHING))
def test_it_refuses_what_it_does_not_know(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, complaint = run(name, "-no-such-option")
    assert code != 0
    assert complaint or capsys.readouterr().err


# In these it begins with an option of theirs, or a job; of a lone word the last says what the
# reference says.
_READ_OTHERWISE = {"condor_findhost", "condor_prio", "condor_run", "condor_token_create"}


@pytest.mark.parametrize("name", sorted(set(TOOLS) - TAKES_ANYTHING - _READ_OTHERWISE))
def test_it_names_what_it_does_not_know(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, said, complaint = run(name, "-no-such-option")
    assert "no-such-option" in said + complaint + capsys.readouterr().err
