"""The world the vectors were taken in: a clock that runs, zones, one user, the user maps."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from kettle.classad import Context

NOW = 1_790_000_000.0
# POSIX rules to zones that follow them at every moment the vectors ask about, but for the years
# before the rules were made, where the rule is written out.
ZONES = {
    "EST5EDT,M3.2.0,M11.1.0": "America/New_York",
    "IST-5:30": "Asia/Kolkata",
    "NST3:30NDT,M3.2.0,M11.1.0": "America/St_Johns",
    "CET-1CEST,M3.5.0,M10.5.0/3": "Europe/Paris",
}


def world(document: dict[str, Any], *, strict: bool) -> Context:
    """Return the context of a case, given the merged keys of its file and itself."""
    zone = document.get("tz", "UTC")
    offset: Callable[[float], int] = lambda _: 0  # noqa: E731
    if zone in ZONES:
        info = ZoneInfo(ZONES[zone])

        def offset(seconds: float) -> int:
            moment = datetime.datetime.fromtimestamp(seconds, info)
            span = moment.utcoffset()
            assert span is not None
            return int(span.total_seconds())

    name = re.match("[A-Z]+", zone)
    return Context(
        lambda: NOW,
        Random(1),
        utc_offset=offset,
        zone_name=lambda _: name.group() if name else "UTC",
        user_maps=user_maps(document.get("user_maps", "")),
        home_of={"root": "/root"}.get,
        strict=strict,
    )


def user_maps(text: str) -> dict[str, Callable[[str], str | None]]:
    """Return the maps of the configuration's text."""
    maps: dict[str, Callable[[str], str | None]] = {}
    for found in re.finditer(r"CLASSAD_USER_MAPDATA_(\w+) @=end\n(.*?)@end", text, re.DOTALL):
        rows = [line.split(None, 2)[1:] for line in found.group(2).splitlines()]

        def look_up(user: str, rows: list[list[str]] = rows) -> str | None:
            for principal, answer in rows:
                if principal.startswith("/"):
                    matched = re.fullmatch(principal.strip("/"), user)
                    if matched:
                        return matched.expand(answer)
                elif principal == user:
                    return answer
            return None

        maps[found.group(1)] = look_up
    return maps
