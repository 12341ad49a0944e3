"""What is a blank and what ends a line: C's white space, and a line feed alone (recorded).

A carriage return inside a line is a blank, at its end it is none of the value; the no-break space,
its kin and the separators of records are letters like others.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kettle.tools.programs import Streams, load_tool

NO_BREAK = "\u00a0"


def dry_run(tmp_path: Path, lines: str) -> str:
    """Return what `condor_submit -dry-run` says of a description, bytes as they are."""
    file = tmp_path / "job.sub"
    file.write_bytes(f"executable = /bin/true\n{lines}\n".encode())
    out = io.StringIO()
    environment = {"CONDOR_CONFIG": "ONLY_ENV", "PATH": "/bin"}
    argv = ["condor_submit", "-dry-run", "-", str(file)]
    load_tool("condor_submit")(argv, environment, Streams(io.StringIO(), out, out))
    return out.getvalue()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('My.X = "a\rb"', 'X="a\rb"\n'),
        ("arguments = a\rb c", 'Args="a b c"\n'),
        ("arguments = a b\r\r", 'Args="a b"\n'),
        ("arguments\r = a", 'Args="a"\n'),
        ("# c\rarguments = q", 'Arguments=""\n'),
        ("arguments = a\\\rb", 'Args="a\\ b"\n'),
        (f"environment = {NO_BREAK}A=b", f'Environment="{NO_BREAK}A=b"\n'),
        (f"env = A=b{NO_BREAK}", f'Env="A=b{NO_BREAK}"\n'),
        ("arguments = \x1ca \x1d", 'Args="\x1ca \x1d"\n'),
        ("output = \vo\f", 'Out="o"\n'),
        (f"output = {NO_BREAK}o\u2003", f'Out="{NO_BREAK}o\u2003"\n'),
        (f"My.X = {NO_BREAK}5", "ERROR: Parse error in expression: "),
        (f"{NO_BREAK}arguments = a", f"Illegal Identifier: <{NO_BREAK}arguments>"),
        ("request_memory = \u200320", "ERROR: Parse error in expression: "),
        ("priority \x1f= 3", "ERROR: on Line 2 of "),
        (f"if{NO_BREAK} defined a\nendif", "ERROR: on Line 2 of "),
    ],
)
def test_a_description_has_cs_blanks(tmp_path: Path, line: str, said: str) -> None:
    assert said in dry_run(tmp_path, f"{line}\nqueue")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (f"getenv = PATH{NO_BREAK}", 'Environment=""\n'),
        (f"getenv = *{NO_BREAK}", 'Environment=""\n'),
        ("getenv = PATH\vNONE", 'Environment=""\n'),
        ("getenv = NONE\f,\r\vPATH\f", 'Environment="PATH=/bin"\n'),
        ("concurrency_limits = b\ra\f,\vc", 'ConcurrencyLimits="a,b,c"\n'),
        ("concurrency_limits = a\vb", "Invalid concurrency limit 'a\vb'"),
        (f"concurrency_limits = a{NO_BREAK}b", f"Invalid concurrency limit 'a{NO_BREAK}b'"),
        ("concurrency_limits = a\u00e9", "Invalid concurrency limit 'a\u00e9'"),
        (f"on_evict_checks = a{NO_BREAK}\ntransform_body_a = SET A 1", 'TransformOnEvict=""\n'),
        (f"email_attributes = a{NO_BREAK}b c\fd", f'EmailAttributes="a{NO_BREAK}b,c\fd"\n'),
        (
            "universe = container\ncontainer_image = docker://a\ncontainer_service_names = a\fb",
            "container service 'a\fb' was not assigned a port",
        ),
        (
            (
                "universe = grid\ngrid_resource = ec2 http://h\nec2_ami_id = a\n"
                "ec2_access_key_id = /dev/null\nec2_secret_access_key = /dev/null\n"
                f"ec2_tag_names = a{NO_BREAK}b c\fd"
            ),
            f'EC2TagNames="a{NO_BREAK}b,c\fd"\n',
        ),
    ],
)
def test_words_of_a_list_are_apart_by_commas_blanks_tabulators_and_ends_of_lines(
    tmp_path: Path, lines: str, said: str
) -> None:
    assert said in dry_run(tmp_path, f"{lines}\nqueue")


@pytest.mark.parametrize("end", ["\t", "\r", "\v", "\f", "\x1f", NO_BREAK])
def test_nothing_but_a_blank_ends_a_grid_type(tmp_path: Path, end: str) -> None:
    lines = f"universe = grid\ngrid_resource = batch{end}pbs\nqueue"
    assert f"Invalid value 'batch{end}pbs' for grid type" in dry_run(tmp_path, lines)


@pytest.mark.parametrize("blank", [NO_BREAK, "\x1f"])
def test_a_grid_resource_of_other_blanks_is_none(tmp_path: Path, blank: str) -> None:
    lines = f"universe = grid\ngrid_resource = {blank}\nqueue"
    assert f"Invalid value '{blank}' for grid type" in dry_run(tmp_path, lines)


@pytest.mark.parametrize(
    "queue",
    [
        "queue A in (a\fb d\r\ve)",
        "queue A in a\fb, \f d\te\v",
        "queue A in (\na\fb d\n\f\ne\n)",
    ],
)
def test_items_on_a_line_are_apart_by_the_same(tmp_path: Path, queue: str) -> None:
    said = dry_run(tmp_path, f"arguments = \"'$(A)'\"\n{queue}")
    found = re.findall(r'^Arguments="(.*?)"$', said, re.MULTILINE | re.DOTALL)
    assert found == ["a\fb", "d", "e"]


@pytest.mark.parametrize("count", ["\u20032", "2\u2028", "\uff12", "1_0"])
def test_a_count_has_cs_digits_and_blanks(tmp_path: Path, count: str) -> None:
    assert "Invalid Queue count expression" in dry_run(tmp_path, f"queue {count}")


def test_a_here_document_without_an_end_is_told_in_the_words_of_its_language(
    tmp_path: Path,
) -> None:
    said = dry_run(tmp_path, "A @=e\nx\nqueue")
    assert f"\nSubmit:-1:Found end-of-file while scanning for '@e' in {tmp_path}/job.sub\n" in said


def test_a_description_on_standard_input_has_the_same_lines() -> None:
    text = b"executable = /bin/true\r\narguments = a\rb\r\nqueue\r\n"
    code = "from kettle.tools.programs import run_program; exit(run_program('condor_submit'))"
    done = subprocess.run(
        [sys.executable, "-c", code, "-dry-run", "-", "-"],
        input=text,
        env={"CONDOR_CONFIG": "ONLY_ENV", "PATH": "/bin", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        check=False,
    )
    assert b'Args="a b"\n' in done.stdout, done


def config_val(tmp_path: Path, text: str, name: str) -> str:
    file = tmp_path / "config"
    file.write_bytes(text.encode())
    out = io.StringIO()
    environment = {"CONDOR_CONFIG": str(file)}
    load_tool("condor_config_val")(
        ["condor_config_val", name], environment, Streams(io.StringIO(), out, out)
    )
    return out.getvalue()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("A = a\rb\r\n", "a\rb\n"),
        (f"A = {NO_BREAK}a\x1c\n", f"{NO_BREAK}a\x1c\n"),
        (f"A{NO_BREAK} = a\n", f"Illegal Identifier: <A{NO_BREAK}>"),
        (f"if{NO_BREAK} defined A\nendif\n", "Configuration Error Line 1"),
        (f"use ROLE :{NO_BREAK} Personal\n", "Configuration Error Line 1"),
        ("include \x85ifexist : /none\n", "unexpected keyword(s) '\x85ifexist' after include"),
    ],
)
def test_a_configuration_has_cs_blanks(tmp_path: Path, text: str, said: str) -> None:
    assert said in config_val(tmp_path, text, "A")


def test_what_need_not_be_there_is_not_told_of(tmp_path: Path) -> None:
    said = config_val(tmp_path, "include ifexist : /none/there\nb\x85 = 2\n", "A")
    assert "Illegal Identifier" in said
    assert "/none/there" not in said
