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


def test_a_token_folder_that_is_not_there_is_named_and_holds_none(tmp_path: Path) -> None:
    out, complaint = io.StringIO(), io.StringIO()
    argv = ["condor_token_list", "-dir", "/nonexistent"]
    where = Streams(io.StringIO(), out, complaint)
    assert condor_token_list.main(argv, configuration(tmp_path), where) == 0
    assert complaint.getvalue() == "cannot read /nonexistent: No such file or directory\n"
    assert out.getvalue() == ""
