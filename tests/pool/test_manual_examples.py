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
    with personal_pool(tmp_path_factory.mktemp("manual")) as pool:
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


# They build on each other: a job is submitted before it is held.
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_prints_what_the_page_says(
    name: str, pool: PersonalPool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder))
    code, said = run_example(pool, name)
    assert code == RECORDED[name]["exit"], said
    said = said.replace(pool.folder, "/home/alice/pool")
    assert still(said).split() == still(RECORDED[name]["shown"].replace("laptop", "HOST")).split()
