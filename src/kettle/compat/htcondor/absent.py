"""Names of version 1 for which there is nothing here: each says why in one sentence.

That the names are there lets programs be imported that use them in some branch.
"""

from __future__ import annotations

from typing import Any, NoReturn

from kettle.compat.htcondor.errors import HTCondorInternalError

NO_NEGOTIATION = "a schedd negotiates with the pool's negotiator alone, not with a program"
_NO_COD = "claims on demand are not part of Kettle"
_NO_READER = (
    "a ClassAd log cannot be read (version 1 of HTCondor 24 gives no entry of one either); "
    "ask the schedd with Schedd.query, or read a job event log with JobEventLog"
)


def refuse(why: str) -> NoReturn:
    """Raise HTCondorInternalError for what is not here."""
    raise HTCondorInternalError(why)


class Claim:
    """A claim on demand of a slot."""

    def __init__(self, ad: Any = None) -> None:
        """Refuse: there are no claims on demand."""
        del ad
        refuse(_NO_COD)


class LogReader:
    """The entries of a ClassAd log."""

    def __init__(self, filename: str) -> None:
        """Refuse: nobody reads such a log by entries."""
        del filename
        refuse(_NO_READER)


class ScheddNegotiate:
    """A negotiation with a schedd by a program; `Schedd.negotiate` would return it."""

    def __init__(self) -> None:
        """Refuse: programs do not negotiate."""
        refuse(NO_NEGOTIATION)


class ResourceRequestIterator:
    """What a schedd wants in a negotiation by a program."""

    def __init__(self) -> None:
        """Refuse: programs do not negotiate."""
        refuse(NO_NEGOTIATION)


class CredStatus:
    """What `Credd.check_user_service_creds` of an older version returned: now it is `CredCheck`."""

    def __init__(self) -> None:
        """Refuse: no program makes one."""
        raise RuntimeError("This class cannot be instantiated from Python")
