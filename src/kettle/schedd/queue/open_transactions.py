"""What clients have open takes memory: who is cut off when all of it together is too much.

Pure. Only large transactions are known here. The user who holds most loses the largest of his, as
among strangers' messages (`runtime/sockets/admission.py`): who says what everybody says is never
the one.
"""

from __future__ import annotations

from collections import Counter
from typing import Protocol
from weakref import WeakKeyDictionary, WeakSet

# Limit: what one open transaction takes in memory, about; 100,000 jobs submitted one by one with
# their attributes take 150 MB.
MOST_TRANSACTION_BYTES = 1 << 30
# Limit: what all large open transactions take together, and from where on one counts as large.
MOST_OPEN_BYTES = 2 << 30
LARGE_TRANSACTION_BYTES = 16 << 20
# How much may be held beyond the bound, for each large transaction.
STEP_BYTES = 1 << 20


class Holder(Protocol):
    """A connection with a transaction."""

    @property
    def user(self) -> str:
        """Whose it is."""
        ...

    @property
    def held_bytes(self) -> int:
        """What its transaction takes in memory, about."""
        ...

    def cut_off(self) -> None:
        """Give the transaction up; whoever waits for an answer learns of it with the next."""
        ...


class OpenTransactions:
    """The connections whose transactions are, or were, large."""

    def __init__(self) -> None:
        self._holders: WeakSet[Holder] = WeakSet()
        # How large each was when all were counted for its sake.
        self._counted: WeakKeyDictionary[Holder, int] = WeakKeyDictionary()

    def note(self, holder: Holder, most_bytes: int) -> None:
        """Note a large transaction that grew; cut off whose it takes to be within the bound.

        All are counted when one has grown by STEP_BYTES, not at each of its requests.
        """
        grown = holder.held_bytes - self._counted.get(holder, 0)
        # It may also be a new one, that is smaller than the last of its connection.
        if holder in self._holders and 0 <= grown < STEP_BYTES:
            return
        self._counted[holder] = holder.held_bytes
        self._holders.add(holder)
        while True:
            by_user: Counter[str] = Counter()
            for each in self._holders:
                by_user[each.user] += each.held_bytes
            if by_user.total() <= most_bytes:
                return
            # Of several who hold as much it is the one that asks for more.
            greediest = max(by_user, key=lambda user: (by_user[user], user == holder.user))
            own = [each for each in self._holders if each.user == greediest]
            largest = max(own, key=lambda each: (each.held_bytes, each is holder))
            self._holders.discard(largest)
            largest.cut_off()
