"""What an evaluation may ask of the world, by the name that the language knows it by.

It is made in `kettle.ambient`, which loads nothing of the language: a program says at its start
what its world is, and may end without having evaluated anything.
"""

from __future__ import annotations

from kettle.ambient import AMBIENT, Context, UserMap, ambient, set_ambient

__all__ = ["AMBIENT", "Context", "UserMap", "ambient", "set_ambient"]
