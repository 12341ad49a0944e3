"""The two halves of a negotiation against each other, for every method and verdict."""

from __future__ import annotations

import os
import random
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from secrets import token_bytes
from typing import Any

import pytest

from kettle.errors import (
    AuthenticationFailed,
    AuthorizationDenied,
    ConnectionLost,
    RemoteProtocolError,
    SessionUnknown,
)
from kettle.levels import Level
from kettle.testing.dialogs import Outcome, converse
from kettle.wire.channel import Channel
from kettle.wire.commands import Command
from kettle.wire.dialog import Dialog, Receive, Send, Words
from kettle.wire.security.authorization import Authorization
from kettle.wire.security.claim_id import SUBMIT_SIDE, ClaimId, mint_claim_id
from kettle.wire.security.client_side import (
    ClientSetup,
    client_handshake,
    client_inline_authentication,
)
from kettle.wire.security.mapfile import parse_mapfile
from kettle.wire.security.methods import fs
from kettle.wire.security.methods.context import DirectoryFacts, ServerContext, Token
from kettle.wire.security.negotiation import Policy, Wish
from kettle.wire.security.notes import note_server
from kettle.wire.security.server_setup import Accepted, Registered, ServerSetup
from kettle.wire.security.server_side import authorize_next, server_handshake
from kettle.wire.security.session import LONGEST_WORD, Session, SessionCache
from kettle.wire.security.tokens import mint_token, parse_token
from kettle.wire.sinful import Sinful

ADDRESS = Sinful.parse("<127.0.0.1:9618?addrs=127.0.0.1-9618&alias=submit&noUDP&sock=schedd_1_a>")
KEY = bytes(range(64)) * 2
NOW = 1_800_000_000.0

Both = tuple[Outcome[Session], Outcome[Accepted]]


class Credentials:
    """Both sides' credentials, on a scratch directory."""

    def __init__(self, token: str | None = None, password: bytes | None = None) -> None:
        self.token = token
        self.password = password
        self.revoked = False
        self.name = "alice"

    def make_directory(self, path: str) -> None:
        Path(path).mkdir(mode=0o700)

    def remove_directory(self, path: str) -> None:
        Path(path).rmdir()

    def inspect_directory(self, path: str) -> DirectoryFacts | None:
        facts = os.lstat(path)
        return DirectoryFacts(
            stat.S_ISDIR(facts.st_mode), stat.S_IMODE(facts.st_mode), facts.st_nlink, 1234
        )

    def user_of(self, uid: int) -> str | None:
        return "alice" if uid == 1234 else None

    def user_name(self) -> str:
        return self.name

    def find_token(
        self, trust_domain: str, issuer_keys: tuple[str, ...], address: Sinful
    ) -> Token | None:
        del address
        if self.token is None or trust_domain != "pool" or "POOL" not in issuer_keys:
            return None
        parsed = parse_token(self.token)
        return Token(parsed.signed_text, parsed.signature, parsed.claim("sub"))

    def issuer_keys(self) -> tuple[str, ...]:
        return ("POOL",)

    def trust_domain(self) -> str:
        return "pool"

    def signing_key(self, key_id: str) -> bytes | None:
        return KEY if key_id == "POOL" else None

    def token_is_revoked(self, claims: Mapping[str, str | int]) -> bool:
        return self.revoked

    def pool_password(self) -> bytes | None:
        return self.password

    def tls_context(self) -> None:
        return None

    def skip_host_check(self) -> bool:
        return False


def token(subject: str = "alice@pool", **claims: Any) -> str:
    return mint_token(
        KEY,
        key_id="POOL",
        issuer="pool",
        subject=subject,
        issued_at=int(NOW),
        token_id="00" * 16,
        **claims,
    )


