"""The wheel's `htcondor` of version 1 (24) by the same names, upon `kettle.compat.htcondor2`.

from kettle.compat import htcondor
schedd = htcondor.Schedd()
with schedd.transaction() as transaction:
    htcondor.Submit({"executable": "/bin/true"}).queue(transaction)
"""

from __future__ import annotations

from kettle.attributes.version import VERSION
from kettle.compat import classad
from kettle.compat.htcondor.absent import (
    Claim,
    CredStatus,
    LogReader,
    ResourceRequestIterator,
    ScheddNegotiate,
)
from kettle.compat.htcondor.collector import Collector, DaemonLocation
from kettle.compat.htcondor.daemons import Credd, Negotiator, RemoteParam, Startd, param
from kettle.compat.htcondor.enums import (
    AdTypes,
    BlockingMode,
    CredTypes,
    DaemonCommands,
    DaemonTypes,
    DrainTypes,
    EntryType,
    FileTransferEventType,
    JobAction,
    JobEventType,
    LockType,
    LogLevel,
    ProvisionerState,
    QueryOpts,
    SubsystemType,
    TransactionFlags,
    VacateTypes,
)
from kettle.compat.htcondor.errors import (
    HTCondorEnumError,
    HTCondorInternalError,
    HTCondorIOError,
    HTCondorLocateError,
    HTCondorReplyError,
    HTCondorTypeError,
    HTCondorValueError,
)
from kettle.compat.htcondor.iterators import (
    BulkQueryIterator,
    HistoryIterator,
    QueryIterator,
    QueueItemsIterator,
    SubmitJobsIterator,
    poll,
)
from kettle.compat.htcondor.job_event_log import (
    EventIterator,
    JobEvent,
    JobEventLog,
    read_events,
)
from kettle.compat.htcondor.locks import FileLock, lock
from kettle.compat.htcondor.loose import (
    enable_classad_extensions,
    enable_debug,
    enable_log,
    log,
    reload_config,
    send_alive,
    send_command,
    set_ready_state,
    set_subsystem,
)
from kettle.compat.htcondor.schedd import EditResult, Schedd
from kettle.compat.htcondor.security import SecMan, Token
from kettle.compat.htcondor.submit import Submit
from kettle.compat.htcondor.token_request import TokenRequest
from kettle.compat.htcondor.transaction import SubmitResult, Transaction
from kettle.compat.htcondor2 import (
    CredCheck,
    HTCondorException,
    JobStatus,
    platform,
    version,
)

__version__ = VERSION

__all__ = [
    "AdTypes",
    "BlockingMode",
    "BulkQueryIterator",
    "Claim",
    "Collector",
    "CredCheck",
    "CredStatus",
    "CredTypes",
    "Credd",
    "DaemonCommands",
    "DaemonLocation",
    "DaemonTypes",
    "DrainTypes",
    "EditResult",
    "EntryType",
    "EventIterator",
    "FileLock",
    "FileTransferEventType",
    "HTCondorEnumError",
    "HTCondorException",
    "HTCondorIOError",
    "HTCondorInternalError",
    "HTCondorLocateError",
    "HTCondorReplyError",
    "HTCondorTypeError",
    "HTCondorValueError",
    "HistoryIterator",
    "JobAction",
    "JobEvent",
    "JobEventLog",
    "JobEventType",
    "JobStatus",
    "LockType",
    "LogLevel",
    "LogReader",
    "Negotiator",
    "ProvisionerState",
    "QueryIterator",
    "QueryOpts",
    "QueueItemsIterator",
    "RemoteParam",
    "ResourceRequestIterator",
    "Schedd",
    "ScheddNegotiate",
    "SecMan",
    "Startd",
    "Submit",
    "SubmitJobsIterator",
    "SubmitResult",
    "SubsystemType",
    "Token",
    "TokenRequest",
    "Transaction",
    "TransactionFlags",
    "VacateTypes",
    "classad",
    "enable_classad_extensions",
    "enable_debug",
    "enable_log",
    "lock",
    "log",
    "param",
    "platform",
    "poll",
    "read_events",
    "reload_config",
    "send_alive",
    "send_command",
    "set_ready_state",
    "set_subsystem",
    "version",
]
