"""What tools say where nobody answers: the reference's sentences, streams and exit codes.

Recorded from HTCondor 25.14.1 with a collector that refuses connections; ours end with why.
"""

from __future__ import annotations

import pytest

from cli.test_admin_recordings import run

WHY = "cannot connect to <127.0.0.1:1>: Connection refused\n"
QUERY = "Can't query collector for ads: "


@pytest.mark.parametrize(
    ("words", "where", "what"),
    [
        ("", "'default' in local pool", QUERY),
        ("-name n@h", "'n@h' in local pool", QUERY),
        ("-pool 127.0.0.1:1", "'default' in 127.0.0.1:1", QUERY),
        ("-getreslist a@b", "'default' in local pool", "GET_RESLIST"),
        ("-setprio a@b 5", "'default' in local pool", "SET_PRIORITY"),
        ("-setfactor a@b 5", "'default' in local pool", "SET_PRIORITYFACTOR"),
        ("-delete a@b", "'default' in local pool", "DELETE_USER"),
        ("-resetall", "'default' in local pool", "RESET_ALL_USAGE"),
    ],
)
def test_userprio_names_the_negotiator_that_it_did_not_find(
    words: str, where: str, what: str
) -> None:
    said = what if what == QUERY else f"failed to send {what} command to negotiator\n"
    complaint = f"condor_userprio: Can't locate negotiator {where}\n{said}{WHY}"
    assert run(["condor_userprio", *words.split()]) == (1, "", complaint)


@pytest.mark.parametrize("form", [[], ["-verbose"]])
def test_ping_complains_on_the_error_stream(form: list[str]) -> None:
    words = ["condor_ping", "-address", "<127.0.0.1:1>", *form, "WRITE"]
    assert run(words) == (1, "", "ERROR: failed to make connection to <127.0.0.1:1>\n")
