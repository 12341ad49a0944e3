"""Reading one ad after another, in the clear, of which each mostly begins like the one before.

The ads of a cluster's jobs begin with what all of them have in common (`Writer.ad_upon`), two
thirds of their lines. `LikeAds` finds from two encoded ads where that ends, and reads it once: it
becomes the parent of the ads that begin so, which say the same as what `codec.Reader.ad` returns.
Its twin for encrypted answers of a queue, which end alike, is `similar_ads`.
"""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.errors import RemoteProtocolError
from kettle.wire.codec import Reader

_COUNT_BYTES = 8
# A beginning of fewer bytes is not worth a parent.
_WORTH_IT = 512
# Limit: an ad of more bytes is not compared with others, nor kept for that.
_LONGEST = 256 * 1024
# A secret stands behind this mark, which is no line of its own; and what stands for no string.
_ODD = (b"\0ZKM\0", b"\xad")


class LikeAds:
    """Reads ads, each alone in its bytes; nobody may change one through its parent."""

    def __init__(self) -> None:
        self._previous = b""
        self._start = b""
        self._lines = 0
        self._common: ClassAd | None = None

    def read(self, data: bytes) -> ClassAd:
        """Return the ad; RemoteProtocolError as `Reader.ad` raises it."""
        start = self._start
        if start and data.startswith(start, _COUNT_BYTES):
            count = int.from_bytes(data[:_COUNT_BYTES], "big", signed=True) - self._lines
            if count >= 0:
                ad = Reader(_counted(count, data[_COUNT_BYTES + len(start) :])).ad()
                ad.parent = self._common
                return ad
        ad = Reader(data).ad()
        self._learn(data)
        return ad

    def _learn(self, data: bytes) -> None:
        """Find the whole lines with which this ad and the one before begin."""
        if len(data) > _LONGEST:
            return
        length = _common_start(self._previous[_COUNT_BYTES:], data[_COUNT_BYTES:])
        self._previous = data
        start = data[_COUNT_BYTES : _COUNT_BYTES + length]
        for odd in _ODD:
            start = start.partition(odd)[0]
        start = start[: start.rfind(b"\0") + 1]
        if len(start) < _WORTH_IT:
            return
        lines = start.count(b"\0")
        try:
            common = Reader(_counted(lines, start)).ad(types=False)
        except RemoteProtocolError:
            # The ads have fewer lines than that: what is alike are the strings behind them.
            return
        self._start, self._lines, self._common = start, lines, common


def _counted(lines: int, data: bytes) -> bytes:
    return lines.to_bytes(_COUNT_BYTES, "big") + data


def _common_start(one: bytes, other: bytes) -> int:
    """Return how many bytes two texts have in common at their beginning."""
    most = min(len(one), len(other))
    if one[:most] == other[:most]:
        return most
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low
