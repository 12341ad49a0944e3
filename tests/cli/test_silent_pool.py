"""Tools where no daemon answers, beside recordings of the reference (tests/data/cli/silent_pool).

Recorded from HTCondor 25.14.1 by `.ci/record_tools.py silent_pool`: in the configuration `nobody`
the collector refuses connections and no daemon has said where it is; in `gone` their files are
there and they are not. Usages are in our own words.
"""

from __future__ import annotations

import io
import json
import re
import socket
from pathlib import Path
from typing import Any

import pytest

from kettle.errors import KettleError
from kettle.tools.programs import Streams, load_tool

DATA = Path(__file__).parents[1] / "data/cli/silent_pool"
CASES: list[dict[str, Any]] = json.loads((DATA / "recordings.json").read_text(encoding="utf-8"))
_USAGE = re.compile(r"^\s*use?(age)?:.*", re.IGNORECASE | re.DOTALL | re.MULTILINE)


def run(argv: list[str], environment: dict[str, str]) -> tuple[int, str, str]:
    """Return exit code, stdout and stderr of one of our tools, without usages."""
    out, err = io.StringIO(), io.StringIO()
    around = {"CONDOR_CONFIG": "nobody", "HOME": "/nonexistent", **environment}
    try:
        code = load_tool(argv[0])(argv, around, Streams(io.StringIO(), out, err))
    except KettleError as error:
        code = 1
        err.write(f"ERROR: {error}\n")
    return code, _USAGE.sub("@USAGE@", out.getvalue()), _USAGE.sub("@USAGE@", err.getvalue())


@pytest.fixture(autouse=True)
def without_a_resolver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no name but numbers be known, at once and wherever the tests run."""
    look_up = socket.getaddrinfo

    def refuse(host: Any, *words: Any, **named: Any) -> Any:
        text = host.decode() if isinstance(host, bytes) else host
        if not text.replace(".", "").isdecimal():
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return look_up(host, *words, **named)

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.chdir(DATA)


@pytest.mark.parametrize("tool", sorted({case["argv"][0] for case in CASES}))
def test_a_tool_that_nobody_answers_says_what_the_reference_says(tool: str) -> None:
    wrong = []
    for case in CASES:
        if case["argv"][0] == tool:
            wanted = (case["exit"], case["stdout"], case["stderr"])
            said = run(case["argv"], case.get("environment", {}))
            if said != wanted:
                shown = [*case.get("environment", {}).values(), *case["argv"]]
                wrong.append(f"{shown}\n  theirs {wanted}\n  ours   {said}")
    assert not wrong, f"{len(wrong)} differ\n" + "\n".join(wrong[:10])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "CEDAR:6001:Failed to connect to <127.0.0.1:1>"),
        (["-name", "x@h"], "Couldn't contact the condor_collector on 127.0.0.1:1. "),
        (["-g"], "Couldn't contact the condor_collector on 127.0.0.1:1. "),
    ],
)
def test_the_queue_of_a_silent_pool_is_refused_in_the_reference_s_first_line(
    words: list[str], said: str
) -> None:
    """The advice below it is in our own words."""
    code, out, complaint = run(["condor_q", *words], {})
    assert (code, out, complaint.split("\n")[0]) == (1, "", f"Error: {said}")
