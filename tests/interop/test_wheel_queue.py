"""The unmodified PyPI wheel submits to a pool of ours, acts on jobs, edits, exports and spools.

Known by: FS.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from interop.wheel_pool import WheelPool, raised, totals, wheel_pool

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WheelPool]:
    folder: Path = tmp_path_factory.mktemp("queue")
    with wheel_pool(folder) as found:
        yield found


SUBMITTED = {
    "from a dictionary": ["60"],
    "count": ["60"] * 3,
    "from a text": ["0 of $(Cluster*0)", "1 of $(Cluster*0)"],
    "in": ["a", "b", "c"],
    "from inline": ["1-2", "3-4"],
    "queue keyword": ["left", "left", "right", "right"],
    "strings": ["one", "two words"],
    "dictionaries": ["1/x", "2/y"],
    "strings and count": ["p", "p", "q", "q"],
    "matching": ["one.dat", "two.dat"],
    "from a file": ["k1:v1", "k2:v2"],
    "own attributes": [""],
}


def test_every_way_of_submitting_and_asking_works(pool: WheelPool) -> None:
    report = pool.run("submit")
    for way, arguments in SUBMITTED.items():
        assert report[way]["arguments"] == arguments, way
        assert report[way]["jobs"] == len(arguments), way
        assert report[way]["same cluster"], way
    assert report["late materialization"]["jobs"] == 5
    assert report["late materialization"]["arguments"] == ["0", "1"]
    assert report["own attributes seen"] == {"Colour": '"red"', "Shape": "1 + 2"}
    assert report["projection"] == ["JobStatus", "ProcId", "ServerTime"]
    assert [report[name] for name in ("limit", "no limit", "limit of 0", "tree")] == [2, 3, 0, 2]
    assert report["callback"] == [1, 2]
    assert report["group by"] == [[5, 3]]
    assert report["option SummaryOnly"][0][:2] == ["AllusersCompleted", "AllusersHeld"]
    names = ["ClusterId", "JobStatus", "ServerTime"]
    assert set(report["option IncludeClusterAd"][0]) <= set(names)
    assert {"InitialJobStatus", "NumHolds", "NumHoldsByReason"} <= set(report["names of a job"])
    assert raised(report) == {
        "nothing to run",
        "requirements that are none",
        "an unknown universe",
        "no items",
        "a missing list",
        "wrong constraint",
        "expression",
    }


def test_every_action_reaches_the_jobs_it_names(pool: WheelPool) -> None:
    report = pool.run("act")
    expected = {
        "release one": {"Success": 1},
        "hold one": {"Success": 1},
        "hold again": {"AlreadyDone": 1},
        "release two": {"Success": 2},
        "hold by constraint": {"AlreadyDone": 1, "Success": 5},
        "remove by tree": {"Success": 1},
        "remove a list": {"Success": 2},
        "remove a missing one": {"NotFound": 1},
        "remove nobody's": {},
        "remove some": {"NotFound": 1, "Success": 1},
        "suspend a held one": {"BadStatus": 1},
        "removex a held one": {"BadStatus": 1},
        "remove cluster": {"Success": 2},
        "suspend": {"Success": 1},
        "continue": {"Success": 1},
        "vacate": {"Success": 1},
        "vacate fast": {"Success": 1},
        "hold running": {"Success": 2},
        "remove running": {"Success": 2},
    }
    assert {name: totals(report[name]) for name in expected} == expected
    assert report["hold one seen"] == [1, 42]
    assert (report["hold reason"], report["default reason"]) == (
        "my reason",
        "Python-initiated action",
    )
    assert (report["suspended"], report["continued"]) == (7, 2)
    assert report["held running"] == [1, 7]
    assert report["removed"] == [[3, "Python-initiated action"]] * 2


def test_edits_change_what_they_name_and_nothing_else(pool: WheelPool) -> None:
    report = pool.run("act")
    counts = [report[f"edit{name}"] for name in ("", " tree", " cluster", " constraint", " list")]
    assert counts == [1, 1, 2, 2, 2]
    assert report["edited"]["Colour"] == '"green"'
    assert report["edited"]["Shape"] == "1 + ProcId"
    assert {name for name in raised(report) if name.startswith("edit")} == {
        "edit immutable",
        "edit cluster id",
        "edit a missing one",
        "edit nobody's",
        "edit a wrong name",
    }
    assert report["edited wrongly"] == "undefined"
    assert report["left"] == 0


def test_answers_and_complaints_are_those_of_the_real_schedd(pool: WheelPool) -> None:
    """What the same script got from HTCondor 25.14.1 is in tests/data/wheel/answers.json."""
    recorded = Path(__file__).parents[1] / "data/wheel/answers.json"
    theirs = json.loads(recorded.read_text(encoding="utf-8"))
    ours = pool.run("answers")
    # Jobs in the queue: they say how many there were when they last counted.
    del ours["act on nobody"]["TotalJobAds"]
    # They say nothing of what is wrong there.
    said = ours.pop("edit empty")
    assert said == theirs.pop("edit empty") + "the value of Foo is not one expression"
    assert ours == theirs


def test_a_proxy_that_is_not_there_is_the_client_s_complaint(pool: WheelPool) -> None:
    said = pool.run("answers")["proxy"]
    assert said.endswith("delegateGSIcredential:6003:Failed to send proxy file")


def test_jobs_are_exported_and_taken_back(pool: WheelPool) -> None:
    report = pool.run("exports")
    assert (report["export"]["ActionResult"], report["export"]["TotalJobAds"]) == ("1", "2")
    assert report["managed"] == [[proc, 5, "External", "Lumberjack"] for proc in (0, 1)]
    assert report["files"] == ["job_queue.log"]
    # The first one was removed while it was away, and leaves now.
    assert report["back"][-1] == [1, 5, None, None]
    assert report["back"][:-1] in ([], [[0, 3, None, None]])
    assert report["imported"] == [[proc, 5, "External", "Lumberjack"] for proc in (0, 1)]
    assert report["import"]["ActionResult"] == "1"
    assert report["import nothing"]["ActionResult"] == "0"
    assert raised(report) == {"export again"}


def test_input_is_spooled_and_output_retrieved(pool: WheelPool) -> None:
    report = pool.run("spool")
    assert report["before"] == [[5, 16], [5, 16]]
    assert report["after"] == [[4, 0], [4, 0]]
    assert {"SUBMIT_Cmd", "SUBMIT_Iwd", "StageInFinish"} <= set(report["spooled names"])
    assert {"made.txt", "out.0", "err.0"} <= set(report["files"])
    assert (report["output"], report["output 1"]) == ("hello\ndeep\n", "hello\ndeep\n")
    assert report["left"] is True
    assert report["missing file's job"] == [5, 16]
    assert raised(report) == {
        "retrieve too early",
        "spool what is not spooled",
        "spool a missing file",
    }


def test_a_dag_becomes_a_submit_description(pool: WheelPool) -> None:
    report = pool.run("dags")
    assert {"executable", "arguments", "on_exit_remove"} <= set(report["from_dag"])
    assert report["universe"] == "scheduler"
    assert raised(report) == {"missing dag"}
