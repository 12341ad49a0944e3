"""`Submit` of version 1: a description that is queued in a transaction."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from kettle.compat import htcondor2
from kettle.compat.classad.ads import ClassAd
from kettle.compat.htcondor.convert import Lists, shown, takes
from kettle.compat.htcondor.errors import (
    HTCondorInternalError,
    HTCondorIOError,
    HTCondorTypeError,
    HTCondorValueError,
    raising,
)
from kettle.compat.htcondor.iterators import QueueItemsIterator, SubmitJobsIterator
from kettle.octets import AS_IS

if TYPE_CHECKING:
    from kettle.compat.htcondor.transaction import SubmitResult, Transaction

_SERVICE_PARTS: Final = {"permissions": "Scopes", "resource": "Audience", "options": "Options"}
_DAG_OPTIONS: Final[dict[str, Any]] = {}


class Submit(Lists, htcondor2.Submit):
    """The commands of a description by name, without regard to case, and its queue statement.

    Values that are no texts become their texts, None becomes `undefined`.

    Compat: to expand what is not there is a KeyError; in the wheel it is a RuntimeError about its
    own mistake. Shown by test_what_is_wrong_is_told_by_the_exceptions_of_version_1.
    """

    def __init__(self, input: Any = None, **kwargs: Any) -> None:  # noqa: A002
        """Read a description, or take commands from a mapping and as named arguments."""
        if isinstance(input, list | tuple):
            input = dict(input)  # noqa: A001
        if isinstance(input, Mapping):
            input = {key: _text_of(value) for key, value in input.items()}  # noqa: A001
        with raising(HTCondorInternalError):
            super().__init__(input)
        self.update(kwargs)

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, _text_of(value))

    def __getitem__(self, key: str) -> str:
        # `+name` is how `MY.name` may be written, here as in a description.
        return super().__getitem__(_plain(key))

    def __contains__(self, key: object) -> bool:
        return super().__contains__(_plain(key) if isinstance(key, str) else key)

    def __delitem__(self, key: str) -> None:
        if key not in self:
            raise KeyError(key)
        del self._macros.variables[_plain(key).upper()]

    def __str__(self) -> str:
        args = self.getQArgs()
        return self.commands() + (f"queue {args}" if args else "")

    def __repr__(self) -> str:
        return repr(str(self))

    def copy(self) -> Submit:
        """Return the same description, which can be changed for itself."""
        same = Submit()
        same._take(super().copy())
        return same

    def _take(self, other: htcondor2.Submit) -> None:
        self.__dict__.update(other.__dict__)

    # -- Submission -------------------------------------------------------------------------

    def queue(self, txn: Transaction, count: int = 0, ad_results: list[Any] | None = None) -> int:
        """Queue the jobs in a transaction; return their cluster.

        It is that of the jobs queued just before, if they are of this description, too.
        There are `count` of each item of the queue statement, or as many as it says for 0.
        `ad_results` takes their ads.
        """
        _check_transaction(txn)
        return txn.queue(self, count, appends=True, ad_results=ad_results).cluster()

    def queue_with_itemdata(
        self,
        txn: Transaction,
        count: int = 1,
        itemdata: Iterable[Any] | None = None,
        spool: bool = False,
    ) -> SubmitResult:
        """Queue `count` jobs of each item, and no item of the queue statement's."""
        _check_transaction(txn)
        return txn.queue(self.for_items(itemdata), count, spooled=bool(spool))

    def update(self, *given: Any, **named: Any) -> None:
        """Set the commands that a mapping has, or a row of pairs."""
        if given and not isinstance(given[0], Iterable):
            raise HTCondorTypeError("Must provide a dictionary-like object to update()")
        super().update(*given, **named)

    def for_items(self, itemdata: Iterable[Any] | None) -> htcondor2.Submit:
        """Return this description with these items for its own; with None, or none, for one job.

        As in the wheel an empty list of items is no list.
        """
        items = None if itemdata is None else list(itemdata)
        with raising(HTCondorInternalError):
            return self.with_items(iter(items) if items else None)

    # -- What would be submitted ------------------------------------------------------------

    @takes(count=int, clusterid=int, procid=int, qdate=int, owner=str)
    def jobs(
        self,
        count: int = 0,
        itemdata: Iterable[Any] | None = None,
        clusterid: int = 1,
        procid: int = 0,
        qdate: int = 0,
        owner: str = "",
    ) -> SubmitJobsIterator:
        """Return an iterator over the whole ads of the jobs."""
        items = None if itemdata is None else iter(list(itemdata))
        found = super().jobs(count, items, clusterid, procid, qdate, owner)
        return SubmitJobsIterator(_of_version_1(found))

    @takes(count=int, clusterid=int, procid=int, qdate=int, owner=str)
    def procs(
        self,
        count: int = 0,
        itemdata: Iterable[Any] | None = None,
        clusterid: int = 1,
        procid: int = 0,
        qdate: int = 0,
        owner: str = "",
    ) -> SubmitJobsIterator:
        """Return an iterator over what each job has for itself; the first one is whole."""
        items = None if itemdata is None else iter(list(itemdata))
        found = super().procs(count, items, clusterid, procid, qdate, owner)
        return SubmitJobsIterator(_of_version_1(found))

    def itemdata(self, qargs: str = "") -> QueueItemsIterator:  # type: ignore[override]
        """Return an iterator over the items of the queue statement, or of another one."""
        try:
            with raising(HTCondorInternalError):
                found: Any = super().itemdata(qargs or None)
        except HTCondorValueError as error:
            raise HTCondorInternalError(str(error)) from error
        return QueueItemsIterator(found)

    @takes(method_value=int)
    def setSubmitMethod(  # noqa: N802
        self, method_value: Any = -1, allow_reserved_values: bool = False
    ) -> None:
        """Say what JobSubmitMethod tells of the jobs; below 0 nothing is told."""
        with raising(HTCondorInternalError):
            super().setSubmitMethod(int(method_value), allow_reserved_values)

    @property
    def oauth_services(self) -> list[ClassAd]:
        """Return what tokens the jobs need: an ad for each service and each handle of it."""
        wanted = []
        for service in re.split(r"[\s,]+", self.get("use_oauth_services", "").strip()):
            found = {handle: ClassAd({"Service": service}) for handle in self._handles(service)}
            for handle, ad in sorted(found.items()):
                if handle:
                    ad["Handle"] = handle
                for part, name in _SERVICE_PARTS.items():
                    text = self.get(f"{service}_oauth_{part}{handle and '_' + handle}")
                    if text:
                        ad[name] = text
            wanted += [found[handle] for handle in sorted(found)]
        return wanted

    def _handles(self, service: str) -> set[str]:
        """Return the handles of a service that the description speaks of; empty for none."""
        if not service:
            return set()
        begin = re.compile(
            rf"{re.escape(service)}_oauth_(?:{'|'.join(_SERVICE_PARTS)})(?:_|\Z)", re.IGNORECASE
        )
        matches = [(key, begin.match(key)) for key in self]
        return {key[found.end() :] for key, found in matches if found is not None} or {""}

    @staticmethod
    @takes(filename=(str, os.PathLike))
    def from_dag(filename: str, options: Mapping[str, Any] = _DAG_OPTIONS) -> Submit:
        """Write the description of a DAGMan job for a DAG, FILE.condor.sub, and return it."""
        made = Submit()
        with raising(HTCondorIOError):
            made._take(htcondor2.Submit.from_dag(str(filename), dict(options)))
        return made


