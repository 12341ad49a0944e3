"""The tools that show jobs show those, too, whose numbers are none."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from kettle.tools.programs import Streams
from kettle.tools.queue import condor_history, condor_q

SHOWN = [
    "QDate",
    "CompletionDate",
    "EnteredCurrentStatus",
    "JobStartDate",
    "JobCurrentStartDate",
    "ShadowBday",
    "ServerTime",
    "RemoteWallClockTime",
    "RemoteUserCpu",
    "RemoteSysCpu",
    "CumulativeSuspensionTime",
    "ImageSize",
    "DiskUsage",
    "MemoryUsage",
    "RequestCpus",
    "RequestMemory",
    "JobPrio",
    "JobStatus",
    "JobUniverse",
    "HoldReasonCode",
    "LastMatchTime",
    "LastRejMatchTime",
    "BytesSent",
    "BytesRecvd",
    "TotalSubmitProcs",
    "DeferralTime",
    "JobMaterializeNextProcId",
    "LastSuspensionTime",
    "TransferInputSizeMB",
    "NumJobStarts",
    "ExitCode",
]
ODD = [
    'real("INF")', '-real("INF")', 'real("NaN")', "1e17", "-1", "9223372036854775807",
    '"seven"', "undefined", "error", "true",
]  # fmt: skip
JOB = {
    "ClusterId": "1", "ProcId": "0", "Owner": '"a"', "User": '"a@b"', "QDate": "1700000000",
    "JobStatus": "2", "JobUniverse": "5", "Cmd": '"/bin/x"', "JobPrio": "0", "ImageSize": "100",
    "JobStartDate": "1700000000", "JobCurrentStartDate": "1700000000", "ServerTime": "1700000100",
    "Requirements": "TARGET.Memory > RequestMemory",
}  # fmt: skip
SLOT = 'MyType = "Machine"\nName = "s@h"\nMachine = "h"\nMemory = 1\nRequirements = true\n'


def write_jobs(path: Path, status: str, value: str, end: str) -> None:
    jobs = [JOB | {"JobStatus": status} | {name: value} for name in SHOWN]
    jobs.append(JOB | dict.fromkeys(SHOWN, value))
    path.write_text("".join("".join(f"{k} = {v}\n" for k, v in ad.items()) + end for ad in jobs))


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize("status", ["1", "2", "5"])
def test_condor_q_shows_jobs_with_odd_numbers(tmp_path: Path, value: str, status: str) -> None:
    jobs, slots = tmp_path / "jobs", tmp_path / "slots"
    write_jobs(jobs, status, value, "\n")
    slots.write_text(SLOT + "\n")
    forms = ["-nobatch", "-batch", "-run -nobatch", "-hold", "-io", "-dag -nobatch", "-totals"]
    forms += [f"-{word} -slotads {slots}" for word in ("better-analyze", "analyze:summary")]
    for form in forms:
        out = io.StringIO()
        streams = Streams(io.StringIO(), out, out)
        argv = ["condor_q", "-jobads", str(jobs), *form.split()]
        assert condor_q.main(argv, dict(os.environ), streams) == 0, out.getvalue()


@pytest.mark.parametrize("value", ODD)
def test_condor_history_shows_jobs_with_odd_numbers(tmp_path: Path, value: str) -> None:
    jobs = tmp_path / "history"
    end = '*** Offset = 0 ClusterId = 1 ProcId = 0 Owner = "a" CompletionDate = 5\n'
    write_jobs(jobs, "4", value, end)
    for form in ([], ["-wide"], ["-long"]):
        out = io.StringIO()
        streams = Streams(io.StringIO(), out, out)
        argv = ["condor_history", "-file", str(jobs), *form]
        assert condor_history.main(argv, dict(os.environ), streams) == 0, out.getvalue()


@pytest.mark.parametrize(("number", "own"), [("AutoClusterId = 7\n", "1/0"), ("", "0")])
def test_who_runs_is_counted_by_autocluster(tmp_path: Path, number: str, own: str) -> None:
    jobs, slots = tmp_path / "jobs", tmp_path / "slots"
    jobs.write_text(f"ClusterId = 1\nProcId = 0\nJobStatus = 2\nRequirements = true\n{number}\n")
    slots.write_text(SLOT + "\n")
    out = io.StringIO()
    argv = ["condor_q", "-jobads", str(jobs), "-slotads", str(slots), "-analyze:summary"]
    assert condor_q.main(argv, dict(os.environ), Streams(io.StringIO(), out, out)) == 0
    (row,) = (line.split() for line in out.getvalue().splitlines() if line.startswith("1.0 "))
    assert own in row
    assert ("1/0" in row) is bool(number)
