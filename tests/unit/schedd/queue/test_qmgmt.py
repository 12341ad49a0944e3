"""Queue management: submitting, reading through a transaction, changing, refusing."""

from __future__ import annotations

import errno
from collections.abc import Iterator

import pytest

from kettle.classad import ClassAd, parse_old_ad
from kettle.config import Config
from kettle.errors import RemoteProtocolError, StorageError
from kettle.schedd.queue import kept_attributes
from kettle.schedd.queue.actors import Actor
from kettle.schedd.queue.applying import Changes
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.queue.job_queue import TakenError
from kettle.schedd.queue.qmgmt_answers import Answer, LoggedChange, Steps
from kettle.schedd.settings import read_queue_settings
from kettle.wire.codec import Reader, Writer
from kettle.wire.messages import qmgmt as calls
from kettle.wire.messages.rpc import Call, Reply
from unit.schedd.queue_fixture import ALICE, BOB, NOW, ROOT, Client, Schedd


def test_a_submission_is_seen_by_nobody_before_its_commit() -> None:
    schedd = Schedd()
    client = schedd.client()
    cluster = client.call(calls.NewCluster()).value
    proc = client.call(calls.NewProc(cluster)).value
    client.set(cluster, -1, "Owner", "undefined")
    client.set(cluster, proc, "JobStatus", "1")
    assert (cluster, proc) == (1, 0)
    assert not schedd.queue.jobs
    assert client.call(calls.GetAttributeInt(1, 0, "JobStatus")).result == 1
    answer = client.send(calls.CommitTransactionNoFlags())
    assert answer.durable
    assert list(schedd.queue.jobs) == [JobId(1, 0)]


def test_the_schedd_says_whose_a_job_is_and_what_it_is_called() -> None:
    schedd = Schedd()
    (job,) = schedd.submit(ImageSize="127")
    assert job.ad.string("Owner") == "alice"
    assert job.ad.string("User") == "alice@vm"
    assert job.ad.string("GlobalJobId") == f"vm#1.0#{NOW}"
    assert job.ad.integer("TotalSubmitProcs") == 1
    assert (job.ad.integer("ImageSize_RAW"), job.ad.integer("ImageSize")) == (127, 150)


def test_checkpoints_are_kept_exact_twice() -> None:
    config = Config.from_text("", subsystem="SCHEDD")
    made = read_queue_settings(
        config, schedd_name="vm", version="", platform="", own_user="", root_may_own=False
    )
    schedd = Schedd(rounded=made.rounded)
    (job,) = schedd.submit(NumCkpts="3")
    assert (job.ad.integer("NumCkpts_RAW"), job.ad.integer("NumCkpts")) == (3, 3)


def test_a_client_that_hangs_up_leaves_nothing() -> None:
    schedd = Schedd()
    before = bytes(schedd.journal.data)
    client = schedd.client()
    client.call(calls.NewCluster())
    assert client.connection.has_uncommitted
    assert bytes(schedd.journal.data) == before


def test_ids_are_never_given_twice_also_after_a_restart() -> None:
    schedd = Schedd()
    schedd.submit(2)
    schedd.submit()
    transaction = schedd.queue.transaction()
    for key in ("2.0", "02.-1"):
        transaction.destroy_ad(key)
    schedd.queue.commit(transaction)
    assert schedd.replayed().take_cluster_number() == 3


def test_a_restart_finds_the_same_jobs() -> None:
    schedd = Schedd()
    schedd.submit(3, JobPrio="5", Requirements='TARGET.OpSys == "LINUX"')
    again = schedd.replayed()
    assert list(again.jobs) == list(schedd.queue.jobs)
    for job_id, job in again.jobs.items():
        assert list(job.ad.lines()) == list(schedd.queue.jobs[job_id].ad.lines())
        assert (job.priority, job.age) == (
            schedd.queue.jobs[job_id].priority,
            schedd.queue.jobs[job_id].age,
        )


def test_a_snapshot_is_the_queue_again() -> None:
    schedd = Schedd()
    schedd.submit(2, Foo="1 + 1")
    pieces = "".join(schedd.queue.snapshot(7, NOW + 100)).encode()
    schedd.journal.data[:] = pieces
    again = schedd.replayed()
    # Its birthday is the first log's: by that it is known again.
    assert (again.sequence, again.created) == (7, NOW)
    assert [list(job.ad.lines()) for job in again.jobs.values()] == [
        list(job.ad.lines()) for job in schedd.queue.jobs.values()
    ]


