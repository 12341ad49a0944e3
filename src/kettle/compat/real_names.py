"""The wheel's own names for the modules here, which the distribution `kettle-htcondor` installs."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

_WHEEL = "htcondor-*.dist-info"


def stand_in(name: str, file: str) -> None:
    """Have `import name` mean the module of this room; `file` is where the import found the name.

    Raises ImportError where the wheel is installed in the same folder: two distributions with
    files of the same names cannot both be whole, and nobody could tell whose module it is.
    """
    folder = Path(file).parent.parent
    found = sorted(folder.glob(_WHEEL))
    if found:
        version = found[0].name.removesuffix(".dist-info")
        raise ImportError(
            f"the modules of kettle-htcondor and of the wheel {version} have the same names and "
            f"are both in {folder}. Keep one: pip uninstall -y htcondor kettle-htcondor, and "
            "install again the one you want",
            name=name,
        )
    sys.modules[name] = _module(name)


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"kettle.compat.{name}")
