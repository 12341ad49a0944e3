"""What follows when a cluster that makes its jobs is gone."""

from __future__ import annotations

import os
from collections.abc import Coroutine
from types import SimpleNamespace

import pytest

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.records.event_cluster import Completion
from kettle.schedd.queue.job_queue import Changes, Cluster
from kettle.schedd.services.factories import Factories


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
