"""Accounts for owners who have none on this machine: ids that nobody else has.

Whom a token alone vouches for owns jobs and files on an access point where root cannot become him.
Were he `nobody` there, jobs that run as `nobody` would have his files and his shadows theirs. So
he is lent a uid, and a group of the same number, made of his name: the kernel keeps him from
everybody and everybody from him, and he has the same after a restart. His jobs on execution points
run as `nobody` all the same (`Privileges.job_account`), those on the access point as he is there.

Compat: the reference's daemons do nothing for an owner without an account; his job never starts
(test_who_has_no_account_submits_and_fetches).
Limit: the ids are taken by hash, so that of 2,000 such owners two are alike with a chance of one in
a thousand, and of 500 in a container some are; names of different domains are one, as they would be
one account. An account that a name service does not tell of for a moment counts as none.
"""

from __future__ import annotations

import functools
import hashlib
import pwd
from collections.abc import Callable

from kettle.errors import NotFoundError
from kettle.runtime.process.privileges import Account, find_account

# What distributions and containers leave alone: the upper half, without its last ids. Limit: name
# services that hand ids out there, as FreeIPA does to subordinate users, are asked by uid only.
UNUSED = range(1 << 31, (1 << 32) - (1 << 16))
# Of a namespace that does not have those: the upper half of its largest piece, if there are so many
# in it; its last ones are often taken (nobody's 65534).
_FEWEST = 10_000
_LAST_LEFT = 100
# Ids that are tried before it is given up; the first one is free nearly always.
_TRIES = 8


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


def lent_uid(owner: str, ids: range, is_taken: Callable[[int], bool]) -> int | None:
    """Return the id of an owner's name: the first by hash that is not taken.

    None without ids, and for a name that has no bytes: half a character, from a token.
    """
    try:
        name = owner.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return None
    for number in range(_TRIES if ids else 0):
        salt = number.to_bytes(16, "little")
        digest = hashlib.blake2b(name, digest_size=8, salt=salt).digest()
        uid = ids[int.from_bytes(digest, "little") % len(ids)]
        if not is_taken(uid):
            return uid
    return None


def find_or_lend(owner: str) -> Account:
    """Return an owner's account, or a lent one; NotFoundError where there is no id to lend.

    For the files of one on an access point, and for what he executes there himself.
    """
    try:
        return find_account(owner)
    except NotFoundError as error:
        uid = lent_uid(owner, _ids(), _is_taken) if owner else None
        if uid is None:
            raise NotFoundError(f"{error}, and no uid to lend") from None
    return Account(owner, uid, uid, (), lent=True)


@functools.cache
def _ids() -> range:
    try:
        with open("/proc/self/uid_map") as users, open("/proc/self/gid_map") as groups:
            return lendable(users.read(), groups.read())
    except OSError:
        return range(0)


def _is_taken(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True