def test_a_failed_set_without_answer_makes_the_commit_fail() -> None:
    schedd = Schedd()
    client = schedd.client()
    cluster = client.call(calls.NewCluster()).value
    client.set(cluster, -1, "Owner", '"bob"')
    reply = client.call(calls.CommitTransactionNoFlags())
    assert (reply.value, reply.errno) == (-1, errno.EACCES)
    assert reply.details is not None
    assert "bob" in (reply.details.string("ErrorReason") or "")
    assert not schedd.queue.clusters


def test_root_owns_no_jobs_unless_the_pool_is_roots_own() -> None:
    client = Schedd().client(ROOT)
    cluster = client.call(calls.NewCluster()).value
    client.set(cluster, -1, "Owner", "undefined")
    assert client.call(calls.CommitTransactionNoFlags()).value == -1
    assert Schedd(root_may_own=True).submit(actor=ROOT)[0].owner == "root"


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("ClusterId", "7", errno.EACCES),
        ("Owner", '"bob"', errno.EACCES),
        ("JobStatus", "4", errno.EACCES),
        ("AuthTokenId", '"x"', errno.EACCES),
        ("ClaimId", '"x"', errno.EACCES),
        ("Foo Bar", "1", errno.EINVAL),
        ("Foo", "1 +", errno.EINVAL),
        ("Foo", '"a\nb"', errno.EINVAL),
    ],
)
def test_some_attributes_cannot_be_edited(name: str, text: str, error: int) -> None:
    schedd = Schedd()
    schedd.submit()
    reply = schedd.client().call(calls.SetAttribute(1, 0, text, name))
    assert (reply.value, reply.errno) == (-1, error)


def test_an_owner_edits_a_job_and_a_stranger_does_not() -> None:
    schedd = Schedd()
    (job,) = schedd.submit()
    stranger = schedd.client(BOB)
    assert stranger.call(calls.SetAttribute(1, 0, "5", "Foo")).errno == errno.EACCES
    owner = schedd.client(ALICE)
    assert owner.call(calls.SetAttribute(1, 0, "5", "Foo")).value == 0
    assert job.ad.integer("Foo") is None
    owner.call(calls.CommitTransactionNoFlags())
    assert job.ad.integer("Foo") == 5


def test_editing_by_constraint_counts_and_can_keep_to_own_jobs() -> None:
    schedd = Schedd()
    schedd.submit(2)
    schedd.submit(1, actor=BOB)
    client = schedd.client(ROOT)
    assert client.call(calls.SetAttributeByConstraint2("true", "5", "Foo", 0)).value == 3
    client = schedd.client(BOB)
    assert (
        client.call(calls.SetAttributeByConstraint2("ClusterId > 0", "6", "Foo", 0x10)).value == 1
    )
    client.call(calls.CommitTransactionNoFlags())
    assert [job.ad.integer("Foo") for job in schedd.queue.jobs.values()] == [None, None, 6]


def test_own_jobs_of_a_super_user_are_all_until_it_acts_for_somebody() -> None:
    schedd = Schedd()
    schedd.submit(2)
    schedd.submit(1, actor=BOB)
    client = schedd.client(ROOT)
    edit = calls.SetAttributeByConstraint2("ClusterId > 0", "6", "Foo", 0x10)
    assert client.call(edit).value == 3
    assert client.call(calls.SetEffectiveOwner("bob")).value == 0
    assert client.call(edit).value == 1


def test_deleting_a_jobs_attribute_hides_the_clusters_value_too() -> None:
    schedd = Schedd()
    (job,) = schedd.submit(Foo="1")
    client = schedd.client()
    client.call(calls.SetAttribute(1, 0, "2", "Foo"))
    assert client.call(calls.GetAttributeInt(1, 0, "foo")).result == 2
    client.call(calls.DeleteAttribute(1, 0, "Foo"))
    assert client.call(calls.GetAttributeInt(1, 0, "Foo")).value == -1
    client.call(calls.CommitTransactionNoFlags())
    assert job.ad.integer("Foo") is None
    assert client.call(calls.GetAttributeInt(1, -1, "Foo")).result == 1


