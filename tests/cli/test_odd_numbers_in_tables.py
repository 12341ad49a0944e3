"""A number that no whole one is stands in a table somehow: it once was a traceback."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from kettle.tools.programs import Streams, load_tool

NUMBERS = [
    "Cpus",
    "GPUs",
    "Memory",
    "KFlops",
    "Mips",
    "TotalSlotGPUs",
    "TotalCpus",
    "RunningJobs",
    "JobPrio",
]
AD = (
    'MyType = "Machine"\nClusterId = 1\nProcId = 0\nName = "slot1@a"\nMachine = "a"\nOwner = "o"\n'
    'State = "Claimed"\nActivity = "Busy"\nPartitionableSlot = true\nSlotType = "Partitionable"\n'
)
FORMAT = "SELECT\n V PRINTAS JOB_FACTORY_MODE\n"


@pytest.mark.parametrize("text", ['real("INF")', 'real("-INF")', 'real("NaN")', "1E300"])
def test_every_table_shows_it(text: str, tmp_path: Path) -> None:
    file = tmp_path / "ads"
    file.write_text(AD + "".join(f"{name} = {text}\n" for name in [*NUMBERS, "V"]))
    (tmp_path / "form").write_text(FORMAT)
    tables = ["", "-compact", "-state", "-server", "-claimed", "-gpus", "-total"]
    asked = [["condor_status", "-ads", str(file), *table.split()] for table in tables]
    asked += [["condor_q", "-jobads", str(file), "-pr", str(tmp_path / "form")]]
    asked += [["condor_q", "-jobads", str(file), "-nobatch"]]
    for argv in asked:
        streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
        assert load_tool(argv[0])(argv, {"CONDOR_CONFIG": "/dev/null"}, streams) == 0
