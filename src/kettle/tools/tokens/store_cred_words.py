"""The command line of `condor_store_cred`: an action with a type, and options of one letter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kettle.classad import ClassAd
from kettle.structs import Struct, field
from kettle.tools.options import Asked
from kettle.tools.phrases import SaidError
from kettle.wire.messages.credentials import CredentialMode

if TYPE_CHECKING:
    from kettle.client.pool import Kind
    from kettle.config import Config
    from kettle.tools.reach import Reach
    from kettle.wire.sinful import Sinful

USAGE = """\
Usage: condor_store_cred ACTION[-TYPE] [OPTIONS]

Store, delete or look for the pool password, or a credential of yours.

  ACTION       add, delete or query
  TYPE         pwd (if nothing is said), krb or oauth
  -c           the pool password: the master keeps it; root writes it to SEC_PASSWORD_FILE
  -u USER@HOST whose credential; yours, if nothing is said
  -p PASSWORD  this one instead of asking; - reads all of stdin
  -i FILE      read it from a file; - is stdin
  -s SERVICE   of which service an oauth credential is; -H HANDLE: which of several
  -S SCOPES    its scopes; -A AUDIENCE: for whom it is; -P: it is an access token
  -n NAME      ask the master or schedd of this name
  -f FILE      write a password to this file, and nothing else
"""
# Options with a word after them: what that word is, and what is said of a second one.
_ONLY_ONE = "ERROR: only one '-{}' arg may be provided\n"
_ALREADY = "ERROR: OAuth {} already specified\n"
_OPTIONS = {
    "n": ("name", _ONLY_ONE.format("n")),
    "p": ("password", _ONLY_ONE.format("p")),
    "u": ("username", "ERROR: only one of '-s' or '-u' may be provided\n"),
    "i": ("filename", "ERROR: credential filename already specified\n"),
    "s": ("service", _ALREADY.format("service")),
    "H": ("handle", _ALREADY.format("handle")),
    "S": ("scopes", _ALREADY.format("scopes")),
    "A": ("audience", _ALREADY.format("audience")),
    "f": ("filename", ""),
}
_ACTIONS = {
    "add": CredentialMode.ADD,
    "delete": CredentialMode.DELETE,
    "query": CredentialMode.QUERY,
}
# Each type's name, and how short it may be.
_TYPES = (
    ("pwd", 1, CredentialMode.PASSWORD),
    ("password", 2, CredentialMode.PASSWORD),
    ("krb", 2, CredentialMode.KERBEROS),
    ("kerberos", 2, CredentialMode.KERBEROS),
    ("oauth", 2, CredentialMode.OAUTH),
    ("oath", 2, CredentialMode.OAUTH),
    ("scitokens", 3, CredentialMode.OAUTH),
)
_DETAILS = {"s": "service", "H": "handle", "S": "scopes", "A": "audience"}
_LONGEST_USER = 255


class Wish(Struct):
    """What the command line asks for; `values` has the words of the options by their letters."""

    mode: int = -1
    values: dict[str, str] = field(default_factory=dict)
    pool: bool = False
    plain: bool = False
    asks_help: bool = False

    def get(self, letter: str) -> str:
        """Return an option's word, empty if it was not given."""
        return self.values.get(letter, "")

    @property
    def operation(self) -> int:
        """ADD, DELETE or QUERY."""
        return self.mode & CredentialMode.OPERATIONS

    @property
    def is_legacy(self) -> bool:
        """Whether it is a password in the old form, of which no type was said."""
        return bool(self.mode & CredentialMode.LEGACY)

    @property
    def is_for_monitors(self) -> bool:
        """Whether it is of a type that only a credential daemon keeps."""
        kind = self.mode & CredentialMode.TYPES
        return kind in {CredentialMode.KERBEROS, CredentialMode.OAUTH}

    @property
    def type_name(self) -> str:
        """The type in a word."""
        kind = self.mode & CredentialMode.TYPES
        names = {int(CredentialMode.KERBEROS): "kerberos", int(CredentialMode.OAUTH): "oauth"}
        return names.get(kind, "password")

    @property
    def details(self) -> ClassAd:
        """What the credential is for, as the wire has it."""
        found = ClassAd({_DETAILS[letter]: self.values[letter] for letter in self._about()})
        if self.mode & CredentialMode.TYPES == CredentialMode.OAUTH:
            found["NeedRefresh"] = not self.plain
        return found

    def _about(self) -> list[str]:
        return [letter for letter in _DETAILS if letter in self.values]

    def chosen_daemon(self, config: Config) -> Kind | None:
        """Return which daemon the options mean; None is whoever is here for it."""
        from kettle.client.pool import CREDD, MASTER, SCHEDD

        if self.get("n"):
            return MASTER if self.pool and self.operation != CredentialMode.QUERY else SCHEDD
        if self.is_for_monitors or (config.get("CREDD_HOST") and not self.pool):
            return CREDD
        return None

    def locate(self, reach: Reach, kind: Kind) -> Sinful:
        """Return where a daemon is; the credential daemon's host may be configured."""
        from kettle.client.pool import CREDD

        host = reach.config.get("CREDD_HOST") if kind is CREDD else ""
        if host and (":" in host or "<" in host):
            return reach.pool.locate(kind, address=host).address
        if host:
            return reach.pool.locate(kind, host).address
        return reach.locate(kind).address


