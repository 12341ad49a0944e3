"""On which address a daemon listens, and what address it tells others.

Choices out of the configuration (NETWORK_INTERFACE, BIND_ALL_INTERFACES, ENABLE_IPV4/6, ports)
and the sockets themselves; what comes in through them is `network.py`'s.
"""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import resource
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kettle.config.knobs.network import NetworkKnobs
from kettle.config.knobs.shared_port import SharedPortKnobs
from kettle.errors import StorageError
from kettle.runtime.sockets.addresses import is_protocol_wanted
from kettle.runtime.sockets.datagrams import open_datagram_socket
from kettle.runtime.sockets.port_holder import port_holder
from kettle.wire.sinful import Endpoint, Sinful

if TYPE_CHECKING:
    from kettle.config import Config

_BACKLOG = 1024
_TRIES = 20


# Nothing is said to these in datagrams: starter and shadow answer, the shared port hands on.
_WITHOUT_DATAGRAMS = frozenset(("STARTER", "SHADOW", "SHARED_PORT"))


@dataclass(frozen=True, slots=True)
class ListenPlan:
    """Where to bind and what to advertise.

    `bind` has one address for each protocol; `advertise` the matching addresses for others.
    `ports` are tried in order; 0 lets the kernel choose.
    """

    bind: tuple[str, ...]
    advertise: tuple[str, ...]
    ports: tuple[int, ...]
    alias: str
    private_network: str = ""
    forwarding_host: str = ""
    with_datagrams: bool = False

    def tries(self) -> Iterator[int]:
        """Yield the ports in order; one that the kernel chose may be taken on another protocol."""
        for port in self.ports:
            yield from [port] * (1 if port else _TRIES)


def plan_listening(config: Config, port: int | None) -> ListenPlan:
    """Decide from the configuration; `port` is what the command line said."""
    wanted = config.value(NetworkKnobs.NETWORK_INTERFACE)
    every = config.boolean("BIND_ALL_INTERFACES")
    advertise = tuple(_own_addresses(config, wanted))
    explicit = _is_address(wanted)
    everywhere = not explicit and every is not False
    bind = tuple(
        ("::" if ":" in address else "0.0.0.0") if everywhere else address  # noqa: S104
        for address in advertise
    )
    return ListenPlan(
        bind,
        advertise,
        tuple(_ports(config, port)),
        config.get("HOST_ALIAS") or config.get("FULL_HOSTNAME") or "",
        # By default the network's name is the host's; that need not be told.
        (config.get("PRIVATE_NETWORK_NAME") or "") if _has_private_network(config) else "",
        forwarding_host=config.get("TCP_FORWARDING_HOST") or "",
        # Behind brokers nobody sends us datagrams.
        with_datagrams=config.value(NetworkKnobs.WANT_UDP_COMMAND_SOCKET)
        and not config.get("CCB_ADDRESS")
        and not config.get("TCP_FORWARDING_HOST")
        and config.subsystem not in _WITHOUT_DATAGRAMS,
    )


def _has_private_network(config: Config) -> bool:
    return config.find_set("PRIVATE_NETWORK_NAME") is not None or any(
        config.get(name) for name in ("CCB_ADDRESS", "TCP_FORWARDING_HOST")
    )


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _own_addresses(config: Config, wanted: str) -> Iterator[str]:
    if _is_address(wanted):
        yield wanted
        return
    found = []
    for version in ("4", "6"):
        address = config.get(f"IPV{version}_ADDRESS")
        if address and is_protocol_wanted(config, f"ENABLE_IPV{version}") is not False:
            found.append(address)
    if not config.value(NetworkKnobs.ADVERTISE_IPV4_FIRST):
        found.reverse()
    if not found:
        found = ["::1" if is_protocol_wanted(config, "ENABLE_IPV4") is False else "127.0.0.1"]
    yield from found


