"""What the accounting log is given, so that it always says what the books say."""

from __future__ import annotations

from kettle.negotiator.accountant import Accountant
from kettle.negotiator.books_table import table_of
from kettle.negotiator.written_books import WrittenBooks
from kettle.records.accounting_log import AccountingTable, replay


def read_back(text: str) -> AccountingTable:
    return replay(text.encode())[0]


def test_a_log_and_what_is_appended_to_it_say_what_the_books_say() -> None:
    books, written = Accountant(), WrittenBooks(1000)
    books.set_factor("u@here", 10.0)
    log = written.whole(books)
    books.add_match("u@here", "slot1@host", 2.0, 50)
    books.age(60)
    log += written.changes(books)
    assert read_back(log).ads == table_of(books).ads


def test_nothing_is_appended_while_only_time_has_passed() -> None:
    books, written = Accountant(), WrittenBooks(1000)
    written.whole(books)
    books.age(60)
    assert written.changes(books) == ""


def test_a_log_keeps_its_date_and_counts_how_often_it_was_written_anew() -> None:
    first = WrittenBooks(1000)
    log = first.whole(Accountant())
    later = WrittenBooks(2000)
    later.read(log.encode())
    assert (later.created, later.sequence) == (1000, first.sequence)
    later.whole(Accountant())
    assert later.sequence == first.sequence + 1
