"""How clusters make their jobs, whatever their users wrote, and what follows when one is gone."""

from __future__ import annotations

import asyncio
import errno
import os
import tracemalloc
from collections.abc import Coroutine, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.errors import StorageError
from kettle.records.event_cluster import Completion
from kettle.runtime import tasks
from kettle.runtime.storage.files import Files
from kettle.schedd.queue import actions, factory
from kettle.schedd.queue.applying import Changes
from kettle.schedd.queue.factory import Paused
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.queue.job_rules import JobRules, read_job_rules
from kettle.schedd.queue.jobs import Cluster
from kettle.schedd.services.factories import Factories
from kettle.submit.build import JobPlan
from kettle.submit.digest import LONGEST_DIGEST
from kettle.submit.item_lines import MOST_ITEMS
from kettle.testing.virtual_loop import run_virtually
from kettle.wire.messages import qmgmt as calls
from unit.schedd.queue_fixture import ALICE, NOW, Schedd, plan_action


@pytest.mark.parametrize(
    ("paused", "completion"),
    [
        (None, Completion.INCOMPLETE),
        (-1, Completion.ERROR),
        (1, Completion.PAUSED),
        (2, Completion.COMPLETE),
        # No status at all, but any user may set the attribute.
        (77, Completion.INCOMPLETE),
    ],
)
def test_a_cluster_leaves_whatever_it_says_of_its_making(
    paused: int | None, completion: Completion
) -> None:
    told: list[object] = []
    schedd = SimpleNamespace(
        queue=SimpleNamespace(clusters={}),
        events=SimpleNamespace(cluster_removed=lambda _, how: told.append(how)),
        spool=SimpleNamespace(remove_cluster=told.append),
    )
    cluster = Cluster(7, ClassAd({"JobMaterializeDigestFile": "digest"}))
    if paused is not None:
        cluster.ad["JobMaterializePaused"] = paused
    Factories(schedd).on_changes(Changes(gone_clusters=[cluster]))  # type: ignore[arg-type]
    assert told == [completion, 7]


def test_an_edit_that_allows_more_jobs_has_them_made_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = Cluster(7, ClassAd({"JobMaterializeDigestFile": "digest"}))
    schedd = SimpleNamespace(queue=SimpleNamespace(clusters={7: cluster}))
    served: list[str] = []

    def spawn(work: Coroutine[None, None, None], name: str) -> None:
        work.close()
        served.append(name)

    monkeypatch.setattr("kettle.schedd.services.factories.tasks.spawn", spawn)
    factories = Factories(schedd)  # type: ignore[arg-type]
    factories.on_changes(Changes(changed_clusters={7: {"jobmaterializenextrow"}}))
    assert not served
    factories.on_changes(Changes(changed_clusters={7: {"go", "jobmaterializemaxidle"}}))
    assert served


def test_the_events_of_a_pause_name_who_wanted_it() -> None:
    cluster = Cluster(7, ClassAd({"JobMaterializeDigestFile": "digest"}))
    told: list[list[str]] = []
    schedd = SimpleNamespace(
        queue=SimpleNamespace(clusters={}),
        events=SimpleNamespace(write_cluster=lambda _, event: told.append(event.body())),
    )
    factories = Factories(schedd)  # type: ignore[arg-type]
    factories._running = True
    factories.on_paused(cluster, 1, "via condor_hold (by user bob)")
    factories.on_paused(cluster, 0, "via condor_release (by user bob)")
    assert told == [
        [
            "Job Materialization Paused",
            "\tvia condor_hold (by user bob)",
            "\tPauseCode 1",
            "\tHoldCode 1",
        ],
        ["Job Materialization Resumed", "\tvia condor_release (by user bob)"],
    ]


