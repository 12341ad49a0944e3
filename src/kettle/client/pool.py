"""Finding daemons: by configuration, by address file, by asking the collector.

A tool says what kind of daemon it wants and perhaps its name and pool; it gets an address and the
name to show. Source: wire notes, Queries (locating a daemon by name).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from kettle.classad import ClassAd
from kettle.classad.text import equals
from kettle.client.connector import Connector
from kettle.errors import (
    AuthenticationFailed,
    KettleError,
    NotConnected,
    NotFoundError,
    RemoteProtocolError,
    UnknownHostError,
    WireError,
)
from kettle.runtime.sockets.addresses import (
    find_collectors,
    is_host,
    may_be_daemon,
    read_address_file,
)
from kettle.runtime.storage.files import Files
from kettle.structs import Struct
from kettle.wire.commands import Command
from kettle.wire.messages.collector import Query
from kettle.wire.sinful import Sinful

if TYPE_CHECKING:
    from kettle.wire.ad_shapes import AdRun

QUERY_SECONDS = 60.0
LOCATION = "MyAddress AddressV1 CondorVersion CondorPlatform Name Machine"


class Kind(Struct):
    """A kind of daemon: its subsystem, the type of its ad, the command that asks for it."""

    subsystem: str
    ad_type: str
    query: Command
    title: str


SCHEDD = Kind("SCHEDD", "Scheduler", Command.QUERY_SCHEDD_ADS, "schedd")
STARTD = Kind("STARTD", "Machine", Command.QUERY_STARTD_ADS, "startd")
MASTER = Kind("MASTER", "DaemonMaster", Command.QUERY_MASTER_ADS, "master")
COLLECTOR = Kind("COLLECTOR", "Collector", Command.QUERY_COLLECTOR_ADS, "collector")
NEGOTIATOR = Kind("NEGOTIATOR", "Negotiator", Command.QUERY_NEGOTIATOR_ADS, "negotiator")
CREDD = Kind("CREDD", "CredD", Command.QUERY_ANY_ADS, "credd")
KINDS = {kind.title: kind for kind in (SCHEDD, STARTD, MASTER, COLLECTOR, NEGOTIATOR)}


class Located(Struct):
    """A daemon that was found: where it is and how it is called."""

    address: Sinful
    name: str
    machine: str = ""
    version: str = ""
    # Whether its own address file said so.
    here: bool = False


def _silent(name: str) -> NotFoundError:
    return NotFoundError(
        f"the collector {name} has not said where it is", hint="is the pool up? kettle up"
    )


class Pool:
    """The pool that a tool speaks to: COLLECTOR_HOST's, or the one named with `-pool`."""

    def __init__(self, connector: Connector, pool: str = "") -> None:
        self.connector = connector
        self.config = connector.config
        self.named = pool

    def collectors(self) -> list[Sinful]:
        """Return the collectors' addresses; NotFoundError if none is named, or no such host is."""
        if self.named:
            word = self.named
            where = Sinful.parse(word if ":" in word or "<" in word else f"{word}:9618")
            if "<" not in word and not is_host(where.host):
                raise UnknownHostError(word)
            if where.port == 0:
                # As in COLLECTOR_HOST: the collector here has chosen its port.
                address = read_address_file(self.config.get("COLLECTOR_ADDRESS_FILE"), Files())
                if address is None:
                    raise _silent(word)
                return [address]
            return [where]
        found = find_collectors(self.config, Files())
        if not found:
            hosts = self.config.get("COLLECTOR_HOST")
            if hosts:
                raise _silent(hosts)
            raise NotFoundError("the configuration names no collector", hint="set COLLECTOR_HOST")
        return found

    def query(
        self, command: Command, query: ClassAd, *, authenticated: bool = False
    ) -> list[ClassAd]:
        """Ask the first collector that answers, `authenticated` or as it comes.

        Raises the error of the last one if none does.
        """
        from kettle.wire.ad_shapes import each_ad

        return list(each_ad(self.query_runs(command, query, authenticated=authenticated)))

    def query_runs(
        self, command: Command, query: ClassAd, *, authenticated: bool = False
    ) -> list[ClassAd | AdRun]:
        """Ask as `query` does; ads with the same names are returned in runs."""
        failure: KettleError | None = None
        for address in self.collectors():
            try:
                return query_runs(
                    self.connector, address, command, query, authenticated=authenticated
                )
            except WireError as error:
                failure = error
        assert failure is not None
        raise failure

    def locate(
        self,
        kind: Kind,
        name: str = "",
        *,
        address: str = "",
        to_command: bool = False,
        far: bool = False,
    ) -> Located:
        """Find a daemon: the named one by the collector, else this host's by its address file.

        A name that is this host's own daemon's is found by its file too, whatever the collector
        calls that one, unless it is to be as `far` as another's, or is to be given orders.
        `address` (from `-addr`) needs no finding, nor does a name that is one, in angle brackets.
        `to_command` is said by who is about to give it orders: where the collector knows us for an
        administrator of the pool, the daemon takes us for one too. Raises NotFoundError.
        """
        if address:
            return Located(Sinful.parse(address), address)
        if name.startswith("<") and name.endswith(">"):
            with contextlib.suppress(WireError):
                there = Sinful.parse(name)
                if there.port:
                    return Located(there, name)
        if kind is COLLECTOR and not name:
            found = self.collectors()[0]
            return Located(found, f"{found.host}:{found.port}", found.host)
        # Who negotiates is the collector's to say, as in the reference.
        if not self.named and kind is not NEGOTIATOR:
            near = self._locate_here(kind)
            # Orders are given by the collector's word, and to the slot that it found.
            asked = far or to_command
            if near is not None and (not name or (name == near.name and not asked)):
                return near
        return self._locate_by_collector(kind, name, to_command=to_command)

    def _locate_here(self, kind: Kind) -> Located | None:
        """Read this host's address file, and the name that the configuration gives the daemon."""
        path = self.config.get(f"{kind.subsystem}_ADDRESS_FILE")
        if not path:
            return None
        try:
            lines = Files().read_text(path, limit=64 * 1024).split("\n")
            address = Sinful.parse(lines[0])
        except KettleError:
            return None
        if kind is SCHEDD:
            self.connector.remember_own_job(address)
        machine = self.config.get("FULL_HOSTNAME") or "localhost"
        name = self.config.get(f"{kind.subsystem}_NAME") or machine
        if "@" not in name and name != machine:
            name = f"{name}@{machine}"
        version = lines[1] if len(lines) > 1 else ""
        return Located(address, name, machine, version, here=True)

    def _locate_by_collector(self, kind: Kind, name: str, *, to_command: bool) -> Located:
        query = ClassAd({"MyType": "Query", "TargetType": kind.ad_type, "Projection": LOCATION})
        if to_command:
            query["SendPrivateAttributes"] = True
        if name:
            alternatives = [equals("Name", name)]
            if kind is STARTD:
                # A slot's name is the startd's behind the first @.
                alternatives.append(equals("splitSlotName(Name)[1]", name))
                alternatives.append(equals("Machine", name))
            else:
                alternatives.append(equals("Name", self._full_name(name)))
            query.insert_text("Requirements", f"({' || '.join(alternatives)})")
            query["LocationQuery"] = name
        else:
            query.insert_text("Requirements", "true")
        ask = self._ask_as_ourselves if to_command else self.query
        try:
            ads = ask(kind.query, query)
        except NotConnected:
            if name and not may_be_daemon(name, self.config):
                raise UnknownHostError(name) from None
            raise
        for ad in ads:
            found = located(ad)
            if found is not None:
                self._note_capability(ad, found)
                return found
        if name and not may_be_daemon(name, self.config):
            raise UnknownHostError(name)
        if name:
            raise NotFoundError(f"Can't find address of {kind.title} {name}")
        raise NotFoundError(f"Can't find address of the local {kind.title}")

    def _ask_as_ourselves(self, command: Command, query: ClassAd) -> list[ClassAd]:
        """Ask so that the collector knows who we are, if we can prove it."""
        try:
            return self.query(command, query, authenticated=True)
        except AuthenticationFailed:
            return self.query(command, query)

    def _note_capability(self, ad: ClassAd, found: Located) -> None:
        """Keep the key to a daemon that its ad has for administrators, if it has one."""
        from kettle.wire.security.claim_id import ADMIN_CAPABILITY, ClaimId

        capability = ClaimId.with_session(ad.string(ADMIN_CAPABILITY) or "")
        if capability is not None:
            with contextlib.suppress(RemoteProtocolError):
                self.connector.remember(capability, found.address)

    def _full_name(self, name: str) -> str:
        """Complete a name as daemons do: `sub@host` stays, a bare one is this host's."""
        machine = self.config.get("FULL_HOSTNAME") or "localhost"
        return name if "@" in name or "." in name else f"{name}@{machine}"


