"""Every example of the guides is run, as it stands, in a shell, in the order of its page."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "docs" / "first-pool.md",
    *sorted((ROOT / "docs" / "guide").glob("*.md")),
]
# Its blocks are what `condor_config_val` says of the settings above them: test_configuration_page.
# The pages of commands: tests/pool/test_manual_examples.py.
RUN_ELSEWHERE = {
    ROOT / "docs" / "reference" / "configuration.md",
    *ROOT.glob("docs/tools/condor_*.md"),
    ROOT / "docs" / "tools" / "classad_eval.md",
}
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def read_answers(page: Path) -> list[re.Pattern[str]]:
    """Return what the page shows of the commands' output, line by line; `…` stands for anything."""
    answers = []
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        inside = ""
        for line in block.splitlines():
            if inside:
                inside = "" if line == inside else inside
            elif line.startswith("$ "):
                heredoc = re.search(r"<<'(\w+)'", line)
                inside = heredoc[1] if heredoc else ""
            elif line.strip():
                words = [re.escape(part.strip()) for part in re.split(r"…|\s+", line)]
                answers.append(re.compile(r".*?".join(words)))
    return answers


def read_script(page: Path) -> str:
    """Return the commands of a page's console blocks as one shell script."""
    lines = []
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        inside = ""
        for line in block.splitlines():
            if inside:
                lines.append(line)
                inside = "" if line == inside else inside
            elif line.startswith("$ "):
                lines.append(line[2:])
                heredoc = re.search(r"<<'(\w+)'", line)
                inside = heredoc[1] if heredoc else ""
    return "set -euo pipefail\n" + "\n".join(lines) + "\n"


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder with the commands on it, and a home, that the account of jobs can reach."""
    top = Path(tempfile.mkdtemp(prefix="kettle-docs-"))
    top.chmod(0o755)
    commands = top / "bin"
    commands.mkdir()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for name, entry in project["project"]["scripts"].items():
        module, _, function = entry.partition(":")
        script = commands / name
        script.write_text(
            f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(ROOT / 'src')!r})\n"
            f"from {module} import {function}\nsys.exit({function}())\n"
        )
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
    (top / "home").mkdir()
    (top / "work").mkdir()
    (top / "work").chmod(0o777)
    yield top
    shutil.rmtree(top, ignore_errors=True)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_of_the_page_work_in_their_order(page: Path, place: Path) -> None:
    environment = {
        "HOME": str(place / "home"),
        "KETTLE_DIR": str(place / "pool"),
        "PATH": f"{place / 'bin'}:{os.environ['PATH']}",
        "LANG": "C.UTF-8",
    }
    script = read_script(page)
    assert script.count("\n") > 5
    done = subprocess.run(
        ["bash", "-x"],
        input=script,
        cwd=place / "work",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    subprocess.run([place / "bin" / "kettle", "down", "--fast"], env=environment, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    lines = iter(done.stdout.splitlines())
    for answer in read_answers(page):
        assert any(answer.search(line) for line in lines), f"{answer.pattern}\n{done.stdout}"


def test_no_page_has_examples_that_are_not_run() -> None:
    pages = {*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/**/*.md")}
    shown = {page for page in pages if BLOCK.search(page.read_text(encoding="utf-8"))}
    assert shown <= {*PAGES, *RUN_ELSEWHERE}
    assert set(PAGES) <= shown
