"""condor_token_create and condor_token_list where there is nothing to read: word and code."""

from __future__ import annotations

import io
from pathlib import Path

from kettle.tools.programs import Streams
from kettle.tools.tokens import condor_token_create, condor_token_list


def configuration(tmp_path: Path) -> dict[str, str]:
    path = tmp_path / "condor_config"
    path.write_text(f"SEC_PASSWORD_DIRECTORY = {tmp_path}/keys\n")
    return {"CONDOR_CONFIG": str(path)}


def test_a_signing_key_that_is_not_there_ends_with_2(tmp_path: Path) -> None:
    out, complaint = io.StringIO(), io.StringIO()
    argv = ["condor_token_create", "-identity", "ann@here", "-key", "nosuch"]
    where = Streams(io.StringIO(), out, complaint)
    assert condor_token_create.main(argv, configuration(tmp_path), where) == 2
    assert "the signing key nosuch cannot be read" in complaint.getvalue()
    assert out.getvalue() == ""


def test_a_token_that_others_may_read_is_listed_and_said_to_be_of_no_use(tmp_path: Path) -> None:
    folder = tmp_path / "tokens"
    (folder / "sub").mkdir(parents=True)
    # {"alg":"HS256","kid":"POOL"} and {"sub":"ann@here"}, signed by nobody.
    text = "eyJhbGciOiJIUzI1NiIsImtpZCI6IlBPT0wifQ.eyJzdWIiOiJhbm5AaGVyZSJ9.AAAA\n"
    for name, mode in (("mine", 0o600), ("open", 0o644)):
        (folder / name).write_text(text)
        (folder / name).chmod(mode)
    out, complaint = io.StringIO(), io.StringIO()
    argv = ["condor_token_list", "-dir", str(folder)]
    where = Streams(io.StringIO(), out, complaint)
    assert condor_token_list.main(argv, configuration(tmp_path), where) == 0
    said = 'Header: {"alg":"HS256","kid":"POOL"} Payload: {"sub":"ann@here"} File: '
    assert out.getvalue() == "".join(f"{said}{folder}/{name}\n" for name in ("mine", "open"))
    assert complaint.getvalue() == (
        f"no tool uses {folder}/open: others may read it, or it is not yours\n"
    )


def test_a_token_folder_that_is_not_there_is_named_and_holds_none(tmp_path: Path) -> None:
    out, complaint = io.StringIO(), io.StringIO()
    argv = ["condor_token_list", "-dir", "/nonexistent"]
    where = Streams(io.StringIO(), out, complaint)
    assert condor_token_list.main(argv, configuration(tmp_path), where) == 0
    assert complaint.getvalue() == "cannot read /nonexistent: No such file or directory\n"
    assert out.getvalue() == ""
