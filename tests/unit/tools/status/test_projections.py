"""What a table of condor_status asks for is all that its cells and sums look at.

The ads that are shown note which of their attributes anybody looked at: those have to be in the
question, or the table of a live pool lacks what the table of a file has.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kettle.classad import ClassAd, parse_ad
from kettle.tools.status.compact import COMPACT
from kettle.tools.status.condor_status import render
from kettle.tools.status.modes import MODES
from kettle.tools.status.questions import projection
from kettle.tools.status.wish import Wish
from kettle.wire.codec import expand_projection
from unit.tools.spying import spy_on

# An ad of everything; a machine of which each table shows something.
AD = """[
    MyType = "Machine"; TargetType = "Job"; Name = "slot1@a"; Machine = "a"; Arch = "X86_64";
    OpSys = "LINUX"; OpSysAndVer = "Debian13"; OpSysShortName = "Debian"; State = "Unclaimed";
    Activity = "Idle"; OCU = true; CondorVersion = "$CondorVersion: 25.14.1 2026-01-01 $";
    PartitionableSlot = true; SlotType = "Partitionable"; NumDynamicSlots = 2;
    ChildState = { "Claimed", "Claimed" }; ChildActivity = { "Busy", "Busy" };
    ChildMemory = { 1, 2 }; ChildRemoteUser = { "u", "v" }; RemoteUser = "u";
    AssignedGPUs = "GPU-1,GPU-2"; OfflineGPUs = "GPU-2"; GPUs = 1;
    AvailableGPUs = { GPUs_GPU_1 }; GPUs_GPU_1 = [ Id = "GPU-1"; DeviceName = "D";
    Capability = GPUs_Capability; GlobalMemoryMb = 2048 ]; GPUs_Capability = 8.0;
    DetectedGPUs = { [ DeviceName = "D"; GlobalMemoryMB = 2048 ] };
    BrokenReasons = { GPUsBrokenReason }; GPUsBrokenReason = "broke"; HealthExprs = { Load < 1 };
    Load = 2; Healthy = false; Cpus = 1; Memory = 1024; DetectedMemory = 2048; DetectedCpus = 2;
    LastHeardFrom = 1700000000; DaemonStartTime = 1600000000; OfflineUniverses = { "java" };
    LvmIsThinProvisioning = true; LvmUsingLoopback = true; Disk = 1000; DiskUsage = 10;
]"""
# Tables for which whole ads are asked for, and what stands in ads that are values.
WHOLE = {mode for mode, what in MODES.items() if not what.names}
CHOICES = [
    *((mode, "") for mode in MODES if mode not in WHOLE),
    *((mode, "totals") for mode in MODES if mode not in WHOLE),
    *((mode, "compact") for mode in COMPACT),
]


def wish_of(mode: str, way: str) -> Wish:
    wish = Wish(mode=mode)
    if way == "totals":
        wish.totals_only = True
    elif way == "compact":
        # Any option will do: what counts is that there is one.
        wish.compact = object()  # type: ignore[assignment]
    return wish


def variants(names: list[str]) -> Iterator[ClassAd]:
    """Yield an ad with everything, with nothing, and without each of the names."""
    yield parse_ad(AD)
    yield ClassAd()
    for name in names:
        ad = parse_ad(AD)
        ad.discard(name)
        yield ad
        ad = parse_ad(AD)
        ad[name] = "Other"
        yield ad


def looked_at(wish: Wish, names: list[str]) -> set[str]:
    seen: set[str] = set()
    for ad in variants(names):
        render(wish, [spy_on(ad, seen)])
    return seen


@pytest.mark.parametrize(("mode", "way"), CHOICES)
def test_a_table_asks_for_all_that_it_looks_at(mode: str, way: str) -> None:
    wish = wish_of(mode, way)
    names = projection(wish)
    # What the attributes themselves refer to the collector sends with them.
    asked = {name.lower() for name in expand_projection(parse_ad(AD), names) or names}
    asked |= {name.lower() for name in names}
    lacking = {name for name in looked_at(wish, names) if not name.startswith("line.")} - asked
    assert not lacking


@pytest.mark.parametrize(("mode", "way"), CHOICES)
def test_a_table_is_the_same_of_what_it_asks_for(mode: str, way: str) -> None:
    wish, ad = wish_of(mode, way), parse_ad(AD)
    names = expand_projection(ad, projection(wish)) or ()
    part = ClassAd({name: found for name in names if (found := ad.lookup(name)) is not None})
    assert render(wish, [part]) == render(wish, [parse_ad(AD)])
