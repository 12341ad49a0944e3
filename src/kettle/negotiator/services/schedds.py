"""Connections to schedds, one each, kept from cycle to cycle, and what is said over them.

There are so many at most as the configuration says (NEGOTIATOR_SOCKET_CACHE_SIZE). When a cycle has
more schedds they take turns, and none keeps its own. The words are `dialogue.py`'s; here are the
sockets, time limits and what to do when a schedd does not answer: its submitters are left out of
the cycle, and the next one connects anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from kettle.classad import ClassAd, Expr
from kettle.errors import ConnectionLost, KettleError, SessionUnknown, WireError
from kettle.matchmaking.plan import Match, Rejection
from kettle.matchmaking.requests import Request, parse_request
from kettle.matchmaking.time_limits import TimeBook
from kettle.matchmaking.unreachable import Unreachable
from kettle.negotiator.dialogue import Fetched, Header, deliver, fetch_requests
from kettle.negotiator.snapshot import SubmitterAd
from kettle.runtime import tasks
from kettle.runtime.clock import set_ahead
from kettle.runtime.context import Runtime
from kettle.runtime.sockets.stream import Stream
from kettle.wire.commands import Command
from kettle.wire.messages.negotiate import EndNegotiate
from kettle.wire.security.claim_id import ClaimId

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Terms:
    """What every header of a cycle says, how long schedds may take, and how many at a time."""

    attributes: str
    negotiator: str
    maximum: int
    timeout_seconds: float
    most_connections: int
    # What the cycle spends on whom; it ends what a schedd lets us wait for.
    time: TimeBook
    job_constraint: Expr | None = None


@dataclass(slots=True)
class _Link:
    """One schedd."""

    address: str
    stream: Stream | None = None
    # A round is open for this submitter; the schedd waits for what we have to say.
    open_for: str | None = None
    fresh: bool = True


@dataclass(slots=True)
class Harvest:
    """The requests of one submitter at one schedd."""

    submitter: SubmitterAd
    requests: list[Request] = field(default_factory=list)
    all_of_them: bool = True
    failed: bool = False


@dataclass(slots=True)
class _Results:
    """Matches and rejections by schedd address and submitter."""

    matches: dict[tuple[str, str], list[Match]] = field(default_factory=dict)
    rejections: dict[tuple[str, str], list[Rejection]] = field(default_factory=dict)

    @classmethod
    def sort(cls, matches: Sequence[Match], rejections: Sequence[Rejection]) -> _Results:
        results = cls()
        for match in matches:
            key = (match.request.schedd, match.request.submitter)
            results.matches.setdefault(key, []).append(match)
        for rejection in rejections:
            key = (rejection.request.schedd, rejection.request.submitter)
            results.rejections.setdefault(key, []).append(rejection)
        return results


def read_capability(text: str) -> ClaimId | None:
    """Read a schedd's capability; None if it has no session that can be used."""
    try:
        capability = ClaimId(text)
        capability.session("")
    except WireError:
        return None
    return capability


