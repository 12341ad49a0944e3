"""Jobs given to another manager: what it gets, what it may change, what comes back."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from kettle.classad import ClassAd
from kettle.errors import NotFoundError, RefusedError, StorageError
from kettle.matchmaking.autoclusters import AutoClusters
from kettle.records import queue_log
from kettle.schedd.idle_jobs import IdleJobs
from kettle.schedd.queue import exports, imports
from kettle.schedd.queue.actors import Actor
from kettle.schedd.queue.job_ids import key_of
from kettle.schedd.queue.open_transactions import LARGE_TRANSACTION_BYTES
from unit.schedd.queue_fixture import (
    ALICE,
    BOB,
    NOW,
    ROOT,
    SETTINGS,
    Schedd,
    give_away,
    take_back,
    through,
)


def exhaust(steps: Generator[None, None, imports.Brought]) -> tuple[int, imports.Brought]:
    """Return how many steps there were, and what came of them."""
    taken = 0
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return taken, end.value
        taken += 1


def read(schedd: Schedd, text: str, actor: Actor = ALICE) -> imports.Brought:
    """Return what comes back with a log of this text."""
    return exhaust(imports.read_log(schedd.queue, [text.encode()], actor, SETTINGS))[1]


def take_over(schedd: Schedd, brought: imports.Brought) -> list[int]:
    """Commit what came back; return of how many jobs, transaction by transaction."""
    counts = []
    for transaction, count in imports.plan_import(schedd.queue, brought):
        schedd.queue.commit(transaction)
        counts.append(count)
    return counts


class Table:
    """What a log says of each ad: its names and texts, by name in lower case."""

    def __init__(self) -> None:
        self.ads: dict[str, dict[str, tuple[str, str]]] = {}

    def new_ad(self, key: str, my_type: str, target_type: str) -> None:
        self.ads[key] = {}

    def destroy_ad(self, key: str) -> None:
        del self.ads[key]

    def set_attribute(self, key: str, name: str, text: str) -> None:
        self.ads[key][name.lower()] = (name, text)

    def delete_attribute(self, key: str, name: str) -> None:
        del self.ads[key][name.lower()]


def test_naming_one_job_exports_its_whole_cluster() -> None:
    schedd = Schedd()
    jobs = schedd.submit(2, Args='"1"')
    schedd.submit(1)
    log = Table()
    queue_log.replay(give_away(schedd, str(jobs[0].id)).encode(), log)
    cluster = jobs[0].id.cluster
    assert list(log.ads) == ["0.0", f"0{cluster}.-1", f"{cluster}.0", f"{cluster}.1"]
    assert log.ads[f"0{cluster}.-1"]["args"] == ("Args", '"1"')
    assert [job.is_external for job in schedd.queue.jobs.values()] == [
        True,
        True,
        False,
    ]


def test_exported_jobs_want_no_machine_until_they_are_taken_back() -> None:
    schedd = Schedd()
    jobs = schedd.submit(2)
    idle = IdleJobs(schedd.queue, AutoClusters())
    assert len(idle) == 2
    give_away(schedd, str(jobs[0].id))
    assert len(idle) == 0
    assert take_back(schedd, str(jobs[0].id)) == 2
    assert take_back(schedd, str(jobs[0].id)) == 0
    assert len(idle) == 2
    assert "Managed" not in jobs[0].ad


def test_what_is_on_its_way_out_is_not_taken_back() -> None:
    """Its log may be written at any moment, and another manager have the jobs."""
    schedd = Schedd()
    (job,) = schedd.submit(1)
    request = ClassAd({"ActionIds": str(job.id)})
    chosen = through(exports.choose(schedd.queue, request, ALICE, "export"))
    log = exports.NewLog("/folder/job_queue.log", NOW)
    for marks in exports.mark(schedd.queue, chosen, log, lambda job: False):
        schedd.queue.commit(marks)
    with pytest.raises(RefusedError, match=r"the export of job 1\.0 is still under way"):
        take_back(schedd, str(job.id))


def test_jobs_that_are_gone_are_not_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """They were removed while others had their turn."""
    monkeypatch.setattr(exports, "_JOBS_A_STEP", 1)
    schedd = Schedd()
    jobs = schedd.submit(3)
    give_away(schedd, str(jobs[0].id))
    request = ClassAd({"ActionIds": str(jobs[0].id)})
    chosen = through(exports.choose(schedd.queue, request, ALICE, "unexport"))
    for transaction in exports.unmark(schedd.queue, chosen):
        if transaction and jobs[1].id in schedd.queue.jobs:
            gone = schedd.queue.transaction()
            gone.destroy_ad(key_of(*jobs[1].id))
            schedd.queue.commit(gone)
        schedd.queue.commit(transaction)
    assert chosen.jobs == 2
    assert set(schedd.queue.jobs) == set(schedd.replayed().jobs) == {jobs[0].id, jobs[2].id}


def test_an_export_is_refused_for_strangers_for_running_jobs_and_twice() -> None:
    schedd = Schedd()
    job = schedd.submit(1)[0]
    request = ClassAd({"ActionIds": str(job.id)})
    with pytest.raises(RefusedError, match="User not authorized to export given jobs"):
        through(exports.choose(schedd.queue, request, BOB, "export"))
    with pytest.raises(NotFoundError, match="No clusters to export"):
        through(exports.choose(schedd.queue, ClassAd({"ActionIds": "99.0"}), ALICE, "export"))
    schedd.queue.update(job.id, {"JobStatus": "2"})
    with pytest.raises(RefusedError, match="neither idle nor held"):
        give_away(schedd, str(job.id))
    schedd.queue.update(job.id, {"JobStatus": "1"})
    give_away(schedd, str(job.id))
    with pytest.raises(RefusedError, match="already"):
        give_away(schedd, str(job.id))


def test_an_import_takes_over_what_changed_and_leaves_the_rest_exported() -> None:
    schedd = Schedd()
    first, second = schedd.submit(2)
    text = give_away(schedd, str(first.id))
    text += f'103 {first.id} JobStatus 4\n103 {first.id} ExitCode 3\n103 {first.id} Owner "eve"\n'
    assert take_over(schedd, read(schedd, text)) == [1]
    assert (first.status, first.ad.integer("ExitCode"), first.owner) == (4, 3, "alice")
    assert not first.is_external
    assert second.is_external


def test_nobody_imports_changes_of_another_users_jobs() -> None:
    schedd = Schedd()
    job = schedd.submit(1)[0]
    text = give_away(schedd, str(job.id)) + f"103 {job.id} ExitCode 3\n"
    with pytest.raises(RefusedError, match="not authorized to import given jobs"):
        read(schedd, text, BOB)
    assert take_over(schedd, read(schedd, text, ROOT)) == [1]


def test_nobody_imports_what_became_of_an_older_queue_s_job_of_the_same_number() -> None:
    older, schedd = Schedd(), Schedd()
    (old,), (new,) = older.submit(1), schedd.submit(1)
    old.ad.insert_text("GlobalJobId", '"vm#1.0#1"')
    text = give_away(older, str(old.id)) + f"103 {old.id} JobStatus 4\n"
    give_away(schedd, str(new.id))
    with pytest.raises(RefusedError, match=r"another job 1\.0"):
        read(schedd, text)
    assert new.is_external


def test_a_log_that_comes_back_is_read_by_steps_and_only_exported_jobs_are_kept_of_it() -> None:
    schedd = Schedd()
    job, other = schedd.submit(1)[0], schedd.submit(1)[0]
    text = give_away(schedd, str(job.id))
    many = [f"103 {job.id} Chosen{number} 1\n".encode() for number in range(5000)]
    strangers = [f"103 {other.id} Chosen 1\n103 99.0 Chosen 1\n".encode()]
    steps = imports.read_log(schedd.queue, [text.encode(), *strangers, *many], ALICE, SETTINGS)
    taken, brought = exhaust(steps)
    # A step for each piece, and some for what is to be looked at.
    assert taken >= len(many) + 5
    assert list(brought) == [str(job.id)]
    assert len(brought[str(job.id)]) == 5000


def test_what_its_user_wrote_into_the_log_is_held_to_the_rules_of_an_edit() -> None:
    schedd = Schedd()
    job = schedd.submit(1, JobPrio="0")[0]
    before = dict(job.ad.flattened().own_texts())
    text = give_away(schedd, str(job.id))
    for line in (
        "JobUniverse 12",
        "JobStatus 2",
        'ClaimId "x"',
        'AuthTokenId "forged"',
        'x509UserProxySubject "forged"',
        "KettleJobPid 77",
        'AccountingGroup "a b"',
        "JobPrio 1 +",
        "Two-words 1",
    ):
        text += f"103 {job.id} {line}\n"
    brought = read(schedd, text + f"103 {job.id} Chosen 3\n")
    assert take_over(schedd, brought) == [1]
    assert dict(job.ad.flattened().own_texts()) == before | {"Chosen": "3"}
    assert job.status == 1


def test_an_import_is_taken_over_in_pieces() -> None:
    schedd = Schedd()
    jobs = schedd.submit(6)
    text = give_away(schedd, str(jobs[0].id))
    for job in jobs:
        text += "".join(f"103 {job.id} A{number} {'1' * 200}\n" for number in range(500))
    brought = read(schedd, text)
    pieces = imports.plan_import(schedd.queue, brought)
    transaction, count = next(pieces)
    assert count == 2
    schedd.queue.commit(transaction)
    # The disk is full here: what has come back has, and the next import takes the rest.
    assert [job.is_external for job in jobs] == [False] * 2 + [True] * 4
    assert take_over(schedd, read(schedd, text)) == [2, 2]
    assert not any(job.is_external for job in jobs)
    assert take_over(schedd, read(schedd, text)) == []


def test_an_import_takes_only_the_memory_of_what_changed() -> None:
    schedd = Schedd()
    job = schedd.submit(1, Args='"1"')[0]
    text = give_away(schedd, str(job.id))
    log = imports.ImportedLog(schedd.queue, ALICE)
    queue_log.replay(text.encode(), log)
    assert (log.ads, log.held_bytes) == ({}, 0)
    for line in ("A 1", "A 22", "B 3"):
        queue_log.replay(f"103 {job.id} {line}\n".encode(), log)
    whole = log.held_bytes
    assert log.ads == {str(job.id): {"a": ("A", "22"), "b": ("B", "3")}}
    queue_log.replay(f"104 {job.id} B\n104 {job.id} B\n".encode(), log)
    assert 0 < log.held_bytes < whole
    # As it is here already, whatever was said before.
    queue_log.replay(f'103 {job.id} Args "2"\n103 {job.id} Args "1"\n'.encode(), log)
    assert list(log.ads[str(job.id)]) == ["a"]
    queue_log.replay(f"102 {job.id}\n".encode(), log)
    assert (log.ads, log.held_bytes) == ({}, 0)


@pytest.mark.parametrize(
    ("count", "length"),
    [(imports.MOST_CHANGED + 1, 1), (20, LARGE_TRANSACTION_BYTES // 20)],
    ids=["many", "long"],
)
def test_of_one_job_no_more_comes_back_than_one_step_takes_over(count: int, length: int) -> None:
    schedd = Schedd()
    job = schedd.submit(1)[0]
    text = give_away(schedd, str(job.id))
    text += "".join(f"103 {job.id} A{number} {'1' * length}\n" for number in range(count))
    with pytest.raises(RefusedError, match="of it"):
        read(schedd, text)


def test_an_import_is_bounded_as_a_transaction_is(monkeypatch: pytest.MonkeyPatch) -> None:
    schedd = Schedd()
    jobs = schedd.submit(10)
    text = give_away(schedd, str(jobs[0].id))
    text += "".join(f"103 {job.id} A {'1' * 1000}\n" for job in jobs)
    monkeypatch.setattr(imports, "LARGE_TRANSACTION_BYTES", 2_000)
    monkeypatch.setattr(imports, "_NOTED_BYTES", 1_000)
    monkeypatch.setattr(imports, "MOST_TRANSACTION_BYTES", 5_000)
    with pytest.raises(RefusedError, match="the log brings more than"):
        read(schedd, text)
    monkeypatch.setattr(imports, "MOST_TRANSACTION_BYTES", 50_000)
    assert len(read(schedd, text)) == 10
    monkeypatch.setattr(imports, "MOST_OPEN_BYTES", 5_000)
    with pytest.raises(RefusedError, match="all open transactions together"):
        read(schedd, text)


def test_a_line_that_is_no_attribute_of_a_job_s_ends_an_import() -> None:
    schedd = Schedd()
    job = schedd.submit(1)[0]
    text = give_away(schedd, str(job.id)).encode() + f"103 {job.id} A ".encode()
    pieces = iter([text, *[b"x" * 65536] * 100])
    with pytest.raises(StorageError, match="has no end"):
        exhaust(imports.read_log(schedd.queue, pieces, ALICE, SETTINGS))
    assert len(list(pieces)) > 50
