"""The built-in functions: one table a family, looked up by name without regard to case."""

from __future__ import annotations

from kettle.classad.functions.table import Function, LazyFunction, StrictFunction, find_function

__all__ = ["Function", "LazyFunction", "StrictFunction", "find_function"]