def make_server(
    tmp_path: Path,
    policy: Policy | None = None,
    settings: dict[str, str] | None = None,
    **changes: Any,
) -> ServerSetup:
    settings = settings or {"ALLOW_READ": "*", "ALLOW_WRITE": "*@pool", "ALLOW_DAEMON": "d@pool"}
    levels = dict.fromkeys(Level, policy or Policy())
    names = ("QUERY_JOB_ADS", "ACT_ON_JOBS", "REQUEST_CLAIM", "DC_NOP_READ", "DC_NOP_WRITE")
    registered = {}
    for name in names:
        command = Command[name]
        registered[int(command)] = Registered(command.levels(), command.force_authentication)
    values = {
        "policies": levels,
        "registered": registered,
        "authorization": Authorization.from_settings(settings.get, "SCHEDD"),
        "sessions": SessionCache(),
        "credentials": Credentials(password=b"open sesame"),
        "addresses": (ADDRESS,),
        "random_bytes": random.Random(1).randbytes,
        "session_name": "host:1:2",
        "uid_domain": "pool",
        "trust_domain": "pool",
        "fs_directory": str(tmp_path),
    }
    return ServerSetup(**(values | changes))


def make_client(policy: Policy | None = None, **credentials: Any) -> ClientSetup:
    return ClientSetup(
        policy or Policy(),
        Credentials(**credentials),
        random.Random(2).randbytes,
        uid_domain="pool",
        process_id=7,
    )


def negotiate(
    client: ClientSetup, server: ServerSetup, command: str = "QUERY_JOB_ADS", **options: Any
) -> Both:
    client_side = client_handshake(client, ADDRESS, Command[command], NOW, **options)
    server_side = server_handshake(server, "10.0.0.1", NOW)
    return converse(client_side, server_side)


METHODS = {
    "FS": ({}, "alice@pool"),
    "TOKEN": ({"token": token()}, "alice@pool"),
    "PASSWORD": ({"password": b"open sesame"}, "condor@password"),
    "CLAIMTOBE": ({}, "alice@pool"),
    "ANONYMOUS": ({}, "CONDOR_ANONYMOUS_USER"),
}


@pytest.mark.parametrize("crypto", [("AES",), ()], ids=["encrypted", "clear"])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_both_sides_the_same_session(
    tmp_path: Path, method: str, crypto: tuple[str, ...]
) -> None:
    credentials, user = METHODS[method]
    policy = Policy(methods=(method,), authentication=Wish.REQUIRED, crypto=crypto)
    client, server = make_client(policy, **credentials), make_server(tmp_path, policy)
    ours, theirs = negotiate(client, server)
    session, accepted = ours.result(), theirs.result()
    assert accepted.peer.user == session.user == user
    assert accepted.peer.method == session.method == method
    assert session.key == accepted.session.key
    assert (session.key is not None) == bool(crypto)
    assert accepted.command == Command.QUERY_JOB_ADS
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("method", ["FS", "TOKEN", "PASSWORD", "CLAIMTOBE"])
def test_without_ecdh_the_server_sends_a_wrapped_key(tmp_path: Path, method: str) -> None:
    policy = Policy(methods=(method,), authentication=Wish.REQUIRED)
    credentials, _ = METHODS[method]
    client, server = make_client(policy, **credentials), make_server(tmp_path, policy)

    class NoKeys:
        public = ""

        def shared_key(self, peer_public: str) -> bytes:
            raise AssertionError

    client.make_keys = NoKeys
    ours, theirs = negotiate(client, server)
    assert ours.result().key == theirs.result().session.key is not None


def test_a_session_keeps_little_of_what_its_client_says_of_itself(tmp_path: Path) -> None:
    policy = Policy(methods=("CLAIMTOBE",))
    client, server = make_client(policy), make_server(tmp_path, policy)
    endless = "x" * 60_000
    client.version, client.subsystem, client.own_address = endless, endless, endless
    sessions = [negotiate(client, server)[1].result().session for _ in range(2)]
    assert all(session is not None for session in sessions)
    for session in server.sessions.sessions():
        said = session.peer_version + session.peer_address + session.subsystem
        assert len(said) <= 2 * LONGEST_WORD
    # What may be run in them is known once.
    assert sessions[0].valid_commands is sessions[1].valid_commands


CALLED_BACK = "10.0.0.7:40123"


