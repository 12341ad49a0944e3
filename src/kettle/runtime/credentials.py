"""Secrets on this machine, as the authentication methods ask for them.

Files of tokens, signing keys, the pool password, certificates: where they lie is said by the
configuration, and one that others could have written or read is passed over in silence, as the
reference does. `SystemClientCredentials` and `SystemServerCredentials` are what the two sides of a
handshake ask; the pool's key and password are written here, too. What is proven with them is
`wire.security.methods`'. No asyncio here: tools use this module as well as daemons. Source: wire
notes, FS, TOKEN, PASSWORD, SSL.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from kettle.errors import KettleError, StorageError
from kettle.runtime.account_names import account_home, account_name
from kettle.wire.security import tokens
from kettle.wire.security.methods.context import DirectoryFacts, Token

if TYPE_CHECKING:
    import ssl

    from kettle.config import Config
    from kettle.wire.sinful import Sinful

# Limit: files of tokens or keys in one folder, and the size of one such file.
_MOST_FILES = 1000
_LARGEST_FILE = 256 * 1024
_OWN_TOKEN_SECONDS = 60


@contextlib.contextmanager
def roots_rights() -> Iterator[None]:
    """Let this thread alone read what only root may, in a daemon that root started; else a no-op.

    For secrets: they belong to root, and no account that a daemon works as may read them. The
    switch is the thread's, so it may be made in the middle of another.
    """
    before = os.geteuid()
    if before == 0 or os.getuid() != 0:
        yield
        return
    # Loaded here: a tool never comes here, and is to start fast.
    from kettle.runtime.process import kernel

    if not kernel.can_switch_threads():
        yield
        return
    kernel.set_thread_euid(0)
    try:
        yield
    finally:
        kernel.set_thread_euid(before)


def read_private_file(path: str, *, owner: int | None = None) -> bytes | None:
    """Return a secret file's content; None if it is missing, not ours, or open to others."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        facts = os.fstat(fd)
        wanted = os.geteuid() if owner is None else owner
        if not stat.S_ISREG(facts.st_mode) or facts.st_uid not in {wanted, 0}:
            return None
        if facts.st_mode & 0o077 or facts.st_size > _LARGEST_FILE:
            return None
        return os.read(fd, _LARGEST_FILE)
    except OSError:
        return None
    finally:
        os.close(fd)


def read_systems_file(path: str) -> bytes | None:
    """Return a secret file of the pool's: in a daemon that root started, root's or the daemon's."""
    owner = os.geteuid()
    with roots_rights():
        return read_private_file(path, owner=owner)


def _may_name_key(key_id: str) -> bool:
    """Tell whether an id, which may be a stranger's, is the name of a file in the keys' folder."""
    return key_id.isprintable() and "/" not in key_id and not key_id.startswith(".")


class SigningKeys:
    """The signing keys that this process can read."""

    def __init__(self, config: Config) -> None:
        self._config = config

    def path(self, key_id: str) -> str:
        """Return the file of a key, empty if none can have it."""
        if key_id == tokens.POOL_KEY:
            return (
                self._config.get("SEC_TOKEN_POOL_SIGNING_KEY_FILE")
                or self._config.get("SEC_PASSWORD_FILE")
                or ""
            )
        folder = self._config.get("SEC_PASSWORD_DIRECTORY")
        return os.path.join(folder, key_id) if folder and _may_name_key(key_id) else ""

    def content(self, key_id: str) -> bytes | None:
        """Return a key file's content; None for an unknown or unreadable key."""
        path = self.path(key_id)
        return read_systems_file(path) if path else None

    def key(self, key_id: str) -> bytes | None:
        """Return a signing key, POOL's doubled; None if unknown."""
        content = self.content(key_id)
        return tokens.signing_key(key_id, content) if content else None

    def ids(self) -> tuple[str, ...]:
        """Return the ids of all keys that can be read, POOL first."""
        found = [tokens.POOL_KEY] if self.content(tokens.POOL_KEY) else []
        folder = self._config.get("SEC_PASSWORD_DIRECTORY")
        for path in _files_in(folder):
            name = os.path.basename(path)
            if name != tokens.POOL_KEY and read_systems_file(path):
                found.append(name)
        return tuple(found)