def test_missing_things_are_told_apart() -> None:
    schedd = Schedd()
    schedd.submit()
    client = schedd.client()
    assert client.call(calls.GetAttributeInt(1, 0, "Nope")).errno == errno.EINVAL
    assert client.call(calls.GetAttributeInt(9, 0, "JobStatus")).errno == errno.ENOENT
    assert client.call(calls.GetJobAd(9, 0)).value == -1
    assert client.call(calls.GetAttributeString(1, 0, "Owner")).result == "alice"
    assert client.call(calls.GetAttributeExpr(1, 0, "Owner")).result == '"alice"'


def test_all_jobs_of_a_constraint_come_in_one_message() -> None:
    schedd = Schedd()
    schedd.submit(3)
    reply = schedd.client().call(calls.GetAllJobsByConstraint("ProcId > 0", "ProcId"))
    assert [ad.integer("ProcId") for ad in reply.result] == [1, 2]
    assert [sorted(ad.names()) for ad in reply.result] == [["ProcId", "ServerTime"]] * 2


def test_a_scan_gives_job_after_job_and_then_minus_one() -> None:
    schedd = Schedd()
    schedd.submit(2)
    client = schedd.client()
    ids = [client.call(calls.GetNextJob(1)).result.integer("ProcId")]
    ids.append(client.call(calls.GetNextJob(0)).result.integer("ProcId"))
    assert ids == [0, 1]
    assert client.call(calls.GetNextJob(0)).value == -1


def test_a_read_connection_writes_nothing() -> None:
    client = Schedd().client(writable=False)
    assert client.call(calls.NewCluster()).errno == errno.EACCES
    client.set(1, 0, "Foo", "1")
    assert client.call(calls.GetCapabilities(0)).result.boolean("LateMaterialize") is True


def test_submitters_hear_which_commands_the_schedd_adds_and_what_explains_them() -> None:
    added = parse_old_ad('Fruit = "a,b"\nLong = true')
    schedd = Schedd(extended_commands=added, extended_help="/etc/help")
    schedd.spool.files["/etc/help"] = b"Ask.\n"
    told = schedd.client().call(calls.GetCapabilities(0)).result
    assert told.evaluate("ExtendedSubmitCommands") == added
    assert told.string("ExtendedSubmitHelpFile") == "/etc/help"
    told = schedd.client().call(calls.GetCapabilities(1)).result
    assert told.string("ExtendedSubmitHelp") == "Ask.\n"
    schedd = Schedd(extended_help="https://x.org/help")
    told = schedd.client().call(calls.GetCapabilities(1)).result
    assert told.string("ExtendedSubmitHelpFile") == "https://x.org/help"
    assert "ExtendedSubmitCommands" not in told


def test_an_unknown_operation_costs_the_connection() -> None:
    client = Schedd().client()
    with pytest.raises(RemoteProtocolError):
        client.connection.handle(Reader(Writer().integer(10099).getvalue()))


def test_limits_stand_against_new_jobs_with_their_codes() -> None:
    schedd = Schedd(most_jobs=2)
    schedd.submit(2)
    reply = schedd.client().call(calls.NewCluster())
    assert reply.value == -2
    assert reply.details is not None
    client = Schedd(most_jobs_of_submission=1).client()
    cluster = client.call(calls.NewCluster()).value
    assert client.call(calls.NewProc(cluster)).value == 0
    assert client.call(calls.NewProc(cluster)).value == -4


def test_only_a_super_user_acts_as_somebody_else() -> None:
    schedd = Schedd()
    assert schedd.client(ALICE).call(calls.SetEffectiveOwner("bob")).errno == errno.EACCES
    client = schedd.client(ROOT)
    assert client.call(calls.SetEffectiveOwner("bob")).value == 0
    cluster = client.call(calls.NewCluster()).value
    client.set(cluster, -1, "Owner", "undefined")
    client.call(calls.NewProc(cluster))
    assert client.call(calls.CommitTransactionNoFlags()).value == 0
    assert schedd.queue.jobs[JobId(1, 0)].user == "bob@vm"


def test_late_materialization_keeps_items_and_digest() -> None:
    schedd = Schedd()
    client = schedd.client()
    cluster = client.call(calls.NewCluster()).value
    reply = client.call(calls.SendMaterializeData(cluster, 0, b"a\x1fb\nc\x1fd\n"))
    assert (reply.value, reply.result) == (0, ("/spool/1.items", 2))
    digest = "arguments=$(x)\n\nQueue 1 x,y from /spool/1.items\n"
    assert client.call(calls.SetJobFactory(cluster, 2, "", digest)).value == 0
    client.set(cluster, -1, "Owner", "undefined")
    assert client.call(calls.CommitTransactionNoFlags()).value == 0
    ad = schedd.queue.clusters[1].ad
    assert ad.string("JobMaterializeItemsFile") == "/spool/1.items"
    assert ad.string("JobMaterializeDigestFile") == "/spool/1.digest"
    # As in the reference, a cluster tells of being stopped once it was.
    assert (ad.integer("JobMaterializeLimit"), "JobMaterializePaused" in ad) == (2, False)


