"""The nodes of a graph: layers of jobs, other DAGs, the final job, and collections of them."""

from __future__ import annotations

import abc
import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, Required, Self, TypedDict, Unpack

from kettle.compat.htcondor2.dags.edges import BaseEdge
from kettle.compat.htcondor2.dags.texts import described
from kettle.compat.htcondor2.dags.walk_order import WalkOrder
from kettle.compat.htcondor2.submit import Submit

Description = Submit | Path
"""What the jobs of a node are: a description, or a submit file."""


class Script:
    """A program that runs before or after a job, at the access point."""

    def __init__(
        self,
        executable: str | Path,
        arguments: Iterable[Any] | None = None,
        retry: bool = False,
        retry_status: int = 1,
        retry_delay: int = 0,
    ) -> None:
        """Take the program and its arguments, and whether one status of it means: once more."""
        self.executable = executable
        self.arguments = [str(one) for one in arguments or ()]
        self.retry = retry
        self.retry_status = retry_status
        self.retry_delay = retry_delay

    def __repr__(self) -> str:
        return described(self, "executable", "arguments", "retry", "retry_status", "retry_delay")


class DAGAbortCondition:
    """The exit code of a job that ends the whole DAG, and the DAG's own exit code then."""

    def __init__(self, node_exit_value: int, dag_return_value: int | None = None) -> None:
        self.node_exit_value = node_exit_value
        self.dag_return_value = dag_return_value

    def __repr__(self) -> str:
        return described(self, "node_exit_value", "dag_return_value")


class NodeOptions(TypedDict, total=False):
    """What every node can be told."""

    name: Required[str]
    dir: Path | str | None
    noop: bool | Mapping[int, bool]
    done: bool | Mapping[int, bool]
    retries: int | None
    retry_unless_exit: int | None
    pre: Script | None
    post: Script | None
    pre_skip_exit_code: int | None
    priority: int
    category: str | None
    abort: DAGAbortCondition | None


class FinalOptions(NodeOptions, total=False):
    """What the final node can be told."""

    submit_description: Description | None


class LayerOptions(FinalOptions, total=False):
    """What a layer can be told."""

    vars: Iterable[Mapping[str, Any]] | None


class SubDAGOptions(NodeOptions, total=False):
    """What a node that is a DAG can be told."""

    dag_file: Required[Path | str]


class Graph(Protocol):
    """What a node asks of its graph: `DAG`."""

    def new_description(self) -> Submit:
        """Return the description of a node that is given none."""

    def layer(self, **kwargs: Unpack[LayerOptions]) -> NodeLayer:
        """Make a layer."""

    def subdag(self, **kwargs: Unpack[SubDAGOptions]) -> SubDAG:
        """Make a node that is another DAG."""

    def connect(self, parent: BaseNode, child: BaseNode, edge: BaseEdge | None) -> None:
        """Have a node come before another one."""

    def disconnect(self, parent: BaseNode, child: BaseNode) -> None:
        """Have a node no longer come before another one."""

    def children_of(self, node: BaseNode) -> Nodes:
        """Return what comes right after a node."""

    def parents_of(self, node: BaseNode) -> Nodes:
        """Return what comes right before a node."""

    def walk_ancestors(self, node: BaseNode, order: WalkOrder) -> Iterator[BaseNode]:
        """Yield every node that comes before one."""

    def walk_descendants(self, node: BaseNode, order: WalkOrder) -> Iterator[BaseNode]:
        """Yield every node that comes after one."""


class _OfAll(dict[int, bool]):
    """What is said of every job of a layer.

    Compat: in the wheel a layer's `noop` or `done` that is True is the first job's alone (shown
    by test_what_is_said_of_a_layer_is_said_of_all_its_jobs).
    """

    def __init__(self, said: bool) -> None:
        super().__init__({0: said})
        self._said = said

    def get(self, key: int, default: Any = None) -> Any:
        del key, default
        return self._said


