"""Where the ads of `condor_q` come from: schedds or files, which of them, and what they answer.

Which jobs are meant and how they are shown is not decided here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from kettle.classad import ClassAd, parse_ads
from kettle.errors import (
    ClassAdSyntaxError,
    KettleError,
    NotFoundError,
    RefusedError,
    UnknownHostError,
    Unreached,
    UsageError,
    WireError,
)
from kettle.runtime.account_names import login_name
from kettle.runtime.storage.texts import LARGEST_ADS, read_text
from kettle.structs import Struct, field
from kettle.tools.printing.ad_filter import AdFilter
from kettle.tools.queue.batches import job_id

if TYPE_CHECKING:
    from kettle.client.pool import Located
    from kettle.tools.queue.wish import Wish
    from kettle.tools.reach import Reach
    from kettle.wire.ad_shapes import AdRun
    from kettle.wire.sinful import Sinful

ALL_EMPTY = "All queues are empty\n"
# What a schedd's ad says that is asked by `-global`, as the reference asks.
_HAS_JOBS = (
    "TotalRunningJobs > 0 || TotalIdleJobs > 0 || TotalHeldJobs > 0"
    " || TotalRemovedJobs > 0 || TotalJobAds > 0"
)
# A moment that no clock shows is none.
_LATEST = 1 << 36
_COUNTED = ("Jobs", "SchedulerJobs", "AllusersJobs")
NO_RECORD = "Collector has no record of schedd/submitter"


class NoRecordError(KettleError):
    """The collector knows no schedd, or submitter, that is meant."""


class NoAnswerError(KettleError):
    """A schedd that was asked and did not answer.

    Compat: the words after its address are ours; the reference's are its numbered list of errors
    (test_a_schedd_that_breaks_off_is_named_with_its_address_and_why).
    """

    def __init__(self, schedd: Located, error: KettleError) -> None:
        from kettle.tools.failures import explain_in_line  # for the few that fail

        place = schedd.machine or schedd.name
        why = f"\n{explain_in_line(error)}" if isinstance(error, Unreached) else str(error)
        super().__init__(f"Failed to fetch ads from: {schedd.address} : {place}\n{why}")


class Answer(Struct):
    """The ads of one source, with what stands over them."""

    title: str
    ads: Iterable[ClassAd]
    # The schedd's own counts; None for ads of a file.
    summary: ClassAd | None = None
    now: float = 0.0
    # The same ads, with neighbours that have the same names together, where that is known.
    runs: Iterable[ClassAd | AdRun] | None = None
    # The schedd's host, where it is asked for, and its name; empty for ads of a file.
    host: str = ""
    schedd: str = ""
    # What is said of the ads beside them.
    complaints: list[str] = field(default_factory=list)


def ask(
    wish: Wish,
    environment: Mapping[str, str],
    attributes: Sequence[str],
    reach: Reach | None = None,
) -> Iterable[Answer]:
    """Return the answers of the file or the schedds that are meant; `reach` if there is one yet."""
    if wish.job_file:
        ads = _local_ads(wish, read_ads(wish.job_file, wish.file_form))
        # None of a file's ads is of a set of jobs, so that none tells its time there.
        moment = 0.0 if "jobset" in wish.flags else _moment_of(ads)
        answer = Answer(f"Jobads: {wish.job_file}", ads, now=moment)
        if not {"autocluster", "group-by"} & wish.flags:
            answer.ads = sorted(_take_each_once(ads, answer.complaints), key=job_id)
        return [answer]
    if wish.user_log:
        ads = _local_ads(wish, read_user_log(wish.user_log))
        return [Answer(f"Userlog: {wish.user_log}", ads)]
    return ask_schedds(wish, environment, attributes, reach)


def read_ads(path: str, form: str) -> list[ClassAd]:
    """Return the ads of a file."""
    try:
        text = read_text(path, limit=LARGEST_ADS)
    except OSError:
        raise UsageError(f"Can't open file of ClassAds: {path}") from None
    try:
        return list(parse_ads(text, form if form in {"long", "new", "json", "xml"} else "auto"))
    except ClassAdSyntaxError as error:
        raise error.in_file(path) from None


def read_user_log(path: str) -> list[ClassAd]:
    """Return job ads as far as an event log tells of its jobs."""
    from kettle.tools.queue.log_ads import read_log_file

    try:
        return read_log_file(path)
    except OSError:
        raise UsageError(f"\nCan't open user log: {path}") from None


def _local_ads(wish: Wish, ads: Iterable[ClassAd]) -> list[ClassAd]:
    chosen = AdFilter(wish.constraint())
    found = [ad for ad in ads if chosen(ad)]
    if wish.factories:
        return [ad for ad in found if "ProcId" not in ad and "JobMaterializeDigestFile" in ad]
    return found


def _moment_of(ads: Iterable[ClassAd]) -> float:
    """Return when a schedd showed jobs: as the first of them has it, in the order of their numbers.

    0 if none says so.
    """
    moments = (
        (ad.integer("ClusterId") or 0, ad.integer("ProcId") or 0, ad.integer("ServerTime"))
        for ad in ads
    )
    said = [each for each in moments if each[2] is not None and 0 <= each[2] < _LATEST]
    return float(min(said)[2] or 0) if said else 0.0


def _take_each_once(ads: Iterable[ClassAd], complaints: list[str]) -> Iterator[ClassAd]:
    """Yield ads but those of a job that came already, which are told; what is no job stays."""
    seen: set[tuple[int, int]] = set()
    for ad in ads:
        cluster, proc = ad.integer("ClusterId"), ad.integer("ProcId")
        if cluster is not None and proc is not None:
            if (cluster, proc) in seen:
                complaints.append("Error: Two results with the same ID.")
                continue
            seen.add((cluster, proc))
        yield ad


def check_hosts(reach: Reach, wish: Wish) -> None:
    """Raise for a `-pool` or `-name` whose host nobody knows, before anybody is asked.

    A name with a dot in it is taken for a whole one, as the reference does.
    """
    from kettle.runtime.sockets.addresses import may_be_daemon
    from kettle.tools.queue.conflicts import NAME_ADVICE, POOL_ADVICE, AdvisedError

    def refuse(word: str, advice: str) -> UsageError:
        message = f"Error: {UnknownHostError(word)}"
        return UsageError(message) if "expert" in wish.flags else AdvisedError(message, advice)

    if reach.named_pool:
        try:
            reach.pool.collectors()
        except UnknownHostError:
            raise refuse(reach.named_pool, POOL_ADVICE) from None
    name = wish.reach.get("name")
    if name is not None and not may_be_daemon(name, reach.config):
        raise refuse(name, NAME_ADVICE)


def ask_schedds(
    wish: Wish,
    environment: Mapping[str, str],
    projection: Sequence[str],
    reach: Reach | None = None,
) -> Iterator[Answer]:
    """Yield the answer of each schedd that the command line means.

    Raises NotFoundError if this host has none, NoRecordError if the collector knows none that is
    meant, NoAnswerError if one does not answer.
    """
    from kettle.client.jobs import query_jobs
    from kettle.tools.reach import Reach
    from kettle.wire.ad_shapes import each_ad

    reach = reach or Reach(environment, **wish.reach)
    check_hosts(reach, wish)
    user = login_name() if wish.mine and not wish.grouped else ""
    options = _query_options(wish)
    counts_alone = "SummaryOnly" in options
    for title, schedd in find_schedds(wish, reach):
        host = _host_of(schedd) if "run" in wish.modes else ""
        found = query_jobs(
            reach.connector,
            schedd.address,
            constraint=wish.constraint(),
            projection=projection,
            limit=wish.limit,
            mine=user,
            **options,
        )
        runs = _reading(found.runs(), schedd)
        if counts_alone and (wish.form or wish.columns):
            # The counts are an ad like any other then.
            yield Answer(title, [*each_ad(runs), _unmarked(found.summary)])
            continue
        if _streams_them(wish):
            # Written as they come: nothing stands over or under them.
            yield Answer(title, each_ad(runs), runs=runs)
            continue
        ads = list(each_ad(runs))
        if "group-by" in wish.flags:
            ads.sort(key=lambda ad: ad.integer("Id") or 0)
        now = found.summary.integer("ServerTime") or 0
        summary = _named(found.summary, user, reach)
        yield Answer(title, ads, summary, float(now), host=host, schedd=schedd.name)


def _streams_them(wish: Wish) -> bool:
    bare = wish.form or (wish.columns and not wish.columns.headings)
    return bool(bare) and "group-by" not in wish.flags


def _unmarked(summary: ClassAd) -> ClassAd:
    """Return a summary without Owner, which only marks the end of an answer."""
    summary.discard("Owner")
    return summary


def _query_options(wish: Wish) -> dict[str, object]:
    """Return what a query says beside its constraint."""
    if wish.analyses:
        # What it knows of the matches of whole autoclusters.
        return {"ForAnalysis": True}
    if wish.factories:
        return {"IncludeClusterAd": True, "NoProcAds": True}
    if "autocluster" in wish.flags:
        options: dict[str, object] = {"QueryDefaultAutocluster": True, "MaxReturnedJobIds": 2}
    elif "group-by" in wish.flags:
        options = {"ProjectionIsGroupBy": True, "MaxReturnedJobIds": 2}
    else:
        options = {}
    if "totals" in wish.flags and "unmatchable" not in wish.flags:
        options["SummaryOnly"] = True
    return options


def _host_of(schedd: Located) -> str:
    """Return the name of a schedd's host as its address tells; empty if nothing does."""
    import socket

    try:
        return socket.getnameinfo((schedd.address.host, 0), socket.NI_NAMEREQD)[0]
    except OSError:
        return ""


