"""What is worked out once and kept: as much of it as fits into so many bytes.

What peers send decides how long the texts are and how different, so a number of entries bounds
nothing. Several memories may share one allowance; when it is spent, the older half of each is
forgotten. Looking something up is a dictionary's own lookup and costs nothing more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from sys import getsizeof
from typing import Any, Final, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

# What a dictionary and the list of costs take for an entry, some of their places empty.
ENTRY_BYTES: Final = 200
# Limit: what costs more than this part of an allowance is not kept where nothing else is said, so
# that one entry does not drive out all the others.
_LARGEST_PART: Final = 16


class Allowance:
    """The bytes that the memories made with it may take together."""

    __slots__ = ("_memories", "held", "largest", "most")

    def __init__(self, most: int, *, largest: int = 0) -> None:
        self.most: Final = most
        self.largest: Final = largest or most // _LARGEST_PART
        self.held = 0
        self._memories: Final[list[Memory[Any, Any]]] = []

    def add(self, memory: Memory[Any, Any]) -> None:
        """Let a memory draw on it."""
        self._memories.append(memory)

    def take(self, cost: int) -> bool:
        """Take bytes for what is never forgotten; tell whether they are there."""
        if self.held + cost > self.most or cost > self.largest:
            return False
        self.held += cost
        return True

    def make_room(self) -> None:
        """Forget the older half of every memory."""
        for memory in self._memories:
            memory.forget_half()


class Memory(dict[K, V]):
    """Keeps values by their keys; look them up as in any dictionary, put them in by `keep`."""

    __slots__ = ("_allowance", "_costs")

    def __init__(self, allowance: Allowance) -> None:
        self._allowance: Final = allowance
        # In the order of the entries: those that came first are forgotten first.
        self._costs: Final[deque[int]] = deque()
        allowance.add(self)

    def keep(self, key: K, value: V, cost: int) -> None:
        """Remember a value that takes `cost` bytes together with its key, where it is not yet."""
        allowance = self._allowance
        cost += ENTRY_BYTES
        if cost > allowance.largest or key in self:
            return
        while allowance.held + cost > allowance.most:
            allowance.make_room()
        self[key] = value
        self._costs.append(cost)
        allowance.held += cost

    def forget_half(self) -> None:
        """Forget those that came first, a half of them or one more."""
        costs = self._costs
        for key in list(self)[: (len(costs) + 1) // 2]:
            del self[key]
            self._allowance.held -= costs.popleft()


class Answers(Memory[K, V]):
    """Answers to a question about a key: `answers[key]` asks where it is not remembered."""

    __slots__ = ("_ask", "_cost")

    def __init__(
        self, ask: Callable[[K], V], most: int, cost: Callable[[K], int] = getsizeof
    ) -> None:
        """Allow `most` bytes; `cost` says what a key takes, which the answers are small beside."""
        super().__init__(Allowance(most))
        self._ask: Final = ask
        self._cost: Final = cost

    def __missing__(self, key: K) -> V:
        answer = self._ask(key)
        self.keep(key, answer, self._cost(key))
        return answer
