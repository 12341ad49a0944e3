"""`condor_store_cred`: the pool password, kept where daemons find it.

Only the pool password (-c) is stored; other credentials belong to the credential daemon.
"""

from __future__ import annotations

import getpass
import os
from collections.abc import Mapping, Sequence

from kettle.errors import StorageError, UsageError
from kettle.tools.options import Asked, run_tool
from kettle.tools.phrases import Phrases, SaidError
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach
from kettle.tools.tokens.token_commands import Wish
from kettle.wire.security.tokens import scramble

# Options with a word after them, by their letter, and what that word is.
WITH_VALUE = {
    "u": "username", "p": "password", "i": "filename", "s": "service", "H": "handle",
    "S": "scopes", "A": "audience", "n": "name", "f": "filename",
}  # fmt: skip
SWITCHES = "cdP"
USAGE = """\
Usage: condor_store_cred ACTION -c [OPTIONS]

Store or delete the pool password, in SEC_PASSWORD_FILE of this machine.

  ACTION      add, add-pwd, delete, delete-pwd or query
  -c          the pool password
  -p PASSWORD this one instead of asking; - reads it from stdin
  -i FILE     read it from a file; - is stdin
  -f FILE     write it to this file instead
"""
ACTIONS = ("add", "delete", "query")
PHRASES = Phrases(unknown="", missing="")
# Limit: the reference's longest password.
LONGEST = 255


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_store_cred`."""
    return run_tool(
        argv,
        environment,
        streams,
        usage=USAGE,
        read_wish=read_wish,
        act=lambda wish, environment, streams: store(wish, Reach(environment), streams),
        complain=lambda error: PHRASES.render(error, USAGE),
        prefix="condor_store_cred: ",
        after_help=1,
    )


def read_wish(words: Sequence[str]) -> Wish:
    """Return what the command line asks for; raise UsageError or Asked.

    Compat: only an option's first letter counts, as in the reference (`-nobody` is -n); -version
    is our own. Shown by test_an_administrators_tool_says_what_the_reference_says.
    """
    wish = Wish()
    rest = list(reversed(words))
    while rest:
        word = rest.pop()
        if not word.startswith("-"):
            if wish.words or word.partition("-")[0] not in ACTIONS:
                raise SaidError(f"ERROR: Unrecognized command - '{word}'\n", with_usage=True)
            wish.words.append(word)
            continue
        letter = word[1:2]
        if word.lstrip("-") == "version":
            raise Asked("version")
        if letter == "h":
            raise Asked("help")
        if letter in WITH_VALUE:
            if not rest:
                what = WITH_VALUE[letter]
                raise SaidError(
                    f"ERROR: Option '{word}' requires a {what} argument", with_usage=True
                )
            wish.values[letter] = rest.pop()
        elif letter and letter in SWITCHES:
            wish.flags.add(letter)
        else:
            raise SaidError(f"ERROR: Unrecognized option - '{word}'", with_usage=True)
    return wish


def store(wish: Wish, reach: Reach, streams: Streams) -> int:
    """Carry out the action."""
    action, _, kind = (wish.words[0] if wish.words else "").partition("-")
    if not action or kind not in {"", "pwd"}:
        raise UsageError(f"there is no action {' '.join(wish.words) or '(none given)'}")
    if "c" not in wish.flags and not wish.get("f"):
        raise UsageError("only the pool password can be stored here", hint="add -c")
    elsewhere = sorted(wish.values.keys() & set("nsHSA")) + sorted(wish.flags & {"P"})
    if elsewhere:
        raise UsageError(f"-{elsewhere[0]} is not for the pool password of this machine")
    if action == "query":
        streams.stderr.write("Querying the pool password is not supported.\n")
        return 1
    path = wish.get("f") or reach.config.get("SEC_PASSWORD_FILE")
    if not path:
        raise StorageError("the configuration names no SEC_PASSWORD_FILE")
    domain = reach.config.get("UID_DOMAIN") or ""
    if action == "add":
        write_password(path, read_password(wish, streams))
    else:
        try:
            os.unlink(path)
        except OSError as error:
            raise StorageError(f"cannot delete {path}: {error.strerror}") from None
    streams.stdout.write(
        f"Account: condor_pool@{domain}\nCredType: password\n\nOperation succeeded.\n"
    )
    return 0


def read_password(wish: Wish, streams: Streams) -> str:
    """Return the password from where the options say; UsageError for one that cannot be."""
    password = wish.get("p")
    source = wish.get("i")
    if "-" in (password, source):
        password = streams.stdin.readline().rstrip("\n")
    elif source:
        try:
            with open(source, encoding="utf-8") as file:
                password = file.readline().rstrip("\n")
        except OSError as error:
            raise StorageError(f"cannot read {source}: {error.strerror}") from None
    elif not password:
        password = getpass.getpass("Enter password: ")
    if not password or len(password) > LONGEST:
        raise UsageError(f"a password has 1 to {LONGEST} characters")
    return password


def write_password(path: str, password: str) -> None:
    """Write the password, disguised as the reference does, for this user's eyes only."""
    try:
        os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(fd, "wb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(scramble(password.encode() + b"\0"))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}") from None