class Schedds:
    """All connections to schedds."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._links: dict[str, _Link] = {}
        self._unreachable = Unreachable()

    async def fetch(self, submitters: Sequence[SubmitterAd], terms: Terms) -> list[Harvest]:
        """Ask all schedds for requests, those of different addresses at the same time."""
        by_address: dict[str, list[SubmitterAd]] = {}
        for submitter in submitters:
            by_address.setdefault(submitter.schedd_address, []).append(submitter)
        most = terms.most_connections
        self._make_room(by_address, most)
        crowded = len(by_address) > most

        async def fetch_from(address: str) -> list[Harvest]:
            each = by_address[address]
            return await self._fetch_from(address, each, terms, ends=crowded or len(each) > 1)

        harvests = await self._talk(by_address, most, fetch_from)
        return [harvest for group in harvests for harvest in group]

    def _make_room(self, addresses: Collection[str], most: int) -> None:
        """Close what is kept, the oldest first, until there is room for these schedds.

        Where there are too many of them, each connects when it is its turn.
        """
        crowded = len(addresses) > most
        others = [address for address in self._links if crowded or address not in addresses]
        for address in others[: max(0, len(others) + len(addresses) - most)]:
            self._drop(self._links.pop(address))

    async def _talk(
        self, addresses: Collection[str], most: int, do: Callable[[str], Awaitable[_T]]
    ) -> list[_T]:
        """Talk with all schedds at a time; with too many in turns, after which they hang up."""
        room = asyncio.Semaphore(most)

        async def talk(address: str) -> _T:
            async with room:
                try:
                    return await do(address)
                finally:
                    if len(addresses) > most and address in self._links:
                        self._drop(self._links.pop(address))

        return await asyncio.gather(*map(talk, addresses))

    async def _fetch_from(
        self, address: str, submitters: list[SubmitterAd], terms: Terms, *, ends: bool
    ) -> list[Harvest]:
        """Fetch from one schedd, submitter after submitter.

        A single submitter's round stays open for its matches; where each `ends`, the matches come
        in a round of their own (daemon reference, NEGOTIATE).
        """
        harvests = [Harvest(submitter) for submitter in submitters]
        heard_at = max(submitter.heard_at for submitter in submitters)
        clock = self._runtime.clock
        if self._unreachable.is_avoided(address, clock.steady(), heard_at - set_ahead(clock)):
            for harvest in harvests:
                harvest.failed = True
            return harvests
        link = self._links.setdefault(address, _Link(address))
        try:
            for harvest in harvests:
                fetched = await self._fetch_in_time(link, harvest.submitter, terms)
                if fetched is None:
                    harvest.all_of_them = False
                    continue
                harvest.all_of_them = fetched.all_of_them
                for ad in fetched.ads:
                    with tasks.reported(f"The reading of a request of {harvest.submitter.name}"):
                        harvest.requests.append(self._parse(ad, harvest.submitter))
                if ends:
                    await self._end(link)
            self._unreachable.on_answered(address)
        except (KettleError, OSError) as error:
            self._drop(link)
            if isinstance(error, ConnectionLost | OSError):
                self._unreachable.on_failed(address, self._runtime.clock.steady())
            self._runtime.log.problem(
                f"Failed to get requests of {len(submitters)} submitters from {address}: {error}"
            )
            for harvest in harvests:
                harvest.failed = not harvest.requests
        except Exception:
            self._drop(link)
            with tasks.reported(f"The asking of {address}"):
                raise
            for harvest in harvests:
                harvest.failed = not harvest.requests
        return harvests

    def _parse(self, ad: ClassAd, submitter: SubmitterAd) -> Request:
        request = parse_request(ad, submitter=submitter.name, schedd=submitter.schedd_address)
        request.divides_slots = submitter.divides_slots
        return request

    async def _fetch_in_time(
        self, link: _Link, submitter: SubmitterAd, terms: Terms
    ) -> Fetched | None:
        """Fetch one submitter's requests; None if its time, or its schedd's, is over.

        What a schedd lets us wait for is its time, as in the reference, whose negotiator asks for
        one job after the other.
        """
        clock, name = self._runtime.clock, submitter.name
        began = clock.steady()
        if terms.time.is_over(name, link.address, began):
            return None
        left = terms.time.left(name, link.address, began)
        limit = asyncio.timeout(None if left == float("inf") else left)
        try:
            async with limit:
                return await self._fetch_one(link, submitter, terms)
        except TimeoutError:
            if not limit.expired():
                raise
            # In the middle of its list: the next cycle begins with a new connection.
            self._drop(link)
            terms.time.cut_short = True
            return None
        finally:
            terms.time.charge(name, link.address, clock.steady() - began)
            terms.time.is_over(name, link.address, clock.steady())

    async def _fetch_one(self, link: _Link, submitter: SubmitterAd, terms: Terms) -> Fetched:
        stream = await self._open_round(link, submitter, terms)
        fetched = await stream.run(fetch_requests(terms.maximum, terms.timeout_seconds))
        if not fetched.ads and fetched.all_of_them:
            # Without a single request the schedd regards the round as over.
            link.open_for = None
        return fetched

    async def _open_round(self, link: _Link, submitter: SubmitterAd, terms: Terms) -> Stream:
        """Begin a round; a kept connection that turns out to be dead is replaced once."""
        stream = link.stream
        if stream is not None and not stream.closed and not stream.at_end():
            try:
                await stream.send(self._header(submitter, terms, first=False))
                link.open_for = submitter.name
                return stream
            except WireError:
                pass
        self._drop(link)
        stream = await self._connect(link, submitter, terms)
        link.stream = stream
        await stream.send(self._header(submitter, terms, first=True))
        link.open_for = submitter.name
        return stream

    async def _connect(self, link: _Link, submitter: SubmitterAd, terms: Terms) -> Stream:
        """Connect with the session that the schedd put into the ad, else as anybody would."""
        network, seconds = self._runtime.network, terms.timeout_seconds
        capability = read_capability(submitter.capability)
        if capability is not None:
            try:
                return await network.connect(
                    link.address, Command.NEGOTIATE, session=capability, timeout=seconds
                )
            except SessionUnknown:
                # A schedd that has begun anew does not know what it gave away before.
                pass
            finally:
                # The next connection, if any, comes with a newer one.
                network.remove_session(capability)
        return await network.connect(link.address, Command.NEGOTIATE, timeout=seconds)

    def _header(self, submitter: SubmitterAd, terms: Terms, *, first: bool) -> Header:
        return Header(
            submitter=submitter.name,
            attributes=terms.attributes,
            negotiator=terms.negotiator,
            submitter_tag=submitter.tag,
            job_constraint=terms.job_constraint,
            first=first,
        )

    async def _end(self, link: _Link) -> None:
        if link.stream is not None and link.open_for is not None:
            await link.stream.send(EndNegotiate())
            link.open_for = None

    async def tell(
        self,
        harvests: Sequence[Harvest],
        matches: Sequence[Match],
        rejections: Sequence[Rejection],
        terms: Terms,
    ) -> list[Match]:
        """Tell all schedds what became of their requests; return matches that did not arrive."""
        by_address: dict[str, list[Harvest]] = {}
        for harvest in harvests:
            by_address.setdefault(harvest.submitter.schedd_address, []).append(harvest)
        results = _Results.sort(matches, rejections)

        async def tell_one(address: str) -> list[Match]:
            return await self._tell_one(address, by_address[address], results, terms)

        lost = await self._talk(by_address, terms.most_connections, tell_one)
        return [match for group in lost for match in group]

    async def _tell_one(
        self, address: str, harvests: list[Harvest], results: _Results, terms: Terms
    ) -> list[Match]:
        link = self._links.setdefault(address, _Link(address))
        todo = list(harvests)
        try:
            while todo:
                submitter = todo[0].submitter
                key = (address, submitter.name)
                matches = results.matches.get(key, [])
                rejections = results.rejections.get(key, [])
                if matches or rejections or link.open_for == submitter.name:
                    stream = link.stream
                    if stream is None or link.open_for != submitter.name:
                        stream = await self._open_round(link, submitter, terms)
                    await stream.run(deliver(matches, rejections))
                    link.open_for = None
                del todo[0]
        except (KettleError, OSError) as error:
            self._drop(link)
            self._runtime.log.problem(f"Failed to tell {address} about its matches: {error}")
        except Exception:
            self._drop(link)
            with tasks.reported(f"The telling of {address}"):
                raise
        return [
            match
            for harvest in todo
            for match in results.matches.get((address, harvest.submitter.name), [])
        ]

    def _drop(self, link: _Link) -> None:
        if link.stream is not None:
            link.stream.close()
        link.stream = None
        link.open_for = None

    def close(self) -> None:
        """End all connections."""
        for link in self._links.values():
            self._drop(link)
        self._links.clear()
