"""What a table of condor_q asks for is all that its columns, batches and totals look at."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest

from kettle.classad import ClassAd, parse_ad
from kettle.tools.programs import Streams
from kettle.tools.queue.command_line import read_wish
from kettle.tools.queue.condor_q import projection, say
from kettle.tools.queue.sources import Answer
from unit.tools.spying import spy_on

# A node of a DAG of which each table shows something.
JOB = """[
    ClusterId = 1; ProcId = 0; Owner = "u"; User = "u@x"; QDate = 1700000000; JobStatus = 2;
    JobUniverse = 5; JobPrio = 0; RemoteUserCpu = 1.0; ShadowBday = 1700000100;
    ServerTime = 1700000200; LastRemoteWallClockTime = 3.0; MemoryUsage = 5; ImageSize = 9;
    Cmd = "/bin/a"; Arguments = "b"; JobDescription = "c"; TransferringInput = true;
    TransferQueued = true; RemoteHost = "slot1@a"; HoldReason = "h"; HoldReasonCode = 1;
    HoldReasonSubCode = 2; EnteredCurrentStatus = 1700000000; RequestCpus = 1; RequestMemory = 2;
    NumShadowStarts = 1; LastRemoteHost = "b"; BytesSent = 1; BytesRecvd = 2; NumJobStarts = 3;
    FileReadBytes = 1; FileWriteBytes = 1; DAGManJobId = 7; DAGNodeName = "n"; JobBatchName = "b";
    TotalSubmitProcs = 5; JobMaterializeNextProcId = 2; JobMaterializeLimit = 3;
    JobMaterializePaused = 1; JobMaterializeDigestFile = "d"; AutoClusterId = 1; JobCount = 2;
    RequestCPUs = 1; RequestDisk = 2; Requirements = true; GridResource = "batch slurm a";
]"""
# Values that have another column shown, or another way taken to what is shown.
OTHERS = {
    "JobUniverse": (1, 7, 9, 12),
    "JobStatus": (1, 5, 6),
    "RemoteHost": ("<127.0.0.1:1>",),
    "GridResource": ("ec2 http://a", "a b"),
}
WAYS = [
    "-nobatch",
    "-batch",
    "-dag -nobatch",
    "-dag",
    "-run",
    "-hold",
    "-hold-codes",
    "-idle",
    "-io",
    "-grid",
    "-grid:ec2",
    "-cputime",
    "-currentrun -nobatch",
    "-cumulative-time -nobatch",
    "-factory",
    "-autocluster",
    "-totals",
    "-nobatch -af:h Owner",
]


def variants(names: list[str]) -> Iterator[ClassAd]:
    """Yield a job with everything, without each of the names, and with other values."""
    yield parse_ad(JOB)
    for name in names:
        ad = parse_ad(JOB)
        ad.discard(name)
        yield ad
    for name, values in OTHERS.items():
        for value in values:
            ad = parse_ad(JOB)
            ad[name] = value
            yield ad


@pytest.mark.parametrize("words", WAYS)
@pytest.mark.parametrize("by_user", [True, False])
def test_a_table_asks_for_all_that_it_looks_at(words: str, by_user: bool) -> None:
    wish = read_wish(words.split())
    wish.totals_by_user = by_user
    names = projection(wish, None)
    seen: set[str] = set()
    for ad in variants(names):
        streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
        say(wish, None, Answer("title", [spy_on(ad, seen)]), streams)
    lacking = seen - {name.lower() for name in names}
    assert not lacking
