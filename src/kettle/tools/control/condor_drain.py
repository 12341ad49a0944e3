"""`condor_drain`: have a machine give up its jobs and take no new ones, or stop doing so.

What a draining does to slots is the startd's (`startd/slot_machine.py`); here its request is made
from the command line.
"""

from __future__ import annotations

from collections.abc import Mapping

from kettle.classad import ClassAd
from kettle.client.daemon import ask_ad
from kettle.client.pool import STARTD
from kettle.errors import ClassAdSyntaxError, RefusedError, UsageError
from kettle.tools.options import Option
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach
from kettle.tools.tokens.token_commands import Wish, run
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
    Option("verbose", shortest=4),
    Option("pool", values=1),
    Option("cancel", shortest=1),
    Option("fast"),
    Option("quick"),
    Option("graceful"),
    Option("resume-on-completion"),
    Option("exit-on-completion", shortest=2),
    Option("restart-on-completion", shortest=4),
    Option("reconfig-on-completion", shortest=3),
    Option("reason", shortest=3, values=1),
    Option("request-id", shortest=3, values=1),
    Option("check", shortest=2, values=1),
    Option("start", shortest=5, values=1),
)
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
    return run(argv, environment, streams, OPTIONS, USAGE, drain)


def drain(wish: Wish, reach: Reach, streams: Streams) -> int:
    """Begin or end a draining."""
    if len(wish.words) != 1:
        raise UsageError("one machine must be named")
    machine, cancel = wish.words[0], "cancel" in wish.flags
    request = make_cancellation(wish) if cancel else make_request(wish)
    startd = reach.pool.locate(STARTD, machine)
    command = Command.CANCEL_DRAIN_JOBS if cancel else Command.DRAIN_JOBS
    answer = ask_ad(reach.connector, startd.address, command, request)
    if answer.boolean("Result") is not True:
        why = answer.string("ErrorString") or "it does not say why"
        raise RefusedError(
            f"the startd of {machine} refuses: {why}", code=answer.integer("ErrorCode") or 0
        )
    if cancel:
        streams.stdout.write(f"{machine} no longer drains.\n")
        return 0
    streams.stdout.write(f"{machine} drains.\n")
    if "verbose" in wish.flags:
        streams.stdout.write(f"\tRequest id: {answer.string('RequestID') or ''}\n")
    return 0


def make_request(wish: Wish) -> ClassAd:
    """Return the request to drain; UsageError for options that do not go together."""
    if "request-id" in wish.values:
        raise UsageError("-request-id is for -cancel")
    speeds = wish.flags & SPEEDS.keys()
    completions = wish.flags & COMPLETIONS.keys()
    if len(speeds) > 1 or len(completions) > 1:
        several = " and ".join(f"-{name}" for name in sorted(speeds or completions))
        raise UsageError(f"{several} exclude each other")
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
                raise UsageError(f"-{option} {text} is no expression: {error}") from None
    return request


def make_cancellation(wish: Wish) -> ClassAd:
    """Return the request to stop draining; UsageError for options that do not belong to it."""
    others = (wish.flags - {"cancel", "verbose"}) | (wish.values.keys() - {"pool", "request-id"})
    if others:
        raise UsageError(f"-{min(others)} does not go with -cancel")
    return ClassAd({"RequestID": wish.get("request-id")} if wish.get("request-id") else {})