def _reading(runs: Iterable[ClassAd | AdRun], schedd: Located) -> Iterator[ClassAd | AdRun]:
    """Yield what a schedd answers; what breaks it off names the schedd."""
    try:
        yield from runs
    except (WireError, RefusedError) as error:
        raise NoAnswerError(schedd, error) from None


def is_filled(answer: Answer, wish: Wish) -> bool:
    """Whether there is any job in an answer, or one that its lines of totals count.

    Of an answer that comes bit by bit, the first job is read.
    """
    from kettle.wire.ad_shapes import each_ad

    if answer.runs is None:
        summary = answer.summary or ClassAd()
        counted = _COUNTED if wish.totals_by_user else _COUNTED[:-1]
        return bool(answer.ads) or any(summary.integer(name) for name in counted)
    runs = iter(answer.runs)
    first = next(runs, None)
    if first is None:
        return False
    answer.runs = chain([first], runs)
    answer.ads = each_ad(answer.runs)
    return True


def _named(summary: ClassAd, user: str, reach: Reach) -> ClassAd:
    """Complete the user's name for the line of totals: the schedd may know only its first part."""
    name = summary.string("MyName") or user
    if name and "@" not in name:
        domain = reach.config.get("UID_DOMAIN") or reach.config.get("FULL_HOSTNAME") or "localhost"
        summary["MyName"] = f"{name}@{domain}"
    return summary


