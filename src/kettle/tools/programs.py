"""Turns a tool's `main(argv, environment, streams)` into an installed program.

Every tool module has `main(argv, environment, streams) -> int` (see `Main`),
where `argv[0]` is the program's name. Tests call `main`; the installed scripts come through here,
the one place that reads the process's own arguments, environment and streams. What each tool does
is in the module of its name.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol, TextIO, cast

from kettle.errors import KettleError


class Streams(NamedTuple):
    """The three standard streams, as text."""

    stdin: TextIO
    stdout: TextIO
    stderr: TextIO


class Main(Protocol):
    """What a tool module offers under the name `main`."""

    def __call__(self, argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
        """Run the tool; the result is its exit code."""


def run_program(name: str) -> int:
    """Run the tool module `name` on this process's arguments, environment and streams.

    A reader that goes away (SIGPIPE) ends the program as it ends any other; Ctrl-C gives 130; an
    operating error is one sentence on stderr and exit code 1.
    """
    if name not in _WITHOUT_EXPRESSIONS:
        _install_ambient_context()
    streams = Streams(sys.stdin, sys.stdout, sys.stderr)
    if name != "kettle":
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    main = cast(Main, importlib.import_module(f"kettle.tools.{name}").main)
    try:
        code = main([name, *sys.argv[1:]], os.environ, streams)
    except KettleError as error:
        streams.stderr.write(f"ERROR: {error}\n")
        code = 1
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        code = 141
    try:
        streams.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), streams.stdout.fileno())
    return code


# Programs that evaluate no expression need not load the language.
_WITHOUT_EXPRESSIONS = frozenset({"condor_version"})


def _install_ambient_context() -> None:
    """Give ClassAd functions this process's clock, dice, time zone and user database."""
    import random
    import time

    from kettle.classad.context import Context, set_ambient

    def home_of(user: str) -> str | None:
        import pwd

        try:
            return pwd.getpwnam(user).pw_dir
        except KeyError:
            return None

    set_ambient(
        Context(
            now=time.time,
            random=random.Random(),  # noqa: S311 - dice, not secrets
            utc_offset=lambda seconds: time.localtime(seconds).tm_gmtoff,
            zone_name=lambda seconds: time.localtime(seconds).tm_zone,
            home_of=home_of,
        )
    )


def __getattr__(name: str) -> Callable[[], int]:
    """`programs.condor_q` is the entry point of the tool module `condor_q`."""
    if name.startswith("__"):
        raise AttributeError(name)
    return lambda: run_program(name)
