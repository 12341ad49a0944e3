"""`SecurityContext` and `ping`: how we prove who we are, and what a daemon makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.classad import ClassAd as Ad
from kettle.compat.classad2 import ClassAd
from kettle.compat.classad2.ads import of_engine
from kettle.compat.htcondor2.addresses import sinful_of
from kettle.compat.htcondor2.errors import HTCondorException, said_as
from kettle.compat.htcondor2.process import PROCESS
from kettle.errors import NotConnected
from kettle.levels import Level
from kettle.wire.commands import Command
from kettle.wire.security.negotiation import display_method
from kettle.wire.security.session import UNAUTHENTICATED

if TYPE_CHECKING:
    from kettle.client.daemon import Ping


class SecurityContext:
    """What is to be used for connections instead of what the configuration says: a token."""

    def __init__(self, token: str | None = None) -> None:
        """Take the token itself, not the name of its file."""
        self._token = token

    @property
    def preferred_token(self) -> str | None:
        """The token that is tried before all others."""
        return self._token

    @preferred_token.setter
    def preferred_token(self, token: str | None = None) -> None:
        self._token = token


def ping(
    location: str | ClassAd, authz: str | None = None, security: SecurityContext | None = None
) -> ClassAd:
    """Ask a daemon whether we may run a command, or one of a level, there; DC_NOP if none is named.

    The answer has AuthorizationSucceeded, and what was agreed on for the session.
    """
    address = location if isinstance(location, str) else location.get("MyAddress")
    if address is None:
        raise ValueError("Address not available in location argument.")
    command = command_of(authz or "DC_NOP")
    from kettle.client.daemon import ping as ask

    connector = PROCESS.connector_for(None if security is None else security.preferred_token)
    with said_as(
        lambda error: (
            "Unable to connect to the remote daemon."
            if isinstance(error, NotConnected)
            else "Failed to start command."
        )
    ):
        found = ask(connector, sinful_of(address), command)
    if found.denied is not None:
        raise HTCondorException("Failed to start command.") from found.denied
    return of_engine(_policy_of(found, command))


def command_of(word: str) -> int:
    """Return a command by name, or the one that asks for nothing but a level; HTCondorException."""
    name = word.upper()
    if name == "ALLOW":
        return int(Command.DC_NOP)
    for found in (f"DC_NOP_{name}" if name in Level.__members__ else "", name):
        if found in Command.__members__:
            return int(Command[found])
    raise HTCondorException("Unable to determine DaemonCore command value.")


def _policy_of(found: Ping, command: int) -> Ad:
    """Return the daemon's answer with what was agreed on, under the names that the wheel shows."""
    ad = found.answer
    config = PROCESS.config
    values: dict[str, object] = {
        "AuthCommand": command,
        "Command": int(Command.DC_AUTHENTICATE),
        "Enact": "YES",
        "UseSession": "YES",
        "NegotiatedSession": True,
        "Subsystem": config.subsystem,
        "TrustDomain": config.get("TRUST_DOMAIN") or "",
        "Sid": found.session_id,
        "User": UNAUTHENTICATED,
        "MyRemoteUserName": found.user,
        "Authentication": "YES" if found.method else "NO",
        "TriedAuthentication": bool(found.method),
        "AuthMethods": display_method(found.method),
        "AuthMethodsList": ",".join(found.common_methods),
        "Encryption": "YES" if found.encrypted else "NO",
        "Integrity": "YES" if found.sealed else "NO",
        "CryptoMethods": "AES",
        "RemoteVersion": found.remote_version,
        "ValidCommands": ",".join(map(str, sorted(found.valid_commands))),
    }
    for name, value in values.items():
        ad[name] = value
    return ad