def meet_by_fs(tmp_path: Path, *, own_end: str = "", server_end: str = "") -> Both:
    policy = Policy(methods=("FS",), authentication=Wish.REQUIRED)
    return converse(
        client_handshake(
            make_client(policy),
            ADDRESS,
            Command.QUERY_JOB_ADS,
            NOW,
            server_end=server_end,
        ),
        server_handshake(make_server(tmp_path, policy), "10.0.0.1", NOW, own_end=own_end),
    )


def test_fs_is_bound_to_the_end_from_which_the_server_called(tmp_path: Path) -> None:
    _, called = meet_by_fs(tmp_path, own_end=CALLED_BACK, server_end=CALLED_BACK)
    assert called.result().peer.user == "alice@pool"
    _, dialed = meet_by_fs(tmp_path, own_end=CALLED_BACK)
    assert dialed.result().peer.user == "alice@pool"
    between, refused = meet_by_fs(tmp_path, own_end=CALLED_BACK, server_end="10.0.0.9:40123")
    assert isinstance(between.error, AuthenticationFailed)
    assert isinstance(refused.error, AuthenticationFailed)
    assert list(tmp_path.iterdir()) == []


def serve_fs(tmp_path: Path, answer: Callable[[str], Words]) -> tuple[str, Outcome[Any]]:
    """Have the server's side of FS meet a client that makes the directory as it was named."""
    server = make_server(tmp_path)
    context = ServerContext(
        server.credentials,
        server.addresses,
        server.random_bytes,
        NOW,
        "pool",
        fs_directory=server.fs_directory,
        own_end=CALLED_BACK,
    )

    def client() -> Dialog[str]:
        path: str = (yield Receive()).string()
        Path(path).mkdir(mode=0o700)
        yield Send(answer(path))
        yield Receive()
        Path(path).rmdir()
        return path

    theirs, ours = converse(client(), fs.server(context))
    return theirs.result(), ours


def test_a_client_that_binds_fs_to_nothing_is_known_by_the_directory_alone(tmp_path: Path) -> None:
    path, ours = serve_fs(tmp_path, lambda _: Words(0))
    assert ours.result().name == "alice"
    # Whoever looks for the server's address in the name finds the one it sees.
    assert Path(path).name.startswith("FS_10.0.0.7_40123_")
    # What it says to have appended must be there.
    _, ours = serve_fs(tmp_path, lambda _: Words(0, CALLED_BACK))
    assert ours.result() is None


def test_a_failed_method_is_followed_by_the_next(tmp_path: Path) -> None:
    policy = Policy(methods=("TOKEN", "PASSWORD", "FS"), authentication=Wish.REQUIRED)
    ours, theirs = negotiate(make_client(policy), make_server(tmp_path, policy))
    assert ours.result().method == "FS"
    assert theirs.result().peer.user == "alice@pool"


@pytest.mark.parametrize(
    ("line", "method", "user"),
    [(token("execute@members"), "TOKEN", "execute@members"), (None, "FS", "alice@pool")],
)
def test_a_client_tries_its_first_method_whatever_the_server_prefers(
    tmp_path: Path, line: str | None, method: str, user: str
) -> None:
    wish = Policy(methods=("FS", "TOKEN"), authentication=Wish.REQUIRED)
    server = make_server(tmp_path, wish)
    plain, _ = negotiate(make_client(wish, token=line), server)
    assert plain.result().method == "FS"
    # A method that the server does not have is none to begin with.
    first = wish._replace(first=("PASSWORD", "TOKEN"))
    ours, theirs = negotiate(make_client(first, token=line), server)
    assert ours.result().method == method
    assert theirs.result().peer.user == user


def test_no_common_method_fails_when_authentication_is_required(tmp_path: Path) -> None:
    client = make_client(Policy(methods=("PASSWORD",), authentication=Wish.REQUIRED))
    server = make_server(tmp_path, Policy(methods=("FS",)))
    ours, theirs = negotiate(client, server)
    assert isinstance(theirs.error, AuthenticationFailed)
    with pytest.raises(AuthenticationFailed, match="no method in common"):
        ours.result()


