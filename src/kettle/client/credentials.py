"""Passwords and credentials, sent to the daemon that keeps them.

Who is asked, and what is said of the answer, is `condor_store_cred`'s. Source: wire notes, Command
integers (M, K).
"""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.client.connector import Connector
from kettle.wire.commands import Command
from kettle.wire.messages.credentials import (
    CredentialAnswer,
    CredentialMode,
    StoreCredential,
    StoreCredentialReply,
    StorePoolPassword,
    StorePoolPasswordReply,
)
from kettle.wire.sinful import Sinful


def send_pool_password(
    connector: Connector, address: Sinful, domain: str, password: str, *, only_secretly: bool
) -> int:
    """Have a master keep the pool password, or forget it if that is empty; return its answer.

    With `only_secretly` nothing is sent over a connection that is not encrypted.
    """
    with connector.connect(address, Command.STORE_POOL_CRED) as stream:
        if only_secretly and not stream.encrypted:
            return CredentialAnswer.NOT_SECURE
        stream.send(StorePoolPassword(domain, password))
        return StorePoolPasswordReply.read(stream.receive()).answer


def send_credential(
    connector: Connector,
    address: Sinful,
    user: str,
    mode: int,
    credential: bytes,
    details: ClassAd,
    *,
    only_secretly: bool,
) -> tuple[int, ClassAd]:
    """Add, delete or ask for a user's credential, as `mode` says; return the answer and its ad.

    `user` may be empty: whom the daemon takes us for. See `send_pool_password` for the rest.
    """
    with connector.connect(address, Command.STORE_CRED, force_authentication=True) as stream:
        if only_secretly and not stream.encrypted:
            return CredentialAnswer.NOT_SECURE, ClassAd()
        if mode & CredentialMode.LEGACY:
            password = credential.decode("utf-8", "surrogateescape")
            stream.send(StoreCredential(user, password, mode, None, None))
        else:
            stream.send(StoreCredential(user, "", mode, credential, details))
        reply = StoreCredentialReply.read(stream.receive())
    return reply.answer, reply.details or ClassAd()
