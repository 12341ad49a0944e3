"""Addresses: `<host:port?key=value&...>`, and the list-of-records form of `AddressV1`.

Decides how an address is read, written and changed, and which of its endpoints to dial. Dialing
itself is the shells' (`runtime.sockets.network`, `client.stream`). Source: wire notes, Sinful
strings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from sys import getsizeof
from typing import TYPE_CHECKING, Final

from kettle.classad import ClassAd, parse_expression
from kettle.errors import ClassAdSyntaxError, RemoteProtocolError
from kettle.named_tuples import NamedTuple
from kettle.remembered import Answers

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv6Address

# Limit: the reference's own sinfuls stay far below; this bounds what a peer can make us keep.
MAXIMUM_TEXT = 64 * 1024
MAXIMUM_PARAMETERS = 200

_BARE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:#[]+")


def _write_out(address: Sinful) -> str:
    endpoint = Endpoint(address.host, address.port)
    if not address.parameters:
        return f"<{endpoint}>"
    items = sorted(address.parameters, key=lambda item: item[0].encode("utf-8", "surrogateescape"))
    text = "&".join(
        _quote(key) if value is None else f"{_quote(key)}={_quote(value)}" for key, value in items
    )
    return f"<{endpoint}?{text}>"


def _bytes_of(address: Sinful) -> int:
    # As parts and as text, in which a letter may have become six.
    pairs = address.parameters
    return 500 + sum(400 + 7 * (getsizeof(key) + getsizeof(value)) for key, value in pairs)


# Limit: the bytes of the addresses whose text is remembered; a daemon says its own in nearly every
# message.
_texts: Final = Answers(_write_out, 512 * 1024, cost=_bytes_of)


def _quote(text: str) -> str:
    """Percent-encode with lower-case digits everything outside the bare characters."""
    if _BARE.issuperset(text):
        return text
    return "".join(
        chr(byte) if chr(byte) in _BARE else f"%{byte:02x}"
        for byte in text.encode("utf-8", "surrogateescape")
    )


def _unquote(text: str) -> str:
    """Undo `_quote`; a `%` without two hexadecimal digits stands for itself."""
    if "%" not in text:
        return text
    first, *rest = text.split("%")
    data = bytearray(first.encode("utf-8", "surrogateescape"))
    for piece in rest:
        digits = piece[:2]
        if len(digits) == 2 and all(digit in "0123456789abcdefABCDEF" for digit in digits):
            data.append(int(digits, 16))
            data += piece[2:].encode("utf-8", "surrogateescape")
        else:
            data += b"%" + piece.encode("utf-8", "surrogateescape")
    return data.decode("utf-8", "surrogateescape")


class Endpoint(NamedTuple):
    """A host (IP address or name, IPv6 without brackets) and a TCP port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_ipv6(self) -> bool:
        """Whether the host is an IPv6 address."""
        return ":" in self.host


