"""Enumerations whose members are keys: states, events and steps of what is decided by tables."""

from __future__ import annotations

from enum import Enum


class Choice(Enum):
    """One of a few, told apart by which it is, and found in a dictionary as fast as any object.

    Enum's own hash is a call of Python that asks for the name: a job costs dozens of these.
    """

    __hash__ = object.__hash__
