"""Connections to daemons, for tools: who we are, how we dial, which session we use.

One `Connector` a process. It negotiates with `wire.security`, keeps sessions for as long as the
process lives and uses them again. What is said on a connection is its caller's.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from typing import TYPE_CHECKING, Any

from kettle.client.stream import BlockingStream
from kettle.errors import (
    ConnectionLost,
    KettleError,
    NotConnected,
    RemoteProtocolError,
    SessionUnknown,
    Unreached,
)
from kettle.levels import Level
from kettle.octets import to_bytes
from kettle.runtime.credentials import SystemClientCredentials
from kettle.runtime.sockets.addresses import choose_route
from kettle.wire.security.client_side import (
    ClientSetup,
    authenticates_inline,
    begins_bare,
    client_handshake,
    client_inline_authentication,
)
from kettle.wire.security.negotiation import read_policy
from kettle.wire.security.session import Session, SessionCache
from kettle.wire.sinful import Sinful

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType

    from kettle.config import Config
    from kettle.wire.security.claim_id import ClaimId

CONNECT_SECONDS = 20.0
# How long a key of administrators is used; the daemon may have forgotten it sooner.
CAPABILITY_SECONDS = 1800.0


class Connector:
    """Opens connections under one configuration.

    `trace`, if any, is told what happens: a category such as D_SECURITY, and a line for it.
    """

    def __init__(self, config: Config, trace: Callable[[str, str], None] | None = None) -> None:
        self.config = config
        self._trace = trace
        self._sessions = SessionCache()
        self._setup: ClientSetup | None = None

    @property
    def setup(self) -> ClientSetup:
        """What this process brings to a negotiation."""
        if self._setup is None:
            config = self.config
            self._setup = ClientSetup(
                policy=read_policy(config.get, Level.CLIENT, subsystem=config.subsystem),
                credentials=SystemClientCredentials(config),
                random_bytes=os.urandom,
                subsystem=config.subsystem,
                process_id=os.getpid(),
                uid_domain=config.get("UID_DOMAIN") or "",
                claims_domain=config.boolean("SEC_CLAIMTOBE_INCLUDE_DOMAIN") is not False,
            )
        return self._setup

    def connect(
        self,
        address: Sinful | str,
        command: int,
        *,
        session: ClaimId | None = None,
        timeout: float = CONNECT_SECONDS,
        force_authentication: bool = False,
        authorized_command: int | None = None,
    ) -> BlockingStream:
        """Open a connection and have `command` accepted; its arguments are what is sent next.

        `session` is a claim whose session to use; `authorized_command` is the command really meant
        where `command` is DC_SEC_QUERY. A session that the daemon has forgotten is negotiated
        anew, once. `timeout` bounds each wait for the daemon once it has accepted the command;
        until then it has CONNECT_SECONDS each time. Raises ConnectionLost, AuthenticationFailed,
        AuthorizationDenied, RemoteProtocolError, and SessionUnknown where a claim's session is not
        known.
        """
        sinful = Sinful.parse(address) if isinstance(address, str) else address
        if session is not None:
            return self._connect(
                sinful, command, session.session(""), timeout, force_authentication, None
            )
        known = self._sessions.find_for(str(sinful), command, time.time())
        if known is not None and authorized_command is None:
            try:
                return self._connect(sinful, command, known, timeout, force_authentication, None)
            except (SessionUnknown, ConnectionLost):
                self._sessions.forget(known.id)
        return self._connect(
            sinful, command, None, timeout, force_authentication, authorized_command
        )

    def remember(self, capability: ClaimId, address: Sinful) -> None:
        """Use the session that a daemon's ad gives administrators for what it is good for.

        Raises RemoteProtocolError if there is none in it.
        """
        from kettle.wire.security.claim_id import COLLECTOR_SIDE  # few tools command a daemon

        session = capability.session(COLLECTOR_SIDE, expires_at=time.time() + CAPABILITY_SECONDS)
        self._sessions.add(session, address=str(address), named_by_peer=True)

    def remember_own_job(self, schedd: Sinful) -> None:
        """Use the session by which this schedd knows whom it runs, where we run in such a job.

        The schedd tells a scheduler-universe job of it in the environment; it is good for what the
        job's user may do there. Without one, or with what is none, nothing changes.

        Compat: of the reference's programs condor_dagman alone uses it; here each does that finds
        the schedd by its address file
        (test_a_job_beside_the_schedd_is_known_there_by_the_session_in_its_environment).
        """
        # Spelt out: the table of secrets (`SECURITY_SESSION`) would be loaded by each tool.
        text = self.config.environment.get("CONDOR_SECURITY_SESSION")
        if text is None:
            return
        from kettle.wire.security.claim_id import ClaimId  # few tools run in such a job

        with contextlib.suppress(RemoteProtocolError):
            session = ClaimId(text).session("")
            self._sessions.add(session, address=str(schedd))

    def _connect(
        self,
        sinful: Sinful,
        command: int,
        session: Session | None,
        timeout: float,
        force_authentication: bool,
        authorized_command: int | None,
    ) -> BlockingStream:
        route = choose_route(self.config, sinful)
        # A daemon that stands still accepts connections and says nothing; work that takes long is
        # done behind the handshake.
        stream = self._reach(route, min(timeout, CONNECT_SECONDS))
        resumed = session is not None
        try:
            if not route.ccb_contacts:
                self._pass_shared_port(stream, route)
            if begins_bare(self.setup.policy, session, authorized_command):
                if authenticates_inline(command):
                    stream.run(client_inline_authentication(self.setup, sinful, command))
                else:
                    stream.begin_bare(command)
                stream.timeout = timeout
                return stream
            self._tell(lambda notes: notes.note_start(command, str(sinful), resumed=resumed))
            stream.session = stream.run(
                client_handshake(
                    self.setup,
                    sinful,
                    command,
                    time.time(),
                    session=session,
                    authorized_command=authorized_command,
                    force_authentication=force_authentication,
                    server_end=stream.remote_end if route.ccb_contacts else "",
                )
            )
        except KettleError as error:
            stream.close()
            if isinstance(error, Unreached):
                error.address = str(sinful)
            why = str(error)
            self._tell(lambda notes: notes.note_failure(why))
            raise
        except BaseException:
            stream.close()
            raise
        self._tell(lambda notes: notes.note_client(stream.session, time.time(), resumed=resumed))
        stream.timeout = timeout
        if session is None:
            self._sessions.add(stream.session, address=str(sinful), named_by_peer=True)
        return stream

    def _tell(self, say: Callable[[ModuleType], Iterable[str]]) -> None:
        """Have `wire.security.notes` say what happened, if anybody listens."""
        if self._trace is None:
            return
        from kettle.wire.security import notes  # few say -debug

        for line in say(notes):
            self._trace("D_SECURITY", line)

    def _reach(self, route: Sinful, timeout: float) -> BlockingStream:
        """Open a connection in whichever direction it goes."""
        if not route.ccb_contacts:
            return open_stream(route, timeout)
        from kettle.client.reversed import open_reversed  # only few daemons are behind a wall

        return open_reversed(
            lambda address, command, seconds: self.connect(address, command, timeout=seconds),
            route,
            timeout,
        )

    def _pass_shared_port(self, stream: BlockingStream, sinful: Sinful) -> None:
        """Say whom we want behind a shared port; this is no part of the conversation."""
        if sinful.shared_port_id is not None:
            from kettle.wire.shared_port import connect_through  # few daemons are behind one

            stream.run(connect_through(sinful))


def open_stream(sinful: Sinful, timeout: float) -> BlockingStream:
    """Connect to an address; NotConnected says which and why."""
    try:
        # A name in bytes spares the tables for names in other scripts, 4 ms.
        host: Any = to_bytes(sinful.host) if sinful.host.isascii() else sinful.host
        sock = socket.create_connection((host, sinful.port), timeout=timeout)
    except TimeoutError:
        raise NotConnected(
            f"{sinful} did not answer within {timeout:.0f} s", address=str(sinful)
        ) from None
    except OSError as error:
        why = error.strerror or str(error)
        raise NotConnected(f"cannot connect to {sinful}: {why}", address=str(sinful)) from None
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return BlockingStream(sock, remote_name=str(sinful), timeout=timeout)
