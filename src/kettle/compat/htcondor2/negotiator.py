"""`Negotiator`: users' priorities and usage, read and set."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kettle.classad import ClassAd as Ad
from kettle.client import accounting
from kettle.compat.classad2 import ClassAd
from kettle.compat.classad2.ads import of_engine
from kettle.compat.htcondor2.addresses import check_location, sinful_of
from kettle.compat.htcondor2.collector import Collector
from kettle.compat.htcondor2.daemon_enums import DaemonType
from kettle.compat.htcondor2.errors import said_as
from kettle.compat.htcondor2.process import PROCESS
from kettle.errors import KettleError, WireError
from kettle.wire.commands import Command

if TYPE_CHECKING:
    from kettle.wire.sinful import Sinful

_NUMBERED = re.compile(r"((?:.*\D)?)(\d+)")


class Negotiator:
    """The pool's negotiator, or the one of a location ad. Users are named `user@domain`."""

    def __init__(self, location: ClassAd | None = None) -> None:
        """Find the pool's negotiator, or take the one that `Collector.locate` found."""
        if location is None:
            location = Collector().locate(DaemonType.Negotiator)
        self._addr: str = check_location(location)["MyAddress"]

    @property
    def _address(self) -> Sinful:
        return sinful_of(self._addr)

    def getPriorities(self, rollup: bool = False) -> list[ClassAd]:  # noqa: N802
        """Return an ad for each user and group; with `rollup` groups have their subgroups' sums."""
        with said_as(_tell):
            return _split(
                accounting.read_priorities(PROCESS.connector, self._address, rollup=rollup)
            )

    def getResourceUsage(self, user: str) -> list[ClassAd]:  # noqa: N802
        """Return an ad for each slot that a user has."""
        _check_user(user)
        with said_as(_tell):
            return _split(accounting.read_resources(PROCESS.connector, self._address, user))

    def deleteUser(self, user: str) -> None:  # noqa: N802
        """Forget a user."""
        _check_user(user)
        with said_as(_tell):
            accounting.delete_user(PROCESS.connector, self._address, user)

    def resetAllUsage(self) -> None:  # noqa: N802
        """Set everybody's usage to zero."""
        with said_as(_tell):
            accounting.reset_usage(PROCESS.connector, self._address)

    def resetUsage(self, user: str) -> None:  # noqa: N802
        """Set a user's usage to zero."""
        _check_user(user)
        with said_as(_tell):
            accounting.reset_usage(PROCESS.connector, self._address, user)

    def setBeginUsage(self, user: str, when: int) -> None:  # noqa: N802
        """Set since when a user has used anything, in seconds since the epoch."""
        self._set(Command.SET_BEGINTIME, user, int(when))

    def setLastUsage(self, user: str, when: int) -> None:  # noqa: N802
        """Set when a user used something last, in seconds since the epoch."""
        self._set(Command.SET_LASTTIME, user, int(when))

    def setCeiling(self, user: str, ceiling: int) -> None:  # noqa: N802
        """Set how much of the pool a user may have at most."""
        _check_user(user)
        if ceiling <= -1:
            raise ValueError("Ceiling must be greater than -1.")
        self._set(Command.SET_CEILING, user, int(ceiling))

    def setFactor(self, user: str, factor: float) -> None:  # noqa: N802
        """Set a user's priority factor, 1 or more."""
        _check_user(user)
        if factor < 1:
            raise ValueError("Priority factors must be >= 1")
        self._set(Command.SET_PRIORITYFACTOR, user, float(factor))

    def setPriority(self, user: str, priority: float) -> None:  # noqa: N802
        """Set a user's real priority, 0 or more."""
        _check_user(user)
        if priority < 0:
            raise ValueError("User priority must be non-negative")
        self._set(Command.SET_PRIORITY, user, float(priority))

    def setUsage(self, user: str, usage: float) -> None:  # noqa: N802
        """Set a user's accumulated usage, in weighted seconds, as the negotiator keeps it."""
        _check_user(user)
        if usage < 0:
            raise ValueError("Usage must be non-negative")
        self._set(Command.SET_ACCUMUSAGE, user, float(usage))

    def _set(self, command: Command, user: str, value: float) -> None:
        _check_user(user)
        with said_as(_tell):
            accounting.set_for_user(PROCESS.connector, self._address, command, user, value)


def _check_user(user: object) -> None:
    if not isinstance(user, str):
        raise TypeError("user must be a string")
    if "@" not in user:
        raise ValueError("You must specify the submitter (user@uid.domain)")


def _tell(error: KettleError) -> str:
    if isinstance(error, WireError):
        return "Unable to connect to the negotiator"
    return f"Failed to send command to negotiator: {error}"


def _split(answer: Ad) -> list[ClassAd]:
    """Return the ads whose attributes an answer numbers: Name1, Name2, ….

    Compat: the wheel takes the last digit alone for the number, and mixes users from the tenth
    on, and what it returns is no list, though it says so; shown by
    test_the_tenth_user_is_not_mixed_with_others.
    """
    found: dict[str, Ad] = {}
    for name in answer.own_names():
        numbered = _NUMBERED.fullmatch(name)
        expression = answer.lookup(name)
        if numbered is not None and expression is not None:
            found.setdefault(numbered[2], Ad()).insert(numbered[1], expression)
    return [of_engine(ad) for ad in found.values()]
