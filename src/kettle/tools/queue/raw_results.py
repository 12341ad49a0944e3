"""`condor_q -capture-raw-results` and `-profile`: what a table is made of, and what it cost.

The ads are written as they came, before anything is done with them, so that what seems wrong with
a table can be tried again with `-jobads`. Attributes have no blanks around their `=`.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterable
from contextlib import suppress

from kettle.attributes.version import VERSION
from kettle.classad import ClassAd
from kettle.tools.programs import Streams


def capture(ads: Iterable[ClassAd], place: str, streams: Streams) -> list[ClassAd]:
    """Write ads to standard output (`-`), standard error (`-2`) or a file, and return them.

    A `+` before a file's name adds to it. As in the reference a file that cannot be written is
    passed over, and where there is no ad nothing is written.
    """
    ads = list(ads)
    if ads:
        text = f"# condor_q v{VERSION} raw query results\n"
        text += "".join(f"{render_raw(ad)}\n" for ad in ads)
        if place == "-":
            streams.stdout.write(text)
        elif place == "-2":
            streams.stderr.write(text)
        else:
            mode = "a" if place.startswith("+") else "w"
            with (
                suppress(OSError),
                open(
                    place.removeprefix("+"), mode, encoding="utf-8", errors="surrogateescape"
                ) as file,
            ):
                file.write(text)
    return ads


def render_raw(ad: ClassAd) -> str:
    """Return an ad's attributes in the order in which they came."""
    return "".join(f"{line.replace(' = ', '=', 1)}\n" for line in ad.lines())


class Profile:
    """What fetching ads costs: processor time and memory of this process."""

    def __init__(self) -> None:
        self.seconds = time.process_time()
        self.memory = memory_bytes()

    def render(self, count: int) -> str:
        """Return the line about so many ads.

        Compat: the reference adds three lines about its cache of expressions, which we have none
        of (test_what_a_query_costs_is_said).
        """
        after = memory_bytes()
        return (
            f"Fetching job ads... {count} ads (caching OFF), "
            f"{time.process_time() - self.seconds:.3f} CPU-sec, {after - self.memory} bytes "
            f"(from {self.memory} to {after})\n"
        )


def memory_bytes() -> int:
    """Return how much memory this process has, at most so far where nothing else is known."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
