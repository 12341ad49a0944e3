"""Queue management against a client that says very much: what it costs, and what is kept of it."""

from __future__ import annotations

import errno
from collections.abc import Iterable

import pytest

from kettle.errors import RemoteProtocolError
from kettle.records.queue_log import LONGEST_RECORD_BYTES
from kettle.schedd.queue.qmgmt_submitting import LONGEST_FILE_NAME, MOST_CLUSTERS
from kettle.wire.messages import qmgmt as calls
from kettle.wire.messages.rpc import Reply
from stopwatch import cpu_seconds
from unit.schedd.queue_fixture import Schedd

# Enough for what takes the square of it to take a minute.
MANY = MOST_CLUSTERS
# Seconds of processor time; it takes two.
_MOST_SECONDS = 20.0
_QUIETLY_INTO_THE_LOG = int(calls.SetAttributeFlags.NO_ACK | calls.SetAttributeFlags.LOG)


def drain(answers: Iterable[object]) -> None:
    for _ in answers:
        pass


def test_many_clusters_whose_jobs_have_their_own_owners_are_committed_in_time() -> None:
    def commit() -> None:
        schedd = Schedd()
        client = schedd.client()
        for _ in range(MANY):
            cluster = client.call(calls.NewCluster()).value
            proc = client.call(calls.NewProc(cluster)).value
            client.set(cluster, proc, "Owner", "undefined")
            # What is said is also read, between any two that say more.
            assert client.call(calls.GetAttributeString(cluster, proc, "Owner")).result == "alice"
        assert client.call(calls.NewCluster()).value == -10
        assert client.call(calls.CommitTransactionNoFlags()).value == 0
        assert len(schedd.queue.jobs) == MANY

    assert cpu_seconds(commit, below=_MOST_SECONDS) < _MOST_SECONDS


def test_each_cluster_needs_an_owner_of_its_own_or_of_each_of_its_jobs() -> None:
    schedd = Schedd()
    client = schedd.client()
    for owners in ((0, 1), (1,)):
        cluster = client.call(calls.NewCluster()).value
        for _ in range(2):
            client.call(calls.NewProc(cluster))
        for proc in owners:
            client.set(cluster, proc, "Owner", "undefined")
    reply = client.call(calls.CommitTransactionNoFlags())
    assert reply.value == -1
    assert reply.details is not None
    assert reply.details.string("ErrorReason") == "cluster 2 has no Owner"


def test_the_log_has_no_line_that_it_could_not_be_read_with() -> None:
    schedd = Schedd()
    (job,) = schedd.submit(Kept="1")
    # What a starter, or whoever else, may make the schedd write.
    endless = '"' + "x" * (LONGEST_RECORD_BYTES + 1) + '"'
    schedd.queue.update(job.id, {"CpusUsage": endless, "Note": '"said"'})
    transaction = schedd.queue.transaction()
    transaction.set_attribute("1.0", "OnceMore", endless)
    transaction.update_alike([job.id], {"AsOthers": endless})
    schedd.queue.commit(transaction)
    again = schedd.replayed().jobs[job.id].ad
    for name in ("CpusUsage", "OnceMore", "AsOthers"):
        assert again.text(name) == "undefined"
    assert (again.string("Note"), again.integer("Kept")) == ("said", 1)


def test_no_ad_grows_beyond_what_its_readers_take(monkeypatch: pytest.MonkeyPatch) -> None:
    schedd = Schedd()
    (job,) = schedd.submit()
    monkeypatch.setattr("kettle.schedd.queue.ad_sizes.MOST_CHARACTERS", 100_000)

    def edit(name: str, size: int) -> Reply:
        client = schedd.client()
        client.set(1, 0, name, '"' + "x" * size + '"')
        return client.call(calls.CommitTransactionNoFlags())

    assert [edit(name, 40_000).value for name in ("A", "B", "A", "B")] == [0, 0, 0, 0]
    refused = edit("C", 40_000)
    assert (refused.value, refused.errno) == (-1, errno.E2BIG)
    assert refused.details is not None
    assert "the ad of 1.0 would have" in (refused.details.string("ErrorReason") or "")
    assert "C" not in job.ad
    # Also by very many small ones.
    sizes = [edit(f"D{number}", 190).value for number in range(600)]
    assert (sizes[0], sizes[-1]) == (0, -1)
    # What makes it smaller is no trouble.
    assert [edit(name, 1).value for name in ("A", "B")] == [0, 0]


