"""Edits of queued jobs, in transactions that are open while others change the queue."""

from __future__ import annotations

import errno

import pytest

from kettle.schedd.queue.job_ids import CLUSTER_PROC, key_of
from kettle.wire.messages import qmgmt as calls
from kettle.wire.messages.rpc import Call
from unit.schedd.queue_fixture import Schedd

_LOG = int(calls.SetAttributeFlags.LOG)
_CLUSTER_CHANGE = int(calls.SetAttributeFlags.POST_SUBMIT_CLUSTER_CHANGE)


def leave(schedd: Schedd, *keys: str) -> None:
    """Take ads out of the queue, as the schedd does when a job is over."""
    leaving = schedd.queue.transaction()
    for key in keys:
        leaving.destroy_ad(key)
    schedd.queue.commit(leaving)


@pytest.mark.parametrize(
    "edit",
    [
        calls.SetAttribute2(1, 0, "6", "Foo", 0),
        calls.SetAttribute2(1, 0, "6", "Foo", _LOG),
        calls.SetAttribute2(1, CLUSTER_PROC, "6", "Foo", _CLUSTER_CHANGE),
        calls.DeleteAttribute(1, 0, "Foo"),
        calls.GetAttributeInt(1, 0, "Foo"),
        calls.GetJobAd(1, 0),
        calls.DestroyProc(1, 0),
    ],
    ids=["set", "set and log", "of a cluster", "delete", "read", "read all", "destroy"],
)
def test_a_job_that_left_is_not_there_for_a_transaction_that_has_edited_it(edit: Call) -> None:
    schedd = Schedd()
    schedd.submit()
    client = schedd.client()
    for proc in (0, CLUSTER_PROC):
        assert client.call(calls.SetAttribute(1, proc, "5", "Foo")).value == 0
    leave(schedd, "1.0", key_of(1, CLUSTER_PROC))
    reply = client.call(edit)
    assert reply.value < 0
    assert reply.errno == errno.ENOENT
    # Nothing was waiting for the refused one: what was asked before stays asked.
    assert client.call(calls.CommitTransactionNoFlags()).value == 0
    assert not schedd.queue.jobs


def test_an_edit_that_nobody_waits_for_refuses_the_commit_if_its_job_has_left() -> None:
    schedd = Schedd()
    schedd.submit(2)
    client = schedd.client()
    client.set(1, 0, "Foo", "5")
    leave(schedd, "1.0")
    client.set(1, 0, "Foo", "6")
    client.set(1, 1, "Foo", "6")
    reply = client.call(calls.CommitTransactionNoFlags())
    assert (reply.value, reply.errno) == (-1, errno.ENOENT)
    assert [job.ad.integer("Foo") for job in schedd.queue.jobs.values()] == [None]
