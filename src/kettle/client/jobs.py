"""Questions about jobs, and actions on them, at a schedd.

One function a command of the schedd: query, history, act. Choosing the jobs and showing the
answers is the tools'. Source: wire notes, Schedd commands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from kettle.attributes.codes import ActionResult, JobAction
from kettle.classad import ClassAd
from kettle.client.connector import Connector
from kettle.client.stream import BlockingStream
from kettle.errors import RefusedError, WireError
from kettle.levels import Level
from kettle.structs import Struct
from kettle.wire.ad_shapes import AdRun, each_ad
from kettle.wire.commands import Command
from kettle.wire.messages.queue_queries import (
    ActOnJobs,
    ActOnJobsConfirm,
    ActOnJobsTrouble,
    QueryHistory,
    QueryJobAds,
    has_last,
    is_last,
)
from kettle.wire.security.negotiation import Wish, read_policy
from kettle.wire.similar_ads import SimilarAds
from kettle.wire.sinful import Sinful

if TYPE_CHECKING:
    from kettle.config import Config

QUERY_SECONDS = 120.0
# A schedd that says why it could not commit has said so already.
_TROUBLE_SECONDS = 5.0
REASON_ATTRIBUTES = {
    JobAction.HOLD: "HoldReason",
    JobAction.RELEASE: "ReleaseReason",
    JobAction.REMOVE: "RemoveReason",
    JobAction.REMOVE_X: "RemoveReason",
    JobAction.TRANSFER_AND_REMOVE: "RemoveReason",
    JobAction.SUSPEND: "SuspendReason",
    JobAction.CONTINUE: "ContinueReason",
    JobAction.VACATE: "VacateReason",
    JobAction.VACATE_FAST: "VacateReason",
}


class JobAds:
    """The answer to a job query: iterate over it; `summary` is there once it has been read.

    `runs` is the same answer with neighbours that have the same names together.
    """

    def __init__(self, connector: Connector, address: Sinful, query: ClassAd) -> None:
        self._connector = connector
        self._address = address
        self._query = query
        self.summary = ClassAd()

    def __iter__(self) -> Iterator[ClassAd]:
        return each_ad(self.runs())

    def runs(self) -> Iterator[ClassAd | AdRun]:
        """Ask, and yield single ads and runs of ads."""
        command = Command.QUERY_JOB_ADS
        if "MyJobs" in self._query and _may_say_who_asks(self._connector.config):
            command = Command.QUERY_JOB_ADS_WITH_AUTH
        with self._connector.connect(self._address, command, timeout=QUERY_SECONDS) as stream:
            stream.send(QueryJobAds(self._query))
            for found in _received(stream):
                if isinstance(found, ClassAd) and is_last(found):
                    break
                yield found
        assert isinstance(found, ClassAd)
        self.summary = found
        check_summary(found)


def _may_say_who_asks(config: Config) -> bool:
    """Tell whether a schedd will know who asks for jobs of his own, and show all to its masters.

    Not where this configuration rules out that anybody is authenticated, as the reference judges.
    """
    asker = read_policy(config.get, Level.CLIENT, subsystem=config.subsystem)
    answerer = read_policy(config.get, Level.READ, subsystem="SCHEDD")
    own = config.get("SCHEDD.SEC_READ_AUTHENTICATION") or ""
    return (
        asker.negotiation not in {Wish.NEVER, Wish.OPTIONAL}
        and Wish.NEVER not in {asker.authentication, answerer.authentication}
        and not own.upper().startswith("N")
    )


def _received(stream: BlockingStream) -> Iterator[ClassAd | AdRun]:
    """Yield what comes; the summary is never in a run."""
    ads = SimilarAds()
    while True:
        for found in ads.read_all(stream.receive_bodies(), encrypted=stream.encrypted):
            if isinstance(found, AdRun) and has_last(found):
                yield from found
            else:
                yield found


def check_summary(summary: ClassAd) -> None:
    """Raise RefusedError if the ad that ends an answer tells of an error."""
    code = summary.integer("ErrorCode") or 0
    if code:
        text = summary.string("ErrorString") or f"the schedd answered with error {code}"
        raise RefusedError(text, code=code)


def query_jobs(
    connector: Connector,
    address: Sinful,
    *,
    constraint: str = "true",
    projection: Iterable[str] = (),
    limit: int = 0,
    mine: str = "",
    **options: object,
) -> JobAds:
    """Ask for job ads. `mine` is the user whose jobs alone are wanted; `options` go as they are.

    Nothing is sent before the result is iterated. Raises RefusedError when the schedd refuses.
    """
    query = ClassAd({"MyType": "Query", "TargetType": "Job", "SendServerTime": True})
    query.insert_text("Requirements", constraint)
    names = list(projection)
    if names:
        query["Projection"] = " ".join(names)
    if limit > 0:
        query["LimitResults"] = limit
    if mine:
        query["MyJobs"] = "(Owner == Me)"
        query["Me"] = mine
    for name, value in options.items():
        query[name] = value
    return JobAds(connector, address, query)


def query_history(
    connector: Connector, address: Sinful, query: ClassAd, *, command: int = 515
) -> Iterator[ClassAd]:
    """Yield the ads of a daemon's history, newest first unless the query says otherwise."""
    query["StreamResults"] = True
    with connector.connect(address, command, timeout=QUERY_SECONDS) as stream:
        stream.send(QueryHistory(query))
        while True:
            found = stream.receive().ad()
            text = (found.text("Owner") or "").strip()
            if text == "1":
                continue
            if text == "0":
                check_summary(found)
                return
            yield found


