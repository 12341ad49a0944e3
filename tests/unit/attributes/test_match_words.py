"""What only a negotiator may say is said by it, and by nobody else: one table for all of them."""

from __future__ import annotations

import pytest

from kettle.attributes.match_words import KEPT_WITH_A_SLOT, OF_A_MATCH, OF_WHOEVER_ASKS
from kettle.classad import ClassAd
from kettle.matchmaking.cycle import Cycle
from kettle.matchmaking.cycle_settings import CycleSettings
from kettle.matchmaking.groups import Group, GroupSettings
from kettle.matchmaking.plan import Match
from kettle.matchmaking.rank import Eviction
from kettle.matchmaking.requests import build_request, parse_request
from kettle.matchmaking.slots import SlotTable
from kettle.matchmaking.submitters import Submitter
from kettle.negotiator.dialogue import offered_ad
from kettle.policy.job_words import is_jobs_to_set
from kettle.schedd.claims import Claim
from kettle.schedd.job_runs import start_attributes
from kettle.schedd.matched_slots import keep_group
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.services.claims import claim_request

MATCHED = tuple(word.name for word in OF_A_MATCH)
FORGED = dict.fromkeys((*OF_WHOEVER_ASKS, *KEPT_WITH_A_SLOT), "forged")


def forged_in(ad: ClassAd) -> list[str]:
    return [name for name in ad.names() if ad.string(name) == "forged"]


def test_a_request_says_nothing_of_how_its_submitter_stands() -> None:
    request = build_request(ClassAd(FORGED), OF_WHOEVER_ASKS, autocluster_id=1, count=1)
    assert not {name.lower() for name in request.names()} & {
        name.lower() for name in OF_WHOEVER_ASKS
    }
    parsed = parse_request(ClassAd(FORGED), submitter="u@here", schedd="<1>")
    assert not set(forged_in(parsed.ad)) & set(OF_WHOEVER_ASKS)


def test_the_cycle_says_all_of_it_and_nothing_beside() -> None:
    request = parse_request(ClassAd({"ClusterId": 1}), submitter="u@here", schedd="<1>")
    submitter = Submitter("u@here", 500.0, group="g", requests=[request])
    groups = {"g": Group("g", GroupSettings("g"), None)}
    cycle = Cycle(SlotTable([], 0.0), [submitter], CycleSettings(), groups=groups)
    cycle.run()
    said = {name for name in request.ad.names() if name.lower().startswith("submitt")}
    assert said == set(OF_WHOEVER_ASKS)


def test_a_match_says_all_of_it_whatever_the_slot_says() -> None:
    request = parse_request(ClassAd({"ClusterId": 1}), submitter="u@here", schedd="<1>")
    slot = ClassAd(dict.fromkeys(MATCHED, "forged"))
    ad = offered_ad(Match(request, "s", "<1>", slot, "<1>#1", 1.0, Eviction.NOBODY))
    assert forged_in(ad) == []


def test_a_slot_that_was_granted_has_the_words_of_the_one_that_was_matched() -> None:
    assert forged_in(keep_group(ClassAd(FORGED), ClassAd())) == list(OF_WHOEVER_ASKS)


@pytest.mark.parametrize("word", MATCHED)
def test_a_claim_is_requested_with_the_negotiators_word_alone(word: str) -> None:
    job = ClassAd({"User": "eve@vm", **FORGED, "ConcurrencyLimits": "forged"})
    claim = Claim("<s>#1#1#key", "<s>", ClassAd(), "eve@vm", 1, JobId(1, 0), 0.0, "eve@vm")
    ad = claim_request(job, claim, "schedd@vm")
    assert ad.string(word) != "forged"
    assert ad.string("ConcurrencyLimits") is None


def test_a_jobs_own_words_of_a_match_go_when_it_starts() -> None:
    changes = start_attributes(ClassAd(FORGED), {}, 1000)
    assert {name for name in KEPT_WITH_A_SLOT if changes.get(name, "") is None} == set(
        KEPT_WITH_A_SLOT
    )


@pytest.mark.parametrize("name", FORGED)
def test_a_running_job_may_not_set_them(name: str) -> None:
    assert not is_jobs_to_set(name.lower())
