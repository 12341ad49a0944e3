"""The reference's words for a daemon that cannot be reached or does not let us in.

Its tools print the whole stack of what went wrong below: `SUBSYSTEM:CODE:TEXT`, the outermost
first. Recorded from HTCondor 25.14.1 (tests/cli/test_silent_pool.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.errors import (
    AuthenticationFailed,
    AuthorizationDenied,
    ConnectionLost,
    KettleError,
    NotConnected,
    RefusedError,
    UnknownHostError,
    Unreached,
)
from kettle.wire.security.negotiation import display_method

if TYPE_CHECKING:
    from kettle.config import Config


def explain(error: KettleError) -> list[str]:
    """Return what the reference says about a failure, the outermost reason first."""
    match error:
        case AuthorizationDenied():
            said = f'Received "{error.code}" from server for user {error.user}'
            return [f"SECMAN:2010:{said} using method {display_method(error.method)}."]
        case AuthenticationFailed(tried=()):
            return ["SECMAN:2005:Protocol Error: No auth methods."]
        case AuthenticationFailed():
            tried = [display_method(name) for name in reversed(error.tried)]
            return [
                "AUTHENTICATE:1003:Failed to authenticate with any method",
                *(f"AUTHENTICATE:1004:Failed to authenticate using {name}" for name in tried),
            ]
        case NotConnected(address=str(address)) if address:
            return [f"CEDAR:6001:Failed to connect to {address}"]
        case ConnectionLost():
            said = "Connection closed during command authorization."
            return [f"SECMAN:2011:{said} Probably due to an unknown command."]
        case RefusedError():
            return [f"DAEMON:{error.code}:{error}"]
    return [str(error)]


def explain_silence(error: Unreached, call: str) -> str:
    """Return what the reference says of a schedd that `call` got no word from."""
    if isinstance(error, NotConnected):
        return f"DCSchedd::{call}:6001:Failed to connect to schedd"
    return "\n".join(explain(error))


def is_name_at_fault(error: UnknownHostError, name: str, config: Config) -> bool:
    """Tell whether it is the name of -pool or -name that is no host, not the configuration's."""
    from kettle.runtime.sockets.addresses import may_be_daemon

    return bool(name) and (error.host == name or not may_be_daemon(name, config))


def explain_unknown_host(error: UnknownHostError, name: str, config: Config) -> str:
    """Return what is said of a -pool that is no host by tools that look at the name first.

    A name that could be no daemon's is what is wrong; beside one that could be, it is the
    configuration's pool that is named, as in the reference.
    """
    if is_name_at_fault(error, name, config):
        return f"unknown host {name}"
    pool = config.get("COLLECTOR_HOST")
    return f"CONDOR_STATUS:1:Unable to resolve COLLECTOR_HOST ({pool})."


def explain_in_line(error: KettleError) -> str:
    """Return what the reference says about a failure in one line."""
    return "|".join(explain(error))
