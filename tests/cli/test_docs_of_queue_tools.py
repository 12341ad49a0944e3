"""The examples of docs/reference/tools-queue.md print what stands under them."""

from __future__ import annotations

import io
import re
import shlex
from pathlib import Path

import pytest

from kettle.tools.programs import Streams, load_tool

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/tools-queue.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```sh\n(.*?)\n```\n\n```text\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize(("command", "shown"), EXAMPLES)
def test_an_example_prints_what_stands_under_it(
    command: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT / "tests/data/vectors/output/data")
    argv = shlex.split(command)
    out, err = io.StringIO(), io.StringIO()
    main = load_tool(argv[0])
    code = main(argv, {"CONDOR_CONFIG": "/dev/null"}, Streams(io.StringIO(), out, err))
    assert (code, out.getvalue(), err.getvalue()) == (0, shown, "")


def test_there_are_examples() -> None:
    assert len(EXAMPLES) == 2
