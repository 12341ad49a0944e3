"""Running URL plug-ins: for a starter that has URLs to fetch, or output to put somewhere.

Which program serves what and how its answers are read is `kettle.transfer.plugins`; here the
programs are run, in the job's scratch directory and, through `spawn`, as the job's user.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from kettle.transfer.plan import split_list
from kettle.transfer.plugins import (
    LIFETIME_SECONDS,
    MAX_OUTPUT,
    QUERY_SECONDS,
    Plugin,
    built_in_plugin,
    many_argv,
    parse_abilities,
    parse_job_plugins,
    plan_runs,
    query_argv,
    read_results,
    render_requests,
    single_argv,
    single_result,
)
from kettle.transfer.protocol import UrlResult

if TYPE_CHECKING:
    from kettle.runtime.processes import Child

# (argv, environment, working directory, descriptors) -> the running program.
Spawn = Callable[[Sequence[str], Mapping[str, str], str, Mapping[int, int]], "Child"]


class UrlFetcher:
    """The plug-ins that one job may use.

    `configured` is FILETRANSFER_PLUGINS, `of_the_job` TransferPlugins; the job's come first, the
    built-in one last. Programs that do not exist or answer nothing sensible are passed over.
    """

    def __init__(
        self,
        spawn: Spawn,
        environment: Mapping[str, str],
        scratch: str,
        *,
        configured: str = "",
        of_the_job: str | None = None,
    ) -> None:
        self._spawn = spawn
        self._environment = environment
        self._scratch = scratch
        self._configured = configured
        self._of_the_job = of_the_job
        self._known: list[Plugin] | None = None

    async def plugins(self) -> list[Plugin]:
        """Return the plug-ins in the order in which they are asked."""
        if self._known is None:
            known = []
            for methods, program in parse_job_plugins(self._of_the_job):
                path = os.path.join(self._scratch, os.path.basename(program))
                known.append(Plugin((path,), methods))
            for program in split_list(self._configured):
                plugin = await self._ask(program)
                if plugin is not None:
                    known.append(plugin)
            known.append(built_in_plugin())
            self._known = known
        return self._known

    async def fetch(self, wanted: Sequence[tuple[str, str]]) -> list[UrlResult]:
        """Bring every (url, path); the results are in no particular order."""
        return await self._move(wanted, upload=False)

    async def put(self, wanted: Sequence[tuple[str, str]]) -> list[UrlResult]:
        """Send every (url, path) there; the results are in no particular order."""
        return await self._move(wanted, upload=True)

    async def _move(self, wanted: Sequence[tuple[str, str]], *, upload: bool) -> list[UrlResult]:
        runs, results = plan_runs(await self.plugins(), wanted)
        for plugin, pairs in runs:
            if plugin.many:
                results += await self._run_many(plugin, pairs, upload=upload)
            else:
                results.append(await self._run_one(plugin, pairs[0], upload=upload))
        return results

    async def _run_many(
        self, plugin: Plugin, pairs: list[tuple[str, str]], *, upload: bool
    ) -> list[UrlResult]:
        base = os.path.join(self._scratch, f".url_plugin.{os.getpid()}.{abs(hash(plugin.argv))}")
        requests, answers = f"{base}.in", f"{base}.out"
        try:
            _write(requests, render_requests(pairs))
            argv = many_argv(plugin, requests, answers, upload=upload)
            status, _ = await self._run(argv, LIFETIME_SECONDS)
            return read_results(plugin, pairs, _read(answers), status)
        finally:
            for path in (requests, answers):
                with contextlib.suppress(OSError):
                    os.unlink(path)

    async def _run_one(self, plugin: Plugin, pair: tuple[str, str], *, upload: bool) -> UrlResult:
        argv = single_argv(plugin, *pair, upload=upload)
        status, output = await self._run(argv, LIFETIME_SECONDS)
        return single_result(plugin, pair, status, output, _size(pair[1]))

    async def _ask(self, program: str) -> Plugin | None:
        if not os.access(program, os.X_OK):
            return None
        status, output = await self._run(query_argv(program), QUERY_SECONDS)
        return parse_abilities(program, output) if status == 0 else None

    async def _run(self, argv: Sequence[str], seconds: float) -> tuple[int, str]:
        """Run a program and return its exit code (negative: signal) and what it printed."""
        with tempfile.TemporaryFile() as output:
            descriptors = {1: output.fileno(), 2: output.fileno()}
            try:
                child = self._spawn(argv, self._environment, self._scratch, descriptors)
            except OSError as error:
                return 127, f"{argv[0]}: {error.strerror}"
            try:
                async with asyncio.timeout(seconds):
                    status = await child.wait()
            except TimeoutError:
                child.signal(9)
                status = await child.wait()
            output.seek(0)
            text = output.read(MAX_OUTPUT).decode("utf-8", "replace")
        return os.waitstatus_to_exitcode(status), text


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(MAX_OUTPUT)
    except OSError:
        return ""


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o644)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