def _plain(key: str) -> str:
    return f"MY.{key[1:]}" if key[:1] == "+" else key


def _text_of(value: Any) -> str:
    if value is None:
        return "undefined"
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", AS_IS)
    return repr(value) if isinstance(value, ClassAd) else str(value)


def _of_version_1(ads: Iterator[Any]) -> Iterator[ClassAd]:
    with raising(HTCondorInternalError):
        yield from map(shown, ads)


def _check_transaction(given: object) -> None:
    if given is not None and not hasattr(given, "queue"):
        raise TypeError(f"a transaction cannot be {type(given).__name__}")
    if given is None:
        raise HTCondorValueError("Job queue attempt without active transaction")


def description_of(ad: Mapping[str, Any]) -> Submit:
    """Return the description of a job whose ad a program has made itself.

    What the ad does not say is as it is for any description.
    """
    job = ad if isinstance(ad, ClassAd) else ClassAd(ad)
    commands: dict[str, str] = {}
    for name in job:
        text = repr(job.lookup(name))
        if name.lower() == "cmd":
            commands["executable"] = str(job[name])
        elif name.lower() == "requirements":
            commands["requirements"] = text
        elif name.lower() not in {"clusterid", "procid"}:
            commands[f"MY.{name}"] = text
    return Submit(commands)
