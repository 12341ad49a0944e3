"""What the administrator's rules make of submissions, by the tools; the words are a real pool's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import ask_queue, run_tool, wait_until

# Nothing runs: jobs that end would leave the queue between two looks at it.
RULES = """
START = false
JOB_TRANSFORM_NAMES = Mark Fail Gone
JOB_TRANSFORM_Mark @=end
SET Marked "$(MY.Owner)-$(MY.Colour:grey)"
EVALSET Doubled ProcId * 2
EVALSET Group userMap("groups", Colour, "second", "nobody")
RENAME FooR FooS
@end
JOB_TRANSFORM_Fail @=end
REQUIREMENTS WantFail =?= true
SET ClusterId 99
@end
SUBMIT_REQUIREMENT_NAMES = Blue Careful
SUBMIT_REQUIREMENT_Blue = Colour =!= "blue"
SUBMIT_REQUIREMENT_Blue_REASON = strcat("no blue jobs here, ", JOB.Marked, " of ", SCHEDD.MyType)
SUBMIT_REQUIREMENT_Careful = Colour =!= "red"
SUBMIT_REQUIREMENT_Careful_IS_WARNING = true
SUBMIT_REQUIREMENT_Careful_REASON = "careful"
SCHEDD_CLASSAD_USER_MAP_NAMES = Groups
CLASSAD_USER_MAPFILE_Groups = $(LOG)/groups.map
TOOL_CLASSAD_USER_MAP_NAMES = Words
CLASSAD_USER_MAPDATA_Words = * nobody "has no group"
"""
HELD = "executable = /bin/sh\nhold = true\nqueue 2\n"


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    with personal_pool(tmp_path_factory.mktemp("rules"), RULES) as pool:
        yield pool


def submit(pool: PersonalPool, work: Path, *lines: str) -> tuple[int, str, str]:
    (work / "held.sub").write_text(HELD)
    words = [word for line in lines for word in (["-append", line] if "=" in line else [line])]
    return run_tool(pool, "condor_submit", *words, str(work / "held.sub"))


def cluster_of(said: str) -> str:
    return said.rstrip().rpartition(" ")[2].rstrip(".")


def test_every_job_is_changed_as_it_comes_and_not_when_it_is_edited(
    pool: PersonalPool, work: Path
) -> None:
    code, said, _ = submit(pool, work, '+Colour="green"', "+FooR=3")
    assert code == 0
    jobs = ask_queue(pool, cluster_of(said), "ProcId", "Doubled", "FooR", "FooS")
    assert jobs == [["0", "0", "undefined", "3"], ["1", "2", "undefined", "3"]]
    ((marked,), _) = ask_queue(pool, cluster_of(said), "Marked")
    assert marked.endswith("-green")
    assert run_tool(pool, "condor_qedit", cluster_of(said), "FooR", "9")[0] == 0
    assert ask_queue(pool, cluster_of(said), "FooR", "FooS") == [["9", "3"], ["9", "3"]]


def test_rules_find_the_user_maps_of_the_schedd_as_they_are_since_its_reconfiguration(
    pool: PersonalPool, work: Path
) -> None:
    def group() -> list[str]:
        code, said, _ = submit(pool, work, '+Colour="amber"')
        assert code == 0
        return ask_queue(pool, cluster_of(said), "Group", 'userMap("words",Group)')[0]

    # Nothing is in the way of jobs while the file is not there; tools have maps of their own.
    assert group() == ["nobody", "has no group"]
    (Path(pool.folder) / "log" / "groups.map").write_text("* /^am/ first,second\n")
    assert run_tool(pool, "condor_reconfig", "-schedd")[0] == 0
    wait_until(lambda: group() == ["second", "undefined"], 30)


def test_jobs_that_are_made_late_are_changed_each(pool: PersonalPool, work: Path) -> None:
    code, said, _ = submit(pool, work, "-factory")
    assert code == 0
    found: list[list[str]] = []

    def both() -> bool:
        found[:] = ask_queue(pool, cluster_of(said), "ProcId", "Doubled", "Marked")
        return len(found) == 2

    wait_until(both, 30)
    assert [row[:2] for row in found] == [["0", "0"], ["1", "2"]]
    assert all(row[2].endswith("-grey") for row in found)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("+WantFail=true", "ERROR: Failed to apply a required job transform.\n"),
        ('+Colour="blue"', "-blue of Scheduler\n"),
    ],
)
def test_a_submission_that_is_refused_says_why(
    pool: PersonalPool, work: Path, line: str, reason: str
) -> None:
    before = ask_queue(pool, "-all", "ClusterId")
    code, _, complaint = submit(pool, work, line)
    assert code == 1
    assert complaint.startswith("\nERROR: Failed to commit job submission into the queue.\nERROR: ")
    assert reason in complaint
    assert ask_queue(pool, "-all", "ClusterId") == before


def test_a_warning_is_told_and_the_jobs_are_queued(pool: PersonalPool, work: Path) -> None:
    code, said, complaint = submit(pool, work, '+Colour="red"')
    assert code == 0
    cluster = cluster_of(said)
    assert complaint == (
        f"To monitor your job(s), run: condor_watch_q -clusters {cluster}\n"
        "\nWARNING: Committed job submission into the queue with the following warning(s):\n"
        "WARNING: QMGMT:0:careful|QMGMT:0:careful\n"
    )
    assert len(ask_queue(pool, cluster, "ProcId")) == 2


def test_what_makes_no_sense_in_the_configuration_is_in_the_log(
    pool: PersonalPool, work: Path
) -> None:
    assert submit(pool, work)[0] == 0
    log = (Path(pool.folder) / "log" / "SchedLog").read_text()
    assert "JOB_TRANSFORM_Gone not defined, ignoring." in log
    # The third one is PelicanRetry, which every schedd has.
    assert re.search(r"job_transforms for \d+\.0: 3 considered, 1 applied \(Mark\)", log)
