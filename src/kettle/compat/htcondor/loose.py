"""The functions of version 1 that are not just version 2's."""

from __future__ import annotations

from typing import Any

from kettle.compat import classad2, htcondor2
from kettle.compat.htcondor.collector import location_of
from kettle.compat.htcondor.convert import given, takes
from kettle.compat.htcondor.enums import SubsystemType
from kettle.compat.htcondor.errors import HTCondorIOError, raising


def enable_classad_extensions() -> None:
    """Have expressions know the functions of HTCondor's beside the language's: they always do."""


def enable_debug() -> None:
    """Tell on standard error what happens, of the categories of TOOL_DEBUG."""
    htcondor2.enable_debug()


def enable_log() -> None:
    """Tell what happens in the log of the program that `set_subsystem` named."""
    with raising(HTCondorIOError):
        htcondor2.enable_log()


@takes(msg=str)
def log(level: Any, msg: str) -> None:
    """Write a line where `enable_debug` or `enable_log` has been called."""
    if not isinstance(level, int):
        raise TypeError(f"a level is a number, not {type(level).__name__}")
    htcondor2.log(int(level), msg)


def reload_config() -> None:
    """Read the configuration anew; what the program set is forgotten."""
    with raising(HTCondorIOError):
        htcondor2.reload_config()


def set_subsystem(subsystem: str, type: Any = None) -> None:  # noqa: A002 - the wheel's name
    """Say what program this is, for the configuration."""
    kind = htcondor2.SubsystemType.Auto if type is None else given(SubsystemType(int(type)))
    htcondor2.set_subsystem(subsystem, kind)


@takes(ad=(classad2.ClassAd, tuple), dc=int, target=str)
def send_command(ad: Any, dc: Any, target: str | None = None) -> None:
    """Give the daemon of a location ad an order; `target` is whom a master is told of."""
    with raising(HTCondorIOError):
        htcondor2.send_command(location_of(ad), dc, target)


def send_alive(ad: Any = None, pid: int | None = None, timeout: int | None = None) -> None:
    """Tell a daemon, else the one that started us, that we are alive for `timeout` seconds."""
    with raising(HTCondorIOError):
        htcondor2.send_alive(location_of(ad), pid, timeout)


def set_ready_state(state: str = "Ready") -> None:
    """Tell the master that started us how far we are."""
    with raising(HTCondorIOError):
        htcondor2.set_ready_state(state)
