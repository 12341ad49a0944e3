"""Running URL plug-ins: for a starter that has URLs to fetch, or output to put somewhere.

Which program serves what and how its answers are read is `kettle.transfer.plugins`; here the
programs are run, in the job's scratch directory and, through `spawn`, as the job's user.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn

from kettle.config.knob import split_list
from kettle.transfer.outcome import UrlResult
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

if TYPE_CHECKING:
    from kettle.runtime.process.processes import Child, Processes, SystemProcesses

# (arguments, working directory, output descriptor) -> the built-in plug-in, running.
RunBuiltIn = Callable[[Sequence[str], str, int], "Child"]
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
        run_built_in: RunBuiltIn | None = None,
    ) -> None:
        self._run_built_in = run_built_in
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
                asked = await self._ask(path)
                known.append(Plugin((path,), methods, asked is None or asked.many))
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

    def _start(self, argv: Sequence[str], descriptors: Mapping[int, int]) -> Child:
        own = built_in_plugin().argv
        if self._run_built_in is not None and tuple(argv[: len(own)]) == own:
            return self._run_built_in(argv[len(own) :], self._scratch, descriptors[1])
        return self._spawn(argv, self._environment, self._scratch, descriptors)

    async def _run(self, argv: Sequence[str], seconds: float) -> tuple[int, str]:
        """Run a program and return its exit code (negative: signal) and what it printed."""
        with tempfile.TemporaryFile() as output:
            descriptors = {1: output.fileno(), 2: output.fileno()}
            try:
                child = self._start(argv, descriptors)
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


def search_path() -> str:
    """Return where plug-ins find programs: where this daemon does, as the reference has it."""
    return os.environ.get("PATH", os.defpath)


async def served_methods(processes: Processes, configured: str, cwd: str) -> tuple[str, ...]:
    """Return the kinds of URL that the plug-ins of FILETRANSFER_PLUGINS serve, in their order.

    Programs that are not there, or answer nothing sensible, serve nothing.
    """
    if not any(os.access(program, os.X_OK) for program in split_list(configured)):
        return ()

    def spawn(
        argv: Sequence[str],
        environment: Mapping[str, str],
        cwd: str,
        descriptors: Mapping[int, int],
    ) -> Child:
        return processes.spawn(
            argv, environment=environment, cwd=cwd, fds=descriptors, name="URL plug-in"
        )

    fetcher = UrlFetcher(spawn, {"PATH": search_path()}, cwd, configured=configured)
    plugins = (await fetcher.plugins())[:-1]
    return tuple(dict.fromkeys(method for one in plugins for method in sorted(one.methods)))


def fork_built_in(
    processes: SystemProcesses,
    become: Callable[[], None],
    arguments: Sequence[str],
    cwd: str,
    output: int,
) -> Child:
    """Run the built-in plug-in in a fork of this process, which is faster than an interpreter.

    It also needs no interpreter that the job's user can execute. `become` gives up this process's
    rights for good; the plug-in's modules are loaded before that.
    """
    # What http and the look-up of names would import later, out of reach for the job's user.
    for module in ("encodings.idna", "http.client", "ssl"):
        importlib.import_module(module)
    from kettle.runtime.storage import url_plugin

    processes.expect(1)
    try:
        pid = os.fork()
        if pid == 0:
            _be_built_in(url_plugin.main, become, arguments, cwd, output)
        return processes.adopt(pid, "URL plug-in")
    finally:
        processes.expect(-1)


def _be_built_in(
    main: Callable[[Sequence[str]], int],
    become: Callable[[], None],
    arguments: Sequence[str],
    cwd: str,
    output: int,
) -> NoReturn:
    """Be the child: a plain blocking program that never returns."""
    code = 70
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
            signal.signal(number, signal.SIG_DFL)
        become()
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.closerange(3, 65_536)
        os.chdir(cwd)
        sys.stdout = open(1, "w", closefd=False, encoding="utf-8")  # noqa: SIM115 - for good
        sys.stderr = open(2, "w", closefd=False, encoding="utf-8")  # noqa: SIM115
        code = main(list(arguments))
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # noqa: BLE001 - nothing may escape into the starter's code
        traceback.print_exc()
    finally:
        os._exit(code & 0xFF)


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
