"""Commands that every daemon answers, from a tool: ping, configuration, logs, tokens, shut down.

One function a command. Which daemon is meant is decided by `client.pool`; what is printed by the
tools. Source: wire notes, DaemonCore generic commands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from kettle.classad import ClassAd
from kettle.client.connector import Connector
from kettle.client.stream import BlockingStream
from kettle.errors import AuthorizationDenied, RefusedError, RemoteProtocolError
from kettle.wire.commands import Command
from kettle.wire.messages import daemoncore
from kettle.wire.messages.fields import Message
from kettle.wire.messages.filetransfer import CHUNK, EMPTY_FILE_MARK, MAXIMUM_FILE
from kettle.wire.security.negotiation import display_method
from kettle.wire.security.session import UNAUTHENTICATED, Session
from kettle.wire.sinful import Sinful

REPLY_SECONDS = 60.0


def tell(
    connector: Connector, address: Sinful, command: Command, message: Message | None = None
) -> None:
    """Send a command that has no reply; without `message` it has no arguments either."""
    with connector.connect(
        address, command, force_authentication=command.force_authentication
    ) as stream:
        if message is not None:
            stream.send(message)
        else:
            stream.finish_bare()


def ask_ad(
    connector: Connector,
    address: Sinful,
    command: Command,
    request: ClassAd,
    *,
    private: bool = False,
    timeout: float = REPLY_SECONDS,
) -> ClassAd:
    """Send a command whose argument is an ad and whose reply is an ad."""
    with connector.connect(
        address, command, timeout=timeout, force_authentication=command.force_authentication
    ) as stream:
        stream.send(daemoncore.PrivateRequest(request) if private else daemoncore.Request(request))
        reader = stream.receive()
        answer = reader.ad()
        reader.finish()
        return answer


@dataclass(frozen=True, slots=True)
class Ping:
    """What a daemon grants us: whether, as whom, proven how.

    `encrypted` and `sealed` are what was agreed on. Connections with a key are both anyway.
    `session_ad` is all that was agreed on, under the names by which the reference keeps it.
    """

    allowed: bool
    user: str
    method: str
    encrypted: bool
    sealed: bool
    session_id: str
    remote_version: str
    answer: ClassAd
    valid_commands: frozenset[int] = frozenset()
    common_methods: tuple[str, ...] = ()
    denied: AuthorizationDenied | None = None
    session_ad: ClassAd = field(default_factory=ClassAd)


def ping(
    connector: Connector, address: Sinful, command: int, *, timeout: float = REPLY_SECONDS
) -> Ping:
    """Ask whether we may run `command` there, without running it; `timeout` is in seconds.

    A refusal is a result, not an error; a connection that fails is.
    """
    try:
        stream = connector.connect(
            address, Command.DC_SEC_QUERY, authorized_command=int(command), timeout=timeout
        )
    except AuthorizationDenied as denied:
        answer = ClassAd({"AuthorizationSucceeded": False, "ErrorString": str(denied)})
        return Ping(False, "", "", False, False, "", "", answer, denied=denied)
    with stream:
        reader = stream.receive()
        answer = reader.ad()
        session = stream.session
        assert session is not None
        return Ping(
            answer.boolean("AuthorizationSucceeded") or False,
            session.user,
            session.method,
            "Encryption" in session.agreed,
            "Integrity" in session.agreed,
            session.id,
            session.peer_version,
            answer,
            session.valid_commands,
            session.common_methods,
            session_ad=_describe_session(session, int(command), connector.config.subsystem),
        )


def _describe_session(session: Session, command: int, subsystem: str) -> ClassAd:
    """Return what both sides agreed on when they negotiated a session to ask about `command`."""
    theirs = session.said
    copied = ("AuthMethodsList", "CryptoMethods", "CryptoMethodsList", "IssuerKeys", "TrustDomain")
    values: dict[str, str | int | float | bool] = {
        name: theirs[name] for name in copied if name in theirs
    }
    values |= {
        "AuthCommand": command,
        "Authentication": "YES" if session.method else "NO",
        "AuthMethods": display_method(session.method) or theirs.get("AuthMethods", ""),
        "Command": int(Command.DC_SEC_QUERY),
        "ConnectSinful": session.peer_address,
        "Enact": "YES",
        "Encryption": "YES" if "Encryption" in session.agreed else "NO",
        "Integrity": "YES" if "Integrity" in session.agreed else "NO",
        "MyRemoteUserName": session.user,
        "NegotiatedSession": True,
        "OutgoingNegotiation": theirs.get("OutgoingNegotiation", "PREFERRED"),
        "RemoteVersion": session.peer_version,
        "SessionDuration": theirs.get("SessionDuration", ""),
        "SessionLease": session.lease_seconds,
        "Sid": session.id,
        "Subsystem": subsystem,
        "TrackState": True,
        "User": UNAUTHENTICATED,
        "UseSession": "YES",
        "ValidCommands": ",".join(map(str, sorted(session.valid_commands))),
    }
    if session.method:
        values["TriedAuthentication"] = True
    return ClassAd(dict(sorted(values.items(), key=lambda item: item[0].lower())))


def read_config_value(connector: Connector, address: Sinful, name: str) -> str | None:
    """Return the value of a configuration name in a daemon, None if it is not defined there."""
    with connector.connect(address, Command.CONFIG_VAL) as stream:
        stream.send(daemoncore.ConfigValue(name))
        value = daemoncore.ConfigValueReply.read(stream.receive()).value
    return None if value is None or value == daemoncore.NOT_DEFINED else value


def read_config_details(connector: Connector, address: Sinful, name: str) -> list[str]:
    """Return value, `NAME = raw text`, source, default and use of a name; empty if not defined.

    `?names[:regex]` and the other special names give one string each.
    """
    with connector.connect(address, Command.DC_CONFIG_VAL) as stream:
        stream.send(daemoncore.ConfigValue(name))
        strings = daemoncore.DaemonConfigValueReply.read(stream.receive()).strings
    if strings == [None]:
        return []
    return [text or "" for text in strings]


def set_config(
    connector: Connector, address: Sinful, name: str, setting: str, *, persistent: bool
) -> None:
    """Set a name (`setting` is `NAME = value`; empty unsets it); RefusedError if not allowed."""
    command = Command.DC_CONFIG_PERSIST if persistent else Command.DC_CONFIG_RUNTIME
    with connector.connect(address, command, force_authentication=True) as stream:
        stream.send(daemoncore.SetConfig(name.lower(), setting))
        code = daemoncore.SetConfigReply.read(stream.receive()).code
    if code < 0:
        raise RefusedError(f"{address} does not let {name} be set", code=code)


_LOG_REFUSALS = {
    daemoncore.LogResult.NO_NAME: "has no log of that name",
    daemoncore.LogResult.CANNOT_OPEN: "cannot open that log",
    daemoncore.LogResult.BAD_KIND: "does not know that kind of log",
}


def fetch_log(
    connector: Connector,
    address: Sinful,
    name: str,
    kind: daemoncore.LogKind = daemoncore.LogKind.PLAIN,
) -> Iterator[bytes]:
    """Yield a daemon's log piece by piece; RefusedError if it has none of that name."""
    with connector.connect(address, Command.DC_FETCH_LOG, timeout=REPLY_SECONDS) as stream:
        stream.send(daemoncore.FetchLog(int(kind), name))
        reply = daemoncore.FetchLogReply.read(stream.receive())
        if reply.result != daemoncore.LogResult.OK or reply.size is None:
            why = _LOG_REFUSALS.get(daemoncore.LogResult(reply.result), "refused")
            raise RefusedError(f"{address} {why}: {name}", code=reply.result)
        yield from receive_file(stream, reply.size)


