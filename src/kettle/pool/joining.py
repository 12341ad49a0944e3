"""Joining the pool of another central manager: the way there, the token, and the clocks.

Everything that keeps a machine out is found before a daemon is started, and said in one sentence.
What a member's folder is configured to be is `location.py`'s; the proof itself is the wire's.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import socket
import stat
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kettle.attributes.version import is_ours
from kettle.errors import (
    AuthenticationFailed,
    AuthorizationDenied,
    ConnectionLost,
    KettleError,
    NotFoundError,
    RefusedError,
    RemoteProtocolError,
    StorageError,
    UsageError,
)
from kettle.levels import Level
from kettle.named_tuples import NamedTuple
from kettle.octets import AS_IS
from kettle.pool.folder import PoolFolder
from kettle.pool.location import Member, join_endpoint
from kettle.runtime.credentials import SystemClientCredentials
from kettle.runtime.sockets.host_names import is_own_address
from kettle.wire.commands import Command
from kettle.wire.security import tokens

if TYPE_CHECKING:
    from kettle.client.connector import Connector
    from kettle.wire.security.methods.context import Token
    from kettle.wire.sinful import Sinful

CONNECT_SECONDS = 10.0
# Clocks further apart than this make tokens begin too early or end too soon.
CLOCK_SECONDS = 60.0
# The one token of a member, in its folder tokens.d.
_TOKEN_NAME = "pool"  # noqa: S105 - a file's name
_LARGEST_FILE = 256 * 1024
_ASKED = {
    Level.ADVERTISE_MASTER: Command.DC_NOP_ADVERTISE_MASTER,
    Level.ADVERTISE_STARTD: Command.DC_NOP_ADVERTISE_STARTD,
    Level.ADVERTISE_SCHEDD: Command.DC_NOP_ADVERTISE_SCHEDD,
}


class Offered(NamedTuple):
    """A token as it was brought: its line, what it says, and whether others can read it there."""

    line: str
    token: tokens.ParsedToken
    path: str
    is_open: bool = False


def read_token_file(path: str, now: float) -> Offered:
    """Return the first token of a file.

    Raises NotFoundError, StorageError, UsageError for a file that holds none, RefusedError for
    a token that is not good at this time.
    """
    try:
        with open(path, encoding="utf-8", errors=AS_IS) as file:
            facts = os.fstat(file.fileno())
            text = file.read(_LARGEST_FILE)
    except FileNotFoundError:
        raise NotFoundError(
            f"there is no file {path}", hint="kettle token, on the central manager, makes a token"
        ) from None
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}") from None
    for line in map(str.strip, text.splitlines()):
        if not line or line.startswith("#"):
            continue
        try:
            token = tokens.parse_token(line)
        except AuthenticationFailed as error:
            raise UsageError(f"{path} holds no token: {error.message}") from None
        if not token.signature:
            raise UsageError(f"{path} holds a token without its signature")
        is_open = stat.S_ISREG(facts.st_mode) and bool(facts.st_mode & 0o077)
        offered = Offered(line, token, path, is_open)
        check_token_times(offered, now)
        return offered
    raise UsageError(f"{path} holds no token")


def check_token_times(offered: Offered, now: float) -> None:
    """Raise RefusedError for a token that has ended or, by this machine's clock, not begun."""
    ends, begins = offered.token.time("exp"), offered.token.time("iat")
    if ends is not None and now >= ends:
        raise RefusedError(
            f"the token in {offered.path} expired on {_date(ends)}; here it is {_date(now)}",
            hint="make another one: kettle token",
        )
    if begins is not None and begins > now + CLOCK_SECONDS:
        raise RefusedError(
            f"the clocks are apart: the token in {offered.path} was made on {_date(begins)},"
            f" but here it is {_date(now)}",
            hint="set this machine's clock",
        )


def _date(moment: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment))


def find_way(host: str, port: int) -> tuple[str, str]:
    """Return this machine's address on the way to a central manager, and the manager's.

    Raises NotFoundError where there is no such host, ConnectionLost if nobody answers there.
    """
    where = join_endpoint(host, port)
    try:
        with socket.create_connection((host, port), timeout=CONNECT_SECONDS) as probe:
            return str(probe.getsockname()[0]), str(probe.getpeername()[0])
    except socket.gaierror:
        raise NotFoundError(f"there is no host {host}") from None
    except ConnectionRefusedError:
        other = _other_way(host, port)
        hint = f"{other} answers: use it" if other else ""
        raise ConnectionLost(
            f"nothing listens at {where}",
            hint=hint or "is its pool up, and made with kettle up --host?",
        ) from None
    except TimeoutError:
        raise ConnectionLost(
            f"{where} does not answer within {CONNECT_SECONDS:.0f} s",
            hint="a firewall may stand between, or the machine be down",
        ) from None
    except OSError as error:
        raise ConnectionLost(f"{host} cannot be reached: {error.strerror}") from None


def _other_way(host: str, port: int) -> str:
    """Return where on this very machine something listens at a port, if `host` is this machine.

    Empty if it is another, or nothing does. A pool listens at the address it was given alone.
    """
    try:
        asked = str(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][4][0])
    except OSError:
        return ""
    if not is_own_address(asked):
        return ""
    import psutil

    for interface in psutil.net_if_addrs().values():
        for each in interface:
            if each.family not in (socket.AF_INET, socket.AF_INET6) or each.address == asked:
                continue
            with (
                contextlib.suppress(OSError),
                socket.create_connection((each.address, port), timeout=1.0),
            ):
                return join_endpoint(each.address, port)
    return ""


def is_evidently_walled(interface: str, manager: str) -> bool:
    """Tell whether this machine's address is private while the manager's is not.

    Then somebody translates addresses in between, and nobody out there can connect to us.
    """
    ours, theirs = ipaddress.ip_address(interface), ipaddress.ip_address(manager)
    return ours.is_private and theirs.is_global


