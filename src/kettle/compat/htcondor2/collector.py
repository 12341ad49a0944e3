"""`Collector`: find daemons, ask for ads, send ads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kettle.classad import ClassAd as Ad
from kettle.classad.text import equals
from kettle.client.pool import (
    COLLECTOR,
    MASTER,
    SCHEDD,
    STARTD,
    Kind,
    make_query,
    query_ads,
)
from kettle.compat.classad2 import ClassAd
from kettle.compat.classad2.ads import of_engine, to_engine
from kettle.compat.classad2.depth import bounded
from kettle.compat.htcondor2.addresses import address_of
from kettle.compat.htcondor2.arguments import check_expression, texts_of
from kettle.compat.htcondor2.daemon_enums import AdType, DaemonType
from kettle.compat.htcondor2.errors import HTCondorException, said_as
from kettle.compat.htcondor2.loose import platform, version
from kettle.compat.htcondor2.process import PROCESS
from kettle.errors import ClassAdSyntaxError, KettleError, NotFoundError
from kettle.wire.commands import Command
from kettle.wire.sinful import Sinful

if TYPE_CHECKING:
    from kettle.client.pool import Located
    from kettle.compat.htcondor2.security import SecurityContext

_LOCATION: Final = [
    "MyAddress",
    "AddressV1",
    "CondorVersion",
    "CondorPlatform",
    "Name",
    "Machine",
]
# What a query asks for: the command, and the type of ads it names.
_QUERIES: Final = {
    AdType.Startd: (Command.QUERY_STARTD_ADS, "Machine"),
    AdType.Schedd: (Command.QUERY_SCHEDD_ADS, "Scheduler"),
    AdType.Master: (Command.QUERY_MASTER_ADS, "DaemonMaster"),
    AdType.StartdPrivate: (Command.QUERY_STARTD_PVT_ADS, "MachinePrivate"),
    AdType.Submitter: (Command.QUERY_SUBMITTOR_ADS, "Submitter"),
    AdType.Collector: (Command.QUERY_COLLECTOR_ADS, "Collector"),
    AdType.License: (Command.QUERY_LICENSE_ADS, "License"),
    AdType.Any: (Command.QUERY_ANY_ADS, "Any"),
    AdType.Negotiator: (Command.QUERY_NEGOTIATOR_ADS, "Negotiator"),
    AdType.HAD: (Command.QUERY_HAD_ADS, "HAD"),
    AdType.Generic: (Command.QUERY_GENERIC_ADS, "Generic"),
    AdType.Credd: (Command.QUERY_ANY_ADS, "CredD"),
    AdType.Grid: (Command.QUERY_GRID_ADS, "Grid"),
    AdType.Placementd: (Command.QUERY_ANY_ADS, "PlacementD"),
    AdType.Defrag: (Command.QUERY_ANY_ADS, "Defrag"),
    AdType.Accounting: (Command.QUERY_ACCOUNTING_ADS, "Accounting"),
    AdType.Slot: (Command.QUERY_STARTD_ADS, "Slot"),
    AdType.StartDaemon: (Command.QUERY_STARTD_ADS, "StartD"),
}
_AD_TYPES: Final = {
    DaemonType.Master: AdType.Master,
    DaemonType.Startd: AdType.Startd,
    DaemonType.Schedd: AdType.Schedd,
    DaemonType.Negotiator: AdType.Negotiator,
    DaemonType.Generic: AdType.Generic,
    DaemonType.HAD: AdType.HAD,
    DaemonType.Credd: AdType.Credd,
    DaemonType.Collector: AdType.Collector,
    DaemonType.Placementd: AdType.Placementd,
}
_KINDS: Final = {
    DaemonType.Master: MASTER,
    DaemonType.Startd: STARTD,
    DaemonType.Schedd: SCHEDD,
    DaemonType.Collector: COLLECTOR,
}
# Whom the collector alone can name: these leave no address file here.
_ASKED_FOR: Final = {
    DaemonType.Negotiator: AdType.Negotiator,
    DaemonType.Credd: AdType.Credd,
    DaemonType.Placementd: AdType.Placementd,
}
_NOWHERE: Final = "Unable to locate local daemon."


class Collector:
    """A pool's collector, or several that are tried in order."""

    def __init__(
        self,
        pool: str | ClassAd | list[str] | tuple[str, ...] | None = None,
        security: SecurityContext | None = None,
    ) -> None:
        """Take COLLECTOR_HOST's collector, or the one of this address, or of this location ad."""
        if pool is None or isinstance(pool, str):
            hosts = [] if pool is None else split_hosts(pool)
        elif isinstance(pool, ClassAd):
            if pool.get("MyAddress") is None:
                raise ValueError("if ClassAd, pool must have MyAddress attribute")
            hosts = [str(address_of(pool))]
        elif isinstance(pool, list | tuple):
            hosts = list(pool)
        else:
            raise TypeError("pool is not a string, list (or tuple) of strings, or a ClassAd")
        self.default = not hosts
        self._token = None if security is None else security.preferred_token
        self._hosts = hosts
        # As in the wheel COLLECTOR_HOST is that of now, whatever configuration is read later.
        self._pool = PROCESS.pool() if self.default else None

    def query(
        self,
        ad_type: AdType = AdType.Any,
        constraint: str | None = None,
        projection: list[str] | None = None,
        statistics: str | None = None,
    ) -> list[ClassAd]:
        """Return the ads of a kind that the constraint, an expression or its text, is true for.

        `statistics` is said to the daemons' collector as STATISTICS_TO_PUBLISH.
        """
        if not isinstance(ad_type, AdType):
            raise TypeError("ad_type must be an htcondor.AdType")
        names = texts_of(projection or [], "projection")
        text = "" if constraint is None else str(constraint)
        return self._ask(ad_type, text, names, statistics or "")

    def _ask(
        self, ad_type: AdType, constraint: str, names: list[str], statistics: str, name: str = ""
    ) -> list[ClassAd]:
        command, target = _QUERIES[ad_type]
        constraints = [constraint] if constraint else []
        if command is Command.QUERY_ANY_ADS and ad_type is not AdType.Any:
            # There is no table of these alone.
            constraints.append(equals("MyType", target))
        try:
            query = make_query(target, constraints=constraints, projection=names)
            check_expression(constraint)
        except ClassAdSyntaxError as error:
            raise HTCondorException("Unknown error from collector query.") from error
        if statistics:
            query["STATISTICS_TO_PUBLISH"] = statistics
        if name:
            query["LocationQuery"] = name
        failure: KettleError | None = None
        connector = PROCESS.connector_for(self._token)
        for address in self._addresses():
            try:
                return [of_engine(ad) for ad in query_ads(connector, address, command, query)]
            except KettleError as error:
                failure = error
        raise HTCondorException("Failed communication with collector.") from failure

    def _addresses(self) -> list[Sinful]:
        """Return where the collectors are; HTCondorException if nobody says."""
        if self._pool is not None:
            with said_as(_tell_no_collector):
                return self._pool.collectors()
        found = []
        with said_as("Failed communication with collector."):
            for host in self._hosts:
                found += PROCESS.pool(host).collectors()
        return found

    def directQuery(  # noqa: N802
        self,
        daemon_type: DaemonType,
        name: str | None = None,
        projection: list[str] | None = None,
        statistics: str | None = None,
    ) -> ClassAd:
        """Return the ad of a daemon, asked for at the daemon itself."""
        daemon = Collector(self.locate(daemon_type, name))
        return daemon.query(_AD_TYPES[daemon_type], None, projection, statistics)[0]

    def locate(self, daemon_type: DaemonType, name: str | None = None) -> ClassAd | None:
        """Return where a daemon is: the named one, else this host's; None if there is none such.

        Of another pool's collector without a name: the first that it knows.
        """
        ad_type = _ad_type(daemon_type)
        if name is None and self.default:
            return self._locate_here(daemon_type)
        constraint = "" if name is None else _named(daemon_type, name)
        found = self._ask(ad_type, constraint, _LOCATION, "", name or "")
        return found[0] if found else None

    def _locate_here(self, daemon_type: DaemonType) -> ClassAd:
        asked_for = _ASKED_FOR.get(daemon_type)
        if asked_for is not None:
            try:
                found = self._ask(asked_for, "", _LOCATION, "")
            except HTCondorException as error:
                raise HTCondorException(_NOWHERE) from error
            if found:
                found[0]["MyType"] = _QUERIES[asked_for][1]
                return found[0]
        kind = _KINDS.get(daemon_type)
        if kind is None:
            raise HTCondorException(_NOWHERE)
        with said_as(_NOWHERE):
            pool = self._pool if kind is COLLECTOR and self._pool else PROCESS.pool()
            return of_engine(_location_ad(pool.locate(kind), kind))

    def locateAll(self, daemon_type: DaemonType) -> list[ClassAd]:  # noqa: N802
        """Return where all daemons of a kind are."""
        return self.query(_ad_type(daemon_type), projection=_LOCATION)

    @bounded
    def advertise(
        self, ad_list: list[ClassAd], command: str = "UPDATE_AD_GENERIC", use_tcp: bool = True
    ) -> None:
        """Send ads to every collector, as `condor_advertise` does.

        Compat: that is over TCP without `use_tcp` too, where the wheel sends datagrams, of which
        nobody knows whether they arrive. Shown by test_ads_are_sent_so_that_they_arrive.
        """
        if not ad_list:
            return
        name = command.upper()
        if not re.fullmatch(r"(UPDATE|INVALIDATE|MERGE)_\w+", name) or (
            name not in Command.__members__
        ):
            raise ValueError(f"invalid command {command}")
        if name == "UPDATE_STARTD_AD_WITH_ACK":
            raise NotImplementedError("startd-with-ack protocol")
        if not all(isinstance(ad, ClassAd) for ad in ad_list):
            raise TypeError("ad_list entries must be ClassAds")
        del use_tcp
        from kettle.client.advertise import send_ads

        connector = PROCESS.connector_for(self._token)
        ads = [to_engine(ad) for ad in ad_list]
        for address in self._addresses():
            with said_as("Failed to advertise to collector."):
                send_ads(connector, address, Command[name], ads)


