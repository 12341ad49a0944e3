"""How clusters make their jobs, whatever their users wrote, and what follows when one is gone."""

from __future__ import annotations

import asyncio
import errno
import os
import tracemalloc
from collections.abc import Coroutine, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.records.event_cluster import Completion
from kettle.runtime.storage.files import Files
from kettle.schedd.queue import factory
from kettle.schedd.queue.factory import Paused
from kettle.schedd.queue.job_queue import Changes, Cluster
from kettle.schedd.services.factories import Factories
from kettle.submit.build import JobPlan
from kettle.wire.messages import qmgmt as calls
from unit.schedd.queue_fixture import NOW, Schedd


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

    def __init__(self, digest: str, seconds_a_job: float = 0.0) -> None:
        self.schedd = Schedd()
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
            runtime=SimpleNamespace(
                clock=SimpleNamespace(monotonic=self.look),
                log=SimpleNamespace(problem=self.problems.append),
                files=SimpleNamespace(read_text=lambda _: digest),
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

    def serve(self) -> list[list[int]]:
        for number in self.schedd.queue.clusters:
            self.factories._wanted[number] = None
        asyncio.run(self.factories._serve())
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


def test_a_digest_and_items_without_measure_are_refused() -> None:
    client = Schedd().client()
    cluster = client.call(calls.NewCluster()).value
    long = "a = b\n" * (factory.LONGEST_DIGEST // 6 + 1)
    refused = client.call(calls.SetJobFactory(cluster, 0, "", long))
    assert (refused.value, refused.errno) == (-1, errno.EFBIG)
    items = b"\n" * (factory.MOST_ITEMS + 1)
    refused = client.call(calls.SendMaterializeData(cluster, 0, items))
    assert (refused.value, refused.errno) == (-1, errno.EFBIG)
