"""The commands daemons answer: number, name, who answers at which level, and a sentence.

A table and its look-ups. What follows the number on the wire is in `wire.messages`; whether a peer
may send a command is decided in `wire.security.authorization`. Source: wire reference, Command
integers.

The access text of a row is `DAEMONS:LEVELS`, blank separated: a letter per daemon (`all` means the
five standing ones), alternative levels joined by `+`.
"""

from __future__ import annotations

from enum import Enum, IntEnum
from functools import cache

from kettle.wire.levels import Level

_FORCED = True
_ASKED = False


class Daemon(Enum):
    """A kind of daemon; the value is its letter in the table."""

    COLLECTOR = "C"
    SCHEDD = "S"
    STARTD = "E"
    NEGOTIATOR = "N"
    MASTER = "M"
    STARTER = "R"
    SHADOW = "H"
    CREDD = "K"
    GRIDMANAGER = "G"
    DAGMAN = "D"
    HAD = "A"
    PLACEMENTD = "P"
    SHARED_PORT = "X"
    VIEW_COLLECTOR = "V"


_STANDING = "CSENM"


class Command(IntEnum):
    """A command integer; see `levels`, `force_authentication` and `doc` of each member."""

    access: str
    force_authentication: bool
    doc: str

    def __new__(cls, number: int, access: str, force: bool, doc: str) -> Command:
        """Make a member whose value is the number on the wire."""
        member = int.__new__(cls, number)
        member._value_ = number
        member.access = access
        member.force_authentication = force
        member.doc = doc
        return member

    def levels(self, daemon: Daemon | None = None) -> tuple[Level, ...]:
        """Return the alternative levels at which `daemon` accepts this command.

        Without a daemon, or for one that the table does not name (a custom daemon that registers
        the command anyway), those of the first daemon named.
        """
        table = access_table(self.access)
        found = table.get(daemon) if daemon is not None else None
        return found if found is not None else next(iter(table.values()))

    @property
    def daemons(self) -> tuple[Daemon, ...]:
        """The daemons that answer this command."""
        return tuple(access_table(self.access))

    # Collector and connection broker
    UPDATE_STARTD_AD = (
        0,
        "C:ADVERTISE_STARTD S:ADVERTISE_STARTD",
        _ASKED,
        "Publish the ad of slots.",
    )
    UPDATE_SCHEDD_AD = 1, "C:ADVERTISE_SCHEDD", _ASKED, "Publish the ad of schedulers."
    UPDATE_MASTER_AD = 2, "C:ADVERTISE_MASTER", _ASKED, "Publish the ad of masters."
    UPDATE_CKPT_SRVR_AD = 4, "C:DAEMON", _ASKED, "Publish the ad of checkpoint servers."
    QUERY_STARTD_ADS = 5, "C:READ S:READ E:READ", _ASKED, "Read the ads of slots."
    QUERY_SCHEDD_ADS = 6, "C:READ S:READ", _ASKED, "Read the ads of schedulers."
    QUERY_MASTER_ADS = 7, "C:READ", _ASKED, "Read the ads of masters."
    QUERY_CKPT_SRVR_ADS = 9, "C:READ", _ASKED, "Read the ads of checkpoint servers."
    QUERY_STARTD_PVT_ADS = 10, "C:NEGOTIATOR", _ASKED, "Read the private ads (claim ids) of slots."
    UPDATE_SUBMITTOR_AD = 11, "C:ADVERTISE_SCHEDD", _ASKED, "Publish the ad of submitters."
    QUERY_SUBMITTOR_ADS = 12, "C:READ S:READ", _ASKED, "Read the ads of submitters."
    INVALIDATE_STARTD_ADS = (
        13,
        "C:ADVERTISE_STARTD S:ADVERTISE_STARTD",
        _ASKED,
        "Withdraw the ads of slots.",
    )
    INVALIDATE_SCHEDD_ADS = 14, "C:ADVERTISE_SCHEDD", _ASKED, "Withdraw the ads of schedulers."
    INVALIDATE_MASTER_ADS = 15, "C:ADVERTISE_MASTER", _ASKED, "Withdraw the ads of masters."
    INVALIDATE_CKPT_SRVR_ADS = 17, "C:DAEMON", _ASKED, "Withdraw the ads of checkpoint servers."
    INVALIDATE_SUBMITTOR_ADS = 18, "C:ADVERTISE_SCHEDD", _ASKED, "Withdraw the ads of submitters."
    UPDATE_COLLECTOR_AD = 19, "C:DAEMON", _ASKED, "Publish the ad of collectors."
    QUERY_COLLECTOR_ADS = 20, "C:READ", _ASKED, "Read the ads of collectors."
    INVALIDATE_COLLECTOR_ADS = 21, "C:DAEMON", _ASKED, "Withdraw the ads of collectors."
    QUERY_HIST_STARTD = 22, "V:READ", _ASKED, "Read usage over time from a view collector: startd."
    QUERY_HIST_STARTD_LIST = (
        23,
        "V:READ",
        _ASKED,
        "Read usage over time from a view collector: startd list.",
    )
    QUERY_HIST_SUBMITTOR = (
        24,
        "V:READ",
        _ASKED,
        "Read usage over time from a view collector: submittor.",
    )
    QUERY_HIST_SUBMITTOR_LIST = (
        25,
        "V:READ",
        _ASKED,
        "Read usage over time from a view collector: submittor list.",
    )
    QUERY_HIST_GROUPS = 26, "V:READ", _ASKED, "Read usage over time from a view collector: groups."
    QUERY_HIST_GROUPS_LIST = (
        27,
        "V:READ",
        _ASKED,
        "Read usage over time from a view collector: groups list.",
    )
    QUERY_HIST_SUBMITTORGROUPS = (
        28,
        "V:READ",
        _ASKED,
        "Read usage over time from a view collector: submittorgroups.",
    )
    QUERY_HIST_SUBMITTORGROUPS_LIST = (
        29,
        "V:READ",
        _ASKED,
        "Read usage over time from a view collector: submittorgroups list.",
    )
    QUERY_HIST_CKPTSRVR = (
        30,
        "V:READ",
        _ASKED,
        "Read usage over time from a view collector: ckptsrvr.",
    )
    QUERY_HIST_CKPTSRVR_LIST = (
        31,
        "V:READ",
        _ASKED,
        "Read usage over time from a view collector: ckptsrvr list.",
    )
    UPDATE_LICENSE_AD = 42, "C:DAEMON", _ASKED, "Publish the ad of licenses."
    QUERY_LICENSE_ADS = 43, "C:READ", _ASKED, "Read the ads of licenses."
    INVALIDATE_LICENSE_ADS = 44, "C:DAEMON", _ASKED, "Withdraw the ads of licenses."
    UPDATE_STORAGE_AD = 45, "C:DAEMON", _ASKED, "Publish the ad of storage."
    QUERY_STORAGE_ADS = 46, "C:READ", _ASKED, "Read the ads of storage."
    INVALIDATE_STORAGE_ADS = 47, "C:DAEMON", _ASKED, "Withdraw the ads of storage."
    QUERY_ANY_ADS = 48, "C:READ", _ASKED, "Read the ads of every public table."
    UPDATE_NEGOTIATOR_AD = 49, "C:NEGOTIATOR", _ASKED, "Publish the ad of negotiators."
    QUERY_NEGOTIATOR_ADS = 50, "C:READ N:READ", _ASKED, "Read the ads of negotiators."
    INVALIDATE_NEGOTIATOR_ADS = 51, "C:NEGOTIATOR", _ASKED, "Withdraw the ads of negotiators."
    QUERY_MULTIPLE_ADS = (
        53,
        "C:READ E:READ",
        _ASKED,
        "Read public ads of the types listed in TargetType.",
    )
    QUERY_MULTIPLE_PVT_ADS = (
        54,
        "C:NEGOTIATOR",
        _ASKED,
        "Read ads of the types listed in TargetType, with their secrets.",
    )
    UPDATE_HAD_AD = 55, "C:DAEMON", _ASKED, "Publish the ad of high-availability daemons."
    QUERY_HAD_ADS = 56, "C:READ", _ASKED, "Read the ads of high-availability daemons."
    INVALIDATE_HAD_ADS = 57, "C:DAEMON", _ASKED, "Withdraw the ads of high-availability daemons."
    UPDATE_AD_GENERIC = (
        58,
        "C:DAEMON",
        _ASKED,
        "Publish an ad of a type without a command of its own.",
    )
    INVALIDATE_ADS_GENERIC = (
        59,
        "C:DAEMON",
        _ASKED,
        "Withdraw ads of a type without a command of its own.",
    )
    UPDATE_STARTD_AD_WITH_ACK = (
        60,
        "C:ADVERTISE_STARTD",
        _ASKED,
        "Publish a slot's ad and private ad, and have it acknowledged.",
    )
    CCB_REGISTER = (
        67,
        "C:DAEMON+ADVERTISE_STARTD+ADVERTISE_SCHEDD+ADVERTISE_MASTER",
        _ASKED,
        "Register with the connection broker, to be reached by reversed connections.",
    )
    CCB_REQUEST = (
        68,
        "C:READ",
        _ASKED,
        "Ask the connection broker to have a registered daemon call back.",
    )
    CCB_REVERSE_CONNECT = (
        69,
        "C:ALLOW",
        _ASKED,
        "First word of a reversed connection: who is calling whom back.",
    )
    UPDATE_GRID_AD = 70, "C:DAEMON", _ASKED, "Publish the ad of grid resources."
    QUERY_GRID_ADS = 71, "C:READ", _ASKED, "Read the ads of grid resources."
    INVALIDATE_GRID_ADS = 72, "C:DAEMON", _ASKED, "Withdraw the ads of grid resources."
    MERGE_STARTD_AD = (
        73,
        "C:NEGOTIATOR",
        _ASKED,
        "Merge attributes into a slot's ad that is already there.",
    )
    QUERY_GENERIC_ADS = 74, "C:READ", _ASKED, "Read the ads of a type without a command of its own."
    SHARED_PORT_CONNECT = 75, "X:ALLOW", _ASKED, "Ask a shared port for the daemon behind it."
    SHARED_PORT_PASS_SOCK = (
        76,
        "all:ALLOW",
        _ASKED,
        "Hand an accepted connection to the daemon it is for.",
    )
    UPDATE_ACCOUNTING_AD = 77, "C:NEGOTIATOR", _ASKED, "Publish the ad of accounting records."
    QUERY_ACCOUNTING_ADS = 78, "C:READ N:READ", _ASKED, "Read the ads of accounting records."
    INVALIDATE_ACCOUNTING_ADS = (
        79,
        "C:NEGOTIATOR",
        _ASKED,
        "Withdraw the ads of accounting records.",
    )
    UPDATE_OWN_SUBMITTOR_AD = (
        80,
        "C:DAEMON+ALLOW",
        _ASKED,
        "Publish a submitter's ad; the identity must be the submitter.",
    )
    IMPERSONATION_TOKEN_REQUEST = (
        81,
        "C:DAEMON+ALLOW",
        _FORCED,
        "Ask for a token in another user's name.",
    )
    CCB_PROXY_CONNECT = 82, "C:DAEMON", _ASKED, "Ask the connection broker to relay a connection."

    # Scheduler, startd, negotiator, master
    CONTINUE_CLAIM = 401, "E:DAEMON", _ASKED, "Let the job of a claim go on."
    SUSPEND_CLAIM = 402, "E:DAEMON", _ASKED, "Stop the processes of a claim's job."
    DEACTIVATE_CLAIM = (
        403,
        "E:DAEMON",
        _ASKED,
        "End a claim's job with its vacate time; the claim stays.",
    )
    DEACTIVATE_CLAIM_FORCIBLY = (
        404,
        "E:DAEMON",
        _ASKED,
        "End a claim's job at once; the claim stays.",
    )
    DEACTIVATE_CLAIM_JOB_DONE = (
        413,
        "E:DAEMON",
        _ASKED,
        "The job of a claim has reported its exit; is the claim good for another?",
    )
    NEGOTIATE = 416, "S:NEGOTIATOR", _ASKED, "Offer matches to a submitter's jobs."
    RESCHEDULE = (
        421,
        "S:WRITE N:ADMIN+DAEMON+ADVERTISE_SCHEDD",
        _ASKED,
        "Look at the jobs soon: something has changed.",
    )
    X_EVENT_NOTIFICATION = 427, "E:ALLOW", _ASKED, "Notification of a desktop event."
    GET_HISTORY = 429, "E:READ", _ASKED, "Read the startd's history of jobs."
    MATCH_INFO = 440, "E:NEGOTIATOR", _ASKED, "Tell a startd that its claim id was given away."
    ALIVE = 441, "S:READ E:DAEMON", _ASKED, "Keep a claim alive."
    REQUEST_CLAIM = 442, "E:DAEMON", _ASKED, "Claim a slot."
    RELEASE_CLAIM = 443, "S:READ E:DAEMON", _ASKED, "Give a claim back."
    ACTIVATE_CLAIM = (
        444,
        "E:DAEMON",
        _ASKED,
        "Start a job on a claim; the connection becomes the job's syscall socket.",
    )
    VACATE_ALL_CLAIMS = 447, "E:ADMIN", _ASKED, "Vacate every claim with its vacate time."
    GIVE_STATE = 448, "E:READ", _ASKED, "Tell the state of the machine as a word."
    SET_PRIORITY = 449, "N:ADMIN", _ASKED, "Set a user's real priority."
    GET_PRIORITY = 451, "N:READ", _ASKED, "Read the priorities of all users."
    DAEMONS_OFF_FLEX = 452, "M:ADMIN", _ASKED, "Stop daemons as the ad says."
    RESTART = 453, "M:ADMIN", _ASKED, "Restart the master and its daemons."
    DAEMONS_OFF = 454, "M:ADMIN", _ASKED, "Stop all daemons but the master, gracefully."
    DAEMONS_ON = 455, "M:ADMIN", _ASKED, "Start all daemons of the list."
    MASTER_OFF = 456, "M:ADMIN", _ASKED, "Stop all daemons and the master, gracefully."
    CONFIG_VAL = 457, "all:READ", _ASKED, "Read the value of one configuration name."
    RESET_USAGE = 458, "N:ADMIN", _ASKED, "Set a user's usage to zero."
    SET_PRIORITYFACTOR = 459, "N:WRITE", _ASKED, "Set a user's priority factor."
    RESET_ALL_USAGE = 460, "N:ADMIN", _ASKED, "Set every user's usage to zero."
    DAEMONS_OFF_FAST = 461, "M:ADMIN", _ASKED, "Stop all daemons but the master, fast."
    MASTER_OFF_FAST = 462, "M:ADMIN", _ASKED, "Stop all daemons and the master, fast."
    GET_RESLIST = 463, "N:READ", _ASKED, "List the slots a user holds."
    ATTEMPT_ACCESS = 464, "S:WRITE", _ASKED, "Ask whether a file may be read or written."
    VACATE_CLAIM = 465, "E:ADMIN", _ASKED, "Vacate one slot's claim with its vacate time."
    DAEMON_OFF = 467, "M:ADMIN", _ASKED, "Stop one daemon gracefully."
    DAEMON_OFF_FAST = 468, "M:ADMIN", _ASKED, "Stop one daemon fast."
    DAEMON_ON = 469, "M:ADMIN", _ASKED, "Start one daemon."
    GIVE_TOTALS_CLASSAD = 470, "E:READ", _ASKED, "Read totals of the machine's slots."
    VACATE_ALL_FAST = 474, "E:ADMIN", _ASKED, "Vacate every claim at once."
    VACATE_CLAIM_FAST = 475, "E:ADMIN", _ASKED, "Vacate one slot's claim at once."
    ACT_ON_JOBS = (
        478,
        "S:WRITE",
        _FORCED,
        "Hold, release, remove, vacate, suspend or continue jobs.",
    )
    STORE_CRED = 479, "S:WRITE K:WRITE", _FORCED, "Add, delete or query a user's credential."
    SPOOL_JOB_FILES = (
        480,
        "S:WRITE",
        _FORCED,
        "Send the input files of jobs to their spool directories.",
    )
    DELETE_USER = 482, "N:ADMIN", _ASKED, "Forget a user's accounting record."
    DAEMON_OFF_PEACEFUL = 483, "M:ADMIN", _ASKED, "Stop one daemon after its jobs have ended."
    DAEMONS_OFF_PEACEFUL = (
        484,
        "M:ADMIN",
        _ASKED,
        "Stop all daemons but the master after their jobs have ended.",
    )
    RESTART_PEACEFUL = 485, "M:ADMIN", _ASKED, "Restart after the jobs have ended."
    TRANSFER_DATA = (
        486,
        "S:WRITE",
        _FORCED,
        "Fetch the output files of jobs from their spool directories.",
    )
    UPDATE_GSI_CRED = (
        487,
        "S:WRITE R:WRITE",
        _FORCED,
        "Replace a job's proxy certificate by a file.",
    )
    SPOOL_JOB_FILES_WITH_PERMS = (
        488,
        "S:WRITE",
        _FORCED,
        "As SPOOL_JOB_FILES, with version and file modes.",
    )
    TRANSFER_DATA_WITH_PERMS = (
        489,
        "S:WRITE",
        _FORCED,
        "As TRANSFER_DATA, with version and file modes.",
    )
    CHILD_ON = 490, "M:ADMIN", _ASKED, "Start one child of the master."
    CHILD_OFF = 491, "M:ADMIN", _ASKED, "Stop one child of the master gracefully."
    CHILD_OFF_FAST = 492, "M:ADMIN", _ASKED, "Stop one child of the master fast."
    SET_ACCUMUSAGE = 494, "N:ADMIN", _ASKED, "Set a user's accumulated usage."
    SET_BEGINTIME = 495, "N:ADMIN", _ASKED, "Set the time a user's usage began."
    SET_LASTTIME = 496, "N:ADMIN", _ASKED, "Set the time of a user's last usage."
    STORE_POOL_CRED = 497, "M:ADMIN", _ASKED, "Store the pool password."
    DELEGATE_GSI_CRED_SCHEDD = (
        499,
        "S:WRITE",
        _FORCED,
        "Delegate a proxy certificate to a job at the schedd.",
    )
    DELEGATE_GSI_CRED_STARTER = (
        500,
        "R:WRITE",
        _ASKED,
        "Delegate a proxy certificate to a job at its starter.",
    )
    DELEGATE_GSI_CRED_STARTD = (
        501,
        "E:DAEMON",
        _ASKED,
        "Delegate a proxy certificate before a claim is activated.",
    )
    VM_UNIV_GAHP_ERROR = 503, "E:DAEMON", _ASKED, "A virtual machine's driver reports an error."
    VM_UNIV_VMPID = 504, "E:DAEMON", _ASKED, "A virtual machine reports its process id."
    VM_UNIV_GUEST_IP = 505, "E:DAEMON", _ASKED, "A virtual machine reports its IP address."
    VM_UNIV_GUEST_MAC = 506, "E:DAEMON", _ASKED, "A virtual machine reports its MAC address."
    TRANSFER_QUEUE_REQUEST = 507, "S:WRITE", _ASKED, "Ask for a place in the transfer queue."
    SET_SHUTDOWN_PROGRAM = (
        508,
        "M:ADMIN",
        _ASKED,
        "Set the program that the master runs when it shuts down.",
    )
    GET_JOB_CONNECT_INFO = 509, "S:WRITE", _FORCED, "Ask how to reach a running job."
    RECYCLE_SHADOW = (
        510,
        "S:DAEMON",
        _FORCED,
        "A shadow reports its exit and asks for another job of the claim.",
    )
    CLEAR_DIRTY_JOB_ATTRS = 511, "S:WRITE", _ASKED, "Mark a job's changed attributes as seen."
    DRAIN_JOBS = 512, "E:ADMIN", _ASKED, "Drain the machine."
    CANCEL_DRAIN_JOBS = 513, "E:ADMIN", _ASKED, "Cancel a draining."
    GET_PRIORITY_ROLLUP = 514, "N:READ", _ASKED, "As GET_PRIORITY, rolled up through the groups."
    QUERY_SCHEDD_HISTORY = 515, "S:READ", _ASKED, "Read the history of jobs."
    QUERY_JOB_ADS = 516, "S:READ", _ASKED, "Read job ads."
    QUERY_JOB_ADS_WITH_AUTH = 519, "S:READ", _FORCED, "Read job ads as an authenticated user."
    FETCH_PROXY_DELEGATION = 520, "G:DAEMON", _FORCED, "Fetch a delegated proxy certificate."
    REASSIGN_SLOT = 521, "S:WRITE", _ASKED, "Give the slots of some jobs to another job, now."
    COALESCE_SLOTS = 522, "E:DAEMON", _ASKED, "Merge claimed slots into one."
    COLLECTOR_TOKEN_REQUEST = 523, "S:ALLOW", _FORCED, "Ask for a token for a collector."
    SET_CEILING = 525, "N:ADMIN", _ASKED, "Set the most slots a user may hold."
    EXPORT_JOBS = 526, "S:WRITE", _FORCED, "Export jobs to another queue."
    IMPORT_EXPORTED_JOB_RESULTS = 527, "S:WRITE", _FORCED, "Take back the results of exported jobs."
    UNEXPORT_JOBS = 528, "S:WRITE", _FORCED, "Take exported jobs back."
    SET_FLOOR = 530, "N:ADMIN", _ASKED, "Set the fewest slots a user is entitled to."
    DIRECT_ATTACH = 531, "S:WRITE", _FORCED, "Hand slots straight to a schedd."
    MANAGE_CEILING = 532, "N:ADMIN", _ASKED, "Lease a change of ceilings."
    MANAGE_FLOOR = 533, "N:ADMIN", _ASKED, "Lease a change of floors."
    MANAGE_PRIORITY_FACTOR = 534, "N:ADMIN", _ASKED, "Lease a change of priority factors."
    QUERY_USERREC_ADS = 540, "S:READ", _FORCED, "Read user records."
    ENABLE_USERREC = 541, "S:ADMIN", _FORCED, "Enable or create user records."
    DISABLE_USERREC = 542, "S:ADMIN", _FORCED, "Disable user records."
    EDIT_USERREC = 543, "S:ADMIN", _FORCED, "Change user records."
    RESET_USERREC = 544, "S:ADMIN", _FORCED, "Reset user records."
    DELETE_USERREC = 549, "S:ADMIN", _FORCED, "Delete user records."
    GET_CONTACT_INFO = 550, "S:READ", _FORCED, "Ask how to contact a running job."
    CREATE_OCU_FOR_USERREC = (
        551,
        "S:WRITE",
        _FORCED,
        "Create an owned capacity unit for a user record.",
    )
    REMOVE_OCU_FROM_USERREC = (
        552,
        "S:WRITE",
        _FORCED,
        "Remove an owned capacity unit from a user record.",
    )
    QUERY_OCU_FROM_USERREC = (
        553,
        "S:READ",
        _FORCED,
        "Read the owned capacity units of a user record.",
    )
    REACTIVATE_CLAIM_CHECK = 554, "E:DAEMON", _ASKED, "Ask whether a claim may start another job."
    PLACEMENT_USER_LOGIN = 555, "P:ADMIN", _FORCED, "Log a user in at the placement daemon."
    PLACEMENT_QUERY_USERS = 556, "P:ADMIN", _FORCED, "Read the placement daemon's users."
    PLACEMENT_QUERY_TOKENS = 557, "P:ADMIN", _FORCED, "Read the placement daemon's tokens."
    PLACEMENT_QUERY_AUTHORIZATIONS = (
        558,
        "P:ADMIN",
        _FORCED,
        "Read the placement daemon's authorizations.",
    )
    CREATE_STARTUP_LIMIT = 559, "S:ADMIN", _FORCED, "Create a limit on job starts."
    QUERY_STARTUP_LIMITS = 560, "S:READ", _FORCED, "Read the limits on job starts."
    DEACTIVATE_CLAIM_FINAL_XFER = (
        561,
        "E:DAEMON",
        _ASKED,
        "End a claim's job after a last transfer of its files.",
    )
    REHOME = 562, "E:ADMIN", _ASKED, "Move a machine to another schedd."
    COMMAND_DATA_SLOT = 563, "E:DAEMON", _ASKED, "Give a command to a data slot."
    HAD_ALIVE_CMD = 700, "A:DAEMON", _ASKED, "A replica of the high-availability daemon is alive."
    HAD_SEND_ID_CMD = (
        701,
        "A:DAEMON",
        _ASKED,
        "A replica of the high-availability daemon tells its id.",
    )
    REPLICATION_TRANSFER_FILE = 800, "A:DAEMON", _ASKED, "Transfer a replicated file."
    REPLICATION_LEADER_VERSION = (
        801,
        "A:DAEMON",
        _ASKED,
        "The leader tells its version of the replicated file.",
    )
    REPLICATION_NEWLY_JOINED_VERSION = (
        802,
        "A:DAEMON",
        _ASKED,
        "A newcomer tells its version of the replicated file.",
    )
    REPLICATION_GIVING_UP_VERSION = 803, "A:DAEMON", _ASKED, "A leader gives up."
    REPLICATION_SOLICIT_VERSION = 804, "A:DAEMON", _ASKED, "Ask the replicas for their versions."
    REPLICATION_SOLICIT_VERSION_REPLY = 805, "A:DAEMON", _ASKED, "Answer with a replica's version."
    REPLICATION_TRANSFER_FILE_NEW = (
        806,
        "A:DAEMON",
        _ASKED,
        "Transfer a replicated file, new protocol.",
    )

    # Queue management and claim commands
    CA_AUTH_CMD = 1000, "E:WRITE", _ASKED, "A claim command as an ad, authenticated."
    QMGMT_READ_CMD = 1111, "S:READ", _ASKED, "Read the job queue."
    QMGMT_WRITE_CMD = 1112, "S:WRITE", _FORCED, "Change the job queue."
    CA_CMD = 1200, "E:WRITE R:WRITE", _ASKED, "A claim command as an ad."
    STARTER_VACATE_JOB = 1500, "R:DAEMON", _ASKED, "Tell a starter to vacate its job."
    CREATE_JOB_OWNER_SEC_SESSION = (
        1501,
        "R:DAEMON",
        _ASKED,
        "Make a session with a starter for the job's owner.",
    )
    START_SSHD = 1502, "R:READ", _ASKED, "Start a shell server beside a job."
    STARTER_PEEK = 1503, "R:READ", _ASKED, "Read the tail of a job's files."

    # Every daemon
    DC_RAISESIGNAL = 60000, "all:DAEMON", _ASKED, "Raise a signal in a daemon."
    DC_CONFIG_PERSIST = (
        60002,
        "all:DAEMON+ALLOW",
        _ASKED,
        "Set a configuration name until it is unset.",
    )
    DC_CONFIG_RUNTIME = (
        60003,
        "all:DAEMON+ALLOW",
        _ASKED,
        "Set a configuration name until the daemon restarts.",
    )
    DC_RECONFIG = 60004, "all:ADMIN", _ASKED, "Read the configuration again."
    DC_OFF_GRACEFUL = 60005, "all:ADMIN", _ASKED, "Shut down gracefully."
    DC_OFF_FAST = 60006, "all:ADMIN", _ASKED, "Shut down fast."
    DC_CONFIG_VAL = (
        60007,
        "all:READ",
        _ASKED,
        "Read a configuration name with its source, default and use.",
    )
    DC_CHILDALIVE = 60008, "all:DAEMON", _ASKED, "A child tells its parent that it is alive."
    DC_AUTHENTICATE = (
        60010,
        "all:ALLOW",
        _ASKED,
        "Begin a security negotiation or resume a session.",
    )
    DC_NOP = 60011, "all:ALLOW", _ASKED, "Do nothing."
    DC_RECONFIG_FULL = (
        60012,
        "all:ADMIN",
        _ASKED,
        "Read the configuration again, with all logs and addresses.",
    )
    DC_FETCH_LOG = 60013, "all:ADMIN", _ASKED, "Read a log or a history file."
    DC_OFF_PEACEFUL = 60015, "all:ADMIN", _ASKED, "Shut down after the jobs have ended."
    DC_SET_PEACEFUL_SHUTDOWN = (
        60016,
        "all:ADMIN",
        _ASKED,
        "Let the next shutdown wait for the jobs.",
    )
    DC_TIME_OFFSET = 60017, "all:DAEMON", _ASKED, "Compare clocks."
    DC_PURGE_LOG = 60018, "all:ADMIN", _ASKED, "Remove old per-job history files."
    DC_NOP_READ = 60020, "all:READ", _ASKED, "Do nothing, at level READ."
    DC_NOP_WRITE = 60021, "all:WRITE", _ASKED, "Do nothing, at level WRITE."
    DC_NOP_NEGOTIATOR = 60022, "all:NEGOTIATOR", _ASKED, "Do nothing, at level NEGOTIATOR."
    DC_NOP_ADMINISTRATOR = 60023, "all:ADMIN", _ASKED, "Do nothing, at level ADMINISTRATOR."
    DC_NOP_OWNER = 60024, "all:ADMIN", _ASKED, "Do nothing, at the former level OWNER."
    DC_NOP_CONFIG = 60025, "all:CONFIG", _ASKED, "Do nothing, at level CONFIG."
    DC_NOP_DAEMON = 60026, "all:DAEMON", _ASKED, "Do nothing, at level DAEMON."
    DC_NOP_ADVERTISE_STARTD = (
        60027,
        "all:ADVERTISE_STARTD",
        _ASKED,
        "Do nothing, at level ADVERTISE_STARTD.",
    )
    DC_NOP_ADVERTISE_SCHEDD = (
        60028,
        "all:ADVERTISE_SCHEDD",
        _ASKED,
        "Do nothing, at level ADVERTISE_SCHEDD.",
    )
    DC_NOP_ADVERTISE_MASTER = (
        60029,
        "all:ADVERTISE_MASTER",
        _ASKED,
        "Do nothing, at level ADVERTISE_MASTER.",
    )
    DC_SEC_QUERY = 60040, "all:ALLOW", _ASKED, "Ask what an identity may do."
    DC_SET_FORCE_SHUTDOWN = 60041, "all:ADMIN", _ASKED, "Let the next shutdown ask no questions."
    DC_OFF_FORCE = 60042, "all:ADMIN", _ASKED, "Shut down whatever happens."
    DC_SET_READY = 60043, "M:DAEMON", _ASKED, "A daemon tells the master that it is ready."
    DC_QUERY_READY = 60044, "M:READ", _ASKED, "Ask the master whether its daemons are ready."
    DC_QUERY_INSTANCE = 60045, "all:ALLOW", _ASKED, "Read the random id of this daemon's life."
    DC_GET_SESSION_TOKEN = (
        60046,
        "all:DAEMON+ALLOW",
        _ASKED,
        "Issue a token for the identity of this session.",
    )
    DC_START_TOKEN_REQUEST = (
        60047,
        "all:DAEMON+ALLOW",
        _ASKED,
        "Ask for a token that an administrator must approve.",
    )
    DC_FINISH_TOKEN_REQUEST = 60048, "all:DAEMON+ALLOW", _ASKED, "Fetch the token asked for."
    DC_LIST_TOKEN_REQUEST = 60049, "all:DAEMON+ALLOW", _FORCED, "List the token requests."
    DC_APPROVE_TOKEN_REQUEST = 60050, "all:DAEMON+ALLOW", _FORCED, "Approve a token request."
    DC_AUTO_APPROVE_TOKEN_REQUEST = (
        60051,
        "all:ADMIN",
        _ASKED,
        "Approve requests from a network for a while.",
    )
    DC_EXCHANGE_SCITOKEN = (
        60052,
        "all:WRITE+ALLOW",
        _FORCED,
        "Exchange a SciToken for a token of this pool.",
    )

    # File transfer and the rest
    FILETRANS_UPLOAD = (
        61000,
        "S:WRITE H:WRITE R:WRITE",
        _ASKED,
        "The peer receives files of a transfer.",
    )
    FILETRANS_DOWNLOAD = (
        61001,
        "S:WRITE H:WRITE R:WRITE",
        _ASKED,
        "The peer sends files of a transfer.",
    )
    DAGMAN_GENERIC = 61500, "D:ALLOW", _ASKED, "A word to a workflow manager."
    GIVE_MATCHES = 71003, "S:DAEMON", _ASKED, "Matches for the dedicated scheduler."
    CREDD_GET_CRED = 81001, "H:DAEMON K:DAEMON", _FORCED, "Fetch a stored credential."
    CREDD_GET_TOKEN = 81004, "K:WRITE", _FORCED, "Fetch a stored token."
    CREDD_CHECK_CREDS = 81030, "K:WRITE", _FORCED, "Ask whether credentials are there."
    CREDD_GET_PASSWD = 81099, "K:DAEMON", _FORCED, "Fetch a stored password."
    CREDD_NOP = 81100, "K:DAEMON", _ASKED, "Do nothing, at the credential daemon."


