"""Ids for owners without an account: nobody else's, in the namespace, and written down."""

from __future__ import annotations

import pytest

from kettle.runtime.process.lent_accounts import (
    MOST_ENTRIES,
    UNUSED,
    Register,
    choose_uid,
    lendable,
    lent_to,
    read_register,
    render_register,
    why_not_entered,
)
from kettle.runtime.process.privileges import Account

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


def test_somebody_new_has_the_uid_that_his_whole_name_comes_to() -> None:
    uids = [choose_uid(f"owner{number}@here", UNUSED, (), none_taken) for number in range(500)]
    assert len(set(uids)) == 500
    assert all(uid in UNUSED for uid in uids)
    assert choose_uid("owner0@here", UNUSED, (), none_taken) == uids[0]
    assert choose_uid("owner0@elsewhere", UNUSED, (), none_taken) != uids[0]
    assert choose_uid("\udcff", range(7, 8), (), none_taken) == 7


def test_a_uid_that_another_guest_or_an_account_has_is_not_lent() -> None:
    first = choose_uid("alice@here", UNUSED, (), none_taken)
    assert first is not None
    assert choose_uid("alice@here", UNUSED, {first}, none_taken) == first + 1
    second = choose_uid("alice@here", UNUSED, {first}, lambda uid: uid <= first + 1)
    assert second == first + 2
    assert choose_uid("alice@here", UNUSED, (), lambda _: True) is None
    assert choose_uid("alice@here", range(0), (), none_taken) is None
    # However full the ids are: what is free is found.
    assert choose_uid("alice@here", range(100), range(99), none_taken) == 99


def test_a_register_says_what_was_written() -> None:
    uids = {"ann@here": 2147483650, "ann@else where": 2147483651, "\udcff@here": 7}
    text = render_register(uids)
    assert read_register(text) == Register(uids)
    assert text.encode("utf-8", "surrogateescape").endswith(b"7 \xff@here\nend 3\n")
    assert read_register(render_register({})) == Register()


@pytest.mark.parametrize(
    ("text", "uids", "damage"),
    [
        ("", {}, "its last line has no end|it does not end"),
        ("7 ann@here\n8 bob@here\nend 2", {"ann@here": 7, "bob@here": 8}, "no end|'end 2'"),
        (
            "7 ann@here\n8 bob@here\n",
            {"ann@here": 7, "bob@here": 8},
            "it does not end with 'end 2'",
        ),
        ("7 ann@here\n8 bob@here\nend 3\n", {"ann@here": 7, "bob@here": 8}, "'end 2'"),
        ("7 ann@here\nbob@here\nend 2\n", {"ann@here": 7}, "line 2 is not|'end 1'"),
        ("7 ann@here\n8\nend 2\n", {"ann@here": 7}, "line 2 is not|'end 1'"),
        ("0 ann@here\nend 1\n", {}, "line 1 is not a uid|'end 0'"),
        ("\x00\x00\n\x00\x00", {}, "no end|line 1|'end 0'"),
        (
            "7 ann@here\n7 bob@here\n8 eve@here\nend 3\n",
            {"eve@here": 8},
            "line 1 is not the only one of ann@here or of 7|line 2 is not the only one",
        ),
        ("7 ann@here\n8 ann@here\nend 2\n", {}, "line 1 is not the only|line 2 is not the only"),
    ],
)
def test_of_a_damaged_register_what_can_be_read_counts_and_nobody_new_comes_in(
    text: str, uids: dict[str, int], damage: str
) -> None:
    register = read_register(text)
    assert register.uids == uids
    said = "\n".join(register.damage)
    assert all(part in said for part in damage.split("|")), said
    assert why_not_entered(register, "new@here").startswith("the register of lent uids is damaged")


@pytest.mark.parametrize("user", ["", "\ud800@here", "a\nb@here", " a@here", "a" * 257])
def test_who_has_no_name_to_write_down_is_lent_nothing(user: str) -> None:
    assert "of that name" in why_not_entered(Register(), user)


def test_a_register_has_its_bounds() -> None:
    full = Register({f"{number}@here": number for number in range(1, MOST_ENTRIES + 1)})
    assert why_not_entered(full, "new@here") == "10000 others are lent one already"
    assert why_not_entered(Register(), "new@here") == ""


def test_who_is_lent_an_account_runs_as_that_on_the_access_point() -> None:
    guest, slot = Account("ann", 1 << 31, 1 << 31, (), lent=True), Account("slot1", 9, 9, ())
    assert lent_to(guest) is guest
    assert lent_to(slot) is None
    assert lent_to(None) is None