def receive_file(stream: BlockingStream, size: int) -> Iterator[bytes]:
    """Yield the body of a file whose size message has been read."""
    if not 0 <= size <= MAXIMUM_FILE:
        raise RemoteProtocolError(f"a file has {size} bytes")
    if size == 0:
        if stream.receive().integer() != EMPTY_FILE_MARK:
            raise RemoteProtocolError("an empty file has no mark")
        return
    left = size
    while left > 0:
        if stream.encrypted:
            piece = stream.receive().rest()
        else:
            piece = stream.receive_raw(min(left, CHUNK))
        left -= len(piece)
        if left < 0:
            raise RemoteProtocolError("a file is longer than announced")
        yield piece


# Tokens.


def request_session_token(
    connector: Connector,
    address: Sinful,
    *,
    levels: str = "",
    lifetime_seconds: int = -1,
    key_id: str = "",
) -> str:
    """Have a daemon issue a token for the identity we have there."""
    request = ClassAd()
    if levels:
        request["LimitAuthorization"] = levels
    if lifetime_seconds >= 0:
        request["TokenLifetime"] = lifetime_seconds
    if key_id:
        request["RequestedKey"] = key_id
    answer = ask_ad(connector, address, Command.DC_GET_SESSION_TOKEN, request)
    return _token(answer)


