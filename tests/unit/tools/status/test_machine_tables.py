"""What the tables of machines and daemons show of an ad, as 25.14.1's `condor_status -ads` does."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kettle.classad import ClassAd, Value
from kettle.tools.printing.tables import Cell
from kettle.tools.status import rare_tables, tables
from kettle.tools.status.machine_ways import WAYS

TABLES_OF_MEMORY = (tables.MASTERS, tables.STARTDS, tables.GPUS, rare_tables.STARTD_GPUS)


def shown(cells: Sequence[Cell], heading: str, ad: ClassAd) -> str | None:
    """Return what one column shows of an ad."""
    return next(cell for cell in cells if cell.heading.strip() == heading).shown(ad)


@pytest.mark.parametrize("cells", TABLES_OF_MEMORY)
@pytest.mark.parametrize(
    ("mebibytes", "text"),
    [
        (0, "0.0 B "),
        (0.0005, "524.3 B "),
        (0.5, "512.0 KB"),
        (1024, "1024.0 MB"),
        (1025, "1.0 GB"),
        (1048576, "1024.0 GB"),
        (1048577, "1.0 TB"),
        (-5, "-5242880.0 B "),
        (True, None),
        ("x", None),
    ],
)
def test_memory_changes_its_unit_behind_1024(
    cells: Sequence[Cell], mebibytes: Value, text: str | None
) -> None:
    heading = "GPU-Memory" if cells is tables.GPUS else "Memory"
    ad = ClassAd({"DetectedMemory": mebibytes, "GPUs_GlobalMemoryMB": mebibytes})
    assert shown(cells, heading, ad) == text


class _Column:
    width = 14
    automatic = True


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("$CondorVersion: 25.1.2 $", "25.1.2."),
        ("25.1.2", "."),
        ("a b", "b."),
        ("", None),
        ("$CondorVersion: 25.14.1 2026-01-01 $", "25.14.1"),
        ("$CondorVersion: 8.0.0 Jan 01 2013 $", "8.0.0"),
        ("$CondorVersion: 25.14.1 2026-01-01 PRE-RELEASE-UWCS $", "25.14.1.PRE"),
        ("$CondorVersion: 25.14.1 2026-01-01 BuildID: 123-4 PackageID: 25.14.1-1 $", "25.14.1.123"),
        ("$CondorVersion: 25.14.1 Jan 01 2026 BuildID: 123 PackageID: 25.14.1-1 $", "25.14.1.123"),
        ("$CondorVersion: 25.14.1 2026-01-01 PackageID: 25.14.1-1 $", "25.14.1.PackageID:"),
        ("$CondorVersion: 25.14.1 2026-01-01 BuildID: $", "25.14.1"),
    ],
)
def test_a_version_is_shown_the_same_in_tables_and_in_files(said: str, text: str | None) -> None:
    ad = ClassAd({"CondorVersion": said})
    assert shown(tables.MASTERS, "Version", ad) == text
    assert shown(tables.STARTDS, "Version", ad) == text
    assert WAYS["CONDOR_VERSION"].make(said, ad, _Column()) == text
