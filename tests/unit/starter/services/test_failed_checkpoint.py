"""What goes to the access point of a checkpoint that its destination did not take."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from kettle.classad import ClassAd
from kettle.starter.services import transfer
from kettle.starter.services.transfer import SandboxTransfer, TransferFailed
from kettle.transfer.checkpoints import failure_name, manifest_name
from kettle.transfer.items import SendFile
from kettle.transfer.plan import Plan


@pytest.mark.parametrize(("success", "name"), [(True, manifest_name(3)), (False, failure_name(3))])
def test_the_list_of_a_checkpoint_that_failed_never_has_the_name_of_a_good_one(
    success: bool, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine may die before it says what became of it, and the next run picks the newest."""
    report = SimpleNamespace(
        success=success, name="state", destination="file:///ck", error="no room", orderly=True
    )
    sent: list[tuple[str, str]] = []

    async def put(*_: object) -> list[object]:
        return [report]

    async def send(plan: Plan, *_: object, **__: object) -> None:
        sent.extend((item.path, item.name) for item in plan.items if isinstance(item, SendFile))

    async def written(number: int, _files: object) -> SendFile:
        return SendFile("/beside/list", manifest_name(number))

    job = ClassAd({"CheckpointDestination": "file:///ck", "GlobalJobId": "ap#1.0#7"})
    over: Any = SandboxTransfer(SimpleNamespace(job=job))  # type: ignore[arg-type]
    over._plan = lambda _attribute: Plan((SendFile("/scratch/state", "state"),), 0)
    over._write_manifest = written
    over._send = send
    monkeypatch.setattr(transfer, "JobPlugins", lambda _: SimpleNamespace(put=put))
    if success:
        asyncio.run(over.send_checkpoint(3))
    else:
        with pytest.raises(TransferFailed, match="no room"):
            asyncio.run(over.send_checkpoint(3))
    assert sent == [("/beside/list", name)]