def _ports(config: Config, port: int | None) -> Iterator[int]:
    if port is not None:
        yield port
        return
    if config.subsystem == "COLLECTOR":
        yield collector_port(config)
        return
    if config.subsystem == "SHARED_PORT":
        yield (
            collector_port(config)
            if _is_before_collector(config)
            else config.value(SharedPortKnobs.SHARED_PORT_PORT)
        )
        return
    low = config.value(NetworkKnobs.IN_LOWPORT) or config.value(NetworkKnobs.LOWPORT)
    high = config.value(NetworkKnobs.IN_HIGHPORT) or config.value(NetworkKnobs.HIGHPORT)
    if 0 < low <= high < 65536:
        yield from range(low, high + 1)
    else:
        yield 0


def _is_before_collector(config: Config) -> bool:
    """Whether the pool's collector is reached through this shared port, and so by its own port.

    SHARED_PORT_PORT is for machines without a collector. Source: the reference's master, which
    says so in its log.
    """
    return (
        "COLLECTOR" in (word.upper() for word in config.words("DAEMON_LIST"))
        and config.value(NetworkKnobs.COLLECTOR_USES_SHARED_PORT)
        and config.value(SharedPortKnobs.USE_SHARED_PORT)
    )


def collector_port(config: Config) -> int:
    """Return the port of this pool's collector: that of COLLECTOR_HOST, else COLLECTOR_PORT."""
    default = config.integer("COLLECTOR_PORT")
    for word in config.words("COLLECTOR_HOST"):
        _, colon, digits = word.partition("?")[0].rpartition(":")
        if colon and digits.isdecimal():
            return int(digits)
    return 9618 if default is None else default


def open_listeners(plan: ListenPlan) -> tuple[list[socket.socket], list[socket.socket]]:
    """Bind and listen; return the TCP and the UDP sockets, which all have the same port.

    Raises StorageError if no port is free.
    """
    problem: OSError | None = None
    for port in plan.tries():
        streams: list[socket.socket] = []
        datagrams: list[socket.socket] = []
        try:
            for host in plan.bind:
                streams.append(_listen(host, streams[0].getsockname()[1] if streams else port))
                if plan.with_datagrams:
                    number = streams[0].getsockname()[1]
                    datagrams.append(open_datagram_socket(host, number))
        except OSError as error:
            problem = error
            for sock in streams + datagrams:
                sock.close()
            continue
        return streams, datagrams
    where = ", ".join(plan.bind)
    ports = f"{plan.ports[0]}-{plan.ports[-1]}" if len(plan.ports) > 1 else str(plan.ports[0])
    reason = problem.strerror if problem is not None else "nothing to bind"
    if problem is not None and problem.errno == errno.EADDRINUSE:
        holder = port_holder(plan.ports[-1])
        reason = f"{reason} by {holder}" if holder else reason
    raise StorageError(f"cannot listen on {where} port {ports}: {reason}")


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.bind((host, port))
        sock.listen(_BACKLOG)
    except BaseException:
        sock.close()
        raise
    return sock


def make_address(plan: ListenPlan, sockets: list[socket.socket]) -> Sinful:
    """Return the address that others are told.

    Behind a forwarding host it is that host's; those of the same private network get ours, too.
    """
    endpoints = [
        Endpoint(host, sock.getsockname()[1])
        for host, sock in zip(plan.advertise, sockets, strict=True)
    ]
    first = endpoints[0]
    sinful = Sinful(first.host, first.port).with_addresses(endpoints)
    if plan.forwarding_host:
        forwarded = Endpoint(plan.forwarding_host, first.port)
        private = str(sinful)
        sinful = Sinful(*forwarded).with_addresses([forwarded])
        if plan.private_network:
            sinful = sinful.with_parameter("PrivAddr", private)
    if plan.alias:
        sinful = sinful.with_parameter("alias", plan.alias)
    if plan.private_network:
        sinful = sinful.with_parameter("PrivNet", plan.private_network)
    return sinful if plan.with_datagrams else sinful.with_parameter("noUDP")


def raise_descriptor_limit() -> int:
    """Let this process open as many files as the kernel allows; return how many that is."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            soft = hard
    return soft
