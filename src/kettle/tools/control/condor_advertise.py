"""`condor_advertise`: sends ads from a file to the collector, as if a daemon had.

For ads of things that no daemon speaks for, and for tests (R074).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kettle.classad import ClassAd, parse_ads
from kettle.errors import ClassAdSyntaxError, KettleError, UnknownHostError, Unreached
from kettle.nearest import LOOSE, nearest_of
from kettle.runtime.storage.texts import LARGEST_ADS, read_stream, read_text
from kettle.tools.options import Option, read_options, run_tool
from kettle.tools.phrases import Phrases, SaidError
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach

COMMANDS = (
    "UPDATE_STARTD_AD", "UPDATE_SCHEDD_AD", "UPDATE_MASTER_AD", "UPDATE_CKPT_SRVR_AD",
    "UPDATE_SUBMITTOR_AD", "UPDATE_COLLECTOR_AD", "UPDATE_LICENSE_AD", "UPDATE_STORAGE_AD",
    "UPDATE_NEGOTIATOR_AD", "UPDATE_HAD_AD", "UPDATE_AD_GENERIC", "UPDATE_STARTD_AD_WITH_ACK",
    "UPDATE_GRID_AD", "UPDATE_ACCOUNTING_AD", "UPDATE_OWN_SUBMITTOR_AD", "MERGE_STARTD_AD",
    "INVALIDATE_STARTD_ADS", "INVALIDATE_SCHEDD_ADS", "INVALIDATE_MASTER_ADS",
    "INVALIDATE_CKPT_SRVR_ADS", "INVALIDATE_SUBMITTOR_ADS", "INVALIDATE_COLLECTOR_ADS",
    "INVALIDATE_LICENSE_ADS", "INVALIDATE_STORAGE_ADS", "INVALIDATE_NEGOTIATOR_ADS",
    "INVALIDATE_HAD_ADS", "INVALIDATE_ADS_GENERIC", "INVALIDATE_GRID_ADS",
    "INVALIDATE_ACCOUNTING_ADS",
)  # fmt: skip

USAGE = """\
Usage: condor_advertise [options] COMMAND [FILE]
  -pool HOST[:PORT]   this pool's collector
  -tcp                over TCP, as always here; -udp is accepted and does the same
  -multiple           several ads, separated by empty lines
  -help, -version
FILE is standard input if it is missing or -. COMMAND is one of:
""" + "".join(f"    {name}\n" for name in COMMANDS)

OPTIONS = (
    Option("help", 4),
    Option("pool", 4, 1),
    Option("tcp", 1, ignored=True),
    Option("udp", 1, ignored=True),
    Option("multiple", 1),
    Option("version", 7),
    Option("debug", 5),
)

PHRASES = Phrases(
    unknown="Unknown argument: {word}\n\n", missing="-{name} requires an argument.\n\n"
)
# What the one acknowledged update answers.


@dataclass(slots=True)
class Wish:
    """What the command line asks for."""

    command: str = ""
    file: str = ""
    pool: str = ""
    multiple: bool = False


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_advertise`."""
    return run_tool(
        argv,
        environment,
        streams,
        usage=USAGE,
        read_wish=read_wish,
        act=advertise,
        complain=lambda error: PHRASES.render(error, USAGE),
        prefix="ERROR: ",
    )


def advertise(wish: Wish, environment: Mapping[str, str], streams: Streams) -> int:
    """Send the ads to every collector; 1 if one did not take all of them."""
    try:
        ads = read_ads(wish, streams)
        command = wish.command or guess_command(ads[0])
    except (KettleError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        opened = f"couldn't open {wish.file}: " if isinstance(error, OSError) else ""
        streams.stderr.write(f"{opened}{reason}\n")
        return 1
    from kettle.client.advertise import send_ads
    from kettle.wire.commands import Command

    reach = Reach(environment, pool=wish.pool)
    try:
        collectors = reach.pool.collectors()
    except UnknownHostError as error:
        streams.stderr.write(f"couldn't locate collector: {error}\n")
        return 1
    complete = True
    for address in collectors:
        sent = 0
        try:
            sent = send_ads(reach.connector, address, Command[command], ads)
        except Unreached:
            streams.stderr.write(f"failed to send classad to {address}\n")
        except KettleError as error:
            streams.stderr.write(f"failed to send classad to {address}: {error}\n")
        complete = complete and sent == len(ads)
        noun = "ad" if len(ads) == 1 else "ads"
        streams.stdout.write(
            f"Sent {sent} of {len(ads)} {noun} to {address.host}:{address.port}.\n"
        )
    return 0 if complete else 1


def read_wish(words: Sequence[str]) -> Wish:
    """Return what the command line asks for; raise UsageError."""
    wish = Wish()
    for option in read_options(words, OPTIONS):
        if option.word == "-":
            # As the reference, to which it is an abbreviation of -tcp: standard input is read for
            # want of a file, not for this.
            continue
        if not option.name:
            _take_word(wish, option.value)
        elif option.name == "pool":
            wish.pool = option.value
        elif option.name == "multiple":
            wish.multiple = True
    return wish


def _take_word(wish: Wish, word: str) -> None:
    """Take the command, or the file."""
    if wish.command:
        if wish.file:
            raise SaidError(f"Extra argument: {word}\n", with_usage=True)
        wish.file = word
        return
    wish.command = word.upper()
    if wish.command not in COMMANDS:
        # Compat: the reference does not name the nearest one
        # (test_a_misspelt_command_names_the_nearest_and_exits_with_1).
        near = nearest_of(wish.command, COMMANDS, LOOSE)
        hint = f" (did you mean {near}?)" if near else ""
        raise SaidError(f"Unknown command name {word}{hint}\n", with_usage=True)


def guess_command(ad: ClassAd) -> str:
    """Return the update that fits an ad's MyType; KettleError if it has none."""
    kind = (ad.string("MyType") or "").upper()
    if not kind:
        raise KettleError("MyType not set in ad, aborting.")
    command = f"UPDATE_{kind}_AD"
    return command if command in COMMANDS else "UPDATE_AD_GENERIC"


def is_whole(text: str) -> bool:
    """Whether no line of ads in the long form has to be left out: half an ad is not sent."""
    if text.lstrip()[:1] in "[{<":
        return True
    lines = (line.strip() for line in text.splitlines())
    return all("=" in line for line in lines if line and not line.startswith("#"))


def read_ads(wish: Wish, streams: Streams) -> list[ClassAd]:
    """Return the ads to send; KettleError if there is none or one does not parse."""
    name = wish.file or "(stdin)"
    if not wish.file:
        text = read_stream(streams.stdin, name, limit=LARGEST_ADS)
    else:
        text = read_text(wish.file, limit=LARGEST_ADS)
    if not text.strip():
        raise KettleError(f"{name} is empty")
    if not is_whole(text):
        raise KettleError(f"couldn't parse ClassAd in {name}")
    try:
        ads = [ad for ad in parse_ads(text) if len(ad)]
        for ad in ads:
            for attribute in ad.names():
                ad.lookup(attribute)
    except ClassAdSyntaxError as error:
        raise KettleError(f"couldn't parse ClassAd in {name}: {error}") from error
    if not ads:
        raise KettleError(f"couldn't parse ClassAd in {name}")
    if len(ads) > 1 and not wish.multiple:
        # Without -multiple the empty lines between are no separators.
        whole = ClassAd()
        for ad in ads:
            whole.update(ad)
        ads = [whole]
    return ads
