"""Jobs given to another manager: what it gets, what it may change, what comes back."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from kettle.classad import ClassAd
from kettle.errors import NotFoundError, RefusedError
from kettle.matchmaking.autoclusters import AutoClusters
from kettle.records import queue_log
from kettle.schedd.idle_jobs import IdleJobs
from kettle.schedd.queue import exports
from unit.schedd.queue_fixture import ALICE, BOB, NOW, ROOT, SETTINGS, Schedd


def export(schedd: Schedd, ids: str) -> str:
    chosen = exports.choose(schedd.queue, ClassAd({"ActionIds": ids}), ALICE, "export")
    exports.check_exportable(chosen)
    text = exports.render_log(chosen, schedd.queue.next_cluster, NOW)
    schedd.queue.commit(exports.plan_export(schedd.queue, chosen))
    return text


def exhaust(steps: Generator[None, None, exports.Brought]) -> tuple[int, exports.Brought]:
    """Return how many steps there were, and what came of them."""
    taken = 0
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return taken, end.value
        taken += 1


def read(schedd: Schedd, text: str) -> exports.Brought:
    """Return what comes back with a log of this text."""
    return exhaust(exports.read_log(schedd.queue, [text.encode()], SETTINGS))[1]


def test_naming_one_job_exports_its_whole_cluster() -> None:
    schedd = Schedd()
    jobs = schedd.submit(2, Args='"1"')
    schedd.submit(1)
    log = exports.ExportedLog(lambda _: True)
    queue_log.replay(export(schedd, str(jobs[0].id)).encode(), log)
    cluster = jobs[0].id.cluster
    assert list(log.ads) == ["0.0", f"0{cluster}.-1", f"{cluster}.0", f"{cluster}.1"]
    assert log.ads[f"0{cluster}.-1"]["args"] == ("Args", '"1"')
    assert [exports.is_external(job.ad) for job in schedd.queue.jobs.values()] == [
        True,
        True,
        False,
    ]


def test_exported_jobs_want_no_machine_until_they_are_taken_back() -> None:
    schedd = Schedd()
    jobs = schedd.submit(2)
    idle = IdleJobs(schedd.queue, AutoClusters())
    assert len(idle) == 2
    export(schedd, str(jobs[0].id))
    assert len(idle) == 0
    chosen = exports.choose(
        schedd.queue, ClassAd({"ActionIds": str(jobs[0].id)}), ALICE, "unexport"
    )
    schedd.queue.commit(exports.plan_unexport(schedd.queue, chosen))
    assert chosen.jobs == 2
    exports.plan_unexport(schedd.queue, chosen)
    assert chosen.jobs == 0
    assert len(idle) == 2
    assert "Managed" not in jobs[0].ad


def test_an_export_is_refused_for_strangers_for_running_jobs_and_twice() -> None:
    schedd = Schedd()
    job = schedd.submit(1)[0]
    request = ClassAd({"ActionIds": str(job.id)})
    with pytest.raises(RefusedError, match="User not authorized to export given jobs"):
        exports.choose(schedd.queue, request, BOB, "export")
    with pytest.raises(NotFoundError, match="No clusters to export"):
        exports.choose(schedd.queue, ClassAd({"ActionIds": "99.0"}), ALICE, "export")
    schedd.queue.update(job.id, {"JobStatus": "2"})
    with pytest.raises(RefusedError, match="neither idle nor held"):
        exports.check_exportable(exports.choose(schedd.queue, request, ALICE, "export"))
    schedd.queue.update(job.id, {"JobStatus": "1"})
    export(schedd, str(job.id))
    with pytest.raises(RefusedError, match="already"):
        exports.check_exportable(exports.choose(schedd.queue, request, ALICE, "export"))


def test_an_import_takes_over_what_changed_and_leaves_the_rest_exported() -> None:
    schedd = Schedd()
    first, second = schedd.submit(2)
    text = export(schedd, str(first.id))
    text += f'103 {first.id} JobStatus 4\n103 {first.id} ExitCode 3\n103 {first.id} Owner "eve"\n'
    transaction, count = exports.plan_import(schedd.queue, read(schedd, text), ALICE)
    schedd.queue.commit(transaction)
    assert count == 1
    assert (first.status, first.ad.integer("ExitCode"), first.owner) == (4, 3, "alice")
    assert not exports.is_external(first.ad)
    assert exports.is_external(second.ad)


def test_nobody_imports_changes_of_another_users_jobs() -> None:
    schedd = Schedd()
    job = schedd.submit(1)[0]
    text = export(schedd, str(job.id)) + f"103 {job.id} ExitCode 3\n"
    brought = read(schedd, text)
    with pytest.raises(RefusedError):
        exports.plan_import(schedd.queue, brought, BOB)
    assert exports.plan_import(schedd.queue, brought, ROOT)[1] == 1


def test_a_log_that_comes_back_is_read_by_steps_and_only_exported_jobs_are_kept_of_it() -> None:
    schedd = Schedd()
    job, other = schedd.submit(1)[0], schedd.submit(1)[0]
    text = export(schedd, str(job.id))
    many = [f"103 {job.id} Chosen{number} 1\n".encode() for number in range(5000)]
    strangers = [f"103 {other.id} Chosen 1\n103 99.0 Chosen 1\n".encode()]
    steps = exports.read_log(schedd.queue, [text.encode(), *strangers, *many], SETTINGS)
    taken, brought = exhaust(steps)
    # A step for each piece, and some for what is to be looked at.
    assert taken >= len(many) + 10
    assert list(brought) == [str(job.id)]
    assert len(brought[str(job.id)]) == 5000


def test_what_its_user_wrote_into_the_log_is_held_to_the_rules_of_an_edit() -> None:
    schedd = Schedd()
    job = schedd.submit(1, JobPrio="0")[0]
    before = dict(job.ad.flattened().own_texts())
    text = export(schedd, str(job.id))
    for line in (
        "JobUniverse 12",
        "JobStatus 2",
        'ClaimId "x"',
        'AuthTokenId "forged"',
        'x509UserProxySubject "forged"',
        "KettleJobPid 77",
        "JobPrio 1 +",
        "Two-words 1",
    ):
        text += f"103 {job.id} {line}\n"
    brought = read(schedd, text + f"103 {job.id} Chosen 3\n")
    transaction, count = exports.plan_import(schedd.queue, brought, ALICE)
    schedd.queue.commit(transaction)
    assert count == 1
    assert dict(job.ad.flattened().own_texts()) == before | {"Chosen": "3"}
    assert job.status == 1