def test_no_digest_looks_at_the_access_point(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the folders of later jobs are there is seen by those who touch them as their owner.

    The server that has them may hang, and the schedd with it.
    """

    def hang(path: object, *_: object, **__: object) -> bool:
        raise AssertionError(f"the schedd looks at {path!r}")

    digest = "executable = /far/run.sh\ninitialdir = /far/run$(ProcId)\nFACTORY.Iwd=/far\nqueue 2\n"
    schedd = SimpleNamespace(
        queue=SimpleNamespace(clusters={}),
        queue_settings=SimpleNamespace(version="", platform=""),
        runtime=SimpleNamespace(
            files=SimpleNamespace(read_text=lambda _: digest),
            config=Config.from_text("", subsystem="SCHEDD"),
            log=SimpleNamespace(problem=print),
        ),
        spool=SimpleNamespace(cluster_file=lambda *_: "/spool/digest"),
        now=lambda: 5,
    )
    cluster = Cluster(7, ClassAd({"JobMaterializeDigestFile": "digest", "Owner": "alice"}))
    monkeypatch.setattr(os, "stat", hang)
    monkeypatch.setattr(os.path, "isdir", hang)
    made = list(Factories(schedd)._open(cluster))  # type: ignore[arg-type]
    assert [dict(plan.differences)["Iwd"] for plan in made] == ['"/far/run0"', '"/far/run1"']


class Making:
    """Two clusters that make jobs, on a clock that each job moves on."""

    def __init__(self, digest: str, seconds_a_job: float = 0.0, **settings: object) -> None:
        self.schedd = Schedd(**settings)
        self.digest = digest
        # What the next looks at the digest fail with.
        self.trouble: list[Exception] = []
        self.told: list[tuple[int, list[str]]] = []
        self.problems: list[str] = []
        self.time = 0.0
        self.seconds = seconds_a_job
        for _ in range(2):
            client = self.schedd.client()
            cluster = client.call(calls.NewCluster()).value
            assert client.call(calls.SetJobFactory(cluster, 0, "", digest)).value == 0
            for name, text in {"Owner": "undefined", "JobUniverse": "5", "Cmd": '"x"'}.items():
                client.set(cluster, -1, name, text)
            assert client.call(calls.CommitTransactionNoFlags()).value == 0
        shell = SimpleNamespace(
            queue=self.schedd.queue,
            queue_settings=self.schedd.settings,
            journal=SimpleNamespace(flush=self.flush),
            now=lambda: NOW,
            spool=SimpleNamespace(cluster_file=lambda *_: ""),
            events=SimpleNamespace(
                write_cluster=lambda cluster, event: self.told.append((cluster.id, event.body()))
            ),
            runtime=SimpleNamespace(
                clock=SimpleNamespace(monotonic=self.look),
                log=SimpleNamespace(problem=self.problems.append),
                files=SimpleNamespace(read_text=lambda _: self.read()),
                config=Config.from_text("", subsystem="SCHEDD"),
            ),
        )
        self.factories = Factories(shell)  # type: ignore[arg-type]
        # How many jobs each cluster had, whenever others had their turn.
        self.turns: list[list[int]] = []

    def look(self) -> float:
        self.time += self.seconds
        return self.time

    async def flush(self) -> None:
        self.turns.append([len(one.procs) for one in self.schedd.queue.clusters.values()])

    def read(self) -> str:
        if self.trouble:
            raise self.trouble.pop()
        return self.digest

    @property
    def made(self) -> list[list[int]]:
        return [list(cluster.procs) for cluster in self.schedd.queue.clusters.values()]

    def serve(self) -> list[list[int]]:
        for number in self.schedd.queue.clusters:
            self.factories._wanted[number] = None
        run_virtually(self.factories._serve())
        return self.turns


def test_jobs_are_made_for_so_long_and_no_longer_in_one_turn() -> None:
    """Who wrote the digest says how much work a job is; the others are served in between."""
    assert Making("arguments=$(ProcId)\nqueue 4\n").serve()[:3] == [[0, 0], [4, 0], [4, 4]]
    slow = Making("arguments=$(ProcId)\nqueue 4\n", seconds_a_job=0.03)
    assert slow.serve()[:5] == [[0, 0], [2, 0], [2, 2], [4, 2], [4, 4]]
    for cluster in slow.schedd.queue.clusters.values():
        assert cluster.ad.integer("JobMaterializePaused") == Paused.NO_MORE


def test_whatever_a_digest_fails_with_the_other_clusters_make_their_jobs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    making = Making("arguments=$(ProcId)\nqueue 2\n")
    whole = making.factories._open

    def fail(cluster: Cluster) -> Iterator[JobPlan]:
        if cluster.id == 1:
            raise OverflowError("no float holds that")
        return whole(cluster)

    monkeypatch.setattr(making.factories, "_open", fail)
    making.serve()
    one, other = making.schedd.queue.clusters.values()
    assert (len(one.procs), len(other.procs)) == (0, 2)
    assert one.ad.integer("JobMaterializePaused") == Paused.INVALID
    assert making.problems == ["Cluster 1 makes no jobs: no float holds that"]


def test_a_job_that_is_too_much_work_is_not_made() -> None:
    """9,000 macros in a long text were 1.6 seconds a job."""
    heavy = '+X = "' + "$(Y:)" * 9000 + "y" * 100_000 + '"\nY = $(ProcId)\nqueue 4\n'
    making = Making(heavy)
    making.serve()
    assert [len(one.procs) for one in making.schedd.queue.clusters.values()] == [0, 0]
    assert "too much work" in making.problems[0]


def test_the_log_says_what_a_macro_function_could_not_do_for_a_job() -> None:
    making = Making("arguments=$CHOICE(ProcId,a,b)\nqueue 3\n")
    making.serve()
    said = "$CHOICE() config macro: index 2 is out of range!"
    assert making.problems == [f"Job 1.2: {said}", f"Job 2.2: {said}"]


def test_the_items_of_clusters_that_make_jobs_stay_in_their_files(tmp_path: Path) -> None:
    """100,000 of them were 10 MB for as long as their cluster was there."""
    making = Making("arguments = $(x)\nqueue 1 x from /spool/items\n")
    (tmp_path / "items").write_text("".join(f"{number}\n" for number in range(100_000)))
    files = Files()
    files.read_text = making.factories._schedd.runtime.files.read_text  # type: ignore[method-assign]
    making.factories._schedd.runtime.files = files  # type: ignore[misc]
    making.factories._schedd.spool.cluster_file = lambda _, what: str(tmp_path / what)  # type: ignore[method-assign]
    for cluster in making.schedd.queue.clusters.values():
        cluster.ad["JobMaterializeItemsFile"] = "/spool/items"
        cluster.ad["JobMaterializeLimit"] = 3
    next(making.factories._open(cluster))
    tracemalloc.start()
    try:
        making.serve()
        assert tracemalloc.get_traced_memory()[0] < 1_000_000
    finally:
        tracemalloc.stop()
    arguments = [job.ad.string("Args") for job in making.schedd.queue.jobs.values()]
    assert arguments == ["0", "1", "2"] * 2


ONLY_SMALL = read_job_rules(
    Config.from_text(
        "SUBMIT_REQUIREMENT_NAMES = R\nSUBMIT_REQUIREMENT_R = RequestMemory =!= 3\n"
        'SUBMIT_REQUIREMENT_R_REASON = "too large"\n'
    ),
    of_made_jobs=True,
)


def test_a_refused_job_puts_the_making_on_hold() -> None:
    """It ended the whole cluster, and took the jobs before it along."""
    making = Making("+RequestMemory=$(ProcId)\nqueue 4\n", rules=ONLY_SMALL)
    making.serve()
    assert making.made == [[0, 1, 2], [0, 1, 2]]
    for cluster in making.schedd.queue.clusters.values():
        assert cluster.ad.integer("JobMaterializePaused") == Paused.HELD
        assert cluster.ad.string("JobMaterializePauseReason") == "too large"
    assert making.told[0] == (1, ["Job Materialization Paused", "\ttoo large", "\tPauseCode 1"])
    # Whoever has seen to it releases the cluster.
    request = actions.parse(ClassAd({"JobAction": 2, "ActionIds": "1"}))
    _, plan = plan_action(making.schedd.queue, request, ALICE, NOW)
    making.schedd.queue.commit(plan.transaction)
    making.factories._schedd.queue_settings = making.schedd.settings = replace(  # type: ignore[misc]
        making.schedd.settings, rules=JobRules()
    )
    assert "JobMaterializePauseReason" not in making.schedd.queue.clusters[1].ad
    making.serve()
    assert making.made == [[0, 1, 2, 3], [0, 1, 2]]


@pytest.mark.parametrize("passes", [True, False])
def test_a_disk_that_fails_once_ends_no_cluster(passes: bool) -> None:
    """A digest that could not be read ended its cluster for good."""
    making = Making("queue 2\n")
    code = errno.EIO if passes else errno.ENOENT
    making.trouble = [StorageError("cannot read", errno=code) for _ in range(2)]

    async def serve() -> None:
        for number in making.schedd.queue.clusters:
            making.factories._wanted[number] = None
        await making.factories._serve()
        assert making.made == [[], []]
        await asyncio.sleep(6)

    run_virtually(serve())
    assert making.made == ([[0, 1]] * 2 if passes else [[], []])
    assert ("in 5 seconds" in making.problems[0]) is passes
    if not passes:
        again = Factories(making.factories._schedd)
        again._running = True
        again.start()
        run_virtually(again._serve())
        assert making.made == [[0, 1]] * 2


def test_jobs_that_the_queue_has_no_room_for_are_made_when_there_is_some() -> None:
    """Neither they nor the departure of an empty cluster were tried again."""
    making = Making("queue 2\n")
    journal = making.schedd.journal
    append = journal.append

    def refuse(data: bytes, *, refusable: bool = False) -> None:
        raise StorageError("cannot write the queue log", errno=errno.ENOSPC)

    async def serve() -> None:
        journal.append = refuse  # type: ignore[method-assign]
        for cluster in making.schedd.queue.clusters.values():
            making.factories._want(cluster)
        # Longer after each failure: 5 seconds, 10, 20.
        await asyncio.sleep(30)
        assert making.made == [[], []]
        journal.append = append  # type: ignore[method-assign]
        await asyncio.sleep(10)
        assert making.made == [[0, 1], [0, 1]]
        one = making.schedd.queue.clusters[1]
        leaving = making.schedd.queue.transaction()
        for proc in list(one.procs):
            leaving.destroy_ad(f"1.{proc}")
        making.schedd.queue.commit(leaving)
        journal.append = refuse  # type: ignore[method-assign]
        making.factories._want(one)
        await asyncio.sleep(1)
        assert 1 in making.schedd.queue.clusters
        journal.append = append  # type: ignore[method-assign]
        await asyncio.sleep(5)
        assert 1 not in making.schedd.queue.clusters

    run_virtually(serve())
    said = [line for line in making.problems if "makes its next jobs in" in line]
    assert [line.split(" in ")[1].split(" ")[0] for line in said if "Cluster 1" in line] == [
        "5",
        "10",
        "20",
        "5",
    ]


def test_a_cluster_that_waits_to_try_again_waits_once() -> None:
    """Each look at it failed anew and set another timer: 50 looks were 50 more, for ever."""
    making = Making("queue 2\n")
    # The first two are the clusters' first tries.
    making.trouble = [StorageError("no room", errno=errno.ENOSPC) for _ in range(60)]

    async def serve() -> None:
        clusters = making.schedd.queue.clusters
        for _ in range(50):
            for cluster in clusters.values():
                making.factories._want(cluster)
            await asyncio.sleep(0.01)
        assert len(making.trouble) == 58
        waiting = [task for task in tasks.running() if task.get_name().endswith("once more")]
        assert len(waiting) == 2
        # A cluster that is held, or released, by its user is looked at nevertheless.
        making.trouble.clear()
        making.factories.on_paused(clusters[1], Paused.RUNNING, "via condor_release (by user bob)")
        await asyncio.sleep(0.01)
        assert making.made == [[0, 1], []]
        await asyncio.sleep(5)

    run_virtually(serve())
    assert making.made == [[0, 1], [0, 1]]


def test_a_removed_cluster_does_not_wait_for_its_next_try() -> None:
    making = Making("queue 2\n")
    making.trouble = [StorageError("no room", errno=errno.ENOSPC) for _ in range(2)]
    making.factories._schedd.events.cluster_removed = lambda *_: None  # type: ignore[method-assign]
    making.factories._schedd.spool.remove_cluster = lambda _: None  # type: ignore[method-assign]

    async def serve() -> None:
        queue = making.schedd.queue
        cluster = queue.clusters[1]
        making.factories._want(cluster)
        await asyncio.sleep(0.01)
        assert 1 in making.factories._later
        removal = queue.transaction()
        factory.plan_end(removal, cluster, Paused.REMOVED)
        making.factories.on_changes(queue.commit(removal))
        await asyncio.sleep(0.01)
        assert 1 not in queue.clusters

    run_virtually(serve())


@pytest.mark.parametrize(
    ("now", "said"),
    [
        # As many bytes in fewer lines.
        (b"0 1\n2\n3\n", "has changed: 3 items are where 4 were"),
        (b"0\n1\n", "has changed: it has become shorter"),
        (None, "is gone"),
    ],
)
def test_items_that_are_not_what_they_were_put_the_making_on_hold(
    tmp_path: Path, now: bytes | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ended with `list index out of range`, or without a chance to go on."""
    making = Making("arguments = $(x)\nqueue 1 x from /spool/items\n")
    items = tmp_path / "items"
    items.write_bytes(b"0\n1\n2\n3\n")
    files = Files()
    files.read_text = making.factories._schedd.runtime.files.read_text  # type: ignore[method-assign]
    making.factories._schedd.runtime.files = files  # type: ignore[misc]
    making.factories._schedd.spool.cluster_file = lambda _, what: str(tmp_path / what)  # type: ignore[method-assign]
    for cluster in making.schedd.queue.clusters.values():
        cluster.ad["JobMaterializeItemsFile"] = "/spool/items"
    read = files.read_pieces

    def change(path: str) -> Iterator[bytes]:
        yield from read(path)
        if now is None:
            items.unlink()
        else:
            items.write_bytes(now)

    monkeypatch.setattr(files, "read_pieces", change)
    making.factories._wanted[1] = None
    run_virtually(making.factories._serve())
    cluster = making.schedd.queue.clusters[1]
    assert cluster.ad.integer("JobMaterializePaused") == Paused.HELD
    assert cluster.ad.string("JobMaterializePauseReason") == f"{items} {said}"
    assert making.told == [
        (1, ["Job Materialization Paused", f"\t{items} {said}", "\tPauseCode 1"])
    ]


def test_jobs_that_the_queue_did_not_take_are_made_again() -> None:
    making = Making("arguments=$(ProcId)\nqueue 4\n")
    append = making.schedd.journal.append

    def fail(data: bytes, *, refusable: bool = False) -> None:
        making.schedd.journal.append = append  # type: ignore[method-assign]
        raise StorageError("no room", errno=errno.ENOSPC)

    making.schedd.journal.append = fail  # type: ignore[method-assign]
    making.serve()
    making.serve()
    assert making.made == [[0, 1, 2, 3]] * 2


def test_jobs_that_came_with_their_cluster_are_not_made_once_more() -> None:
    schedd = Schedd()
    client = schedd.client()
    cluster = client.call(calls.NewCluster()).value
    client.call(calls.SetJobFactory(cluster, 0, "", "queue 5\n"))
    for name, text in {"Owner": "undefined", "JobUniverse": "5", "Cmd": '"x"'}.items():
        client.set(cluster, -1, name, text)
    for _ in range(2):
        client.call(calls.NewProc(cluster))
    assert client.call(calls.CommitTransactionNoFlags()).value == 0
    making = Making("queue 5\n")
    making.factories._schedd.queue = schedd.queue  # type: ignore[misc]
    first = schedd.queue.jobs[JobId(cluster, 0)]
    making.schedd.queue = schedd.queue
    making.serve()
    assert making.made == [[0, 1, 2, 3, 4]]
    assert schedd.queue.jobs[JobId(cluster, 0)] is first


def test_a_digest_and_items_without_measure_are_refused() -> None:
    client = Schedd().client()
    cluster = client.call(calls.NewCluster()).value
    long = "a = b\n" * (LONGEST_DIGEST // 6 + 1)
    refused = client.call(calls.SetJobFactory(cluster, 0, "", long))
    assert (refused.value, refused.errno) == (-1, errno.EFBIG)
    items = b"\n" * (MOST_ITEMS + 1)
    refused = client.call(calls.SendMaterializeData(cluster, 0, items))
    assert (refused.value, refused.errno) == (-1, errno.EFBIG)
