"""The commands daemons answer: number, name, who answers at which level, and a sentence.

A table and its look-ups. What follows the number on the wire is in `wire.messages`; whether a peer
may send a command is decided in `wire.security.authorization`. Source: wire notes, Command
integers.

The access text of a row is `DAEMONS:LEVELS`, blank separated: a letter per daemon (`all` means the
five standing ones), alternative levels joined by `+`.
"""

from __future__ import annotations

from enum import Enum
from functools import cache

from kettle.levels import Level
from kettle.named_numbers import NamedNumber

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


_ROWS: dict[int, tuple[str, bool, str]] = {}


def _row(number: int, access: str, force: bool, doc: str) -> int:
    """Note a row; members are plain numbers, as making 250 richer ones costs start-up time."""
    _ROWS[number] = (access, force, doc)
    return number


class Command(NamedNumber):
    """A command integer; see `levels`, `force_authentication` and `doc` of each member."""

    @property
    def access(self) -> str:
        """Who accepts the command at which levels, as the table has it."""
        return _ROWS[self][0]

    @property
    def force_authentication(self) -> bool:
        """Whether the command is refused to peers that have not authenticated."""
        return _ROWS[self][1]

    @property
    def doc(self) -> str:
        """What the command is for."""
        return _ROWS[self][2]

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
    UPDATE_STARTD_AD = _row(
        0,
        "C:ADVERTISE_STARTD S:ADVERTISE_STARTD",
        _ASKED,
        "Publish the ad of slots.",
    )
    UPDATE_SCHEDD_AD = _row(1, "C:ADVERTISE_SCHEDD", _ASKED, "Publish the ad of schedulers.")
    UPDATE_MASTER_AD = _row(2, "C:ADVERTISE_MASTER", _ASKED, "Publish the ad of masters.")
    UPDATE_CKPT_SRVR_AD = _row(4, "C:DAEMON", _ASKED, "Publish the ad of checkpoint servers.")
    QUERY_STARTD_ADS = _row(5, "C:READ S:READ E:READ", _ASKED, "Read the ads of slots.")
    QUERY_SCHEDD_ADS = _row(6, "C:READ S:READ", _ASKED, "Read the ads of schedulers.")
    QUERY_MASTER_ADS = _row(7, "C:READ", _ASKED, "Read the ads of masters.")
    QUERY_CKPT_SRVR_ADS = _row(9, "C:READ", _ASKED, "Read the ads of checkpoint servers.")
    QUERY_STARTD_PVT_ADS = _row(
        10, "C:NEGOTIATOR", _ASKED, "Read the private ads (claim ids) of slots."
    )
    UPDATE_SUBMITTOR_AD = _row(11, "C:ADVERTISE_SCHEDD", _ASKED, "Publish the ad of submitters.")
    QUERY_SUBMITTOR_ADS = _row(12, "C:READ S:READ", _ASKED, "Read the ads of submitters.")
    INVALIDATE_STARTD_ADS = _row(
        13,
        "C:ADVERTISE_STARTD S:ADVERTISE_STARTD",
        _ASKED,
        "Withdraw the ads of slots.",
    )
    INVALIDATE_SCHEDD_ADS = _row(
        14, "C:ADVERTISE_SCHEDD", _ASKED, "Withdraw the ads of schedulers."
    )
    INVALIDATE_MASTER_ADS = _row(15, "C:ADVERTISE_MASTER", _ASKED, "Withdraw the ads of masters.")
    INVALIDATE_CKPT_SRVR_ADS = _row(
        17, "C:DAEMON", _ASKED, "Withdraw the ads of checkpoint servers."
    )
    INVALIDATE_SUBMITTOR_ADS = _row(
        18, "C:ADVERTISE_SCHEDD", _ASKED, "Withdraw the ads of submitters."
    )
    UPDATE_COLLECTOR_AD = _row(19, "C:DAEMON", _ASKED, "Publish the ad of collectors.")
    QUERY_COLLECTOR_ADS = _row(20, "C:READ", _ASKED, "Read the ads of collectors.")
    INVALIDATE_COLLECTOR_ADS = _row(21, "C:DAEMON", _ASKED, "Withdraw the ads of collectors.")
    QUERY_HIST_STARTD = _row(
        22, "V:READ", _ASKED, "Read usage over time from a view collector: startd."
    )
    QUERY_HIST_STARTD_LIST = _row(
        23,
        "V:READ",
        _ASKED,
        "Read usage over time from a view collector: startd list.",
    )
    QUERY_HIST_SUBMITTOR = _row(
        24,
        "V:READ",
        _ASKED,
        "Read usage over time from a view collector: submittor.",
    )
    QUERY_HIST_SUBMITTOR_LIST = _row(
        25,
        "V:READ",
        _ASKED,
        "Read usage over time from a view collector: submittor list.",
    )
    QUERY_HIST_GROUPS = _row(
        26, "V:READ", _ASKED, "Read usage over time from a view collector: groups."
    )
    QUERY_HIST_GROUPS_LIST = _row(
        27,
        "V:READ",
        _ASKED,
        "Read usage over time from a view collector: groups list.",
    )
    QUERY_HIST_SUBMITTORGROUPS = _row(
        28,
        "V:READ",
        _ASKED,
        "Read usage over time from a view collector: submittorgroups.",
    )
    QUERY_HIST_SUBMITTORGROUPS_LIST = _row(
        29,
        "V:READ",
        _ASKED,
        "Read usage over time from a view collector: submittorgroups list.",
    )
    QUERY_HIST_CKPTSRVR = _row(
        30,
        "V:READ",
        _ASKED,
        "Read usage over time from a view collector: ckptsrvr.",
    )
    QUERY_HIST_CKPTSRVR_LIST = _row(
        31,
        "V:READ",
        _ASKED,
        "Read usage over time from a view collector: ckptsrvr list.",
    )
    UPDATE_LICENSE_AD = _row(42, "C:DAEMON", _ASKED, "Publish the ad of licenses.")
    QUERY_LICENSE_ADS = _row(43, "C:READ", _ASKED, "Read the ads of licenses.")
    INVALIDATE_LICENSE_ADS = _row(44, "C:DAEMON", _ASKED, "Withdraw the ads of licenses.")
    UPDATE_STORAGE_AD = _row(45, "C:DAEMON", _ASKED, "Publish the ad of storage.")
    QUERY_STORAGE_ADS = _row(46, "C:READ", _ASKED, "Read the ads of storage.")
    INVALIDATE_STORAGE_ADS = _row(47, "C:DAEMON", _ASKED, "Withdraw the ads of storage.")
    QUERY_ANY_ADS = _row(48, "C:READ", _ASKED, "Read the ads of every public table.")
    UPDATE_NEGOTIATOR_AD = _row(49, "C:NEGOTIATOR", _ASKED, "Publish the ad of negotiators.")
    QUERY_NEGOTIATOR_ADS = _row(50, "C:READ N:READ", _ASKED, "Read the ads of negotiators.")
    INVALIDATE_NEGOTIATOR_ADS = _row(51, "C:NEGOTIATOR", _ASKED, "Withdraw the ads of negotiators.")
    QUERY_MULTIPLE_ADS = _row(
        53,
        "C:READ E:READ",
        _ASKED,
        "Read public ads of the types listed in TargetType.",
    )
    QUERY_MULTIPLE_PVT_ADS = _row(
        54,
        "C:NEGOTIATOR",
        _ASKED,
        "Read ads of the types listed in TargetType, with their secrets.",
    )
    UPDATE_HAD_AD = _row(55, "C:DAEMON", _ASKED, "Publish the ad of high-availability daemons.")
    QUERY_HAD_ADS = _row(56, "C:READ", _ASKED, "Read the ads of high-availability daemons.")
    INVALIDATE_HAD_ADS = _row(
        57, "C:DAEMON", _ASKED, "Withdraw the ads of high-availability daemons."
    )
    UPDATE_AD_GENERIC = _row(
        58,
        "C:DAEMON",
        _ASKED,
        "Publish an ad of a type without a command of its own.",
    )
    INVALIDATE_ADS_GENERIC = _row(
        59,
        "C:DAEMON",
        _ASKED,
        "Withdraw ads of a type without a command of its own.",
    )
    UPDATE_STARTD_AD_WITH_ACK = _row(
        60,
        "C:ADVERTISE_STARTD",
        _ASKED,
        "Publish a slot's ad and private ad, and have it acknowledged.",
    )
    CCB_REGISTER = _row(
        67,
        "C:DAEMON+ADVERTISE_STARTD+ADVERTISE_SCHEDD+ADVERTISE_MASTER",
        _ASKED,
        "Register with the connection broker, to be reached by reversed connections.",
    )
    CCB_REQUEST = _row(
        68,
        "C:READ",
        _ASKED,
        "Ask the connection broker to have a registered daemon call back.",
    )
    CCB_REVERSE_CONNECT = _row(
        69,
        "C:ALLOW",
        _ASKED,
        "First word of a reversed connection: who is calling whom back.",
    )
    UPDATE_GRID_AD = _row(70, "C:DAEMON", _ASKED, "Publish the ad of grid resources.")
    QUERY_GRID_ADS = _row(71, "C:READ", _ASKED, "Read the ads of grid resources.")
    INVALIDATE_GRID_ADS = _row(72, "C:DAEMON", _ASKED, "Withdraw the ads of grid resources.")
    MERGE_STARTD_AD = _row(
        73,
        "C:NEGOTIATOR",
        _ASKED,
        "Merge attributes into a slot's ad that is already there.",
    )
    QUERY_GENERIC_ADS = _row(
        74, "C:READ", _ASKED, "Read the ads of a type without a command of its own."
    )
    SHARED_PORT_CONNECT = _row(75, "X:ALLOW", _ASKED, "Ask a shared port for the daemon behind it.")
    SHARED_PORT_PASS_SOCK = _row(
        76,
        "all:ALLOW",
        _ASKED,
        "Hand an accepted connection to the daemon it is for.",
    )
    UPDATE_ACCOUNTING_AD = _row(77, "C:NEGOTIATOR", _ASKED, "Publish the ad of accounting records.")
    QUERY_ACCOUNTING_ADS = _row(78, "C:READ N:READ", _ASKED, "Read the ads of accounting records.")
    INVALIDATE_ACCOUNTING_ADS = _row(
        79,
        "C:NEGOTIATOR",
        _ASKED,
        "Withdraw the ads of accounting records.",
    )
    UPDATE_OWN_SUBMITTOR_AD = _row(
        80,
        "C:DAEMON+ALLOW",
        _ASKED,
        "Publish a submitter's ad; the identity must be the submitter.",
    )
    IMPERSONATION_TOKEN_REQUEST = _row(
        81,
        "C:DAEMON+ALLOW",
        _FORCED,
        "Ask for a token in another user's name.",
    )
    CCB_PROXY_CONNECT = _row(
        82, "C:DAEMON", _ASKED, "Ask the connection broker to relay a connection."
    )

    # Scheduler, startd, negotiator, master
    CONTINUE_CLAIM = _row(401, "E:DAEMON", _ASKED, "Let the job of a claim go on.")
    SUSPEND_CLAIM = _row(402, "E:DAEMON", _ASKED, "Stop the processes of a claim's job.")
    DEACTIVATE_CLAIM = _row(
        403,
        "E:DAEMON",
        _ASKED,
        "End a claim's job with its vacate time; the claim stays.",
    )
    DEACTIVATE_CLAIM_FORCIBLY = _row(
        404,
        "E:DAEMON",
        _ASKED,
        "End a claim's job at once; the claim stays.",
    )
    DEACTIVATE_CLAIM_JOB_DONE = _row(
        413,
        "E:DAEMON",
        _ASKED,
        "The job of a claim has reported its exit; is the claim good for another?",
    )
    NEGOTIATE = _row(416, "S:NEGOTIATOR", _ASKED, "Offer matches to a submitter's jobs.")
    RESCHEDULE = _row(
        421,
        "S:WRITE N:ADMIN+DAEMON+ADVERTISE_SCHEDD",
        _ASKED,
        "Look at the jobs soon: something has changed.",
    )
    X_EVENT_NOTIFICATION = _row(427, "E:ALLOW", _ASKED, "Notification of a desktop event.")
    GET_HISTORY = _row(429, "E:READ", _ASKED, "Read the startd's history of jobs.")
    MATCH_INFO = _row(
        440, "E:NEGOTIATOR", _ASKED, "Tell a startd that its claim id was given away."
    )
    ALIVE = _row(441, "S:READ E:DAEMON", _ASKED, "Keep a claim alive.")
    REQUEST_CLAIM = _row(442, "E:DAEMON", _ASKED, "Claim a slot.")
    RELEASE_CLAIM = _row(443, "S:READ E:DAEMON", _ASKED, "Give a claim back.")
    ACTIVATE_CLAIM = _row(
        444,
        "E:DAEMON",
        _ASKED,
        "Start a job on a claim; the connection becomes the job's syscall socket.",
    )
    VACATE_ALL_CLAIMS = _row(447, "E:ADMIN", _ASKED, "Vacate every claim with its vacate time.")
    GIVE_STATE = _row(448, "E:READ", _ASKED, "Tell the state of the machine as a word.")
    SET_PRIORITY = _row(449, "N:ADMIN", _ASKED, "Set a user's real priority.")
    GET_PRIORITY = _row(451, "N:READ", _ASKED, "Read the priorities of all users.")
    DAEMONS_OFF_FLEX = _row(452, "M:ADMIN", _ASKED, "Stop daemons as the ad says.")
    RESTART = _row(453, "M:ADMIN", _ASKED, "Restart the master and its daemons.")
    DAEMONS_OFF = _row(454, "M:ADMIN", _ASKED, "Stop all daemons but the master, gracefully.")
    DAEMONS_ON = _row(455, "M:ADMIN", _ASKED, "Start all daemons of the list.")
    MASTER_OFF = _row(456, "M:ADMIN", _ASKED, "Stop all daemons and the master, gracefully.")
    CONFIG_VAL = _row(457, "all:READ", _ASKED, "Read the value of one configuration name.")
    RESET_USAGE = _row(458, "N:ADMIN", _ASKED, "Set a user's usage to zero.")
    SET_PRIORITYFACTOR = _row(459, "N:WRITE", _ASKED, "Set a user's priority factor.")
    RESET_ALL_USAGE = _row(460, "N:ADMIN", _ASKED, "Set every user's usage to zero.")
    DAEMONS_OFF_FAST = _row(461, "M:ADMIN", _ASKED, "Stop all daemons but the master, fast.")
    MASTER_OFF_FAST = _row(462, "M:ADMIN", _ASKED, "Stop all daemons and the master, fast.")
    GET_RESLIST = _row(463, "N:READ", _ASKED, "List the slots a user holds.")
    ATTEMPT_ACCESS = _row(464, "S:WRITE", _ASKED, "Ask whether a file may be read or written.")
    VACATE_CLAIM = _row(465, "E:ADMIN", _ASKED, "Vacate one slot's claim with its vacate time.")
    DAEMON_OFF = _row(467, "M:ADMIN", _ASKED, "Stop one daemon gracefully.")
    DAEMON_OFF_FAST = _row(468, "M:ADMIN", _ASKED, "Stop one daemon fast.")
    DAEMON_ON = _row(469, "M:ADMIN", _ASKED, "Start one daemon.")
    GIVE_TOTALS_CLASSAD = _row(470, "E:READ", _ASKED, "Read totals of the machine's slots.")
    VACATE_ALL_FAST = _row(474, "E:ADMIN", _ASKED, "Vacate every claim at once.")
    VACATE_CLAIM_FAST = _row(475, "E:ADMIN", _ASKED, "Vacate one slot's claim at once.")
    ACT_ON_JOBS = _row(
        478,
        "S:WRITE",
        _FORCED,
        "Hold, release, remove, vacate, suspend or continue jobs.",
    )
    STORE_CRED = _row(479, "S:WRITE K:WRITE", _FORCED, "Add, delete or query a user's credential.")
    SPOOL_JOB_FILES = _row(
        480,
        "S:WRITE",
        _FORCED,
        "Send the input files of jobs to their spool directories.",
    )
    DELETE_USER = _row(482, "N:ADMIN", _ASKED, "Forget a user's accounting record.")
    DAEMON_OFF_PEACEFUL = _row(483, "M:ADMIN", _ASKED, "Stop one daemon after its jobs have ended.")
    DAEMONS_OFF_PEACEFUL = _row(
        484,
        "M:ADMIN",
        _ASKED,
        "Stop all daemons but the master after their jobs have ended.",
    )
    RESTART_PEACEFUL = _row(485, "M:ADMIN", _ASKED, "Restart after the jobs have ended.")
    TRANSFER_DATA = _row(
        486,
        "S:WRITE",
        _FORCED,
        "Fetch the output files of jobs from their spool directories.",
    )
    UPDATE_GSI_CRED = _row(
        487,
        "S:WRITE R:WRITE",
        _FORCED,
        "Replace a job's proxy certificate by a file.",
    )
    SPOOL_JOB_FILES_WITH_PERMS = _row(
        488,
        "S:WRITE",
        _FORCED,
        "As SPOOL_JOB_FILES, with version and file modes.",
    )
    TRANSFER_DATA_WITH_PERMS = _row(
        489,
        "S:WRITE",
        _FORCED,
        "As TRANSFER_DATA, with version and file modes.",
    )
    CHILD_ON = _row(490, "M:ADMIN", _ASKED, "Start one child of the master.")
    CHILD_OFF = _row(491, "M:ADMIN", _ASKED, "Stop one child of the master gracefully.")
    CHILD_OFF_FAST = _row(492, "M:ADMIN", _ASKED, "Stop one child of the master fast.")
    SET_ACCUMUSAGE = _row(494, "N:ADMIN", _ASKED, "Set a user's accumulated usage.")
    SET_BEGINTIME = _row(495, "N:ADMIN", _ASKED, "Set the time a user's usage began.")
    SET_LASTTIME = _row(496, "N:ADMIN", _ASKED, "Set the time of a user's last usage.")
    STORE_POOL_CRED = _row(497, "M:ADMIN", _ASKED, "Store the pool password.")
    DELEGATE_GSI_CRED_SCHEDD = _row(
        499,
        "S:WRITE",
        _FORCED,
        "Delegate a proxy certificate to a job at the schedd.",
    )
    DELEGATE_GSI_CRED_STARTER = _row(
        500,
        "R:WRITE",
        _ASKED,
        "Delegate a proxy certificate to a job at its starter.",
    )
    DELEGATE_GSI_CRED_STARTD = _row(
        501,
        "E:DAEMON",
        _ASKED,
        "Delegate a proxy certificate before a claim is activated.",
    )
    VM_UNIV_GAHP_ERROR = _row(
        503, "E:DAEMON", _ASKED, "A virtual machine's driver reports an error."
    )
    VM_UNIV_VMPID = _row(504, "E:DAEMON", _ASKED, "A virtual machine reports its process id.")
    VM_UNIV_GUEST_IP = _row(505, "E:DAEMON", _ASKED, "A virtual machine reports its IP address.")
    VM_UNIV_GUEST_MAC = _row(506, "E:DAEMON", _ASKED, "A virtual machine reports its MAC address.")
    TRANSFER_QUEUE_REQUEST = _row(507, "S:WRITE", _ASKED, "Ask for a place in the transfer queue.")
    SET_SHUTDOWN_PROGRAM = _row(
        508,
        "M:ADMIN",
        _ASKED,
        "Set the program that the master runs when it shuts down.",
    )
    GET_JOB_CONNECT_INFO = _row(509, "S:WRITE", _FORCED, "Ask how to reach a running job.")
    RECYCLE_SHADOW = _row(
        510,
        "S:DAEMON",
        _FORCED,
        "A shadow reports its exit and asks for another job of the claim.",
    )
    CLEAR_DIRTY_JOB_ATTRS = _row(511, "S:WRITE", _ASKED, "Mark a job's changed attributes as seen.")
    DRAIN_JOBS = _row(512, "E:ADMIN", _ASKED, "Drain the machine.")
    CANCEL_DRAIN_JOBS = _row(513, "E:ADMIN", _ASKED, "Cancel a draining.")
    GET_PRIORITY_ROLLUP = _row(
        514, "N:READ", _ASKED, "As GET_PRIORITY, rolled up through the groups."
    )
    QUERY_SCHEDD_HISTORY = _row(515, "S:READ", _ASKED, "Read the history of jobs.")
    QUERY_JOB_ADS = _row(516, "S:READ", _ASKED, "Read job ads.")
    QUERY_JOB_ADS_WITH_AUTH = _row(519, "S:READ", _FORCED, "Read job ads as an authenticated user.")
    FETCH_PROXY_DELEGATION = _row(520, "G:DAEMON", _FORCED, "Fetch a delegated proxy certificate.")
    REASSIGN_SLOT = _row(521, "S:WRITE", _ASKED, "Give the slots of some jobs to another job, now.")
    COALESCE_SLOTS = _row(522, "E:DAEMON", _ASKED, "Merge claimed slots into one.")
    COLLECTOR_TOKEN_REQUEST = _row(523, "S:ALLOW", _FORCED, "Ask for a token for a collector.")
    SET_CEILING = _row(525, "N:ADMIN", _ASKED, "Set the most slots a user may hold.")
    EXPORT_JOBS = _row(526, "S:WRITE", _FORCED, "Export jobs to another queue.")
    IMPORT_EXPORTED_JOB_RESULTS = _row(
        527, "S:WRITE", _FORCED, "Take back the results of exported jobs."
    )
    UNEXPORT_JOBS = _row(528, "S:WRITE", _FORCED, "Take exported jobs back.")
    SET_FLOOR = _row(530, "N:ADMIN", _ASKED, "Set the fewest slots a user is entitled to.")
    DIRECT_ATTACH = _row(531, "S:WRITE", _FORCED, "Hand slots straight to a schedd.")
    MANAGE_CEILING = _row(532, "N:ADMIN", _ASKED, "Lease a change of ceilings.")
    MANAGE_FLOOR = _row(533, "N:ADMIN", _ASKED, "Lease a change of floors.")
    MANAGE_PRIORITY_FACTOR = _row(534, "N:ADMIN", _ASKED, "Lease a change of priority factors.")
    QUERY_USERREC_ADS = _row(540, "S:READ", _FORCED, "Read user records.")
    ENABLE_USERREC = _row(541, "S:ADMIN", _FORCED, "Enable or create user records.")
    DISABLE_USERREC = _row(542, "S:ADMIN", _FORCED, "Disable user records.")
    EDIT_USERREC = _row(543, "S:ADMIN", _FORCED, "Change user records.")
    RESET_USERREC = _row(544, "S:ADMIN", _FORCED, "Reset user records.")
    DELETE_USERREC = _row(549, "S:ADMIN", _FORCED, "Delete user records.")
    GET_CONTACT_INFO = _row(550, "S:READ", _FORCED, "Ask how to contact a running job.")
    CREATE_OCU_FOR_USERREC = _row(
        551,
        "S:WRITE",
        _FORCED,
        "Create an owned capacity unit for a user record.",
    )
    REMOVE_OCU_FROM_USERREC = _row(
        552,
        "S:WRITE",
        _FORCED,
        "Remove an owned capacity unit from a user record.",
    )
    QUERY_OCU_FROM_USERREC = _row(
        553,
        "S:READ",
        _FORCED,
        "Read the owned capacity units of a user record.",
    )
    REACTIVATE_CLAIM_CHECK = _row(
        554, "E:DAEMON", _ASKED, "Ask whether a claim may start another job."
    )
    PLACEMENT_USER_LOGIN = _row(555, "P:ADMIN", _FORCED, "Log a user in at the placement daemon.")
    PLACEMENT_QUERY_USERS = _row(556, "P:ADMIN", _FORCED, "Read the placement daemon's users.")
    PLACEMENT_QUERY_TOKENS = _row(557, "P:ADMIN", _FORCED, "Read the placement daemon's tokens.")
    PLACEMENT_QUERY_AUTHORIZATIONS = _row(
        558,
        "P:ADMIN",
        _FORCED,
        "Read the placement daemon's authorizations.",
    )
    CREATE_STARTUP_LIMIT = _row(559, "S:ADMIN", _FORCED, "Create a limit on job starts.")
    QUERY_STARTUP_LIMITS = _row(560, "S:READ", _FORCED, "Read the limits on job starts.")
    DEACTIVATE_CLAIM_FINAL_XFER = _row(
        561,
        "E:DAEMON",
        _ASKED,
        "End a claim's job after a last transfer of its files.",
    )
    REHOME = _row(562, "E:ADMIN", _ASKED, "Move a machine to another schedd.")
    COMMAND_DATA_SLOT = _row(563, "E:DAEMON", _ASKED, "Give a command to a data slot.")
    HAD_ALIVE_CMD = _row(
        700, "A:DAEMON", _ASKED, "A replica of the high-availability daemon is alive."
    )
    HAD_SEND_ID_CMD = _row(
        701,
        "A:DAEMON",
        _ASKED,
        "A replica of the high-availability daemon tells its id.",
    )
    REPLICATION_TRANSFER_FILE = _row(800, "A:DAEMON", _ASKED, "Transfer a replicated file.")
    REPLICATION_LEADER_VERSION = _row(
        801,
        "A:DAEMON",
        _ASKED,
        "The leader tells its version of the replicated file.",
    )
    REPLICATION_NEWLY_JOINED_VERSION = _row(
        802,
        "A:DAEMON",
        _ASKED,
        "A newcomer tells its version of the replicated file.",
    )
    REPLICATION_GIVING_UP_VERSION = _row(803, "A:DAEMON", _ASKED, "A leader gives up.")
    REPLICATION_SOLICIT_VERSION = _row(
        804, "A:DAEMON", _ASKED, "Ask the replicas for their versions."
    )
    REPLICATION_SOLICIT_VERSION_REPLY = _row(
        805, "A:DAEMON", _ASKED, "Answer with a replica's version."
    )
    REPLICATION_TRANSFER_FILE_NEW = _row(
        806,
        "A:DAEMON",
        _ASKED,
        "Transfer a replicated file, new protocol.",
    )

    # Queue management and claim commands
    CA_AUTH_CMD = _row(1000, "E:WRITE", _ASKED, "A claim command as an ad, authenticated.")
    QMGMT_READ_CMD = _row(1111, "S:READ", _ASKED, "Read the job queue.")
    QMGMT_WRITE_CMD = _row(1112, "S:WRITE", _FORCED, "Change the job queue.")
    CA_CMD = _row(1200, "E:WRITE R:WRITE", _ASKED, "A claim command as an ad.")
    STARTER_VACATE_JOB = _row(1500, "R:DAEMON", _ASKED, "Tell a starter to vacate its job.")
    CREATE_JOB_OWNER_SEC_SESSION = _row(
        1501,
        "R:DAEMON",
        _ASKED,
        "Make a session with a starter for the job's owner.",
    )
    START_SSHD = _row(1502, "R:READ", _ASKED, "Start a shell server beside a job.")
    STARTER_PEEK = _row(1503, "R:READ", _ASKED, "Read the tail of a job's files.")

    # Every daemon
    DC_RAISESIGNAL = _row(60000, "all:DAEMON", _ASKED, "Raise a signal in a daemon.")
    DC_CONFIG_PERSIST = _row(
        60002,
        "all:DAEMON+ALLOW",
        _ASKED,
        "Set a configuration name until it is unset.",
    )
    DC_CONFIG_RUNTIME = _row(
        60003,
        "all:DAEMON+ALLOW",
        _ASKED,
        "Set a configuration name until the daemon restarts.",
    )
    DC_RECONFIG = _row(60004, "all:ADMIN", _ASKED, "Read the configuration again.")
    DC_OFF_GRACEFUL = _row(60005, "all:ADMIN", _ASKED, "Shut down gracefully.")
    DC_OFF_FAST = _row(60006, "all:ADMIN", _ASKED, "Shut down fast.")
    DC_CONFIG_VAL = _row(
        60007,
        "all:READ",
        _ASKED,
        "Read a configuration name with its source, default and use.",
    )
    DC_CHILDALIVE = _row(60008, "all:DAEMON", _ASKED, "A child tells its parent that it is alive.")
    DC_AUTHENTICATE = _row(
        60010,
        "all:ALLOW",
        _ASKED,
        "Begin a security negotiation or resume a session.",
    )
    DC_NOP = _row(60011, "all:ALLOW", _ASKED, "Do nothing.")
    DC_RECONFIG_FULL = _row(
        60012,
        "all:ADMIN",
        _ASKED,
        "Read the configuration again, with all logs and addresses.",
    )
    DC_FETCH_LOG = _row(60013, "all:ADMIN", _ASKED, "Read a log or a history file.")
    DC_OFF_PEACEFUL = _row(60015, "all:ADMIN", _ASKED, "Shut down after the jobs have ended.")
    DC_SET_PEACEFUL_SHUTDOWN = _row(
        60016,
        "all:ADMIN",
        _ASKED,
        "Let the next shutdown wait for the jobs.",
    )
    DC_TIME_OFFSET = _row(60017, "all:DAEMON", _ASKED, "Compare clocks.")
    DC_PURGE_LOG = _row(60018, "all:ADMIN", _ASKED, "Remove old per-job history files.")
    DC_NOP_READ = _row(60020, "all:READ", _ASKED, "Do nothing, at level READ.")
    DC_NOP_WRITE = _row(60021, "all:WRITE", _ASKED, "Do nothing, at level WRITE.")
    DC_NOP_NEGOTIATOR = _row(60022, "all:NEGOTIATOR", _ASKED, "Do nothing, at level NEGOTIATOR.")
    DC_NOP_ADMINISTRATOR = _row(60023, "all:ADMIN", _ASKED, "Do nothing, at level ADMINISTRATOR.")
    DC_NOP_OWNER = _row(60024, "all:ADMIN", _ASKED, "Do nothing, at the former level OWNER.")
    DC_NOP_CONFIG = _row(60025, "all:CONFIG", _ASKED, "Do nothing, at level CONFIG.")
    DC_NOP_DAEMON = _row(60026, "all:DAEMON", _ASKED, "Do nothing, at level DAEMON.")
    DC_NOP_ADVERTISE_STARTD = _row(
        60027,
        "all:ADVERTISE_STARTD",
        _ASKED,
        "Do nothing, at level ADVERTISE_STARTD.",
    )
    DC_NOP_ADVERTISE_SCHEDD = _row(
        60028,
        "all:ADVERTISE_SCHEDD",
        _ASKED,
        "Do nothing, at level ADVERTISE_SCHEDD.",
    )
    DC_NOP_ADVERTISE_MASTER = _row(
        60029,
        "all:ADVERTISE_MASTER",
        _ASKED,
        "Do nothing, at level ADVERTISE_MASTER.",
    )
    DC_SEC_QUERY = _row(60040, "all:ALLOW", _ASKED, "Ask what an identity may do.")
    DC_SET_FORCE_SHUTDOWN = _row(
        60041, "all:ADMIN", _ASKED, "Let the next shutdown ask no questions."
    )
    DC_OFF_FORCE = _row(60042, "all:ADMIN", _ASKED, "Shut down whatever happens.")
    DC_SET_READY = _row(60043, "M:DAEMON", _ASKED, "A daemon tells the master that it is ready.")
    DC_QUERY_READY = _row(60044, "M:READ", _ASKED, "Ask the master whether its daemons are ready.")
    DC_QUERY_INSTANCE = _row(
        60045, "all:ALLOW", _ASKED, "Read the random id of this daemon's life."
    )
    DC_GET_SESSION_TOKEN = _row(
        60046,
        "all:DAEMON+ALLOW",
        _ASKED,
        "Issue a token for the identity of this session.",
    )
    DC_START_TOKEN_REQUEST = _row(
        60047,
        "all:DAEMON+ALLOW",
        _ASKED,
        "Ask for a token that an administrator must approve.",
    )
    DC_FINISH_TOKEN_REQUEST = _row(60048, "all:DAEMON+ALLOW", _ASKED, "Fetch the token asked for.")
    DC_LIST_TOKEN_REQUEST = _row(60049, "all:DAEMON+ALLOW", _FORCED, "List the token requests.")
    DC_APPROVE_TOKEN_REQUEST = _row(60050, "all:DAEMON+ALLOW", _FORCED, "Approve a token request.")
    DC_AUTO_APPROVE_TOKEN_REQUEST = _row(
        60051,
        "all:ADMIN",
        _ASKED,
        "Approve requests from a network for a while.",
    )
    DC_EXCHANGE_SCITOKEN = _row(
        60052,
        "all:WRITE+ALLOW",
        _FORCED,
        "Exchange a SciToken for a token of this pool.",
    )

    # File transfer and the rest
    FILETRANS_UPLOAD = _row(
        61000,
        "S:WRITE H:WRITE R:WRITE",
        _ASKED,
        "The peer receives files of a transfer.",
    )
    FILETRANS_DOWNLOAD = _row(
        61001,
        "S:WRITE H:WRITE R:WRITE",
        _ASKED,
        "The peer sends files of a transfer.",
    )
    DAGMAN_GENERIC = _row(61500, "D:ALLOW", _ASKED, "A word to a workflow manager.")
    GIVE_MATCHES = _row(71003, "S:DAEMON", _ASKED, "Matches for the dedicated scheduler.")
    CREDD_GET_CRED = _row(81001, "H:DAEMON K:DAEMON", _FORCED, "Fetch a stored credential.")
    CREDD_GET_TOKEN = _row(81004, "K:WRITE", _FORCED, "Fetch a stored token.")
    CREDD_CHECK_CREDS = _row(81030, "K:WRITE", _FORCED, "Ask whether credentials are there.")
    CREDD_GET_PASSWD = _row(81099, "K:DAEMON", _FORCED, "Fetch a stored password.")
    CREDD_NOP = _row(81100, "K:DAEMON", _ASKED, "Do nothing, at the credential daemon.")


