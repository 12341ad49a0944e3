"""Ids for owners without an account: always the same, nobody else's, and in the namespace."""

from __future__ import annotations

import pytest

from kettle.errors import NotFoundError
from kettle.runtime.process import lent_accounts
from kettle.runtime.process.lent_accounts import UNUSED, find_or_lend, lendable, lent_uid
from kettle.runtime.process.privileges import find_account

ALL = "         0          0 4294967295\n"
CONTAINER = "0 100000 65536\n"


def none_taken(_: int) -> bool:
    return False


@pytest.mark.parametrize(
    ("uid_map", "gid_map", "ids"),
    [
        (ALL, ALL, UNUSED),
        (CONTAINER, CONTAINER, range(32_768, 65_436)),
        ("0 1000 1\n1 100000 65536\n", CONTAINER, range(32_768, 65_436)),
        (CONTAINER, "0 1000 1\n1 100000 70000\n", range(32_768, 65_436)),
        (ALL, CONTAINER, range(32_768, 65_436)),
        (CONTAINER, "0 100000 1000\n", range(0)),
        ("0 1000 1\n", ALL, range(0)),
        ("0 0 10000\n", "0 0 10000\n", range(0)),
        (CONTAINER, "", range(0)),
        ("", "", range(0)),
    ],
    ids=[
        *("the machine's", "a container's", "users in two pieces", "groups in two pieces"),
        *("fewer groups", "few groups", "one account", "few", "no groups", "none"),
    ],
)
def test_ids_are_of_the_part_that_nobody_hands_out(uid_map: str, gid_map: str, ids: range) -> None:
    assert lendable(uid_map, gid_map) == ids


def test_an_owner_has_the_same_id_each_time_and_another_one_has_another() -> None:
    uids = [lent_uid(f"owner{number}", UNUSED, none_taken) for number in range(500)]
    assert len(set(uids)) == 500
    assert all(uid in UNUSED for uid in uids)
    # What lies in a spool is his after an upgrade, too.
    assert uids[0] == 2_255_337_145
    assert lent_uid("\udcff", range(7, 8), none_taken) == 7


def test_an_id_that_an_account_has_is_not_lent() -> None:
    first = lent_uid("alice", UNUSED, none_taken)
    second = lent_uid("alice", UNUSED, lambda uid: uid == first)
    assert second is not None
    assert second != first
    assert lent_uid("alice", UNUSED, lambda _: True) is None
    assert lent_uid("alice", range(0), none_taken) is None


def test_a_name_without_bytes_is_of_nobody() -> None:
    assert lent_uid("\ud800", UNUSED, none_taken) is None
    with pytest.raises(NotFoundError):
        find_or_lend("\ud800")


def test_who_has_an_account_is_lent_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lent_accounts, "_ids", lambda: UNUSED)
    assert find_or_lend("daemon") == find_account("daemon")
    guest = find_or_lend("no-such-account-here")
    assert (guest.name, guest.lent, guest.groups) == ("no-such-account-here", True, ())
    assert guest.uid == guest.gid
    monkeypatch.setattr(lent_accounts, "_ids", lambda: range(0))
    with pytest.raises(NotFoundError, match=r"no account 'no-such.*, and no uid to lend"):
        find_or_lend("no-such-account-here")
    with pytest.raises(NotFoundError):
        find_or_lend("")