def _short_address(address: Sinful) -> str:
    """Return an address as titles show it: parameters are only hinted at."""
    text = str(address)
    before, mark, _ = text.partition("?")
    return f"{before}?..." if mark else text


def find_schedds(wish: Wish, reach: Reach) -> Iterator[tuple[str, Located]]:
    """Yield the schedds that the command line means, with what stands over their jobs."""
    if wish.submitter:
        yield from _find_submitters(wish, reach)
        return
    if "global" in wish.flags or wish.reach.keys() & {"name", "address"}:
        found = _known_schedds(wish, reach)
        if not found and "global" not in wish.flags:
            raise NoRecordError(NO_RECORD)
        for schedd in found:
            yield f"Schedd: {schedd.name} : {_short_address(schedd.address)}", schedd
        return
    # Compat: -pool alone changes nothing about which schedd is asked: this host's
    # (test_tools_beside_real_ones).
    schedd = reach.without_pool().schedd()
    yield f"Schedd: {schedd.name} : {_short_address(schedd.address)}", schedd


def _known_schedds(wish: Wish, reach: Reach) -> list[Located]:
    """Return the schedds among which those are that the command line means, by name.

    Compat: an address counts only as the collector knows it; nobody is called who is not known
    there (test_tools_beside_real_ones).
    """
    from kettle.classad.text import equals
    from kettle.client.pool import SCHEDD, located, make_query

    if "name" in wish.reach and "global" not in wish.flags:
        try:
            return [reach.pool.locate(SCHEDD, reach.name, far=True)]
        except NotFoundError:
            return []
    constraints = [wish.schedd_constraint] if wish.schedd_constraint else []
    constraints += [_HAS_JOBS] if "global" in wish.flags else []
    constraints += [
        equals(attribute, wish.reach[option])
        for option, attribute in (("name", "Name"), ("address", "MyAddress"))
        if option in wish.reach
    ]
    wanted = ("CondorVersion", "Machine", "MyAddress", "Name")
    query = make_query(SCHEDD.ad_type, constraints=constraints, projection=wanted)
    ads = reach.pool.query(SCHEDD.query, query)
    found = [schedd for schedd in map(located, ads) if schedd is not None]
    return sorted(found, key=lambda schedd: schedd.name)


def _find_submitters(wish: Wish, reach: Reach) -> Iterator[tuple[str, Located]]:
    from kettle.classad.text import equals
    from kettle.client.pool import located, make_query
    from kettle.wire.commands import Command

    test = equals("Name" if "@" in wish.submitter else 'split(Name,"@")[0]', wish.submitter)
    query = make_query("Submitter", constraints=[test])
    seen = set()
    for ad in reach.pool.query(Command.QUERY_SUBMITTOR_ADS, query):
        schedd = located(ad)
        if schedd is None or str(schedd.address) in seen:
            continue
        seen.add(str(schedd.address))
        place = schedd.machine or ad.string("ScheddName")
        submitter = ad.string("Name") or wish.submitter
        yield f"Submitter: {submitter} : {_short_address(schedd.address)} : {place}", schedd
    if not seen and "global" not in wish.flags:
        raise NoRecordError(NO_RECORD)
