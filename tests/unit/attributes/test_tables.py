"""Walks the tables of attributes."""

from __future__ import annotations

import pytest

from kettle.attributes.attribute import Attribute
from kettle.attributes.codes import HoldReasonCode, JobStatus
from kettle.attributes.daemon import Daemon
from kettle.attributes.job import Job
from kettle.attributes.machine import Machine
from kettle.attributes.submitter import Submitter
from kettle.classad import ClassAd, Expr

TABLES = (Job, Machine, Daemon, Submitter)


def rows(table: type) -> dict[str, Attribute[object]]:
    return {name: row for name, row in vars(table).items() if isinstance(row, Attribute)}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_every_attribute_is_its_own_name_and_has_a_sentence(table: type) -> None:
    found = rows(table)
    assert len(found) > 30
    for name, row in found.items():
        assert row == name
        assert row.doc[0].isupper(), row
        assert row.doc.endswith("."), row
        assert row.written_by, row
    assert list(found) == sorted(found, key=str.lower)


def test_an_attribute_reads_its_own_type() -> None:
    ad = ClassAd({"JobStatus": 5, "Owner": "me", "ExitBySignal": False, "RemoteUserCpu": 1})
    assert Job.JobStatus.read(ad) is JobStatus.HELD
    assert Job.Owner.read(ad) == "me"
    assert Job.ExitBySignal.read(ad) is False
    assert Job.RemoteUserCpu.read(ad) == 1.0
    assert Job.QDate.read(ad) is None
    assert ad.string(Job.Owner) == "me"


def test_a_number_that_is_no_code_reads_as_none() -> None:
    assert Job.HoldReasonCode.read(ClassAd({"HoldReasonCode": 2})) is None
    assert Job.HoldReasonCode.read(ClassAd({"HoldReasonCode": 3})) is HoldReasonCode.JobPolicy


def test_expressions_lists_and_nested_ads_are_read_as_such() -> None:
    ad = ClassAd({"NumHoldsByReason": ClassAd({"UserRequest": 1}), "AvailableGPUs": ["a"]})
    ad.insert_text("Requirements", "Memory > 5")
    assert isinstance(Job.Requirements.read(ad), Expr)
    nested = Job.NumHoldsByReason.read(ad)
    assert nested is not None
    assert nested.integer("UserRequest") == 1
    assert Machine.AvailableGPUs.read(ad) == ["a"]


def test_secrets_and_identities_are_marked() -> None:
    assert Job.TransferKey.secret
    assert Machine.Capability.secret
    assert Job.Owner.immutable
    assert not Job.Rank.immutable
