"""The accounting log: keys, replay and the smallest transaction between two tables."""

from __future__ import annotations

import copy

from kettle.records import accounting_log

OBSERVED = b"""107 1 CreationTimestamp 1795262827
101 Customer.<none> * *
103 Customer.<none> PriorityFactor 1000.000000
101 Accountant. * *
103 Accountant. LastUpdateTime 1795262827
101 Resource.slot1@vm@<127.0.0.1:2043?alias=vm> * *
103 Resource.slot1@vm@<127.0.0.1:2043?alias=vm> RemoteUser "tester@vm"
"""


def test_an_observed_log_gives_customers_and_resources() -> None:
    table, outcome = accounting_log.replay(OBSERVED)
    assert outcome.kept_bytes == len(OBSERVED)
    assert dict(table.customers()) == {"<none>": {"PriorityFactor": "1000.000000"}}
    assert [name for name, _ in table.resources()] == ["slot1@vm@<127.0.0.1:2043?alias=vm>"]


def test_changes_are_one_transaction_and_lead_to_the_second_table() -> None:
    before, _ = accounting_log.replay(OBSERVED)
    after = copy.deepcopy(before)
    after.destroy_ad("Resource.slot1@vm@<127.0.0.1:2043?alias=vm>")
    after.set_attribute(accounting_log.customer_key("tester@vm"), "Priority", "0.5")
    after.set_attribute(accounting_log.ACCOUNTANT, "LastUpdateTime", "1795262900")
    text = accounting_log.encode_changes(before, after)
    assert text.startswith("105 \n")
    replayed, _ = accounting_log.replay(OBSERVED + text.encode())
    assert replayed.ads == after.ads


def test_equal_tables_need_no_transaction() -> None:
    table, _ = accounting_log.replay(OBSERVED)
    assert accounting_log.encode_changes(table, table) == ""


def test_a_snapshot_replays_to_the_same_table() -> None:
    table, _ = accounting_log.replay(OBSERVED)
    data = "".join(accounting_log.encode_snapshot(2, 9, table)).encode()
    again, _ = accounting_log.replay(data)
    assert again.ads == table.ads
