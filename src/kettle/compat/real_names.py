"""The wheel's own names for the modules here, which the distribution `kettle-htcondor` installs."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Final

_WHEEL: Final = "htcondor-*.dist-info"
_HERE: Final = "kettle.compat"
# The wheel's own modules, most with one class each: what pickles and some programs import by them.
_WHEELS: Final = {
    "classad2": {"ads": "_class_ad _expr_tree", "names": "_parser_type _value"},
    "htcondor2": {
        "collector": "_collector",
        "credd": "_cred_check _credd",
        "daemon_enums": "_ad_type _completion_type _cred_type _daemon_command _daemon_type "
        "_drain_type _log_level _subsystem_type _vacate_type",
        "dagman": "_dagman",
        "job_enums": "_common_files_event_type _file_transfer_event_type _history_src "
        "_job_action _job_event_type _job_status _query_opt _submit_method _transaction_flag",
        "job_event_log": "_job_event _job_event_log",
        "loose": "_loose_functions",
        "negotiator": "_negotiator",
        "param": "_remote_param",
        "placementd": "_placementd",
        "schedd": "_schedd",
        "security": "_security_context",
        "startd": "_startd",
        "submit": "_submit",
        "submit_result": "_submit_result",
    },
}
_HOMES: Final = {
    f"{package}.{word}": f"{package}.{ours}"
    for package, modules in _WHEELS.items()
    for ours, words in modules.items()
    for word in words.split()
}


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
    take_name(name)


def take_name(name: str) -> None:
    """Have `import name`, and of what is in it, mean the modules of this room."""
    sys.modules[name] = importlib.import_module(f"{_HERE}.{name}")
    if _PARTS not in sys.meta_path:
        sys.meta_path.insert(0, _PARTS)


class _Parts(MetaPathFinder, Loader):
    """Finds `htcondor2.dags` and its like: the module here, never a second one of the same code.

    Two of them would have two classes of each name, and what one raises the other would not catch.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        name, dot, _ = fullname.partition(".")
        ours = sys.modules.get(f"{_HERE}.{name}")
        if not dot or ours is None or sys.modules.get(name) is not ours:
            return None
        found = importlib.util.find_spec(_home(fullname))
        return None if found is None else ModuleSpec(fullname, self)

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        sys.modules[name] = importlib.import_module(_home(name))


def _home(name: str) -> str:
    """Return the module here that is meant by a name of the wheel's."""
    return f"{_HERE}.{_HOMES.get(name, name)}"


_PARTS: Final = _Parts()
