"""`DAG`: a graph of layers of jobs, and what DAGMan is told of the whole."""

from __future__ import annotations

import collections
import fnmatch
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Unpack

from kettle.compat.htcondor2.dags.edges import BaseEdge, ManyToMany
from kettle.compat.htcondor2.dags.exceptions import (
    DAGsException,
    DuplicateNodeName,
    UnrecognizedWalkOrder,
)
from kettle.compat.htcondor2.dags.node import (
    BaseNode,
    FinalNode,
    FinalOptions,
    LayerOptions,
    NodeLayer,
    Nodes,
    SubDAG,
    SubDAGOptions,
)
from kettle.compat.htcondor2.dags.texts import described, table
from kettle.compat.htcondor2.dags.walk_order import WalkOrder
from kettle.compat.htcondor2.submit import Submit

Relatives = dict[BaseNode, dict[BaseNode, BaseEdge]]
"""A node's parents or children, and by which edge."""


class DotConfig:
    """Where DAGMan draws the graph, and how often."""

    def __init__(
        self,
        path: Path | str,
        update: bool = False,
        overwrite: bool = True,
        include_file: Path | str | None = None,
    ) -> None:
        """Take the file; whether it follows the run, in one file; and a file to take over."""
        self.path = Path(path)
        self.update = update
        self.overwrite = overwrite
        self.include_file = None if include_file is None else Path(include_file)

    def __repr__(self) -> str:
        return described(self, "path", "update", "overwrite", "include_file")


class NodeStatusFile:
    """Where DAGMan tells how far each node is, and how often."""

    def __init__(
        self,
        path: Path | str,
        update_time: int | None = None,
        always_update: bool | None = False,
    ) -> None:
        """Take the file, the seconds between two writings, and whether without news as well."""
        self.path = Path(path)
        self.update_time = update_time
        self.always_update = always_update

    def __repr__(self) -> str:
        return described(self, "path", "update_time", "always_update")