def keep_token(pool: PoolFolder, offered: Offered) -> None:
    """Put the token where the pool's daemons look for it; nobody else can read it there."""
    path = token_path(pool)
    try:
        fd = os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with open(fd, "w", encoding="utf-8", errors=AS_IS) as file:
            os.fchmod(fd, 0o600)
            file.write(f"{offered.line}\n")
        os.rename(path + ".new", path)
    except OSError as error:
        raise StorageError(f"cannot write the token to {path}: {error.strerror}") from None


def token_path(pool: PoolFolder) -> str:
    """Return where a member keeps its token."""
    return os.path.join(pool.folder, "tokens.d", _TOKEN_NAME)


class _NotAskedError(RefusedError):
    """Nobody who takes tokens has answered, so that nothing is known of this one."""


class _Witness(SystemClientCredentials):
    """Credentials that remember to whom they were asked to prove themselves."""

    trust_domain_asked = ""

    def find_token(
        self, trust_domain: str, issuer_keys: tuple[str, ...], address: Sinful
    ) -> Token | None:
        """Note the server's domain; else as the others."""
        self.trust_domain_asked = trust_domain
        return super().find_token(trust_domain, issuer_keys, address)


def check_still_admitted(pool: PoolFolder, now: float) -> None:
    """Ask for a member that was let in before; RefusedError if its token is good no more.

    A central manager that cannot be asked now is waited for by the daemons themselves, and a member
    that keeps no token of ours may have another one.
    """
    with contextlib.suppress(NotFoundError, _NotAskedError, ConnectionLost):
        ask_for_admission(pool, read_token_file(token_path(pool), now))


def ask_for_admission(pool: PoolFolder, offered: Offered) -> None:
    """Ask the central manager, with the token alone, whether this member's daemons may come.

    Raises RefusedError, in a sentence of its own for each reason.
    """
    from kettle.client import daemon
    from kettle.client.connector import Connector
    from kettle.config import load_config
    from kettle.runtime.storage.files import SystemSources
    from kettle.wire.sinful import Sinful

    member = pool.location
    assert isinstance(member, Member)
    environment = pool.environment() | {"_CONDOR_SEC_CLIENT_AUTHENTICATION_METHODS": "IDTOKENS"}
    config = load_config(SystemSources(), environment, subsystem="TOOL")
    connector = Connector(config)
    witness = connector.setup.credentials = _Witness(config)
    where = join_endpoint(member.address, member.port)
    address = Sinful.parse(where)
    refused: list[Level] = []
    for level in member.role.levels:
        if level not in _ASKED:
            continue
        try:
            if not daemon.ping(connector, address, _ASKED[level]).allowed:
                refused.append(level)
        except AuthorizationDenied:
            refused.append(level)
        except KettleError as error:
            raise _explain(where, offered, witness.trust_domain_asked, error) from None
    if refused and not _is_collector(connector, address):
        raise RefusedError(
            f"what listens at {where} is no collector",
            hint="the port is the one that kettle up --host has said, 9618 by default",
        )
    if refused:
        raise RefusedError(
            f"{where} does not let the bearer of this token be a member for {member.role}:"
            f" it refuses {_list(refused)}",
            hint=f"make a token with kettle token --for {member.role}",
        )
    _compare_clocks(connector, address, where)


def _is_collector(connector: Connector, address: Sinful) -> bool:
    """Tell whether what listens there answers what only collectors are asked."""
    from kettle.client.pool import make_query, query_ads

    try:
        query_ads(connector, address, Command.QUERY_COLLECTOR_ADS, make_query("Collector"))
    except AuthorizationDenied:
        # It knows the question.
        return True
    except KettleError:
        return False
    return True


def _explain(where: str, offered: Offered, domain: str, error: KettleError) -> RefusedError:
    """Return in a sentence why a token leads nowhere; `domain` is what the server says it is of."""
    issuer = offered.token.claim("iss")
    if domain and issuer != domain:
        return RefusedError(
            f"the token is for the pool {issuer}, but {where} belongs to the pool {domain}",
            hint=f"kettle token, on the machine of {where}, makes the right one",
        )
    if domain:
        return RefusedError(
            f"{where} does not accept the token in {offered.path}: it was signed with the key of"
            " another pool, or has been revoked, or the clocks are apart",
            hint=f"kettle token, on the machine of {where}, makes another one",
        )
    if isinstance(error, RemoteProtocolError):
        return _NotAskedError(
            f"what listens at {where} is nothing of HTCondor's: {error.message}",
            hint="the port is the one that kettle up --host has said, 9618 by default",
        )
    return _NotAskedError(
        f"{where} does not answer as a collector that takes tokens does: {error.message}"
    )


def _list(levels: Sequence[Level]) -> str:
    return ", ".join(levels)


def _compare_clocks(connector: Connector, address: Sinful, where: str) -> None:
    """Raise RefusedError if the manager's clock and ours are too far apart."""
    from kettle.client.pool import make_query, query_ads

    ads = query_ads(connector, address, Command.QUERY_COLLECTOR_ADS, make_query("Collector"))
    now = time.time()
    for ad in ads:
        theirs = ad.integer("MyCurrentTime")
        if theirs is None:
            continue
        # A real collector's ad may be minutes old; one from the future is wrong anywhere.
        fresh = is_ours(ad.string("CondorVersion"))
        if theirs > now + CLOCK_SECONDS or (fresh and theirs < now - CLOCK_SECONDS):
            raise RefusedError(
                f"the clocks are apart: at {where} it is {_date(theirs)}, here {_date(now)}",
                hint="tokens and leases need clocks that agree within a minute",
            )
