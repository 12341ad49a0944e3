"""As whom a job runs: the peer's word, the slot's user, and what is never believed (R086, R087)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kettle.classad import ClassAd
from kettle.errors import RefusedError
from kettle.starter.account import (
    AccountRules,
    Claimed,
    choose_account,
    is_dedicated,
    needs_submit_host,
    read_claimed,
    slot_account,
)

RULES = AccountRules(uid_domain="pool.example", slot_users={"slot1": "cu1", "slot1_2": "cu12"})
ALICE = Claimed("alice", "POOL.example")


def test_the_owner_of_a_host_in_our_domain_is_believed() -> None:
    assert choose_account(RULES, ALICE, "slot1", in_domain=True).name == "alice"


def test_a_host_outside_that_claims_our_domain_is_not_believed() -> None:
    choice = choose_account(RULES, ALICE, "slot1", in_domain=False)
    assert (choice.name, choice.named_here) == ("cu1", True)
    assert "TRUST_UID_DOMAIN" in choice.reason


def test_trust_uid_domain_believes_without_looking() -> None:
    rules = replace(RULES, trust_uid_domain=True)
    assert needs_submit_host(RULES, ALICE)
    assert not needs_submit_host(rules, ALICE)
    assert choose_account(rules, ALICE, "slot1", in_domain=False).name == "alice"


def test_trust_uid_domain_does_not_make_another_domain_ours() -> None:
    rules = replace(RULES, trust_uid_domain=True)
    claimed = replace(ALICE, uid_domain="elsewhere.example")
    assert choose_account(rules, claimed, "slot1", in_domain=False).name == "cu1"


@pytest.mark.parametrize(
    ("rules", "claimed"),
    [
        (RULES, replace(ALICE, owner="")),
        (RULES, replace(ALICE, run_as_owner=False)),
        (replace(RULES, allow_run_as_owner=False), ALICE),
        (RULES, replace(ALICE, uid_domain="")),
    ],
)
def test_who_may_not_or_does_not_want_to_run_as_owner_gets_the_slots_user(
    rules: AccountRules, claimed: Claimed
) -> None:
    assert not needs_submit_host(rules, claimed)
    choice = choose_account(rules, claimed, "slot2", in_domain=True)
    assert (choice.name, choice.named_here) == ("nobody", False)


def test_a_slot_has_its_own_user_else_its_parents_else_everybodys() -> None:
    rules = replace(RULES, everybody="common")
    assert slot_account(rules, "slot1_2") == "cu12"
    assert slot_account(rules, "slot1_3") == "cu1"
    assert slot_account(rules, "slot2") == "common"
    assert slot_account(replace(rules, everybody="root"), "slot2") == "nobody"
    assert slot_account(AccountRules(slot_users={"slot1": "root"}), "slot1") == "nobody"


def test_dedicated_accounts_match_as_a_whole() -> None:
    rules = replace(RULES, dedicated="cu[0-9]+")
    assert is_dedicated(rules, "cu1")
    assert not is_dedicated(rules, "cu1x")
    assert not is_dedicated(rules, "root")
    assert not is_dedicated(replace(rules, dedicated="("), "cu1")


def test_the_job_that_comes_has_the_owner_that_the_machine_agreed_to() -> None:
    agreed = ClassAd({"Owner": "alice"})
    job = ClassAd({"Owner": "alice", "OsUser": "alice@pool.example", "UidDomain": "pool.example"})
    assert read_claimed(agreed, job) == Claimed("alice", "pool.example")
    with pytest.raises(RefusedError, match="a job of alice, not of bob"):
        read_claimed(agreed, ClassAd({"Owner": "bob", "UidDomain": "pool.example"}))


def test_a_job_without_an_owner_of_its_own_is_of_the_account_it_names() -> None:
    assert read_claimed(ClassAd(), ClassAd({"OsUser": "alice@vm"})).owner == "alice"
    assert read_claimed(ClassAd(), ClassAd()).owner == ""