def request_schedds_token(
    connector: Connector,
    collector: Sinful,
    *,
    schedd: str,
    levels: str = "",
    lifetime_seconds: int = -1,
) -> str:
    """Have a collector fetch a token for us from a schedd that only it can reach.

    Only schedds with SEC_ENABLE_IMPERSONATION_TOKENS give collectors such tokens; RefusedError.
    """
    request = ClassAd({"Name": schedd})
    if levels:
        request["LimitAuthorization"] = levels
    if lifetime_seconds >= 0:
        request["TokenLifetime"] = lifetime_seconds
    return _token(ask_ad(connector, collector, Command.IMPERSONATION_TOKEN_REQUEST, request))


def _token(answer: ClassAd) -> str:
    """Return the token of an answer, or raise what it says went wrong."""
    code = answer.integer("ErrorCode") or 0
    if code:
        text = answer.string("ErrorString") or f"error {code}"
        raise RefusedError(text, code=code)
    return answer.string("Token") or ""


def start_token_request(
    connector: Connector,
    address: Sinful,
    *,
    client_id: str,
    user: str = "",
    levels: str = "",
    lifetime_seconds: int = -1,
) -> tuple[str, str]:
    """Ask for a token; returns (token, "") if it is granted at once, else ("", request id)."""
    request = ClassAd({"ClientId": client_id})
    if user:
        request["User"] = user
    if levels:
        request["LimitAuthorization"] = levels
    if lifetime_seconds >= 0:
        request["TokenLifetime"] = lifetime_seconds
    answer = ask_ad(connector, address, Command.DC_START_TOKEN_REQUEST, request)
    return _token(answer), answer.string("RequestId") or ""


def finish_token_request(
    connector: Connector, address: Sinful, *, client_id: str, request_id: str
) -> str:
    """Fetch the token of a request; empty while nobody has approved it."""
    request = ClassAd({"ClientId": client_id, "RequestId": request_id})
    return _token(ask_ad(connector, address, Command.DC_FINISH_TOKEN_REQUEST, request))


def list_token_requests(
    connector: Connector, address: Sinful, request_id: str = ""
) -> list[ClassAd]:
    """Return the requests that wait at a daemon, or the one of this id."""
    request = ClassAd({"RequestId": request_id} if request_id else {})
    found: list[ClassAd] = []
    command = Command.DC_LIST_TOKEN_REQUEST
    with connector.connect(address, command, force_authentication=True) as stream:
        stream.send(daemoncore.TokenRequest(request))
        while True:
            ad = stream.receive().ad()
            if ad.integer("Owner") == 0:
                _token(ad)
                return found
            found.append(ad)


def approve_token_request(
    connector: Connector, address: Sinful, *, client_id: str, request_id: str
) -> None:
    """Approve a request; RefusedError if the daemon does not."""
    request = ClassAd({"ClientId": client_id, "RequestId": request_id})
    _token(ask_ad(connector, address, Command.DC_APPROVE_TOKEN_REQUEST, request))
