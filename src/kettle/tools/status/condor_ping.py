"""`condor_ping`: ask a daemon what we may do there, as whom, and how that was proven."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kettle.attributes.version import CONDOR_VERSION
from kettle.classad import ClassAd
from kettle.client.daemon import Ping, ping
from kettle.client.pool import KINDS, SCHEDD, Located
from kettle.errors import (
    AuthorizationDenied,
    KettleError,
    NotConnected,
    UnknownHostError,
    UsageError,
)
from kettle.tools.failures import explain
from kettle.tools.options import (
    MANY,
    BriefError,
    Given,
    MissingValueError,
    Option,
    UnknownOptionError,
    read_options,
    run_tool,
)
from kettle.tools.phrases import Phrases, SaidError
from kettle.tools.printing.columns import Columns
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach
from kettle.wire.commands import Command, command_name
from kettle.wire.security.negotiation import display_method
from kettle.wire.sinful import Sinful

OPTIONS = (
    Option("help", qualified=True),
    Option("version", shortest=3),
    Option("debug", qualified=True),
    Option("config", shortest=3, values=1),
    Option("address", shortest=1, values=1),
    Option("pool", values=1),
    Option("name", values=1),
    Option("subsystem", values=1),
    Option("type", values=1),
    Option("quiet"),
    Option("table", shortest=2),
    Option("verbose", shortest=1),
    Option("long"),
    Option("format", values=2),
    Option("af", shortest=2, values=MANY, qualified=True),
    Option("autoformat", shortest=5, values=MANY, qualified=True),
)
LEVELS = {
    "ALLOW": Command.DC_NOP,
    "READ": Command.DC_NOP_READ,
    "WRITE": Command.DC_NOP_WRITE,
    "NEGOTIATOR": Command.DC_NOP_NEGOTIATOR,
    "ADMINISTRATOR": Command.DC_NOP_ADMINISTRATOR,
    "OWNER": Command.DC_NOP_OWNER,
    "CONFIG": Command.DC_NOP_CONFIG,
    "DAEMON": Command.DC_NOP_DAEMON,
    "ADVERTISE_STARTD": Command.DC_NOP_ADVERTISE_STARTD,
    "ADVERTISE_SCHEDD": Command.DC_NOP_ADVERTISE_SCHEDD,
    "ADVERTISE_MASTER": Command.DC_NOP_ADVERTISE_MASTER,
}
USAGE = """\
Usage: condor_ping [OPTIONS] [TOKEN…]

TOKEN is an authorization level (READ, WRITE, …), a command's name or number, or ALL (every
level); without one, WRITE. The exit code is 0 if all of it is allowed.

  -help              show this and end
  -version           show the version and end
  -debug             say more about what is being done
  -config FILE       read this configuration
  -address SINFUL    ask the daemon at this address
  -pool HOST         ask this pool's collector where the daemon is
  -name NAME         ask the daemon of this name
  -type SUBSYSTEM    ask this kind of daemon (schedd, if nothing is said); also -subsystem
  -quiet             say nothing, only end with the code
  -table             one line for each token
  -verbose           all that is known, line by line
  -long              the session's ad
  -format FORMAT EXPR, -af[:jlhVr,tngTY] EXPR...
                     of the session's ad, which also has Name, From and Result
One of these forms at most.
"""
# Compat: the reference also prints its table of levels, on stdout; that helps nobody and is left
# out (test_a_wrong_option_of_condor_ping_prints_no_table_of_levels).
PHRASES = Phrases(
    unknown="ERROR: Unknown argument: {word}\n\n",
    missing="ERROR: {word} requires an argument.\n\n",
    missing_of={"format": "ERROR: -format requires 2 arguments\n\n"},
)
NOT_BOTH = "ERROR: -address cannot be used with -pool or -name.\n"
WRITE_MEANT = (
    "WARNING: Missing <authz-level | command-name | command-int> argument, defaulting to WRITE.\n"
)


@dataclass
class Wish:
    """Whom to ask, what, and how to show it."""

    tokens: list[str] = field(default_factory=list)
    kind: str = ""
    form: str = ""
    columns: Columns = field(default_factory=Columns)
    reach: dict[str, str] = field(default_factory=dict)
    config: str = ""


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_ping`."""
    return run_tool(
        argv,
        environment,
        streams,
        usage=USAGE,
        read_wish=lambda words: read_wish(list(read_options(words, OPTIONS))),
        act=ask,
        complain=complain,
    )


def complain(error: UsageError) -> str:
    """Return what is said of a command line that makes no sense."""
    if isinstance(error, (UnknownOptionError, MissingValueError, SaidError)):
        return PHRASES.render(error, USAGE)
    return f"ERROR: {error}\n"


