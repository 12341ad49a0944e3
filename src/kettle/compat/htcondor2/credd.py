"""`Credd` and `CredCheck`: passwords and credentials at the daemon that keeps them.

Kettle has no credd: a master keeps the pool password, and everything else is refused, or asked of
a credd of HTCondor's.
"""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING, Final

from kettle.classad import ClassAd as Ad
from kettle.client.credentials import send_credential, send_pool_password
from kettle.compat.classad2 import ClassAd
from kettle.compat.htcondor2.addresses import check_location, sinful_of
from kettle.compat.htcondor2.collector import Collector
from kettle.compat.htcondor2.daemon_enums import CredType, DaemonType
from kettle.compat.htcondor2.errors import HTCondorException, said_as
from kettle.compat.htcondor2.process import PROCESS
from kettle.errors import NotConnected
from kettle.octets import to_bytes, to_text
from kettle.wire.commands import Command
from kettle.wire.messages.credentials import CredentialAnswer

if TYPE_CHECKING:
    from kettle.wire.sinful import Sinful

_ADD, _DELETE, _QUERY = 0, 1, 2
_LEGACY_PASSWORD: Final = 0x40 | int(CredType.Password)
_WAIT_FOR_MONITOR: Final = 0x80
_POOL: Final = "condor_pool"
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_REASONS: Final = {
    CredentialAnswer.FAILURE: "Communication error",
    CredentialAnswer.BAD_PASSWORD: "A password is wrong",
    CredentialAnswer.NO_IMPERSONATION: "The daemon does not run as the system's account",
    CredentialAnswer.NOT_SECURE: "Operation failed because the connection is not secure",
    CredentialAnswer.NOT_FOUND: "No credential is stored",
    CredentialAnswer.NOT_ALLOWED: "Operation failed because it is not allowed",
    CredentialAnswer.BAD_ARGUMENTS: "Operation failed because of wrong arguments",
    CredentialAnswer.CONFIGURATION: "Operation failed because of a configuration error",
}
# What is said of OAuth2 credentials at a credd of HTCondor's: nothing here fetches them.
_UNKNOWN: Final = "this client does not fetch OAuth2 credentials"
_PRODUCER_SECONDS: Final = 120


class CredCheck:
    """Whether the credentials of services are there, and where they can be had."""

    def __init__(self, services: str, url_or_error: str | None) -> None:
        self._services = services
        is_url = bool(url_or_error) and _URL.match(url_or_error or "") is not None
        self._url = url_or_error if is_url else None
        self._error = None if is_url else url_or_error

    def __str__(self) -> str:
        return self._url or self._error or self._services

    def __bool__(self) -> bool:
        # Compat: the wheel says that they are there where they have to be fetched first; shown by
        # test_credentials_are_there_where_nothing_has_to_be_fetched.
        return not self._url and not self._error

    @property
    def present(self) -> bool:
        """Whether all are there."""
        return bool(self)

    @property
    def url(self) -> str | None:
        """Where a user has to go for them."""
        return self._url

    @property
    def error(self) -> str | None:
        """Why they cannot be had."""
        return self._error

    @property
    def services(self) -> str:
        """What was asked for, separated by commas."""
        return self._services


