"""The umbrella command itself: help, unknown words, completion."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest

from kettle.pool.settings import MARKER
from kettle.tools.kettle import SUBCOMMANDS, load_front, main
from kettle.tools.programs import Streams, load_tool


def kettle(*words: str) -> tuple[int, str, str]:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    code = main(["kettle", *words], {}, streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()  # type: ignore[attr-defined]


def test_help_lists_every_subcommand() -> None:
    code, said, _ = kettle("--help")
    assert code == 0
    assert all(row.name in said for row in SUBCOMMANDS)


def test_an_unknown_word_is_answered_with_the_nearest() -> None:
    code, _, complaint = kettle("statsu")
    assert code == 1
    assert "did you mean 'kettle status'?" in complaint


@pytest.mark.parametrize("row", SUBCOMMANDS, ids=lambda row: row.name)
def test_every_subcommand_explains_itself(row: object, capsys: pytest.CaptureFixture[str]) -> None:
    name = row.name  # type: ignore[attr-defined]
    assert kettle(name, "--help")[0] == 0
    assert f"kettle {name}" in capsys.readouterr().out
    assert load_front(name).__doc__


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_subcommands_and_options(shell: str) -> None:
    code, said, _ = kettle("completion", shell)
    assert code == 0
    assert "status" in said
    assert "each-line" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--cpus", "x"), "--cpus x is no number of CPUs (--cpus 2)"),
        (("--cpus", "0"), "--cpus 0 is no number of CPUs"),
        (("--memory", "lots"), "--memory lots is no size (--memory 2GB)"),
        (("--disk", "5QB"), "--disk 5QB is no size"),
    ],
)
def test_run_refuses_a_request_that_no_slot_could_ever_meet(
    words: tuple[str, ...], said: str
) -> None:
    code, _, complaint = kettle("run", *words, "--dry-run", "--", "true")
    assert code == 1
    assert said in complaint


@pytest.mark.parametrize("size", ["2GB", "512", "1.5 G", "300mb"])
def test_run_takes_sizes_with_and_without_units(size: str) -> None:
    code, page, _ = kettle("run", "--memory", size, "--cpus", "2", "--dry-run", "--", "true")
    assert code == 0
    assert f"request_memory = {size}\n" in page


def test_a_mistyped_option_gets_the_nearest_right_one(capsys: pytest.CaptureFixture[str]) -> None:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    assert main(["kettle", "run", "--memry", "1GB", "--", "true", "--drr"], {}, streams) == 2
    assert capsys.readouterr().err.startswith("usage: kettle run")
    assert streams.stderr.getvalue() == "--memry: did you mean --memory?\n"  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["up", "down", "env", "status"])
def test_a_folder_without_its_option_and_the_option_by_another_name_are_set_right(
    name: str,
) -> None:
    for words, said in (
        (("my pool",), "my pool: a pool's folder is given as --dir 'my pool'\n"),
        (("--folder=pool",), "--folder: did you mean --dir?\n"),
    ):
        streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
        assert main(["kettle", name, *words], {}, streams) == 2
        assert streams.stderr.getvalue() == said  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "words", [("up",), ("run", "--", "true"), ("why", "1.0"), ("config", "check")]
)
def test_of_an_option_that_is_like_none_is_said_where_they_are(words: tuple[str, ...]) -> None:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    assert main(["kettle", words[0], "--bogus", *words[1:]], {}, streams) == 2
    said = f"--bogus: there is no such option; 'kettle {words[0]} --help' lists them\n"
    assert streams.stderr.getvalue() == said  # type: ignore[attr-defined]


def test_env_names_the_configuration_that_is_set_unless_a_pool_is_named(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("LOG = /tmp\n")
    environment = {"CONDOR_CONFIG": str(mine), "HOME": str(tmp_path), "PATH": ""}

    def ask(*words: str, **more: str) -> tuple[int, str]:
        streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
        code = main(["kettle", "env", "--json", *words], {**environment, **more}, streams)
        said = streams.stdout.getvalue()  # type: ignore[attr-defined]
        return code, json.loads(said)["CONDOR_CONFIG"] if said else ""

    assert ask() == (0, str(mine))
    assert ask("--dir", str(tmp_path / "none")) == (1, "")
    assert ask(KETTLE_DIR=str(tmp_path / "none")) == (1, "")
    assert ask(CONDOR_CONFIG=str(tmp_path / "gone")) == (1, "")


def test_config_check_reads_no_file_to_an_end_that_it_may_not_have(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(1 << 40)
    for name, size in (("/dev/zero", 4), (str(tmp_path / "huge"), 256)):
        code, said, complaint = kettle("config", "check", name)
        assert (code, said) == (1, "")
        assert complaint == f"kettle: {name} cannot be read: it has more than {size} MiB\n"


def test_config_check_reads_what_a_pipe_says() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"MINE = 1\nNUM_CPUS = $(MINE)\nNUM_CPU = 2\n")
    os.close(writing)
    code, said, complaint = kettle("config", "check", f"/dev/fd/{reading}")
    os.close(reading)
    assert (code, complaint) == (0, "")
    assert "nothing reads NUM_CPU" in said
    assert "MINE" not in said


@pytest.mark.parametrize(
    ("words", "environment"),
    [
        (("condor_config_val", "LOG"), {"CONDOR_CONFIG": "/dev/zero"}),
        (("condor_submit", "-dry-run", "-", "/dev/zero"), {"CONDOR_CONFIG": "ONLY_ENV"}),
        (("condor_q", "-jobads", "/dev/zero"), {"CONDOR_CONFIG": "ONLY_ENV"}),
        (("condor_history", "-forwards", "-file", "/dev/zero"), {"CONDOR_CONFIG": "ONLY_ENV"}),
        (("kettle", "run", "--each-line", "/dev/zero", "--", "echo", "{}"), {}),
        (("kettle", "up", "--config", "/dev/zero"), {}),
    ],
)
def test_a_file_without_an_end_is_a_sentence(
    words: tuple[str, ...], environment: dict[str, str]
) -> None:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    assert load_tool(words[0])(list(words), environment, streams) != 0
    said = streams.stderr.getvalue()  # type: ignore[attr-defined]
    assert "/dev/zero" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("more", [(), ("--fast",), ("--purge",), ("--json",)])
def test_a_pool_that_is_not_there_cannot_be_stopped(tmp_path: Path, more: tuple[str, ...]) -> None:
    folder = tmp_path / "none"
    code, said, complaint = kettle("down", "--dir", str(folder), *more)
    assert (code, said) == (1, "")
    assert f"there is no pool in {folder}" in complaint
    assert not folder.exists()


def test_a_pool_that_is_not_up_is_stopped_already(tmp_path: Path) -> None:
    (tmp_path / "condor_config").write_text(f"{MARKER}\n")
    said = f"The pool in {tmp_path} was not up.\n"
    assert kettle("down", "--dir", str(tmp_path)) == (0, said, "")
