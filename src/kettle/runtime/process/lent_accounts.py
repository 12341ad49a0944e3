"""Accounts for owners who have none on this machine: ids that nobody else has.

Whom a token alone vouches for owns jobs and files on an access point where root cannot become him.
Were he `nobody` there, jobs that run as `nobody` would have his files and his shadows theirs. So
he is lent a uid, and a group of the same number: the kernel keeps him from everybody and everybody
from him. His jobs on execution points run as `nobody` all the same (`Privileges.job_account`),
those on the access point as he is there.

Who he is, is his whole identity, `name@domain`. Which id he has is in a register, and stays: a file
in the spool that the schedd alone reads and writes (`schedd.services.owner_accounts`). What the
register says, and which id is the next one's, is decided here. Pure.

Compat: the reference's daemons do nothing for an owner without an account; his job never starts
(test_who_has_no_account_submits_and_fetches).
"""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from kettle.octets import to_bytes
from kettle.patterns import late_pattern
from kettle.runtime.process.privileges import Account

# What distributions and containers leave alone: the upper half, without its last ids. Limit: name
# services that hand ids out there, as FreeIPA does to subordinate users, are asked by uid only.
UNUSED = range(1 << 31, (1 << 32) - (1 << 16))
# Of a namespace that does not have those: the upper half of its largest piece, if there are so many
# in it; its last ones are often taken (nobody's 65534).
_FEWEST = 10_000
_LAST_LEFT = 100
# Free ids of which is asked whether an account has them, before it is given up: the first one has
# none nearly always.
_TRIES = 8
# Limit: those who are lent an account, and the bytes of the name of each.
MOST_ENTRIES = 10_000
LONGEST_USER = 256

_HEAD = "# Who has no account on this machine, and which uid each is lent there. The schedd's own."
_ENTRY = late_pattern(r"([1-9]\d{0,9}) ([^\x00-\x20\x7f][^\x00-\x1f\x7f]*)")
_END = late_pattern(r"end (\d{1,9})")


@dataclass(frozen=True, slots=True)
class Register:
    """Who has which uid. `damage` says what of it cannot be read: a sentence for each place."""

    uids: Mapping[str, int] = field(default_factory=dict)
    damage: tuple[str, ...] = ()


def read_register(text: str) -> Register:
    """Return what a register says: what can be read of it counts, whatever else is in it.

    What is said twice, of a user or of a uid, is not said.
    """
    lines = text.split("\n")
    damage = [] if lines.pop() == "" and lines else ["its last line has no end"]
    end = _END.fullmatch(lines[-1]) if lines else None
    entries: list[tuple[int, int, str]] = []
    for number, line in enumerate(lines[:-1] if end else lines, 1):
        entry = _ENTRY.fullmatch(line)
        if entry:
            entries.append((number, int(entry[1]), entry[2]))
        elif not line.startswith("#"):
            damage.append(f"line {number} is not a uid and a user")
    once = _said_once(entries, damage)
    if end is None or int(end[1]) != len(entries):
        damage.append(f"it does not end with 'end {len(entries)}'")
    return Register(once, tuple(damage))


def _said_once(entries: list[tuple[int, int, str]], damage: list[str]) -> dict[str, int]:
    """Return the uids of users, without what is said twice: that is damage."""
    uids = Counter(uid for _, uid, _ in entries)
    users = Counter(user for _, _, user in entries)
    once = {}
    for number, uid, user in entries:
        if uids[uid] == users[user] == 1:
            once[user] = uid
        else:
            damage.append(f"line {number} is not the only one of {user} or of {uid}")
    return once


def render_register(uids: Mapping[str, int]) -> str:
    """Return the text of a register that is whole."""
    lines = [f"{uid} {user}" for user, uid in uids.items()]
    return "\n".join([_HEAD, *lines, f"end {len(lines)}", ""])


def why_not_entered(register: Register, user: str) -> str:
    """Say why nobody of this name can be entered; empty if he can.

    What is damaged may have been anybody's uid, so whoever is new waits until it is mended.
    """
    if register.damage:
        return f"the register of lent uids is damaged: {register.damage[0]}"
    if len(register.uids) >= MOST_ENTRIES:
        return f"{MOST_ENTRIES} others are lent one already"
    name = _bytes_of(user)
    if not name or len(name) > LONGEST_USER or not _ENTRY.fullmatch(f"1 {user}"):
        return "no uid can be lent to somebody of that name"
    return ""


def lendable(uid_map: str, gid_map: str) -> range:
    """Return the ids to lend in a user namespace, by its maps in /proc/self; maybe none.

    A group has its user's number, so they are of pieces that lie in both maps.
    """
    pieces = [
        range(max(users.start, groups.start), min(users.stop, groups.stop))
        for users in _pieces(uid_map)
        for groups in _pieces(gid_map)
    ]
    if any(piece.start <= UNUSED.start and UNUSED.stop <= piece.stop for piece in pieces):
        return UNUSED
    largest = max(pieces, key=len, default=range(0))
    upper = largest[len(largest) // 2 : -_LAST_LEFT]
    return upper if len(upper) >= _FEWEST else range(0)


def _pieces(id_map: str) -> list[range]:
    lines = ([int(word) for word in line.split()] for line in id_map.splitlines())
    return [range(first, first + count) for first, _, count in lines]


def choose_uid(
    user: str, ids: range, lent: Collection[int], is_taken: Callable[[int], bool]
) -> int | None:
    """Return the uid for somebody new: from the hash of his name on, the first that is free.

    None without ids, and for a name that has no bytes: half a character, from a token. By hash, so
    that whoever comes back to a spool that has lost its register has what was his, most likely.
    """
    name = _bytes_of(user)
    if not ids or not name:
        return None
    first = int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "little")
    circle = (ids[(first + step) % len(ids)] for step in range(len(ids)))
    free = (uid for uid in circle if uid not in lent)
    return next((uid for uid in itertools.islice(free, _TRIES) if not is_taken(uid)), None)


def _bytes_of(user: str) -> bytes | None:
    try:
        return to_bytes(user)
    except UnicodeEncodeError:
        return None


def lent_to(owner: Account | None) -> Account | None:
    """Return the account that a job's owner is lent by its schedd, beside which it runs; or None.

    Then it runs as that: nobody else has it, and no other could reach what is the owner's.
    """
    return owner if owner is not None and owner.lent else None
