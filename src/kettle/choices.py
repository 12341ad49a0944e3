"""Enumerations whose members are keys: states, events and steps of what is decided by tables."""

from __future__ import annotations

from enum import Enum


class Choice(Enum):
    """One of a few, told apart by which it is, and found in a dictionary as fast as any object.

    Enum's own hash is a call of Python that asks for the name: a job costs dozens of these. This
    one is an address, so the order of a set of members is another in each process: what is done for
    each of several is a tuple, or a seed of the simulation would not tell the same again.
    """

    __hash__ = object.__hash__
