"""Words, exit codes and abbreviations of tools; recorded from HTCondor 25.14.1."""

from __future__ import annotations

import io

import pytest

from kettle.classad import ClassAd
from kettle.tools.jobs import condor_ssh_to_job
from kettle.tools.programs import Streams
from kettle.tools.queue.wish import read_wish
from kettle.tools.reach import Reach
from kettle.tools.tokens import condor_token_request_list
from kettle.tools.tokens.token_commands import Wish


def streams() -> tuple[Streams, io.StringIO, io.StringIO]:
    out, err = io.StringIO(), io.StringIO()
    return Streams(io.StringIO(), out, err), out, err


@pytest.mark.parametrize("words", [[], ["xx"], ["-foo"]])
def test_a_wrong_command_line_of_ssh_to_job_ends_with_2(words: list[str]) -> None:
    where, out, err = streams()
    assert condor_ssh_to_job.main(["condor_ssh_to_job", *words], {}, where) == 2
    assert (out.getvalue(), err.getvalue() != "") == ("", True)


@pytest.mark.parametrize("word", ["1.x", "1.0.0", "7up"])
def test_condor_q_takes_what_is_no_number_for_an_owner(word: str) -> None:
    assert read_wish([word]).owners == [word]


def test_the_shortest_word_for_autoclusters_is_auto() -> None:
    assert "autocluster" in read_wish(["-auto"]).flags


@pytest.mark.parametrize(
    ("values", "code", "said"),
    [
        ({}, 0, "Remote daemon reports no requests pending.\n"),
        ({"reqid": "7"}, 1, "Remote daemon did not provide information for request ID 7.\n"),
    ],
)
def test_that_no_token_is_asked_for_is_said_on_stderr(
    values: dict[str, str], code: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing: list[ClassAd] = []
    monkeypatch.setattr(condor_token_request_list, "choose_daemon", lambda *_: None)
    monkeypatch.setattr(condor_token_request_list, "list_token_requests", lambda *_: nothing)
    where, out, err = streams()
    reach = Reach({"CONDOR_CONFIG": "/dev/null"})
    wish = Wish(values=values)
    assert condor_token_request_list.list_requests(wish, reach, where) == code
    assert (out.getvalue(), err.getvalue()) == ("", said)
