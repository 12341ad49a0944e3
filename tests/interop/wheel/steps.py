"""What the scripts here have in common: steps that are tried, and a report in JSON.

The scripts run with the wheel's interpreter, so nothing of Kettle's is imported here. A script
is given a folder to work in, does its steps, and prints what each returned or raised.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import classad2

WAIT_SECONDS = 120.0


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it; ads become objects, expressions their text."""
    if isinstance(value, classad2.ClassAd):
        return {name: plain(value.lookup(name)) for name in sorted(value.keys())}
    if isinstance(value, classad2.ExprTree):
        return str(value)
    if isinstance(value, classad2.Value):
        return value.name
    if isinstance(value, dict):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(one) for one in value]
    if isinstance(value, int | float | str | bool) or value is None:
        return value
    return repr(value)


class Steps:
    """The steps of one script, in order, with what came of each."""

    def __init__(self) -> None:
        self.seen: dict[str, Any] = {}

    def note(self, name: str, value: Any) -> None:
        """Report a value under this name."""
        self.seen[name] = plain(value)

    def attempt(self, name: str, function: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """Call the function, report what it returned or raised, and return it (None if raised)."""
        try:
            value = function(*given, **named)
        except Exception as error:
            self.seen[name] = {"raised": type(error).__name__, "text": str(error)}
            return None
        self.seen[name] = plain(value)
        return value

    def report(self) -> None:
        """Print everything."""
        json.dump(self.seen, sys.stdout, indent=1)
        sys.stdout.write("\n")


def wait_for(what: str, function: Callable[[], Any]) -> Any:
    """Return the first true value of the function; RuntimeError if it stays false."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not (value := function()):
        if time.monotonic() > deadline:
            raise RuntimeError(f"in {WAIT_SECONDS:.0f} s there was no {what}")
        time.sleep(0.05)
    return value
