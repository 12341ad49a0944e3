"""Which plug-ins are asked what they serve."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kettle.runtime.process.processes import SystemProcesses
from kettle.runtime.storage.url_fetching import served_methods

PLUGIN = """#!/bin/sh
echo 'PluginType = "FileTransfer"'
echo 'SupportedMethods = "{methods}"'
echo 'MultipleFileSupport = true'
"""


@pytest.mark.parametrize("between", [", ", " ", ",", "\t"])
def test_plug_ins_stand_apart_by_commas_or_blanks(tmp_path: Path, between: str) -> None:
    listed = ["/not/there"]
    for name, methods in (("first", "box,drive"), ("second", "gopher")):
        (tmp_path / name).write_text(PLUGIN.format(methods=methods))
        (tmp_path / name).chmod(0o755)
        listed.append(str(tmp_path / name))

    async def ask() -> tuple[str, ...]:
        processes = SystemProcesses()
        processes.start(None)
        try:
            return await served_methods(processes, between.join(listed), str(tmp_path))
        finally:
            processes.stop()

    assert asyncio.run(ask()) == ("box", "drive", "gopher")
