"""What a job may ask through Chirp."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.errors import RemoteProtocolError
from kettle.starter.chirp import REQUESTS, ChirpError, judge_delayed, split_line, visible_text
from kettle.wire.messages.syscalls import Sread, Swrite


@pytest.mark.parametrize("name", ["ClaimId", "claimid", "TransferKey", "_condor_privKey"])
def test_a_job_cannot_read_the_secrets_of_its_claim(name: str) -> None:
    job = ClassAd({name: "<127.0.0.1:1>#1#1#secret"})
    assert visible_text(name, {}, job) == "UNDEFINED"


def test_a_delayed_value_counts_before_the_jobs_own() -> None:
    job = ClassAd({"ChirpStep": 1, "Owner": "alice"})
    assert visible_text("ChirpStep", {"ChirpStep": "2"}, job) == "2"
    assert visible_text("Owner", {}, job) == '"alice"'
    assert visible_text("Nothing", {}, job) == "UNDEFINED"


def test_a_delayed_attribute_that_could_not_be_reported_is_refused_at_once() -> None:
    assert judge_delayed("ChirpStep", "1 + 2", {}, 1) == 0
    assert judge_delayed("ChirpStep", "1", {"ChirpStep": "0"}, 0) == 0
    assert judge_delayed("ChirpStep", "1", {}, 0) == ChirpError.TOO_BIG
    for name, text in (("Chirp X", "1"), ("ChirpA=1", "2"), ("ChirpStep", "1 +")):
        assert judge_delayed(name, text, {}, 1) == ChirpError.INVALID_REQUEST


def test_a_request_with_a_nul_costs_its_connection() -> None:
    with pytest.raises(RemoteProtocolError, match="NUL"):
        split_line('set_job_attr_delayed ChirpX "a\0b"')


def test_a_request_in_pieces_has_its_strides() -> None:
    words = ["7", "4", "10", "1", "3"]
    read = REQUESTS["sread"].make(words, b"")
    assert read == Sread(7, 4, 10, 1, 3)
    assert REQUESTS["swrite"].make(words, b"hell") == Swrite(7, 10, 1, 3, b"hell")
