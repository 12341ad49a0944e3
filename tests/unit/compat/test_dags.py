"""Graphs of jobs, where Kettle departs from the wheel's `htcondor2.dags`, and what it refuses.

Where it does not, tests/data/compat/htcondor2/dags.py shows it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kettle.compat import htcondor, htcondor2
from kettle.compat.htcondor import dags as dags_of_version_1
from kettle.compat.htcondor2 import dags
from kettle.compat.htcondor2.dags.exceptions import CannotInvertFormat, DAGsException
from kettle.compat.htcondor2.dags.rescue import _rescue
from kettle.compat.htcondor2.dags.writer import DAGWriter


def lines(dag: dags.DAG, folder: Path) -> list[str]:
    return dags.write_dag(dag, folder).read_text().splitlines()


def test_what_is_said_of_a_layer_is_said_of_all_its_jobs(tmp_path: Path) -> None:
    dag = dags.DAG()
    layer = dag.layer(name="work", vars=[{"a": 1}, {"a": 2}], noop=True, done=True)
    assert (layer.noop, layer.done) == ({0: True}, {0: True})
    layer.vars.append({"a": 3})
    jobs = [line for line in lines(dag, tmp_path) if line.startswith("JOB")]
    assert jobs == [f"JOB work:{number} work.sub NOOP DONE" for number in range(3)]


def test_the_most_jobs_of_a_category_are_told(tmp_path: Path) -> None:
    dag = dags.DAG(max_jobs_by_category={"heavy": 2})
    dag.layer(name="work", category="heavy")
    told = [line for line in lines(dag, tmp_path) if "heavy" in line]
    assert told == ["MAXJOBS heavy 2", "CATEGORY work:0 heavy"]


def test_the_final_node_has_its_submit_file(tmp_path: Path) -> None:
    dag = dags.DAG()
    dag.layer(name="work")
    final = dag.final(
        name="end",
        submit_description=htcondor2.Submit({"executable": "/bin/true"}),
        dir=Path("there"),
        noop=True,
        done=True,
        retries=2,
    )
    assert "FINAL end end.sub DIR there NOOP" in lines(dag, tmp_path)
    assert "RETRY end 2" in lines(dag, tmp_path)
    assert (tmp_path / "end.sub").read_text() == "executable = /bin/true\nqueue\n"
    final.submit_description = Path("/submit/end.sub")
    assert "FINAL end /submit/end.sub DIR there NOOP" in lines(dag, tmp_path)


def test_edges_can_be_removed(tmp_path: Path) -> None:
    dag = dags.DAG()
    first = dag.layer(name="first")
    both = dags.Nodes(first.child_layer(name="one"), first.child_layer(name="two"))
    last = both.child_layer(name="last")
    assert last.remove_parents(both) is last
    assert first.remove_children(both) is first
    assert list(dag.edges) == []
    both.add_parents(first, last)
    both.remove_parents(last).remove_children(last)
    assert [(one.name, other.name) for one, other in dag.edges] == [
        ("first", "one"),
        ("first", "two"),
    ]
    assert [line for line in lines(dag, tmp_path) if "PARENT" in line] == [
        "PARENT first:0 CHILD one:0",
        "PARENT first:0 CHILD two:0",
    ]


def test_rescue_reads_what_dagman_writes(tmp_path: Path) -> None:
    dag = dags.DAG()
    layer = dag.layer(name="END", vars=[{}] * 3)
    other = dag.layer(name="other", done=True)
    file = tmp_path / "dagfile.dag.rescue001"
    file.write_text("# Rescue DAG\n\nDONE END:0\nDONE   END:2\nRETRY END:1 3\nDONE __JOIN__:0\n")
    dags.rescue(dag, file)
    assert layer.done == {0: True, 2: True}
    assert other.done == {}


def test_a_writer_tells_the_lines_without_a_file(tmp_path: Path) -> None:
    dag = dags.DAG()
    dag.layer(name="a", vars=[{}] * 3).child_layer(name="b", vars=[{}] * 3)
    told = list(DAGWriter(dag).yield_dag_file_lines())
    assert told == lines(dag, tmp_path / "by a function")
    path = DAGWriter(dag, dags.SimpleFormatter("+")).write(tmp_path / "by itself", "other.dag")
    assert path == tmp_path / "by itself/other.dag"
    assert path.read_text().splitlines() == [line.replace(":", "+") for line in told]
    assert (path.parent / "a.sub").exists()


def test_rescue_reads_a_text_too() -> None:
    dag = dags.DAG()
    layer = dag.layer(name="a", vars=[{}] * 2, done={0: True})
    _rescue(dag, "DONE a+1\n", formatter=dags.SimpleFormatter("+"))
    assert layer.done == {1: True}


def test_the_last_rescue_file_is_that_of_the_highest_number(tmp_path: Path) -> None:
    for number in ("001", "099", "100.old", "098"):
        (tmp_path / f"a.dag.rescue{number}").touch()
    (tmp_path / "b.dag.rescue100").touch()
    assert dags.find_rescue_file(tmp_path, "a.dag").name == "a.dag.rescue099"


def test_a_ring_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    dag = dags.DAG()
    first = dag.layer(name="first")
    second = first.child_layer(name="second")
    third = second.child_layer(name="third")
    third.add_children(second)
    folder = tmp_path / "new"
    with pytest.raises(DAGsException, match="in a ring: second, third"):
        dags.write_dag(dag, folder)
    assert not folder.exists()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"name": "two words"}, "'two words:0' is no word"),
        ({"name": "work", "vars": [{"a": "1\n2"}]}, "the variable a of work:0 has several lines"),
    ],
)
def test_what_no_dag_file_can_say_is_refused(options: Any, reason: str, tmp_path: Path) -> None:
    dag = dags.DAG()
    dag.layer(**options)
    with pytest.raises(DAGsException, match=reason):
        dags.write_dag(dag, tmp_path)


def test_nodes_of_another_graph_are_refused() -> None:
    stranger = dags.DAG().layer(name="stranger")
    with pytest.raises(DAGsException, match=r"name = stranger\) is not among the nodes"):
        dags.DAG().layer(name="one").add_children(stranger)


def test_groups_of_nothing_are_refused(tmp_path: Path) -> None:
    dag = dags.DAG()
    dag.layer(name="above").child_layer(name="below", edge=dags.Grouper(0, 1))
    with pytest.raises(dags.exceptions.IncompatibleGrouper):
        dags.write_dag(dag, tmp_path)


def test_a_name_that_says_no_layer_cannot_be_read() -> None:
    with pytest.raises(CannotInvertFormat, match="end does not say its layer"):
        dags.SimpleFormatter().parse("end")


def test_a_large_graph_is_written_in_time_that_grows_with_its_size(tmp_path: Path) -> None:
    """The wheel looks at every node again for each of them, and would need minutes."""
    dag = dags.DAG()
    node: dags.BaseNode = dag.layer(name="0")
    for number in range(1, 5_000):
        node = node.child_layer(name=str(number))
    written = lines(dag, tmp_path)
    assert sum(line.startswith("PARENT") for line in written) == 4_999


def test_version_1_has_graphs_with_descriptions_of_its_own(tmp_path: Path) -> None:
    dag = dags_of_version_1.DAG()
    layer = dag.layer(name="work")
    assert type(layer.submit_description) is htcondor.Submit
    layer.submit_description["executable"] = "/bin/true"
    assert "JOB work:0 work.sub" in lines(dag, tmp_path)
    assert (tmp_path / "work.sub").read_text() == "executable = /bin/true\nqueue\n"
    assert set(dags_of_version_1.__all__) == set(dags.__all__)
