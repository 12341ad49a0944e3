"""The wheel's `htcondor2` by the same names, in Python, on Kettle's own client.

from kettle.compat import htcondor2
schedd = htcondor2.Schedd()
print(schedd.query("JobStatus == 1", ["ClusterId", "ProcId"]))
"""

from __future__ import annotations

from kettle.compat import classad2 as classad
from kettle.compat.htcondor2.collector import Collector
from kettle.compat.htcondor2.credd import CredCheck, Credd
from kettle.compat.htcondor2.daemon_enums import (
    AdType,
    CompletionType,
    CredType,
    DaemonCommand,
    DaemonType,
    DrainType,
    LogLevel,
    SubsystemType,
    VacateType,
)
from kettle.compat.htcondor2.dagman import DAGMan
from kettle.compat.htcondor2.errors import HTCondorException
from kettle.compat.htcondor2.job_enums import (
    CommonFilesEventType,
    FileTransferEventType,
    HistorySrc,
    JobAction,
    JobEventType,
    JobStatus,
    QueryOpt,
    SubmitMethod,
    TransactionFlag,
)
from kettle.compat.htcondor2.job_event_log import JobEvent, JobEventLog
from kettle.compat.htcondor2.loose import (
    disable_debug,
    enable_debug,
    enable_log,
    log,
    platform,
    reload_config,
    send_alive,
    send_command,
    set_ready_state,
    set_subsystem,
    version,
)
from kettle.compat.htcondor2.negotiator import Negotiator
from kettle.compat.htcondor2.param import RemoteParam, param
from kettle.compat.htcondor2.placementd import Placementd
from kettle.compat.htcondor2.schedd import Schedd
from kettle.compat.htcondor2.security import SecurityContext, ping
from kettle.compat.htcondor2.startd import Startd
from kettle.compat.htcondor2.submit import Submit
from kettle.compat.htcondor2.submit_result import SubmitResult
from kettle.compat.htcondor2.user_maps import (
    load_a_config_usermap_file,
    reload_config_usermaps,
)

# As version 1 has them.
AdTypes = AdType
CredTypes = CredType
DaemonCommands = DaemonCommand
DaemonTypes = DaemonType
DrainTypes = DrainType
QueryOpts = QueryOpt
TransactionFlags = TransactionFlag

__all__ = [
    "AdType",
    "AdTypes",
    "Collector",
    "CommonFilesEventType",
    "CompletionType",
    "CredCheck",
    "CredType",
    "CredTypes",
    "Credd",
    "DAGMan",
    "DaemonCommand",
    "DaemonCommands",
    "DaemonType",
    "DaemonTypes",
    "DrainType",
    "DrainTypes",
    "FileTransferEventType",
    "HTCondorException",
    "HistorySrc",
    "JobAction",
    "JobEvent",
    "JobEventLog",
    "JobEventType",
    "JobStatus",
    "LogLevel",
    "Negotiator",
    "Placementd",
    "QueryOpt",
    "QueryOpts",
    "RemoteParam",
    "Schedd",
    "SecurityContext",
    "Startd",
    "Submit",
    "SubmitMethod",
    "SubmitResult",
    "SubsystemType",
    "TransactionFlag",
    "TransactionFlags",
    "VacateType",
    "classad",
    "disable_debug",
    "enable_debug",
    "enable_log",
    "load_a_config_usermap_file",
    "log",
    "param",
    "ping",
    "platform",
    "reload_config",
    "reload_config_usermaps",
    "send_alive",
    "send_command",
    "set_ready_state",
    "set_subsystem",
    "version",
]
