"""A local job that does not come to run leaves nothing open."""

from __future__ import annotations

import asyncio
import os
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kettle.attributes.codes import JobUniverse
from kettle.config import Config
from kettle.errors import KettleError
from kettle.runtime.process.privileges import account_of
from kettle.schedd.beside import Run
from kettle.schedd.services.local import LocalRun
from unit.schedd.queue_fixture import Schedd


class Refusing:
    """A zygote, and files, one of which refuses what is asked for."""

    def __init__(self, refused: str) -> None:
        self._refused = refused

    async def fork(self, *_: object, **more: object) -> None:
        """Refuse what comes this far."""
        raise KettleError("no fork")

    def make_folder(self, path: str) -> None:
        if self._refused == "folder":
            raise KettleError("no folder")

    @property
    def machine(self) -> str:
        if self._refused == "activation":
            raise KettleError("no activation")
        return "here"


@pytest.mark.parametrize("refused", ["fork", "folder", "activation"])
def test_a_local_job_whose_starter_does_not_come_to_be_leaves_no_connection_open(
    refused: str,
) -> None:
    pure = Schedd()
    (job,) = pure.submit(JobUniverse=str(int(JobUniverse.LOCAL)))
    refusing = Refusing(refused)
    runtime = SimpleNamespace(
        processes=SimpleNamespace(zygote=refusing),
        files=refusing,
        identity=refusing,
        network=SimpleNamespace(address="<127.0.0.1:1>"),
        config=Config.from_text("LOCAL_UNIV_EXECUTE = /none\n"),
    )
    schedd: Any = SimpleNamespace(
        runtime=runtime,
        name="here",
        queue=pure.queue,
        accounts=SimpleNamespace(to_start=lambda _: account_of(os.getuid())),
        queue_settings=SimpleNamespace(version="v", uid_domain="vm"),
    )

    async def serve() -> tuple[int, int]:
        before = len(os.listdir("/proc/self/fd"))
        run = LocalRun(schedd, Run(job, 1000), cast(Any, None), print)
        with pytest.raises(KettleError, match=f"no {refused}"):
            await run.serve()
        del run
        return before, len(os.listdir("/proc/self/fd"))

    before, after = asyncio.run(serve())
    assert before == after