def test_what_failed_is_told_in_the_servers_order_with_its_reasons(tmp_path: Path) -> None:
    policy = Policy(methods=("PASSWORD", "TOKEN"), authentication=Wish.REQUIRED)
    server = make_server(tmp_path, Policy(methods=("TOKEN", "PASSWORD")))
    ours, theirs = negotiate(make_client(policy), server)
    assert isinstance(ours.error, AuthenticationFailed)
    assert ours.error.tried == ("TOKEN", "PASSWORD")
    assert "IDTOKENS, PASSWORD" in str(ours.error)
    assert isinstance(theirs.error, AuthenticationFailed)


def test_optional_authentication_that_fails_leaves_the_peer_unauthenticated(tmp_path: Path) -> None:
    client = make_client(Policy(methods=("TOKEN",), authentication=Wish.PREFERRED))
    server = make_server(tmp_path, Policy(methods=("TOKEN",)))
    ours, theirs = negotiate(client, server)
    assert ours.result().user == theirs.result().peer.user == "unauthenticated@unmapped"
    assert ours.result().key is not None


def test_a_wrong_signature_is_told_by_closing(tmp_path: Path) -> None:
    policy = Policy(methods=("TOKEN",), authentication=Wish.REQUIRED)
    forged = token()[:-6] + "AAAAAA"
    ours, theirs = negotiate(make_client(policy, token=forged), make_server(tmp_path, policy))
    assert isinstance(ours.error, AuthenticationFailed)
    assert theirs.error is not None


def test_a_token_that_has_ended_is_refused(tmp_path: Path) -> None:
    policy = Policy(methods=("TOKEN",), authentication=Wish.REQUIRED)
    client = make_client(policy, token=token(lifetime_seconds=0))
    _, theirs = negotiate(client, make_server(tmp_path, policy))
    assert isinstance(theirs.error, AuthenticationFailed)
    assert "expired" in str(theirs.error)


def test_a_revoked_token_is_refused(tmp_path: Path) -> None:
    policy = Policy(methods=("TOKEN",), authentication=Wish.REQUIRED)
    server = make_server(tmp_path, policy)
    server.credentials.revoked = True
    _, theirs = negotiate(make_client(policy, token=token()), server)
    assert isinstance(theirs.error, AuthenticationFailed)
    assert "revoked" in str(theirs.error)


def resume(client: ClientSetup, server: ServerSetup, session: Session, now: float) -> Both:
    ours = client_handshake(client, ADDRESS, Command.QUERY_JOB_ADS, now, session=session)
    return converse(ours, server_handshake(server, "10.0.0.1", now))


@pytest.mark.parametrize(
    ("lifetime", "maximum_age"), [(100, 0), (None, 100), (3600, 100)], ids=["exp", "age", "both"]
)
def test_a_session_ends_with_its_token(
    tmp_path: Path, lifetime: int | None, maximum_age: int
) -> None:
    policy = Policy(methods=("TOKEN",), authentication=Wish.REQUIRED)
    client = make_client(policy, token=token(lifetime_seconds=lifetime))
    server = make_server(tmp_path, policy, token_maximum_age_seconds=maximum_age)
    session, accepted = (each.result() for each in negotiate(client, server))
    assert resume(client, server, session, NOW + 99)[1].result().resumed
    read = int(Command.DC_NOP_READ)
    assert authorize_next(server, accepted, read, NOW + 99).user == "alice@pool"
    assert isinstance(resume(client, server, session, NOW + 101)[0].error, SessionUnknown)
    with pytest.raises(AuthenticationFailed, match="good no more"):
        authorize_next(server, accepted, read, NOW + 101)


def test_the_end_of_a_token_is_read_by_the_clock_that_it_was_signed_by(tmp_path: Path) -> None:
    """The sessions' clock may be another than the wall's."""
    policy = Policy(methods=("TOKEN",), authentication=Wish.REQUIRED)
    client = make_client(policy, token=token(lifetime_seconds=100))
    server = make_server(tmp_path, policy)
    ours = client_handshake(client, ADDRESS, Command.QUERY_JOB_ADS, NOW)
    theirs = server_handshake(server, "10.0.0.1", NOW - 5000, set_ahead=5000)
    session = converse(ours, theirs)[0].result()
    assert server.sessions.look_up(session.id, NOW - 4901) is not None
    assert server.sessions.look_up(session.id, NOW - 4900) is None


