"""The wheel's `htcondor2.personal` by the same names: a pool of one's own, up while it is needed.

with PersonalPool("/tmp/mine") as pool:
    print(pool.schedd.query())
"""

from __future__ import annotations

import enum
import logging
import os
import subprocess
import sys
import textwrap
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self

from kettle.compat import classad2, htcondor2
from kettle.compat.htcondor2.errors import said_as, words_of
from kettle.errors import KettleError
from kettle.pool.personal import PersonalPool as Pool

__all__ = ["PersonalPool", "PersonalPoolState", "SetCondorConfig"]

_logger: Final = logging.getLogger("htcondor2.personal")
_CONFIG: Final = "CONDOR_CONFIG"
_SYSTEM_TOKENS: Final = "system_tokens.d"
# As the wheel: how long daemons may take to be up, and to stop before they are killed.
_START_SECONDS: Final = 120.0
_STOP_SECONDS: Final = 60.0


class PersonalPoolState(str, enum.Enum):  # noqa: UP042 - str() of a member is its name
    """How far a pool is."""

    UNINITIALIZED = "UNINITIALIZED"
    INITIALIZED = "INITIALIZED"
    STARTING = "STARTING"
    READY = "READY"
    STOPPING = "STOPPING"
    STOPPED = "STOPPED"


_NOT_UP: Final = frozenset(
    {
        PersonalPoolState.UNINITIALIZED,
        PersonalPoolState.INITIALIZED,
        PersonalPoolState.STOPPING,
        PersonalPoolState.STOPPED,
    }
)


class SetCondorConfig:
    """Has CONDOR_CONFIG name a file inside a `with` statement, or between `set` and `unset`."""

    def __init__(self, config_file: Path | str) -> None:
        self.config_file = Path(config_file)
        self.previous_value: str | None = None

    def set(self) -> None:
        """Have CONDOR_CONFIG name the file, and read the configuration anew."""
        self.previous_value = os.environ.get(_CONFIG)
        os.environ[_CONFIG] = str(self.config_file)
        htcondor2.reload_config()

    def unset(self) -> None:
        """Have CONDOR_CONFIG say what it said before, and read the configuration anew."""
        if self.previous_value is None:
            os.environ.pop(_CONFIG, None)
        else:
            os.environ[_CONFIG] = self.previous_value
        htcondor2.reload_config()

    def __enter__(self) -> Self:
        self.set()
        return self

    def __exit__(self, *ended: object) -> None:
        self.unset()