def test_a_new_ad_is_no_larger_either(monkeypatch: pytest.MonkeyPatch) -> None:
    schedd = Schedd()
    monkeypatch.setattr("kettle.schedd.queue.ad_sizes.MOST_CHARACTERS", 10_000)
    client = schedd.client()
    for size, expected in ((6_000, 0), (11_000, -1)):
        cluster = client.call(calls.NewCluster()).value
        client.set(cluster, -1, "Owner", "undefined")
        client.call(calls.NewProc(cluster))
        # Only the last of them counts.
        for _ in range(3):
            client.set(cluster, 0, "A", '"' + "x" * size + '"')
        assert client.call(calls.CommitTransactionNoFlags()).value == expected


def test_marks_of_what_a_job_has_no_more_are_not_collected() -> None:
    schedd = Schedd()
    (job,) = schedd.submit()
    client = schedd.client()
    marked = int(calls.SetAttributeFlags.MARK_DIRTY)
    for number in range(300):
        name = f"A{number}" if number % 2 else f"{number:09b}".replace("0", "a").replace("1", "A")
        client.send(calls.SetAttribute2(1, 0, "1", name, marked))
        client.call(calls.CommitTransactionNoFlags())
        client.call(calls.DeleteAttribute(1, 0, f"A{number}"))
        client.call(calls.CommitTransactionNoFlags())
    assert len(schedd.queue.dirty[job.id]) < 100
    client.send(calls.SetAttribute2(1, 0, "7", "Kept", marked))
    client.call(calls.CommitTransactionNoFlags())
    assert client.call(calls.GetDirtyAttributes(1, 0)).result.integer("Kept") == 7


def test_the_name_of_a_file_of_items_is_no_longer_than_a_path() -> None:
    client = Schedd().client()
    cluster = client.call(calls.NewCluster()).value
    named = calls.SetJobFactory(cluster, 0, "x" * (LONGEST_FILE_NAME + 1), "queue 5")
    reply = client.call(named)
    assert (reply.value, reply.errno) == (-1, errno.ENAMETOOLONG)


def test_jobs_of_a_transaction_that_was_given_up_count_no_more() -> None:
    schedd = Schedd(most_jobs_of_submission=3)
    client = schedd.client()
    for _ in range(3):
        cluster = client.call(calls.NewCluster()).value
        assert client.call(calls.NewProc(cluster)).value == 0
        assert client.call(calls.NewProc(cluster)).value == 1
        client.call(calls.AbortTransaction())


def test_what_jobs_had_before_their_logged_edits_counts_as_the_transactions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    schedd = Schedd()
    schedd.submit(Long="strcat(" + ",".join(['"x"'] * 1_000) + ")")
    (job,) = schedd.queue.jobs.values()
    assert job.ad.evaluate("Long") == "x" * 1_000
    monkeypatch.setattr("kettle.schedd.queue.qmgmt_changes.LARGE_TRANSACTION_BYTES", 1_000)
    monkeypatch.setattr("kettle.schedd.queue.qmgmt_changes.MOST_TRANSACTION_BYTES", 100_000)
    client = schedd.client()
    edit = calls.SetAttribute2(1, 0, "1", "Long", _QUIETLY_INTO_THE_LOG)
    # Of 5,000 bytes each.
    for _ in range(10):
        client.send(edit)
    with pytest.raises(RemoteProtocolError, match="a transaction is larger"):
        drain(client.send(edit) for _ in range(90))
