"""`condor_drain`: have a machine give up its jobs and take no new ones, or stop doing so.

What a draining does to slots is the startd's (`startd/slot_machine.py`); here its request is made
from the command line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kettle.classad import ClassAd
from kettle.client.daemon import ask_ad
from kettle.client.pool import STARTD
from kettle.errors import ClassAdSyntaxError, UnknownHostError, Unreached, UsageError
from kettle.tools.failures import explain_unknown_host
from kettle.tools.options import Given, Option, UnknownOptionError, read_options, run_tool
from kettle.tools.phrases import Phrases, SaidError
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach
from kettle.tools.tokens.token_commands import Wish
from kettle.wire.commands import Command
from kettle.wire.messages.claims import DrainCompletion, DrainHowFast

SPEEDS = {
    "graceful": DrainHowFast.GRACEFUL,
    "quick": DrainHowFast.QUICK,
    "fast": DrainHowFast.FAST,
}
COMPLETIONS = {
    "resume-on-completion": DrainCompletion.RESUME,
    "exit-on-completion": DrainCompletion.EXIT,
    "restart-on-completion": DrainCompletion.RESTART,
    "reconfig-on-completion": DrainCompletion.RECONFIG,
}
OPTIONS = (
    Option("help", 1),
    Option("version", 1),
    Option("debug", 3, qualified=True),
    Option("verbose", 4),
    Option("pool", 1, 1),
    Option("cancel", 1),
    Option("fast", 1),
    Option("quick", 1),
    Option("graceful", 1),
    Option("resume-on-completion", 1),
    Option("exit-on-completion", 2),
    Option("restart-on-completion", 4),
    Option("reconfig-on-completion", 3),
    Option("reason", 3, 1),
    Option("request-id", 3, 1),
    Option("check", 2, 1),
    Option("start", 5, 1),
)
PHRASES = Phrases(
    unknown="",
    missing="condor_drain: '{word}' requires another argument\n",
)
# What ends a command line that means nothing; but a missing word ends it with 1.
WRONG = 2
USAGE = """\
Usage: condor_drain [OPTIONS] MACHINE
       condor_drain -cancel [-request-id ID] MACHINE

Have the slots of a machine give up their jobs and take no new ones.

  -graceful      jobs get their retirement time and their vacate time (the default)
  -quick         they get their vacate time only
  -fast          they are killed
  -reason TEXT   what the machine's ads say while it drains
  -check EXPR    drain only if EXPR is true for every slot
  -start EXPR    START while the machine drains; no job starts otherwise
  -resume-on-completion, -exit-on-completion, -restart-on-completion, -reconfig-on-completion
                 what the startd does once all slots are drained; it waits, if nothing is said
  -cancel        stop draining, or with -request-id this draining only
  -verbose       print the request id, which -cancel takes
  -pool HOST     ask this pool's collector where the machine's startd is
"""


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_drain`."""

    def act(wish: Wish, environment: Mapping[str, str], streams: Streams) -> int:
        return drain(wish, Reach(environment, pool=wish.get("pool")), streams)

    return run_tool(
        argv,
        environment,
        streams,
        usage=USAGE,
        read_wish=read_wish,
        act=act,
        complain=lambda error: PHRASES.render(error, USAGE),
        prefix="ERROR: ",
        after_help=1,
    )


def read_wish(words: Sequence[str]) -> Wish:
    """Return what the command line asks for; the machine is its last word, and the only one."""
    wish = Wish()
    for item in read_options_until(words, wish):
        if item.name.endswith("-on-completion"):
            given = wish.flags & COMPLETIONS.keys()
            if given:
                why = f"conflicts with previous use of '-{min(given)}'"
                raise SaidError(f"condor_drain: '{item.word}' {why}", with_usage=True)
        if item.values:
            wish.values[item.name] = item.value
        else:
            # The last word about the speed counts.
            wish.flags -= SPEEDS.keys() if item.name in SPEEDS else set()
            wish.flags.add(item.name)
    if len(wish.words) != 1:
        raise SaidError("ERROR: must specify one target machine", exit_code=WRONG)
    check_wish(wish)
    return wish


