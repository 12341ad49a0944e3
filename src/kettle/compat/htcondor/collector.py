"""`Collector` of version 1, and where daemons are: `DaemonLocation`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kettle.compat import classad2, htcondor2
from kettle.compat.classad.ads import ClassAd
from kettle.compat.classad.names import ClassAdParseError
from kettle.compat.classad2 import ClassAdException, ExprTree
from kettle.compat.htcondor.convert import calls_version_2, given, shown, takes
from kettle.compat.htcondor.enums import AdTypes, DaemonTypes, Enumeration
from kettle.compat.htcondor.errors import (
    HTCondorEnumError,
    HTCondorIOError,
    HTCondorLocateError,
    HTCondorValueError,
    raising,
)
from kettle.named_tuples import NamedTuple


class DaemonLocation(NamedTuple):
    """What a client needs to know of a daemon to speak to it."""

    daemon_type: Enumeration
    address: str
    version: str


def location_of(ad: ClassAd | tuple[Any, ...] | None) -> Any:
    """Return a location ad for what a program knows of a daemon; HTCondorValueError.

    Of which version the daemon is need not be said. TypeError for a tuple of other things than a
    DaemonLocation has.
    """
    if ad is None:
        return None
    if isinstance(ad, tuple):
        if len(ad) != 3:
            raise HTCondorValueError("tuple is not a daemon location")
        for part, kind in zip(ad, (Enumeration, str, str), strict=True):
            if not isinstance(part, kind):
                raise TypeError(f"no part of a daemon's place is {type(part).__name__}")
        return ClassAd({"MyAddress": ad[1], "CondorVersion": ad[2]})
    if not isinstance(ad, classad2.ClassAd):
        raise HTCondorValueError("a daemon's place is a ClassAd or a DaemonLocation")
    if ad.get("MyAddress") is None:
        raise HTCondorValueError("address not specified.")
    if "CondorVersion" in ad:
        return ad
    return ClassAd({**ad, "CondorVersion": ""})


def constraint_text(constraint: Any) -> str:
    """Return a constraint as text: a text, an expression, True, None; HTCondorValueError."""
    if constraint is None or (isinstance(constraint, str) and not constraint):
        return ""
    text = str(constraint).lower() if isinstance(constraint, bool) else str(constraint)
    try:
        ExprTree(text)
    except ClassAdException as error:
        raise HTCondorValueError("Invalid constraint.") from error
    return text


def records_constraint(constraint: Any) -> str | None:
    """Return a constraint on records as text, None for none; ClassAdParseError, unlike queries'."""
    try:
        return constraint_text(constraint) or None
    except HTCondorValueError as error:
        raise ClassAdParseError(f"{constraint!r} is no expression") from error


def _addresses_in(pool: Any) -> list[str]:
    """Return several addresses; AttributeError of what has no parts, TypeError of other parts."""
    addresses = list(pool.__iter__())
    for one in addresses:
        if not isinstance(one, str):
            raise TypeError(f"no address is {type(one).__name__}")
    return addresses


@calls_version_2(HTCondorIOError, "locateAll")
class Collector(htcondor2.Collector):
    """A pool's collector, or several that are tried in order."""

    def __init__(self, pool: Any = None) -> None:
        """Take COLLECTOR_HOST's collector, or those of these addresses, or of a place."""
        if isinstance(pool, tuple):
            pool = location_of(pool)
        elif pool is not None and not isinstance(pool, (str, classad2.ClassAd)):
            pool = _addresses_in(pool)
        with raising(HTCondorValueError):
            super().__init__(pool)

    @property
    def location(self) -> DaemonLocation | None:
        """Where the collector is that was asked for; None for the configured one."""
        if self.default:
            return None
        with raising(HTCondorIOError):
            return DaemonLocation(DaemonTypes.Collector, str(self._addresses()[0]), "")

    def location_ad(self) -> ClassAd:
        """Return where the first collector is, as a location ad."""
        with raising(HTCondorIOError):
            return ClassAd({"MyAddress": str(self._addresses()[0]), "CondorVersion": ""})

    def query(  # type: ignore[override]
        self,
        ad_type: Any = AdTypes.Any,
        constraint: Any = "",
        projection: Iterable[str] | None = None,
        statistics: str = "",
    ) -> list[ClassAd]:
        """Return the ads of a kind that the constraint is true for."""
        text = constraint_text(constraint)
        names = list(projection or [])
        with raising(HTCondorIOError):
            found: list[ClassAd] = shown(super().query(given(ad_type), text, names, statistics))
        return found

    def directQuery(  # type: ignore[override]  # noqa: N802
        self,
        daemon_type: Any,
        name: str = "",
        projection: Iterable[str] | None = None,
        statistics: str = "",
    ) -> ClassAd:
        """Return the ad of a daemon, asked for at the daemon itself."""
        names = list(projection or [])
        daemon = htcondor2.Collector(self.locate(daemon_type, name or None))
        ad_type = htcondor2.AdType[daemon_type.name]
        with raising(HTCondorIOError):
            answer: list[ClassAd] = shown(daemon.query(ad_type, None, names, statistics or None))
        return answer[0]

    @takes(daemon_type=Enumeration)
    def locate(self, daemon_type: Any, name: str | None = None) -> ClassAd:
        """Return where a daemon is: the named one, else this host's; HTCondorLocateError."""
        kind = HTCondorLocateError if name is None and self.default else HTCondorIOError
        with raising(kind):
            found = super().locate(given(daemon_type), name)
        if found is None:
            raise HTCondorLocateError("Unable to find daemon.")
        ad: ClassAd = shown(found)
        return ad

    def advertise(
        self, ad_list: list[Any], command: str = "UPDATE_AD_GENERIC", use_tcp: bool = True
    ) -> None:
        """Send ads to every collector, as `condor_advertise` does."""
        ads = [one if isinstance(one, ClassAd) else ClassAd(one) for one in ad_list]
        try:
            with raising(HTCondorIOError):
                super().advertise(list(ads), command, use_tcp)
        except HTCondorValueError as error:
            raise HTCondorEnumError(f"Invalid command {command}") from error
