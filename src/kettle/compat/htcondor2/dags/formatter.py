"""What the jobs of a layer are called in the file of a DAG, and whose name that is."""

from __future__ import annotations

import abc
from typing import Final

from kettle.compat.htcondor2.dags.exceptions import (
    CannotInvertFormat,
    LayerNameContainsSeparator,
)

DEFAULT_SEPARATOR: Final = ":"


class NodeNameFormatter(abc.ABC):
    """How a job is named after its layer and number. What can be read back can be rescued."""

    @abc.abstractmethod
    def generate(self, layer_name: str, node_index: int) -> str:
        """Return the name of one job of a layer."""

    @abc.abstractmethod
    def parse(self, node_name: str) -> tuple[str, int]:
        """Return the layer and the number that a name was made of."""


class SimpleFormatter(NodeNameFormatter):
    """Names such as `layer:5`: the layer, a separator, the number."""

    def __init__(
        self, separator: str = DEFAULT_SEPARATOR, index_format: str = "{:d}", offset: int = 0
    ) -> None:
        self.separator = separator
        self.index_format = index_format
        self.offset = offset

    def generate(self, layer_name: str, node_index: int) -> str:
        """Return the name of one job of a layer, which must be one that can be read back."""
        if self.separator in layer_name:
            raise LayerNameContainsSeparator(
                f"the name of the layer {layer_name} contains {self.separator!r}, which stands "
                "between the layer and the number of a job"
            )
        number = self.index_format.format(node_index + self.offset)
        name = f"{layer_name}{self.separator}{number}"
        if self.parse(name) != (layer_name, node_index):
            raise _cannot_invert(name)
        return name

    def parse(self, node_name: str) -> tuple[str, int]:
        """Return the layer and the number that a name was made of."""
        layer, _, number = node_name.partition(self.separator)
        try:
            return layer, int(number) - self.offset
        except ValueError as error:
            raise _cannot_invert(node_name) from error


def _cannot_invert(name: str) -> CannotInvertFormat:
    return CannotInvertFormat(f"the job's name {name} does not say its layer and its number")
