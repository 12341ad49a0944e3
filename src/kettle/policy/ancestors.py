"""By which variables of their environment processes of jobs are found again, whoever adopts them.

One for each level, startd or schedd and starter, as the reference has them.
"""

from __future__ import annotations


def ancestor(daemon: int) -> str:
    """Return the name of the variable that says whom a daemon, by its number, has below it."""
    return f"_CONDOR_ANCESTOR_{daemon}"


def ancestor_mark(daemon: int, below: int) -> str:
    """Return how that variable begins, name and value, of what this process below it begins."""
    return f"{ancestor(daemon)}={below}:"
