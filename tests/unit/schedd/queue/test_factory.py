"""Late materialization: how many jobs are made, and what each of them is."""

from __future__ import annotations

import errno

import pytest

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.errors import KettleError, RefusedError
from kettle.schedd.queue import actions, factory, queries
from kettle.schedd.queue.actors import Actor
from kettle.schedd.queue.factory import DigestSources, Paused
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.queue.jobs import Cluster
from kettle.submit.build import JobPlan
from kettle.submit.item_lines import split_lines
from kettle.submit.job import Attributes
from kettle.submit.materialize import later_jobs
from kettle.submit.queue_statement import QueueStatement, Row
from kettle.submit.sources import SubmitFacts
from kettle.wire.messages import qmgmt as calls
from unit.schedd.queue_fixture import ALICE, BOB, NOW, ROOT, SETTINGS, Schedd, plan_action

# As condor_submit sends it.
DIGEST = (
    "FACTORY.Requirements=MY.Requirements\narguments=$(secs)\nFACTORY.Iwd=/tmp/qmtest\n"
    "max_materialize=2\n\nQueue 1 secs,foo from /spool/1.items\n"
)
ITEMS = "1\x1fa\n2\x1fb\n3\x1fc\n4\x1fd\n"


def submit(schedd: Schedd, *, limit: int = 2, digest: str = DIGEST) -> Cluster:
    client = schedd.client(ALICE)
    cluster = client.call(calls.NewCluster()).value
    client.call(calls.SendMaterializeData(cluster, 0, ITEMS.encode()))
    assert client.call(calls.SetJobFactory(cluster, limit, "", digest)).value == 0
    shared = {
        "Owner": "undefined",
        "JobUniverse": "5",
        "Cmd": '"/bin/sleep"',
        "Iwd": '"/tmp/qmtest"',
        "QDate": str(NOW),
        "Args": '"1"',
    }
    for name, text in shared.items():
        client.set(cluster, -1, name, text)
    assert client.call(calls.CommitTransactionNoFlags()).value == 0
    return schedd.queue.clusters[cluster]


def plans(
    schedd: Schedd, cluster: Cluster, *, digest: str = DIGEST, skip: int = 0
) -> list[JobPlan]:
    facts = SubmitFacts(NOW, "alice", "/tmp", "digest", "", "", {}, cluster.id)
    sources = DigestSources("/spool/1.items", split_lines(ITEMS))
    config = Config.from_text("", subsystem="SCHEDD")
    return list(later_jobs(digest, cluster.ad, sources, config, facts, skip=skip))


def make(schedd: Schedd, cluster: Cluster) -> int:
    transaction = schedd.queue.transaction()
    wanted = factory.count_wanted(cluster)
    jobs = plans(schedd, cluster, skip=factory.progress(cluster.ad))[:wanted]
    made = factory.plan_jobs(transaction, cluster, jobs, schedd.settings, schedd.now)
    schedd.queue.commit(transaction)
    return made


def test_a_job_that_is_made_late_is_no_larger_than_others(monkeypatch: pytest.MonkeyPatch) -> None:
    schedd = Schedd()
    cluster = submit(schedd)
    monkeypatch.setattr("kettle.schedd.queue.ad_sizes.MOST_CHARACTERS", 1_000)
    differences = Attributes()
    differences.set("A", '"' + "x" * 2_000 + '"')
    plan = JobPlan(0, 1, Row(0, 0, ()), differences)
    with pytest.raises(RefusedError, match=r"the ad of 1\.0 would have 2\d\d\d characters"):
        factory.plan_jobs(schedd.queue.transaction(), cluster, [plan], schedd.settings, NOW)


def test_a_job_has_only_what_its_row_says_otherwise() -> None:
    schedd = Schedd()
    cluster = submit(schedd)
    assert [dict(plan.differences) for plan in plans(schedd, cluster)] == [
        {},
        {"Args": '"2"'},
        {"Args": '"3"'},
        {"Args": '"4"'},
    ]


