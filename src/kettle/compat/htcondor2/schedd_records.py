"""User and project records, as methods of `Schedd`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from kettle.classad import ClassAd as Ad
from kettle.client.user_records import act_on_records, query_records
from kettle.compat.classad2 import ClassAd, ExprTree
from kettle.compat.classad2.ads import of_engine, to_engine
from kettle.compat.classad2.depth import bounded
from kettle.compat.htcondor2.addresses import sinful_of
from kettle.compat.htcondor2.arguments import texts_of
from kettle.compat.htcondor2.errors import HTCondorException, said_as
from kettle.compat.htcondor2.process import PROCESS
from kettle.errors import ClassAdSyntaxError, KettleError, NotConnected, RefusedError
from kettle.wire.commands import Command

Records = list[str] | str | list[ClassAd] | ExprTree

_PROJECT: Final = "Project"
_REASON: Final = "Python-initiated action"


class RecordsOfSchedd:
    """What a schedd keeps about users and projects: read and changed."""

    _addr: str

    def queryUserAds(  # noqa: N802
        self,
        constraint: str | ExprTree = "",
        projection: list[str] = [],  # noqa: B006 - as the wheel has it; never changed
        callback: Callable[[ClassAd], Any] | None = None,
        limit: int = -1,
    ) -> list[ClassAd]:
        """Return the records of users, as `query` does jobs."""
        return self._records(constraint, projection, callback, limit, "")

    def queryProjectAds(  # noqa: N802
        self,
        constraint: str | ExprTree = "",
        projection: list[str] = [],  # noqa: B006
        callback: Callable[[ClassAd], Any] | None = None,
        limit: int = -1,
    ) -> list[ClassAd]:
        """Return the records of projects, as `query` does jobs."""
        return self._records(constraint, projection, callback, limit, _PROJECT)

    def _records(
        self,
        constraint: str | ExprTree,
        projection: list[str],
        callback: Callable[[ClassAd], Any] | None,
        limit: int,
        kind: str,
    ) -> list[Any]:
        names = texts_of(projection, "projection")
        try:
            with said_as(_tell_query):
                found = query_records(
                    PROCESS.connector,
                    sinful_of(self._addr),
                    constraint=str(constraint),
                    projection=names,
                    limit=int(limit),
                    kind=kind,
                )
        except HTCondorException as error:
            if isinstance(error.__cause__, ClassAdSyntaxError):
                raise HTCondorException("Parse error in constraint") from error
            raise
        ads = map(of_engine, found)
        if callback is None:
            return list(ads)
        return [one for one in map(callback, ads) if one is not None]

    def addUserRec(self, user_spec: list[str] | str | list[ClassAd]) -> ClassAd:  # noqa: N802
        """Make records of users, named or as ads, unless there are some already."""
        return self._act(Command.ENABLE_USERREC, user_spec, create="_userrec_opt_create")

    def enableUserRec(self, user_spec: list[str] | str | ExprTree) -> ClassAd:  # noqa: N802
        """Let users submit."""
        return self._act(Command.ENABLE_USERREC, user_spec)

    def disableUserRec(  # noqa: N802
        self, user_spec: list[str] | str | ExprTree, reason: str | None = None
    ) -> ClassAd:
        """Let users not submit any more; they are told the reason."""
        return self._act(Command.DISABLE_USERREC, user_spec, reason=reason or _REASON)

    def removeUserRec(  # noqa: N802
        self, user_spec: list[str] | str | ExprTree, reason: str | None = None
    ) -> ClassAd:
        """Forget users who have no jobs; others are disabled for the reason."""
        return self._act(Command.DELETE_USERREC, user_spec, reason=reason or _REASON)

    def updateUserRec(self, user_attributes: list[ClassAd]) -> ClassAd:  # noqa: N802
        """Set attributes of records; each ad names its users by User or by Requirements."""
        return self._act(Command.EDIT_USERREC, user_attributes)

    def addProjectRec(self, project_spec: list[str] | str | list[ClassAd]) -> ClassAd:  # noqa: N802
        """Make records of projects, named or as ads, unless there are some already."""
        return self._act(
            Command.ENABLE_USERREC,
            project_spec,
            create="_userrec_opt_create_project",
            project=True,
        )

    def removeProjectRec(  # noqa: N802
        self, user_spec: list[str] | str | ExprTree, reason: str | None = None
    ) -> ClassAd:
        """Forget projects."""
        return self._act(Command.DELETE_USERREC, user_spec, reason=reason or _REASON, project=True)

    def updateProjectRec(self, project_attributes: list[ClassAd]) -> ClassAd:  # noqa: N802
        """Set attributes of projects; each ad names them by Name or by Requirements."""
        return self._act(Command.EDIT_USERREC, project_attributes, project=True)

    def enableProjectRec(self, project_spec: list[str] | str | ExprTree) -> ClassAd:  # noqa: N802
        """Let projects have jobs."""
        return self._act(Command.ENABLE_USERREC, project_spec, project=True)

    def disableProjectRec(  # noqa: N802
        self, project_spec: list[str] | str | ExprTree, reason: str | None = None
    ) -> ClassAd:
        """Let projects have no more jobs."""
        return self._act(
            Command.DISABLE_USERREC, project_spec, reason=reason or _REASON, project=True
        )

    @bounded
    def _act(
        self,
        command: Command,
        spec: Records,
        *,
        create: str = "",
        reason: str = "",
        project: bool = False,
    ) -> ClassAd:
        if isinstance(spec, ExprTree) and project and command is not Command.DELETE_USERREC:
            word = "Enable" if command is Command.ENABLE_USERREC else "Disable"
            raise HTCondorException(f"{word} Projects not implemented.")
        records = _records_of(spec, "Name" if project else "User")
        if command is Command.EDIT_USERREC and not _are_ads(spec):
            raise HTCondorException("Edit requires a list of ads.")
        for record in records:
            if project and "TargetType" not in record:
                record["TargetType"] = _PROJECT
            if create:
                record[create] = True
            if reason:
                record["DisableReason"] = reason
        with said_as("Error when performing user or project action on the schedd."):
            return of_engine(
                act_on_records(PROCESS.connector, sinful_of(self._addr), command, records)
            )


def _are_ads(spec: Records) -> bool:
    return isinstance(spec, list) and all(isinstance(one, ClassAd) for one in spec)


def _records_of(spec: Records, key: str) -> list[Ad]:
    """Return an ad for each record that is named; HTCondorException for an ad that names none."""
    if isinstance(spec, str):
        return [Ad({key: spec})]
    if isinstance(spec, ExprTree):
        chosen = Ad()
        chosen.insert_text("Requirements", str(spec))
        return [chosen]
    if not isinstance(spec, list):
        raise TypeError(
            "The userrec_spec must be list of strings, a list of ClassAd, a string, or an ExprTree."
        )
    found = []
    for one in spec:
        if isinstance(one, ClassAd):
            found.append(to_engine(one).copy())
        elif isinstance(one, str):
            found.append(Ad({key: one}))
        else:
            raise TypeError("All elements of the userrec list must be strings or classads")
    if any(key not in ad and "Requirements" not in ad for ad in found):
        raise HTCondorException("Error when performing user or project action on the schedd.")
    return found


def _tell_query(error: KettleError) -> str:
    text = str(error)
    if isinstance(error, NotConnected):
        text = f"CEDAR:6001:Failed to connect to {error.address}"
    elif isinstance(error, RefusedError):
        text = f"TOOL:{error.code}:{error}"
    return f"Failed to fetch ads from schedd, errmsg={text}"
