"""The configuration text of a personal pool."""

from __future__ import annotations

import pytest

from kettle.config import Config, MemorySources, load_config
from kettle.errors import UsageError
from kettle.pool.settings import (
    PoolSettings,
    check_name,
    is_configuration_of_a_pool,
    name_given_lines,
    render_configuration,
)

ROOT = {"CONDOR_CONFIG": "/root"}
SETTINGS = PoolSettings("/d", ("alice",), "here", "/opt/bin", extra="START = false")


def test_the_text_is_a_configuration_that_stays_on_loopback() -> None:
    config = Config.from_text(
        render_configuration(SETTINGS).replace("LOCAL_CONFIG_DIR = $(LOCAL_DIR)/config.d\n", "")
    )
    assert config.get("LOG") == "/d/log"
    assert config.get("NETWORK_INTERFACE") == "127.0.0.1"
    assert config.get("ALLOW_WRITE") == "alice@here"
    assert config.get("SEC_DEFAULT_AUTHENTICATION") == "REQUIRED"


@pytest.mark.parametrize(("subsystem", "hears"), [("COLLECTOR", "true"), ("SCHEDD", "false")])
def test_the_collector_alone_hears_udp_messages(subsystem: str, hears: str) -> None:
    text = render_configuration(SETTINGS)
    text = text.replace("LOCAL_CONFIG_DIR = $(LOCAL_DIR)/config.d\n", "")
    config = Config.from_text(text, subsystem=subsystem)
    assert config.get("WANT_UDP_COMMAND_SOCKET") == hears


def test_what_is_given_beats_what_is_written() -> None:
    text = render_configuration(SETTINGS)
    assert text.rindex("START = false") > text.index("START = true")


@pytest.mark.parametrize("system", [False, True])
def test_those_who_govern_a_pool_are_of_the_domain_that_was_given(system: bool) -> None:
    given = PoolSettings(
        "/d", ("root", "ann"), "here", "/opt/bin", extra="UID_DOMAIN = there", system=system
    )
    config = load_config(MemorySources({"/root": render_configuration(given)}), ROOT)
    assert config.get("ALLOW_ADMINISTRATOR") == "root@there, ann@there"
    # The pool's tokens name it, and are good on.
    assert config.get("TRUST_DOMAIN") == "here"


def test_a_pool_is_known_by_its_first_line() -> None:
    assert is_configuration_of_a_pool(render_configuration(SETTINGS))
    assert not is_configuration_of_a_pool("DAEMON_LIST = MASTER\n")


@pytest.mark.parametrize("folder", ["/home/ann/p", "/home/ann/my pool", "/p,x", "/ü'3"])
def test_a_pool_reads_its_own_settings_and_nobody_else_s(folder: str) -> None:
    check_name(folder)
    text = render_configuration(PoolSettings(folder, ("alice",), "here", "/opt/bin"))
    others = [folder.replace(",", " ").split()[0], "/p", "x", "/x"]
    files = {f"{other}/evil": "A = evil\n" for other in others if other != folder}
    files |= {"/root": text, f"{folder}/config.d/10": "A = mine\n"}
    config = load_config(MemorySources(files=files), ROOT)
    assert config.get("A") == "mine"
    assert config.files == ["/root", f"{folder}/config.d/10"]


@pytest.mark.parametrize("folder", ["/p$(HOME)", "/p$$(x)", "/p ", "/p\nx", "/p\x1b[2J"])
def test_a_folder_that_no_configuration_can_name_is_refused(folder: str) -> None:
    with pytest.raises(UsageError, match="no configuration can name it"):
        check_name(folder)


def test_a_line_that_was_given_is_named_by_its_own_file() -> None:
    given = "# From /x/a b\n# From the manual\nB = 2\n\n# From /y\nC\n"
    text = f"# From here\nA = 1\n\n# Given when the pool was made.\n{given}"

    def named(line: int, path: str = "/p/condor_config") -> str:
        return name_given_lines(f"MasterLog: {path}, line {line}: odd", "/p/condor_config", text)

    assert named(2) == "MasterLog: /p/condor_config, line 2: odd"
    assert named(7) == "MasterLog: /x/a b, line 2: odd"
    assert named(10) == "MasterLog: /y, line 1: odd"
    assert named(10, "/p/other") == "MasterLog: /p/other, line 10: odd"
