"""Whole ads on a stream: `-long`, `-xml`, `-json` and their kin, one ad after the other.

The forms themselves are `kettle.classad.forms`; here is what the tools put around and between, so
that ads can be written as they come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

from kettle.classad import ClassAd
from kettle.classad.forms import render_ads
from kettle.classad.forms_json import to_json
from kettle.classad.forms_xml import XML_FOOTER, XML_HEADER, to_xml
from kettle.tools.printing.json_ads import JsonAds
from kettle.tools.printing.long_ads import LongAds

# A stream takes a few large texts with less ado than many small ones.
_WRITTEN_TOGETHER = 200


def restrict(ad: ClassAd, names: Sequence[str], *, respell: bool = False) -> ClassAd:
    """Return an ad with only these attributes, or the ad itself where no names are given.

    They are spelled as in the ad; with `respell` as they are in `names`, each by the first of its
    kind there.
    """
    if not names:
        return ad
    shown = ClassAd()
    for name in names:
        expression = ad.lookup(name)
        if expression is not None:
            shown.insert(name if respell else ad.spelling(name) or name, expression)
    return shown


def render_line(ad: ClassAd) -> str:
    """Return an ad as one line of JSON, attributes in order of their names."""
    text = render_ads([ad], "json")
    lines = text.split("\n")[2:-3]
    return "{" + "".join(line.strip() for line in lines) + "}\n"


def write_ads(ads: Iterable[ClassAd], form: str, out: TextIO) -> None:
    """Write ads in one of `classad.forms.FORMS` or as JSON lines."""
    if form == "jsonl":
        out.writelines(render_line(ad) for ad in ads)
    elif form == "long":
        long_ads = LongAds()
        out.writelines(long_ads.render(ad) for ad in ads)
    elif form == "xml":
        out.write(XML_HEADER)
        out.writelines(to_xml(ad, sort=True) for ad in ads)
        out.write(XML_FOOTER)
    elif form == "json":
        _write_json(ads, out)
    else:
        out.write(render_ads(list(ads), form, keep_empty=True))


def _write_json(ads: Iterable[ClassAd], out: TextIO) -> None:
    """Write a list of objects as they come; where there is no ad, not even brackets.

    Compat: no ad is no output; shown by test_no_ad_in_json_is_no_output.
    """
    json = JsonAds()
    parts: list[str] = []
    before, ad = "[\n", None
    for ad in ads:
        parts += before, json.render(ad)
        before = "\n,\n"
        if len(parts) >= _WRITTEN_TOGETHER:
            out.write("".join(parts))
            parts.clear()
    out.write("".join(parts))
    if ad is not None:
        out.write("\n]\n")


@contextmanager
def open_ads(form: str, out: TextIO) -> Iterator[Callable[[ClassAd], None]]:
    """Return a function that writes one ad after the other, as `condor_history` does.

    Compat: it leaves a line free around each ad in XML; shown by test_tool_output.
    """
    first = True
    long_ads = LongAds()

    def write(ad: ClassAd) -> None:
        nonlocal first
        if form == "json":
            out.write("" if first else ",\n")
            out.write(to_json(ad, sort=True) + "\n")
        elif form == "xml":
            out.write(to_xml(ad, sort=True) + "\n")
        elif form == "jsonl":
            out.write(render_line(ad))
        elif form == "long":
            out.write(long_ads.render(ad) or "\n")
        else:
            out.write(render_ads([ad], form))
        first = False

    out.write({"json": "[\n", "xml": XML_HEADER + "\n"}.get(form, ""))
    yield write
    out.write({"json": "]\n", "xml": XML_FOOTER + "\n"}.get(form, ""))
