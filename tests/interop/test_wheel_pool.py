"""The unmodified PyPI wheel finds our daemons, follows logs and books, and commands machines.

Known by: FS.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from interop.wheel_pool import WheelPool, raised, wheel_pool

pytestmark = pytest.mark.interop

DAEMONS = ("Collector", "Negotiator", "Schedd", "Startd", "Master")
LEVELS = ("READ", "WRITE", "ADMINISTRATOR", "DAEMON", "CONFIG", "NEGOTIATOR", "ALLOW")


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WheelPool]:
    folder: Path = tmp_path_factory.mktemp("pool")
    with wheel_pool(folder) as found:
        yield found


def test_every_daemon_is_found_read_asked_and_told(pool: WheelPool) -> None:
    report = pool.run("locate_and_query")
    for daemon in DAEMONS:
        assert {"CondorVersion", "MyAddress"} <= set(report[f"locate {daemon}"])
        assert report[f"locateAll {daemon}"] == 1
        assert report[f"locate {daemon} by name"] is True
        assert report[f"remote {daemon}"] == "log"
        assert report[f"remote {daemon} knobs"] is True
        for level in LEVELS:
            assert report[f"ping {daemon} {level}"]["AuthorizationSucceeded"] is True
    assert report["locateAll Credd"] == 0
    assert report["query Any"] == [
        "Accounting",
        "Collector",
        "DaemonMaster",
        "Machine",
        "Negotiator",
        "Scheduler",
        "StartD",
    ]
    assert report["directQuery Schedd projected"] is True
    constraints = ("constraint", "constraint false", "constraint tree")
    assert [report[name] for name in constraints] == [1, 0, 1]
    assert report["projection"] == ["Cpus", "Memory", "Name"]
    assert (report["advertised"], report["invalidated"]) == (["blue"], 0)
    assert report["by UDP"] == 1
    assert report["remote missing"] == "default"
    assert raised(report) == {
        "directQuery Master",
        "directQuery Master projected",
        "locate Credd",
        "locate HAD",
        "constraint wrong",
        "advertise nonsense",
        "ping nonsense",
        "ping nobody",
        "param missing",
        "remote set",
    }


def test_event_logs_are_followed_while_jobs_run(pool: WheelPool) -> None:
    report = pool.run("event_log")
    assert [kind for kind in report["a life"] if kind != "IMAGE_SIZE"] == [
        "SUBMIT",
        "FILE_TRANSFER",
        "FILE_TRANSFER",
        "EXECUTE",
        "FILE_TRANSFER",
        "FILE_TRANSFER",
        "JOB_TERMINATED",
    ]
    assert report["end"] == {"TerminatedNormally": True, "ReturnValue": 3}
    assert (report["end bytes"], report["mapping"], report["nothing more"]) == (True, True, 0)
    assert report["released"][0] == "JOB_RELEASED"
    assert report["evicted"] == {
        "Checkpointed": False,
        "ReasonCode": 1022,
        "Reason": "Job vacated by schedd",
    }
    assert report["held"] == {"HoldReasonCode": 1, "HoldReasonSubCode": 5}
    assert (report["cluster"], report["cluster jobs"]) == (["CLUSTER_REMOVE", "CLUSTER_SUBMIT"], 2)
    assert report["missing output"] == {"HoldReasonCode": 12, "HoldReasonSubCode": 2}
    assert report["signal"] == {"TerminatedNormally": False, "TerminatedBySignal": 9}
    assert {"JOB_SUSPENDED", "JOB_UNSUSPENDED", "JOB_ABORTED"} <= set(report["kinds"])
    assert report["output"] == "input\n"
    assert raised(report) == {"missing"}


def test_the_history_is_read_with_every_way_to_stop(pool: WheelPool) -> None:
    report = pool.run("history")
    assert report["exit codes"] == [[code, code, 4] for code in range(4)]
    assert report["projection"] == ["ExitCode", "ProcId"]
    stops = ("match", "no match limit", "everything", "tree", "since a job", "since a cluster")
    assert [report[name] for name in stops] == [2, 4, 4, 2, 2, 0]
    assert (report["since an expression"], report["since a tree"]) == (1, 3)
    assert report["nothing"] == []
    assert [report[f"epochs {kind}"] for kind in ("EPOCH", "SPAWN", "INPUT")] == [4, 4, 0]
    assert (report["epochs"], report["epochs ['EPOCH', 'SPAWN']"]) == (4, 8)
    assert (report["startd history"], report["startd match"]) == (True, 1)
    assert report["startd ad"]["Cmd"]
    assert report["an epoch"] == {"MyType": "Job", "RunInstanceId": 0, "EpochAdType": "EPOCH"}


def test_the_books_of_the_negotiator_are_read_and_changed(pool: WheelPool) -> None:
    report = pool.run("accounting")
    assert {"Name", "Priority", "PriorityFactor", "ResourcesUsed"} <= set(report["names"])
    assert (report["used"], report["factor"], report["usage"]) == (1, 25.5, 1234)
    for name in ("priority", "begin", "last", "ceiling", "after reset", "deleted", "rollup"):
        assert report[name] is True, name
    assert raised(report) == {"factor too small", "no user"}


def test_machines_are_vacated_and_drained(pool: WheelPool) -> None:
    report = pool.run("machine")
    assert (report["claims"], report["claims chosen"]) == (1, 0)
    assert report["claims shown"] == "Claimed"
    for name in ("vacated", "vacated all", "drained", "resumed", "runs again"):
        assert report[name] is True, name
    assert (report["same request"], report["resumed by itself"]) == (True, True)
    assert report["draining"]["DrainReason"] == "testing"
    assert {"drain refused", "drain again", "cancel another"} <= raised(report)


def test_user_records_are_kept_and_missing_credentials_are_said(pool: WheelPool) -> None:
    report = pool.run("users")
    assert report["users"] == [True]
    for name in ("add", "disable", "enable", "update", "remove"):
        assert report[name] == 0, name
    assert report["disabled"] == [[0, "testing"]]
    assert (report["enabled"], report["updated"], report["removed"]) == ([1], [5], 0)
    assert report["remove nobody"] != 0
    for name in ("credd", "query password", "add password", "query kerberos", "add oauth"):
        assert report[name]["raised"] == "HTCondorException", name
    # The master keeps the pool password, and nobody's else.
    assert report["delete pool password"] is False
    assert report["add pool password"] is None
    assert report["password elsewhere"]["raised"] == "HTCondorException"


def test_daemons_are_turned_off_and_on(pool: WheelPool) -> None:
    report = pool.run("control")
    assert raised(report) == set()
    for name in ("is off", "is on", "is off fast", "schedd is back"):
        assert report[name] is True, name
    assert (report["is on again"], report["it answers"]) == (1, [])
