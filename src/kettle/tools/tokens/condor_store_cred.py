"""`condor_store_cred`: passwords and credentials, brought to the daemon that keeps them.

The pool password is the master's (root of this machine writes it without one); what a user stores
is the credential daemon's, of which Kettle has none: another pool's is asked. The command line is
`store_cred_words`'.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping
from typing import IO

from kettle.classad import ClassAd
from kettle.errors import KettleError, StorageError
from kettle.runtime.account_names import account_name
from kettle.tools.options import Asked, run_tool
from kettle.tools.phrases import Phrases, SaidError
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach
from kettle.tools.tokens.store_cred_words import USAGE, Wish, check_name, read_wish
from kettle.wire.messages.credentials import (
    LONGEST_PASSWORD,
    POOL_USER,
    CredentialAnswer,
    CredentialMode,
)

PHRASES = Phrases(unknown="", missing="")
# Limit: what is read of a credential, and of a password that is no line of a terminal.
_LARGEST_FILE = 1024 * 1024
_LONGEST_INPUT = 1024
_FIRST_TIME = 100
_OTHER_ANSWERS = {
    CredentialAnswer.NOT_SECURE: "Operation aborted because communiction was not secure",
    CredentialAnswer.NOT_ALLOWED: "Operation failed because it is not allowed",
    CredentialAnswer.BAD_ARGUMENTS: "Operation aborted due to missing or bad arguments",
    CredentialAnswer.PROTOCOL_MISMATCH: (
        "Arguments are missing, client and server my be mismatched"
    ),
    CredentialAnswer.MONITOR_TIMEOUT: (
        "The credmon did not process credentials within the timeout period"
    ),
    CredentialAnswer.CONFIGURATION: "Operation failed because of a configuration error",
    CredentialAnswer.JSON: "Failure parsing credential as JSON",
    CredentialAnswer.MISMATCH: (
        "Credential was found but it did not match requested scopes or audience"
    ),
    CredentialAnswer.UNTRUSTED_HOST: "Credential requires interacting with an untrusted host",
}
_DENIED_MASTER = """\
Operation failed.
    Make sure you have ALLOW_ADMINISTRATOR access to the target Master.
    If the Master is older than 23.2.0, ALLOW_CONFIG access is needed.
"""
_DENIED = """\
Operation failed.
    Make sure your ALLOW_WRITE setting includes this host.
"""
_NO_IMPERSONATION = """\
Operation failed.
    The target daemon is not running as SYSTEM and cannot store credentials securely.
