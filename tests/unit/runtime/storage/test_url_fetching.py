"""Which plug-ins are asked what they serve."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from kettle.runtime import life
from kettle.runtime.process.processes import Child, SystemProcesses
from kettle.runtime.storage.url_fetching import MachinePlugins, UrlFetcher, _read, _write
from kettle.transfer.plugins import PluginRules

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
            return await MachinePlugins(
                processes, between.join(listed), str(tmp_path)
            ).served_methods()
        finally:
            processes.stop()

    assert life.run(ask()) == ("box", "drive", "gopher")


def test_a_kind_of_url_whose_trial_fails_is_named_with_the_reason(tmp_path: Path) -> None:
    """METHOD_TEST_URL: of the built-in plug-in and of a site's own."""
    (tmp_path / "there").write_text("content")
    plugin = tmp_path / "boxes"
    plugin.write_text(PLUGIN.format(methods="box") + '[ "$1" = -classad ] || exit 9\n')
    plugin.chmod(0o755)
    trials = {"file": f"file://{tmp_path}/there", "http": "file:///not/there", "box": "box://a"}

    async def ask() -> dict[str, str]:
        processes = SystemProcesses()
        processes.start(None)
        try:
            return await MachinePlugins(processes, str(plugin), str(tmp_path)).failing(trials)
        finally:
            processes.stop()

    failed = life.run(ask())
    assert sorted(failed) == ["box", "http"]
    assert "No such file" in failed["http"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["boxes", "there"]


def test_a_plug_in_gets_those_of_the_job_s_variables_that_bear_its_name(tmp_path: Path) -> None:
    plugin = tmp_path / "box_plugin.py"
    plugin.write_text(PLUGIN.format(methods="box") + f'env > "{tmp_path}/seen"\n')
    plugin.chmod(0o755)
    variables = {"BOX_DEBUG": "1", "box_too": "2", "CURL_MAX_REDIRS": "3", "PATH": "/x"}
    built_in: list[Mapping[str, str]] = []

    async def fetch() -> None:
        processes = SystemProcesses()
        processes.start(None)

        def spawn(
            argv: Sequence[str], environment: Mapping[str, str], cwd: str, fds: Mapping[int, int]
        ) -> Child:
            return processes.spawn(argv, environment=environment, cwd=cwd, fds=fds, name="plug-in")

        def run_built_in(
            arguments: Sequence[str], cwd: str, output: int, more: Mapping[str, str]
        ) -> Child:
            del arguments
            built_in.append(more)
            return spawn(["/bin/true"], {}, cwd, {1: output})

        fetcher = UrlFetcher(
            spawn,
            {"PATH": "/bin:/usr/bin"},
            str(tmp_path),
            rules=PluginRules(str(plugin)),
            variables=variables,
            run_built_in=run_built_in,
        )
        try:
            await fetcher.fetch([("box://a", f"{tmp_path}/a"), ("http://b", f"{tmp_path}/b")])
        finally:
            processes.stop()

    life.run(fetch())
    seen = (tmp_path / "seen").read_text().split("\n")
    assert {"BOX_DEBUG=1", "box_too=2", "PATH=/bin:/usr/bin"} <= set(seen)
    assert "CURL_MAX_REDIRS=3" not in seen
    assert built_in == [{"CURL_MAX_REDIRS": "3"}]


@pytest.mark.timeout(30)
def test_a_pipe_in_the_place_of_a_plug_in_s_questions_or_answers_keeps_nobody_waiting(
    tmp_path: Path,
) -> None:
    """A job that goes on after its checkpoint sees their names."""
    pipe = tmp_path / "questions"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="No such device or address"):
        _write(str(pipe), "text", None)
    other_end = os.open(pipe, os.O_RDWR)
    try:
        with pytest.raises(OSError, match="it is no regular file"):
            _write(str(pipe), "text", None)
        assert _read(str(pipe), None) == ""
    finally:
        os.close(other_end)
