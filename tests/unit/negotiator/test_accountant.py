"""The books of who used how much."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.matchmaking.fair_share import PrioritySettings
from kettle.negotiator.accountant import Accountant, holding_name
from kettle.negotiator.books_table import accountant_of, table_of
from kettle.records import accounting_log

HALF_LIFE = 86400


def claimed(name: str, user: str, *, cpus: int = 1, since: int = 0) -> ClassAd:
    ad = ClassAd(
        {
            "Name": name,
            "MyAddress": "<1>",
            "State": "Claimed",
            "RemoteUser": user,
            "Cpus": cpus,
            "EnteredCurrentState": since,
        }
    )
    ad.insert_text("SlotWeight", "Cpus")
    return ad


def books() -> Accountant:
    accountant = Accountant(PrioritySettings(half_life_seconds=HALF_LIFE))
    accountant.age(1000)
    return accountant


def test_a_new_submitter_has_the_best_priority_and_the_default_factor() -> None:
    assert books().effective_priority("u@d") == 500.0


def test_usage_is_charged_by_time_and_weight() -> None:
    accountant = books()
    accountant.add_match("u@d", "slot1@<1>", 4.0, 1000)
    accountant.age(1600)
    customer = accountant.customers["u@d"]
    assert customer.accumulated == 600.0
    assert customer.weighted_accumulated == 2400.0
    assert customer.last_usage_at == 1600
    assert accountant.customers["<none>"].weighted_accumulated == 2400.0


def test_a_slot_is_charged_only_from_the_match_on() -> None:
    accountant = books()
    accountant.add_match("u@d", "slot1@<1>", 1.0, 1050)
    accountant.age(1060)
    assert accountant.customers["u@d"].accumulated == 10.0


def test_a_user_counts_as_active_from_its_first_slot_on() -> None:
    # condor_userprio leaves out who has not used anything of late.
    accountant = books()
    accountant.add_match("u@d", "slot1@<1>", 1.0, 1050)
    customer = accountant.customers["u@d"]
    assert (customer.begin_usage_at, customer.last_usage_at) == (1050, 1050)


def test_usage_between_two_updates_is_charged_at_the_next() -> None:
    accountant = books()
    accountant.add_match("u@d", "slot1@<1>", 2.0, 1010)
    accountant.remove_match("slot1@<1>", 1040)
    accountant.age(1060)
    customer = accountant.customers["u@d"]
    assert customer.accumulated == pytest.approx(30.0)
    assert customer.weighted_accumulated == pytest.approx(60.0)


@pytest.mark.shows("R072")
def test_priority_rises_with_usage_and_decays_by_the_half_life() -> None:
    accountant = books()
    accountant.add_match("u@d", "slot1@<1>", 100.0, 1000)
    accountant.age(1000 + HALF_LIFE)
    high = accountant.customers["u@d"].priority
    assert high == pytest.approx(50.25)
    accountant.remove_match("slot1@<1>", 1000 + HALF_LIFE)
    accountant.age(1000 + 2 * HALF_LIFE)
    assert accountant.customers["u@d"].priority == pytest.approx(high / 2)


def test_the_slot_ads_decide_what_is_charged() -> None:
    accountant = books()
    accountant.observe([claimed("slot1@h", "u@d", cpus=4)], 1000)
    assert accountant.weight_in_use("u@d") == 4.0
    accountant.observe([claimed("slot1@h", "v@d", cpus=4)], 1010)
    assert accountant.weight_in_use("u@d") == 0.0
    assert accountant.weight_in_use("v@d") == 4.0
    accountant.observe([], 1020)
    assert accountant.weight_in_use("v@d") == 0.0


@pytest.mark.parametrize("ahead", [0, 5000, -5000])
def test_a_machine_s_date_counts_by_our_steady_clock(ahead: int) -> None:
    accountant = books()
    taken = claimed("slot1@h", "u@d", since=1040 + ahead)
    accountant.observe([taken], 1100, set_ahead=ahead)
    assert [holding.since for holding in accountant.holdings.values()] == [1040]


def test_a_clock_that_was_set_back_charges_nothing() -> None:
    accountant = books()
    accountant.add_match("u@d", "slot1@<1>", 1.0, 1000)
    accountant.age(900)
    assert accountant.customers["u@d"].accumulated == 0.0
    accountant.age(910)
    assert accountant.customers["u@d"].accumulated == 10.0


def test_an_administrator_sets_factor_and_priority() -> None:
    accountant = books()
    accountant.set_factor("u@d", 10000.0)
    accountant.set_priority("u@d", 3.0)
    assert accountant.effective_priority("u@d") == 30000.0
    accountant.set_factor("u@d", 0.1)
    assert accountant.factor("u@d") == 1.0


def test_a_members_factor_defaults_to_its_groups() -> None:
    accountant = Accountant(PrioritySettings(), ("physics",))
    accountant.set_factor("physics", 7.0)
    assert accountant.factor("physics.u@d") == 7.0
    assert accountant.factor("u@d") == 1000.0


def test_a_group_is_charged_for_its_members() -> None:
    accountant = Accountant(PrioritySettings(), ("physics", "physics.lhc"))
    accountant.age(10)
    accountant.add_match("physics.lhc.u@d", "s@<1>", 3.0, 10)
    accountant.add_match("physics.v@d", "t@<1>", 1.0, 10)
    assert accountant.weight_in_use("physics.lhc") == 3.0
    assert accountant.weight_in_use("physics") == 1.0
    assert accountant.customers["physics"].tree_weight_in_use == 4.0


def test_a_customer_with_slots_is_not_deleted() -> None:
    accountant = books()
    accountant.add_match("u@d", "s@<1>", 1.0, 1000)
    accountant.delete("u@d")
    assert "u@d" in accountant.customers
    accountant.remove_match("s@<1>", 1001)
    accountant.delete("u@d")
    assert "u@d" not in accountant.customers


def test_the_books_survive_the_log() -> None:
    accountant = books()
    accountant.add_match("u@d", "slot1@h@<1>", 8.0, 1000, "lic:2")
    accountant.set_factor("v@d", 50.0)
    accountant.customer("v@d").ceiling = 5
    accountant.age(1100)
    text = "".join(accounting_log.encode_snapshot(1, 1000, table_of(accountant)))
    table, _ = accounting_log.replay(text.encode())
    again = accountant_of(table, accountant.settings)
    assert again.last_update_at == 1100
    assert again.weight_in_use("u@d") == 8.0
    assert again.holdings["slot1@h@<1>"].limits == "lic:2"
    assert again.factor("v@d") == 50.0
    assert again.bounds("v@d") is not None
    assert again.customers["u@d"].factor is None
    assert table_of(again).ads == table_of(accountant).ads


def test_a_log_with_nonsense_is_read_as_far_as_it_makes_sense() -> None:
    table = accounting_log.AccountingTable()
    table.ads["Customer.u@d"] = {"Priority": "nan", "AccumulatedUsage": "x", "Ceiling": "3"}
    table.ads["Resource.s"] = {"StartTime": "5"}
    accountant = accountant_of(table, PrioritySettings())
    assert accountant.customers["u@d"].priority == 0.5
    assert accountant.customers["u@d"].ceiling == 3
    assert not accountant.holdings


def test_names_that_no_log_can_have_are_not_taken_out_of_one() -> None:
    data = b"103 Customer.a\tb Priority 7.0\n103 Customer.u@here Priority 7.0\n"
    data += b'103 Resource.s\tt@<a> RemoteUser "u@here"\n103 Resource.s@<a> RemoteUser "a b"\n'
    table, _ = accounting_log.replay(data)
    again = accountant_of(table, PrioritySettings())
    assert list(again.customers) == ["u@here"]
    assert not again.holdings


@pytest.mark.parametrize("length", [65_520, 65_527, 65_530, 65_536])
def test_no_name_is_so_long_that_the_books_cannot_be_written(length: int) -> None:
    accountant = books()
    long_user, long_slot = claimed("slot1@h", "u" * length), claimed("s" * length, "u@d")
    accountant.observe([long_user, long_slot, claimed("slot2@h", "v@d")], 1000)
    text = "".join(accounting_log.encode_snapshot(1, 1000, table_of(accountant)))
    table, _ = accounting_log.replay(text.encode())
    again = accountant_of(table, accountant.settings)
    assert again.weight_in_use("v@d") == 1.0
    assert again.holdings.keys() == accountant.holdings.keys()


def test_limits_that_no_log_can_have_are_not_kept() -> None:
    accountant = books()
    slot = claimed("slot1@h", "u@d")
    slot["ConcurrencyLimits"] = '"' * 9_000_000
    accountant.observe([slot], 1000)
    text = "".join(accounting_log.encode_snapshot(1, 1000, table_of(accountant)))
    assert "slot1@h" in text


def test_a_suspended_job_is_charged_unless_it_is_discounted() -> None:
    suspended = claimed("slot1", "a@d", cpus=4)
    suspended["Activity"] = "Suspended"
    busy = claimed("slot2", "a@d", cpus=2)
    busy["Activity"] = "Busy"
    for discount, weight in ((False, 6.0), (True, 2.0)):
        accountant = Accountant(discount_suspended=discount)
        accountant.observe([suspended, busy], 100)
        assert accountant.weight_in_use("a@d") == weight


def test_a_slot_that_cannot_be_read_leaves_the_others_their_holders(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name_of = holding_name

    def fails(ad: ClassAd) -> str:
        if ad.string("Name") == "odd@h":
            raise OverflowError("nobody thought of it")
        return name_of(ad)

    monkeypatch.setattr("kettle.negotiator.accountant.holding_name", fails)
    accountant = books()
    faults = accountant.observe([claimed("odd@h", "u@d"), claimed("slot1@h", "v@d")], 1000)
    assert [type(each) for each in faults] == [OverflowError]
    assert accountant.weight_in_use("v@d") == 1.0
