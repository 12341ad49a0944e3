"""Record the public names of the wheel's `htcondor2`: tests/data/wheel/htcondor2.json.

$KETTLE_WHEEL_PYTHON .ci/record_surface.py
"""

from __future__ import annotations

import enum
import inspect
import json
import types
from pathlib import Path
from typing import Any

import htcondor2

TARGET = Path(__file__).parents[1] / "tests/data/wheel/htcondor2.json"


def parameters(function: Any) -> list[list[str]] | None:
    """Return name, kind and default of each parameter, None where nobody can tell."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return [
        [one.name, one.kind.name, "" if one.default is one.empty else shown(one.default)]
        for one in found
    ]


def shown(value: object) -> str:
    """Return a default as text; an object without a text of its own is `object`."""
    return "object" if type(value) is object else repr(value)


def describe(value: Any) -> dict[str, Any]:
    """Return what a program can see of a public name."""
    if isinstance(value, type) and issubclass(value, enum.Enum):
        return {
            "kind": "enumeration",
            "base": "IntFlag" if issubclass(value, enum.IntFlag) else "IntEnum",
            "members": {name: int(one) for name, one in value.__members__.items()},
            "repr": [repr(one) for one in value],
        }
    if isinstance(value, type):
        public = sorted(name for name in dir(value) if not name.startswith("_"))
        return {
            "kind": "class",
            "made by": parameters(value),
            "members": {name: describe_member(getattr(value, name)) for name in public},
        }
    if callable(value):
        return {"kind": "function", "parameters": parameters(value)}
    return {"kind": "object", "mapping": hasattr(value, "keys")}


def describe_member(value: Any) -> Any:
    """Return a method's parameters, or what else it is."""
    if isinstance(value, property):
        return "property"
    if isinstance(value, type):
        return "class"
    return parameters(value)


def surface(module: Any) -> dict[str, Any]:
    """Return the public names of a module that are its own."""
    return {
        name: describe(value)
        for name, value in sorted(vars(module).items())
        if not name.startswith("_")
        and not isinstance(value, types.ModuleType)
        and getattr(value, "__module__", "") not in {"typing", "__future__"}
    }


if __name__ == "__main__":
    TARGET.write_text(json.dumps(surface(htcondor2), indent=1) + "\n")