def test_a_job_that_is_made_on_hold_was_held_once_and_no_other() -> None:
    schedd = Schedd()
    cluster = submit(schedd, limit=4, digest=f"hold=$CHOICE(Process,false,true)\n{DIGEST}")
    first = plans(schedd, cluster, digest="hold=$CHOICE(Process,false,true)\nQueue 2\n")
    factory.plan_jobs(transaction := schedd.queue.transaction(), cluster, first, SETTINGS, NOW)
    schedd.queue.commit(transaction)
    idle, held = (job.ad for job in cluster.procs.values())
    assert (idle.integer("JobStatus"), idle.text("NumHolds")) == (1, None)
    assert (held.integer("JobStatus"), held.integer("NumHolds")) == (5, 1)
    assert held.text("NumHoldsByReason") == "[ SubmittedOnHold = 1 ]"


def test_no_more_jobs_are_made_than_the_limit_and_the_rest_follows() -> None:
    schedd = Schedd()
    cluster = submit(schedd)
    assert make(schedd, cluster) == 2
    assert factory.count_wanted(cluster) == 0
    transaction = schedd.queue.transaction()
    transaction.destroy_ad("1.0")
    schedd.queue.commit(transaction)
    assert make(schedd, cluster) == 1
    assert [str(job) for job in schedd.queue.jobs] == ["1.1", "1.2"]
    assert schedd.queue.jobs[JobId(1, 2)].ad.integer("JobMaterializeDate") == schedd.now
    job = schedd.queue.jobs[JobId(1, 2)]
    assert job.ad.string("Args") == "3"
    assert job.ad.string("Cmd") == "/bin/sleep"
    assert cluster.ad.integer("JobMaterializeNextRow") == 3


def test_a_restart_goes_on_where_the_making_stopped() -> None:
    schedd = Schedd()
    make(schedd, submit(schedd))
    again = schedd.replayed()
    cluster = again.clusters[1]
    assert factory.progress(cluster.ad) == 2
    jobs = plans(schedd, cluster, skip=2)
    assert [(plan.proc, plan.differences.get("Args")) for plan in jobs] == [(2, '"3"'), (3, '"4"')]


def test_the_items_of_the_last_event_are_the_next_one_s_number() -> None:
    schedd = Schedd()
    cluster = submit(schedd, limit=100)
    transaction = schedd.queue.transaction()
    jobs = plans(schedd, cluster)
    factory.plan_jobs(transaction, cluster, jobs[:2], schedd.settings, schedd.now)
    schedd.queue.commit(transaction)
    assert factory.count_items_used(cluster.ad) == 2
    make(schedd, cluster)
    # Observed of a real schedd: "Materialized 3 jobs from -1 items", and for a plain `queue 5`
    # "Materialized 5 jobs from 0 items", whose record has no JobMaterializeNextRow.
    assert factory.count_items_used(cluster.ad) == -1
    digest = DIGEST.partition("Queue")[0] + "Queue 5\n"
    plain = submit(schedd, limit=100, digest=digest)
    transaction = schedd.queue.transaction()
    jobs = plans(schedd, plain, digest=digest)
    assert factory.plan_jobs(transaction, plain, jobs, schedd.settings, schedd.now) == 5
    schedd.queue.commit(transaction)
    assert factory.count_items_used(plain.ad) == 0
    assert "JobMaterializeNextRow" not in plain.ad


def test_the_next_item_comes_when_one_has_all_its_jobs() -> None:
    statement = QueueStatement(count=2, items=["a", "b", "c", "d"], selected=slice(1, None, 2))
    following = [statement.next_row(row) for row in statement.rows()]
    assert following == [None, 3, None, -1]


def test_idle_jobs_have_their_own_limit() -> None:
    schedd = Schedd()
    cluster = submit(schedd, limit=100)
    cluster.ad.insert_text("JobMaterializeMaxIdle", "1")
    assert make(schedd, cluster) == 1
    assert factory.count_wanted(cluster) == 0
    schedd.queue.update(JobId(1, 0), {"JobStatus": "2"})
    assert factory.count_wanted(cluster) == 1


def test_a_paused_cluster_makes_nothing() -> None:
    schedd = Schedd()
    cluster = submit(schedd)
    transaction = schedd.queue.transaction()
    factory.plan_end(transaction, cluster, Paused.HELD)
    schedd.queue.commit(transaction)
    assert factory.count_wanted(cluster) == 0


def test_a_digest_reads_no_file_and_runs_nothing() -> None:
    schedd = Schedd()
    cluster = submit(schedd)
    digest = "arguments=$(x)\nqueue x from /etc/passwd\n"
    with pytest.raises((KettleError, OSError), match="passwd"):
        plans(schedd, cluster, digest=digest)