def test_without_late_materialization_its_calls_are_refused() -> None:
    client = Schedd(late_materialize=False).client()
    cluster = client.call(calls.NewCluster()).value
    reply = client.call(calls.SendMaterializeData(cluster, 0, b"a\n"))
    assert (reply.value, reply.errno) == (-1, errno.EPERM)
    assert client.call(calls.SetJobFactory(cluster, 1, "", "x")).errno == errno.EPERM


def test_attributes_set_with_the_flag_for_the_log_are_told_once_they_are_committed() -> None:
    schedd = Schedd()
    schedd.submit(1)
    client = schedd.client()
    flag = int(calls.SetAttributeFlags.LOG)
    for name, value in (("JobPrio", "7"), ("Foo", '"bar"')):
        assert not client.send(calls.SetAttribute2(1, 0, value, name, flag)).logged
    client.send(calls.SetAttribute2(1, 0, "3", "Unlogged", 0))
    answer = client.send(calls.CommitTransactionNoFlags())
    job = JobId(1, 0)
    assert list(answer.logged) == [
        LoggedChange(job, "JobPrio", "7", "0"),
        LoggedChange(job, "Foo", '"bar"', None),
    ]
    client.send(calls.SetAttribute2(1, 0, "8", "JobPrio", flag))
    client.send(calls.AbortTransaction())
    assert not client.send(calls.CommitTransactionNoFlags()).logged


def test_attributes_set_with_the_mark_are_dirty_until_they_are_cleared() -> None:
    schedd = Schedd()
    first, second = schedd.submit(2)
    client = schedd.client()
    client.call(calls.SetAttribute2(1, 0, "7", "JobPrio", 4))
    client.call(calls.SetAttribute(1, 0, '"unmarked"', "Note"))
    # Nothing is dirty before it is committed.
    assert client.call(calls.GetDirtyAttributes(1, 0)).result.names() == []
    client.call(calls.CommitTransactionNoFlags())
    dirty = client.call(calls.GetDirtyAttributes(1, 0)).result
    assert list(dirty.lines()) == ["JobPrio = 7"]
    assert client.call(calls.GetDirtyAttributes(1, 1)).result.names() == []
    assert client.call(calls.GetDirtyAttributes(9, 0)).errno == errno.ENOENT
    found = client.call(calls.GetNextDirtyJobByConstraint(1, "true")).result
    assert found.integer("ProcId") == first.id.proc
    assert client.call(calls.GetNextDirtyJobByConstraint(0, "true")).value == -1
    schedd.queue.clear_dirty(first.id)
    assert client.call(calls.GetDirtyAttributes(1, 0)).result.names() == []
    schedd.queue.mark_dirty(second.id, "JobPrio")
    transaction = schedd.queue.transaction()
    transaction.destroy_ad("1.1")
    schedd.queue.commit(transaction)
    assert not schedd.queue.dirty


def test_a_job_ad_on_a_connection_that_may_write_has_its_slots_values_filled_in() -> None:
    schedd = Schedd()
    (job,) = schedd.submit(1, Arguments='"on $$(Machine) with $$(Nothing:none)"')
    raw = "on $$(Machine) with $$(Nothing:none)"
    client = schedd.client()
    assert client.call(calls.GetJobAd(1, 0)).result.string("Arguments") == raw
    schedd.slots[job.id] = ClassAd({"Machine": "ep7"})
    assert client.call(calls.GetJobAd(1, 0)).result.string("Arguments") == "on ep7 with none"
    assert client.call(calls.GetJobAd(1, -1)).result.string("Arguments") == raw
    reading = schedd.client(writable=False)
    assert reading.call(calls.GetJobAd(1, 0)).result.string("Arguments") == raw


