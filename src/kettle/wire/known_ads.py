"""Reading the same ads again and again: one that has not changed is the object it was before.

Whoever asks for all ads of a pool every few seconds gets mostly what it got the last time.
`KnownAds` keeps the last answer and compares the texts of each ad with those under the same Name.
Its ads must not be changed by whoever gets them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kettle.classad import ClassAd
from kettle.wire.ad_shapes import AdRun
from kettle.wire.codec import Reader
from kettle.wire.similar_ads import read_ad_runs

_Texts = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Known:
    """An ad as it came: its names as it spells them, one object for all alike, and its texts."""

    names: _Texts
    texts: _Texts
    ad: ClassAd


class KnownAds:
    """Remembers the ads of the last answer, and no others."""

    def __init__(self) -> None:
        # By the text of Name; of several ads with one name the last.
        self._known: dict[str, _Known] = {}
        # Lists of names that ads of the last answer have.
        self._names: dict[_Texts, _Texts] = {}

    def read(self, reader: Reader) -> list[ClassAd]:
        """Return the ads of an answer to a query, their secrets included, which is read whole.

        Raises RemoteProtocolError as `PrivateQueryReply.read` does, and then remembers nothing new.
        """
        known: dict[str, _Known] = {}
        names: dict[_Texts, _Texts] = {}
        found: list[ClassAd] = []
        for each in read_ad_runs(reader):
            if isinstance(each, ClassAd):
                found.append(each)
            else:
                found.extend(self._recall(each, known, names))
        reader.finish()
        self._known, self._names = known, names
        return found

    def _recall(
        self, run: AdRun, known: dict[str, _Known], all_names: dict[_Texts, _Texts]
    ) -> Iterator[ClassAd]:
        """Yield the ads of a run, noting them for the next time."""
        keys = list(run.model.table)
        if run.model.parent is not None or "name" not in keys:
            yield from run
            return
        spelled = tuple(run.model.own_names())
        names = all_names.setdefault(spelled, self._names.get(spelled, spelled))
        place = keys.index("name")
        for texts in run.rows:
            before = self._known.get(texts[place])
            if before is None or before.names is not names or before.texts != texts:
                before = _Known(names, texts, run.model.with_texts(texts))
            known[texts[place]] = before
            yield before.ad
