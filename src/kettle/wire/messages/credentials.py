"""Passwords and users' credentials, brought to the daemon that keeps them.

The pool password goes to a master; what a user stores is the credential daemon's. Source: wire
notes, Command integers (M, K).
"""

from __future__ import annotations

from enum import IntEnum

from kettle.classad import ClassAd
from kettle.wire.commands import Command
from kettle.wire.messages.fields import Message, ad, counted_bytes, integer, optional, string

# Limit: the largest credential that the reference's credential daemon takes.
LARGEST_CREDENTIAL = 100 * 1024 * 1024
# Limit: the reference's longest password.
LONGEST_PASSWORD = 255
POOL_USER = "condor_pool"


class StoreCredential(Message, command=Command.STORE_CRED):
    """user@domain, a password and a mode; without LEGACY the credential and what it is for."""

    user: str = string()
    password: str = string()
    mode: int = integer()
    credential: bytes | None = optional(counted_bytes(LARGEST_CREDENTIAL))
    details: ClassAd | None = optional(ad(private=True))


class StoreCredentialReply(Message, answers=Command.STORE_CRED):
    """A CredentialAnswer, or the time of a stored one; without LEGACY an ad about it."""

    answer: int = integer()
    details: ClassAd | None = optional(ad())


class StorePoolPassword(Message, command=Command.STORE_POOL_CRED):
    """The domain whose pool it is, and the password; empty deletes it."""

    domain: str = string()
    password: str = string()


class StorePoolPasswordReply(Message, answers=Command.STORE_POOL_CRED):
    """A CredentialAnswer."""

    answer: int = integer()


class CredentialAnswer(IntEnum):
    """What is answered."""

    ABORTED = -1
    FAILURE = 0
    OK = 1
    BAD_PASSWORD = 2
    NO_IMPERSONATION = 3
    NOT_SECURE = 4
    NOT_FOUND = 5
    PENDING = 6
    NOT_ALLOWED = 7
    BAD_ARGUMENTS = 8
    PROTOCOL_MISMATCH = 9
    MONITOR_TIMEOUT = 10
    CONFIGURATION = 11
    JSON = 12
    MISMATCH = 13
    UNTRUSTED_HOST = 14


class CredentialMode(IntEnum):
    """What a mode is made of: an operation in the low two bits, a type, and flags."""

    ADD = 0
    DELETE = 1
    QUERY = 2
    OPERATIONS = 3
    KERBEROS = 0x20
    PASSWORD = 0x24
    OAUTH = 0x28
    TYPES = 0x2C
    LEGACY = 0x40
    WAIT = 0x80
