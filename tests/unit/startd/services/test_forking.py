"""A startd that cannot start starters takes no jobs until it can, and says why."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

from kettle.errors import KettleError
from kettle.startd.services.forking import Forking
from kettle.testing.virtual_loop import run_virtually


class Log(list[str]):
    def __call__(self, text: str) -> None:
        self.append(text)

    problem = __call__


class Zygote:
    """Forks nothing until it is well."""

    def __init__(self) -> None:
        self.sick = "no such module"
        self.tries: list[float] = []

    async def fork(self, entry: str) -> Any:
        assert entry == "kettle.runtime.process.zygote_process:prove"
        self.tries.append(asyncio.get_running_loop().time())
        if self.sick:
            raise KettleError(self.sick)
        return SimpleNamespace(wait=lambda: asyncio.sleep(0))


def test_trouble_lasts_until_a_process_can_be_started_and_is_told_once() -> None:
    log, zygote, told = Log(), Zygote(), list[str]()
    runtime = SimpleNamespace(log=log, processes=SimpleNamespace(zygote=zygote))

    async def main() -> None:
        forking = Forking(cast(Any, runtime))
        forking.changed = lambda: told.append(forking.trouble)
        begin = asyncio.get_running_loop().time()
        for _ in range(3):
            forking.on_failure(KettleError("no such module"))
        assert told == ["no starter can be started: no such module"]
        await asyncio.sleep(7)
        assert [at - begin for at in zygote.tries] == [2.0, 6.0]
        zygote.sick = "too many processes"
        await asyncio.sleep(8)
        zygote.sick = ""
        await asyncio.sleep(20)
        assert forking.trouble == ""
        tries = len(zygote.tries)
        await asyncio.sleep(1000)
        assert len(zygote.tries) == tries

    run_virtually(main())
    assert told == [
        "no starter can be started: no such module",
        "no starter can be started: too many processes",
        "",
    ]
    assert log == [
        "no starter can be started: no such module; no job is taken meanwhile",
        "no starter can be started: too many processes; no job is taken meanwhile",
        "Starters can be started again.",
    ]