class DAG:
    """A graph: its layers and other DAGs, what comes before what, and DAGMan's settings."""

    def __init__(
        self,
        dagman_config: Mapping[str, Any] | None = None,
        dagman_job_attributes: Mapping[str, Any] | None = None,
        max_jobs_by_category: Mapping[str, int] | None = None,
        dot_config: DotConfig | None = None,
        jobstate_log: Path | str | None = None,
        node_status_file: NodeStatusFile | None = None,
    ) -> None:
        """Take DAGMan's configuration, attributes of its job, how many jobs of a category may run.

        Then come the drawing, the log of states, and the file of the nodes' status.
        """
        self._nodes: dict[str, BaseNode] = {}
        self._children: Relatives = {}
        self._parents: Relatives = {}
        self.final_node: FinalNode | None = None
        self.jobstate_log = None if jobstate_log is None else Path(jobstate_log)
        self.max_jobs_per_category = max_jobs_by_category or {}
        self.dagman_config = dagman_config or {}
        self.dagman_job_attrs = dagman_job_attributes or {}
        self.dot_config = dot_config
        self.node_status_file = node_status_file

    @staticmethod
    def new_description() -> Submit:
        """Return the description of a node that is given none."""
        return Submit()

    # -- Nodes ------------------------------------------------------------------------------

    def layer(self, **kwargs: Unpack[LayerOptions]) -> NodeLayer:
        """Make a layer that has no relatives; see `NodeLayer`."""
        self._check_name(kwargs["name"])
        made = NodeLayer(self, **kwargs)
        self._add(made)
        return made

    def subdag(self, **kwargs: Unpack[SubDAGOptions]) -> SubDAG:
        """Make a node that is another DAG and has no relatives; see `SubDAG`."""
        self._check_name(kwargs["name"])
        made = SubDAG(self, **kwargs)
        self._add(made)
        return made

    def final(self, **kwargs: Unpack[FinalOptions]) -> FinalNode:
        """Make the final node, in place of one made before; see `FinalNode`."""
        self._check_name(kwargs["name"])
        self.final_node = FinalNode(self, **kwargs)
        return self.final_node

    def _add(self, node: BaseNode) -> None:
        self._nodes[node.name] = node
        self._children[node], self._parents[node] = {}, {}

    def _check_name(self, name: str) -> None:
        other = self._nodes.get(name)
        if other is None and self.final_node is not None and self.final_node.name == name:
            other = self.final_node
        if other is not None:
            raise DuplicateNodeName(f"the graph has a node of the name {name}: {other}")

    def __contains__(self, node: object) -> bool:
        return node in (self._nodes if isinstance(node, str) else self._nodes.values())

    @property
    def nodes(self) -> Nodes:
        """All nodes but the final one."""
        return Nodes(self._nodes.values())

    def select(self, selector: Callable[[BaseNode], bool]) -> Nodes:
        """Return the nodes for which a function is true."""
        return Nodes(filter(selector, self._nodes.values()))

    def glob(self, pattern: str) -> Nodes:
        """Return the nodes whose names fit a pattern with `*`, `?` and `[…]`."""
        return self.select(lambda node: fnmatch.fnmatchcase(node.name, pattern))

    @property
    def roots(self) -> Nodes:
        """The nodes that nothing comes before."""
        return self.select(lambda node: not self._parents[node])

    @property
    def leaves(self) -> Nodes:
        """The nodes that nothing comes after."""
        return self.select(lambda node: not self._children[node])

    # -- Edges ------------------------------------------------------------------------------

    def connect(self, parent: BaseNode, child: BaseNode, edge: BaseEdge | None) -> None:
        """Have a node come before another one, all before all if no edge is given."""
        for node in (parent, child):
            if node not in self._children:
                raise DAGsException(f"{node} is not among the nodes of this graph")
        real = ManyToMany() if edge is None else edge
        self._children[parent][child] = self._parents[child][parent] = real

    def disconnect(self, parent: BaseNode, child: BaseNode) -> None:
        """Have a node no longer come before another one."""
        self._children[parent].pop(child, None)
        self._parents[child].pop(parent, None)

    @property
    def edges(self) -> Iterator[tuple[BaseNode, BaseNode]]:
        """Each two nodes of which the first comes right before the second."""
        return ((one, other) for one, others in self._children.items() for other in others)

    def edges_from(self, parent: BaseNode) -> Iterator[tuple[BaseNode, BaseEdge]]:
        """Yield each node that comes right after another one, and by which edge."""
        yield from self._children[parent].items()

    def children_of(self, node: BaseNode) -> Nodes:
        """Return what comes right after a node."""
        return Nodes(self._children[node])

    def parents_of(self, node: BaseNode) -> Nodes:
        """Return what comes right before a node."""
        return Nodes(self._parents[node])

    @property
    def node_to_children(self) -> dict[BaseNode, Nodes]:
        """What comes right after each node."""
        return {node: self.children_of(node) for node in self._nodes.values()}

    @property
    def node_to_parents(self) -> dict[BaseNode, Nodes]:
        """What comes right before each node."""
        return {node: self.parents_of(node) for node in self._nodes.values()}

    # -- Walks ------------------------------------------------------------------------------

    def walk(self, order: WalkOrder = WalkOrder.DEPTH_FIRST) -> Iterator[BaseNode]:
        """Yield every node once, from those that nothing comes before."""
        return self._walk(self.roots, self._children, order)

    def walk_ancestors(
        self, node: BaseNode, order: WalkOrder = WalkOrder.DEPTH_FIRST
    ) -> Iterator[BaseNode]:
        """Yield every node that comes before one, each once."""
        return self._walk(self.parents_of(node), self._parents, order)

    def walk_descendants(
        self, node: BaseNode, order: WalkOrder = WalkOrder.DEPTH_FIRST
    ) -> Iterator[BaseNode]:
        """Yield every node that comes after one, each once."""
        return self._walk(self.children_of(node), self._children, order)

    def _walk(self, first: Nodes, further: Relatives, order: WalkOrder) -> Iterator[BaseNode]:
        seen: set[BaseNode] = set()
        waiting = collections.deque(first)
        while waiting:
            if order is WalkOrder.DEPTH_FIRST:
                node = waiting.pop()
            elif order is WalkOrder.BREADTH_FIRST:
                node = waiting.popleft()
            else:
                raise UnrecognizedWalkOrder(f"{order!r} is no order to walk in: see WalkOrder")
            if node not in seen:
                seen.add(node)
                waiting.extend(further[node])
                yield node

    def describe(self) -> str:
        """Return a table of the nodes: their kind, name, jobs, and relatives."""
        return table([self._row(node) for node in self.walk(WalkOrder.BREADTH_FIRST)])

    def _row(self, node: BaseNode) -> tuple[str, ...]:
        is_layer = isinstance(node, NodeLayer)
        parents = (f"{one.name}[{edge}]" for one, edge in self._parents[node].items())
        return (
            "Layer" if is_layer else "SubDAG",
            node.name,
            str(len(node)) if is_layer else "",
            str(len(self._children[node])),
            ", ".join(parents),
        )
