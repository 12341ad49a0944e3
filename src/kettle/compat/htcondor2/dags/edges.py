"""How the jobs of a layer depend on those of another one."""

from __future__ import annotations

import abc
from collections.abc import Iterable, Iterator, Sequence, Sized

from kettle.compat.htcondor2.dags.exceptions import (
    IncompatibleGrouper,
    OneToOneEdgeNeedsSameNumberOfVars,
)
from kettle.compat.htcondor2.dags.texts import described

_EVERYTHING = slice(None)


class JoinNode:
    """A job of no work that stands between two groups of jobs."""

    def __init__(self, id: int) -> None:  # noqa: A002 - the wheel's name
        self.id = id


class JoinFactory:
    """Makes the joins of one DAG, numbered from 0."""

    def __init__(self) -> None:
        self.joins: list[JoinNode] = []

    def get_join_node(self) -> JoinNode:
        """Return a new join."""
        made = JoinNode(len(self.joins))
        self.joins.append(made)
        return made


Group = tuple[int, ...] | JoinNode
"""The numbers of some jobs of a layer, or a join in their place."""


class BaseEdge(abc.ABC):
    """Which jobs of a parent layer come before which jobs of a child layer."""

    @abc.abstractmethod
    def get_edges(
        self, parent: Sized, child: Sized, join_factory: JoinFactory
    ) -> Iterable[tuple[Group, Group]]:
        """Return pairs of groups: all jobs of the first come before all of the second.

        One of them may be a join of the factory's, not both.
        """

    def __repr__(self) -> str:
        return type(self).__name__


class ManyToMany(BaseEdge):
    """Every job of the parent comes before every job of the child."""

    def get_edges(
        self, parent: Sized, child: Sized, join_factory: JoinFactory
    ) -> Iterator[tuple[Group, Group]]:
        """Return one pair of groups, or two with a join where both have several jobs."""
        parents, children = _all(parent), _all(child)
        if len(parents) == 1 or len(children) == 1:
            yield parents, children
        else:
            yield from _joined(parents, children, join_factory)


class OneToOne(BaseEdge):
    """Every job of the parent comes before the job of the child that has its number."""

    def get_edges(
        self, parent: Sized, child: Sized, join_factory: JoinFactory
    ) -> Iterator[tuple[Group, Group]]:
        """Return a pair for each number."""
        del join_factory
        if len(parent) != len(child):
            raise OneToOneEdgeNeedsSameNumberOfVars(
                f"the layer {parent} has {len(parent)} jobs and its child {child} has "
                f"{len(child)}: they cannot be connected one to one"
            )
        yield from (((number,), (number,)) for number in range(len(parent)))


class Grouper(BaseEdge):
    """Groups of the parent's jobs come each before the group of the child's with its number."""

    def __init__(self, parent_chunk_size: int = 1, child_chunk_size: int = 1) -> None:
        """Take how many jobs make a group. Both layers must have as many groups."""
        self.parent_chunk_size = parent_chunk_size
        self.child_chunk_size = child_chunk_size

    def get_edges(
        self, parent: Sized, child: Sized, join_factory: JoinFactory
    ) -> Iterator[tuple[Group, Group]]:
        """Return a join and its two pairs for each group."""
        parents = self._groups(parent, self.parent_chunk_size)
        children = self._groups(child, self.child_chunk_size)
        if len(parents) != len(children):
            raise IncompatibleGrouper(
                f"{self} makes {len(parents)} groups of the layer {parent} and {len(children)} of "
                f"its child {child}"
            )
        for one, other in zip(parents, children, strict=True):
            yield from _joined(one, other, join_factory)

    def _groups(self, layer: Sized, size: int) -> list[tuple[int, ...]]:
        if size < 1 or len(layer) % size:
            raise IncompatibleGrouper(
                f"{self} cannot divide the {len(layer)} jobs of the layer {layer} into groups "
                f"of {size}"
            )
        return [tuple(range(at, at + size)) for at in range(0, len(layer), size)]

    def __repr__(self) -> str:
        return described(self, "parent_chunk_size", "child_chunk_size")


class Slicer(BaseEdge):
    """Chosen jobs of the parent come each before a chosen job of the child, in their order."""

    def __init__(self, parent_slice: slice = _EVERYTHING, child_slice: slice = _EVERYTHING) -> None:
        """Take which jobs are chosen; those that have no partner are left alone."""
        self.parent_slice = parent_slice
        self.child_slice = child_slice

    def get_edges(
        self, parent: Sized, child: Sized, join_factory: JoinFactory
    ) -> Iterator[tuple[Group, Group]]:
        """Return a pair for each two jobs."""
        del join_factory
        pairs = zip(
            _chosen(parent, self.parent_slice), _chosen(child, self.child_slice), strict=False
        )
        yield from (((one,), (other,)) for one, other in pairs)

    def __repr__(self) -> str:
        return described(self, "parent_slice", "child_slice")


def _all(layer: Sized) -> tuple[int, ...]:
    return tuple(range(len(layer)))


def _chosen(layer: Sized, which: slice) -> Sequence[int]:
    return range(len(layer))[which]


def _joined(
    parents: tuple[int, ...], children: tuple[int, ...], join_factory: JoinFactory
) -> Iterator[tuple[Group, Group]]:
    join = join_factory.get_join_node()
    yield parents, join
    yield join, children
