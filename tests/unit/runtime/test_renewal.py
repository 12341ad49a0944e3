"""A daemon at work takes a new configuration as a whole, or stays as it is."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kettle.config import Config
from kettle.config.knobs.network import NetworkKnobs
from kettle.config.knobs.schedd import ScheddKnobs
from kettle.config.knobs.shadow import ShadowKnobs
from kettle.errors import ConfigError
from kettle.runtime import remote_settings
from kettle.runtime.daemon import Daemon
from kettle.runtime.identity import DaemonIdentity
from kettle.runtime.remote_settings import RemoteSettings, load_for_child
from kettle.runtime.renewal import renew


class _Log(list[str]):
    def __call__(self, text: str) -> None:
        self.append(text)

    problem = __call__

    def configure(self, **settings: object) -> None:
        del settings

    path = None


class _Service:
    """Takes what it is given, and says so."""

    def __init__(self) -> None:
        self.taken: list[Config] = []

    def check(self, config: Config) -> None:
        if config.get("OUR_LIST") == "nonsense":
            raise ConfigError("OUR_LIST is nonsense")

    async def reconfigure(self, config: Config) -> None:
        self.taken.append(config)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The configuration's file."""
    path = tmp_path / "condor_config"
    path.write_text("")
    monkeypatch.setenv("CONDOR_CONFIG", str(path))
    return path


def _make() -> tuple[Daemon, _Service, _Log, Config]:
    """Return a daemon at work with what it has: its service, its log and its configuration."""
    config, log, service = Config.from_text("", subsystem="SCHEDD"), _Log(), _Service()
    runtime = SimpleNamespace(
        config=config,
        log=log,
        clock=SimpleNamespace(now=lambda: 5.0),
        network=SimpleNamespace(reconfigure=service.taken.append),
        identity=DaemonIdentity("SCHEDD", "vm", "vm", 0.0),
        remote_settings=RemoteSettings(runtime=True),
    )
    return Daemon(cast(Any, runtime), cast(Any, service), cast(Any, None)), service, log, config


def _reconfigure(daemon: Daemon) -> None:
    asyncio.run(daemon._reconfigure())


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("SHADOW_WORKLIFE = 1 hour", "is not a number of seconds (did you mean 3600?)"),
        ("TCP_KEEPALIVE_INTERVAL = 5 min", "is not a number of seconds (did you mean 300?)"),
        ("ALLOW_TRANSFER_REMAP_TO_MKDIR = maybe", "is not boolean (did you mean true or false?)"),
        ("SCHEDD.PERIODIC_EXPR_INTERVAL = 1 min", "did you mean 60?"),
        ("SEC_ENABLE_MATCH_PASSWORD_AUTHENTICATION = ture", "is not boolean (did you mean true?)"),
        ("SCHEDD_INTERVAL = 5.5.5", "is not a number of seconds"),
        ("START = (", "is not an expression"),
        ("OUR_A = $(OUR_B)\nOUR_B = $(OUR_A)", "refers to itself"),
        ("SEC_READ_SESSION_DURATION = 1 day", "did you mean 86400?"),
        ("OUR_LIST = nonsense", "OUR_LIST is nonsense"),
        ("this is no statement", "neither an assignment nor a statement"),
    ],
)
def test_a_wrong_value_changes_nothing_and_is_named_with_its_place(
    file: Path, line: str, words: str
) -> None:
    daemon, service, log, before = _make()
    file.write_text(f"# ours\nMAX_JOBS_PER_OWNER = 7\n{line}\n")
    _reconfigure(daemon)
    assert daemon.runtime.config is before
    assert service.taken == []
    assert words in log[0]
    assert "line 3" in log[0].lower() or "LIST" in line
    assert str(file) in log[0] or "LIST" in line
    assert log[-1].endswith("the old configuration stays.")


def test_every_fault_is_named_and_the_next_good_configuration_is_taken(file: Path) -> None:
    daemon, service, log, before = _make()
    file.write_text("MAX_JOBS_RUNNING = many\nALIVE_INTERVAL = often\n")
    _reconfigure(daemon)
    assert [line.partition(" = ")[0].rpartition(" ")[2] for line in log[:-1]] == [
        "ALIVE_INTERVAL",
        "MAX_JOBS_RUNNING",
    ]
    file.write_text("MAX_JOBS_RUNNING = 6\n")
    _reconfigure(daemon)
    now = daemon.runtime.config
    assert now is not before
    assert now[ScheddKnobs.MAX_JOBS_RUNNING] == 6
    assert service.taken == [now, now]


