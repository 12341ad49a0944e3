"""The configuration of a pool in a folder: one user, or one machine, and nothing elsewhere.

Text only; where it is written is `making.py`'s, what is different in a pool of
several machines `location.py`'s.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from kettle.errors import UsageError
from kettle.pool.location import Alone, Location, render_mark, render_trust

# The first line, by which a folder is known as a pool of ours before anything in it is removed.
MARKER = "# A personal pool of Kettle. Written by `kettle up`; your own settings go into config.d."

_TEXT = """\
{marker}
{mark}
LOCAL_DIR = {folder}
LOG = $(LOCAL_DIR)/log
SPOOL = $(LOCAL_DIR)/spool
EXECUTE = $(LOCAL_DIR)/execute
LOCK = $(LOCAL_DIR)/lock
RUN = $(LOCAL_DIR)/run
ETC = $(LOCAL_DIR)/etc
BIN = {programs}
SBIN = $(BIN)
LIBEXEC = $(BIN)
{config_folder} = $(LOCAL_DIR)/config.d
LOCAL_CONFIG_FILE =

{network}BIND_ALL_INTERFACES = false
USE_SHARED_PORT = false
WANT_UDP_COMMAND_SOCKET = false
# The bindings send updates as UDP messages where they are told to, whatever an address says.
COLLECTOR.WANT_UDP_COMMAND_SOCKET = true

# Nobody but this user may do anything, and everything is authenticated and encrypted.
UID_DOMAIN = {domain}
TRUST_DOMAIN = {domain}
SEC_DEFAULT_AUTHENTICATION = REQUIRED
SEC_DEFAULT_ENCRYPTION = REQUIRED
SEC_DEFAULT_INTEGRITY = REQUIRED
SEC_DEFAULT_AUTHENTICATION_METHODS = FS, IDTOKENS
SEC_PASSWORD_DIRECTORY = $(LOCAL_DIR)/passwords.d
SEC_TOKEN_POOL_SIGNING_KEY_FILE = $(SEC_PASSWORD_DIRECTORY)/POOL
SEC_PASSWORD_FILE = $(SEC_TOKEN_POOL_SIGNING_KEY_FILE)
SEC_TOKEN_SYSTEM_DIRECTORY = $(LOCAL_DIR)/tokens.d
ALLOW_DEFAULT = {allowed}
ALLOW_READ = $(ALLOW_DEFAULT)
ALLOW_WRITE = $(ALLOW_DEFAULT)
ALLOW_DAEMON = $(ALLOW_DEFAULT)
ALLOW_NEGOTIATOR = $(ALLOW_DEFAULT)
ALLOW_ADMINISTRATOR = $(ALLOW_DEFAULT)
ALLOW_CONFIG = $(ALLOW_DEFAULT)
# As a client nobody asks a daemon for its name: FS proves the client's only.
ALLOW_CLIENT = *
{trust}
# The whole machine is one slot that is cut to each job's measure, and always willing.
NUM_SLOTS = 1
NUM_SLOTS_TYPE_1 = 1
SLOT_TYPE_1 = 100%
SLOT_TYPE_1_PARTITIONABLE = true
START = true
SUSPEND = false
PREEMPT = false
KILL = false
WANT_SUSPEND = false
WANT_VACATE = false
RUNBENCHMARKS = false
{stopping}# What the schedd says of itself is never old: it tells a collector on the same machine.
SCHEDD_MIN_INTERVAL = 1
# So many MiB of the disks of jobs and of the spool are not for jobs.
RESERVED_DISK = 64

# Each step of a job leaves a line, with its moment, for `kettle trace`.
ALL_DEBUG = D_JOB D_SUB_SECOND

