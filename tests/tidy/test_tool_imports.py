"""The tools that people type start fast because they load little: a list of what that is.

Each is run against a pool and says in the end which modules it has loaded. `tool_imports.txt` has a
line for each module of ours with the tools that load it. A module that is no longer needed leaves
the list; one that is to join it has to be worth its milliseconds. What the standard library offers
and costs much is out of bounds altogether.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool

LIST = Path(__file__).with_name("tool_imports.txt")
TOOLS = {
    "condor_version": (),
    "condor_config_val": ("LOG",),
    "condor_q": ("-totals",),
    "condor_status": ("-totals",),
    "condor_submit": ("held.sub",),
    "condor_rm": ("-all",),
    "condor_history": ("-limit", "1"),
}
# `pathlib` (with `urllib.parse`) is condor_history's to use: it asks nobody.
DEAR = {
    "argparse", "ast", "asyncio", "concurrent", "dataclasses", "difflib", "email", "hashlib",
    "hmac", "html", "http", "inspect", "json", "logging", "multiprocessing", "numpy", "platform",
    "psutil", "random", "rich", "secrets", "shutil", "ssl", "subprocess", "tempfile", "threading",
    "unicodedata", "unittest", "uuid", "uvloop", "zipfile",
}  # fmt: skip
SAY = """\
import sys
from kettle.tools.programs import run_program
code = run_program(sys.argv.pop(1))
print("\\n" + " ".join(sys.modules), file=sys.stderr)
raise SystemExit(code)
"""


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    with personal_pool(tmp_path_factory.mktemp("imports"), "START = false\n") as made:
        yield made


@pytest.fixture(scope="module")
def loaded(pool: PersonalPool) -> dict[str, set[str]]:
    """What each tool has loaded."""
    folder = Path(pool.folder)
    (folder / "held.sub").write_text("executable = /bin/true\nhold = true\nqueue\n")
    source = str(Path(__file__).parents[2] / "src")
    # A home without tokens: reading them takes more.
    own = {"CONDOR_CONFIG": pool.config_file, "PYTHONPATH": source, "HOME": str(folder)}
    environment = {**os.environ, **own}
    found = {}
    for name, words in TOOLS.items():
        done = subprocess.run(
            [sys.executable, "-S", "-c", _with_packages(SAY), name, *words],
            env=environment, cwd=folder, capture_output=True, text=True, check=False, timeout=100,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found[name] = set(done.stderr.rstrip().rpartition("\n")[2].split())
    return found


def _with_packages(code: str) -> str:
    """Make packages known without what others have installed to be run at every start."""
    places = [place for place in sys.path if place.endswith("site-packages")]
    return f"import sys; sys.path += {places!r}\n{code}"


def listed() -> dict[str, set[str]]:
    """Return the modules that each tool may load."""
    allowed: dict[str, set[str]] = defaultdict(set)
    for line in LIST.read_text().splitlines():
        if line and not line.startswith("#"):
            module, _, tools = line.partition(":")
            for tool in tools.split():
                allowed[tool].add(module)
    return allowed


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_loads_no_more_than_it_did(tool: str, loaded: dict[str, set[str]]) -> None:
    ours = {name for name in loaded[tool] if name.partition(".")[0] == "kettle"}
    more = ours - listed()[tool]
    assert more == set(), f"{tool} loads more of ours; is it worth it?"
    less = listed()[tool] - ours
    assert less == set(), f"{tool} has become leaner: take these off {LIST.name}"


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_does_without_what_is_dear(tool: str, loaded: dict[str, set[str]]) -> None:
    assert DEAR & {name.partition(".")[0] for name in loaded[tool]} == set()
