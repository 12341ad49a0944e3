"""`kettle config check` and `kettle submit check`: files, drawing, JSON and exit codes."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from kettle.tools.kettle import main
from kettle.tools.programs import Streams


class Terminal(io.StringIO):
    """What looks like a terminal."""

    def isatty(self) -> bool:
        return True


def kettle(
    *words: str, out: io.StringIO | None = None, stdin: str = "", **environment: str
) -> tuple[int, str, str]:
    streams = Streams(io.StringIO(stdin), out or io.StringIO(), io.StringIO())
    environment = {"HOME": "/nonexistent", "CONDOR_CONFIG": "ONLY_ENV", **environment}
    code = main(["kettle", *words], environment, streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_configuration_without_faults_says_so() -> None:
    Path("site.conf").write_text("KILLING_TIMEOUT = 20\n")
    assert kettle("config", "check", "site.conf") == (0, "nothing is wrong in 1 file\n", "")


def test_findings_are_drawn_below_their_file() -> None:
    Path("site.conf").write_text("NUM_CPUZ = 3\nKILLING_TIMEOUT = 2 m\n")
    code, said, complaint = kettle("config", "check", "site.conf")
    assert (code, complaint) == (1, "")
    assert said == (
        "site.conf\n"
        "  ! 1  nothing reads NUM_CPUZ\n"
        "       → did you mean NUM_CPUS?\n"
        "  ✘ 2  KILLING_TIMEOUT = 2 m is not a number of seconds of at least 0\n"
        "       → did you mean 120?\n"
        "1 error, 1 warning in 1 file\n"
    )


def test_what_a_terminal_would_obey_is_shown_escaped() -> None:
    odd = "\033[2J\x07\x9b\u202e"
    escaped = r"\x1b[2J\x07\x9b\u202e"
    Path("site.conf").write_text(f"foo bar{odd}\nNUM_CPUZ{odd} = 3\nKILLING_TIMEOUT = 2{odd}\n")
    Path("job.sub").write_text(f"executable = /bin/true{odd}\nfoo{odd} = 2\nhold = a{odd}\nqueue\n")
    with Path("bytes.conf").open("wb") as file:
        file.write(b"KILLING_TIMEOUT = 2\xff\n")
    for words in (("config", "check", "site.conf"), ("submit", "check", "job.sub")):
        _, said, _ = kettle(*words)
        assert escaped in said
        assert said.replace("\n", "").isprintable()
    assert r"2\xff" in kettle("config", "check", "bytes.conf")[1]


def test_warnings_fail_where_one_is_strict() -> None:
    Path("site.conf").write_text("NUM_CPUZ = 3\n")
    assert kettle("config", "check", "site.conf")[0] == 0
    assert kettle("config", "check", "--strict", "site.conf")[0] == 1


def test_json_has_file_line_and_the_nearest_name() -> None:
    Path("site.conf").write_text("\nNUM_CPUZ = 3\n")
    code, said, _ = kettle("config", "check", "--json", "site.conf")
    found = json.loads(said)
    assert code == 0
    assert found["files"] == ["site.conf"]
    assert found["findings"] == [
        {
            "severity": "warning",
            "kind": "unknown",
            "file": "site.conf",
            "line": 2,
            "name": "NUM_CPUZ",
            "sentence": "nothing reads NUM_CPUZ",
            "nearest": "NUM_CPUS",
            "hint": "did you mean NUM_CPUS?",
        }
    ]


def test_colours_are_for_terminals_and_not_with_no_color() -> None:
    Path("site.conf").write_text("NUM_CPUZ = 3\n")
    assert "\x1b[33m!\x1b[0m" in kettle("config", "check", "site.conf", out=Terminal())[1]
    plain = kettle("config", "check", "site.conf", out=Terminal(), NO_COLOR="1")[1]
    assert "\x1b" not in plain


def test_several_files_and_folders_are_one_configuration_and_the_environment_does_not_count() -> (
    None
):
    Path("config.d").mkdir()
    Path("config.d/10.conf").write_text("START = $(MINE)\n")
    Path("root.conf").write_text("MINE = 3\n")
    code, said, _ = kettle("config", "check", "root.conf", "config.d", _CONDOR_NUM_CPUZ="3")
    assert (code, said) == (0, "nothing is wrong in 2 files\n")


def test_a_file_that_does_not_parse_is_a_finding() -> None:
    Path("site.conf").write_text("A = 1\nnonsense\n")
    code, said, complaint = kettle("config", "check", "site.conf")
    assert (code, complaint) == (1, "")
    assert said.startswith("site.conf\n  ✘ 2  ")


def test_every_statement_that_is_wrong_is_told_and_the_rest_is_checked() -> None:
    Path("site.conf").write_text(
        "use ROLE:Persona\njunk\ninclude : inner\nNUM_CPUZ = 3\nuse POLICY:Nothing\n"
    )
    Path("inner").write_text("error : too old\nMAX_JOBS_RUNNIN = 3\ninclude : nowhere\n")
    code, said, complaint = kettle("config", "check", "--json", "site.conf")
    found = json.loads(said)["findings"]
    assert (code, complaint) == (1, "")
    assert [(one["file"], one["line"], one["kind"]) for one in found] == [
        ("site.conf", 1, "syntax"),
        ("site.conf", 2, "syntax"),
        ("site.conf", 4, "unknown"),
        ("site.conf", 5, "syntax"),
        ("inner", 1, "syntax"),
        ("inner", 2, "unknown"),
        ("inner", 3, "syntax"),
    ]


def test_a_structure_that_is_wrong_ends_the_check() -> None:
    Path("site.conf").write_text("junk\nelse\njunk\n")
    found = json.loads(kettle("config", "check", "--json", "site.conf")[1])["findings"]
    assert [one["line"] for one in found] == [1, 2]
    Path("site.conf").write_text("junk\n" * 200)
    found = json.loads(kettle("config", "check", "--json", "site.conf")[1])["findings"]
    assert [one["line"] for one in found] == list(range(1, 102))


@pytest.mark.parametrize("words", [("config",), ("submit",), ("config", "chek"), ("submit", "x")])
def test_a_word_that_is_none_is_told(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert kettle(*words)[0] == 2
    assert f"usage: kettle {words[0]}" in capsys.readouterr().err


@pytest.mark.parametrize("what", ["config", "submit"])
def test_a_missing_file_is_one_sentence(what: str) -> None:
    assert kettle(what, "check", "none") == (
        1,
        "",
        "kettle: none cannot be read: No such file or directory\n",
    )


@pytest.mark.parametrize("what", [("config", "check"), ("submit", "check", "x.sub")])
def test_a_pool_that_is_not_there_is_one_sentence(what: tuple[str, ...], tmp_path: Path) -> None:
    Path("x.sub").write_text("queue\n")
    code, said, complaint = kettle(*what, "--dir", str(tmp_path / "none"))
    assert (code, said) == (1, "")
    assert complaint == f"kettle: there is no pool in {tmp_path}/none (kettle up makes one)\n"


def test_files_and_a_pool_are_not_both_checked() -> None:
    code, _, complaint = kettle("config", "check", "--dir", "x", "site.conf")
    assert (code, complaint) == (
        1,
        "kettle: files and a pool cannot both be checked (leave out --dir)\n",
    )


def test_a_description_is_told_with_its_jobs_its_files_and_its_faults(tmp_path: Path) -> None:
    Path("in.txt").write_text("x" * 2048)
    Path("run.sh").write_text("#!/bin/sh\n")
    Path("job.sub").write_text(
        "executable = run.sh\ntransfer_input_files = in.txt, inn.txt\nrequst_cpus = 2\n"
        "request_memory = 64\nrequest_disk = 1024\nqueue 3\n"
    )
    code, said, complaint = kettle("submit", "check", "job.sub")
    assert (code, complaint) == (1, "")
    assert said == (
        "job.sub\n"
        "  jobs       3 in one cluster\n"
        f"  program    {tmp_path}/run.sh (vanilla universe)\n"
        "  each asks  Cpus 1, Memory 64, Disk 1024\n"
        "  inputs     2 found, 1 missing; 2.0 KB for a job, 6.0 KB for all\n"
        f"  ✘ 2  {tmp_path}/inn.txt is not there\n"
        "       → did you mean in.txt?\n"
        "  ! 3  requst_cpus is no command, and nothing uses it\n"
        "       → did you mean request_cpus?\n"
        "1 error, 1 warning\n"
    )


def test_a_description_comes_by_standard_input_and_goes_out_as_json() -> None:
    text = "executable = /bin/true\ntransfer_executable = false\nqueue 2\n"
    code, said, _ = kettle("submit", "check", "--json", "-", stdin=text)
    found = json.loads(said)
    assert (code, found["jobs"], found["universe"]) == (0, 2, "vanilla")
    assert found["findings"] == []


def test_values_of_the_command_line_are_set_before_the_description_is_read() -> None:
    text = "executable = /bin/true\ntransfer_executable = false\narguments = $(how)\nqueue $(n:1)\n"
    code, said, _ = kettle("submit", "check", "--json", "-", "n=7", "how = x", stdin=text)
    found = json.loads(said)
    assert (code, found["jobs"], found["findings"]) == (0, 7, [])
    assert "mentions $(how)" in kettle("submit", "check", "-", "n=7", stdin=text)[1]
    assert kettle("submit", "check", "-", "n", stdin=text) == (
        1,
        "",
        "kettle: n is not NAME=VALUE\n",
    )


def test_a_parallel_job_is_an_error_as_it_is_for_the_schedd() -> None:
    text = "universe = parallel\nexecutable = /bin/true\nmachine_count = 2\nqueue\n"
    code, said, _ = kettle("submit", "check", "-", stdin=text)
    assert code == 1
    assert "'Parallel' is not a supported universe." in said


def test_completion_knows_the_words_of_a_subcommand() -> None:
    assert "config) options='check " in kettle("completion", "bash")[1]
    assert "__fish_seen_subcommand_from config' -a check" in kettle("completion", "fish")[1]


def test_a_value_that_would_fill_the_screen_is_drawn_in_part() -> None:
    Path("site.conf").write_text(f"KILLING_TIMEOUT = {'x' * 5000}\n")
    said = kettle("config", "check", "site.conf")[1]
    assert len(said) < 600
    assert "xx is not a number of seconds" in said