class Sinful(NamedTuple):
    """An address; immutable, `with_parameter` and friends return changed copies.

    `parameters` keeps keys as given (`sock`, `alias`, `addrs`, `noUDP`, `CCBID`, `PrivAddr`,
    `PrivNet`, and unknown ones, which are passed on); None is a key without a value.
    """

    host: str
    port: int
    parameters: tuple[tuple[str, str | None], ...] = ()

    def __str__(self) -> str:
        return _texts[self]

    @classmethod
    def parse(cls, text: str) -> Sinful:
        """Read either form, with or without angle brackets.

        Raises RemoteProtocolError (an address always comes from outside) with the text in it.
        """
        text = text.strip()
        if len(text) > MAXIMUM_TEXT:
            raise RemoteProtocolError(f"an address of {len(text)} characters is too long")
        if text.startswith("{"):
            return parse_address_v1(text)
        if text.startswith("<"):
            if not text.endswith(">"):
                raise RemoteProtocolError(f"address {text!r} has no closing >")
            text = text[1:-1]
        place, _, query = text.partition("?")
        host, port = _parse_place(place)
        parameters: dict[str, str | None] = {}
        for item in query.replace(";", "&").split("&"):
            if not item:
                continue
            key, separator, value = item.partition("=")
            parameters[_unquote(key)] = _unquote(value) if separator else None
            if len(parameters) > MAXIMUM_PARAMETERS:
                raise RemoteProtocolError("an address has too many parameters")
        return cls(host, port, tuple(parameters.items()))

    # Parameters by meaning.

    def parameter(self, key: str) -> str | None:
        """Return a parameter's value; None if it is absent or has no value."""
        return next((value for name, value in self.parameters if name == key), None)

    def with_parameter(self, key: str, value: str | None = None) -> Sinful:
        """Return a copy in which `key` has `value` (None: present without a value)."""
        kept = tuple(item for item in self.parameters if item[0] != key)
        return self._replace(parameters=(*kept, (key, value)))

    def without_parameter(self, key: str) -> Sinful:
        """Return a copy without `key`."""
        kept = tuple(item for item in self.parameters if item[0] != key)
        return self._replace(parameters=kept)

    @property
    def endpoint(self) -> Endpoint:
        """The primary host and port."""
        return Endpoint(self.host, self.port)

    @property
    def shared_port_id(self) -> str | None:
        """The id behind a shared port, from `sock`."""
        return self.parameter("sock") or None

    @property
    def alias(self) -> str | None:
        """The host name of the daemon, for display and for checking its certificate."""
        return self.parameter("alias") or None

    @property
    def no_udp(self) -> bool:
        """Whether the daemon has no UDP port (always so behind a shared port or CCB)."""
        return any(name in ("noUDP", "sock", "CCBID") for name, _ in self.parameters)

    @property
    def ccb_contacts(self) -> tuple[tuple[Sinful, str], ...]:
        """Where connections back can be requested: the broker's address and our number there."""
        contacts = []
        for contact in (self.parameter("CCBID") or "").split():
            place, separator, number = contact.rpartition("#")
            if separator and place:
                contacts.append((Sinful.parse(place), number))
        return tuple(contacts)

    @property
    def addresses(self) -> tuple[Endpoint, ...]:
        """The endpoints of `addrs`, or the primary one alone."""
        found = []
        for item in (self.parameter("addrs") or "").split("+"):
            host, separator, port = item.rpartition("-")
            if not separator or not _is_port(port):
                continue
            if host.startswith("["):
                host = host[1:-1].replace("-", ":")
            found.append(Endpoint(host, int(port)))
        return tuple(found) or (self.endpoint,)

    def with_addresses(self, endpoints: Iterable[Endpoint]) -> Sinful:
        """Return a copy that offers these endpoints."""
        items = [
            (f"[{one.host.replace(':', '-')}]" if one.is_ipv6 else one.host) + f"-{one.port}"
            for one in endpoints
        ]
        return self.with_parameter("addrs", "+".join(items))

    def choose_route(
        self,
        *,
        private_network: str = "",
        ipv4: bool = True,
        ipv6: bool = True,
        prefer_ipv4: bool = True,
    ) -> Sinful:
        """Return the address to dial from here.

        Inside the daemon's private network that is its private address; else the nearest endpoint
        among the enabled protocols: loopback, then private ranges, then public; the preferred
        protocol first. The alias and the shared-port id stay with it.
        """
        if private_network and self.parameter("PrivNet") == private_network:
            private = self.parameter("PrivAddr")
            if private:
                return Sinful.parse(private)
            return self.without_parameter("CCBID")
        if not self.parameter("addrs"):
            return self
        enabled = [one for one in self.addresses if (ipv6 if one.is_ipv6 else ipv4)]
        if not enabled:
            return self
        best = min(enabled, key=lambda one: (_distance(one.host), one.is_ipv6 is prefer_ipv4))
        return self._replace(host=best.host, port=best.port)