def test_a_transaction_that_grows_beyond_all_bounds_costs_its_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    schedd = Schedd()
    monkeypatch.setattr("kettle.schedd.queue.qmgmt_changes.LARGE_TRANSACTION_BYTES", 1_000)
    monkeypatch.setattr("kettle.schedd.queue.qmgmt_changes.MOST_TRANSACTION_BYTES", 20_000)
    client = schedd.client()
    cluster = client.call(calls.NewCluster()).value
    for number in range(30):
        client.set(cluster, -1, f"A{number}", '"' + "x" * 300 + '"')
    with pytest.raises(RemoteProtocolError, match="a transaction is larger"):
        client.set(cluster, -1, "Last", '"' + "x" * 10_000 + '"')
    client = schedd.client()
    cluster = client.call(calls.NewCluster()).value
    with pytest.raises(RemoteProtocolError, match="a transaction is larger"):
        take_procs(client, cluster, 100)


def test_large_transactions_together_have_a_bound_and_small_ones_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    schedd = Schedd()
    monkeypatch.setattr("kettle.schedd.queue.qmgmt_changes.LARGE_TRANSACTION_BYTES", 10_000)
    monkeypatch.setattr("kettle.schedd.queue.qmgmt_changes.MOST_OPEN_BYTES", 50_000)
    clients = [schedd.client() for _ in range(3)]
    clusters = [client.call(calls.NewCluster()).value for client in clients]
    for client, cluster in zip(clients[:2], clusters[:2], strict=True):
        client.set(cluster, -1, "Large", '"' + "x" * 20_000 + '"')
    with pytest.raises(RemoteProtocolError, match="all open transactions together"):
        clients[2].set(clusters[2], -1, "Large", '"' + "x" * 20_000 + '"')
    schedd.submit(1)
    # What was committed is no longer open.
    for client in clients[:2]:
        client.call(calls.AbortTransaction())
    again = schedd.client()
    again.set(again.call(calls.NewCluster()).value, -1, "More", '"' + "x" * 40_000 + '"')


def test_of_all_large_transactions_the_user_who_holds_most_loses_the_largest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    schedd = Schedd()
    monkeypatch.setattr("kettle.schedd.queue.qmgmt_changes.LARGE_TRANSACTION_BYTES", 1_000)
    monkeypatch.setattr("kettle.schedd.queue.qmgmt_changes.MOST_OPEN_BYTES", 50_000)

    def hold(actor: Actor, size: int) -> tuple[Client, int]:
        client = schedd.client(actor)
        cluster = client.call(calls.NewCluster()).value
        client.set(cluster, -1, "Owner", "undefined")
        client.set(cluster, -1, "Large", '"' + "x" * size + '"')
        return client, cluster

    hogs = [hold(ALICE, size)[0] for size in (15_000, 20_000, 12_000)]
    other, cluster = hold(BOB, 10_000)
    other.call(calls.NewProc(cluster))
    assert other.call(calls.CommitTransactionNoFlags()).value == 0
    # Only the largest of hers is gone, at once, and she learns it with her next request.
    assert [hog.connection.changes.held_bytes > 0 for hog in hogs] == [True, False, True]
    with pytest.raises(RemoteProtocolError, match="all open transactions together"):
        hogs[1].call(calls.CommitTransactionNoFlags())
    assert hogs[0].call(calls.AbortTransaction()).value == 0


def test_what_is_the_schedds_to_say_is_not_deleted() -> None:
    schedd, name = Schedd(), "TotalSubmitProcs"
    (job,) = schedd.submit()
    before = job.ad.text(name)
    client = schedd.client()
    for proc in (0, -1):
        assert client.call(calls.DeleteAttribute(1, proc, name)).value == 0
    client.call(calls.CommitTransactionNoFlags())
    assert before is not None
    assert schedd.queue.jobs[job.id].ad.text(name) == before
    assert schedd.replayed().jobs[job.id].ad.text(name) == before


@pytest.mark.parametrize("actor", [ALICE, ROOT])
def test_nobody_gives_a_job_another_global_name(actor: Actor) -> None:
    """It was then told and traced as somebody else's, and no running one was found again."""
    schedd, name = Schedd(), "GlobalJobId"
    client = schedd.client()
    cluster = client.call(calls.NewCluster()).value
    proc = client.call(calls.NewProc(cluster)).value
    client.set(cluster, -1, "Owner", "undefined")
    for number in (-1, proc):
        client.set(cluster, number, name, '"vm#7.0#1"')
    assert client.call(calls.DeleteAttribute(cluster, proc, name)).value == 0
    assert client.call(calls.CommitTransactionNoFlags()).value == 0
    client = schedd.client(actor)
    for number in (-1, proc):
        edit = calls.SetAttribute(cluster, number, '"vm#7.0#1"', name)
        for change in (edit, calls.DeleteAttribute(cluster, number, name)):
            refused = client.call(change)
            assert (refused.value, refused.errno) == (-1, errno.EACCES)
    assert schedd.queue.jobs[JobId(cluster, proc)].ad.string(name) == f"vm#1.0#{NOW}"


