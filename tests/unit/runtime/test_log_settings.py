"""Which knobs a daemon's log follows."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.config import Config
from kettle.runtime.arguments import DaemonArguments
from kettle.runtime.log_settings import configure_log, open_log, read_log_settings


def test_the_knobs_of_a_subsystem_are_its_own() -> None:
    settings = read_log_settings(
        Config.from_text(
            "MAX_SCHEDD_LOG = 3 Kb\nMAX_NUM_SCHEDD_LOG = 4\nSCHEDD_DEBUG = D_CAT D_COMMAND:2\n"
            'MAX_STARTD_LOG = 1\nDEBUG_TIME_FORMAT = "%Y"\n',
            subsystem="SCHEDD",
        ),
        "SCHEDD",
    )
    assert settings.limit == (3072, 0)
    assert settings.keep == 4
    assert settings.verbosity.show_category
    assert settings.verbosity.levels["D_COMMAND"] == 2
    assert settings.time_format == "%Y"


def test_a_category_has_a_file_of_its_own(tmp_path: Path) -> None:
    text = (
        f"NEGOTIATOR_LOG = {tmp_path}/NegotiatorLog\nNEGOTIATOR_MATCH_LOG = MatchLog\n"
        f"NEGOTIATOR_COMMAND_LOG = {tmp_path}/no/folder\nMAX_NEGOTIATOR_MATCH_LOG = 80\n"
        "NEGOTIATOR_DEBUG = D_SECURITY\n"
    )
    config = Config.from_text(text, subsystem="NEGOTIATOR")
    log = open_log(config, DaemonArguments(), "NEGOTIATOR")
    assert log.enabled("D_MATCH")
    assert not log.enabled("D_MATCH", 2)
    log("of no category")
    log.debug("D_SECURITY", "of another category")
    log.debug("D_MATCH", "Rejected")
    log.debug("D_MATCH", "Rejected in detail", level=2)
    log.debug("D_MATCH", "Matched", always=True)
    log.close()
    main = (tmp_path / "NegotiatorLog").read_text()
    said = [line.split(" ", 2)[2] for line in main.splitlines()]
    assert said[0] == f"cannot open the log {tmp_path}/no/folder: No such file or directory"
    assert said[1:] == ["of no category", "of another category", "Matched"]
    match = (tmp_path / "MatchLog").read_text()
    assert [line.split(" ", 2)[2] for line in match.splitlines()] == ["Rejected", "Matched"]


def test_a_file_of_a_category_has_its_own_limit(tmp_path: Path) -> None:
    text = f"NEGOTIATOR_LOG = {tmp_path}/N\nNEGOTIATOR_MATCH_LOG = {tmp_path}/M\n"
    config = Config.from_text(text, subsystem="NEGOTIATOR")
    log = open_log(config, DaemonArguments(), "NEGOTIATOR")
    configure_log(
        log, Config.from_text(text + "MAX_NEGOTIATOR_MATCH_LOG = 60\n", subsystem="NEGOTIATOR")
    )
    for number in range(3):
        log.debug("D_MATCH", f"a line of some length {number}", always=True)
    log.close()
    assert len((tmp_path / "N").read_text().splitlines()) == 3
    assert (tmp_path / "M").read_text().endswith(" length 2\n")
    assert " length 1" not in (tmp_path / "M").read_text()
    assert (tmp_path / "M.old").exists()


def test_files_of_categories_follow_a_new_configuration(tmp_path: Path) -> None:
    def config(text: str) -> Config:
        own = f"SCHEDD_LOG = {tmp_path}/SchedLog\n"
        return Config.from_text(own + text, subsystem="SCHEDD")

    log = open_log(config(""), DaemonArguments(), "SCHEDD")
    for number, text in enumerate(
        ("SCHEDD_MATCH_LOG = One\n", "SCHEDD_MATCH_LOG = Two\n", "SCHEDD_MATCH_LOG = no/Two\n", "")
    ):
        configure_log(log, config(text))
        log.debug("D_MATCH", f"line {number}")
    log.close()

    def lines(name: str) -> list[str]:
        return [line[-6:] for line in (tmp_path / name).read_text().splitlines()]

    # Where it cannot be opened the last one goes on, and says so; where there is none any more it
    # is closed.
    assert (lines("One"), lines("Two")) == (["line 0"], ["line 1", "ectory", "line 2"])


def test_files_of_categories_are_moved_with_the_log_s_own_rights(tmp_path: Path) -> None:
    entered: list[str] = []

    @contextlib.contextmanager
    def privileged() -> Iterator[None]:
        entered.append("root")
        yield

    text = (
        f"SHADOW_LOG = {tmp_path}/ShadowLog\nSHADOW_MATCH_LOG = Match\nMAX_SHADOW_MATCH_LOG = 60\n"
    )
    config = Config.from_text(text, subsystem="SHADOW")
    log = open_log(config, DaemonArguments(), "SHADOW")
    log.privileged = privileged
    for number in range(2):
        log.debug("D_MATCH", f"a line of some length {number}")
    log.close()
    assert entered == ["root"]
    assert (tmp_path / "Match.old").exists()


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("", (10 << 20, 0)),
        ("MAX_DEFAULT_LOG = 2 days\n", (0, 172800)),
        ("MAX_SCHEDD_LOG = 0\n", (0, 0)),
    ],
)
def test_the_limit_is_the_subsystems_or_everybodys(text: str, limit: tuple[int, int]) -> None:
    settings = read_log_settings(Config.from_text(text, subsystem="SCHEDD"), "SCHEDD")
    assert settings.limit == limit


def test_words_of_the_subsystem_come_after_those_of_all() -> None:
    settings = read_log_settings(
        Config.from_text(
            "ALL_DEBUG = D_FULLDEBUG D_SECURITY\nSCHEDD_DEBUG = -D_FULLDEBUG\n", subsystem="SCHEDD"
        ),
        "SCHEDD",
    )
    assert settings.verbosity.levels["D_ALWAYS"] == 1
    assert settings.verbosity.levels["D_SECURITY"] == 1


@pytest.mark.parametrize(
    ("knob", "kept"), [("TRUNC_SCHEDD", False), ("TRUNC_SCHED", False), ("TRUNC_STARTD", True)]
)
def test_a_log_begins_anew_where_that_is_asked_for(tmp_path: Path, knob: str, kept: bool) -> None:
    path = tmp_path / "SchedLog"
    path.write_text("old\n")
    config = Config.from_text(
        f"SCHEDD_LOG = {path}\n{knob}_LOG_ON_OPEN = true\n", subsystem="SCHEDD"
    )
    open_log(config, DaemonArguments(), "SCHEDD").close()
    assert (path.read_text() == "old\n") is kept
