"""The administrators' tools beside recordings of the reference (tests/data/cli/admin).

Recorded from HTCondor 25.14.1 in a chroot, as root, with the environment of `AROUND` and nothing
else: each option of each tool whole, in its abbreviations, with one and with two dashes, without
the words it needs, and followed by an option that does not exist; words that mean nothing; a
collector that refuses connections. Of alike answers some stand for all. What follows `Usage:` is
each tool's own and masked on both sides, and so are the two lines of -version. What depends on who
asks is left out.
"""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from kettle.errors import KettleError
from kettle.tools.programs import Streams, load_tool

DATA = Path(__file__).parents[1] / "data/cli/admin/recordings.json"
CASES: list[dict[str, Any]] = json.loads(DATA.read_text(encoding="utf-8"))
TOOLS = sorted({case["argv"][0] for case in CASES})
AROUND = {
    "CONDOR_CONFIG": "ONLY_ENV",
    "_CONDOR_COLLECTOR_HOST": "127.0.0.1:1",
    "_CONDOR_LOG": "/tmp/ba-nolog",
    "_CONDOR_NETWORK_HOSTNAME": "ap.example.org",
    "_CONDOR_NETWORK_INTERFACE": "127.0.0.1",
    "_CONDOR_SEC_PASSWORD_DIRECTORY": "/tmp/ba-nokeys",
    "_CONDOR_SEC_TOKEN_SYSTEM_DIRECTORY": "/tmp/ba-notokens",
    "_CONDOR_SPOOL": "/tmp/ba-nospool",
    "_CONDOR_TRUST_DOMAIN": "pool.example",
    "_CONDOR_UID_DOMAIN": "pool.example",
    "HOME": "/nonexistent",
}
_MASKS = (
    (re.compile(r"(?ims)^\s*usage: .*"), "@USAGE@"),
    (re.compile(r"\$CondorVersion:.*"), "@VERSION@"),
    (re.compile(r"\$CondorPlatform:.*"), "@PLATFORM@"),
)


def masked(text: str) -> str:
    for pattern, mark in _MASKS:
        text = pattern.sub(mark, text)
    return text


def run(argv: list[str]) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    try:
        code = load_tool(argv[0])(argv, AROUND, Streams(io.StringIO(), out, err))
    except KettleError as error:
        # As run_program ends it.
        return 1, masked(out.getvalue()), f"ERROR: {error}\n"
    return code, masked(out.getvalue()), masked(err.getvalue())


@pytest.mark.parametrize("tool", TOOLS)
def test_an_administrators_tool_says_what_the_reference_says(tool: str) -> None:
    wrong = []
    for case in CASES:
        if case["argv"][0] == tool:
            wanted = (case["exit"], case["stdout"], case["stderr"])
            said = run(case["argv"])
            if said != wanted:
                wrong.append(f"{case['argv']}\n  theirs {wanted}\n  ours   {said}")
    assert not wrong, f"{len(wrong)} differ\n" + "\n".join(wrong[:10])


def test_a_wrong_option_of_condor_ping_prints_no_table_of_levels() -> None:
    code, said, complaint = run(["condor_ping", "-nonesuch"])
    assert (code, said) == (1, "")
    assert complaint.startswith("ERROR: Unknown argument: -nonesuch\n")


# Not `-allpids`: that finds whatever runs on this machine.
@pytest.mark.parametrize("words", ["", "-long", "-wide"])
def test_a_machine_without_a_startd_runs_nothing(words: str) -> None:
    assert run(["condor_who", *words.split()]) == (0, "", "")


@pytest.mark.parametrize("form", [[], ["-verbose"]])
def test_ping_complains_on_the_error_stream(form: list[str]) -> None:
    words = ["condor_ping", "-address", "<127.0.0.1:1>", *form, "WRITE"]
    assert run(words) == (1, "", "ERROR: failed to make connection to <127.0.0.1:1>\n")
