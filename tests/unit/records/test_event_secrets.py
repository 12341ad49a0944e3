"""Event logs name no claim in full, whoever's words an event has."""

from __future__ import annotations

import pytest

from kettle.records.event_forms import render
from kettle.records.event_kinds import JobHeldEvent
from kettle.records.event_log import Format, Style


@pytest.mark.parametrize("form", list(Format))
def test_a_reason_that_names_a_claim_names_it_without_its_secret(form: Format) -> None:
    reason = 'ClaimId (<1.2.3.4:5>#17#2#[Encryption="YES";]00ff) not found'
    data = render(JobHeldEvent(cluster=1, proc=0, time=0.0, reason=reason), Style(form=form))
    assert b"00ff" not in data
    assert b"#17#2#...) not found" in data
