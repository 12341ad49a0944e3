"""What a job may ask through Chirp."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.starter.chirp import visible_text


@pytest.mark.parametrize("name", ["ClaimId", "claimid", "TransferKey", "_condor_privKey"])
def test_a_job_cannot_read_the_secrets_of_its_claim(name: str) -> None:
    job = ClassAd({name: "<127.0.0.1:1>#1#1#secret"})
    assert visible_text(name, {}, job) == "UNDEFINED"


def test_a_delayed_value_counts_before_the_jobs_own() -> None:
    job = ClassAd({"ChirpStep": 1, "Owner": "alice"})
    assert visible_text("ChirpStep", {"ChirpStep": "2"}, job) == "2"
    assert visible_text("Owner", {}, job) == '"alice"'
    assert visible_text("Nothing", {}, job) == "UNDEFINED"
