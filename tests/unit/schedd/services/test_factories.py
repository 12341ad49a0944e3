"""What follows when a cluster that makes its jobs is gone."""

from __future__ import annotations

from collections.abc import Coroutine
from types import SimpleNamespace

import pytest

from kettle.classad import ClassAd
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