def test_removing_by_constraint_stops_the_making_too() -> None:
    schedd = Schedd()
    cluster = submit(schedd)
    make(schedd, cluster)
    request = actions.parse(
        ClassAd({"JobAction": 3, "ActionResultType": 2, "ActionConstraint": True})
    )
    _, plan = plan_action(schedd.queue, request, ALICE, NOW)
    schedd.queue.commit(plan.transaction)
    assert [paused for _, paused in plan.factories] == [Paused.REMOVED]
    assert factory.count_wanted(cluster) == 0


def test_a_query_for_clusters_counts_the_jobs_of_those_that_make_them() -> None:
    schedd = Schedd()
    schedd.submit(2)
    cluster = submit(schedd)
    make(schedd, cluster)
    ask = {"IncludeClusterAd": True, "NoProcAds": True, "MyJobs": True}
    for actor, requirements, found in (
        (ALICE, "ProcId is undefined", [(cluster.id, 1, 2, 2)]),
        (ALICE, "ProcId isnt undefined", []),
        (BOB, "true", []),
    ):
        ad = ClassAd(ask)
        ad.insert_text("Requirements", requirements)
        query = queries.parse(ad, actor, only_my_jobs=True)
        ads = list(queries.clusters(schedd.queue, query))
        names = ("ClusterId", "JobStatus", "JobsPresent", "JobsIdle")
        assert [tuple(each.integer(name) for name in names) for each in ads] == found


def test_a_digest_cannot_give_a_job_two_lines_at_once() -> None:
    schedd = Schedd()
    cluster = submit(schedd)
    (plan, *_) = plans(schedd, cluster)
    wrong = plan._replace(differences=[*plan.differences, ("Args", '"1\n103 1.0 Owner 2"')])
    with pytest.raises(RefusedError):
        factory.plan_jobs(schedd.queue.transaction(), cluster, [wrong], schedd.settings, NOW)


def test_a_digest_gives_a_job_nothing_that_its_owner_may_not_give_a_new_one() -> None:
    schedd = Schedd()
    extra = '+KettleJobPid = 7$(secs)\n+x509UserProxySubject = "forged"\n+OsUser = "root"\n'
    extra += "+Go = 1\n"
    digest = extra + DIGEST
    cluster = submit(schedd, digest=digest)
    transaction = schedd.queue.transaction()
    made = plans(schedd, cluster, digest=digest)
    assert dict(made[0].differences)["KettleJobPid"] == "71"
    factory.plan_jobs(transaction, cluster, made[:1], schedd.settings, NOW)
    schedd.queue.commit(transaction)
    (job,) = schedd.queue.jobs.values()
    assert job.ad.integer("Go") == 1
    own = {name.lower() for name in job.ad.own_names()}
    assert own.isdisjoint(("kettlejobpid", "x509userproxysubject", "osuser"))


def test_a_digest_is_refused_a_group_that_nobody_can_charge_and_secrets() -> None:
    schedd = Schedd()
    for extra in ('+AccountingGroup = "a b$(secs)"\n', '+ClaimId = "<a>#1#2#$(secs)"\n'):
        digest = extra + DIGEST
        cluster = submit(schedd, digest=digest)
        with pytest.raises(RefusedError):
            factory.plan_jobs(
                schedd.queue.transaction(),
                cluster,
                plans(schedd, cluster, digest=digest),
                schedd.settings,
                NOW,
            )


def test_a_cluster_says_how_many_jobs_it_will_have_made() -> None:
    schedd = Schedd()
    cluster = submit(schedd)
    assert cluster.ad.integer("TotalSubmitProcs") is None
    make(schedd, cluster)
    assert cluster.ad.integer("TotalSubmitProcs") == 4


