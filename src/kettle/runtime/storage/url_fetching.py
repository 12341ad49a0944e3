"""Running URL plug-ins: for a starter that has URLs to fetch, or output to put somewhere.

Which program serves what and how its answers are read is `kettle.transfer.plugins`; here the
programs are run, in the job's scratch directory and, through `spawn`, as the job's user.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import os
import shlex
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NoReturn, Protocol

from kettle.config.knob import split_list
from kettle.config.knobs.transfer import TransferKnobs
from kettle.octets import AS_IS, to_text
from kettle.runtime.process.inheritance import without_inheritance
from kettle.runtime.storage.fences import Fence, open_regular
from kettle.transfer.outcome import UrlResult
from kettle.transfer.plugin_records import TransferClass, file_record, run_record
from kettle.transfer.plugins import (
    BUILT_IN_METHODS,
    MAX_OUTPUT,
    QUERY_SECONDS,
    TRIAL_SECONDS,
    Plugin,
    PluginRules,
    Ran,
    built_in_plugin,
    many_argv,
    parse_abilities,
    parse_job_plugins,
    plan_runs,
    query_argv,
    read_result_ads,
    read_results,
    render_requests,
    single_argv,
    single_result,
)

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from kettle.classad import ClassAd
    from kettle.config import Config
    from kettle.runtime.process.processes import Child, Processes, SystemProcesses

# Limit: what is logged of the output of a plug-in that failed.
_LOGGED = 16 * 1024
# (arguments, working directory, output descriptor, more of an environment) -> the built-in
# plug-in, running.
RunBuiltIn = Callable[[Sequence[str], str, int, Mapping[str, str]], "Child"]
NOTHING: Mapping[str, str] = {}
# Makes this process the owner of the files while it is entered.
AsOwner = Callable[[], "AbstractContextManager[object]"]
# (argv, environment, working directory, descriptors) -> the running program.
Spawn = Callable[[Sequence[str], Mapping[str, str], str, Mapping[int, int]], "Child"]


class Told(Protocol):
    """Where it is told what plug-ins do."""

    def __call__(self, text: str) -> None:
        """Take a line that is always wanted."""

    def full(self, text: str) -> None:
        """Take a line that D_FULLDEBUG asks for."""

    def debug(self, category: str, text: str, *, level: int = 1) -> None:
        """Take a line of a category."""


class UrlFetcher:
    """The plug-ins that one job may use.

    `of_the_job` is TransferPlugins; the job's come first, then the configured ones, the built-in
    one last. Programs that do not exist or answer nothing sensible are passed over. `variables` are
    the job's own; each plug-in gets those that begin with its name. `records` are the ads about
    runs and files so far. `as_owner` makes this process for a moment whoever the scratch directory
    belongs to, which may be closed to the daemon's own account. `job` has what is said to plug-ins.
    The `fence` is around what is opened here.
    """

    def __init__(
        self,
        spawn: Spawn,
        environment: Mapping[str, str],
        scratch: str,
        *,
        rules: PluginRules,
        of_the_job: str | None = None,
        variables: Mapping[str, str] | None = None,
        run_built_in: RunBuiltIn | None = None,
        log: Told | None = None,
        as_owner: AsOwner = contextlib.nullcontext,
        job: ClassAd | None = None,
        fence: Fence | None = None,
    ) -> None:
        self._job = job
        self._fence = fence
        self._as_owner = as_owner
        self._run_built_in = run_built_in
        self._rules = rules
        self._log = log
        self.records: list[ClassAd] = []
        self._spawn = spawn
        self._environment = environment
        self._scratch = scratch
        self._of_the_job = of_the_job
        self._variables = variables or {}
        self._known: list[Plugin] | None = None

    async def plugins(self) -> list[Plugin]:
        """Return the plug-ins in the order in which they are asked."""
        if self._known is None:
            known = []
            for methods, program in parse_job_plugins(self._of_the_job):
                path = os.path.join(self._scratch, os.path.basename(program))
                asked = await self._ask(path)
                if asked is None:
                    known.append(Plugin((path,), methods))
                else:
                    known.append(Plugin((path,), methods, asked.many, asked.version))
            for program in split_list(self._rules.configured):
                plugin = await self._ask(program)
                if plugin is not None:
                    known.append(plugin)
            known.append(built_in_plugin())
            self._known = known
        return self._known

    async def fetch(self, wanted: Sequence[tuple[str, str]]) -> list[UrlResult]:
        """Bring every (url, path); the results are in no particular order."""
        return await self._move(wanted, TransferClass.INPUT)

    async def put(
        self, wanted: Sequence[tuple[str, str]], kind: TransferClass = TransferClass.OUTPUT
    ) -> list[UrlResult]:
        """Send every (url, path) there; the results are in no particular order."""
        return await self._move(wanted, kind)

    async def _move(
        self, wanted: Sequence[tuple[str, str]], kind: TransferClass
    ) -> list[UrlResult]:
        runs, results = plan_runs(await self.plugins(), wanted)
        upload = kind is not TransferClass.INPUT
        for plugin, pairs in runs:
            if plugin.many:
                results += await self._run_many(plugin, pairs, kind)
            else:
                argv = single_argv(plugin, *pairs[0], upload=upload)
                ran = await self._work(plugin, argv, "")
                with self._as_owner():
                    size = _size(pairs[0][1])
                results.append(single_result(plugin, pairs[0], ran, size))
        return results

    async def _run_many(
        self, plugin: Plugin, pairs: list[tuple[str, str]], kind: TransferClass
    ) -> list[UrlResult]:
        base = os.path.join(self._scratch, f".url_plugin.{os.getpid()}.{abs(hash(plugin.argv))}")
        requests, answers = f"{base}.in", f"{base}.out"
        try:
            asked = render_requests(pairs, self._job, plugin.version)
            with self._as_owner():
                _write(requests, asked, self._fence)
            upload = kind is not TransferClass.INPUT
            argv = many_argv(plugin, requests, answers, upload=upload)
            ran = await self._work(plugin, argv, asked)
            with self._as_owner():
                said = _read(answers, self._fence)
            ads = read_result_ads(said)
            self.records.append(run_record(plugin, (url for url, _ in pairs), kind, ran))
            self.records += map(file_record, ads)
            return read_results(plugin, pairs, ads, ran, answers)
        finally:
            for path in (requests, answers):
                with contextlib.suppress(OSError), self._as_owner():
                    os.unlink(path)

    async def _work(self, plugin: Plugin, argv: Sequence[str], asked: str) -> Ran:
        """Run a plug-in to move files, and tell of it."""
        log = self._log
        if log is not None:
            log.full(f"FILETRANSFER: invoking: {shlex.join(argv)}")
            if asked:
                log.full(f"FILETRANSFER: with plugin input: {asked.replace(chr(10), '')}")
        own = plugin.its_own(self._variables)
        ran = await self._run(argv, self._rules.lifetime, own)
        if log is not None:
            log(f"FILETRANSFER: plugin {plugin.name}: {ran.in_numbers()}")
            if ran.timed_out:
                log(f"FILETRANSFER: plugin {plugin.name} was killed after {ran.seconds} seconds.")
            rules = self._rules
            where = rules.told_of_failure if ran.failed else rules.told_of_success
            if ran.output:
                _tell(log, where, _printed(plugin, ran))
        return ran

    async def _ask(self, program: str) -> Plugin | None:
        with self._as_owner():
            if not os.access(program, os.X_OK, effective_ids=True):
                return None
        own = Plugin((program,), frozenset()).its_own(self._variables)
        ran = await self._run(query_argv(program), QUERY_SECONDS, own)
        return None if ran.failed else parse_abilities(program, ran.output)

    def _start(
        self, argv: Sequence[str], descriptors: Mapping[int, int], more: Mapping[str, str]
    ) -> Child:
        own = built_in_plugin().argv
        if self._run_built_in is not None and tuple(argv[: len(own)]) == own:
            return self._run_built_in(argv[len(own) :], self._scratch, descriptors[1], more)
        return self._spawn(argv, {**self._environment, **more}, self._scratch, descriptors)

    async def _run(
        self, argv: Sequence[str], seconds: float, more: Mapping[str, str] = NOTHING
    ) -> Ran:
        """Run a program to its end, or kill it when its time is over."""
        began = time.monotonic()
        with tempfile.TemporaryFile() as output:
            descriptors = {1: output.fileno(), 2: output.fileno()}
            try:
                child = self._start(argv, descriptors, more)
            except OSError as error:
                return Ran(127, error.strerror or str(error), started=False)
            try:
                timed_out = not await self._ends_in_time(child, seconds)
            except asyncio.CancelledError:
                child.signal(9)
                raise
            if timed_out:
                child.signal(9)
            status = await child.wait()
            output.seek(0)
            text = to_text(output.read(MAX_OUTPUT))
        took = int(time.monotonic() - began)
        return Ran(os.waitstatus_to_exitcode(status), text, took, timed_out=timed_out)

    async def _ends_in_time(self, child: Child, seconds: float) -> bool:
        """Wait for a program, and now and then say that it still runs."""
        end = asyncio.ensure_future(child.wait())
        left = seconds
        try:
            while left > 0:
                wait = min(left, max(1.0, self._rules.keepalive))
                done, _ = await asyncio.wait({end}, timeout=wait)
                if done:
                    return True
                left -= wait
                if self._log is not None and left > 0:
                    self._log.debug("D_TEST", "wait_for_output() callback (multi)")
            return False
        finally:
            end.cancel()


def _printed(plugin: Plugin, ran: Ran) -> str:
    """Return the line of what a plug-in printed; only the end where that is long."""
    begin = f"FILETRANSFER: plugin {plugin.name} exit={max(0, ran.status)}"
    size = len(ran.output)
    if size > _LOGGED:
        return f"{begin} had {size} bytes of stdout. last 16KB : {ran.output[-_LOGGED:]}"
    return f"{begin} stdout: {ran.output}"


def _tell(log: Told, where: str, text: str) -> None:
    """Write a line to the log's category that a knob names; nowhere if it names none."""
    category, _, level = where.strip().upper().partition(":")
    category = category if category.startswith("D_") else f"D_{category}"
    if category in {"D_ALWAYS", "D_ERROR"} and level in {"", "1"}:
        log(text)
    elif category == "D_FULLDEBUG" or (category == "D_ALWAYS" and level):
        log.full(text)
    elif where.strip():
        log.debug(category, text, level=int(level) if level.isdecimal() else 1)


