"""The daemon's end of the processes that write logs on servers that may hang."""

from __future__ import annotations

import asyncio
import errno
from types import SimpleNamespace
from typing import Any

import pytest

from kettle.errors import NotFoundError, NotKnownNow, StorageError
from kettle.runtime.process.privileges import Account
from kettle.runtime.storage.log_writer import LogWriters


@pytest.mark.parametrize(("kind", "number"), [(NotKnownNow, errno.EAGAIN), (NotFoundError, 0)])
def test_whether_an_owner_may_be_found_later_is_told_and_he_is_looked_for_again(
    kind: type[NotFoundError], number: int
) -> None:
    asked: list[str] = []

    def account_of(owner: str) -> Account:
        asked.append(owner)
        raise kind("there is no account")

    async def main() -> None:
        zygote = SimpleNamespace(fork=None)
        runtime: Any = SimpleNamespace(processes=SimpleNamespace(zygote=zygote))
        writers = LogWriters(runtime, account_of)
        for _ in range(2):
            with pytest.raises(StorageError, match="/l: there is no account") as failed:
                await writers.append("u@here", "/l", b"1")
            assert failed.value.errno == number

    asyncio.run(main())
    assert asked == ["u@here"] * 2
