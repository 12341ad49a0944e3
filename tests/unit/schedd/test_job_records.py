"""The records of jobs and of their runs."""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.records import history
from kettle.schedd.job_records import JobRecords
from kettle.schedd.queue.job_ids import key_of
from unit.schedd.queue_fixture import NOW, Schedd


def test_a_run_is_recorded_when_it_begins_by_name_and_when_it_ends_in_full() -> None:
    schedd = Schedd()
    (job,) = schedd.submit(1, Args='"x"')
    schedd.queue.update(job.id, {"NumShadowStarts": "3", "ClaimId": '"secret"'})
    records = JobRecords()
    data = records.run("SPAWN", job, NOW) + records.run("EPOCH", job, NOW + 5)
    spawn, epoch = history.read_forwards(data)
    assert (spawn.kind, epoch.kind) == ("SPAWN", "EPOCH")
    assert epoch.fields["RunInstanceId"] == "2"
    assert 'EpochAdType = "EPOCH"' in epoch.lines
    assert 'Args = "x"' in epoch.lines
    assert 'Args = "x"' not in spawn.lines
    assert not [line for line in epoch.lines if "secret" in line]


def test_a_record_of_a_run_has_what_its_job_said_then() -> None:
    schedd = Schedd()
    (job,) = schedd.submit(1, Args='"x"')
    schedd.queue.update(job.id, {"NumShadowStarts": "1", "JobStatus": "4", "CurrentHosts": "0"})
    was = {"JobStatus": "2", "currenthosts": None, "RemoteHost": '"slot1@x"'}
    data = JobRecords().run("EPOCH", job, NOW, was=was)
    (epoch,) = history.read_forwards(data)
    assert "JobStatus = 2" in epoch.lines
    assert 'RemoteHost = "slot1@x"' in epoch.lines
    assert not [line for line in epoch.lines if line.lower().startswith("currenthosts ")]
    assert job.ad.integer("JobStatus") == 4


def names_of(record: history.Record) -> list[str]:
    return [line.partition(" = ")[0] for line in record.lines]


def test_what_a_beginning_and_a_transfer_say_of_their_job_is_configured() -> None:
    schedd = Schedd()
    (job,) = schedd.submit(1, Args='"x"', Private="1")
    schedd.queue.update(job.id, {"NumShadowStarts": "1", "RemoteHost": '"slot1@x"', "Iwd": '"/"'})
    records = JobRecords()
    ad = ClassAd({"TransferClass": "INPUT", "InputPluginResultList": [], "Iwd": "its own"})
    data = records.transfer("INPUT", job, ad, NOW, ("Args", "Iwd", "Missing"))
    data += records.run("SPAWN", job, NOW, ("Args",)) + records.run("SPAWN", job, NOW, ("All",))
    transfer, spawn, whole = history.read_forwards(data)
    of_all = ["EpochAdType", "RunInstanceID", "EpochWriteDate"]
    own = ["TransferClass", "InputPluginResultList", "Iwd"]
    assert names_of(transfer) == [
        *of_all, *own, "ClusterId", "ProcId", "Owner", "RemoteHost", "Args",
    ]  # fmt: skip
    assert names_of(spawn) == [*of_all, "ClusterId", "ProcId", "Owner", "NumShadowStarts", "Args"]
    assert "Private" in names_of(whole)


def test_a_record_has_every_line_of_its_job_whatever_jobs_were_recorded_before() -> None:
    schedd = Schedd()
    jobs = [*schedd.submit(3, Zz='"x"', Env='"secret"', AAA="1 + 2"), *schedd.submit(1, Other="2")]
    schedd.queue.update(jobs[1].id, {"aaa": "7", "ClaimId": '"not shown"'})
    schedd.queue.update(jobs[2].id, {"Exit": "1.5"})
    records = JobRecords(frozenset({"env"}))
    for priority in range(2):
        # The second time their cluster says something else.
        transaction = schedd.queue.transaction()
        transaction.set_attribute(key_of(jobs[0].id.cluster, -1), "JobPrio", str(priority))
        schedd.queue.commit(transaction)
        for job in jobs:
            shown = [name for name in job.ad if name not in {"Env", "ClaimId"}]
            lines = [f"{name} = {job.ad.text(name)}\n" for name in sorted(shown, key=str.lower)]
            assert records.ad_lines(job) == "".join(lines)
            assert JobRecords(frozenset({"env"})).ad_lines(job) == "".join(lines)


def test_what_the_queue_sorts_its_jobs_by_is_in_the_records_of_runs_and_not_in_the_last() -> None:
    (job,) = Schedd().submit()
    job.ad["AutoClusterId"], job.ad["AutoClusterAttrs"] = 7, "Requirements"
    records = JobRecords()
    assert b"AutoCluster" not in records.finished(job, 0, 5)
    assert b"AutoClusterId = 7\n" in records.run("EPOCH", job, 5)
    assert b"AutoCluster" not in records.finished(job, 0, 5)