class Credd:
    """The daemon that keeps credentials: this host's, or the one of a location ad."""

    def __init__(self, location: ClassAd | None = None) -> None:
        """Find this host's credd, or take the one that `Collector.locate` found."""
        if location is None:
            location = Collector().locate(DaemonType.Credd)
        self._addr: str = check_location(location)["MyAddress"]

    @property
    def _address(self) -> Sinful:
        return sinful_of(self._addr)

    # -- Passwords --------------------------------------------------------------------------

    def add_password(self, password: str, user: str | None = None) -> None:
        """Have a user's password kept; `condor_pool@DOMAIN` is the pool's."""
        if not password:
            raise ValueError("password may not be empty")
        self._send(_LEGACY_PASSWORD | _ADD, user, to_bytes(password))

    def delete_password(self, user: str | None = None) -> bool:
        """Have a user's password forgotten; whether there was one."""
        return self._send(_LEGACY_PASSWORD | _DELETE, user) == CredentialAnswer.OK

    def query_password(self, user: str | None = None) -> bool:
        """Return whether a user's password is kept."""
        return self._send(_LEGACY_PASSWORD | _QUERY, user) == CredentialAnswer.OK

    # -- Credentials ------------------------------------------------------------------------

    def add_user_cred(
        self, credtype: CredType, credential: bytes | None, user: str | None = None
    ) -> None:
        """Have a credential kept; without one SEC_CREDENTIAL_PRODUCER makes it."""
        if credtype not in (CredType.Password, CredType.Kerberos):
            raise ValueError("invalid credtype")
        data = _produced() if credential is None else credential
        if data is not None:
            wait = _WAIT_FOR_MONITOR if credtype == CredType.Kerberos else 0
            self._send(int(credtype) | wait | _ADD, user, data)

    def delete_user_cred(self, credtype: CredType, user: str | None = None) -> None:
        """Have a credential forgotten."""
        self._send(int(credtype) | _DELETE, user)

    def query_user_cred(self, credtype: CredType, user: str | None = None) -> int | None:
        """Return when a credential was changed last, None where that is not known yet."""
        if credtype not in (CredType.Password, CredType.Kerberos, CredType.OAuth):
            raise ValueError("invalid credtype")
        wait = 0 if credtype == CredType.Password else _WAIT_FOR_MONITOR
        found = self._send(int(credtype) | wait | _QUERY, user)
        return None if found == CredentialAnswer.PENDING else found

    def add_user_service_cred(
        self,
        credtype: CredType,
        credential: bytes | None,
        service: str,
        handle: str | None = None,
        user: str | None = None,
        refresh: bool | None = None,
    ) -> None:
        """Have an OAuth2 credential for a service kept; without one see `add_user_cred`."""
        _check_oauth(credtype)
        data = _produced() if credential is None else credential
        if data is not None:
            details = _details(service, handle)
            if refresh is not None:
                details["NeedsRefresh"] = bool(refresh)
            self._send(int(credtype) | _ADD, user, data, details)

    def delete_user_service_cred(
        self,
        credtype: CredType,
        service: str,
        handle: str | None = None,
        user: str | None = None,
    ) -> None:
        """Have an OAuth2 credential for a service forgotten."""
        _check_oauth(credtype)
        self._send(int(credtype) | _DELETE, user, b"", _details(service, handle))

    def query_user_service_cred(
        self,
        credtype: CredType,
        service: str,
        handle: str | None = None,
        user: str | None = None,
    ) -> int:
        """Return when an OAuth2 credential for a service was changed last."""
        _check_oauth(credtype)
        return self._send(int(credtype) | _QUERY, user, b"", _details(service, handle))

    def check_user_service_creds(
        self,
        credtype: CredType,
        serviceAds: list[ClassAd],  # noqa: N803 - the wheel's name
        user: str | None = None,
    ) -> CredCheck:
        """Return whether the credentials of services are kept; each ad has a Service.

        Compat: the wheel raises NameError; shown by test_what_the_wheel_forgot_to_import_works.
        """
        _check_oauth(credtype)
        names = []
        for ad in serviceAds:
            if not isinstance(ad, ClassAd):
                raise TypeError("service must be of type classad.ClassAd")
            name = ad.get("Service")
            if name is None:
                raise ValueError("request has no 'Service' attribute")
            handle = ad.get("Handle")
            names.append(name if handle is None else f"{name}*{handle}")
        del user
        self._reach(Command.CREDD_CHECK_CREDS, "startCommand failed")
        return CredCheck(",".join(names), _UNKNOWN)

    def get_oauth2_credential(self, service: str, handle: str, user: str | None = None) -> str:
        """Return an OAuth2 credential of a service."""
        del service, handle, user
        self._reach(Command.CREDD_GET_TOKEN, "failed to start command")
        raise HTCondorException(_UNKNOWN)

    def _reach(self, command: Command, failed: str) -> None:
        """Raise HTCondorException unless the daemon lets us give it this command."""
        with (
            said_as(
                lambda error: (
                    "failed to connect to credd"
                    if isinstance(error, NotConnected) and command is Command.CREDD_GET_TOKEN
                    else failed
                )
            ),
            PROCESS.connector.connect(self._address, command, force_authentication=True),
        ):
            pass

    def _send(
        self, mode: int, user: str | None, data: bytes = b"", details: Ad | None = None
    ) -> int:
        """Say what is to be done, and return the answer; HTCondorException for a refusal."""
        with said_as("Communication error"):
            name, _, domain = (user or "").partition("@")
            if name == _POOL and mode & 0x40:
                answer = int(
                    send_pool_password(
                        PROCESS.connector,
                        self._address,
                        domain,
                        to_text(data),
                        only_secretly=True,
                    )
                )
            else:
                answer, _ = send_credential(
                    PROCESS.connector,
                    self._address,
                    user or (_own_name() if mode & 0x40 else ""),
                    mode,
                    data,
                    details or Ad(),
                    only_secretly=True,
                )
        return _checked(answer, mode)


def _checked(answer: int, mode: int) -> int:
    """Return an answer that is no failure; a time is one, and so is that nothing is stored."""
    nothing = answer == CredentialAnswer.NOT_FOUND and mode & 3 in (_DELETE, _QUERY)
    if nothing or answer in (CredentialAnswer.OK, CredentialAnswer.PENDING):
        return answer
    if answer > CredentialAnswer.UNTRUSTED_HOST:
        return answer
    failure = next((one for one in CredentialAnswer if one == answer), CredentialAnswer.FAILURE)
    raise HTCondorException(_REASONS.get(failure, f"Operation failed: {failure.name}"))


def _own_name() -> str:
    config = PROCESS.config
    return f"{config.get('USERNAME') or ''}@{config.get('UID_DOMAIN') or ''}"


def _details(service: str, handle: str | None) -> Ad:
    ad = Ad({"service": service})
    if handle is not None:
        ad["handle"] = handle
    return ad


def _check_oauth(credtype: CredType) -> None:
    if credtype != CredType.OAuth:
        raise ValueError("invalid credtype")


def _produced() -> bytes | None:
    """Return what SEC_CREDENTIAL_PRODUCER prints, None if it says that all is stored already."""
    producer = PROCESS.config.get("SEC_CREDENTIAL_PRODUCER")
    if producer is None:
        raise HTCondorException("No credential supplied but SEC_CREDENTIAL_PRODUCER not set.")
    if producer == "CREDENTIAL_ALREADY_STORED":
        return None
    try:
        done = subprocess.run(
            [producer], stdout=subprocess.PIPE, check=True, timeout=_PRODUCER_SECONDS
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise HTCondorException(f"{producer} made no credential: {error}") from error
    return done.stdout
