"""Which jobs a method means: ids, lists of ids, clusters, constraints."""

from __future__ import annotations

import re

from kettle.compat.classad2 import ClassAdException, ExprTree
from kettle.structs import Struct

JobSpec = list[str] | str | ExprTree | int

_JOB = re.compile(r"\d+\.\d+")
_CLUSTER = re.compile(r"\d+")


class Chosen(Struct):
    """Jobs by their ids, or by a constraint where there are none."""

    ids: list[str]
    constraint: str = ""

    def expression(self) -> str:
        """Return what is true for these jobs alone."""
        if not self.ids:
            return self.constraint or "true"
        return " || ".join(_of_id(one) for one in self.ids)


def choose(spec: JobSpec) -> Chosen:
    """Return the jobs that a program means; TypeError or ValueError for what means none."""
    if isinstance(spec, list):
        return _of_list(spec)
    if isinstance(spec, int):
        return Chosen([], f"ClusterId == {spec}")
    if isinstance(spec, ExprTree):
        return Chosen([], str(spec))
    if isinstance(spec, str):
        return _of_text(spec)
    raise TypeError("The job_spec must be list of strings, a string, an int, or an ExprTree.")


def _of_list(spec: list[str]) -> Chosen:
    if not all(isinstance(one, str) for one in spec):
        raise TypeError("All elements of the job_spec list must be strings.")
    if all(_JOB.fullmatch(one) for one in spec):
        # Compat: nobody is meant by an empty list, which to the wheel's schedd is no request
        # (test_an_empty_list_means_nobody).
        return Chosen(spec) if spec else Chosen([], "false")
    if not all(_JOB.fullmatch(one) or _CLUSTER.fullmatch(one) for one in spec):
        raise ValueError(
            "All elements of the job_spec list must be strings of the form clusterID[.procID]"
        )
    return Chosen([], " || ".join(_of_id(one) for one in spec))


def _of_text(spec: str) -> Chosen:
    if _JOB.fullmatch(spec):
        return Chosen([spec])
    if _CLUSTER.fullmatch(spec):
        return Chosen([], f"ClusterId == {spec}")
    try:
        ExprTree(spec)
    except ClassAdException:
        raise ValueError(
            "The job_spec string must be a clusterID[.procID] or the string form of an ExprTree."
        ) from None
    return Chosen([], spec)


def _of_id(one: str) -> str:
    cluster, _, proc = one.partition(".")
    return f"(ClusterId == {cluster} && ProcId == {proc})" if proc else f"(ClusterId == {cluster})"
