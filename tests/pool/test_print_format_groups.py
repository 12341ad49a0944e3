"""Print formats that ask the schedd for groups of jobs, in a queue of known jobs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import run_tool, submit


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    with personal_pool(tmp_path_factory.mktemp("groups"), "") as pool:
        yield pool


# Formats, and what condor_q of 25.14.1 says of these jobs under its title.
_GROUPS = {
    "SELECT UNIQUE\n JobStatus AS S\n Args AS ARGS\nGROUP BY Args\n": ("S ARGS\n5 1000\n5 2000\n"),
    "SELECT UNIQUE\n JobCount AS N\n JobIds AS IDS\n RequestMemory AS MEM\n NoSuch AS NO\n"
    "WHERE RequestMemory>1\n": "N IDS MEM NO\n1 {1}.0 2   undefined\n",
    "SELECT FROM AUTOCLUSTER UNIQUE\n JobCount AS N\n RequestMemory AS MEM\n": (
        "N MEM\n2 1  \n1 2  \n"
    ),
    "SELECT FROM AUTOCLUSTER\n JobCount AS N\n RequestMemory AS MEM\n": "N MEM\n2 1  \n1 2  \n",
}


@pytest.mark.parametrize("form", _GROUPS, ids=range(len(_GROUPS)))
def test_a_print_format_may_ask_for_groups_of_jobs(
    pool: PersonalPool, tmp_path: Path, form: str
) -> None:
    """The schedd puts alike jobs together: what is alike is what the columns show."""
    (tmp_path / "form").write_text(form)
    text = "executable = /bin/sleep\nhold = true\nrequest_memory = {0}\narguments = {0}000\n"
    clusters = [
        submit(pool, tmp_path, text.format(number) + f"queue {count}\n").cluster
        for number, count in ((1, 2), (2, 1))
    ]
    try:
        code, said, complaint = run_tool(pool, "condor_q", "-print-format", str(tmp_path / "form"))
    finally:
        run_tool(pool, "condor_rm", *map(str, clusters))
    assert (code, complaint) == (0, "")
    assert said.split("\n", 3)[3] == _GROUPS[form].format(*clusters)
