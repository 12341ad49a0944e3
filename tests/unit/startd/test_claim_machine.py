"""What a claim may still do."""

from __future__ import annotations

import pytest

from kettle.attributes.codes import VacateReasonCode
from kettle.startd import claim_machine as cm


def idle_claim(worklife: float = 1200) -> cm.Claim:
    holder = cm.Holder("<127.0.0.1:9>", "ap", "u@d", "u")
    return cm.accept(cm.Claim("id"), holder, 100.0, lease=90.0, worklife=worklife)


@pytest.mark.shows("S012")
@pytest.mark.shows("B144", "B145")
def test_the_jobs_lease_counts_and_else_the_missed_alives() -> None:
    assert cm.lease_for(600, 300, 6) == 600
    assert cm.lease_for(None, 300, 6) == 1800
    assert cm.lease_for(None, 5, 2) == 20


@pytest.mark.parametrize("lease", [1, 5, 20])
def test_a_job_with_a_short_lease_does_not_lose_its_claim_before_it_begins(lease: int) -> None:
    assert cm.lease_for(lease, 300, 6) == 20


def test_an_idle_claim_asks_for_life_three_times_a_lease() -> None:
    claim = idle_claim()
    assert cm.alive_due_at(claim) == 130
    assert cm.lease_left(claim, 150.0) == 40
    assert cm.lease_left(cm.hear(claim, 150.0), 150.0) == 90


def test_an_active_claim_has_no_lease_of_its_own() -> None:
    claim = cm.activate(idle_claim(), 1, 110.0)
    assert cm.lease_left(claim, 1000.0) is None
    assert cm.alive_due_at(claim) is None
    assert cm.lease_left(cm.end_activation(claim, 1000.0), 1000.0) == 90


@pytest.mark.shows("B138")
def test_the_worklife_limits_reuse() -> None:
    once = cm.end_activation(cm.activate(idle_claim(0), 1, 100.0), 101.0)
    assert not cm.may_run_another(once, 101.0)
    assert cm.refusal(once, 101.0) == VacateReasonCode.ActivationRefusedWorklifeExpired
    endless = cm.end_activation(cm.activate(idle_claim(-1), 1, 100.0), 101.0)
    assert cm.refusal(endless, 1e9) == 0


def test_refusals_say_why() -> None:
    assert cm.refusal(None, 0.0) == VacateReasonCode.ActivationRefusedClaimNotFound
    assert cm.refusal(cm.Claim("id"), 0.0) == VacateReasonCode.ActivationRefusedUnclaimed
    active = cm.activate(idle_claim(), 1, 100.0)
    assert cm.refusal(active, 100.0) == VacateReasonCode.ActivationRefusedNotIdle
    assert cm.refusal(cm.break_off(active), 100.0) == VacateReasonCode.ActivationRefusedPreempted
    stopping = cm.refusal(idle_claim(), 100.0, shutting_down=True)
    assert stopping == VacateReasonCode.StartdShutdown


def test_a_broken_claim_stays_broken_when_its_starter_ends() -> None:
    closing = cm.break_off(cm.activate(idle_claim(), 1, 100.0))
    assert cm.end_activation(closing, 105.0).phase is cm.ClaimPhase.CLOSING
    assert not cm.may_run_another(closing._replace(worklife_seconds=-1), 105.0)


def test_a_claim_that_its_slot_keeps_may_run_further_jobs() -> None:
    active = cm.activate(idle_claim(), 1, 100.0)
    kept = cm.end_activation(cm.keep(cm.break_off(active)), 105.0)
    assert kept.phase is cm.ClaimPhase.IDLE
    assert cm.may_run_another(kept._replace(worklife_seconds=-1), 105.0)


def test_a_claim_may_be_broken_off_in_any_phase_in_which_somebody_holds_it() -> None:
    P = cm.ClaimPhase  # noqa: N806
    closing = cm.break_off(idle_claim())
    assert closing.phase is P.CLOSING
    assert cm.break_off(closing).phase is P.CLOSING
    with pytest.raises(AssertionError, match="break_off"):
        cm.break_off(cm.Claim("id"))


def test_a_starter_that_ends_before_its_claim_knew_of_it_renews_the_lease() -> None:
    claim = cm.end_activation(idle_claim(), 130.0)
    assert claim.phase is cm.ClaimPhase.IDLE
    assert cm.lease_left(claim, 130.0) == 90
