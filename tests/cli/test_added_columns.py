"""`-aaf` beside a print-format file: its columns are behind the file's, as in 25.14.1."""

from __future__ import annotations

import io
from pathlib import Path

from kettle.tools.programs import Streams, load_tool


def test_columns_are_added_to_those_of_a_print_format(tmp_path: Path) -> None:
    (tmp_path / "form").write_text("SELECT\nOwner AS OWN\nClusterId AS C\nSUMMARY NONE\n")
    (tmp_path / "ads").write_text('ClusterId = 1\nProcId = 0\nOwner = "a"\n')
    out = io.StringIO()
    words = ["-allusers", "-pr", str(tmp_path / "form"), "-aaf", "ProcId"]
    argv = ["condor_q", "-jobads", str(tmp_path / "ads"), *words]
    environment = {"CONDOR_CONFIG": "ONLY_ENV"}
    assert load_tool("condor_q")(argv, environment, Streams(io.StringIO(), out, out)) == 0
    assert out.getvalue().splitlines()[3:] == ["OWN C ProcId", "a   1 0     "]
