"""`TokenRequest` of version 1: a token that an administrator has to approve first."""

from __future__ import annotations

import secrets
import socket
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from kettle.client.daemon import finish_token_request, start_token_request
from kettle.compat.htcondor.collector import Collector, location_of
from kettle.compat.htcondor.convert import takes
from kettle.compat.htcondor.errors import HTCondorIOError
from kettle.compat.htcondor.security import Token
from kettle.compat.htcondor2.addresses import address_of
from kettle.compat.htcondor2.process import PROCESS
from kettle.errors import KettleError

if TYPE_CHECKING:
    from kettle.wire.sinful import Sinful

_NOT_SUBMITTED: Final = "the request has not been submitted to a daemon"
# How long to wait before a daemon is asked again, in seconds.
_PAUSE: Final = 1.0


class TokenRequest:
    """A request for a token: submitted to a daemon, and asked after until it is granted."""

    @takes(lifetime=int)
    def __init__(
        self,
        identity: str = "",
        bounding_set: Iterable[str] | None = None,
        lifetime: int = -1,
    ) -> None:
        """Say whose token it is to be, which levels alone it allows, and for how many seconds."""
        self._identity = str(identity)
        self._levels = ",".join(map(str, bounding_set or ()))
        self._lifetime = int(lifetime)
        self._client_id = f"{socket.gethostname()}-{secrets.randbelow(10**6)}"
        self._address: Sinful | None = None
        self._request_id = ""
        self._token = ""

    def submit(self, ad: Any = None) -> None:
        """Ask a daemon, the pool's collector if none is said, for the token; HTCondorIOError."""
        place = location_of(Collector().location_ad() if ad is None else ad)
        address = address_of(place)
        try:
            self._token, self._request_id = start_token_request(
                PROCESS.connector,
                address,
                client_id=self._client_id,
                user=self._identity,
                levels=self._levels,
                lifetime_seconds=self._lifetime,
            )
        except KettleError as error:
            raise HTCondorIOError(f"the token was not requested: {error}") from error
        self._address = address

    @property
    def request_id(self) -> str:
        """The number by which an administrator approves the request; empty if it is granted."""
        if self._address is None:
            raise HTCondorIOError(_NOT_SUBMITTED)
        return self._request_id

    def done(self) -> bool:
        """Return whether the token is there; HTCondorIOError where the request was refused."""
        if self._address is None:
            raise HTCondorIOError(_NOT_SUBMITTED)
        if not self._token:
            try:
                self._token = finish_token_request(
                    PROCESS.connector,
                    self._address,
                    client_id=self._client_id,
                    request_id=self._request_id,
                )
            except KettleError as error:
                raise HTCondorIOError(f"the token was not given: {error}") from error
        return bool(self._token)

    def result(self, timeout: int = 0) -> Token:
        """Return the token, for which it waits so many seconds, or without an end for 0."""
        until = time.monotonic() + timeout if timeout > 0 else None
        while not self.done():
            if until is not None and time.monotonic() >= until:
                raise HTCondorIOError(f"nobody approved the request within {timeout} seconds")
            time.sleep(_PAUSE)
        return Token(self._token)
