"""How wide the columns of a table of jobs are, as 25.14.1's `condor_q -nobatch -jobads` has them.

Sizes are cut to four characters, unless one of the jobs has the table fitted anew.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from kettle.tools.programs import Streams
from kettle.tools.queue.condor_q import main

Show = Callable[..., list[str]]
Job = dict[str, object]


def job(**attributes: object) -> Job:
    usual = {"ClusterId": 1, "ProcId": 0, "Owner": '"u"', "JobStatus": 2, "QDate": 1700000000}
    return {**usual, "JobPrio": 0, "Cmd": '"/bin/a"', "JobUniverse": 5, **attributes}


@pytest.fixture
def show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Show:
    """Return what shows jobs with options: the lines, without title and totals."""
    monkeypatch.setenv("TZ", "UTC")

    def of(jobs: list[Job], *options: str) -> list[str]:
        path = tmp_path / "jobs.ads"
        ads = ("".join(f"{name} = {text}\n" for name, text in ad.items()) for ad in jobs)
        path.write_text("\n".join(ads))
        out = io.StringIO()
        argv = ["condor_q", "-nobatch", *options, "-jobads", str(path)]
        assert main(argv, {"CONDOR_CONFIG": "/dev/null"}, Streams(io.StringIO(), out, out)) == 0
        return [
            line
            for line in out.getvalue().splitlines()
            if line[3:4] and not line.startswith(("--", "Total"))
        ]

    return of


def sizes(lines: list[str]) -> list[str]:
    """Return what stands from SIZE on."""
    start = lines[0].index("SIZE")
    return [line[start:] for line in lines]


@pytest.mark.parametrize(
    ("attributes", "shown"),
    [
        ({"MemoryUsage": 99}, "99.0"),
        ({"MemoryUsage": 999}, "999."),
        ({"MemoryUsage": 1954}, "1954"),
        ({"MemoryUsage": 1953.7}, "1953"),
        ({"MemoryUsage": 123456}, "1234"),
        ({"MemoryUsage": -1000}, "-100"),
        ({"ImageSize": 1023999}, "1000"),
        ({"ImageSize": 5e9}, "4882"),
        ({"ResidentSetSize": 2000000, "MemoryUsage": "(ResidentSetSize + 1023) / 1024"}, "1954"),
        ({"MemoryUsage": '"x"', "ImageSize": 4000000}, "3906"),
    ],
)
def test_a_size_is_cut_to_four_characters(
    show: Show, attributes: dict[str, object], shown: str
) -> None:
    assert sizes(show([job(**attributes)])) == ["SIZE CMD", f"{shown} a"]


@pytest.mark.parametrize(
    ("other", "fits"),
    [
        ({"ClusterId": 9998}, False),
        ({"ClusterId": 9999}, True),
        ({"ProcId": 998}, False),
        ({"ProcId": 999}, True),
        ({"Owner": f'"{"o" * 14}"'}, False),
        ({"Owner": f'"{"o" * 15}"'}, True),
        ({"Owner": '"éééééééé"'}, True),
    ],
)
def test_sizes_have_room_beside_long_owners_and_large_numbers_only(
    show: Show, other: dict[str, object], fits: bool
) -> None:
    lines = sizes(show([job(MemoryUsage=1954), job(**{"ClusterId": 2, **other})], "-wide:100"))
    assert lines[:2] == (["SIZE   CMD", "1954.0 a"] if fits else ["SIZE CMD", "1954 a"])


def test_only_the_jobs_of_the_table_count(show: Show) -> None:
    jobs = [job(MemoryUsage=1954), job(ClusterId=20000, JobStatus=1)]
    assert sizes(show(jobs, "-constraint", "JobStatus == 2")) == ["SIZE CMD", "1954 a"]


def test_a_table_of_cpu_times_never_fits_its_sizes(show: Show) -> None:
    lines = show([job(ClusterId=20000, MemoryUsage=1954)], "-cputime")
    assert lines[1].endswith(" 1954 a")


@pytest.mark.parametrize(
    ("length", "size"),
    [(11, "1954 a"), (12, "1954.0 a")],
)
def test_under_dags_the_name_of_a_node_counts_with_its_place(
    show: Show, length: int, size: str
) -> None:
    node = job(DAGManJobId=77, DAGNodeName=f'"{"n" * length}"', Owner=f'"{"o" * 20}"')
    assert sizes(show([{**node, "MemoryUsage": 1954}], "-dag"))[1] == size


@pytest.mark.parametrize(("options", "owner"), [((), 17), (("-wide:90",), 27)])
def test_under_dags_the_owner_has_three_places_more(
    show: Show, options: tuple[str, ...], owner: int
) -> None:
    line = show([job(Owner=f'"{"o" * 30}"')], "-dag", *options)[1]
    assert line == f"   1.0   {'o' * owner} 11/14 22:13              R  0        a"


def test_a_job_after_the_thousandth_has_its_whole_number(show: Show) -> None:
    lines = show([job(), job(ProcId=1000)])
    assert [line.partition("u")[0] for line in lines[1:]] == ["   1.0    ", "   1.1000 "]
    under_cpu_times = show([job(), job(ProcId=1000)], "-cputime")
    assert [line.partition(" u")[0] for line in under_cpu_times[1:]] == ["   1.0  ", "   1.1000"]


def test_a_node_without_a_name_is_complained_of_once(show: Show) -> None:
    nodes = [job(DAGManJobId=77), job(ClusterId=2, DAGManJobId=77, DAGNodeName='"n"')]
    said = "DAG node job with no DAGNodeName attribute!"
    assert (show(nodes, "-dag").count(said), show(nodes).count(said)) == (1, 0)
