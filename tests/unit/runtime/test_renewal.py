"""A daemon at work takes a new configuration as a whole, or stays as it is."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kettle.config import Config, load_config
from kettle.config.knobs.network import NetworkKnobs
from kettle.config.knobs.schedd import ScheddKnobs
from kettle.config.knobs.shadow import ShadowKnobs
from kettle.config.knobs.starter import StarterKnobs
from kettle.errors import ConfigError
from kettle.levels import Level
from kettle.runtime import remote_settings
from kettle.runtime.daemon import Daemon
from kettle.runtime.identity import DaemonIdentity
from kettle.runtime.remote_settings import RemoteSettings, load_for_child
from kettle.runtime.renewal import check_own_settings, renew, tell_own_settings
from kettle.runtime.sockets.security_settings import read_security
from kettle.runtime.storage.files import SystemSources
from kettle.wire.security.negotiation import Wish


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


def test_a_wrong_value_that_nothing_reads_keeps_nothing_from_being_read_again(file: Path) -> None:
    daemon, service, log, before = _make()
    file.write_text("MAX_JOBS_PER_OWNER = 7\nLOCK_FILE_UPDATE_INTERVAL = seldom\n")
    _reconfigure(daemon)
    assert daemon.runtime.config is not before
    assert len(service.taken) >= 1, log


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "SHADOW_WORKLIFE = 1 hour",
            "is not a number of seconds of at least -1 (did you mean 3600?)",
        ),
        (
            "TCP_KEEPALIVE_INTERVAL = 5 min",
            "is not a number of seconds of at least -1 (did you mean 300?)",
        ),
        ("ALLOW_TRANSFER_REMAP_TO_MKDIR = maybe", "is not boolean (did you mean true or false?)"),
        ("SCHEDD.PERIODIC_EXPR_INTERVAL = 1 min", "did you mean 60?"),
        ("SEC_ENABLE_MATCH_PASSWORD_AUTHENTICATION = ture", "is not boolean (did you mean true?)"),
        ("SCHEDD_INTERVAL = 5.5.5", "is not a number of seconds"),
        ("START = (", "is not an expression"),
        ("OUR_A = $(OUR_B)\nOUR_B = $(OUR_A)", "refers to itself"),
        ("SEC_READ_SESSION_DURATION = 1 day", "did you mean 86400?"),
        ("SEC_DEFAULT_AUTHENTICATION = SOMETIMES", "is not one of REQUIRED, PREFERRED, OPTIONAL"),
        ("SCHEDD.SEC_READ_ENCRYPTION = maybe", "SEC_READ_ENCRYPTION = maybe is not one of"),
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


def test_what_counts_for_nothing_or_makes_no_sense_is_told_once_it_is_new(file: Path) -> None:
    daemon, _, log, _ = _make()
    file.write_text("SHADOW_LAZY_QUEUE_UPDATE = no\nSCHEDD_INTERVAL = 0\n")
    _reconfigure(daemon)
    place = f"({file}, line 1)"
    assert sum(f"SHADOW_LAZY_QUEUE_UPDATE {place} counts for nothing" in line for line in log) == 1
    assert sum("SCHEDD_INTERVAL = 0 makes no sense" in line for line in log) == 1
    log.clear()
    file.write_text("# ours\nSHADOW_LAZY_QUEUE_UPDATE = no\nSCHEDD_INTERVAL = 0\nFLOCK_FROM = a\n")
    _reconfigure(daemon)
    (line,) = (line for line in log if line.startswith("WARNING"))
    assert line.startswith(f"WARNING: FLOCK_FROM ({file}, line 4) counts for nothing")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "ALLOW_WRITE = @@@@, *",
            "WARNING: /condor_config, line 2: @@@@ in ALLOW_WRITE matches nobody",
        ),
        ("SEC_DEFAULT_AUTHENTICATION_METHODS = FS, FOO", "names FOO, which is no method"),
        ("SEC_DEFAULT_INTEGRITY = often", "OFTEN is not one of"),
    ],
)
def test_a_setting_of_security_that_means_nothing_is_told_of_in_the_log(
    line: str, words: str
) -> None:
    config = Config.from_text(f"# ours\n{line}\n", subsystem="SCHEDD")
    check_own_settings(config)
    (told,) = tell_own_settings(config)
    assert words.lower() in told.lower()


def test_what_the_files_warn_of_is_told_in_the_log() -> None:
    text = "OUR_A = a, \\\n# b\nALLOW_WRITE = *\nOUR_B : $(OUR_A) $(OUR_B:x)\n"
    config = Config.from_text(text, subsystem="SCHEDD")
    (told,) = tell_own_settings(config)
    assert told.startswith("WARNING: /condor_config, line 3: ALLOW_WRITE is no part of the value")
    assert tell_own_settings(config, config) == []
    said = Config.from_text("warning : mind the gap\n", subsystem="SCHEDD")
    assert tell_own_settings(said) == ["WARNING: /condor_config, line 1: mind the gap"]


@pytest.mark.parametrize(
    "line",
    [
        "SEC_DEFAULT_AUTHENTICATION = optional",
        "SEC_DEFAULT_ENCRYPTION = True",
        "ALLOW_WRITE = ann@here, *@there/10.0.0.0/8, host.example.org, *",
        "SEC_DEFAULT_AUTHENTICATION_METHODS = FS, TOKEN, IDTOKENS, KERBEROS",
        "ALLOW_READ = $(OUR_A)\nOUR_A = $(OUR_A)x",
    ],
)
def test_of_what_is_well_nothing_is_told(line: str) -> None:
    config = Config.from_text(f"{line}\n", subsystem="SCHEDD")
    assert tell_own_settings(config) == []


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


def test_a_value_that_was_wrong_before_keeps_no_other_from_being_used(file: Path) -> None:
    """The daemon began with it, and whoever changes another knob has not made it worse."""
    daemon, service, log, _ = _make()
    wrong = "SHADOW_WORKLIFE = 1 hour\nOUR_A = $(OUR_B)\nOUR_B = $(OUR_A)\n"
    file.write_text(wrong)
    before = daemon.runtime.config = load_config(
        SystemSources(), {"CONDOR_CONFIG": str(file)}, subsystem="SCHEDD"
    )
    before.forgive(log.append)
    file.write_text(wrong + "MAX_JOBS_RUNNING = 6\n")
    _reconfigure(daemon)
    now = daemon.runtime.config
    assert now is not before
    assert service.taken == [now, now]
    assert now[ScheddKnobs.MAX_JOBS_RUNNING] == 6
    assert now[ShadowKnobs.SHADOW_WORKLIFE] == 3600
    assert f"{file}, line 1: SHADOW_WORKLIFE = 1 hour" in log[2]
    assert log[2].endswith("so it was before, and it stays unused until it is mended")
    assert log[-1].endswith("its default is used")
    log.clear()
    # Another wrong value, and one that is wrong in another way, are refused with all that is new.
    for line in ("MAX_JOBS_RUNNING = many", "SHADOW_WORKLIFE = 2 hours"):
        file.write_text(f"{wrong}MAX_JOBS_PER_OWNER = 3\n{line}\n")
        _reconfigure(daemon)
        assert daemon.runtime.config is now
        assert line in log[0]
        assert log[-1].endswith("the old configuration stays.")
        log.clear()
    file.write_text("MAX_JOBS_RUNNING = 5\n")
    _reconfigure(daemon)
    assert daemon.runtime.config[ScheddKnobs.MAX_JOBS_RUNNING] == 5
    assert log == ["The configuration was read again."]


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
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever bears it may have the old configuration still, and the job must not suffer."""
    monkeypatch.setattr(remote_settings, "_READ", {})
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