def ask(wish: Wish, environment: Mapping[str, str], streams: Streams) -> int:
    """Ask the daemon about each token; 1 if it cannot be asked, or anything is not allowed."""
    tokens = _choose_commands(wish, streams)
    if tokens is None:
        return 1
    if wish.config:
        environment = {**environment, "CONDOR_CONFIG": wish.config}
    if _names_nobody(wish):
        streams.stderr.write("WARNING: Missing daemon argument, defaulting to SCHEDD.\n")
    kind = wish.kind.lower() or "schedd"
    asked = wish.reach.get("name") or wish.reach.get("address") or "(null)"
    try:
        reach = Reach(environment, **wish.reach)
        found = reach.locate(KINDS.get(kind, SCHEDD))
    except KettleError as error:
        # A pool that is no host is said even to who wants to hear nothing.
        if _is_about_pool(wish, error):
            streams.stderr.write(f"ERROR: {error}\n")
        elif wish.form != "quiet":
            streams.stderr.write(f"ERROR: couldn't locate {asked}!\n")
        return 1
    whom = _describe(wish, found)
    if wish.form == "table":
        streams.stdout.write(render_row(TITLES))
    good = True
    for token, command in tokens:
        try:
            allowed, text = _ask_one(wish, reach, found.address, whom, token, command)
        except NotConnected as error:
            streams.stderr.write(f"ERROR: failed to make connection to {error.address}\n")
            good = False
            continue
        good = good and allowed
        streams.stdout.write(text)
    return 0 if good else 1


def _choose_commands(wish: Wish, streams: Streams) -> list[tuple[str, int]] | None:
    """Return each token with its command; None, said of each that is none, where some are none."""
    if not wish.tokens:
        wish.tokens = ["WRITE"]
        if wish.form == "table":
            streams.stderr.write(WRITE_MEANT)
    chosen = [(token, choose_command(token)) for token in wish.tokens]
    wrong = [token for token, command in chosen if command is None]
    if wish.form != "quiet":
        streams.stderr.writelines(
            f'ERROR: Could not understand TOKEN "{token}".\n' for token in wrong
        )
    found = [(token, command) for token, command in chosen if command is not None]
    return None if wrong else found


def _is_about_pool(wish: Wish, error: KettleError) -> bool:
    return isinstance(error, UnknownHostError) and error.host == wish.reach.get("pool")


def _names_nobody(wish: Wish) -> bool:
    """Whether the table is of a daemon that the command line does not name."""
    return wish.form == "table" and not wish.kind and "address" not in wish.reach


def _describe(wish: Wish, found: Located) -> str:
    """Return whom we ask, as the output calls it."""
    if wish.reach.get("address"):
        return f"daemon at <{found.address.endpoint}>"
    if wish.reach.get("name") and not found.here:
        return found.name
    return f"local {KINDS.get(wish.kind.lower() or 'schedd', SCHEDD).title}"


def _ask_one(
    wish: Wish, reach: Reach, address: Sinful, whom: str, token: str, command: int
) -> tuple[bool, str]:
    """Return whether one command is allowed, and what is printed of it, if anything.

    Raises NotConnected where nobody is to be asked of any.
    """
    failure: KettleError | None
    try:
        answer = ping(reach.connector, address, command)
    except NotConnected:
        raise
    except KettleError as error:
        answer, failure, allowed = NOTHING, error, False
    else:
        failure, allowed = answer.denied, answer.allowed
    if wish.form == "quiet":
        return allowed, ""
    if wish.form == "columns":
        ad = answer.session_ad if failure is None else ClassAd({"AuthCommand": command})
        return allowed, render_columns(wish.columns, ad, command, whom, failure, allowed=allowed)
    if failure is not None:
        return allowed, render_failure(wish.form, token, whom, failure)
    return allowed, render(wish.form, token, command, whom, answer)


# What is answered where nothing is.
NOTHING = Ping(False, "", "", False, False, "", "", ClassAd())


def render_columns(
    columns: Columns,
    ad: ClassAd,
    command: int,
    whom: str,
    failure: KettleError | None,
    *,
    allowed: bool,
) -> str:
    """Return what -af and -format show of a session's ad, or of what is left of a failed one.

    The first row has the headings above it, where some were asked for.
    """
    above = ""
    if isinstance(failure, AuthorizationDenied):
        ad["Result"], ad["MyRemoteUserName"] = failure.code, failure.user
        ad["AuthMethods"] = display_method(failure.method)
    elif failure is not None:
        above = "#" + "|".join(explain(failure)) + "\n"
        ad["Result"] = "FAILED"
    else:
        ad["Result"] = "ALLOWED" if allowed else "DENIED"
    name = command_name(command)
    ad["Name"] = f"command {name}" if name.isdecimal() else name
    ad["From"] = whom
    row = columns.render(ad)
    headings = columns.render_headings() if columns.headings else ""
    columns.headings = False
    return headings + above + row


