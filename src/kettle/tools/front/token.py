"""`kettle token`: a token with which another machine may join this pool, for what it is to do.

The token names its role and allows the levels of that role alone; it is signed with the pool's
key. What the bearer may do with it is in the pool's configuration (`pool.location`).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import secrets
import stat
import time
from collections.abc import Mapping

from kettle.config import Config, load_config
from kettle.errors import NotFoundError, StorageError, UsageError
from kettle.octets import AS_IS
from kettle.pool.location import Centre, Member, Role
from kettle.pool.personal import PersonalPool
from kettle.runtime.credentials import SigningKeys
from kettle.runtime.storage.files import SystemSources
from kettle.tools.front import place
from kettle.tools.programs import Streams
from kettle.wire.security.tokens import POOL_KEY, mint_token


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of `kettle token`."""
    parser = argparse.ArgumentParser(
        description="Make a token with which another machine may join this pool.",
        epilog="There:  kettle up --join HOST --token-file F",
    )
    place.add_folder_option(parser)
    parser.add_argument(
        "--for",
        dest="role",
        choices=[role.value for role in Role],
        default=Role.EXECUTE.value,
        help="what the machine may do: run jobs (execute, the default), submit them, or both",
    )
    parser.add_argument(
        "--lifetime", metavar="SECONDS", type=int, help="how long it is good (default: for ever)"
    )
    parser.add_argument(
        "--output", metavar="FILE", help="write it to this file, readable by you alone"
    )
    parser.add_argument("--json", action="store_true", help="print what was made as JSON")
    return parser


def run(arguments: argparse.Namespace, environment: Mapping[str, str], streams: Streams) -> int:
    """Make the token and deliver it."""
    if arguments.lifetime is not None and arguments.lifetime <= 0:
        raise UsageError(f"--lifetime needs a number of seconds, not {arguments.lifetime}")
    pool = place.open_pool(arguments.dir, environment)
    check_pool(pool)
    config = load_config(SystemSources(), pool.environment(), subsystem="TOOL")
    role = Role(arguments.role)
    subject = f"{role}@{config.get('POOL_MEMBERS')}"
    token = sign_token(config, role, subject, arguments.lifetime)
    if arguments.output:
        write_token(arguments.output, token)
    if arguments.json:
        facts: dict[str, object] = {"identity": subject, "levels": list(role.levels)}
        facts |= {"lifetime": arguments.lifetime, "file": arguments.output}
        if not arguments.output:
            facts["token"] = token
        streams.stdout.write(json.dumps(facts) + "\n")
    elif not arguments.output:
        streams.stdout.write(f"{token}\n")
    return 0


def check_pool(pool: PersonalPool) -> None:
    """Raise NotFoundError or UsageError if nobody can join the pool."""
    if not pool.exists():
        raise NotFoundError(f"there is no pool in {pool.folder}", hint="kettle up --host makes one")
    if isinstance(pool.location, Member):
        raise UsageError(
            f"{pool.folder} is a member of the pool at {pool.location.address}",
            hint="the token is made there",
        )
    if not isinstance(pool.location, Centre):
        raise UsageError(
            f"the pool in {pool.folder} listens to this machine alone",
            hint="kettle down, then kettle up --host, lets others join",
        )


def sign_token(config: Config, role: Role, subject: str, lifetime_seconds: int | None) -> str:
    """Return a token of the pool, limited to the levels of the role."""
    key = SigningKeys(config).key(POOL_KEY)
    if key is None:
        where = config.get("SEC_TOKEN_POOL_SIGNING_KEY_FILE")
        raise NotFoundError(
            "the pool's key cannot be read", hint=f"it is expected in {where or 'no file'}"
        )
    return mint_token(
        key,
        key_id=POOL_KEY,
        issuer=config.get("TRUST_DOMAIN") or "",
        subject=subject,
        issued_at=int(time.time()),
        token_id=secrets.token_hex(16),
        lifetime_seconds=lifetime_seconds,
        levels=role.levels,
    )


def write_token(path: str, token: str) -> None:
    """Write the token to a new file that nobody else can read, in the place of a plain one.

    It never goes where somebody else's link or open file would take it; what is neither a plain
    file nor missing is left as it is. StorageError if it cannot be written.
    """
    aside = f"{path}.{secrets.token_hex(8)}.new"
    try:
        if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
            raise StorageError(f"cannot write the token to {path}: it is not a plain file")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(aside, flags, 0o600), "w", encoding="utf-8", errors=AS_IS) as file:
            file.write(f"{token}\n")
        os.rename(aside, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(aside)
        raise StorageError(f"cannot write the token to {path}: {error.strerror}") from None