# A daemon that dies is back within a second or two.
MASTER_BACKOFF_CONSTANT = 0
MASTER_BACKOFF_CEILING = 60
CREDD_POLLING_TIMEOUT = 20
"""

# One user's alone: whoever stops it waits in front of it.
_SOON_DOWN = """\
# A job that ignores its signal keeps `kettle down` waiting no longer than this.
SHUTDOWN_GRACEFUL_TIMEOUT = 60
"""

# Marks a pool that is the whole machine's.
_SYSTEM_MARKER = "# It is the pool of the whole machine: made with --system."
_SYSTEM = """
{marker}
# Everybody on this machine may use it; those named above govern it.
ALLOW_READ = *@$(UID_DOMAIN)
ALLOW_WRITE = *@$(UID_DOMAIN)
# They may read its history, which leaves out what somebody gave his jobs as environment. Of jobs in
# the queue they see that, too, as in HTCondor: it is no place for secrets.
HISTORY_CONTAINS_JOB_ENVIRONMENT = false
"""
_IDS = """
# As whom the daemons work, uid.gid; they switch to the owner of what they touch.
CONDOR_IDS = {ids}
"""

# What a pool gets that was made without them, when an account `condor` governed those of root's.
_ROOT_ALONE = "ALLOW_DEFAULT = root@$(UID_DOMAIN), condor_pool@$(UID_DOMAIN)\n"

_OTHER_ACCOUNT = """
# Root's jobs run as another account: files travel unless a submit file says otherwise.
SUBMIT_DEFAULT_SHOULD_TRANSFER_FILES = YES
"""

_GIVEN = "# Given when the pool was made.\n"
# What stands before the text of each file that was given, with its name behind it.
GIVEN_FROM = "# From "


@dataclass(frozen=True, slots=True)
class PoolSettings:
    """What differs from one personal pool to the next.

    `users` are the names that may do everything; `domain` is what they belong to; `programs` the
    folder with the condor_* commands.
    """

    folder: str
    users: tuple[str, ...]
    domain: str
    programs: str
    extra: str = ""
    # CONDOR_IDS, unless the account is left to be found.
    ids: str = ""
    # The whole machine's pool: everybody may use it.
    system: bool = False
    # Jobs run as another account, so they could not read and write in the submitter's folders.
    other_account: bool = False
    location: Location = field(default_factory=Alone)


def check_name(folder: str) -> None:
    """Raise UsageError for a folder that a configuration cannot name."""
    if "$(" in folder:
        what = "`$(`"
    elif folder != folder.strip():
        what = "a blank at its end"
    elif not folder.isprintable():
        what = "a character that cannot be printed"
    else:
        return
    raise UsageError(
        f"the folder {folder!r} has {what} in its name: no configuration can name it",
        hint="choose another folder with --dir",
    )


def render_configuration(settings: PoolSettings) -> str:
    """Return the text of D/condor_config, for a folder whose name was checked."""
    is_one_user_s = isinstance(settings.location, Alone) and not settings.system
    allowed = ", ".join(f"{user}@$(UID_DOMAIN)" for user in settings.users)
    text = _TEXT.format(
        marker=MARKER,
        folder=settings.folder,
        # A list would be of other folders, which may be anybody's.
        config_folder=(
            "KETTLE_CONFIG_DIR" if re.search(r"[\s,]", settings.folder) else "LOCAL_CONFIG_DIR"
        ),
        programs=settings.programs,
        domain=settings.domain,
        allowed=allowed,
        mark=render_mark(settings.location),
        stopping=_SOON_DOWN if is_one_user_s else "",
        network=settings.location.render(),
        trust=render_trust(
            settings.location, settings.domain, one_account=not settings.other_account
        ),
    )
    if settings.ids:
        text += _IDS.format(ids=settings.ids)
    if settings.system:
        text += _SYSTEM.format(marker=_SYSTEM_MARKER)
    elif settings.other_account:
        text += _OTHER_ACCOUNT
    if settings.extra.strip():
        text += f"\n{_GIVEN}{settings.extra.rstrip()}\n"
    return text


def keep_to_root(text: str, ids: str) -> str:
    """Return a pool's configuration with these CONDOR_IDS, root's, where it names none.

    What its user gave still comes last. Nobody but root governs it from then on.
    """
    written, mark, given = text.partition(f"\n{_GIVEN}")
    return f"{written}{_IDS.format(ids=ids)}{_ROOT_ALONE}{mark}{given}"


def read_given(text: str) -> str:
    """Return the settings of its user's own that a pool's configuration ends with."""
    return text.partition(f"\n{_GIVEN}")[2]


def name_given_lines(said: str, path: str, text: str) -> str:
    """Return a sentence in which given lines are named by the files that they came from.

    It speaks of lines of a pool's configuration, which is `text` and stands in `path`.
    """

    def named(found: re.Match[str]) -> str:
        number = int(found[1])
        before = text.split("\n")[:number]
        if _GIVEN.rstrip() in before:
            for index, line in enumerate(reversed(before)):
                # Files are named from the root on; other such lines are comments of theirs.
                if line.startswith(f"{GIVEN_FROM}/"):
                    return f"{line.removeprefix(GIVEN_FROM)}, line {index}"
        return found[0]

    return re.sub(rf"{re.escape(path)}, line ([1-9]\d{{0,8}})", named, said)


def is_configuration_of_a_pool(text: str) -> bool:
    """Tell whether a file is the configuration of a personal pool."""
    return text.startswith(MARKER)


def is_configuration_of_the_machine(text: str) -> bool:
    """Tell whether a pool's configuration was made with --system."""
    return is_configuration_of_a_pool(text) and f"\n{_SYSTEM_MARKER}\n" in text