def search_path() -> str:
    """Return where plug-ins find programs: where this daemon does, as the reference has it."""
    return os.environ.get("PATH", os.defpath)


def inherited_environment(home: str) -> dict[str, str]:
    """Return what a plug-in has of this daemon's environment, as the reference has it."""
    return {"PATH": search_path(), **without_inheritance(os.environ), "HOME": home}


def plan_trials(config: Config, served: Sequence[str]) -> dict[str, str]:
    """Return the URL that is to be tried for each kind that has one (METHOD_TEST_URL)."""
    urls = {
        method: config.value(TransferKnobs.METHOD_TEST_URL[method.upper()])
        for method in (*BUILT_IN_METHODS, *served)
    }
    return {method: url for method, url in urls.items() if url}


class MachinePlugins:
    """The plug-ins of FILETRANSFER_PLUGINS and the built-in one, before any job uses them.

    Programs that are not there, or answer nothing sensible, serve nothing. `place` is a folder for
    what trials bring.
    """

    def __init__(self, processes: Processes, configured: str, place: str) -> None:
        self._configured = configured
        self._place = place

        def spawn(
            argv: Sequence[str],
            environment: Mapping[str, str],
            cwd: str,
            descriptors: Mapping[int, int],
        ) -> Child:
            return processes.spawn(
                argv, environment=environment, cwd=cwd, fds=descriptors, name="URL plug-in"
            )

        self._spawn = spawn

    def _fetcher(self, folder: str) -> UrlFetcher:
        environment = inherited_environment(os.environ.get("HOME", "/"))
        rules = PluginRules(self._configured, TRIAL_SECONDS)
        return UrlFetcher(self._spawn, environment, folder, rules=rules)

    async def served_methods(self) -> tuple[str, ...]:
        """Return the kinds of URL that the configured plug-ins serve, in their order."""
        if not any(os.access(program, os.X_OK) for program in split_list(self._configured)):
            return ()
        plugins = (await self._fetcher(self._place).plugins())[:-1]
        return tuple(dict.fromkeys(method for one in plugins for method in sorted(one.methods)))

    async def failing(self, trials: Mapping[str, str]) -> dict[str, str]:
        """Fetch a URL for each kind; return those whose URL did not come, with the reason."""
        if not trials:
            return {}
        failed = {}
        with tempfile.TemporaryDirectory(prefix="url_trial.", dir=self._place) as folder:
            fetcher = self._fetcher(folder)
            for method, url in trials.items():
                results = await fetcher.fetch([(url, os.path.join(folder, "trial"))])
                trouble = [result.error for result in results if result.error]
                if trouble or not results:
                    failed[method] = trouble[0] if trouble else "the plug-in said nothing of it"
        return failed