def split_hosts(text: str) -> list[str]:
    """Return the addresses of a list; commas inside an address in angle brackets are its own."""
    return re.findall(r"<[^>]*>|[^\s,]+", text)


def _tell_no_collector(error: KettleError) -> str:
    if isinstance(error, NotFoundError):
        return "Unable to determine collector host."
    return "Failed communication with collector."


def _ad_type(daemon_type: DaemonType) -> AdType:
    found = _AD_TYPES.get(daemon_type)
    if found is None:
        raise TypeError("ad_type must be an htcondor.AdType")
    return found


def _named(daemon_type: DaemonType, name: str) -> str:
    """Return what is true for the ad of a name; a startd also goes by its host's name."""
    if daemon_type is DaemonType.Startd and "@" not in name:
        return equals("Machine", _full_host_name(name))
    return equals("Name", name)


def _full_host_name(name: str) -> str:
    import socket

    found = socket.getaddrinfo(
        name, None, socket.AF_UNSPEC, socket.SOCK_STREAM, socket.IPPROTO_TCP, socket.AI_CANONNAME
    )
    return found[0][3] or name


def _location_ad(found: Located, kind: Kind) -> Ad:
    """Return the ad of a daemon of this host, of what its address file and configuration say."""
    ad = Ad(
        {
            "MyType": kind.ad_type,
            "MyAddress": str(found.address),
            "CondorVersion": found.version or version(),
            "CondorPlatform": platform(),
        }
    )
    if kind is not COLLECTOR:
        ad["Name"], ad["Machine"] = found.name, found.machine
    return ad
