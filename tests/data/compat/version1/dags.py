"""Graphs of jobs: built, walked, described, written and rescued.

Names are sorted where the wheel's order is that of a set.
"""

import shutil
import tempfile
from pathlib import Path

import htcondor
from htcondor import dags
from htcondor.dags import exceptions


def title(text):
    print("==", text)


def tried(name, call):
    try:
        print(name, "->", call())
    except Exception as error:
        print(name, "->", type(error).__name__, isinstance(error, exceptions.DAGsException))


def names(nodes):
    return sorted(node.name for node in nodes)


def show(folder):
    for path in sorted(folder.rglob("*")):
        print("--", path.relative_to(folder))
        text = path.read_text().replace(str(folder), "FOLDER")
        lines = [line for line in text.splitlines() if line]
        if path.name.endswith(".dag"):
            lines = sorted(lines)
        for line in lines:
            print("   ", line)


work = Path(tempfile.mkdtemp())

title("a diamond")
diamond = dags.DAG()
split = diamond.layer(
    name="split",
    submit_description=htcondor.Submit({"executable": "split", "arguments": "$(input)"}),
    vars=[{"input": 'a "quoted" \\ path'}],
    retries=3,
    retry_unless_exit=2,
)
left = split.child_layer(
    name="left",
    submit_description=htcondor.Submit("executable = work\nqueue"),
    vars=[{"part": number} for number in range(3)],
    pre=dags.Script("prepare", arguments=[1, "two"]),
    post=dags.Script(Path("/bin/check"), retry=True, retry_status=7, retry_delay=30),
    pre_skip_exit_code=4,
    priority=5,
    category="heavy",
)
right = split.child_layer(
    name="right",
    submit_description=Path("/submit/right.sub"),
    abort=dags.DAGAbortCondition(9, 1),
    dir="somewhere",
    noop={0: True},
    done={0: True},
)
last = dags.Nodes(left, right).child_layer(
    name="last", submit_description=htcondor.Submit({"executable": "join"})
)
print(repr(diamond.nodes), len(diamond.nodes))
print(names(diamond.roots), names(diamond.leaves))
print(names(split.children), names(last.parents), names(split.parents))
print(names(left.walk_ancestors()), names(split.walk_descendants()))
print(names(diamond.walk()), [node.name for node in diamond.walk()][0])
print(names(diamond.glob("*t")), names(diamond.select(lambda node: len(node) > 1)))
print("split" in diamond, split in diamond, "other" in diamond, len(left), len(right))
print(sorted((one.name, other.name) for one, other in diamond.edges))
print({node.name: names(found) for node, found in sorted(diamond.node_to_parents.items())})
print({node.name: names(found) for node, found in sorted(diamond.node_to_children.items())})
path = dags.write_dag(diamond, work / "diamond")
print(path.relative_to(work))
show(work / "diamond")

title("a chain in its order, with every setting")
chain = dags.DAG(
    dagman_config={"DAGMAN_MAX_JOBS_IDLE": 7, "DAGMAN_USE_STRICT": 1},
    dagman_job_attributes={"Label": '"mine"', "Number": 3},
    dot_config=dags.DotConfig("drawing.dot", update=True, overwrite=False, include_file="a"),
    jobstate_log="states.log",
    node_status_file=dags.NodeStatusFile(Path("status"), 30, True),
)
first = chain.subdag(name="inner", dag_file=Path("inner.dag"), retries=1)
second = first.child_layer(name="second", vars=[{}, {"a": 1}])
third = second.child_subdag(name="third", dag_file="other.dag", dir=Path("there"))
print(chain.describe())
written = dags.write_dag(
    chain, str(work / "chain"), "named.dag", dags.SimpleFormatter("-", "{:03d}", 1)
)
print(written.read_text())
print((work / "chain/dagman.config").read_text())
print((work / "chain/second.sub").read_text().split())
for thing in (chain.dot_config, chain.node_status_file, first, second, dags.Nodes(first, second)):
    print(repr(thing), str(thing))
print(dags.Script("a", [1]), dags.DAGAbortCondition(3))

title("edges")
for edge in (
    dags.ManyToMany(),
    dags.OneToOne(),
    dags.Grouper(2, 1),
    dags.Grouper(parent_chunk_size=3, child_chunk_size=3),
    dags.Slicer(parent_slice=slice(1, None, 2), child_slice=slice(0, 3)),
):
    for sizes in ((1, 1), (1, 3), (6, 3), (3, 3), (6, 6)):
        graph = dags.DAG()
        above = graph.layer(name="above", vars=[{}] * sizes[0])
        above.child_layer(name="below", vars=[{}] * sizes[1], edge=edge)

        def lines(graph=graph):
            text = dags.write_dag(graph, work / "edges").read_text()
            return [line for line in text.splitlines() if "PARENT" in line or "NOOP" in line]

        tried(f"{edge} {sizes}", lines)

title("formatters")
plain = dags.SimpleFormatter()
print(plain.generate("layer", 0), plain.parse("layer:12"), dags.DEFAULT_SEPARATOR)
tried("separator in the name", lambda: plain.generate("a:b", 0))
tried("no number", lambda: plain.parse("layer:x"))
tried("cannot be read back", lambda: dags.SimpleFormatter(index_format="{:x}").generate("a", 10))

title("refused")
tried("the same name", lambda: diamond.layer(name="left"))
tried("no rescue file", lambda: dags.find_rescue_file(work / "diamond"))
tried("an order", lambda: list(diamond.walk("sideways")))
print(issubclass(exceptions.IncompatibleGrouper, exceptions.DAGsException))
print(repr(dags.WalkOrder.DEPTH_FIRST), dags.WalkOrder.BREADTH_FIRST.value)

title("rescued")
(work / "diamond/dagfile.dag.rescue001").write_text("# a comment\n\nDONE split:0\n")
(work / "diamond/dagfile.dag.rescue002").write_text("# a comment\nDONE split:0\n\nDONE left:1\n")
found = dags.find_rescue_file(work / "diamond")
print(found.name)
dags.rescue(diamond, found)
print(split.done, left.done, right.done)
print(
    [
        line
        for line in dags.write_dag(diamond, work / "again").read_text().splitlines()
        if "DONE" in line
    ]
)

shutil.rmtree(work)
