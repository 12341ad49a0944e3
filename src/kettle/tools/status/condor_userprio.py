"""`condor_userprio`: who has which priority, who used how much; and setting both.

What is asked and what is shown. The words are read in `userprio_words.py`, what they change is in
`userprio_changes.py`, the table in `userprio_table.py`.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kettle.classad import ClassAd, parse_ads, parse_expression
from kettle.errors import ClassAdSyntaxError, NotConnected, Unreached
from kettle.runtime.storage.texts import LARGEST_ADS, read_text
from kettle.tools.failures import explain_in_line
from kettle.tools.options import run_tool
from kettle.tools.printing.columns import Columns
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach
from kettle.tools.status.userprio_changes import change, describe_unsent, locate
from kettle.tools.status.userprio_table import render_table
from kettle.tools.status.userprio_words import (
    COMMANDS,
    PHRASES,
    USAGE,
    UnreadableError,
    Wish,
    read_wish,
)

if TYPE_CHECKING:
    from kettle.wire.sinful import Sinful

# How long a user may not have used anything and is still shown.
RECENT_SECONDS = 86400


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_userprio`."""

    def act(wish: Wish, environment: Mapping[str, str], streams: Streams) -> int:
        reach = Reach(environment, **wish.reach)
        try:
            if wish.changes:
                chosen = min(wish.changes, key=list(COMMANDS).index)
                return change(reach, wish, wish.changes[chosen], streams)
            streams.stdout.write(show(reach, wish, streams))
        except UnreadableError as error:
            streams.stderr.write(f"{error}\n")
            return 1
        except Unreached as error:
            # It was said where it is, and does not answer.
            streams.stderr.write(explain_silence(wish, error))
            return 1
        return 0

    return run_tool(
        argv,
        environment,
        streams,
        usage=USAGE,
        read_wish=read_wish,
        act=act,
        complain=lambda error: PHRASES.render(error, USAGE),
        prefix="condor_userprio: ",
        after_help=1,
    )


def explain_silence(wish: Wish, error: Unreached) -> str:
    """Return what is said where nobody answers."""
    for name in sorted(wish.changes, key=list(COMMANDS).index):
        return describe_unsent(wish, name)
    if wish.from_negotiator and wish.rollup and not wish.names:
        return "failed to send GET_PRIORITY_ROLLUP command to negotiator\n"
    if wish.from_negotiator:
        return "Can't query negotiator for ads: \n"
    return f"Can't query collector for ads: {explain_in_line(error)}\n"


def show(reach: Reach, wish: Wish, streams: Streams) -> str:
    """Return what is printed about priorities and usage."""
    from kettle.client import accounting

    if wish.file:
        ads = _read_ads(wish.file)
    else:
        address = locate(reach, wish, streams)
        if not _is_expression(wish.constraint):
            whom = "negotiator" if wish.from_negotiator else "collector"
            raise UnreadableError(f"Can't query {whom} for ads: ")
        rolled_up = wish.rollup and wish.from_negotiator and not wish.names
        if rolled_up:
            if address is None:
                raise NotConnected("the negotiator is nowhere")
            one = accounting.read_priorities(reach.connector, address, rollup=True)
            if wish.long and wish.legacy:
                return _render_long([one])
            ads = _split(one)
        else:
            ads = fetch(reach, wish, address, streams)
    ads = _choose(wish, ads)
    if wish.long:
        return _render_long(ads)
    if wish.columns:
        return _render_columns(wish.columns, ads)
    since = wish.since
    if wish.names or wish.everybody:
        since = None
    elif since is None:
        since = time.time() - RECENT_SECONDS
    return render_table(
        ads,
        wish.shown,
        since=since,
        hierarchical=wish.hierarchical,
        groups_first=wish.groups_first,
    )


def _split(one: ClassAd) -> list[ClassAd]:
    """Return an ad for each user and group of the ad in which their attributes are numbered."""
    ads = []
    for number in range(1, (one.integer("NumSubmittors") or 0) + 1):
        own = re.compile(rf"(.*\D){number}")
        named = {name: own.fullmatch(name) for name in one.names()}
        ads.append(ClassAd({found[1]: one[name] for name, found in named.items() if found}))
        ads[-1]["LastUpdate"] = one.integer("LastUpdate") or 0
    return ads


def _is_expression(text: str) -> bool:
    try:
        parse_expression(text or "true")
    except ClassAdSyntaxError:
        return False
    return True


def _choose(wish: Wish, ads: list[ClassAd]) -> list[ClassAd]:
    """Return the ads that are meant; a name without a domain means a user of any."""
    if wish.constraint:
        expression = parse_expression(wish.constraint)
        ads = [ad for ad in ads if ad.evaluate_expression(expression) is True]
    if "name" in wish.reach:
        # What a negotiator says of itself has no such attribute; the collector's ads have.
        of, meant = "NegotiatorName", wish.reach["name"].lower()
        ads = [ad for ad in ads if (ad.string(of) or meant).lower() == meant]
    if wish.names:
        ads = [ad for ad in ads if _is_named(ad.string("Name") or "", wish.names)]
    return ads


def _is_named(name: str, wanted: Sequence[str]) -> bool:
    return name in wanted or name.partition("@")[0] in wanted


def _render_columns(columns: Columns, ads: list[ClassAd]) -> str:
    if not columns.headings:
        return "".join(columns.render(ad) for ad in ads)
    columns.measure(ads)
    return columns.render_headings() + "".join(columns.render(ad) for ad in ads)


def fetch(reach: Reach, wish: Wish, address: Sinful | None, streams: Streams) -> list[ClassAd]:
    """Return one ad for each user and group.

    Of named users the collector is asked, and the negotiator if it does not know enough of them;
    where ads are shown whole, what the collector adds to them is, too.
    Compat: where nobody is named and nothing is said, the reference asks the collector also for the
    table; ours the negotiator, which sends its ads less often. Shown by
    test_condor_userprio_shows_and_sets_priorities.
    """
    from kettle.client import accounting
    from kettle.client.pool import make_query
    from kettle.wire.commands import Command

    nothing_said = not (wish.from_negotiator or wish.from_collector or wish.names)
    if nothing_said and not wish.long:
        with contextlib.suppress(Unreached):
            if address is not None:
                return accounting.read_accounting_ads(reach.connector, address)
    if not wish.from_negotiator:
        ads = reach.pool.query(Command.QUERY_ACCOUNTING_ADS, make_query("Accounting"))
        if wish.from_collector or len(_choose(wish, ads)) >= len(wish.names):
            return ads
        streams.stderr.write("Not all user(s) found in collector, querying negotiator...\n")
    if address is None:
        wish.from_negotiator = True
        raise NotConnected("the negotiator is nowhere")
    return accounting.read_accounting_ads(reach.connector, address)


def _read_ads(path: str) -> list[ClassAd]:
    try:
        text = read_text(path, limit=LARGEST_ADS)
    except OSError:
        raise UnreadableError(f"Can't open file of userprio ads: {path}") from None
    try:
        ads = [ad for ad in parse_ads(text, "auto") if len(ad)]
    except ClassAdSyntaxError:
        ads = []
    if not ads and text.strip():
        raise UnreadableError("Error -1 reading userprio ads")
    return ads


def _render_long(ads: list[ClassAd]) -> str:
    from kettle.classad.forms import render_ads

    return render_ads(ads, "long")