def located(ad: ClassAd) -> Located | None:
    """Return where the daemon of an ad is, None if the ad does not say."""
    address = ad.string("MyAddress")
    if not address:
        return None
    return Located(
        Sinful.parse(address),
        ad.string("Name") or ad.string("Machine") or address,
        ad.string("Machine") or "",
        ad.string("CondorVersion") or "",
    )


def query_ads(
    connector: Connector, address: Sinful, command: Command, query: ClassAd
) -> list[ClassAd]:
    """Send a collector query to one daemon and return the ads it answers."""
    from kettle.wire.ad_shapes import each_ad

    return list(each_ad(query_runs(connector, address, command, query)))


def query_runs(
    connector: Connector,
    address: Sinful,
    command: Command,
    query: ClassAd,
    *,
    authenticated: bool = False,
) -> list[ClassAd | AdRun]:
    """Ask one daemon as `query_ads` does; ads with the same names are returned in runs."""
    from kettle.wire.similar_ads import read_ad_runs

    with connector.connect(
        address, command, timeout=QUERY_SECONDS, force_authentication=authenticated
    ) as stream:
        stream.send(Query(query))
        return list(read_ad_runs(stream.receive()))


def make_query(
    ad_type: str,
    *,
    constraints: Iterable[str] = (),
    projection: Iterable[str] = (),
    limit: int = 0,
) -> ClassAd:
    """Return a query ad: every constraint must hold; no projection means all attributes."""
    query = ClassAd({"MyType": "Query", "TargetType": ad_type})
    parts = list(constraints)
    query.insert_text("Requirements", " && ".join(f"({part})" for part in parts) or "true")
    names = list(projection)
    if names:
        query["Projection"] = " ".join(names)
    if limit > 0:
        query["LimitResults"] = limit
    return query
