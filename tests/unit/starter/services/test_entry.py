"""What a starter leaves in its log when it dies of a mistake of ours."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from kettle.config import Config
from kettle.runtime.logs import Log
from kettle.starter.service import Starter
from kettle.starter.services import entry
from kettle.starter.services.control import StartdControl
from kettle.starter.services.ending import JobEnd
from kettle.starter.services.orders import JobOrders
from kettle.wire.messages.starter_control import StarterActivation


def test_a_mistake_that_ends_a_starter_is_in_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = SimpleNamespace(execute="/execute")
    prepared = SimpleNamespace(config=Config.from_text("", subsystem="STARTER"), settings=settings)
    log = Log(str(tmp_path / "StarterLog.slot1"))
    monkeypatch.setattr(entry, "warm", lambda _generation: prepared)
    monkeypatch.setattr(entry, "_open_log", lambda _prepared, _activation: log)

    async def fail(*_words: object) -> int:
        raise PermissionError(13, "Permission denied", "/execute/dir_1")

    monkeypatch.setattr(entry, "_serve", fail)
    activation = cast(StarterActivation, SimpleNamespace(generation=1, execute="/execute"))
    with pytest.raises(PermissionError):
        asyncio.run(entry._live(activation, []))
    text = (tmp_path / "StarterLog.slot1").read_text()
    assert "ERROR: Traceback" in text
    assert "'/execute/dir_1'" in text


def test_a_mistake_in_a_jobs_run_sends_the_job_back_with_a_word_of_it() -> None:
    said: list[tuple[str, int, int]] = []

    async def report(message: str, code: int, subcode: int) -> None:
        said.append((message, code, subcode))

    async def fail() -> None:
        raise UnicodeEncodeError("utf-8", "\udce9", 0, 1, "surrogates not allowed")

    async def nothing() -> None:
        said.append(("cleaned up", 0, 0))

    starter = object.__new__(Starter)
    starter.control = cast(StartdControl, SimpleNamespace(begin=lambda _starter: None))
    starter.orders = cast(JobOrders, None)
    starter.end = cast(JobEnd, SimpleNamespace(stays=True, report_failure=report))
    vars(starter).update(_run=fail, _clean_up=nothing)
    with pytest.raises(UnicodeEncodeError):
        asyncio.run(starter.run())
    (message, code, subcode), last = said
    assert message.startswith("starter fault: UnicodeEncodeError: 'utf-8' codec can't encode")
    # No reason to hold: the reference's job is queued again, too.
    assert (code, subcode) == (0, 0)
    assert last == ("cleaned up", 0, 0)
    assert starter.end.stays is False
