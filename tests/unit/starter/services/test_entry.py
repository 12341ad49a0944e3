"""What a starter leaves in its log when it dies of a mistake of ours."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from kettle.config import Config
from kettle.runtime.logs import Log
from kettle.starter.services import entry
from kettle.wire.messages.starter_control import StarterActivation


def test_a_mistake_that_ends_a_starter_is_in_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared = SimpleNamespace(config=Config.from_text("", subsystem="STARTER"))
    log = Log(str(tmp_path / "StarterLog.slot1"))
    monkeypatch.setattr(entry, "warm", lambda _generation: prepared)
    monkeypatch.setattr(entry, "_open_log", lambda _prepared, _activation: log)

    async def fail(*_words: object) -> int:
        raise PermissionError(13, "Permission denied", "/execute/dir_1")

    monkeypatch.setattr(entry, "_serve", fail)
    activation = cast(StarterActivation, SimpleNamespace(generation=1))
    with pytest.raises(PermissionError):
        asyncio.run(entry._live(activation, []))
    text = (tmp_path / "StarterLog.slot1").read_text()
    assert "ERROR: Traceback" in text
    assert "'/execute/dir_1'" in text
