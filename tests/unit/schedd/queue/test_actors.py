"""Who acts, and as whom."""

from __future__ import annotations

import pytest

from kettle.schedd.queue.actors import ActorRules

RULES = ActorRules("pool", frozenset({"root", "carol@elsewhere"}), "condor")


def test_a_super_user_of_another_domain_needs_no_record() -> None:
    carol = RULES.actor("carol@elsewhere")
    assert carol.super_user
    assert carol.may_change("alice@pool")
    assert not RULES.actor("carol@pool").super_user


@pytest.mark.parametrize("name", ["", "@pool", "unauthenticated@unmapped", "carol@unmapped"])
def test_whoever_is_not_mapped_is_nobody(name: str) -> None:
    actor = RULES.actor(name)
    assert not actor.known
    assert not actor.may_change("carol@unmapped")


def test_a_short_name_is_super_in_its_own_domain_alone() -> None:
    assert RULES.actor("root@pool").super_user
    assert not RULES.actor("root@elsewhere").super_user