def test_the_sessions_of_a_revoked_token_end_and_no_others(tmp_path: Path) -> None:
    policy = Policy(methods=("TOKEN", "FS"), authentication=Wish.REQUIRED)
    server = make_server(tmp_path, policy)
    by_token, by_account = (
        make_client(Policy(methods=(method,), authentication=Wish.REQUIRED), token=token())
        for method in ("TOKEN", "FS")
    )
    revoked, accepted = (each.result() for each in negotiate(by_token, server))
    kept = negotiate(by_account, server)[0].result()
    asked: list[object] = []

    def is_revoked(claims: object) -> bool:
        asked.append(claims)
        return True

    assert [one.id for one in server.sessions.end_proofs(is_revoked)] == [revoked.id]
    assert asked == [{"iat": int(NOW), "iss": "pool", "jti": "00" * 16, "sub": "alice@pool"}]
    assert isinstance(resume(by_token, server, revoked, NOW)[0].error, SessionUnknown)
    assert resume(by_account, server, kept, NOW)[1].result().resumed
    with pytest.raises(AuthenticationFailed, match="good no more"):
        authorize_next(server, accepted, int(Command.DC_NOP_READ), NOW)


def test_a_scope_limits_the_levels(tmp_path: Path) -> None:
    policy = Policy(methods=("TOKEN",), authentication=Wish.REQUIRED)
    reader = token(levels=["READ"])
    ours, theirs = negotiate(make_client(policy, token=reader), make_server(tmp_path, policy))
    assert theirs.result().peer.attributes[0][0] == "AuthTokenIssuer"
    ours, theirs = negotiate(
        make_client(policy, token=reader), make_server(tmp_path, policy), "ACT_ON_JOBS"
    )
    assert isinstance(ours.error, AuthorizationDenied)
    assert isinstance(theirs.error, AuthorizationDenied)


def test_claimtobe_refuses_names_that_only_sessions_grant(tmp_path: Path) -> None:
    policy = Policy(methods=("CLAIMTOBE",), authentication=Wish.REQUIRED)
    for name in ("condor@family", "x@matchsession", "condor@password", "condor@CHILD"):
        client = make_client(policy)
        client.credentials.name = name
        ours, theirs = negotiate(client, make_server(tmp_path, policy))
        assert ours.error is not None
        assert theirs.error is not None


def test_a_mapfile_names_the_peer(tmp_path: Path) -> None:
    policy = Policy(methods=("CLAIMTOBE",), authentication=Wish.REQUIRED)
    mapfile = parse_mapfile("CLAIMTOBE ^(.*)@pool$ u_\\1@other\n")
    server = make_server(tmp_path, policy, {"ALLOW_READ": "u_alice@other"}, mapfile=mapfile)
    ours, _ = negotiate(make_client(policy), server)
    assert ours.result().user == "u_alice@other"


def test_a_claim_without_a_domain_is_mapped_as_it_came(tmp_path: Path) -> None:
    policy = Policy(methods=("CLAIMTOBE",), authentication=Wish.REQUIRED)
    mapfile = parse_mapfile("CLAIMTOBE ^(.*)$ u_\\1@other\n")
    for claims_domain, user in ((False, "u_alice@other"), (True, "u_alice@pool@other")):
        rules = {"ALLOW_READ": user}
        server = make_server(tmp_path, policy, rules, mapfile=mapfile, claims_domain=claims_domain)
        client = make_client(policy)
        client.claims_domain = claims_domain
        ours, _ = negotiate(client, server)
        assert ours.result().user == user


def test_encryption_without_authentication_uses_the_ecdh_key(tmp_path: Path) -> None:
    ours, theirs = negotiate(make_client(), make_server(tmp_path))
    assert ours.result().key == theirs.result().session.key is not None
    assert ours.result().method == ""