def read_wish(given: Sequence[Given]) -> Wish:
    """Return what the options ask for; raise UsageError."""
    wish = Wish()
    for item in given:
        match item.name:
            case "":
                words = list(LEVELS) if item.value.upper() == "ALL" else [item.value]
                wish.tokens += words
            case "pool" | "name" | "address":
                wish.reach[item.name] = item.value
                if "address" in wish.reach and len(wish.reach) > 1:
                    raise SaidError(NOT_BOTH, with_usage=True)
            case "type" | "subsystem":
                if item.value.lower() not in KINDS:
                    why = f"ERROR: unrecognized daemon type: {item.value}\n"
                    raise SaidError(why, with_usage=True)
                wish.kind = item.value
            case "config":
                wish.config = item.value
            case "quiet" | "table" | "verbose" | "long":
                _choose_form(wish, item.name)
            case "format":
                _choose_form(wish, "columns")
                wish.columns.add_format(*item.values)
            case "af" | "autoformat":
                _choose_form(wish, "columns")
                wish.columns.add_auto(item.qualifiers, list(item.values))
    address = wish.reach.get("address")
    if address is not None and not _is_address(address):
        raise BriefError(f"ERROR: unable to parse sinful string: {address}")
    return wish


def _is_address(text: str) -> bool:
    """Whether it is an address as daemons write theirs; a host and a port alone are none."""
    try:
        return text.startswith("<") and bool(Sinful.parse(text).port)
    except KettleError:
        return False


def _choose_form(wish: Wish, form: str) -> None:
    """Take a form; raise SaidError where another was chosen. Two may be asked for twice."""
    if wish.form and (wish.form != form or form not in {"long", "columns"}):
        why = "ERROR: only one output mode may be specified.\n"
        raise SaidError(why, with_usage=True)
    wish.form = form


def choose_command(token: str) -> int | None:
    """Return the command to ask about; None for a word that is none."""
    level = LEVELS.get(token.upper())
    if level is not None:
        return int(level)
    if token.isdecimal():
        return int(token)
    if token.upper() in Command.__members__:
        return int(Command[token.upper()])
    return None


TITLES = ("Instruction", "Authentication", "Encryption", "Integrity", "Decision", "Identity")


def render_row(cells: Sequence[str]) -> str:
    """Return one line of the table."""
    first, method, cipher, integrity, decision, identity = cells
    return f"{first:>20} {method:>14} {cipher:>10} {integrity:>9} {decision:>8} {identity}\n"


def render(form: str, token: str, command: int, whom: str, answer: Ping) -> str:
    """Return what is printed about one token."""
    method = display_method(answer.method) or "none"
    cipher = "AES" if answer.encrypted else "none"
    seal = "AES" if answer.sealed else "none"
    if form == "table":
        decision = "ALLOW" if answer.allowed else "DENY"
        return render_row((token, method, cipher, seal, decision, answer.user))
    if form == "verbose":
        rows = (
            ("Destination", whom),
            ("Remote Version", answer.remote_version),
            ("Local  Version", CONDOR_VERSION),
            ("Session ID", answer.session_id),
            ("Instruction", token),
            ("Command", str(command)),
            ("Encryption", cipher),
            ("Integrity", seal),
            *_render_methods(method, answer),
            ("Remote Mapping", answer.user),
            ("Authorized", "TRUE" if answer.allowed else "FALSE"),
        )
        lines = "".join(f"{name + ':':<28} {value}\n" for name, value in rows)
        return f"{lines}\n"
    if form == "long":
        decision = "ALLOWED" if answer.allowed else "DENIED"
        lines = "".join(f"{line}\n" for line in answer.session_ad.lines())
        return f"# {token} command to {whom} is {decision}\n{lines}\n"
    how = describe_protection(method, cipher, seal)
    outcome = "succeeded" if answer.allowed else "failed"
    return f"{token} command using ({how}) {outcome} as {answer.user} to {whom}.\n"


def render_failure(form: str, token: str, whom: str, error: KettleError) -> str:
    """Return what is printed about a token when the daemon could not be asked."""
    if form == "quiet":
        return ""
    if form == "table":
        failed = "FAIL  (use -verbose for more info)"
        return render_row((token, "FAIL", "FAIL", "FAIL", "FAIL", failed))
    if form == "verbose":
        return "".join(f"{line}\n" for line in (f"{token} failed!", *explain(error), ""))
    if form == "long":
        return f"#{'|'.join(explain(error))}\n# {token} command to {whom} is FAILED\n"
    return f"{token} failed!  Use -verbose for more information.\n"


def describe_protection(method: str, cipher: str, seal: str) -> str:
    """Return how the connection was protected, in the words of the one-line form.

    Compat: integrity without encryption is MD5 to the reference, which uses AES all the same
    (test_what_was_agreed_on_is_said).
    """
    words = (("encryption", cipher), ("integrity", seal), ("authentication", method))
    shown = [f"no {what}" if how == "none" else how for what, how in words]
    return f"{shown[0]}, {shown[1]}, and {shown[2]}"


def _render_methods(method: str, answer: Ping) -> list[tuple[str, str]]:
    if method == "none":
        return [("Authentication", method)]
    return [
        ("Authenticated using", method),
        ("All authentication methods", ",".join(answer.common_methods)),
    ]
