"""`Negotiator`, `Startd`, `Credd` and `RemoteParam` of version 1: version 2's, in its words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from kettle.compat import classad2, htcondor2
from kettle.compat.classad2 import ClassAdException, ExprTree
from kettle.compat.htcondor.collector import DaemonLocation, location_of, records_constraint
from kettle.compat.htcondor.convert import Lists, calls_version_2, shown, takes
from kettle.compat.htcondor.enums import DaemonTypes
from kettle.compat.htcondor.errors import (
    HTCondorIOError,
    HTCondorLocateError,
    HTCondorReplyError,
    HTCondorValueError,
    raising,
)
from kettle.compat.htcondor.iterators import HistoryIterator
from kettle.compat.htcondor2.param import Param as ParamOfVersion2
from kettle.compat.htcondor2.process import PROCESS

if TYPE_CHECKING:
    from kettle.wire.sinful import Sinful


@calls_version_2(
    HTCondorIOError,
    *("deleteUser", "getPriorities", "getResourceUsage", "resetAllUsage", "resetUsage"),
    *("setBeginUsage", "setCeiling", "setFactor", "setLastUsage", "setPriority", "setUsage"),
)
class Negotiator(htcondor2.Negotiator):
    """The pool's negotiator, or the one of a location ad."""

    def __init__(self, ad: Any = None) -> None:
        """Find the pool's negotiator, or take the one that `Collector.locate` found."""
        with raising(HTCondorLocateError if ad is None else HTCondorValueError):
            super().__init__(location_of(ad))

    @property
    def location(self) -> DaemonLocation:
        """Where the negotiator is."""
        return DaemonLocation(DaemonTypes.Negotiator, self._addr, "")


@calls_version_2(HTCondorReplyError, "cancelDrainJobs")
class Startd(htcondor2.Startd):
    """A startd: this host's, or the one of a location ad."""

    def __init__(self, ad: Any = None) -> None:
        """Find this host's startd, or take the one that `Collector.locate` found."""
        with raising(HTCondorLocateError if ad is None else HTCondorValueError):
            super().__init__(location_of(ad))

    @property
    def location(self) -> DaemonLocation:
        """Where the startd is."""
        return DaemonLocation(DaemonTypes.Startd, self._addr, "")

    cancelDrainJobs = takes(request_id=str)(htcondor2.Startd.cancelDrainJobs)  # noqa: N815

    @takes(drain_type=int, on_completion=int, reason=str)
    def drainJobs(  # noqa: N802
        self,
        drain_type: int = 0,
        on_completion: int = 0,
        check_expr: Any = "true",
        start_expr: Any = "false",
        reason: Any = "by command",
    ) -> str:
        """Have all slots give up their jobs and take no new ones; return the request's id.

        HTCondorValueError for a check that is no expression; others the startd refuses.
        """
        try:
            ExprTree(str(check_expr or "true"))
        except ClassAdException as error:
            raise HTCondorValueError("Invalid check expression") from error
        with raising(HTCondorReplyError):
            return super().drainJobs(
                htcondor2.DrainType(int(drain_type)),
                htcondor2.CompletionType(int(on_completion)),
                *(None if one is None else str(one) for one in (check_expr, start_expr, reason)),
            )

    @takes(match=int)
    def history(  # type: ignore[override]
        self,
        requirements: Any = None,
        projection: Iterable[str] = (),
        match: int = -1,
        since: Any = None,
    ) -> HistoryIterator:
        """Return an iterator over the records of jobs that ran here."""
        text = records_constraint(requirements)
        with raising(HTCondorIOError):
            return HistoryIterator(shown(super().history(text, list(projection), match, since)))


@calls_version_2(
    HTCondorIOError,
    *("add_password", "delete_password", "query_password"),
    *("add_user_cred", "delete_user_cred", "query_user_cred"),
    *("add_user_service_cred", "delete_user_service_cred", "query_user_service_cred"),
    "check_user_service_creds",
)
class Credd(htcondor2.Credd):
    """The credd, or who else keeps the pool's password."""

    def __init__(self, ad: Any = None) -> None:
        """Take the credd that `Collector.locate` found; without one it is found when it is called.

        Programs make one for users who may have nothing to keep, and in pools without a credd.
        """
        self._addr = ""
        if ad is not None:
            with raising(HTCondorValueError):
                super().__init__(location_of(ad))

    add_user_cred = takes(credtype=int)(htcondor2.Credd.add_user_cred)
    delete_user_cred = takes(credtype=int)(htcondor2.Credd.delete_user_cred)
    query_user_cred = takes(credtype=int)(htcondor2.Credd.query_user_cred)

    @takes(password=str, user=str)
    def add_password(self, password: str, user: str | None = None) -> None:
        """Have a user's password kept; `condor_pool@DOMAIN` is the pool's."""
        _check_user(user)
        super().add_password(password, user)

    @takes(user=str)
    def delete_password(self, user: str | None = None) -> bool:
        """Have a user's password forgotten; whether there was one."""
        _check_user(user)
        return super().delete_password(user)

    @takes(user=str)
    def query_password(self, user: str | None = None) -> bool:
        """Return whether a user's password is kept."""
        _check_user(user)
        return super().query_password(user)

    @property
    def location(self) -> DaemonLocation:
        """Where the credd is."""
        return DaemonLocation(DaemonTypes.Credd, str(self._address), "")

    @property
    def _address(self) -> Sinful:
        if not self._addr:
            try:
                super().__init__()
            except htcondor2.HTCondorException as error:
                raise htcondor2.HTCondorException("Communication error") from error
        return super()._address


def _check_user(user: str | None) -> None:
    """Refuse whose password it is where that is no USER@DOMAIN."""
    if user and user.find("@") < 1:
        raise HTCondorIOError("Operation aborted due to missing or bad arguments")


@calls_version_2(HTCondorReplyError, "__getitem__", "__setitem__", "__delitem__")
class RemoteParam(Lists, htcondor2.RemoteParam):
    """The configuration of a daemon, as a mapping. It is asked when something is wanted first."""

    @takes(ad=(classad2.ClassAd, tuple))
    def __init__(self, ad: Any) -> None:
        """Take the daemon of this ad."""
        self._location = location_of(ad)
        self.refresh()

    def refresh(self) -> None:
        """Ask the daemon again when something is wanted next."""
        self._names: list[str] | None = None
        self._cache = {}

    @property
    def _keys(self) -> list[str]:
        if self._names is None:
            try:
                super().refresh()
            except htcondor2.HTCondorException as error:
                # What the daemon has answered is no failure of Kettle's own.
                kind = HTCondorReplyError if error.__cause__ is None else HTCondorIOError
                raise kind(str(error)) from error
        return self._names or []

    @_keys.setter
    def _keys(self, names: list[str]) -> None:
        self._names = names


class Param(Lists, ParamOfVersion2):
    """The configuration of this program, as a mapping.

    A name that is set to nothing is the empty text, though it is not `in` the mapping.
    """

    def _of_nothing(self, key: str) -> Any:
        try:
            return super()._of_nothing(key)
        except KeyError:
            if PROCESS.config.find_set(key) is None:
                raise
            return ""

    def __iter__(self) -> Iterator[str]:
        config = PROCESS.config
        return iter(
            [
                name
                for name in config.known_names()
                if config.find_set(name) is not None or config.get(name) is not None
            ]
        )

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and PROCESS.config.get(key) is not None


param: Final = Param()