def test_who_is_born_for_a_job_keeps_what_was_forbidden_before(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_settings, "_READ", {})
    sound = (
        "STARTER_ALLOW_RUNAS_OWNER = false\nDENY_READ = *.evil.org\nMAX_TRANSFER_INPUT_MB = 7\n"
        'START = Owner == "ann"\nPERIODIC_EXPR_INTERVAL = 7\n'
    )
    file.write_text(sound)
    load_for_child("STARTER")
    wrong = (
        "STARTER_ALLOW_RUNAS_OWNER = flase\nDENY_READ = $(OUR_A)\nOUR_A = $(DENY_READ)\n"
        "MAX_TRANSFER_INPUT_MB = few\nSTART = (\nPERIODIC_EXPR_INTERVAL = 1 min\n"
    )
    file.write_text(wrong)
    # The one after it is born of one that had read the wrong file already.
    for _ in range(2):
        config, said = load_for_child("STARTER"), _Log()
        config.forgive(said.append)
        assert config.value(StarterKnobs.STARTER_ALLOW_RUNAS_OWNER) is False
        assert config[ScheddKnobs.PERIODIC_EXPR_INTERVAL] == 7
        assert config.get("DENY_READ") == "*.evil.org"
        assert config.integer("MAX_TRANSFER_INPUT_MB") == 7
        assert str(config.sound_expression("START", said.append)) == 'Owner == "ann"'
        assert all("from before is used" in line for line in said)
        assert len(said) == 5


def test_where_nothing_was_known_before_a_knob_that_restricts_allows_least(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_settings, "_READ", {})
    file.write_text(
        "STARTER_ALLOW_RUNAS_OWNER = flase\nDENY_READ = $(OUR_A)\nALLOW_WRITE = $(OUR_A)\n"
        "OUR_A = $(DENY_READ)\nMAX_TRANSFER_INPUT_MB = few\nSEC_DEFAULT_ENCRYPTION = $(OUR_A)\n"
    )
    config, said = load_for_child("STARTER"), _Log()
    config.forgive(said.append)
    assert config.value(StarterKnobs.STARTER_ALLOW_RUNAS_OWNER) is False
    assert config.integer("MAX_TRANSFER_INPUT_MB") == 0
    settings = read_security(config)
    assert settings.policies[Level.READ].encryption is Wish.REQUIRED
    authorization = settings.authorization()
    for level in (Level.READ, Level.WRITE):
        assert not authorization.allows(level, "ann@vm", "127.0.0.1")
    assert all(line.endswith("which allows least") for line in said)


def test_a_wish_that_nobody_can_read_is_the_strictest() -> None:
    config = Config.from_text("SEC_DEFAULT_AUTHENTICATION = maybe\n")
    assert read_security(config).policies[Level.READ].authentication is Wish.REQUIRED


def test_the_log_names_the_signal_once_before_the_configuration_is_read(file: Path) -> None:
    daemon, _, log, _ = _make()
    file.write_text("MAX_JOBS_RUNNING = 5\n")

    async def ask_twice() -> None:
        daemon.request_reconfigure()
        daemon.request_reconfigure()
        assert log == ["Got SIGHUP.  Re-reading config files."]
        await asyncio.sleep(0)

    asyncio.run(ask_twice())
    assert log[1:] == ["The configuration was read again."]
