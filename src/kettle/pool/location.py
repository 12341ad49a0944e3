"""Where a pool's folder stands among machines: alone, the centre of a pool, or a member of one.

Settings as text, and the line of the configuration in which a folder remembers what it is; pure.
Who may do what beyond the folder's own user is decided here, too: other machines come with a
token alone, as `ROLE@members.DOMAIN`, and each role holds the levels it needs and no other.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import StrEnum

from kettle.errors import UsageError
from kettle.levels import Level
from kettle.runtime.sockets.addresses import DEFAULT_PORT

MARK = "# Stands: "


class Role(StrEnum):
    """What a member does for its pool."""

    EXECUTE = "execute"
    SUBMIT = "submit"
    BOTH = "both"

    @property
    def daemons(self) -> tuple[str, ...]:
        """The daemons of such a member, without its master."""
        return _DAEMONS[self]

    @property
    def levels(self) -> tuple[Level, ...]:
        """What its token allows at the central manager."""
        return _LEVELS[self]


_DAEMONS = {
    Role.EXECUTE: ("STARTD",),
    Role.SUBMIT: ("SCHEDD",),
    Role.BOTH: ("SCHEDD", "STARTD"),
}
_LEVELS = {
    Role.EXECUTE: (Level.READ, Level.ADVERTISE_MASTER, Level.ADVERTISE_STARTD),
    Role.SUBMIT: (Level.READ, Level.ADVERTISE_MASTER, Level.ADVERTISE_SCHEDD),
    Role.BOTH: (
        Level.READ,
        Level.ADVERTISE_MASTER,
        Level.ADVERTISE_STARTD,
        Level.ADVERTISE_SCHEDD,
    ),
}


@dataclass(frozen=True, slots=True)
class Alone:
    """One machine, nothing listening elsewhere."""

    def render(self) -> str:
        """Return the settings of its network."""
        return _ALONE


@dataclass(frozen=True, slots=True)
class Centre:
    """A whole pool that other machines may join: its daemons listen at `address`."""

    address: str
    port: int = DEFAULT_PORT

    def render(self) -> str:
        """Return the settings of its network."""
        return _CENTRE.format(address=self.address, endpoint=join_endpoint(self.address, self.port))


@dataclass(frozen=True, slots=True)
class Member:
    """A machine of a pool whose central manager is elsewhere.

    `interface` is this machine's address on the way there, `name` what the pool calls it (empty:
    its host name). Nobody connects to one that is `walled`; it is called through the collector.
    """

    address: str
    port: int
    role: Role
    interface: str
    name: str = ""
    walled: bool = False

    def render(self) -> str:
        """Return the settings of its network."""
        text = _MEMBER.format(
            address=self.address,
            endpoint=join_endpoint(self.address, self.port),
            interface=self.interface,
            daemons=" ".join(("MASTER", *self.role.daemons)),
        )
        if self.walled:
            text += _WALLED
        if self.name:
            text += "".join(
                f"{daemon}_NAME = {self.name}\n" for daemon in ("MASTER", *self.role.daemons)
            )
        return text


Location = Alone | Centre | Member
_KINDS: dict[str, type[Alone] | type[Centre] | type[Member]] = {
    "alone": Alone,
    "centre": Centre,
    "member": Member,
}

_ALONE = """\
# Everything is on this machine's loopback interface, on ports that the kernel chooses; the
# address files say which.
CONDOR_HOST = 127.0.0.1
COLLECTOR_HOST = 127.0.0.1:0
NETWORK_INTERFACE = 127.0.0.1
COLLECTOR_ADDRESS_FILE = $(LOG)/.collector_address
NEGOTIATOR_ADDRESS_FILE = $(LOG)/.negotiator_address
DAEMON_LIST = MASTER COLLECTOR NEGOTIATOR SCHEDD STARTD
"""

_CENTRE = """\
# Other machines may join, with a token of this pool (kettle token): its daemons listen here.
CONDOR_HOST = {address}
COLLECTOR_HOST = {endpoint}
NETWORK_INTERFACE = {address}
COLLECTOR_ADDRESS_FILE = $(LOG)/.collector_address
NEGOTIATOR_ADDRESS_FILE = $(LOG)/.negotiator_address
DAEMON_LIST = MASTER COLLECTOR NEGOTIATOR SCHEDD STARTD
"""

_MEMBER = """\
# The central manager is elsewhere; the token in tokens.d lets this machine in there.
CONDOR_HOST = {address}
COLLECTOR_HOST = {endpoint}
NETWORK_INTERFACE = {interface}
DAEMON_LIST = {daemons}
"""

_WALLED = """\
# Nobody can connect to this machine: the collector has it call back.
CCB_ADDRESS = $(COLLECTOR_HOST)
"""

_MEMBERS_MAY = """\
# Machines that joined are known by a token, and may do at the central manager what they are for.
POOL_MEMBERS = members.{domain}
ALLOW_READ_COLLECTOR = $(ALLOW_READ), *@$(POOL_MEMBERS)
ALLOW_READ_NEGOTIATOR = $(ALLOW_READ), *@$(POOL_MEMBERS)
ALLOW_ADVERTISE_MASTER_COLLECTOR = $(ALLOW_DAEMON), *@$(POOL_MEMBERS)
ALLOW_ADVERTISE_STARTD_COLLECTOR = $(ALLOW_DAEMON), execute@$(POOL_MEMBERS), both@$(POOL_MEMBERS)
ALLOW_ADVERTISE_SCHEDD_COLLECTOR = $(ALLOW_DAEMON), submit@$(POOL_MEMBERS), both@$(POOL_MEMBERS)
ALLOW_ADVERTISE_SCHEDD_NEGOTIATOR = $(ALLOW_ADVERTISE_SCHEDD_COLLECTOR)
"""

# A member cannot sign tokens, and its own user's tools come with the token of its daemons.
_OF_A_MEMBER = """\
# By its token it is a member wherever it is; on the central manager's own host FS would come first,
# and prove what account it is.
KETTLE_CLIENT_METHODS_FIRST = IDTOKENS
SEC_PASSWORD_FILE =
SEC_TOKEN_POOL_SIGNING_KEY_FILE =
"""
_OF_ONE_ACCOUNT = "SEC_TOKEN_DIRECTORY = $(SEC_TOKEN_SYSTEM_DIRECTORY)\n"


def render_trust(location: Location, domain: str, *, one_account: bool) -> str:
    """Return the settings of who may do what that differ from a pool alone's.

    `one_account`: the daemons run as the user whose pool it is.
    """
    match location:
        case Centre():
            return _MEMBERS_MAY.format(domain=domain)
        case Member():
            return _OF_A_MEMBER + (_OF_ONE_ACCOUNT if one_account else "")
        case _:
            return ""


def render_mark(location: Location) -> str:
    """Return the line by which the folder remembers where it stands."""
    kind = next(name for name, one in _KINDS.items() if isinstance(location, one))
    return MARK + json.dumps({"kind": kind, **asdict(location)})


def read_mark(text: str) -> Location:
    """Return where the folder with this configuration stands; `Alone` if it does not say."""
    for line in text.splitlines():
        if not line.startswith(MARK):
            continue
        try:
            facts = json.loads(line.removeprefix(MARK))
            if "role" in facts:
                facts["role"] = Role(facts["role"])
            return _KINDS[facts.pop("kind")](**facts)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(
                f"the pool's configuration has a line that is damaged: {line}"
            ) from error
    return Alone()


def is_own_name(location: Location, name: str, host: str) -> bool:
    """Tell whether the ad of this name is of a daemon, or a slot, of the machine at `location`."""
    if not isinstance(location, Member):
        return True
    owner = name.partition("@")[2] if name.startswith("slot") else name
    own = location.name
    return owner in ({own, f"{own}@{host}"} if own else {host})


def join_endpoint(address: str, port: int) -> str:
    """Return HOST:PORT, with the brackets that an IPv6 address needs."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def parse_endpoint(text: str) -> tuple[str, int]:
    """Read HOST, HOST:PORT, or [ADDRESS]:PORT; the port is the collector's by default.

    Raises UsageError for what is none of these.
    """
    host, port = text, ""
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        port = rest.removeprefix(":")
    elif text.count(":") == 1:
        host, _, port = text.partition(":")
    if not host or any(letter in host for letter in "<>,/? \t") or (port and not port.isdecimal()):
        raise UsageError(f"{text} is neither HOST nor HOST:PORT")
    number = int(port) if port else DEFAULT_PORT
    if not 0 < number < 65536:
        raise UsageError(f"{text}: there is no port {number}")
    return host, number