def test_an_edit_of_a_cluster_holds_for_the_jobs_it_makes_later() -> None:
    """As a real 25.14.1: `condor_qedit CLUSTER` edits the cluster's ad, too."""
    schedd = Schedd()
    cluster = submit(schedd)
    assert make(schedd, cluster) == 2
    by_cluster = calls.SetAttributeFlags.POST_SUBMIT_CLUSTER_CHANGE
    client = schedd.client(ALICE)
    for name, text in (("Args", '"7"'), ("Go", "1"), ("JobMaterializeLimit", "3")):
        edit = calls.SetAttributeByConstraint2("( (ClusterId == 1 ) )", text, name, int(by_cluster))
        assert client.call(edit).value == 2
    assert client.call(calls.SetAttributeByConstraint2("ClusterId == 1", "1", "Not", 0)).value == 2
    assert client.call(calls.CommitTransactionNoFlags()).value == 0
    assert cluster.ad.string(factory.EDITED) == "Args,Go,JobMaterializeLimit"
    assert make(schedd, cluster) == 1
    for job in schedd.queue.jobs.values():
        assert (job.ad.string("Args"), job.ad.integer("Go")) == ("7", 1)
    assert [job.ad.integer("Not") for job in schedd.queue.jobs.values()] == [1, 1, None]


def test_an_edit_of_clusters_counts_them_only_where_there_are_no_jobs() -> None:
    schedd = Schedd()
    submit(schedd)
    client = schedd.client(ALICE)
    by_cluster = int(calls.SetAttributeFlags.POST_SUBMIT_CLUSTER_CHANGE)
    for constraint, count in (
        ("ClusterId == 1", 1),
        ('Owner == "alice"', 1),
        ("ClusterId == 1 && ProcId == 0", -1),
        ("ClusterId == 2", -1),
    ):
        edit = calls.SetAttributeByConstraint2(constraint, "1", "Go", by_cluster)
        assert client.call(edit).value == count, constraint
    edit = calls.SetAttributeByConstraint2("ClusterId == 1", "1", "Go", by_cluster)
    assert schedd.client(BOB).call(edit).value == -1


def test_no_file_is_measured_again_for_later_jobs() -> None:
    found = DigestSources("/spool/1.items", split_lines(ITEMS)).look_at("/bin/sleep")
    assert found is not None
    assert not found.is_measured


@pytest.mark.parametrize("name", ["JobMaterializeNextProcId", "JobMaterializeNextRow"])
@pytest.mark.parametrize("actor", [ALICE, ROOT])
def test_nobody_sets_back_how_far_a_cluster_has_come(name: str, actor: Actor) -> None:
    """Set to 0 before a restart its first jobs were made again, and ran twice at once."""
    schedd = Schedd()
    cluster = submit(schedd)
    make(schedd, cluster)
    client = schedd.client(actor)
    refused = client.call(calls.SetAttribute(cluster.id, -1, "0", name))
    assert (refused.value, refused.errno) == (-1, errno.EACCES)
    assert client.call(calls.DeleteAttribute(cluster.id, -1, name)).value == -1
    by_constraint = calls.SetAttributeByConstraint2("ClusterId == 1", "0", name, 128)
    assert client.call(by_constraint).value == -1
    assert client.call(calls.CommitTransactionNoFlags()).value == 0
    assert cluster.ad.integer(name) == 2


def test_a_log_that_was_edited_makes_no_job_that_is_there() -> None:
    schedd = Schedd()
    make(schedd, submit(schedd))
    cluster = schedd.replayed().clusters[1]
    for text in ("0", "-3", '"x"', "undefined"):
        cluster.ad.insert_text("JobMaterializeNextProcId", text)
        assert factory.next_proc(cluster) == 2


def test_no_commit_makes_an_ad_that_is_there() -> None:
    """It took the place of the job that ran."""
    schedd = Schedd()
    cluster = submit(schedd)
    make(schedd, cluster)
    there = dict(schedd.queue.jobs)
    transaction = schedd.queue.transaction()
    again = plans(schedd, cluster)[:1]
    factory.plan_jobs(transaction, cluster, again, schedd.settings, schedd.now)
    with pytest.raises(RefusedError, match=r"1\.0 is in the queue already"):
        schedd.queue.commit(transaction)
    assert schedd.queue.jobs == there
    assert dict(schedd.replayed().jobs).keys() == there.keys()
    twice = schedd.queue.transaction()
    twice.new_ad("1.7")
    twice.new_ad("1.7")
    with pytest.raises(RefusedError):
        schedd.queue.commit(twice)
    moved = schedd.queue.transaction()
    moved.destroy_ad("1.0")
    moved.new_ad("1.0")
    schedd.queue.commit(moved)
