"""What the accounting log has of the books, and so what has to be written next.

Texts only: `services/books.py` puts them on disk. The format is `records/accounting_log.py`'s, what
the books say `accountant.py`'s. A log is read once, written anew at once (which cuts off what an
interrupted write left), then appended to; after a write that failed it is to be written whole.
"""

from __future__ import annotations

from kettle.negotiator.accountant import Accountant
from kettle.negotiator.books_table import table_of
from kettle.records import accounting_log
from kettle.records.accounting_log import ACCOUNTANT, AccountingTable


class WrittenBooks:
    """The log as it stands: its date in epoch seconds, how often it was written anew, its texts."""

    def __init__(self, now: int) -> None:
        self.created = now
        self.sequence = 0
        self._written = AccountingTable()

    def read(self, data: bytes) -> AccountingTable:
        """Return what a log left by an earlier negotiator says, as far as it is whole."""
        table, replayed = accounting_log.replay(data)
        self.created = replayed.created or self.created
        self.sequence = replayed.sequence
        return table

    def whole(self, accountant: Accountant) -> str:
        """Return the log to write in place of the old one."""
        self.sequence += 1
        table = self._note(accountant)
        return "".join(accounting_log.encode_snapshot(self.sequence, self.created, table))

    def changes(self, accountant: Accountant) -> str:
        """Return what is to be appended, nothing if the log says it all.

        The time of the last update alone is not worth a write: nothing was charged.
        """
        if not accountant.changed - {ACCOUNTANT}:
            return ""
        before = self._written
        return accounting_log.encode_changes(before, self._note(accountant))

    def _note(self, accountant: Accountant) -> AccountingTable:
        self._written = table = table_of(accountant)
        accountant.changed.clear()
        return table
