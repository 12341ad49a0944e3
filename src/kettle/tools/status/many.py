"""Many ads with the same names, shown without making each of them.

`render_many` prints what `condor_status.render` prints of the same ads in the same order, for the
forms that show each ad by itself and for the sums of what can be counted; a property test says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from kettle.classad import ClassAd
from kettle.tools.printing.long_ads import LongAds
from kettle.tools.printing.run_values import strings_of
from kettle.tools.status.modes import MODES
from kettle.tools.status.order import natural_order
from kettle.tools.status.totals import Totals, render_totals
from kettle.tools.status.wish import Wish
from kettle.wire.ad_shapes import AdRun

Found = Sequence[ClassAd | AdRun]


def render_many(wish: Wish, found: Found) -> str | None:
    """Return what is printed; None where that cannot be told from the rows of runs."""
    if wish.diagnose or wish.merge_file or wish.print_format:
        return None
    if wish.columns:
        columns = wish.columns
        return _each(wish, found, columns.render_run, columns.render) if _is_plain(wish) else None
    if wish.form == "long" and not wish.sort and not wish.attributes:
        long_ads = LongAds()
        return _each(wish, found, long_ads.render_run, long_ads.render)
    totals = MODES[wish.mode].totals
    if wish.sums_alone and totals is not None and totals.counts and not wish.wide:
        return _sums(totals, found)
    return None


def _is_plain(wish: Wish) -> bool:
    """Tell whether the columns of an ad are printed of it alone, in the natural order."""
    healthy = wish.mode in {"healthy", "slot_health"}
    return wish.columns.stand_alone and not (wish.sort or wish.width or healthy or wish.compact)


def _each(
    wish: Wish,
    found: Found,
    render_run: Callable[[AdRun], list[str]],
    render: Callable[[ClassAd], str],
) -> str:
    """Return what is printed of each ad, in their natural order."""
    texts: list[str] = []
    machines: list[str | None] = []
    names: list[str | None] = []
    for each in found:
        if isinstance(each, ClassAd):
            texts.append(render(each))
            machines.append(each.string("Machine"))
            names.append(each.string("Name"))
        else:
            texts += render_run(each)
            machines += strings_of(each, "Machine")
            names += strings_of(each, "Name")
    # Of a limit the first ones that came are shown, whatever order they are shown in.
    most = wish.limit or len(texts)
    order = natural_order(machines[:most], names[:most])
    return "".join(map(texts.__getitem__, order))


def _sums(totals: Totals, found: Found) -> str:
    """Return the sums; ads that are the same in all that is asked for are looked at once."""
    ads: list[ClassAd] = []
    times: list[int] = []
    rows: dict[int, tuple[ClassAd, Counter[tuple[str, ...]]]] = {}
    for each in found:
        if isinstance(each, ClassAd):
            ads.append(each)
            times.append(1)
        else:
            rows.setdefault(id(each.model), (each.model, Counter()))[1].update(each.rows)
    for model, counted in rows.values():
        ads += map(model.with_texts, counted)
        times += counted.values()
    return "".join(f"{line}\n" for line in render_totals(totals, ads, times=times))
