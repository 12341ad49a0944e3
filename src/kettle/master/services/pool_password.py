"""The pool password, as `condor_store_cred -c` has a master keep it.

Source: wire notes, Command integers (M: STORE_POOL_CRED); the shapes are
`wire.messages.credentials`'.
"""

from __future__ import annotations

import os

from kettle.config import Config
from kettle.errors import StorageError
from kettle.runtime.credentials import remove_pool_password, write_pool_password
from kettle.wire.messages.credentials import LONGEST_PASSWORD, CredentialAnswer


def store_pool_password(config: Config, password: str) -> CredentialAnswer:
    """Write the password to SEC_PASSWORD_FILE, or with an empty one delete the file.

    Compat: the reference answers of a file that cannot be deleted, too, that there is none; the
    password is in force as before
    (test_one_that_cannot_be_deleted_is_a_failure_and_not_a_password_that_is_not_there).
    """
    path = config.get("SEC_PASSWORD_FILE")
    data = os.fsencode(password)
    if not path or len(data) > LONGEST_PASSWORD:
        return CredentialAnswer.FAILURE
    try:
        if not data:
            gone = remove_pool_password(path)
            return CredentialAnswer.OK if gone else CredentialAnswer.NOT_FOUND
        write_pool_password(path, data)
    except StorageError:
        return CredentialAnswer.FAILURE
    return CredentialAnswer.OK


def may_set_password(sender: str, config: Config) -> bool:
    """Tell whether a sender (its address, empty if it is this machine) may set the password.

    On CREDD_HOST, whoever knows it can fetch every user's: there it is set from the machine itself.
    """
    host = (config.get("CREDD_HOST") or "").lower()
    address = config.get("IP_ADDRESS") or ""
    own = {(config.get(name) or "").lower() for name in ("FULL_HOSTNAME", "HOSTNAME")}
    return not host or host not in {*own, address} or sender in {"", address}
