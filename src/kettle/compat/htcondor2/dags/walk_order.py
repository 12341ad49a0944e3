"""The orders in which a graph can be walked."""

from __future__ import annotations

import enum


class WalkOrder(str, enum.Enum):  # noqa: UP042 - str() of a member is its name, as in the wheel
    """Relatives first, or siblings first."""

    DEPTH_FIRST = "DEPTH"
    BREADTH_FIRST = "BREADTH"

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self}"