def test_what_was_set_from_afar_is_looked_at_too(file: Path) -> None:
    del file
    daemon, service, log, before = _make()
    daemon.runtime.remote_settings._texts["SHADOW_WORKLIFE"] = "1 hour"
    _reconfigure(daemon)
    assert (daemon.runtime.config, service.taken) == (before, [])
    assert log[0].startswith("<Runtime>: SHADOW_WORKLIFE = 1 hour")


def test_many_faults_do_not_fill_the_log(file: Path) -> None:
    file.write_text("".join(f"SEC_X{n}_SESSION_DURATION = long\n" for n in range(100)))
    said: list[str] = []
    identity = DaemonIdentity("SCHEDD", "vm", "vm", 0.0)
    assert renew(identity, RemoteSettings(), None, said.append) is None
    assert len(said) == 22
    assert said[-2] == "... and 80 more"


def test_who_is_born_for_a_job_has_the_default_of_what_is_wrong_and_says_so_once(
    file: Path,
) -> None:
    """Whoever bears it may have the old configuration still, and the job must not suffer."""
    file.write_text("PERIODIC_EXPR_INTERVAL = 1 min\nTCP_KEEPALIVE_INTERVAL = 5 min\n")
    said: list[str] = []
    config = load_for_child("SHADOW")
    assert config[ScheddKnobs.PERIODIC_EXPR_INTERVAL] == 60
    config.forgive(said.append)
    assert config[ScheddKnobs.PERIODIC_EXPR_INTERVAL] == 60
    assert config[NetworkKnobs.TCP_KEEPALIVE_INTERVAL] == 360
    assert config.value(NetworkKnobs.TCP_KEEPALIVE_INTERVAL) == 360
    assert [line.partition(" is not ")[0] for line in said] == [
        f"{file}, line 1: PERIODIC_EXPR_INTERVAL = 1 min",
        f"{file}, line 2: TCP_KEEPALIVE_INTERVAL = 5 min",
    ]
    assert said[0].endswith("(did you mean 60?): its default is used")


def test_who_forgives_takes_a_circle_for_what_is_not_set() -> None:
    said: list[str] = []
    config = Config.from_text("OUR_A = $(OUR_B)\nOUR_B = $(OUR_A)\nSHADOW_WORKLIFE = $(OUR_A)\n")
    with pytest.raises(ConfigError, match="refers to itself"):
        config.get("OUR_A")
    config.forgive(said.append)
    assert config.get("OUR_A") is None
    assert config[ShadowKnobs.SHADOW_WORKLIFE] == 3600
    assert [line.partition(": ")[0] for line in said] == [
        "/condor_config, line 1",
        "/condor_config, line 3",
    ]


def test_a_log_folder_that_is_another_is_told_of(file: Path) -> None:
    daemon, _, log, before = _make()
    file.write_text(f"LOG = {before.get('LOG')}\n")
    _reconfigure(daemon)
    assert not any(line.startswith("LOG is") for line in log)
    file.write_text("LOG = /elsewhere\n")
    _reconfigure(daemon)
    assert any(line.startswith("LOG is /elsewhere now: locks and addresses stay") for line in log)


def test_who_is_born_for_a_job_while_a_file_is_broken_has_what_the_zygote_read(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The zygote reads it before any fork; the jobs of a host that ends at once would wait."""
    monkeypatch.setattr(remote_settings, "_READ", {})
    file.write_text("this is no statement\n")
    with pytest.raises(ConfigError):
        load_for_child("SHADOW")
    file.write_text("PERIODIC_EXPR_INTERVAL = 7\n")
    load_for_child("SHADOW")
    file.write_text("this is no statement\n")
    said: list[str] = []
    config = load_for_child("SHADOW")
    config.forgive(said.append)
    assert config[ScheddKnobs.PERIODIC_EXPR_INTERVAL] == 7
    assert "neither an assignment nor a statement" in said[0]
    assert said[0].endswith("The configuration that was there at the start counts.")