"""


class Answer:
    """What came of it: the answer's number, and the ad that came with it."""

    def __init__(self, number: int, details: ClassAd | None = None) -> None:
        self.number = number
        self.details = details or ClassAd()


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_store_cred`."""
    return run_tool(
        argv,
        environment,
        streams,
        usage=USAGE,
        read_wish=read_wish,
        act=store,
        complain=lambda error: PHRASES.render(error, USAGE),
        prefix="condor_store_cred: ",
        after_help=1,
    )


def store(wish: Wish, environment: Mapping[str, str], streams: Streams) -> int:
    """Carry out the action; the result is the exit code."""
    if wish.asks_help or (wish.mode < 0 and not wish.get("f")):
        raise Asked("help")
    reach = Reach(environment, name=wish.get("n"))
    check_name(wish.get("n"), reach.config)
    if wish.get("f"):
        return write_file(wish, streams)
    if wish.pool and wish.operation == CredentialMode.QUERY:
        streams.stderr.write("Querying the pool password is not supported.\n")
        return 1
    user = full_user(wish, reach)
    streams.stdout.write(f"Account: {user or f'<current> ({account_name(os.geteuid())})'}\n")
    streams.stdout.write(f"CredType: {wish.type_name}\n\n")
    credential = b""
    if wish.operation == CredentialMode.ADD:
        credential = read_credential(wish, streams)
    return report(wish, carry_out(wish, reach, user, credential), streams)


def write_file(wish: Wish, streams: Streams) -> int:
    """Write the password to the file that -f names, without asking anybody."""
    from kettle.runtime.credentials import write_pool_password

    password = _up_to_nul(read_credential(wish, streams))
    try:
        write_pool_password(wish.get("f"), password)
    except StorageError:
        streams.stderr.write(f"error writing password file: {wish.get('f')}\n")
        return 1
    return 0


def full_user(wish: Wish, reach: Reach) -> str:
    """Return whose credential it is as user@domain, empty for whom the daemon takes us for.

    Compat: the reference has no domain for its own account and writes `(null)`; ours is
    UID_DOMAIN's (test_whose_credential_it_is).
    """
    domain = reach.config.get("UID_DOMAIN") or ""
    if wish.pool:
        return f"{POOL_USER}@{reach.config.get('SEC_PASSWORD_DOMAIN') or domain}"
    if wish.get("u"):
        return wish.get("u")
    return "" if wish.is_for_monitors else f"{account_name(os.geteuid())}@{domain}"


def read_credential(wish: Wish, streams: Streams) -> bytes:
    """Return the credential from where the options say; SaidError if there is none.

    Compat: of an empty one the reference says `unknown error code -1`
    (test_an_empty_password_is_refused).
    """
    path, typed = wish.get("i"), wish.get("p")
    if path == "-":
        found = _read_input(streams.stdin, _LARGEST_FILE)
    elif path:
        try:
            with open(path, "rb") as file:
                found = file.read(_LARGEST_FILE)
        except OSError:
            raise SaidError(f"Could not read credential from {path}") from None
    elif typed == "-":
        found = _read_input(streams.stdin, _LONGEST_INPUT)
    elif typed:
        found = os.fsencode(typed)
    else:
        found = os.fsencode(_type_password(streams))
    if not found:
        raise SaidError("Operation failed: no password was given.")
    return found


def _read_input(stdin: IO[str], most: int) -> bytes:
    """Return the standard input as it is, its last newline too, as the reference does."""
    raw = getattr(stdin, "buffer", None)
    return os.fsencode(stdin.read(most)) if raw is None else bytes(raw.read(most))


def _type_password(streams: Streams) -> str:
    streams.stdout.write("Enter password: ")
    streams.stdout.flush()
    with _without_echo(streams.stdin):
        line = streams.stdin.readline(LONGEST_PASSWORD)
    streams.stdout.write("\n")
    return line.rstrip("\n")


@contextlib.contextmanager
def _without_echo(stdin: IO[str]) -> Iterator[None]:
    """Show nothing of what is typed, if somebody types."""
    if not stdin.isatty():
        yield
        return
    import termios

    before = termios.tcgetattr(stdin)
    silent = before[:]
    silent[3] &= ~termios.ECHO
    termios.tcsetattr(stdin, termios.TCSADRAIN, silent)
    try:
        yield
    finally:
        termios.tcsetattr(stdin, termios.TCSADRAIN, before)


def carry_out(wish: Wish, reach: Reach, user: str, credential: bytes) -> Answer:
    """Do it here if we are root and nobody else is meant, else have it done."""
    if wish.is_legacy and len(wish.details):
        return Answer(CredentialAnswer.BAD_ARGUMENTS)
    domain = user.rpartition("@")[2]
    is_pools = user.rpartition("@")[0] == POOL_USER
    kind = wish.chosen_daemon(reach.config)
    if os.getuid() == 0 and kind is None:
        return Answer(change_here(wish, reach, is_pools, credential))
    if is_pools and wish.is_for_monitors:
        return Answer(CredentialAnswer.BAD_ARGUMENTS)
    from kettle.client.credentials import send_credential, send_pool_password
    from kettle.client.pool import MASTER, SCHEDD

    afar = kind is not None
    try:
        if is_pools and wish.operation != CredentialMode.QUERY:
            address = reach.locate(kind or MASTER).address
            password = os.fsdecode(_up_to_nul(credential))
            number = send_pool_password(
                reach.connector, address, domain, password, only_secretly=afar
            )
            return Answer(number)
        found = wish.locate(reach, kind or SCHEDD)
        content = _up_to_nul(credential) if wish.is_legacy else credential
        number, details = send_credential(
            reach.connector, found, user, wish.mode, content, wish.details, only_secretly=afar
        )
        return Answer(number, details)
    except KettleError:
        return Answer(CredentialAnswer.FAILURE)


def change_here(wish: Wish, reach: Reach, is_pools: bool, credential: bytes) -> int:
    """Change the pool password of this machine, and nobody else's."""
    from kettle.runtime.credentials import (
        read_systems_file,
        remove_pool_password,
        write_pool_password,
    )

    path = reach.config.get("SEC_PASSWORD_FILE")
    password = _up_to_nul(credential)
    if not is_pools:
        return CredentialAnswer.FAILURE
    if not path:
        raise StorageError("the configuration names no SEC_PASSWORD_FILE")
    if wish.operation == CredentialMode.QUERY:
        there = read_systems_file(path)
        return CredentialAnswer.OK if there else CredentialAnswer.NOT_FOUND
    if wish.operation == CredentialMode.DELETE:
        gone = remove_pool_password(path)
        return CredentialAnswer.OK if gone else CredentialAnswer.NOT_FOUND
    if not password or len(password) > LONGEST_PASSWORD:
        return CredentialAnswer.FAILURE
    write_pool_password(path, password)
    return CredentialAnswer.OK


def _up_to_nul(credential: bytes) -> bytes:
    """Return what a password in C is."""
    return credential.partition(b"\0")[0]


def report(wish: Wish, answer: Answer, streams: Streams) -> int:
    """Say what came of it; the result is the exit code."""
    number = answer.number
    asked = wish.operation == CredentialMode.QUERY
    when = number if number > _FIRST_TIME and wish.operation != CredentialMode.DELETE else 0
    if when or number in {CredentialAnswer.OK, CredentialAnswer.PENDING}:
        pending = number == CredentialAnswer.PENDING
        streams.stdout.write(_success(wish, when, pending=pending))
        if len(answer.details):
            from kettle.classad.forms import render_long

            streams.stdout.write(f"\nCredential info:\n{render_long(answer.details)}\n")
        return 0
    failures = {
        CredentialAnswer.FAILURE: _DENIED_MASTER if wish.pool and not asked else _DENIED,
        CredentialAnswer.BAD_PASSWORD: (
            "A credential is stored, but it is invalid. Run 'condor_store_cred add' again.\n"
            if asked
            else "Operation failed: bad password.\n"
        ),
        CredentialAnswer.NOT_FOUND: (
            "No credential is stored.\n" if asked else "Operation failed: username not found.\n"
        ),
        CredentialAnswer.NO_IMPERSONATION: _NO_IMPERSONATION,
    }
    said = failures.get(number)  # type: ignore[call-overload]
    if said:
        streams.stdout.write(said)
    else:
        unknown = f"Operation failed: unknown error code {number}"
        streams.stderr.write(f"{_OTHER_ANSWERS.get(number, unknown)}\n")  # type: ignore[call-overload]
    return 2 if number == CredentialAnswer.MISMATCH else 1


def _success(wish: Wish, when: int, *, pending: bool) -> str:
    moment = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(when))
    waits = " and is waiting for processing" if pending else ""
    if wish.operation == CredentialMode.QUERY:
        stored = f" on {moment}" if when else ""
        return f"A credential was stored{stored}{waits or ' and is valid'}.\n"
    if wish.operation == CredentialMode.ADD and when:
        return f"Operation succeeded{waits}. Credential was stored on {moment}\n"
    return f"Operation succeeded{waits}.\n"