def read_options_until(words: Sequence[str], wish: Wish) -> Iterator[Given]:
    """Yield the options before the first word that is none; it and what follows are `wish.words`.

    Raises SaidError for an option that does not exist.
    """
    unexpected = "ERROR: unexpected argument: {}"
    try:
        for item in read_options(words, OPTIONS):
            if not item.name:
                wish.words = list(words[item.index :])
                break
            yield item
    except UnknownOptionError as error:
        raise SaidError(unexpected.format(error.word), exit_code=WRONG) from None
    if wish.words[:1] == ["-"]:
        raise SaidError(unexpected.format("-"), exit_code=WRONG)


def check_wish(wish: Wish) -> None:
    """Raise SaidError for options that do not go together."""
    said = ""
    if "cancel" not in wish.flags:
        if "request-id" in wish.values:
            said = "-request-id may only be used with -cancel"
    elif "check" in wish.values:
        said = "-check may not be used with -cancel"
    elif wish.flags & COMPLETIONS.keys():
        said = "cannot use an -on-completion option with -cancel"
    elif "reason" in wish.values:
        said = "cannot use -reason with -cancel"
    if said:
        raise SaidError(f"ERROR: {said}", exit_code=WRONG)


def drain(wish: Wish, reach: Reach, streams: Streams) -> int:
    """Begin or end a draining."""
    machine, cancel = wish.words[0], "cancel" in wish.flags
    request = make_cancellation(wish) if cancel else make_request(wish)
    where = machine if machine.startswith("<") else ""
    try:
        startd = reach.pool.locate(STARTD, machine, address=where, to_command=True)
    except UnknownHostError as error:
        raise SaidError(f"ERROR: {explain_unknown_host(error, machine, reach.config)}") from None
    command = Command.CANCEL_DRAIN_JOBS if cancel else Command.DRAIN_JOBS
    try:
        answer = ask_ad(reach.connector, startd.address, command, request)
    except Unreached:
        streams.stderr.write(
            f"Attempt to send {command.name} to startd {startd.address} failed\n"
            f"Failed to start {command.name} command to {'(null)' if where else startd.name}\n"
        )
        return 1
    if answer.boolean("Result") is not True:
        why = answer.string("ErrorString") or "it does not say why"
        code = answer.integer("ErrorCode") or 0
        streams.stderr.write(
            f"Attempt to send {command.name} to startd {startd.address} failed\n"
            f"Received failure from {startd.name} in response to {command.name} request: "
            f"error code {code}: {why}\n"
        )
        return 1
    if cancel:
        streams.stdout.write(f"Sent request to cancel draining on {startd.name}\n")
        return 0
    streams.stdout.write(
        f"Sent request to drain the startd {startd.address} with {startd.name}. "
        "This only affects the single startd; any other startds running on the same host "
        "will not be drained.\n"
    )
    if "verbose" in wish.flags:
        streams.stdout.write(f"\tRequest id: {answer.string('RequestID') or ''}\n")
    return 0


def make_request(wish: Wish) -> ClassAd:
    """Return the request to drain; UsageError for an expression that is none."""
    speeds = wish.flags & SPEEDS.keys()
    completions = wish.flags & COMPLETIONS.keys()
    request = ClassAd(
        {
            "HowFast": int(SPEEDS[min(speeds, default="graceful")]),
            "ResumeOnCompletion": int(
                COMPLETIONS[min(completions)] if completions else DrainCompletion.NOTHING
            ),
        }
    )
    if wish.get("reason"):
        request["DrainReason"] = wish.get("reason")
    for option, attribute in (("check", "CheckExpr"), ("start", "StartExpr")):
        if text := wish.get(option):
            try:
                request.insert_text(attribute, text, check=True)
            except ClassAdSyntaxError as error:
                raise UsageError(f"-{option} {text} is no expression: {error}") from error
    return request


def make_cancellation(wish: Wish) -> ClassAd:
    """Return the request to stop draining."""
    return ClassAd({"RequestID": wish.get("request-id")} if wish.get("request-id") else {})
