"""The options of `Submit.from_dag`: their names, their types, what they say to DAGMan."""

# ruff: noqa: E501 - a row a line
from __future__ import annotations

from typing import Final

from kettle.structs import Struct


class DagOption(Struct):
    """One option: its type, what it is for, and the argument of `condor_dagman` that it becomes.

    An argument ends with a blank where the value follows; without one, a true value alone is said.
    What is no argument changes the description otherwise.
    """

    name: str
    kind: str
    doc: str
    argument: str = ""


# fmt: off
OPTIONS: Final = (
    DagOption("AddToEnv", "string", "variables to set for DAGMan, NAME=VALUE"),
    DagOption("AllowVersionMismatch", "bool", "accept a description of another version", "-AllowVersionMismatch"),
    DagOption("AppendFile", "string", "a file whose lines are added to the description"),
    DagOption("AutoRescue", "integer", "1: go on from the newest rescue file by itself", "-AutoRescue "),
    DagOption("BatchName", "string", "the batch name of the workflow"),
    DagOption("ConfigFile", "string", "a configuration file for this workflow", "-Config "),
    DagOption("DagmanPath", "string", "the program condor_dagman"),
    DagOption("DebugLevel", "integer", "how much DAGMan tells, 0 to 7", "-Debug "),
    DagOption("DoRecovery", "bool", "read the event log first, as after a crash", "-DoRecov"),
    DagOption("DoRescueFrom", "integer", "go on from the rescue file of this number", "-DoRescueFrom "),
    DagOption("Force", "bool", "overwrite files of an earlier run", "-force"),
    DagOption("GetFromEnv", "string", "names of variables that DAGMan gets from here"),
    DagOption("ImportEnv", "bool", "give DAGMan all variables of here", "-Import_env"),
    DagOption("LockFile", "string", "the lock of the workflow"),
    DagOption("MaxHold", "integer", "hold scripts at a time, 0 for all", "-MaxHold "),
    DagOption("MaxIdle", "integer", "idle nodes at a time, 0 for all", "-MaxIdle "),
    DagOption("MaxJobs", "integer", "submitted nodes at a time, 0 for all", "-MaxJobs "),
    DagOption("MaxPost", "integer", "post scripts at a time, 0 for all", "-MaxPost "),
    DagOption("MaxPre", "integer", "pre scripts at a time, 0 for all", "-MaxPre "),
    DagOption("Notification", "string", "when its owner gets mail", "-Notification "),
    DagOption("OutfileDir", "string", "the folder of DAGMan's own log", "-Outfile_dir "),
    DagOption("PostRun", "bool", "run a post script also if its pre script failed", "-AlwaysRunPost"),
    DagOption("Priority", "integer", "the least priority of the nodes' jobs", "-Priority "),
    DagOption("RescueFile", "string", "go on from this rescue file", "-DoRescueFile "),
    DagOption("RunValgrind", "bool", "run DAGMan under valgrind"),
    DagOption("SaveFile", "string", "go on from this save point", "-Load_save "),
    DagOption("ScheddAddressFile", "string", "the address file of the schedd", "-Schedd-Address-File "),
    DagOption("ScheddDaemonAdFile", "string", "the ad file of the schedd", "-Schedd-Daemon-Ad-File "),
    DagOption("SubmitMethod", "integer", "1: DAGMan submits by itself", "-SubmitMethod "),
    DagOption("SuppressNotification", "bool", "no mail about the nodes' jobs", "-Suppress_notification"),
    DagOption("UpdateSubmit", "bool", "write the description anew if it is there", "-Update_submit"),
    DagOption("UseDagDir", "bool", "run each DAG in its file's folder", "-UseDagDir"),
)
# fmt: on
_BY_NAME: Final = {option.name.lower(): option for option in OPTIONS}
# What options are called on the command line of condor_submit_dag.
_OTHER_NAMES: Final = {
    "dagman": "DagmanPath",
    "schedd-daemon-ad-file": "ScheddDaemonAdFile",
    "schedd-address-file": "ScheddAddressFile",
    "alwaysrunpost": "PostRun",
    "debug": "DebugLevel",
    "outfile_dir": "OutfileDir",
    "config": "ConfigFile",
    "batch-name": "BatchName",
    "load_save": "SaveFile",
    "update_submit": "UpdateSubmit",
    "import_env": "ImportEnv",
    "include_env": "GetFromEnv",
    "insert_env": "AddToEnv",
    "valgrind": "RunValgrind",
    "suppress_notification": "SuppressNotification",
    "dorecov": "DoRecovery",
}
_TRUE: Final = frozenset({"true", "1", "yes", "t", "y"})
_FALSE: Final = frozenset({"false", "0", "no", "f", "n"})


def find_option(name: str) -> DagOption | None:
    """Return the option of a name, or of its name on the command line; None if there is none."""
    return _BY_NAME.get(_OTHER_NAMES.get(name.lower(), name).lower())


def read_options(given: dict[str, int | bool | str]) -> dict[str, int | bool | str]:
    """Return options by their own names, with values of their types.

    Raises TypeError for a value of another type, KeyError for a name that is none, ValueError for
    an empty one.
    """
    found: dict[str, int | bool | str] = {}
    for name, value in given.items():
        if not isinstance(name, str):
            raise TypeError("options keys must by strings")
        if not name:
            raise ValueError("options key is empty")
        if not isinstance(value, int | str):
            raise TypeError("options values must be int, bool, or str")
        option = find_option(name)
        if option is None:
            raise KeyError(f"{name} is not a recognized DAGMan option")
        found[option.name] = _value_of(option, name, str(value))
    return found


def _value_of(option: DagOption, name: str, text: str) -> int | bool | str:
    if option.kind == "string":
        return text
    if option.kind == "bool" and text.lower() in _TRUE | _FALSE:
        return text.lower() in _TRUE
    if option.kind == "integer":
        try:
            return int(text)
        except ValueError:
            pass
    raise TypeError(f"option {name} value needs to be a {option.kind}")


def show_options() -> None:
    """Print the options, one a line."""
    for option in OPTIONS:
        print(f"{option.name:>23} : {f'({option.kind})':<11} | {option.doc}")  # noqa: T201