def read_wish(words: Sequence[str]) -> Wish:
    """Return what the command line asks for; raise SaidError or Asked.

    Compat: only an option's first letter counts, as in the reference (`-nobody` is -n); -version
    is our own. Shown by test_an_administrators_tool_says_what_the_reference_says.
    """
    wish = Wish()
    rest = list(reversed(words))
    while rest:
        word = rest.pop()
        letter = word[1:2]
        if not word.startswith("-"):
            _read_action(wish, word)
        elif word.lstrip("-") == "version":
            raise Asked("version")
        elif letter in _OPTIONS:
            what, twice = _OPTIONS[letter]
            if not rest:
                message = f"ERROR: Option '{word}' requires a {what} argument\n"
                raise SaidError(message.rstrip("\n"), with_usage=True)
            _take(wish, letter, rest.pop(), twice)
        elif letter and letter in "cdPh":
            _switch(wish, letter)
        else:
            raise SaidError(f"ERROR: Unrecognized option - '{word}'", with_usage=True)
    _settle(wish)
    return wish


def _read_action(wish: Wish, word: str) -> None:
    name, dash, kind = word.partition("-")
    operation = _ACTIONS.get(name.lower())
    if operation is None:
        shown = name if word[:1].lower() in {"a", "d", "q"} else word
        raise SaidError(f"ERROR: Unrecognized command - '{shown}'\n", with_usage=True)
    if wish.mode < 0:
        wish.mode = operation | (_type_of(f"-{kind}") if dash else 0)
    elif wish.operation != operation:
        raise SaidError("ERROR: exactly one command must be provided", with_usage=True)


def _type_of(tag: str) -> int:
    """Return the type that `-krb` and its like name; with two dashes only a whole name does."""
    found = tag.lower()
    for name, shortest, kind in _TYPES:
        if found == f"--{name}":
            return kind
        if len(found) > shortest and f"-{name}".startswith(found):
            return kind
    raise SaidError(f"ERROR: {tag} is not a known credential type", with_usage=True)


def _take(wish: Wish, letter: str, word: str, twice: str) -> None:
    if twice and (wish.get(letter) or (letter == "u" and wish.pool)):
        raise SaidError(twice.rstrip("\n"), with_usage=True)
    if letter == "u":
        word = word[:_LONGEST_USER]
        name, at, domain = word.partition("@")
        if not (name and at and domain):
            message = f"ERROR: Username '{word}' is not of the form: account@domain"
            raise SaidError(message, with_usage=True)
    if letter == "f":
        wish.mode = int(CredentialMode.ADD)
    wish.values[letter] = word


def _switch(wish: Wish, letter: str) -> None:
    if letter == "c":
        if wish.pool or wish.get("u"):
            message = "ERROR: only one '-c' or '-u' arg may be provided"
            raise SaidError(message, with_usage=True)
        wish.pool = True
    elif letter == "P":
        wish.plain = True
    elif letter == "h":
        wish.asks_help = True


def _settle(wish: Wish) -> None:
    """Raise SaidError where the options do not go together; note what follows from them."""
    if wish.mode < 0:
        return
    if not wish.mode & CredentialMode.TYPES:
        wish.mode |= CredentialMode.LEGACY | CredentialMode.PASSWORD
    if wish.operation != CredentialMode.ADD or not wish.is_for_monitors:
        return
    wrong = []
    if not wish.get("i"):
        wrong.append("ERROR: add-krb and add-oauth commands require a credential filename argument")
    if wish.type_name == "oauth" and not wish.get("s"):
        wrong.append("ERROR: add-oauth command requires a service name")
    if wrong:
        raise SaidError("\n".join(wrong))
    if wish.type_name == "kerberos":
        wish.mode |= CredentialMode.WAIT


def check_name(name: str, config: Config) -> None:
    """Raise SaidError for the name of a daemon on a host that nobody knows."""
    if name:
        from kettle.runtime.sockets.addresses import may_be_daemon

        if not may_be_daemon(name, config):
            raise SaidError(f"ERROR: {name} is not a valid daemon name")
