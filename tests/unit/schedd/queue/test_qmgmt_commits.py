"""The end of a transaction: who hears of what it changed, and what its client reads."""

from __future__ import annotations

import pytest

from kettle.records import queue_log
from kettle.schedd.queue.transaction import Change
from kettle.wire.codec import Writer
from kettle.wire.messages import qmgmt as calls
from kettle.wire.messages.rpc import Call
from unit.schedd.queue_fixture import Client, Schedd

_SET, _DELETE = queue_log.SET_ATTRIBUTE, queue_log.DELETE_ATTRIBUTE


def submit_one(client: Client) -> None:
    cluster = client.call(calls.NewCluster()).value
    client.set(cluster, -1, "Owner", "undefined")
    client.set(cluster, client.call(calls.NewProc(cluster)).value, "Foo", "6")


@pytest.mark.parametrize("submits", [False, True], ids=["alone", "beside_new_jobs"])
@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (calls.SetAttribute2(1, 0, "5", "Foo", 0), (_SET, "1.0", "Foo", "5")),
        (calls.SetAttribute2(1, -1, "5", "Foo", 0), (_SET, "01.-1", "Foo", "5")),
        (calls.SetAttributeByConstraint("true", "5", "Foo"), (_SET, "1.0", "Foo", "5")),
        (calls.DeleteAttribute(1, 0, "Foo"), (_DELETE, "1.0", "Foo", "")),
    ],
    ids=["a job", "a cluster", "by constraint", "a removal"],
)
def test_shadows_hear_of_edits_of_queued_jobs_also_from_a_commit_that_brings_new_ones(
    edit: Call, told: Change, submits: bool
) -> None:
    schedd = Schedd()
    schedd.submit(Foo="1")
    client = schedd.client()
    if submits:
        submit_one(client)
    client.send(edit)
    assert client.call(calls.CommitTransactionNoFlags()).value == 0
    assert schedd.edits == [[told]]


def test_shadows_hear_nothing_of_a_submission_nor_of_what_was_given_up() -> None:
    schedd = Schedd()
    schedd.submit()
    client = schedd.client()
    client.send(calls.SetAttribute2(1, 0, "5", "Foo", 0))
    client.call(calls.AbortTransaction())
    submit_one(client)
    assert client.call(calls.CommitTransactionNoFlags()).value == 0
    assert schedd.edits == []


@pytest.mark.parametrize("commit", [calls.CommitTransactionNoFlags(), calls.CommitTransaction(0)])
def test_a_commit_answers_one_number(commit: Call) -> None:
    schedd = Schedd()
    client = schedd.client()
    submit_one(client)
    reply = client.send(commit).reply
    assert reply is not None
    written = Writer()
    reply.write(written)
    assert written.getvalue() == Writer().integer(0).getvalue()
    assert schedd.queue.jobs
