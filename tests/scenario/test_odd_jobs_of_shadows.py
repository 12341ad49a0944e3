"""A shadow brings a job to its end whatever numbers its ad has."""

from __future__ import annotations

from pathlib import Path

import pytest

from kettle.attributes.codes import ShadowExit
from kettle.classad import ClassAd
from kettle.testing.world import World
from scenario.execution_point import ExecutionPoint, ScheddEnd, StarterEnd
from scenario.shadow_stage import play

NAMES = [
    "MaxTransferInputMB",
    "MaxTransferOutputMB",
    "JobMaxVacateTime",
    "KillSigTimeout",
    "MemoryUsage",
    "ImageSize",
    "ResidentSetSize",
    "ProportionalSetSizeKb",
    "RemoteUserCpu",
    "RemoteSysCpu",
    "CumulativeRemoteUserCpu",
    "RequestCpus",
    "CpusProvisioned",
    "CpusUsage",
    "BytesSent",
    "BytesRecvd",
    "JobStartDate",
    "QDate",
    "TimerRemove",
    "JobCurrentStartDate",
    "ShadowBday",
    "NumJobStarts",
    "JobLeaseDuration",
    "MaxJobRetirementTime",
    "JobPrio",
    "RemoteWallClockTime",
    "CumulativeSlotTime",
    "NumShadowStarts",
    "TotalSuspensions",
    "DiskUsage",
]
# Expressions: what stands after the first sign; a text alone would be a string.
ODD = [
    '=real("INF")',
    '=-real("INF")',
    '=real("NaN")',
    "=1e17",
    "=-1",
    '="seven"',
    "=error",
    f'=real("0x{"f" * 400}")',
]


async def end(starter: StarterEnd, _: ClassAd) -> None:
    await starter.register()
    await starter.begin()
    await starter.exit(0, 100, ExitCode=0, ExitBySignal=False)


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize("name", NAMES)
def test_a_job_with_an_odd_number_ends(tmp_path: Path, name: str, value: str) -> None:
    async def scenario(_: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, UserLog=str(here.log), **{name: value})
        assert (await here.ended()).reason == ShadowExit.EXITED

    play(tmp_path, scenario, script=end)