def test_required_against_never_closes_without_a_reply(tmp_path: Path) -> None:
    client = make_client(Policy(encryption=Wish.NEVER))
    server = make_server(tmp_path, Policy(encryption=Wish.REQUIRED))
    ours, theirs = negotiate(client, server)
    assert isinstance(theirs.error, AuthenticationFailed)
    assert isinstance(ours.error, ConnectionLost)


def test_an_unknown_command_is_dropped(tmp_path: Path) -> None:
    _, theirs = negotiate(make_client(), make_server(tmp_path), "NEGOTIATE")
    assert isinstance(theirs.error, RemoteProtocolError)


def test_denied_is_said_before_closing(tmp_path: Path) -> None:
    client = make_client(Policy(methods=("FS",)))
    server = make_server(tmp_path, settings={"ALLOW_READ": "*", "ALLOW_WRITE": "bob@pool"})
    ours, theirs = negotiate(client, server, "ACT_ON_JOBS")
    assert isinstance(ours.error, AuthorizationDenied)
    assert "alice@pool" in str(ours.error)
    assert isinstance(theirs.error, AuthorizationDenied)
    assert len(server.sessions) == 0


def test_a_session_is_resumed_with_its_user_and_key(tmp_path: Path) -> None:
    server = make_server(tmp_path)
    client = make_client(Policy(methods=("FS",), authentication=Wish.REQUIRED))
    session = negotiate(client, server)[0].result()
    ours, theirs = negotiate(client, server, "ACT_ON_JOBS", session=session)
    assert ours.result() is session
    assert theirs.result().peer.user == "alice@pool"
    assert theirs.result().session.key == session.key
    # Said once, when the session was made.
    assert theirs.result().peer.subsystem == "TOOL"


def test_a_session_is_renewed_by_who_may_resume_it(tmp_path: Path) -> None:
    server = make_server(tmp_path)
    client = make_client(Policy(methods=("FS",), authentication=Wish.REQUIRED))
    session = negotiate(client, server)[0].result()
    kept = server.sessions.look_up(session.id, NOW)
    assert kept is not None
    kept.lease_seconds, kept.lease_until, kept.limits = 1000, NOW + 1, frozenset()
    assert negotiate(client, server, "ACT_ON_JOBS", session=session)[1].error is not None
    assert kept.lease_until == NOW + 1
    kept.limits = None
    negotiate(client, server, "ACT_ON_JOBS", session=session)[1].result()
    assert kept.lease_until == NOW + 1000


def test_a_session_without_a_key_is_its_makers_alone(tmp_path: Path) -> None:
    """Nothing in it shows whose it is: its name cannot be guessed, and it stays with its host."""
    clear = Policy(methods=("FS",), authentication=Wish.REQUIRED, crypto=())
    client, server = make_client(clear), make_server(tmp_path, clear)
    session, accepted = (each.result() for each in negotiate(client, server))
    assert session.key is None
    assert len(session.id.removeprefix("host:1:2:1:")) >= 32
    assert session.id not in "".join(note_server(accepted, "10.0.0.1:5", NOW))
    ours, theirs = negotiate(client, server, "ACT_ON_JOBS", session=session)
    assert ours.result() is session
    assert theirs.result().peer.user == "alice@pool"
    elsewhere = server_handshake(server, "10.0.0.2", NOW)
    again = client_handshake(client, ADDRESS, Command.ACT_ON_JOBS, NOW, session=session)
    ours, theirs = converse(again, elsewhere)
    assert isinstance(ours.error, SessionUnknown)
    assert isinstance(theirs.error, AuthenticationFailed)


def test_a_session_without_a_key_is_not_resumed_for_what_must_be_encrypted(tmp_path: Path) -> None:
    clear = Policy(methods=("FS",), authentication=Wish.REQUIRED, crypto=())
    client, server = make_client(clear), make_server(tmp_path, clear)
    session = negotiate(client, server)[0].result()
    server.policies = {**server.policies, Level.WRITE: Policy(encryption=Wish.REQUIRED)}
    ours, _ = negotiate(client, server, "ACT_ON_JOBS", session=session)
    assert isinstance(ours.error, SessionUnknown)
    assert negotiate(client, server, session=session)[0].result() is session


