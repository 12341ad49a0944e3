"""Whose transactions are cut off when all of them together are too much, and how often is asked."""

from __future__ import annotations

from kettle.schedd.queue.open_transactions import STEP_BYTES, OpenTransactions

MIB = 1 << 20


class Transaction:
    """A connection that counts how often it is asked what it holds."""

    def __init__(self, user: str, held: int) -> None:
        self.user = user
        self._held = held
        self.asked = 0
        self.cut = False

    @property
    def held_bytes(self) -> int:
        self.asked += 1
        return self._held

    def hold(self, size: int) -> None:
        self._held = size

    def cut_off(self) -> None:
        self.cut = True


def test_the_others_are_counted_again_only_when_a_transaction_has_grown() -> None:
    book = OpenTransactions()
    others = [Transaction(f"u{number}", 17 * MIB) for number in range(10)]
    for other in others:
        book.note(other, 2000 * MIB)
    mine = Transaction("me", 17 * MIB)
    book.note(mine, 2000 * MIB)
    before = others[0].asked
    for size in range(17 * MIB, 17 * MIB + STEP_BYTES, 4096):
        mine.hold(size)
        book.note(mine, 2000 * MIB)
    assert others[0].asked == before
    mine.hold(17 * MIB + STEP_BYTES)
    book.note(mine, 2000 * MIB)
    assert others[0].asked > before


def test_a_transaction_that_outgrows_the_bound_is_cut_off_at_its_next_step() -> None:
    book = OpenTransactions()
    small, large = Transaction("a", 20 * MIB), Transaction("b", 30 * MIB)
    book.note(small, 60 * MIB)
    book.note(large, 60 * MIB)
    large.hold(41 * MIB)
    book.note(large, 60 * MIB)
    assert large.cut
    assert not small.cut


def test_a_smaller_transaction_on_the_same_connection_is_counted_from_its_own_size() -> None:
    book = OpenTransactions()
    again, other = Transaction("a", 500 * MIB), Transaction("b", 20 * MIB)
    book.note(again, 600 * MIB)
    book.note(other, 600 * MIB)
    again.hold(17 * MIB)
    book.note(again, 600 * MIB)
    again.hold(50 * MIB)
    book.note(again, 60 * MIB)
    assert again.cut
