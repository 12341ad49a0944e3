"""A graph as files: the DAG's, its submit files, and DAGMan's configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from kettle.compat.htcondor2.dags.dag import DAG, DotConfig, NodeStatusFile
from kettle.compat.htcondor2.dags.edges import Group, JoinFactory, JoinNode
from kettle.compat.htcondor2.dags.exceptions import DAGsException
from kettle.compat.htcondor2.dags.formatter import NodeNameFormatter, SimpleFormatter
from kettle.compat.htcondor2.dags.node import BaseNode, FinalNode, NodeLayer, Script, SubDAG
from kettle.compat.htcondor2.dags.walk_order import WalkOrder
from kettle.compat.htcondor2.submit import Submit
from kettle.octets import AS_IS

DEFAULT_DAG_FILE_NAME: Final = "dagfile.dag"
CONFIG_FILE_NAME: Final = "dagman.config"
NOOP_SUBMIT_FILE_NAME: Final = "__JOIN__.sub"
_JOIN: Final = "__JOIN__"
_DONE: Final = "DONE"


def write_dag(
    dag: DAG,
    dag_dir: Path | str,
    dag_file_name: str | None = DEFAULT_DAG_FILE_NAME,
    node_name_formatter: NodeNameFormatter | None = None,
) -> Path:
    """Write a graph into a folder, which is made; return the path of the DAG's file.

    `htcondor2.Submit.from_dag` takes that path, as a text. Raises DAGsException for a graph that
    DAGMan could not read.
    """
    return DAGWriter(dag, node_name_formatter).write(dag_dir, dag_file_name)


class DAGWriter:
    """One graph on its way into files; it is for one writing, or for looking at the lines."""

    def __init__(self, dag: DAG, node_name_formatter: NodeNameFormatter | None = None) -> None:
        """Take the graph, and what names its jobs: the layer and the number where none is given."""
        self.dag = dag
        self.node_name_formatter = node_name_formatter or SimpleFormatter()
        self.join_factory = JoinFactory()

    def write(self, dag_dir: Path | str, dag_file_name: str | None = DEFAULT_DAG_FILE_NAME) -> Path:
        """Write the graph into a folder as `write_dag` does, and return the path of its file."""
        dag = self.dag
        folder = Path(dag_dir).absolute()
        text = "".join(f"{line}\n" for line in self.yield_dag_file_lines())
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / (dag_file_name or DEFAULT_DAG_FILE_NAME)
        _write(path, text)
        for node in self._described():
            _write(folder / _submit_file(node), Submit.__str__(node.submit_description))  # type: ignore[arg-type]
        if self.join_factory.joins:
            (folder / NOOP_SUBMIT_FILE_NAME).touch()
        if dag.dagman_config:
            settings = (f"{name} = {value}" for name, value in dag.dagman_config.items())
            _write(folder / CONFIG_FILE_NAME, "\n".join(settings))
        return path

    def _described(self) -> Iterator[NodeLayer | FinalNode]:
        """Yield the nodes whose descriptions become files."""
        for node in (*self.dag.nodes, self.dag.final_node):
            if isinstance(node, NodeLayer | FinalNode) and isinstance(
                node.submit_description, Submit
            ):
                yield node

    def yield_dag_file_lines(self) -> Iterator[str]:
        """Yield the lines of the DAG's file."""
        yield "# BEGIN META"
        yield from _settings(self.dag)
        yield "# END META"
        yield "# BEGIN NODES AND EDGES"
        found = list(self.dag.walk(WalkOrder.BREADTH_FIRST))
        _refuse_rings(self.dag, found)
        for node in found:
            yield from self._node(node)
            yield from self._edges(node)
        for join in self.join_factory.joins:
            yield f"JOB {self._join_name(join)} {NOOP_SUBMIT_FILE_NAME} NOOP"
        yield "# END NODES AND EDGES"
        if self.dag.final_node is not None:
            yield "# FINAL NODE"
            yield from _final(self.dag.final_node)
            yield "# END FINAL NODE"

    def _node(self, node: BaseNode) -> Iterator[str]:
        if isinstance(node, NodeLayer):
            for number, values in enumerate(node.vars):
                name = self._name(node, number)
                yield " ".join([f"JOB {name} {_submit_file(node)}", *_words(node, number)])
                yield from _variables(name, values)
                yield from _rules(node, name)
        elif isinstance(node, SubDAG):
            name = self._name(node, 0)
            yield " ".join([f"SUBDAG EXTERNAL {name} {node.dag_file}", *_words(node, 0)])
            yield from _rules(node, name)
        else:
            raise TypeError(f"{node} is neither a layer nor another DAG")

    def _edges(self, parent: BaseNode) -> Iterator[str]:
        for child, edge in self.dag.edges_from(parent):
            for before, after in edge.get_edges(parent, child, self.join_factory):
                yield f"PARENT {self._names(parent, before)} CHILD {self._names(child, after)}"

    def _names(self, node: BaseNode, group: Group) -> str:
        if isinstance(group, JoinNode):
            return self._join_name(group)
        return " ".join(self._name(node, number) for number in group)

    def _join_name(self, join: JoinNode) -> str:
        return self.node_name_formatter.generate(_JOIN, join.id)

    def _name(self, node: BaseNode, number: int) -> str:
        return _word(self.node_name_formatter.generate(node.name, number))