@functools.total_ordering
class BaseNode(abc.ABC):  # noqa: B024 - nobody makes a node that is of no kind
    """What stands in a graph. The methods of a graph, and of its nodes, make them."""

    def __init__(
        self,
        dag: Graph,
        *,
        name: str,
        dir: Path | str | None = None,  # noqa: A002 - the wheel's name
        noop: bool | Mapping[int, bool] = False,
        done: bool | Mapping[int, bool] = False,
        retries: int | None = None,
        retry_unless_exit: int | None = None,
        pre: Script | None = None,
        post: Script | None = None,
        pre_skip_exit_code: int | None = None,
        priority: int = 0,
        category: str | None = None,
        abort: DAGAbortCondition | None = None,
    ) -> None:
        """Take the graph, and what DAGMan is told of the node's jobs.

        `noop` and `done` may be said of each job by its number.
        """
        self._dag = dag
        self.name = name
        self.dir = Path(dir) if dir is not None else None
        self.noop = _OfAll(noop) if isinstance(noop, bool) else noop
        self.done = _OfAll(done) if isinstance(done, bool) else done
        self.retries = retries
        self.retry_unless_exit = retry_unless_exit
        self.priority = priority
        self.category = category
        self.abort = abort
        self.pre = pre
        self.pre_skip_exit_code = pre_skip_exit_code
        self.post = post

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[Self]:
        yield self

    def __repr__(self) -> str:
        return described(self, "name")

    def __hash__(self) -> int:
        return hash((type(self), self.name))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self._dag is other._dag and self.name == other.name

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, BaseNode):
            return NotImplemented
        return self.name < other.name

    # -- New relatives ----------------------------------------------------------------------

    def child_layer(
        self, edge: BaseEdge | None = None, **kwargs: Unpack[LayerOptions]
    ) -> NodeLayer:
        """Make a layer that comes after this node; see `NodeLayer`."""
        made = self._dag.layer(**kwargs)
        self._dag.connect(self, made, edge)
        return made

    def parent_layer(
        self, edge: BaseEdge | None = None, **kwargs: Unpack[LayerOptions]
    ) -> NodeLayer:
        """Make a layer that comes before this node; see `NodeLayer`."""
        made = self._dag.layer(**kwargs)
        self._dag.connect(made, self, edge)
        return made

    def child_subdag(self, edge: BaseEdge | None = None, **kwargs: Unpack[SubDAGOptions]) -> SubDAG:
        """Make a node that is another DAG and comes after this one; see `SubDAG`."""
        made = self._dag.subdag(**kwargs)
        self._dag.connect(self, made, edge)
        return made

    def parent_subdag(
        self, edge: BaseEdge | None = None, **kwargs: Unpack[SubDAGOptions]
    ) -> SubDAG:
        """Make a node that is another DAG and comes before this one; see `SubDAG`."""
        made = self._dag.subdag(**kwargs)
        self._dag.connect(made, self, edge)
        return made

    # -- Relatives that there are -----------------------------------------------------------

    def add_children(self, *nodes: Iterable[BaseNode], edge: BaseEdge | None = None) -> Self:
        """Have nodes come after this one."""
        for node in itertools.chain(*nodes):
            self._dag.connect(self, node, edge)
        return self

    def remove_children(self, *nodes: Iterable[BaseNode]) -> Self:
        """Have nodes no longer come after this one.

        Compat: in the wheel this and `remove_parents` fail (shown by test_edges_can_be_removed).
        """
        for node in itertools.chain(*nodes):
            self._dag.disconnect(self, node)
        return self

    def add_parents(self, *nodes: Iterable[BaseNode], edge: BaseEdge | None = None) -> Self:
        """Have nodes come before this one."""
        for node in itertools.chain(*nodes):
            self._dag.connect(node, self, edge)
        return self

    def remove_parents(self, *nodes: Iterable[BaseNode]) -> Self:
        """Have nodes no longer come before this one."""
        for node in itertools.chain(*nodes):
            self._dag.disconnect(node, self)
        return self

    @property
    def children(self) -> Nodes:
        """The nodes that come right after this one."""
        return self._dag.children_of(self)

    @property
    def parents(self) -> Nodes:
        """The nodes that come right before this one."""
        return self._dag.parents_of(self)

    def walk_ancestors(self, order: WalkOrder = WalkOrder.DEPTH_FIRST) -> Iterator[BaseNode]:
        """Yield every node that comes before this one, each once."""
        return self._dag.walk_ancestors(self, order)

    def walk_descendants(self, order: WalkOrder = WalkOrder.DEPTH_FIRST) -> Iterator[BaseNode]:
        """Yield every node that comes after this one, each once."""
        return self._dag.walk_descendants(self, order)


class NodeLayer(BaseNode):
    """Jobs of one description, which differ in the values of its variables."""

    def __init__(
        self,
        dag: Graph,
        *,
        submit_description: Description | None = None,
        vars: Iterable[Mapping[str, Any]] | None = None,  # noqa: A002 - the wheel's name
        **kwargs: Unpack[NodeOptions],
    ) -> None:
        """Take a description or submit file, and the variables of each job; one job without."""
        super().__init__(dag, **kwargs)
        self.submit_description = submit_description or dag.new_description()
        self.vars: list[Mapping[str, Any]] = [{}] if vars is None else list(vars)

    def __len__(self) -> int:
        return len(self.vars)


