"""Whole ads in and out of their forms: long, new, JSON, XML, and streams of any of them."""

from __future__ import annotations

from collections.abc import Iterator

from kettle.classad.ad import ClassAd, parse_ad_at, parse_old_ad


def parse_ads(text: str) -> Iterator[ClassAd]:
    """Yield the ads of a stream, whichever form they are in.

    Raises ClassAdSyntaxError at the first that does not parse.
    """
    stripped = text.lstrip()
    if stripped.startswith("["):
        position = 0
        while text[position:].strip():
            ad, position = parse_ad_at(text, position)
            yield ad
        return
    block: list[str] = []
    for line in [*text.split("\n"), ""]:
        if line.strip():
            block.append(line)
        elif block:
            yield parse_old_ad(block)
            block = []
