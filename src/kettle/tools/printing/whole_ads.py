"""Whole ads on a stream: `-long`, `-xml`, `-json` and their kin, one ad after the other.

The forms themselves are `kettle.classad.forms`; here is what the tools put around and between, so
that ads can be written as they come.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TextIO

from kettle.classad import ClassAd
from kettle.classad.forms import XML_FOOTER, XML_HEADER, render_ads, to_xml


def restrict(ad: ClassAd, names: Sequence[str]) -> ClassAd:
    """Return an ad with only these attributes, or the ad itself where no names are given."""
    if not names:
        return ad
    shown = ClassAd()
    for name in names:
        expression = ad.lookup(name)
        if expression is not None:
            shown.insert(name, expression)
    return shown


def render_line(ad: ClassAd) -> str:
    """Return an ad as one line of JSON, attributes in order of their names."""
    text = render_ads([ad], "json")
    lines = text.split("\n")[2:-3]
    return "{" + "".join(line.strip() for line in lines) + "}\n"


def write_ads(ads: Iterable[ClassAd], form: str, out: TextIO, *, gap: str = "") -> None:
    """Write ads in one of `classad.forms.FORMS` or as JSON lines; `gap` stands between XML ads."""
    if form == "jsonl":
        out.writelines(render_line(ad) for ad in ads)
    elif form == "long":
        out.writelines(render_ads([ad], "long") for ad in ads)
    elif form == "xml":
        out.write(XML_HEADER)
        out.writelines(to_xml(ad, sort=True) + gap for ad in ads)
        out.write(XML_FOOTER)
    else:
        text = render_ads(list(ads), form)
        if not text and form == "json":
            text = "[\n]\n"
        out.write(text)