class NegotiationWord(IntEnum):
    """Numbers that open a message inside the NEGOTIATE dialog; they are not commands."""

    PERMISSION = 407
    SEND_JOB_INFO = 417
    NO_MORE_JOBS = 418
    JOB_INFO = 419
    END_NEGOTIATE = 425
    REJECTED = 426
    PERMISSION_AND_AD = 472
    REJECTED_WITH_REASON = 476
    SEND_RESOURCE_REQUEST_LIST = 518


class DaemonSignal(IntEnum):
    """Signals that DC_RAISESIGNAL carries beside the system's own."""

    SIGSUSPEND = 100
    SIGCONTINUE = 101
    SIGSOFTKILL = 102
    SIGHARDKILL = 103
    SIGPCKPT = 104
    SIGREMOVE = 105
    SIGHOLD = 106


class Reply(IntEnum):
    """The usual result integers."""

    NOT_OK = 0
    OK = 1
    TRY_AGAIN = 2
    ERROR = 3


_SHORT_LEVELS = {"ADMIN": Level.ADMINISTRATOR}


@cache
def access_table(access: str) -> dict[Daemon, tuple[Level, ...]]:
    """Take the access text of a row apart."""
    table: dict[Daemon, tuple[Level, ...]] = {}
    for part in access.split():
        letters, _, words = part.partition(":")
        levels = tuple(_SHORT_LEVELS.get(word) or Level(word) for word in words.split("+"))
        for letter in _STANDING if letters == "all" else letters:
            table[Daemon(letter)] = levels
    return table


_BY_NUMBER: dict[int, Command] = {int(command): command for command in Command}


def find_command(number: int) -> Command | None:
    """Return the command of a number, None for a number that is not in the table."""
    return _BY_NUMBER.get(number)


def command_name(number: int) -> str:
    """Return a command's name, or its number as text: for log lines."""
    command = _BY_NUMBER.get(number)
    return command.name if command is not None else str(number)


def find_command_by_name(name: str) -> Command | None:
    """Return the command of a name, in any case, with or without the `DC_` of the common ones."""
    wanted = name.upper()
    members = Command.__members__
    return members.get(wanted) or members.get(f"DC_{wanted}")
