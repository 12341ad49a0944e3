"""The enumerations about daemons: names and numbers are the wheel's."""

from __future__ import annotations

import enum


class SubsystemType(enum.IntEnum):
    """What kind of program `set_subsystem` says that this one is."""

    Master = 1
    Collector = 2
    Negotiator = 3
    Schedd = 4
    Shadow = 5
    Startd = 6
    Starter = 7
    GAHP = 8
    Dagman = 9
    SharedPort = 10
    Daemon = 11
    Tool = 12
    Submit = 13
    Job = 14
    Auto = 15


class DaemonType(enum.IntEnum):
    """The kinds of daemons that can be located."""

    none = 0
    Any = 1
    Master = 2
    Schedd = 3
    Startd = 4
    Collector = 5
    Negotiator = 6
    Credd = 13
    Placementd = 15
    HAD = 17
    Generic = 18


class AdType(enum.IntEnum):
    """The kinds of ads that a collector keeps."""

    Startd = 0
    Schedd = 1
    Master = 2
    StartdPrivate = 5
    Submitter = 6
    Collector = 7
    License = 8
    Any = 10
    Negotiator = 13
    HAD = 14
    Generic = 15
    Credd = 16
    Grid = 19
    Placementd = 20
    Defrag = 22
    Accounting = 23
    Slot = 24
    StartDaemon = 25

    @staticmethod
    def from_MyType(my_type: str) -> AdType | None:  # noqa: N802 - the wheel's name
        """Return the kind of ads whose MyType this is, None if no kind has it."""
        return _OF_MY_TYPE.get(my_type)


# Slots go by their new name.
_OF_MY_TYPE = {
    "Scheduler": AdType.Schedd,
    "DaemonMaster": AdType.Master,
    "MachinePrivate": AdType.StartdPrivate,
    "Submitter": AdType.Submitter,
    "Collector": AdType.Collector,
    "License": AdType.License,
    "Any": AdType.Any,
    "Negotiator": AdType.Negotiator,
    "HAD": AdType.HAD,
    "Generic": AdType.Generic,
    "CredD": AdType.Credd,
    "Grid": AdType.Grid,
    "PlacementD": AdType.Placementd,
    "Accounting": AdType.Accounting,
    "Machine": AdType.Slot,
    "StartD": AdType.StartDaemon,
}


class DrainType(enum.IntEnum):
    """How much time jobs are given when a machine is drained."""

    Graceful = 0
    Quick = 10
    Fast = 20


class VacateType(enum.IntEnum):
    """Whether a job that is vacated has its vacate time."""

    Graceful = 0
    Fast = 1


class CompletionType(enum.IntEnum):
    """What a startd does once it is drained."""

    Nothing = 0
    Resume = 1
    Exit = 2
    Restart = 3
    Reconfig = 4


class CredType(enum.IntEnum):
    """The kinds of credentials that a credd keeps."""

    Password = 36
    Kerberos = 32
    OAuth = 40


class DaemonCommand(enum.IntEnum):
    """The orders that `send_command` gives a daemon."""

    DaemonOn = 469
    DaemonOff = 467
    DaemonOffFast = 468
    DaemonOffPeaceful = 469
    DaemonsOn = 483
    DaemonsOff = 454
    DaemonsOffFast = 461
    DaemonsOffPeaceful = 484
    OffFast = 60006
    OffForce = 60042
    OffGraceful = 60005
    OffPeaceful = 60015
    Reconfig = 60004
    Restart = 453
    RestartPeaceful = 485
    SetForceShutdown = 60041
    SetPeacefulShutdown = 60016


class LogLevel(enum.IntEnum):
    """Categories of the lines of a log, and flags that can be added to one."""

    Always = 0
    Error = 1
    Status = 2
    Job = 4
    Machine = 5
    Config = 6
    Protocol = 7
    Priv = 8
    DaemonCore = 9
    Verbose = 10
    Security = 11
    Network = 14
    Hostname = 22
    Audit = 24
    Terse = 0
    FullDebug = 1024
    SubSecond = 67108864
    Timestamp = 134217728
    PID = 268435456
    NoHeader = 2147483648