def make_pool_key(config: Config) -> bool:
    """Make the pool's signing key if there is none yet; False if it is there, or is not wanted.

    It has its name only when it is on disk: half a key would be the pool's for ever. StorageError
    if it cannot be made.
    """
    # Only who makes a key needs it: most of those who load this begin, ask and end.
    from kettle.runtime.storage.files import give_name

    path = config.get("SEC_TOKEN_POOL_SIGNING_KEY_FILE")
    if not path or os.path.lexists(path):
        return False
    temporary = f"{path}.{os.getpid()}.new"
    try:
        with roots_rights():
            _write_secret(temporary, tokens.scramble(os.urandom(64)))
            try:
                # Unlike a rename this leaves the key that another made meanwhile.
                give_name(temporary, path)
            finally:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(temporary)
            _sync(os.path.dirname(path) or ".")
    except FileExistsError:
        return False
    except OSError as error:
        raise StorageError(f"cannot make the signing key {path}: {error.strerror}") from error
    return True


def write_pool_password(path: str, password: bytes) -> None:
    """Keep the pool password in its file, as the reference does: disguised, its owner's alone.

    On disk when this returns, and never half a password. StorageError if it cannot be written.
    """
    temporary = f"{path}.{os.getpid()}.new"
    try:
        with roots_rights():
            _write_secret(temporary, tokens.scramble(password))
            try:
                os.replace(temporary, path)
            except OSError:
                # Nobody would ever look for it there.
                os.unlink(temporary)
                raise
            _sync(os.path.dirname(path) or ".")
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}") from error


def remove_pool_password(path: str) -> bool:
    """Delete the pool password's file, for good; False if there is none.

    StorageError if it cannot be deleted.
    """
    try:
        with roots_rights():
            os.unlink(path)
            _sync(os.path.dirname(path) or ".")
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StorageError(f"cannot remove {path}: {error.strerror}") from error
    return True


def _write_secret(path: str, data: bytes) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        os.fsync(fd)
    except OSError:
        os.unlink(path)
        raise
    finally:
        os.close(fd)


def _sync(folder: str) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


