"""`SecMan` and `Token` of version 1: how we prove who we are."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from kettle.compat import classad2, htcondor2
from kettle.compat.classad.ads import ClassAd
from kettle.compat.htcondor.collector import location_of
from kettle.compat.htcondor.convert import shown, takes
from kettle.compat.htcondor.errors import (
    HTCondorEnumError,
    HTCondorInternalError,
    HTCondorIOError,
    HTCondorValueError,
    raising,
)
from kettle.compat.htcondor2.process import PROCESS
from kettle.compat.htcondor2.security import command_of
from kettle.digits import wrap_32
from kettle.octets import AS_IS
from kettle.wire.commands import Command

_FILE_NAME: Final = "python_generated_tokens"


class Token:
    """A token, as text."""

    @takes(contents=str)
    def __init__(self, contents: str) -> None:
        self.contents = str(contents)

    def write(self, tokenfile: str | None = None) -> None:
        """Add the token to a file of the folder where tools look for tokens.

        Compat: a name that is a path, or a folder's, is an error; the wheel logs that nothing was
        written and returns. An empty name is the usual file, for which the wheel prints the token
        (test_a_token_that_cannot_be_written_is_an_error).
        """
        if tokenfile is not None and Path(tokenfile).name != tokenfile:
            raise HTCondorValueError("the token's file has a name and no folder")
        configured = PROCESS.config.get("SEC_TOKEN_DIRECTORY")
        folder = Path(configured or "~/.condor/tokens.d").expanduser()
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = folder / (tokenfile or _FILE_NAME)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
            with open(os.open(path, flags, 0o600), "w", encoding="utf-8", errors=AS_IS) as file:
                file.write(f"{self.contents}\n")
        except OSError as error:
            raise HTCondorIOError(f"the token cannot be written: {error}") from error


class SecMan:
    """The sessions of this program, and what is used for new ones while it is in use."""

    def __init__(self, ad: Any = None) -> None:
        """Take the configuration's word; an ad of a claim would bring a session of its own."""
        if ad is not None:
            raise HTCondorInternalError("sessions of claims are the daemons' own")
        self._token: str | None = None

    def __enter__(self) -> Self:
        self._token = PROCESS.token
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        PROCESS.use_token(self._token)

    @takes(ad=(classad2.ClassAd, tuple, str))
    def ping(self, ad: Any, command: Any = "DC_NOP") -> ClassAd:
        """Ask a daemon, of an ad or an address, whether we may run a command there.

        What was agreed on is returned.
        """
        try:
            name = Command(command).name if isinstance(command, int) else str(command)
            command_of(name)
        except (ValueError, htcondor2.HTCondorException):
            raise HTCondorEnumError("Unable to determine DaemonCore command value") from None
        with raising(HTCondorIOError):
            place = ClassAd({"MyAddress": ad}) if isinstance(ad, str) else ad
            answer: ClassAd = shown(htcondor2.ping(location_of(place), name))
        return answer

    @takes(command_int=int)
    def getCommandString(self, command_int: int) -> str:  # noqa: N802
        """Return a command's name; RuntimeError, OverflowError, as version 1 raises them."""
        if command_int is None:
            raise TypeError("command_int cannot be None")
        if wrap_32(command_int) != command_int:
            raise OverflowError(f"{command_int} has more than 32 bits")
        try:
            return Command(command_int).name
        except ValueError:
            raise RuntimeError(f"there is no command {command_int}") from None

    def invalidateAllSessions(self) -> None:  # noqa: N802
        """Forget all sessions."""
        PROCESS.use_token(PROCESS.token)

    @takes(key=str, value=str)
    def setConfig(self, key: str, value: str) -> None:  # noqa: N802
        """Set a name of the configuration, for this program."""
        PROCESS.assign(str(key), str(value))

    @takes(token=Token)
    def setToken(self, token: Token) -> None:  # noqa: N802
        """Use a token before all others, until the `with` statement ends."""
        PROCESS.use_token(token.contents)

    def setTag(self, tag: str) -> None:  # noqa: N802
        """Part the sessions that are made from now on from those made under another tag."""
        del tag
        PROCESS.use_token(PROCESS.token)

    def setGSICredential(self, filename: str) -> None:  # noqa: N802
        """Refuse: GSI is gone, as from HTCondor itself."""
        del filename
        raise HTCondorInternalError("GSI is gone; proxies are shown by the method SSL or a token")

    def setPoolPassword(self, new_pass: str) -> None:  # noqa: N802
        """Refuse: a pool's password is in the file SEC_PASSWORD_FILE."""
        del new_pass
        raise HTCondorInternalError("the pool's password is read from SEC_PASSWORD_FILE alone")