def _settings(dag: DAG) -> Iterator[str]:
    if dag.dagman_config:
        yield f"CONFIG {CONFIG_FILE_NAME}"
    if dag.jobstate_log is not None:
        yield f"JOBSTATE_LOG {dag.jobstate_log.as_posix()}"
    if dag.node_status_file is not None:
        yield _status_file(dag.node_status_file)
    if dag.dot_config is not None:
        yield _drawing(dag.dot_config)
    for name, value in dag.dagman_job_attrs.items():
        yield f"SET_JOB_ATTR {name} = {value}"
    for category, most in dag.max_jobs_per_category.items():
        # Compat: the wheel says CATEGORY here, which is about a node (shown by
        # test_the_most_jobs_of_a_category_are_told).
        yield f"MAXJOBS {category} {most}"


def _status_file(wanted: NodeStatusFile) -> str:
    words = ["NODE_STATUS_FILE", wanted.path.as_posix()]
    if wanted.update_time is not None:
        words.append(str(wanted.update_time))
    if wanted.always_update:
        words.append("ALWAYS-UPDATE")
    return " ".join(words)


def _drawing(wanted: DotConfig) -> str:
    words = [
        "DOT",
        wanted.path.as_posix(),
        "UPDATE" if wanted.update else "DONT-UPDATE",
        "OVERWRITE" if wanted.overwrite else "DONT-OVERWRITE",
    ]
    if wanted.include_file is not None:
        words += ["INCLUDE", wanted.include_file.as_posix()]
    return " ".join(words)


def _final(node: FinalNode) -> Iterator[str]:
    # Compat: the wheel writes neither the submit file nor where the job runs (shown by
    # test_the_final_node_has_its_submit_file).
    words = [word for word in _words(node, 0) if word != _DONE]
    yield " ".join([f"FINAL {_word(node.name)} {_submit_file(node)}", *words])
    yield from _rules(node, node.name)


def _words(node: BaseNode, number: int) -> list[str]:
    """Return what is said of a job on its own line."""
    words = [] if node.dir is None else ["DIR", str(node.dir)]
    if node.noop.get(number, False):
        words.append("NOOP")
    if node.done.get(number, False):
        words.append(_DONE)
    return words


def _variables(name: str, values: Mapping[str, Any]) -> Iterator[str]:
    texts = {key: str(value) for key, value in values.items()}
    for key, text in texts.items():
        if "\n" in text:
            raise DAGsException(f"the variable {key} of {name} has several lines")
    if texts:
        shown = (f'{key}="{_escaped(text)}"' for key, text in texts.items())
        yield f"VARS {name} {' '.join(shown)}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _rules(node: BaseNode, name: str) -> Iterator[str]:
    """Yield the lines about a job that follow its own."""
    if node.retries is not None:
        unless = "" if node.retry_unless_exit is None else f" UNLESS-EXIT {node.retry_unless_exit}"
        yield f"RETRY {name} {node.retries}{unless}"
    if node.pre is not None:
        yield _script("PRE", name, node.pre)
    if node.post is not None:
        yield _script("POST", name, node.post)
    if node.pre_skip_exit_code is not None:
        yield f"PRE_SKIP {name} {node.pre_skip_exit_code}"
    if node.priority != 0:
        yield f"PRIORITY {name} {node.priority}"
    if node.category is not None:
        yield f"CATEGORY {name} {node.category}"
    if node.abort is not None:
        code = node.abort.dag_return_value
        returns = "" if code is None else f" RETURN {code}"
        yield f"ABORT-DAG-ON {name} {node.abort.node_exit_value}{returns}"


def _script(when: str, name: str, script: Script) -> str:
    again = f"DEFER {script.retry_status} {script.retry_delay} " if script.retry else ""
    return " ".join([f"SCRIPT {again}{when} {name} {script.executable}", *script.arguments])


def _submit_file(node: NodeLayer | FinalNode) -> str:
    if isinstance(node.submit_description, Submit):
        return f"{_word(node.name)}.sub"
    return Path(node.submit_description).absolute().as_posix()


def _word(name: str) -> str:
    if not name or len(name.split()) != 1:
        raise DAGsException(f"the name {name!r} is no word, which a node's name must be")
    return name


def _refuse_rings(dag: DAG, found: list[BaseNode]) -> None:
    """Raise for nodes that come before themselves: DAGMan would never begin with one of them."""
    before = {node: len(dag.parents_of(node)) for node in found}
    free = [node for node, count in before.items() if not count]
    for node in free:
        for child, _ in dag.edges_from(node):
            before[child] -= 1
            if not before[child]:
                free.append(child)
    reached = set(free)
    bound = [node.name for node in dag.nodes if node not in reached]
    if bound:
        raise DAGsException(f"nodes wait for one another in a ring: {', '.join(sorted(bound))}")


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", errors=AS_IS)
