"""What a Chirp server answers where it does not do what it was asked: a class for each number."""

from __future__ import annotations

from typing import Final


class ChirpError(Exception):
    """A request that was not done."""


class NotAuthenticated(ChirpError):  # noqa: N818
    """Nobody has said who asks."""


class NotAuthorized(ChirpError):  # noqa: N818
    """Who asks may not do that."""


class DoesntExist(ChirpError):  # noqa: N818
    """There is nothing of that name."""


class AlreadyExists(ChirpError):  # noqa: N818
    """There is something of that name."""


class TooBig(ChirpError):  # noqa: N818
    """The request is too large."""


class NoSpace(ChirpError):  # noqa: N818
    """There is no room for it."""


class NoMemory(ChirpError):  # noqa: N818
    """The server has no memory for it."""


class InvalidRequest(ChirpError):  # noqa: N818
    """The request is not understood."""


class TooManyOpen(ChirpError):  # noqa: N818
    """Too much is in use."""


class Busy(ChirpError):  # noqa: N818
    """Somebody else uses it."""


class TryAgain(ChirpError):  # noqa: N818
    """It may be possible later."""


class BadFD(ChirpError):  # noqa: N818
    """No file is open by that number."""


class IsDir(ChirpError):  # noqa: N818
    """What is done to files was to be done to a folder."""


class NotDir(ChirpError):  # noqa: N818
    """What is done to folders was to be done to a file."""


class NotEmpty(ChirpError):  # noqa: N818
    """A folder is not empty."""


class CrossDeviceLink(ChirpError):  # noqa: N818
    """A hard link would lead to another file system."""


class Offline(ChirpError):  # noqa: N818
    """It is not there for now."""


class UnknownError(ChirpError):
    """The number has no name."""


_KINDS: Final[dict[int, tuple[type[ChirpError], str]]] = {
    -1: (NotAuthenticated, "the client has not authenticated itself"),
    -2: (NotAuthorized, "the client is not authorized to do that"),
    -3: (DoesntExist, "there is nothing of that name"),
    -4: (AlreadyExists, "there is something of that name already"),
    -5: (TooBig, "the request is too large"),
    -6: (NoSpace, "there is not enough room"),
    -7: (NoMemory, "the server is out of memory"),
    -8: (InvalidRequest, "the request is not understood"),
    -9: (TooManyOpen, "too much is in use"),
    -10: (Busy, "somebody else uses it"),
    -11: (TryAgain, "it cannot be done for the moment"),
    -12: (BadFD, "no file is open by that number"),
    -13: (IsDir, "it is a folder"),
    -14: (NotDir, "it is no folder"),
    -15: (NotEmpty, "the folder is not empty"),
    -16: (CrossDeviceLink, "a hard link cannot lead to another file system"),
    -17: (Offline, "it is not available for the moment"),
}


def error_of(request: str, number: int) -> ChirpError:
    """Return the exception for a negative number that a request was answered with."""
    kind, words = _KINDS.get(number, (UnknownError, f"the server answered {number}"))
    return kind(f"{request}: {words}")
