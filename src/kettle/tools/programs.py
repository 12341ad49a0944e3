"""Turns a tool's `main(argv, environment, streams)` into an installed program.

Every tool module has `main(argv, environment, streams) -> int` (see `Main`), where `argv[0]` is
the program's name; `TOOLS` says which module each program is. Tests call `main`; the installed
scripts come through here, the one place that reads the process's own arguments, environment and
streams. What each tool does is in its module.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Protocol, TextIO, cast

from kettle.errors import KettleError
from kettle.named_tuples import NamedTuple
from kettle.octets import AS_IS, keeping_bytes
from kettle.runtime.standard_streams import settle_streams

if TYPE_CHECKING:
    from random import Random

# Which module of `tools/` each installed program is. Families whose members differ by a row of a
# table share one module, which goes by `argv[0]`.
TOOLS = {
    "classad_eval": "configuration.classad_eval",
    "condor_advertise": "control.condor_advertise",
    "condor_check_userlogs": "jobs.condor_check_userlogs",
    "condor_chirp": "jobs.condor_chirp",
    "condor_config_val": "configuration.condor_config_val",
    "condor_continue": "jobs.actions",
    "condor_drain": "control.condor_drain",
    "condor_fetchlog": "control.condor_fetchlog",
    "condor_findhost": "status.condor_findhost",
    "condor_history": "queue.condor_history",
    "condor_hold": "jobs.actions",
    "condor_manifest": "jobs.condor_manifest",
    "condor_off": "control.daemon_control",
    "condor_on": "control.daemon_control",
    "condor_ping": "status.condor_ping",
    "condor_preen": "control.condor_preen",
    "condor_prio": "jobs.condor_prio",
    "condor_q": "queue.condor_q",
    "condor_qedit": "jobs.condor_qedit",
    "condor_reconfig": "control.daemon_control",
    "condor_release": "jobs.actions",
    "condor_reschedule": "control.daemon_control",
    "condor_restart": "control.daemon_control",
    "condor_rm": "jobs.actions",
    "condor_run": "submitting.condor_run",
    "condor_set_shutdown": "control.daemon_control",
    "condor_ssh_to_job": "jobs.condor_ssh_to_job",
    "condor_status": "status.condor_status",
    "condor_store_cred": "tokens.condor_store_cred",
    "condor_submit": "submitting.condor_submit",
    "condor_suspend": "jobs.actions",
    "condor_tail": "jobs.condor_tail",
    "condor_token_create": "tokens.condor_token_create",
    "condor_token_fetch": "tokens.condor_token_fetch",
    "condor_token_list": "tokens.condor_token_list",
    "condor_token_request": "tokens.condor_token_request",
    "condor_token_request_approve": "tokens.condor_token_request_approve",
    "condor_token_request_list": "tokens.condor_token_request_list",
    "condor_transfer_data": "submitting.condor_transfer_data",
    "condor_transform_ads": "configuration.condor_transform_ads",
    "condor_userlog": "jobs.condor_userlog",
    "condor_userlog_job_counter": "jobs.condor_userlog_job_counter",
    "condor_userprio": "status.condor_userprio",
    "condor_vacate": "control.daemon_control",
    "condor_vacate_job": "jobs.actions",
    "condor_version": "configuration.condor_version",
    "condor_wait": "jobs.condor_wait",
    "condor_watch_q": "queue.condor_watch_q",
    "condor_who": "status.condor_who",
    "kettle": "kettle",
}


_ACTING = frozenset(
    {"control.daemon_control", "jobs.actions", "jobs.condor_prio", "jobs.condor_qedit"}
)


class Streams(NamedTuple):
    """The three standard streams, as text."""

    stdin: TextIO
    stdout: TextIO
    stderr: TextIO


class Main(Protocol):
    """What a tool module offers under the name `main`."""

    def __call__(self, argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
        """Run the tool; the result is its exit code."""


def load_tool(name: str) -> Main:
    """Return the `main` of the program `name`; KeyError if there is none of that name."""
    return cast(Main, importlib.import_module(f"kettle.tools.{TOOLS[name]}").main)


class ProgramEndError(Exception):
    """What ends a tool at once, whatever it is about: a sentence, and the exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