def test_an_unknown_session_is_answered_and_can_be_made_anew(tmp_path: Path) -> None:
    client = make_client()
    session = negotiate(client, make_server(tmp_path))[0].result()
    ours, theirs = negotiate(client, make_server(tmp_path), session=session)
    assert isinstance(ours.error, SessionUnknown)
    assert isinstance(theirs.error, AuthenticationFailed)


def test_a_claim_session_needs_no_negotiation(tmp_path: Path) -> None:
    claim = mint_claim_id("<127.0.0.1:9>", 1, 2, bytes(range(32)))
    settings = {"ALLOW_DAEMON": "nobody@pool"}
    server = make_server(tmp_path, Policy(authentication=Wish.REQUIRED), settings)
    server.authorization.add_hole(Level.DAEMON, SUBMIT_SIDE)
    server.sessions.add(claim.session(SUBMIT_SIDE))
    session = ClaimId(claim.text).session(SUBMIT_SIDE)
    ours, theirs = negotiate(make_client(), server, "REQUEST_CLAIM", session=session)
    ours.result()
    assert theirs.result().peer.user == SUBMIT_SIDE


def test_ping_is_answered_by_the_security_layer(tmp_path: Path) -> None:
    server = make_server(tmp_path)

    def ping() -> Dialog[tuple[Session, bool | None]]:
        session = yield from client_handshake(
            make_client(),
            ADDRESS,
            Command.DC_SEC_QUERY,
            NOW,
            authorized_command=Command.DC_NOP_READ,
        )
        answer = yield Receive()
        return session, answer.ad().boolean("AuthorizationSucceeded")

    ours, theirs = converse(ping(), server_handshake(server, "10.0.0.1", NOW))
    assert ours.result()[1] is True
    assert theirs.result().finished


def test_a_bare_command_is_accepted_where_nothing_is_required(tmp_path: Path) -> None:
    def bare() -> Dialog[None]:
        yield Send(Words(Command.QUERY_JOB_ADS, "rest"))

    _, theirs = converse(bare(), server_handshake(make_server(tmp_path), "10.0.0.1", NOW))
    accepted = theirs.result()
    assert accepted.message.string() == "rest"
    assert accepted.peer.user == "unauthenticated@unmapped"


def test_a_bare_command_is_refused_where_something_is_required(tmp_path: Path) -> None:
    def bare() -> Dialog[None]:
        yield Send(Words(Command.QUERY_JOB_ADS, "rest"))

    server = make_server(tmp_path, Policy(encryption=Wish.REQUIRED))
    _, theirs = converse(bare(), server_handshake(server, "10.0.0.1", NOW))
    assert isinstance(theirs.error, AuthenticationFailed)


def test_a_forced_bare_command_authenticates_in_line(tmp_path: Path) -> None:
    client = make_client(Policy(methods=("CLAIMTOBE",)))
    server = make_server(tmp_path, Policy(methods=("CLAIMTOBE",)))
    ours, theirs = converse(
        client_inline_authentication(client, ADDRESS, Command.ACT_ON_JOBS),
        server_handshake(server, "10.0.0.1", NOW),
    )
    assert ours.result() == "CLAIMTOBE"
    assert theirs.result().peer.user == "alice@pool"


def test_bytes_may_arrive_one_by_one(tmp_path: Path) -> None:
    policy = Policy(methods=("TOKEN",), authentication=Wish.REQUIRED)
    ours, theirs = converse(
        client_handshake(make_client(policy, token=token()), ADDRESS, Command.QUERY_JOB_ADS, NOW),
        server_handshake(make_server(tmp_path, policy), "10.0.0.1", NOW),
        channels=(Channel(token_bytes), Channel(token_bytes)),
        chunk=1,
    )
    assert ours.result().id == theirs.result().session.id
