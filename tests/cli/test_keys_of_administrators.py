"""Tools that speak with a daemon found by the collector ask for the key that administrators get."""

from __future__ import annotations

import importlib
import io
from pathlib import Path
from typing import Any

import pytest

from kettle.client.pool import Pool
from kettle.errors import NotFoundError
from kettle.tools.programs import TOOLS, Streams

ASKS = {
    "condor_config_val": ("-name", "boss@here", "LOG"),
    "condor_userprio": ("-allusers",),
    "condor_drain": ("worker@here",),
    "condor_reconfig": ("-name", "boss@here"),
    "condor_fetchlog": ("boss@here", "MASTER"),
}


@pytest.mark.parametrize("tool", ASKS)
def test_the_daemon_is_looked_for_as_an_administrator_would(
    tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tools of this list take the key in a daemon's ad where they are shown it."""
    asked: list[bool] = []

    def locate(_: Pool, *words: object, to_command: bool = False, **others: Any) -> None:
        asked.append(to_command)
        raise NotFoundError("nowhere")

    monkeypatch.setattr(Pool, "locate", locate)
    (tmp_path / "config").write_text("COLLECTOR_HOST = localhost:1\n")
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    module = importlib.import_module(f"kettle.tools.{TOOLS[tool]}")
    module.main([tool, *ASKS[tool]], {"CONDOR_CONFIG": str(tmp_path / "config")}, streams)
    assert asked == [True]