def test_whose_a_new_job_is_cannot_be_taken_away() -> None:
    schedd = Schedd()
    client = schedd.client()
    cluster = client.call(calls.NewCluster()).value
    client.set(cluster, -1, "Owner", "undefined")
    for name in ("Owner", "User"):
        assert client.call(calls.DeleteAttribute(cluster, -1, name)).errno == errno.EACCES
    client.set(cluster, -1, "Foo", "1")
    assert client.call(calls.DeleteAttribute(cluster, -1, "Foo")).value == 0


def take_procs(client: Client, cluster: int, count: int) -> None:
    for _ in range(count):
        client.call(calls.NewProc(cluster))


def test_a_timer_attribute_is_the_time_in_so_many_seconds() -> None:
    schedd = Schedd()
    schedd.submit(1)
    client = schedd.client()
    assert client.call(calls.SetTimerAttribute(1, 0, "Timer", 60)).value == 0
    client.call(calls.CommitTransactionNoFlags())
    assert client.call(calls.GetAttributeInt(1, 0, "Timer")).result == NOW + 60
    assert client.call(calls.SetTimerAttribute(9, 0, "Timer", 60)).errno == errno.ENOENT


def test_long_requests_by_constraint_stop_for_others() -> None:
    schedd = Schedd()
    jobs = schedd.submit(450)
    connection = schedd.client().connection

    def handle(call: Call) -> Answer:
        writer = Writer()
        call.write(writer)
        return connection.handle(Reader(writer.getvalue()))

    answer = handle(calls.SetAttributeByConstraint("ProcId >= 0", "7", "Extra"))
    assert answer.steps is not None
    results: list[Answer] = []

    def to_the_end(steps: Steps) -> Iterator[None]:
        results.append((yield from steps))

    assert len(list(to_the_end(answer.steps))) == 450
    assert isinstance(results[0].reply, Reply)
    assert results[0].reply.value == 450
    answer = handle(calls.GetAllJobsByConstraint("ProcId == 449", "ProcId"))
    assert answer.parts is not None
    parts = list(answer.parts(False))
    assert [last for _, last in parts] == [False] * 450 + [True]
    assert [len(part) > 0 for part, _ in parts] == [False] * 449 + [True] * 2
    assert handle(calls.CommitTransactionNoFlags()).durable
    assert all(job.ad.integer("Extra") == 7 for job in jobs)


def test_what_is_refused_of_a_long_request_is_refused_in_its_course() -> None:
    schedd = Schedd()
    schedd.submit(120)
    reply = schedd.client(BOB).call(calls.SetAttributeByConstraint("true", "7", "Extra"))
    assert (reply.value, reply.errno) == (-1, errno.EACCES)


def test_every_new_job_has_an_owner_of_its_own_or_its_clusters() -> None:
    schedd = Schedd()
    client = schedd.client()
    cluster = client.call(calls.NewCluster()).value
    for proc in (0, 1):
        client.call(calls.NewProc(cluster))
        client.set(cluster, proc, "ProcId", str(proc))
    client.set(cluster, 0, "Owner", "undefined")
    answer = client.call(calls.CommitTransactionNoFlags())
    assert (answer.value, answer.errno) == (-1, errno.EINVAL)
    assert not schedd.queue.jobs


def test_an_edit_of_a_job_that_left_before_its_commit_is_nothing_live_and_after_a_restart() -> None:
    schedd = Schedd()
    job, other = schedd.submit(2)
    client = schedd.client()
    client.set(job.id.cluster, job.id.proc, "JobPrio", "5")
    client.set(other.id.cluster, other.id.proc, "JobPrio", "6")
    leaving = schedd.queue.transaction()
    leaving.destroy_ad(str(job.id))
    schedd.queue.commit(leaving)
    assert client.call(calls.CommitTransactionNoFlags()).value == 0
    for queue in (schedd.queue, schedd.replayed()):
        assert list(queue.jobs) == [other.id]
        assert queue.jobs[other.id].ad.integer("JobPrio") == 6


