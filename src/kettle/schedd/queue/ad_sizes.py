"""No ad of the queue is larger than what everybody can take who reads it.

An ad may grow by many small edits. One that no message can carry would keep all other jobs from
whoever asks for them together, and from the negotiator. Asked before a client's commit, and of each
job that is made late.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable

from kettle.errors import RefusedError
from kettle.schedd.queue.transaction import Ads, Transaction

# Limit: characters of one ad's own names and texts: with its cluster's it is a record that the
# history's readers take, and a small part of any message.
MOST_CHARACTERS = 4 * 1024 * 1024
# An ad that is there is counted whole where so much of it changes, or it has so many attributes.
_MUCH, _MANY = 32 * 1024, 500


def check_text_sizes(texts: Iterable[tuple[str, str]], key: str) -> None:
    """Raise RefusedError (E2BIG) if these names and texts are too much for one ad."""
    _check(sum(len(name) + len(text) for name, text in texts), key)


def check_sizes(transaction: Transaction, queue: Ads) -> None:
    """Raise RefusedError (E2BIG) if a transaction makes an ad larger than it may be."""
    said: dict[str, int] = {}
    for _, key, name, text in transaction.changes:
        said[key] = said.get(key, 0) + len(name) + len(text)
    for key, size in said.items():
        ad = queue.ad(key)
        if size > MOST_CHARACTERS or (ad is not None and (size > _MUCH or len(ad.table) > _MANY)):
            own = [] if ad is None else ad.own_texts()
            sizes = {name.lower(): len(name) + len(text) for name, text in own}
            before = sum(sizes.values())
            for name, changed in transaction.overlay_of(key):
                sizes[name.lower()] = 0 if changed is None else len(name) + len(changed)
            after = sum(sizes.values())
            # What makes it smaller is welcome.
            if after > before:
                _check(after, key)


def _check(size: int, key: str) -> None:
    if size > MOST_CHARACTERS:
        raise RefusedError(
            f"the ad of {key} would have {size} characters, more than {MOST_CHARACTERS}",
            code=errno.E2BIG,
        )
