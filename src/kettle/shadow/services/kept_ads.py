"""The ads that many jobs of a host have in common; the schedd says which are kept, and how long.

One kept ad is the parent of the ads of all its jobs, so a running job has little of its own, and
what a starter is sent of it is encoded once. The schedd's half is `kettle.schedd.kept_ads`.
"""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.errors import RemoteProtocolError
from kettle.wire.codec import EncodedLines, encode_lines
from kettle.wire.messages.shadow_host import DropAd, KeepAd, StartShadow


class CommonAd:
    """An ad of which nobody changes anything, and its lines as a message has them."""

    __slots__ = ("_lines", "ad")

    def __init__(self, ad: ClassAd) -> None:
        self.ad = ad
        self._lines: EncodedLines | None = None

    @property
    def lines(self) -> EncodedLines:
        """The ad, encoded when it is first asked for."""
        if self._lines is None:
            self._lines = encode_lines(self.ad)
        return self._lines


class KeptAds:
    """The ads of one host by the schedd's numbers."""

    def __init__(self) -> None:
        self._ads: dict[int, CommonAd] = {}

    def keep(self, message: KeepAd) -> None:
        """Keep an ad for jobs to come."""
        self._ads[message.number] = CommonAd(message.kept)

    def drop(self, message: DropAd) -> None:
        """Forget an ad; the jobs that have it keep it."""
        self._ads.pop(message.number, None)

    def complete(self, start: StartShadow) -> CommonAd | None:
        """Give a job's ad the part that was not sent with it; return that part, if it has one.

        RemoteProtocolError for a number that stands for nothing.
        """
        if not start.common:
            return None
        common = self._ads.get(start.common)
        if common is None:
            raise RemoteProtocolError(f"there is no kept ad {start.common}")
        start.job.parent = common.ad
        return common