def test_a_log_that_changes_an_ad_after_it_left_makes_no_job_of_it() -> None:
    schedd = Schedd()
    job = schedd.submit(1)[0]
    cluster, proc = job.id
    schedd.journal.append(b"102 %d.%d\n103 %d.%d JobPrio 5\n" % (cluster, proc, cluster, proc))
    assert not schedd.replayed().jobs


def test_a_new_job_is_idle_whatever_its_submitter_says_of_its_status() -> None:
    for actor in (ALICE, ROOT):
        schedd = Schedd(root_may_own=True)
        client = schedd.client(actor)
        cluster = client.call(calls.NewCluster()).value
        proc = client.call(calls.NewProc(cluster)).value
        client.set(cluster, -1, "Owner", '"alice"')
        client.set(cluster, -1, "JobStatus", "4")
        client.set(cluster, proc, "JobStatus", "3")
        client.send(calls.CommitTransactionNoFlags())
        assert [int(job.status) for job in schedd.queue.jobs.values()] == [1]


@pytest.mark.parametrize("failure", [StorageError("no room"), OverflowError("odd")])
def test_a_commit_that_the_log_has_is_never_refused(failure: Exception) -> None:
    """A client that is told that it failed sends the same jobs again."""
    schedd = Schedd()
    client = schedd.client()
    cluster = client.call(calls.NewCluster()).value
    proc = client.call(calls.NewProc(cluster)).value
    for name, text in {"Owner": '"alice"', "JobUniverse": "5", "Cmd": '"x"'}.items():
        client.set(cluster, proc, name, text)

    def fail(_: object) -> None:
        raise failure

    schedd.queue.observe(fail)
    assert client.call(calls.CommitTransactionNoFlags()).value == 0
    assert len(schedd.replayed().jobs) == len(schedd.queue.jobs) == 1


def test_a_status_that_cannot_be_read_keeps_no_commit_from_its_observers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    schedd = Schedd()
    odd, other = schedd.submit(2)
    number, odd_ads = kept_attributes._number, [odd.ad]

    def fail(own: object, ad: ClassAd, name: str, shared: int) -> int:
        if ad in odd_ads:
            odd_ads.remove(ad)
            raise OverflowError("odd")
        return number(own, ad, name, shared)

    monkeypatch.setattr(kept_attributes, "_number", fail)
    seen: list[object] = []
    schedd.queue.observe(lambda changes: seen.extend(changes.changed))
    transaction = schedd.queue.transaction()
    for job in (odd, other):
        transaction.set_attribute(str(job.id), "JobStatus", "5")
    schedd.queue.commit(transaction)
    assert seen == [odd.id, other.id]
    assert odd_ads == []
    assert odd.status == other.status == 5
    assert schedd.queue.count(5) == 2


def test_a_failure_behind_the_commit_refuses_no_submission() -> None:
    """The client was told that there is no room, and the jobs were in the queue, also replayed."""
    schedd = Schedd()
    told: list[str] = []

    def fail(_: Changes) -> None:
        raise StorageError("No space left on device", errno=errno.ENOSPC)

    schedd.queue.observe(fail)
    client = schedd.client()
    client.connection.commits._tell = told.append
    cluster = client.call(calls.NewCluster()).value
    client.set(cluster, -1, "Owner", "undefined")
    client.call(calls.NewProc(cluster))
    assert client.call(calls.CommitTransactionNoFlags()).value == 0
    assert list(schedd.queue.jobs) == list(schedd.replayed().jobs) == [JobId(cluster, 0)]
    assert "No space left on device" in told[0]
    assert not client.connection.has_uncommitted
    with pytest.raises(TakenError) as caught:
        schedd.queue.update(JobId(cluster, 0), {"A": "1"})
    assert not isinstance(caught.value, StorageError)


def test_a_daemon_that_ends_answers_no_commit() -> None:
    schedd = Schedd()

    def fail(_: Changes) -> None:
        error = StorageError("Input/output error", errno=errno.EIO)
        error.ends_daemon = True
        raise error

    schedd.queue.observe(fail)
    client = schedd.client()
    cluster = client.call(calls.NewCluster()).value
    client.set(cluster, -1, "Owner", "undefined")
    with pytest.raises(TakenError):
        client.call(calls.CommitTransactionNoFlags())