class PersonalPool:
    """A pool in a folder, of Kettle's daemons; it ends with the object or the program.

    It is made as `kettle up` makes one, with the settings of the program's behind its own.
    """

    _param: Mapping[str, Any] = htcondor2.param

    def __init__(
        self,
        local_dir: Path | str | None = None,
        config: Mapping[str, Any] | None = None,
        raw_config: str | None = None,
        detach: bool = False,
        use_config: bool = True,
    ) -> None:
        """Take the folder (~/.condor/personal), settings by name and as text.

        A pool that is detached does not end with the object. With `use_config` the folder is made
        and CONDOR_CONFIG names its configuration from now on.
        """
        self._state = PersonalPoolState.UNINITIALIZED
        if local_dir is None:
            local_dir = Path.home() / ".condor" / "personal"
        self.local_dir = Path(local_dir).absolute()
        self.execute_dir = self.local_dir / "execute"
        self.lock_dir = self.local_dir / "lock"
        self.log_dir = self.local_dir / "log"
        self.run_dir = self.local_dir / "run"
        self.spool_dir = self.local_dir / "spool"
        self.passwords_dir = self.local_dir / "passwords.d"
        self.tokens_dir = self.local_dir / "tokens.d"
        self.system_tokens_dir = self.local_dir / _SYSTEM_TOKENS
        self.config_file = self.local_dir / "condor_config"
        self._settings = _settings(config or {}, raw_config or "")
        self._pool = Pool(str(self.local_dir), configuration=self._settings)
        self._detached = detach
        # Stops the pool where the object is gone, or the program ends, before it was stopped.
        self._end: weakref.finalize[[Pool], PersonalPool] | None = None
        if use_config:
            self.initialize()
            self.use_config().set()

    @property
    def state(self) -> PersonalPoolState:
        """How far the pool is."""
        return self._state

    @state.setter
    def state(self, state: PersonalPoolState) -> None:
        _logger.debug("%s is %s from now on", self, state.value)
        self._state = state
        self._follow_state()

    def _follow_state(self) -> None:
        """Have the pool end with this object where that is what it is to do."""
        if self._detached or self._state in _NOT_UP:
            if self._end is not None:
                self._end.detach()
            self._end = None
        elif self._end is None:
            self._end = weakref.finalize(self, _stop, self._pool)

    def __repr__(self) -> str:
        places = [str(self.local_dir)]
        for lead, folder in (("~", Path.home()), (".", Path.cwd())):
            if self.local_dir.is_relative_to(folder):
                places.append(f"{lead}/{self.local_dir.relative_to(folder)}")
        return f"{type(self).__name__}(local_dir={min(places, key=len)}, state={self.state})"

    # -- Its life ---------------------------------------------------------------------------

    def initialize(self, overwrite_config: bool = True) -> Self:
        """Make the folder and its configuration; nothing happens if that is done, or it is up.

        Without `overwrite_config` a configuration that is there is an error: FileExistsError.
        """
        if self._state not in {PersonalPoolState.UNINITIALIZED, PersonalPoolState.STOPPED}:
            return self
        if not overwrite_config and self.config_file.exists():
            raise FileExistsError(f"there is a configuration already: {self.config_file}")
        with said_as(words_of):
            if self._pool.master_pid() is None:
                self._pool.make()
                self._pool.configure(self._settings)
        self.system_tokens_dir.mkdir(mode=0o700, exist_ok=True)
        self.state = PersonalPoolState.INITIALIZED
        return self

    def start(self) -> Self:
        """Start the daemons and return when they are ready; nothing happens if they are."""
        if self._state is PersonalPoolState.READY:
            return self
        self.initialize()
        if self._is_up():
            name = type(self).__name__
            raise RuntimeError(
                f"Cannot start a {name} in the same local_dir as an already-running {name}."
            )
        self.state = PersonalPoolState.STARTING
        try:
            with said_as(words_of):
                self._pool.start(seconds=_START_SECONDS)
        except BaseException:
            self.state = PersonalPoolState.STOPPED
            raise
        self.state = PersonalPoolState.READY
        _logger.info("%s has been started", self)
        return self

    def stop(self) -> Self:
        """Stop the daemons and return when they are gone; nothing happens if it is detached."""
        if self._state in _NOT_UP or self._detached:
            return self
        self.state = PersonalPoolState.STOPPING
        try:
            self._pool.stop(seconds=_STOP_SECONDS)
        finally:
            self.state = PersonalPoolState.STOPPED
        _logger.info("%s has been stopped", self)
        return self

    def detach(self) -> Self:
        """Have the pool go on after this object and the program."""
        self._detached = True
        self._follow_state()
        return self

    @classmethod
    def attach(cls, local_dir: Path | str | None = None) -> Self:
        """Return the pool that is up in a folder."""
        pool = cls(local_dir=local_dir)
        if not pool._is_up():
            raise RuntimeError(f"There is not already a running HTCondor instance for {pool}.")
        pool.state = PersonalPoolState.READY
        return pool

    def __enter__(self) -> Self:
        self.use_config().set()
        return self.start()

    def __exit__(self, *ended: object) -> None:
        self.stop()
        self.use_config().unset()

    def _is_up(self) -> bool:
        return self._pool.master_pid() is not None

    # -- Its use ----------------------------------------------------------------------------

    def use_config(self) -> SetCondorConfig:
        """Return what has CONDOR_CONFIG name the pool's configuration in a `with` statement."""
        return SetCondorConfig(self.config_file)

    @property
    def collector(self) -> Any:
        """The pool's collector, also when CONDOR_CONFIG names another pool."""
        with self.use_config():
            found = htcondor2.Collector().locate(htcondor2.DaemonType.Collector)
            return htcondor2.Collector(found)

    @property
    def schedd(self) -> Any:
        """The pool's schedd, also when CONDOR_CONFIG names another pool."""
        with self.use_config():
            return htcondor2.Schedd()

    def who(self) -> classad2.ClassAd:
        """Return the daemons that run, as `condor_who -quick` says it; empty where none does."""
        return classad2.parseOne(self._who())

    def _who(self) -> str:
        said = str(self.run_command(["condor_who", "-quick"]).stdout)
        # After a pool's end it says something else.
        return said if "MASTER_PID" in said else ""

    def run_command(
        self,
        args: Sequence[object],
        stdout: Any = subprocess.PIPE,
        stderr: Any = subprocess.PIPE,
        universal_newlines: bool = True,
        **kwargs: Any,
    ) -> subprocess.CompletedProcess[Any]:
        """Run a command with the pool's configuration, as `subprocess.run` does.

        Kettle's commands are found first, unless `env` is given.
        """
        with self.use_config():
            if kwargs.get("env") is None:
                places = (str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath))
                kwargs["env"] = {**os.environ, "PATH": os.pathsep.join(places)}
            done = subprocess.run(
                [str(one) for one in args],
                stdout=stdout,
                stderr=stderr,
                text=universal_newlines,
                **kwargs,
            )
        for stream in ("stdout", "stderr"):
            text = getattr(done, stream)
            setattr(done, stream, text.rstrip() if text is not None else None)
        return done

    def get_config_val(self, macro: str, default: Any = None) -> Any:
        """Return a setting of the pool's; KeyError if there is none and no default."""
        with self.use_config():
            try:
                return self._param[macro]
            except KeyError:
                if default is None:
                    raise
                return default


def _stop(pool: Pool) -> None:
    """Stop a pool whose object is gone, or whose program ends."""
    try:
        pool.stop(seconds=_STOP_SECONDS)
    except (KettleError, OSError):
        _logger.exception("the pool in %s could not be stopped", pool.folder)


def _settings(config: Mapping[str, Any], raw_config: str) -> str:
    """Return a program's settings as the text of a configuration."""
    named = "".join(
        f"{name} = {'' if value is None else value}\n" for name, value in config.items()
    )
    raw = textwrap.dedent(raw_config)
    return named + (f"{raw.rstrip()}\n" if raw.strip() else "")