class SubDAG(BaseNode):
    """Another DAG, which runs as one node of this one."""

    def __init__(self, dag: Graph, *, dag_file: Path | str, **kwargs: Unpack[NodeOptions]) -> None:
        """Take where the other DAG's file is or will be."""
        super().__init__(dag, **kwargs)
        self.dag_file = dag_file


class FinalNode(BaseNode):
    """The job that runs at the end, however the DAG ended."""

    def __init__(
        self,
        dag: Graph,
        submit_description: Description | None = None,
        **kwargs: Unpack[NodeOptions],
    ) -> None:
        """Take a description or submit file."""
        super().__init__(dag, **kwargs)
        self.submit_description = submit_description or dag.new_description()


class Nodes:
    """Some nodes of a graph, each once. What is done to it is done to each of them."""

    def __init__(self, *nodes: Iterable[BaseNode]) -> None:
        self.nodes = {node.name: node for node in itertools.chain(*nodes)}

    def __eq__(self, other: object) -> bool:
        return self.nodes == other.nodes if isinstance(other, Nodes) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[BaseNode]:
        return iter(self.nodes.values())

    def __contains__(self, node: object) -> bool:
        return node in (self.nodes if isinstance(node, str) else self.nodes.values())

    def __repr__(self) -> str:
        return f"Nodes({', '.join(repr(self.nodes[name]) for name in sorted(self.nodes))})"

    def _any(self) -> BaseNode:
        return next(iter(self))

    def child_layer(
        self,
        type: BaseEdge | None = None,  # noqa: A002 - the wheel's name
        **kwargs: Unpack[LayerOptions],
    ) -> NodeLayer:
        """Make a layer that comes after all of these nodes."""
        return self._any().child_layer(**kwargs).add_parents(self, edge=type)

    def parent_layer(
        self,
        type: BaseEdge | None = None,  # noqa: A002
        **kwargs: Unpack[LayerOptions],
    ) -> NodeLayer:
        """Make a layer that comes before all of these nodes."""
        return self._any().parent_layer(**kwargs).add_children(self, edge=type)

    def child_subdag(
        self,
        type: BaseEdge | None = None,  # noqa: A002
        **kwargs: Unpack[SubDAGOptions],
    ) -> SubDAG:
        """Make a node that is another DAG and comes after all of these nodes."""
        return self._any().child_subdag(**kwargs).add_parents(self, edge=type)

    def parent_subdag(
        self,
        type: BaseEdge | None = None,  # noqa: A002
        **kwargs: Unpack[SubDAGOptions],
    ) -> SubDAG:
        """Make a node that is another DAG and comes before all of these nodes."""
        return self._any().parent_subdag(**kwargs).add_children(self, edge=type)

    def add_children(
        self,
        *nodes: Iterable[BaseNode],
        type: BaseEdge | None = None,  # noqa: A002
    ) -> Self:
        """Have nodes come after each of these."""
        for node in self:
            node.add_children(*nodes, edge=type)
        return self

    def remove_children(self, *nodes: Iterable[BaseNode]) -> Self:
        """Have nodes no longer come after any of these."""
        for node in self:
            node.remove_children(*nodes)
        return self

    def add_parents(
        self,
        *nodes: Iterable[BaseNode],
        type: BaseEdge | None = None,  # noqa: A002
    ) -> Self:
        """Have nodes come before each of these."""
        for node in self:
            node.add_parents(*nodes, edge=type)
        return self

    def remove_parents(self, *nodes: Iterable[BaseNode]) -> Self:
        """Have nodes no longer come before any of these."""
        for node in self:
            node.remove_parents(*nodes)
        return self

    def walk_ancestors(self, order: WalkOrder = WalkOrder.DEPTH_FIRST) -> Iterator[BaseNode]:
        """Yield what comes before each of these nodes, one node's after the other's."""
        return itertools.chain.from_iterable(node.walk_ancestors(order) for node in self)

    def walk_descendants(self, order: WalkOrder = WalkOrder.DEPTH_FIRST) -> Iterator[BaseNode]:
        """Yield what comes after each of these nodes, one node's after the other's."""
        return itertools.chain.from_iterable(node.walk_descendants(order) for node in self)