class SystemClientCredentials:
    """What this process can prove to a server."""

    def __init__(self, config: Config, now: Callable[[], float] = time.time) -> None:
        self._config = config
        self._now = now
        self._keys = SigningKeys(config)

    def make_directory(self, path: str) -> None:
        """Create a directory with mode 0700, whatever the umask: the server looks at that."""
        os.mkdir(path, 0o700)
        os.chmod(path, 0o700)

    def remove_directory(self, path: str) -> None:
        """Remove the directory again; a server that removed it is no trouble."""
        with contextlib.suppress(FileNotFoundError):
            os.rmdir(path)

    def user_name(self) -> str:
        """Return the name of the account that this process runs as."""
        named = self._config.get("SEC_CLAIMTOBE_USER")
        return named or account_name(os.geteuid())

    def find_token(
        self, trust_domain: str, issuer_keys: tuple[str, ...], address: Sinful
    ) -> Token | None:
        """Return the first fitting token of our files; mint one if the key itself is readable.

        Compat: two pools may call themselves and their keys the same. The reference then offers
        the other's token and is refused; a token that a key of ours disproves, in the folder that
        all pools of a user share, is offered by us to other machines alone, and to daemons of this
        one what our key signs (test_a_token_that_our_key_disproves_is_for_other_machines).
        """
        found = self._choose(trust_domain, issuer_keys, address)
        if found is None:
            return None
        return Token(found.signed_text, found.signature, found.claim("sub"))

    def _choose(
        self, trust_domain: str, issuer_keys: tuple[str, ...], address: Sinful
    ) -> tokens.ParsedToken | None:
        disproved = None
        for token in tokens.fitting_tokens(self._lines(), trust_domain, issuer_keys, self._now()):
            key = self._keys.key(token.key_id) if trust_domain == self.trust_domain() else None
            if key is None or tokens.is_signed_by(token, key):
                return token
            disproved = disproved or token
        ours = self._config.get("SEC_TOKEN_DIRECTORY") is not None
        if disproved is not None and (ours or not _is_here(address.host)):
            return disproved
        return self._mint(trust_domain, issuer_keys) or disproved

    def issuer_keys(self) -> tuple[str, ...]:
        """Return the key ids of our tokens and of the keys we can read."""
        found = list(self._keys.ids())
        for line in self._lines():
            try:
                token = tokens.parse_token(line.strip())
            except KettleError:
                continue
            if token.key_id not in found:
                found.append(token.key_id)
        return tuple(found)

    def trust_domain(self) -> str:
        """Return TRUST_DOMAIN."""
        return self._config.get("TRUST_DOMAIN") or ""

    def pool_password(self) -> bytes | None:
        """Return the pool password, None if it cannot be read."""
        path = self._config.get("SEC_PASSWORD_FILE")
        content = read_systems_file(path) if path else None
        return tokens.pool_password(content) if content else None

    def tls_context(self) -> ssl.SSLContext | None:
        """Return a context that trusts the configured authorities and the system's."""
        import ssl

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        file = _existing(self._config.get("AUTH_SSL_CLIENT_CAFILE"))
        folder = _existing(self._config.get("AUTH_SSL_CLIENT_CADIR"))
        try:
            if file or folder:
                context.load_verify_locations(file, folder)
            if self._config.boolean("AUTH_SSL_CLIENT_USE_DEFAULT_CAS") is not False:
                context.load_default_certs()
            certificate = _existing(self._config.get("AUTH_SSL_CLIENT_CERTFILE"))
            key = _existing(self._config.get("AUTH_SSL_CLIENT_KEYFILE"))
            if certificate and key and os.access(key, os.R_OK):
                context.load_cert_chain(certificate, key)
        except (ssl.SSLError, OSError):
            return None
        return context

    def skip_host_check(self) -> bool:
        """Whether SSL_SKIP_HOST_CHECK is set."""
        return bool(self._config.boolean("SSL_SKIP_HOST_CHECK"))

    def _lines(self) -> Iterator[str]:
        """Yield the lines of every token file that nobody else can read."""
        own = self._config.get("SEC_TOKEN_DIRECTORY")
        if own is None:
            home = self._config.environment.get("HOME") or account_home(os.geteuid())
            own = os.path.join(home, ".condor", "tokens.d") if home else None
        places: list[tuple[str | None, Callable[[str], bytes | None]]] = [(own, read_private_file)]
        if os.geteuid() == 0 or self._config.subsystem not in {"TOOL", "SUBMIT"}:
            places.insert(0, (self._config.get("SEC_TOKEN_SYSTEM_DIRECTORY"), read_systems_file))
        for folder, read in places:
            for path in _files_in(folder):
                content = read(path)
                if content:
                    yield from content.decode("utf-8", errors="replace").splitlines()

    def _mint(self, trust_domain: str, issuer_keys: tuple[str, ...]) -> tokens.ParsedToken | None:
        """Make a short-lived token of the pool's own identity, if we hold a key for it."""
        for key_id in issuer_keys:
            key = self._keys.key(key_id)
            if key is not None:
                text = tokens.mint_token(
                    key,
                    key_id=key_id,
                    issuer=trust_domain,
                    subject="condor@password",
                    issued_at=int(self._now()),
                    token_id=os.urandom(16).hex(),
                    lifetime_seconds=_OWN_TOKEN_SECONDS,
                )
                return tokens.parse_token(text)
        return None


def find_revocation(config: Config) -> Callable[[Mapping[str, str | int]], bool] | None:
    """Return what tells whether a token of these claims is revoked; None where none is.

    An expression that cannot be evaluated revokes: a slip must not let stolen tokens in.
    """
    from kettle.classad import UNDEFINED, ClassAd

    expression = config.expression("SEC_TOKEN_REVOCATION_EXPR")
    if expression is None:
        return None

    def is_revoked(claims: Mapping[str, str | int]) -> bool:
        verdict = ClassAd(dict(claims)).evaluate_expression(expression)
        return verdict is not False and verdict is not UNDEFINED

    return is_revoked


