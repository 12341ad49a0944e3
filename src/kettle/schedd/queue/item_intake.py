"""The items of a cluster that makes its jobs later, on their way to the spool, part by part.

They may be of a gigabyte, in one message: none of it is kept. What cannot be taken is read all the
same, to its end: only then does the client read why. Source: wire notes, Late materialization.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Protocol

from kettle.errors import StorageError
from kettle.schedd.queue.qmgmt_answers import Answer
from kettle.submit.item_lines import MOST_ITEM_BYTES, MOST_ITEMS, MOST_ROW_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from kettle.wire.messages.qmgmt import SendMaterializeData


class ItemsFile(Protocol):
    """A file of the spool that is being written; its methods raise StorageError."""

    def write(self, data: bytes) -> None:
        """Append bytes."""

    def finish(self) -> str:
        """Have it on disk; return its name."""

    def drop(self) -> None:
        """Remove it."""


class ItemIntake:
    """The rows of one cluster as they come."""

    def __init__(
        self,
        call: SendMaterializeData,
        create: Callable[[int], ItemsFile],
        tell: Callable[[str], object],
        *,
        refused: int = 0,
    ) -> None:
        """`create` begins a cluster's file; `refused` is the errno of rows that nobody may send."""
        self._call = call
        self._tell = tell
        self._errno = refused
        # All rows, all bytes, and those of the row that has not ended.
        self._rows = self._size = self._open = 0
        self._file: ItemsFile | None = None
        if not refused:
            try:
                self._file = create(call.cluster)
            except StorageError as error:
                self._fail(error)

    def take(self, data: bytes) -> None:
        """Keep the next bytes, or forget them where they are too many."""
        if self._file is None:
            return
        self._rows += data.count(b"\n")
        self._size += len(data)
        if (
            self._rows > MOST_ITEMS
            or self._size > MOST_ITEM_BYTES
            or self._longest(data) > MOST_ROW_BYTES
        ):
            self._tell(
                f"Refusing the items of cluster {self._call.cluster}: a cluster may have "
                f"{MOST_ITEMS} of them in {MOST_ITEM_BYTES} bytes, each of {MOST_ROW_BYTES}"
            )
            self._errno = errno.EFBIG
            self.drop()
            return
        try:
            self._file.write(data)
        except StorageError as error:
            self._fail(error)

    def _longest(self, data: bytes) -> int:
        """Return how long a row may be by now that ends in these bytes, or goes on behind them."""
        most = begun = self._open + len(data)
        ended = data.rfind(b"\n") + 1
        if ended:
            self._open = len(data) - ended
            if most > MOST_ROW_BYTES:
                lengths = [len(row) for row in data.split(b"\n")]
                most = max(begun - len(data) + lengths[0], *lengths[1:])
        else:
            self._open = begun
        return most

    def end(self) -> Answer:
        """Return what is answered behind the last byte: what was kept is on disk."""
        name: str | None = None
        if self._file is not None:
            try:
                name = self._file.finish()
            except StorageError as error:
                self._fail(error)
        if name is None:
            return Answer(self._call.answer(-1, errno=self._errno, result=(None, 0)))
        self._file = None
        return Answer(self._call.answer(0, result=(name, self._rows)))

    def drop(self) -> None:
        """Forget what has come."""
        if self._file is not None:
            self._file.drop()
            self._file = None

    def _fail(self, error: StorageError) -> None:
        self._tell(f"The items of cluster {self._call.cluster} cannot be kept: {error}")
        self._errno = error.errno or errno.EIO
        self.drop()
