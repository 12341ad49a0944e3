"""The exceptions of version 1, and how those of version 2 become them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from kettle.compat.htcondor2 import HTCondorException


class HTCondorIOError(HTCondorException, OSError, RuntimeError, ValueError):
    """A daemon could not be reached, or a file not be read or written."""


class HTCondorLocateError(HTCondorException, OSError, RuntimeError, ValueError):
    """A daemon that nobody knows of."""


class HTCondorReplyError(HTCondorException, RuntimeError, ValueError):
    """A daemon refused, or its answer cannot be understood."""


class HTCondorValueError(HTCondorException, ValueError, RuntimeError):
    """An argument that means nothing."""


class HTCondorTypeError(HTCondorException, TypeError, RuntimeError, ValueError):
    """An argument of the wrong type."""


class HTCondorEnumError(HTCondorException, ValueError, NotImplementedError, RuntimeError):
    """What an enumeration does not have."""


class HTCondorInternalError(HTCondorException, RuntimeError, TypeError, ValueError):
    """What cannot be made of a description, or should not happen."""


@contextlib.contextmanager
def raising(kind: type[HTCondorException]) -> Iterator[None]:
    """Raise an exception of this kind for version 2's; HTCondorValueError for ValueError."""
    try:
        yield
    except HTCondorException as error:
        if type(error) is not HTCondorException:
            raise
        raise kind(str(error)) from error
    except UnicodeError:
        raise
    except ValueError as error:
        raise HTCondorValueError(str(error)) from error
