"""What authentication methods are given and what they return.

Impure needs (making a directory, reading tokens and keys) are methods of the two credential
protocols, which the shells implement and the dialogs call through `Do` steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from kettle.errors import AuthenticationFailed
from kettle.levels import Level
from kettle.named_tuples import NamedTuple
from kettle.wire.sinful import Sinful

if TYPE_CHECKING:
    import ssl


class MethodFailed(AuthenticationFailed):
    """A method failed, and both sides know it: they may go on with the next one.

    `str` of it is the reason, which is told where no method is left.
    """


class DirectoryFacts(NamedTuple):
    """What lstat says of a path: whether it is a real directory, its mode bits, links, owner."""

    is_directory: bool
    mode: int
    links: int
    uid: int


class Token(NamedTuple):
    """A token the client may use: the signed part, the raw signature, the subject."""

    signed_text: str
    signature: bytes
    subject: str


class ClientCredentials(Protocol):
    """What a client's shell does for the methods; every call may raise OSError."""

    def make_directory(self, path: str) -> None:
        """Create a directory with mode 0700."""

    def remove_directory(self, path: str) -> None:
        """Remove the directory again."""

    def user_name(self) -> str:
        """Return the name this client claims to be (`user` or `user@domain`)."""

    def find_token(
        self, trust_domain: str, issuer_keys: tuple[str, ...], address: Sinful
    ) -> Token | None:
        """Return a token of this issuer signed by one of these keys; may mint one.

        `address` is the server that it is for.
        """

    def issuer_keys(self) -> tuple[str, ...]:
        """Return the ids of the keys this client has tokens of, for its ad."""

    def trust_domain(self) -> str:
        """Return this client's TRUST_DOMAIN, for its ad."""

    def pool_password(self) -> bytes | None:
        """Return the pool password, None if this client cannot read it."""

    def tls_context(self) -> ssl.SSLContext | None:
        """Return a client context that verifies the chain, None without any trust anchor."""

    def skip_host_check(self) -> bool:
        """Whether SSL_SKIP_HOST_CHECK is set."""


class ServerCredentials(Protocol):
    """What a server's shell does for the methods; every call may raise OSError."""

    def inspect_directory(self, path: str) -> DirectoryFacts | None:
        """Return what lstat says of a path, None if nothing is there."""

    def refresh_folder(self, path: str) -> None:
        """Make a shared file system look again at what lies in a folder."""

    def user_of(self, uid: int) -> str | None:
        """Return the account name of a uid."""

    def signing_key(self, key_id: str) -> bytes | None:
        """Return the signing key of an id (POOL's is doubled already), None if unknown."""

    def issuer_keys(self) -> tuple[str, ...]:
        """Return the ids of all signing keys here."""

    def token_is_revoked(self, claims: Mapping[str, str | int]) -> bool:
        """Tell whether SEC_TOKEN_REVOCATION_EXPR is true for these claims."""

    def pool_password(self) -> bytes | None:
        """Return the pool password, None if there is none."""

    def tls_context(self) -> ssl.SSLContext | None:
        """Return a server context with certificate and key, None if there is none."""


class ClientContext(NamedTuple):
    """What a client's method may know.

    `address` is the server as the client addressed it; `server_end` the server's end of the
    connection, `ip:port`, where that is another: the server called this client.
    """

    credentials: ClientCredentials
    address: Sinful
    random_bytes: Callable[[int], bytes]
    server_trust_domain: str = ""
    server_issuer_keys: tuple[str, ...] = ()
    server_version: tuple[int, int, int] = (0, 0, 0)
    uid_domain: str = ""
    claims_domain: bool = True
    server_end: str = ""


class ServerContext(NamedTuple):
    """What a server's method may know; `now` is in epoch seconds.

    `own_end` is this end of the connection, `ip:port`; empty where the shell does not say.
    """

    credentials: ServerCredentials
    addresses: tuple[Sinful, ...]
    random_bytes: Callable[[int], bytes]
    now: float
    uid_domain: str
    trust_domain: str = ""
    client_version: tuple[int, int, int] = (0, 0, 0)
    fs_directory: str = "/tmp"  # noqa: S108 - the place both sides know; the name in it is random
    fs_remote_directory: str = ""
    root_is_condor: bool = True
    anonymous_user: str = "CONDOR_ANONYMOUS_USER"
    token_maximum_age_seconds: int = 0
    claims_domain: bool = True
    own_end: str = ""


class ClientProof(NamedTuple):
    """The client's side of a success; `wrap_key` is what the session key may come wrapped in."""

    wrap_key: bytes | None = None


class ServerProof(NamedTuple):
    """The server's side of a success: who it is.

    `name` is `user` or `user@domain`; `principal` what a mapfile is asked for (empty: it is not
    asked); `limits` the only levels the proof may be used for. `claims` are those of the token that
    it was proven with, and `ends_at` is when that token ends, in epoch seconds.
    """

    name: str
    principal: str = ""
    wrap_key: bytes | None = None
    limits: frozenset[Level] | None = None
    attributes: Mapping[str, str] = MappingProxyType({})
    claims: Mapping[str, str | int] = MappingProxyType({})
    ends_at: float | None = None
