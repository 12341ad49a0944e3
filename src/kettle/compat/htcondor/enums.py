"""The enumerations of version 1. Their members are numbers that print as names."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from kettle.compat import htcondor2


class Enumeration(enum.IntEnum):
    """A number with a name; `names` and `values` of an enumeration find its members."""

    names: ClassVar[Mapping[str, Any]]
    values: ClassVar[Mapping[int, Any]]

    @classmethod
    def _missing_(cls, value: object) -> Enumeration | None:
        # A number without a name is one nevertheless: an event of a later version is of a type.
        if not isinstance(value, int):
            return None
        made = int.__new__(cls, value)
        made._name_ = str(int(value))
        made._value_ = int(value)
        return made

    def __str__(self) -> str:
        return self.name

    def __format__(self, spec: str) -> str:
        return format(self.name if not spec or spec[-1] == "s" else int(self), spec)

    def __repr__(self) -> str:
        kind = f"htcondor.htcondor.{type(self).__name__}"
        return f"{kind}.{self.name}" if self.name in type(self).names else f"{kind}({int(self)})"


# What makes an enumeration of names and numbers, which its type does not say.
_MAKER: Final[Any] = Enumeration


def _made(
    name: str,
    of_version_2: type[enum.IntEnum] | type[enum.IntFlag] | None = None,
    more: Mapping[str, int] | None = None,
    *,
    without: tuple[str, ...] = (),
) -> Any:
    """Return an enumeration with the members of version 2's, and more or fewer."""
    members: dict[str, int] = {}
    if of_version_2 is not None:
        members |= {one: int(value) for one, value in of_version_2.__members__.items()}
    members |= more or {}
    for one in without:
        members.pop(one, None)
    found: Any = _MAKER(name, members, module=__name__)
    found.names = dict(found.__members__)
    found.values = {int(one): one for one in found}
    if of_version_2 is not None:
        OF_VERSION_2[found] = of_version_2
    return found


# The enumeration of version 2 that one of version 1 stands for in a call.
OF_VERSION_2: Final[dict[type[Enumeration], Any]] = {}

AdTypes = _made("AdTypes", htcondor2.AdType, {"None": -1})
CredTypes = _made("CredTypes", htcondor2.CredType)
DaemonTypes = _made("DaemonTypes", htcondor2.DaemonType, {"None": 0}, without=("none",))
DrainTypes = _made("DrainTypes", htcondor2.DrainType)
FileTransferEventType = _made("FileTransferEventType", htcondor2.FileTransferEventType)
JobAction = _made("JobAction", htcondor2.JobAction)
JobEventType = _made("JobEventType", htcondor2.JobEventType)
QueryOpts = _made("QueryOpts", htcondor2.QueryOpt, {"ClusterAds": 80, "JobsetAds": 96})
SubsystemType = _made("SubsystemType", htcondor2.SubsystemType)
TransactionFlags = _made(
    "TransactionFlags", htcondor2.TransactionFlag, {"None": 0}, without=("Default",)
)
LogLevel = _made(
    "LogLevel", htcondor2.LogLevel, {"Audit": 27, "Verbose": 256, "NoHeader": -(1 << 31)}
)
DaemonCommands = _made(
    "DaemonCommands",
    None,
    {
        "DaemonsOn": 455,
        "DaemonsOff": 454,
        "DaemonsOffFast": 461,
        "DaemonsOffPeaceful": 484,
        "DaemonOn": 469,
        "DaemonOff": 467,
        "DaemonOffFast": 468,
        "DaemonOffPeaceful": 483,
        "OffGraceful": 60005,
        "OffPeaceful": 60015,
        "OffFast": 60006,
        "OffForce": 60042,
        "SetPeacefulShutdown": 60016,
        "SetForceShutdown": 60041,
        "Reconfig": 60012,
        "Restart": 453,
        "RestartPeacful": 485,
    },
)
LockType = _made("LockType", None, {"ReadLock": 0, "WriteLock": 1})
ProvisionerState = _made(
    "ProvisionerState",
    None,
    {
        "New": 0,
        "ProvisioningStarted": 1,
        "ProvisioningComplete": 2,
        "DeprovisioningStarted": 3,
        "DeprovisioningComplete": 4,
    },
)
BlockingMode = _made("BlockingMode", None, {"Blocking": 1, "NonBlocking": 0})
VacateTypes = _made("VacateTypes", None, {"Fast": 2, "Graceful": 1})
EntryType = _made(
    "EntryType",
    None,
    {
        "Init": 0,
        "Error": 1,
        "NoChange": 2,
        "Reset": 3,
        "NewClassAd": 101,
        "DestroyClassAd": 102,
        "SetAttribute": 103,
        "DeleteAttribute": 104,
    },
)