def _parse_place(place: str) -> tuple[str, int]:
    """Split `host:port` or `[ipv6]:port`; a missing port reads as 0."""
    host, separator, port_text = place.rpartition(":")
    if place.endswith("]") or not separator:
        host, port_text = place, "0"
    if host.startswith("["):
        if not host.endswith("]"):
            raise RemoteProtocolError(f"address {place!r} has an unclosed bracket")
        host = host[1:-1]
    elif ":" in host:
        raise RemoteProtocolError(f"address {place!r} has an IPv6 host without brackets")
    if not _is_port(port_text):
        raise RemoteProtocolError(f"address {place!r} has no port number")
    return host, int(port_text)


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 5 and int(text) <= 65535


def parse_ip(host: str) -> IPv4Address | IPv6Address | None:
    """Return the address a host is, None for a name."""
    from ipaddress import ip_address  # slow to load, and seldom needed

    try:
        return ip_address(host)
    except ValueError:
        return None


def _distance(host: str) -> int:
    """Rank an endpoint: 0 loopback, 1 private range, 2 public; names count as public."""
    address = parse_ip(host)
    if address is None:
        return 2
    if address.is_loopback:
        return 0
    return 1 if address.is_private or address.is_link_local else 2


def parse_address_v1(text: str) -> Sinful:
    """Read the `{ [p="primary"; a="ip"; port=N; ...], ... }` form."""
    ads = _read_records(text)
    primary = next((ad for ad in ads if ad.string("p") == "primary"), None)
    if primary is None:
        raise RemoteProtocolError(f"address {text[:80]!r} has no primary record")
    sinful = Sinful(*_endpoint(primary))._replace(parameters=tuple(_parameters(primary)))
    others = [_endpoint(ad) for ad in ads if ad.string("p") in ("IPv4", "IPv6")]
    return sinful.with_addresses(others) if others else sinful


def _endpoint(record: ClassAd) -> Endpoint:
    return Endpoint(record.string("a") or "", record.integer("port") or 0)


def _parameters(record: ClassAd) -> Iterator[tuple[str, str | None]]:
    """Give what a record says beside its endpoint, under the names of the other form."""
    for key, name in (("alias", "alias"), ("sock", "spid")):
        value = record.string(name)
        if value is not None:
            yield key, value
    if record.boolean("noUDP"):
        yield "noUDP", None
    network = record.string("n") or "Internet"
    if network != "Internet":
        yield "PrivNet", network


def _read_records(text: str) -> list[ClassAd]:
    """Return the ads in the list that an address is."""
    try:
        records = ClassAd().evaluate_expression(parse_expression(text))
    except ClassAdSyntaxError as error:
        raise RemoteProtocolError(f"address {text[:80]!r} does not parse") from error
    if not isinstance(records, list):
        raise RemoteProtocolError(f"address {text[:80]!r} is not a list")
    return [record for record in records if isinstance(record, ClassAd)]


def render_address_v1(sinful: Sinful) -> str:
    """Write the list-of-records form, as daemons advertise it in `AddressV1`."""
    network = sinful.parameter("PrivNet") or "Internet"
    tail = f' n="{network}";'
    if sinful.alias:
        tail += f' alias="{sinful.alias}";'
    if sinful.shared_port_id:
        tail += f' spid="{sinful.shared_port_id}";'
    if any(name == "noUDP" for name, _ in sinful.parameters):
        tail += " noUDP=true;"

    def record(kind: str, one: Endpoint) -> str:
        return f'[ p="{kind}"; a="{one.host}"; port={one.port};{tail} ]'

    records = [record("primary", sinful.endpoint)]
    records += [record("IPv6" if one.is_ipv6 else "IPv4", one) for one in sinful.addresses]
    return "{" + ", ".join(records) + "}"