class SystemServerCredentials:
    """What this daemon needs to check a client's proof."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._keys = SigningKeys(config)

    def inspect_directory(self, path: str) -> DirectoryFacts | None:
        """Return what lstat says of a path, None if nothing is there."""
        try:
            facts = os.lstat(path)
        except OSError:
            return None
        return DirectoryFacts(
            stat.S_ISDIR(facts.st_mode), stat.S_IMODE(facts.st_mode), facts.st_nlink, facts.st_uid
        )

    def refresh_folder(self, path: str) -> None:
        """Make and remove a file there, after which its names are read anew."""
        name = os.path.join(path, f"FS_REMOTE_{os.getpid()}_{os.urandom(4).hex()}")
        with contextlib.suppress(OSError):
            os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            os.unlink(name)

    def user_of(self, uid: int) -> str | None:
        """Return the account name of a uid; None for a number without one that is not our own.

        Compat: the reference knows nobody without an entry, himself neither; where a container's
        user has none, he has a pool all the same (test_a_user_who_is_a_mere_number_has_a_pool).
        """
        name = account_name(uid)
        return None if name == str(uid) and uid != os.geteuid() else name

    def signing_key(self, key_id: str) -> bytes | None:
        """Return the signing key of an id, None if unknown."""
        return self._keys.key(key_id)

    def issuer_keys(self) -> tuple[str, ...]:
        """Return the ids of all signing keys here."""
        return self._keys.ids()

    def token_is_revoked(self, claims: Mapping[str, str | int]) -> bool:
        """Tell whether SEC_TOKEN_REVOCATION_EXPR is true for these claims."""
        is_revoked = find_revocation(self._config)
        return is_revoked is not None and is_revoked(claims)

    def pool_password(self) -> bytes | None:
        """Return the pool password, None if there is none."""
        path = self._config.get("SEC_PASSWORD_FILE")
        content = read_systems_file(path) if path else None
        return tokens.pool_password(content) if content else None

    def tls_context(self) -> ssl.SSLContext | None:
        """Return a context with the daemon's certificate, None if there is none."""
        import ssl

        pair = self._certificate()
        if pair is None:
            return None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        file = _existing(self._config.get("AUTH_SSL_SERVER_CAFILE"))
        folder = _existing(self._config.get("AUTH_SSL_SERVER_CADIR"))
        required = self._config.boolean("AUTH_SSL_REQUIRE_CLIENT_CERTIFICATE") is True
        try:
            with roots_rights():
                context.load_cert_chain(*pair)
            if file or folder:
                context.load_verify_locations(file, folder)
            if self._config.boolean("AUTH_SSL_SERVER_USE_DEFAULT_CAS") is not False:
                context.load_default_certs(ssl.Purpose.CLIENT_AUTH)
            context.verify_mode = ssl.CERT_REQUIRED if required else ssl.CERT_OPTIONAL
        except (ssl.SSLError, OSError):
            return None
        return context

    def _certificate(self) -> tuple[str, str] | None:
        """Return the first certificate and key, of those in the same places, that can be read."""
        certificates = self._config.words("AUTH_SSL_SERVER_CERTFILE")
        keys = self._config.words("AUTH_SSL_SERVER_KEYFILE")
        for certificate, key in zip(certificates, keys, strict=False):
            # By the real user's rights, which are root's in a daemon that root started.
            if os.access(certificate, os.R_OK) and os.access(key, os.R_OK):
                return certificate, key
        return None


def _is_here(host: str) -> bool:
    """Whether an address is of this machine: another's cannot be bound to."""
    import socket  # few hold a key and a token that it disproves

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with contextlib.suppress(OSError), socket.socket(family) as here:
        here.bind((host, 0))
        return True
    return False


def _existing(path: str | None) -> str | None:
    return path if path and os.path.exists(path) else None


def _files_in(folder: str | None) -> Iterator[str]:
    """Yield the files of a folder in name order, without hidden ones."""
    if not folder:
        return
    try:
        with roots_rights():
            names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names[:_MOST_FILES]:
        if not name.startswith("."):
            yield os.path.join(folder, name)