def fork_built_in(
    processes: SystemProcesses,
    become: Callable[[], None],
    arguments: Sequence[str],
    cwd: str,
    output: int,
    more: Mapping[str, str] = NOTHING,
    fence: Fence | None = None,
) -> Child:
    """Run the built-in plug-in in a fork of this process, which is faster than an interpreter.

    It also needs no interpreter that the job's user can execute. `become` gives up this process's
    rights for good; the plug-in's modules are loaded before that. `more` joins its environment, and
    the `fence` bars files to it.
    """
    # What http and the look-up of names would import later, out of reach for the job's user.
    for module in ("encodings.idna", "http.client", "ssl"):
        importlib.import_module(module)
    from kettle.runtime.storage import url_plugin

    processes.expect(1)
    try:
        pid = os.fork()
        if pid == 0:
            os.environ.update(more)
            main = partial(url_plugin.main, fence=fence)
            _be_built_in(main, become, arguments, cwd, output)
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
        sys.stdout = open(1, "w", closefd=False, encoding="utf-8", errors=AS_IS)  # noqa: SIM115 - for good
        sys.stderr = open(2, "w", closefd=False, encoding="utf-8", errors=AS_IS)  # noqa: SIM115
        code = main(list(arguments))
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # noqa: BLE001 - nothing may escape into the starter's code
        traceback.print_exc()
    finally:
        os._exit(code & 0xFF)


def _read(path: str, fence: Fence | None) -> str:
    try:
        descriptor = open_regular(fence, path, os.O_RDONLY)
        with open(descriptor, encoding="utf-8", errors=AS_IS) as file:
            return file.read(MAX_OUTPUT)
    except OSError:
        return ""


def _write(path: str, text: str, fence: Fence | None) -> None:
    descriptor = open_regular(fence, path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    with open(descriptor, "w", encoding="utf-8", errors=AS_IS) as file:
        os.fchmod(file.fileno(), 0o644)
        file.write(text)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
