"""The examples of the manual's pages of commands print what the pages say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from manual_examples import EXAMPLES, ROOT, make_files, run_example, still

RECORDED = json.loads((ROOT / "docs/tools/examples.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    folder = tmp_path_factory.mktemp("manual")
    # The account's own tokens are neither shown nor added to.
    with personal_pool(folder, f"SEC_TOKEN_DIRECTORY = {folder}/tokens.d\n") as pool:
        yield pool


@pytest.fixture(scope="module")
def folder(work_folder: Path) -> Path:
    make_files(work_folder)
    return work_folder


def test_every_example_of_a_page_is_run() -> None:
    shown = {
        page.stem
        for page in (ROOT / "docs/tools").glob("*.md")
        if "```console" in page.read_text(encoding="utf-8")
    }
    assert shown == set(EXAMPLES)


# One test, for they build on each other: a job is submitted before it is held. So none can be given
# a second chance alone.
@pytest.mark.timeout(900)
def test_the_examples_print_what_the_pages_say(
    pool: PersonalPool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder))
    differing = {}
    for name in EXAMPLES:
        code, said = run_example(pool, name)
        said = said.replace(pool.folder, "/home/alice/pool")
        recorded = RECORDED[name]["shown"].replace("laptop", "HOST")
        if code != RECORDED[name]["exit"] or still(said).split() != still(recorded).split():
            differing[name] = f"exit {code}\n{still(said)}\ninstead of\n{still(recorded)}"
    assert not differing, "\n".join(f"{name}: {why}" for name, why in differing.items())