class Acted(Struct):
    """What became of an action: per job (or cluster: proc None) its result, and the totals."""

    results: dict[tuple[int, int | None], ActionResult]
    totals: dict[ActionResult, int]
    succeeded: bool
    # The schedd's answer as it came.
    lines: tuple[str, ...] = ()
    # Nothing was done because the schedd has no jobs at all.
    queue_is_empty: bool = False


def act_on_jobs(
    connector: Connector,
    address: Sinful,
    action: JobAction,
    *,
    ids: Sequence[str] = (),
    constraint: str = "",
    reason: str = "",
    subcode: int | None = None,
    of_each: bool | None = None,
) -> Acted:
    """Hold, release, remove, … the jobs named by `ids` (`C.P`) or by `constraint`.

    A whole cluster goes by constraint: the reference's schedd passes over a bare `C` among ids.

    `of_each` asks what became of each job, else how many had which result; left out, that is so for
    jobs named by ids. When it returns, what was done is on the schedd's disk. Raises RefusedError
    for a request the schedd does not understand.
    """
    detailed = bool(ids) if of_each is None else of_each
    request = ClassAd({"JobAction": int(action), "ActionResultType": 1 if detailed else 2})
    if ids:
        request["ActionIds"] = ",".join(ids)
    else:
        request.insert_text("ActionConstraint", constraint)
    attribute = REASON_ATTRIBUTES.get(action)
    if reason and attribute:
        request[attribute] = reason
    if subcode is not None:
        request["HoldReasonSubCode"] = subcode
    command = Command.ACT_ON_JOBS
    with connector.connect(
        address, command, timeout=QUERY_SECONDS, force_authentication=True
    ) as stream:
        stream.send(ActOnJobs(request))
        reader = stream.receive()
        answer = reader.ad()
        if answer.integer("ActionResult") == 1:
            stream.send(ActOnJobsConfirm(1))
            if stream.receive().integer() != 1:
                raise RefusedError(f"the schedd could not commit the change{_read_trouble(stream)}")
    return read_acted(answer)


def _read_trouble(stream: BlockingStream) -> str:
    """Return why a schedd could not commit an action, behind a colon; nothing if it does not say.

    Compat: HTCondor's schedd tells the number alone and closes; ours tells what it could not write
    in a message of its own, which HTCondor's tools do not wait for
    (test_a_full_spool_refuses_changes_of_jobs_with_the_reason_in_every_tool).
    """
    try:
        return f": {ActOnJobsTrouble.read(stream.receive(_TROUBLE_SECONDS)).reason}"
    except WireError:
        return ""


def read_acted(answer: ClassAd) -> Acted:
    """Read the schedd's answer to an action."""
    results: dict[tuple[int, int | None], ActionResult] = {}
    totals: dict[ActionResult, int] = {}
    for name in answer.own_names():
        kind, _, rest = name.partition("_")
        value = answer.integer(name)
        if value is None:
            continue
        if kind == "job":
            cluster, _, proc = rest.partition("_")
            results[int(cluster), int(proc)] = ActionResult(value)
        elif kind == "cluster":
            results[int(rest), None] = ActionResult(value)
        elif name.startswith("result_total_"):
            totals[ActionResult(int(name.removeprefix("result_total_")))] = value
    succeeded = answer.integer("ActionResult") == 1
    is_empty = not succeeded and answer.integer("TotalJobAds") == 0
    return Acted(results, totals, succeeded, tuple(sorted(answer.lines())), is_empty)


def reschedule(connector: Connector, address: Sinful) -> None:
    """Tell a schedd that it may ask for matches now."""
    with connector.connect(address, Command.RESCHEDULE) as stream:
        stream.finish_bare()
