"""Keeps COLLECTOR_PERSISTENT_AD_LOG up to date; what belongs in it is `persistent_ads.py`."""

from __future__ import annotations

from kettle.collector.ad_kinds import SLOT
from kettle.collector.ad_store import AdStore, StoredAd
from kettle.collector.persistent_ads import (
    decode_ads,
    encode_ads,
    encode_departures,
    is_persistent,
)
from kettle.config.knobs.collector import CollectorKnobs as Knobs
from kettle.errors import StorageError
from kettle.runtime.context import Runtime


class PersistentAds:
    """The file of ads that survive a restart."""

    def __init__(self, runtime: Runtime, store: AdStore) -> None:
        self._runtime = runtime
        self._store = store
        self._written: list[str] = []

    @property
    def _path(self) -> str:
        return self._runtime.config[Knobs.COLLECTOR_PERSISTENT_AD_LOG]

    def load(self, now: float) -> None:
        """Bring back what a former collector left; nothing if no file is configured."""
        if not self._path or not self._runtime.files.exists(self._path):
            return
        for ad in decode_ads(self._runtime.files.read(self._path)):
            self._store.restore(ad, now=now)
        self._written = self._names()

    def note(self, entry: StoredAd) -> None:
        """Take notice of an update: it may have put a machine to sleep or woken it."""
        if self._path and (is_persistent(entry.ad) or entry.key[0] in self._written):
            self.save()

    def save(self) -> None:
        """Bring the file up to date if what belongs in it may have changed."""
        if not self._path:
            return
        names = self._names()
        if not names and not self._written:
            return
        gone = [name for name in self._written if name not in names]
        try:
            if gone and len(names) + len(gone) == len(self._written):
                self._runtime.files.append(self._path, encode_departures(gone))
            else:
                self._write_whole()
            self._written = names
        except StorageError as error:
            self._runtime.log.problem(f"Ads of sleeping machines cannot be kept: {error}")

    def _write_whole(self) -> None:
        ads = [entry.ad for entry in self._store.table(SLOT).values() if is_persistent(entry.ad)]
        data = encode_ads(ads, created=int(self._runtime.clock.now()))
        self._runtime.files.write_atomically(self._path, data, mode=0o600)

    def _names(self) -> list[str]:
        return [
            entry.key[0] for entry in self._store.table(SLOT).values() if is_persistent(entry.ad)
        ]