# What who knows a claim may do with its session: speak of claims and of the jobs that run on them.
# Each daemon answers some of them; the levels of `…-side@matchsession` would reach further.
CLAIM_COMMANDS = frozenset(
    (
        Command.MATCH_INFO,
        Command.REQUEST_CLAIM,
        Command.ACTIVATE_CLAIM,
        Command.REACTIVATE_CLAIM_CHECK,
        Command.SUSPEND_CLAIM,
        Command.CONTINUE_CLAIM,
        Command.DEACTIVATE_CLAIM,
        Command.DEACTIVATE_CLAIM_FORCIBLY,
        Command.DEACTIVATE_CLAIM_JOB_DONE,
        Command.DEACTIVATE_CLAIM_FINAL_XFER,
        Command.RELEASE_CLAIM,
        Command.COALESCE_SLOTS,
        Command.COMMAND_DATA_SLOT,
        Command.ALIVE,
        Command.CA_CMD,
        Command.CA_AUTH_CMD,
        Command.STARTER_VACATE_JOB,
        Command.CREATE_JOB_OWNER_SEC_SESSION,
        Command.DELEGATE_GSI_CRED_STARTD,
        Command.DELEGATE_GSI_CRED_STARTER,
        Command.UPDATE_GSI_CRED,
        Command.DC_NOP,
    )
)
# What a session that a shadow gives a starter for the job's files is good for.
TRANSFER_COMMANDS = frozenset((Command.FILETRANS_UPLOAD, Command.FILETRANS_DOWNLOAD))
# What a session beside a running job is good for, which the job's owner is given.
OWNER_COMMANDS = frozenset((Command.STARTER_PEEK, Command.START_SSHD))


class NegotiationWord(NamedNumber):
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


class DaemonSignal(NamedNumber):
    """Signals that DC_RAISESIGNAL carries beside the system's own."""

    SIGSUSPEND = 100
    SIGCONTINUE = 101
    SIGSOFTKILL = 102
    SIGHARDKILL = 103
    SIGPCKPT = 104
    SIGREMOVE = 105
    SIGHOLD = 106


class Reply(NamedNumber):
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
