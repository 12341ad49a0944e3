"""The wheel's `htcondor.dags` by the same names: the graphs of version 2 with its own `Submit`."""

from __future__ import annotations

from kettle.compat.htcondor.submit import Submit
from kettle.compat.htcondor2 import dags
from kettle.compat.htcondor2.dags import *  # noqa: F403 - the same names but one

__all__ = [*dags.__all__]


class DAG(dags.DAG):  # type: ignore[no-redef]
    """A graph whose nodes have descriptions of version 1 where they are given none."""

    @staticmethod
    def new_description() -> Submit:
        """Return the description of a node that is given none."""
        return Submit()