def run_program(name: str) -> int:
    """Run the tool module `name` on this process's arguments, environment and streams.

    A reader that goes away (SIGPIPE) ends the program as it ends any other, and so does Ctrl-C once
    the program has tidied up (130 for `kettle`); not one that acts on jobs or daemons, whose exit
    code says what it did, whoever listens. An operating error is one sentence on stderr and
    exit code 1. Streams that are closed or full are none (`kettle.runtime.standard_streams`).
    """
    acts = TOOLS[name] in _ACTING
    with _dying_of_interrupt():
        streams, main = _prepare(name, acts=acts)
    try:
        code = main([name, *sys.argv[1:]], os.environ, streams)
    except ProgramEndError as end:
        streams.stderr.write(f"{end}\n")
        code = end.code
    except KettleError as error:
        said = f"ERROR: {error}\n"
        streams.stderr.write(said)
        if streams.stderr.isatty():
            from kettle.tools.at_terminal import draw_fault

            draw_fault(error, streams.stderr, said)
        code = 1
    except KeyboardInterrupt:
        code = 130 if name == "kettle" else _die_of_interrupt(streams)
    except BrokenPipeError:
        code = 141
    except OSError as error:
        what = f"{error.filename}: " if error.filename else ""
        streams.stderr.write(f"ERROR: {what}{error.strerror or error}\n")
        code = 1
    try:
        streams.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), streams.stdout.fileno())
    # The interpreter looks for cycles before it ends, among objects that end with the process.
    gc.freeze()
    return code


def _prepare(name: str, *, acts: bool) -> tuple[Streams, Main]:
    """Return this process's streams, and the tool, whose modules are loaded here."""
    settle_streams(name, ends_unheard=not acts)
    _forget_coercion()
    # Little of what a tool makes forms cycles: looking for those costs a fifth of its start.
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    if name not in _WITHOUT_EXPRESSIONS:
        _install_ambient_context()
    streams = standard_streams()
    if name != "kettle" and not acts:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    return streams, load_tool(name)


@contextlib.contextmanager
def _dying_of_interrupt() -> Iterator[None]:
    """Let Ctrl-C end the process where there is nothing to be tidied up, and nothing to be said."""
    before = signal.getsignal(signal.SIGINT)
    # Who ignores it, as a shell's background jobs do, goes on.
    if before is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _forget_coercion() -> None:
    """Take out of our environment what the interpreter put there (PEP 538): no job is to get it."""
    if "LC_CTYPE" not in os.environ:
        return
    with contextlib.suppress(OSError), open("/proc/self/environ", "rb") as file:
        given = file.read().split(b"\0")
        if not any(entry.startswith(b"LC_CTYPE=") for entry in given):
            del os.environ["LC_CTYPE"]


def standard_streams() -> Streams:
    """Return this process's streams, over which every byte goes as it is.

    The encoding stays the terminal's: a console would be drawn with letters that it has not. What
    it cannot write becomes what it became before: for stderr an escape, so that no message is lost.
    """
    # A stream may be another object in a test.
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors=AS_IS)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=keeping_bytes(stream.errors or "strict"))
    return Streams(sys.stdin, sys.stdout, sys.stderr)


def _die_of_interrupt(streams: Streams) -> int:
    """End by SIGINT itself: a shell that runs a script is told by that to end the script, too."""
    with contextlib.suppress(OSError):
        streams.stdout.flush()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)
    return 130


_OBJECTS_BETWEEN_COLLECTIONS = 500_000
# Programs that evaluate no expression need not load the language.
_WITHOUT_EXPRESSIONS = frozenset({"condor_version"})


def _install_ambient_context() -> None:
    """Give ClassAd functions this process's clock, dice, time zone and user database."""
    import time

    from kettle.ambient import AMBIENT, Context, set_ambient

    def dice() -> Random:
        import random

        return random.Random()  # noqa: S311 - dice, not secrets

    def home_of(user: str) -> str | None:
        import pwd

        try:
            return pwd.getpwnam(user).pw_dir
        except KeyError:
            return None

    set_ambient(
        Context(
            now=time.time,
            random=dice,
            utc_offset=lambda seconds: time.localtime(seconds).tm_gmtoff,
            zone_name=lambda seconds: time.localtime(seconds).tm_zone,
            home_of=home_of,
        )
    )
    AMBIENT.install_bound = _bound_patterns


def _bound_patterns() -> None:
    """Let patterns take no more time than in daemons: what they say then is the same, too."""
    from kettle.runtime import pattern_limit

    # Signals come to the main thread alone.
    with contextlib.suppress(ValueError):
        pattern_limit.install()


def __getattr__(name: str) -> Callable[[], int]:
    """`programs.condor_q` is the entry point of the program `condor_q`."""
    if name not in TOOLS:
        raise AttributeError(name)
    return lambda: run_program(name)
