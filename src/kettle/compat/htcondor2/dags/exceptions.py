"""What is wrong with a graph of jobs, or with its rescue file."""

from __future__ import annotations


class DAGsException(Exception):  # noqa: N818 - the wheel's name
    """A graph that cannot be written, walked or read back; raised itself for what has no name."""


class OneToOneEdgeNeedsSameNumberOfVars(DAGsException):
    """Layers of different sizes are connected one to one."""


class IncompatibleGrouper(DAGsException):
    """Layers cannot be cut into the same number of equal groups."""


class DuplicateNodeName(DAGsException):
    """A graph has a node of that name."""


class UnrecognizedWalkOrder(DAGsException):
    """An order to walk in is none of `WalkOrder`."""


class LayerNameContainsSeparator(DAGsException):
    """A layer's name has what stands between the name and the number of a job."""


class NoRescueFileFound(DAGsException):
    """A folder has no rescue file of the DAG."""


class CannotInvertFormat(DAGsException):
    """A job's name does not say which layer and number it was made of."""
