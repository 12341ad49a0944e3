"""Making the jobs of clusters that make them later, as the queue has room for them.

Follows the queue: whenever a job of such a cluster leaves or starts, the cluster may make more.
What is made is `factory`'s decision; the digest is read here, once, and the items as their jobs are
made.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from random import SystemRandom
from typing import TYPE_CHECKING

from kettle.attributes.codes import HoldReasonCode
from kettle.classad import ClassAd
from kettle.classad.text import without_line_ends
from kettle.records.event_cluster import Completion, FactoryPausedEvent, FactoryResumedEvent
from kettle.runtime import tasks
from kettle.schedd import departures
from kettle.schedd.queue import factory
from kettle.schedd.queue.applying import Changes
from kettle.schedd.queue.factory import Paused
from kettle.schedd.queue.job_rules import Applying
from kettle.schedd.queue.jobs import Cluster
from kettle.schedd.steps import do_all
from kettle.submit.item_lines import ItemLines
from kettle.submit.materialize import later_jobs
from kettle.submit.protected import read_protected
from kettle.submit.sources import SubmitFacts

if TYPE_CHECKING:
    from kettle.schedd.queue.transaction import Transaction
    from kettle.schedd.services.parts import Schedd
    from kettle.submit.build import JobPlan

# How long after a failure that may pass it is tried again: longer each time.
_FIRST_SECONDS = 5
_LONGEST_SECONDS = 300

# What the last event of a cluster says of how far its making had come.
_COMPLETIONS: dict[int, Completion] = {
    Paused.NO_MORE: Completion.COMPLETE,
    Paused.HELD: Completion.PAUSED,
    Paused.INVALID: Completion.ERROR,
}


class _Turn:
    """How many jobs are made before others have their turn."""

    def __init__(self, wanted: int, monotonic: Callable[[], float]) -> None:
        self._wanted = wanted
        self._monotonic = monotonic
        self._end = monotonic() + tasks.TURN_SECONDS
        # Whether the time was over before as many were made as are wanted.
        self.is_over = False

    def cut(self, plans: Iterator[JobPlan]) -> Iterator[JobPlan]:
        """Yield the next jobs, one at least."""
        for plan in itertools.islice(plans, self._wanted):
            yield plan
            if self._monotonic() >= self._end:
                self.is_over = True
                return


class Factories:
    """Every cluster that makes jobs."""

    def __init__(self, schedd: Schedd, own_ad: Callable[[], ClassAd] = ClassAd) -> None:
        """`own_ad` is the schedd's, which conditions of new jobs may ask."""
        self._schedd = schedd
        self._own_ad = own_ad
        # Where each cluster's making stands; rebuilt from the ad after a restart.
        self._plans: dict[int, Iterator[JobPlan]] = {}
        # How often in a row the next job could not be made for what may pass.
        self._tries: dict[int, int] = {}
        # Who waits to try it again, one for a cluster.
        self._later: dict[int, asyncio.Task[None]] = {}
        # The one that waits longest is next.
        self._wanted: dict[int, None] = {}
        self._late: dict[int, Cluster] = {}
        # What was there at our start and has made nothing since.
        self._found: set[int] = set()
        self._running = False

    def start(self) -> None:
        """Look at every cluster once; whose making had failed has another try."""
        queue = self._schedd.queue
        self._found.update(queue.clusters)
        again = queue.transaction()
        for cluster in queue.clusters.values():
            failed = cluster.ad.integer("JobMaterializePaused") == Paused.INVALID
            if failed and factory.is_factory(cluster):
                factory.plan_start(again, cluster)
        queue.commit(again)
        for cluster in queue.clusters.values():
            self._want(cluster)

    def may_have_made(self, cluster: int) -> bool:
        """Whether the jobs that a cluster makes now may have been made, and told of, before.

        The last ones that an earlier schedd made are told of before they are on disk: a power cut
        takes them from the queue and leaves them in the log.
        """
        return cluster in self._found

    def on_changes(self, changes: Changes) -> None:
        """Follow a commit."""
        clusters = self._schedd.queue.clusters
        touched = {job.id.cluster for job in changes.gone}
        touched.update(job.cluster for job in changes.status_before)
        touched.update(cluster.id for cluster in changes.new_clusters)
        touched.update(
            cluster
            for cluster, names in changes.changed_clusters.items()
            if not names.isdisjoint(factory.DECIDES_HOW_MANY)
        )
        for number in touched:
            if number in clusters:
                self._want(clusters[number])
        for cluster in changes.gone_clusters:
            if factory.is_factory(cluster):
                self._on_gone(cluster)

    def count_unmade(self) -> int:
        """Return how many jobs of late clusters are not made yet."""
        return sum(
            max(
                0,
                (cluster.ad.integer("TotalSubmitProcs") or 0)
                - (cluster.ad.integer("JobMaterializeNextProcId") or 0),
            )
            for cluster in self._late.values()
        )

    def on_paused(self, cluster: Cluster, paused: int, reason: str) -> None:
        """Follow what was done to a whole cluster; the reason names its user."""
        if paused == Paused.RUNNING:
            self._schedd.events.write_cluster(cluster, FactoryResumedEvent(reason=reason))
        elif paused == Paused.HELD:
            code = int(HoldReasonCode.UserRequest)
            event = FactoryPausedEvent(reason=reason, pause_code=paused, hold_code=code)
            self._schedd.events.write_cluster(cluster, event)
        # Whoever releases a cluster wants it tried at once.
        self._forget_later(cluster.id)
        self._want(cluster)

    def _want(self, cluster: Cluster) -> None:
        if not factory.is_factory(cluster):
            return
        self._late[cluster.id] = cluster
        if cluster.id in self._later and factory.is_running(cluster):
            # Each look would read the digest and the items again, only to fail once more.
            return
        self._wanted[cluster.id] = None
        if not self._running:
            self._running = True
            tasks.spawn(self._serve(), "late materialization")

    async def _serve(self) -> None:
        try:
            while self._wanted:
                # No log tells of jobs whose cluster a power cut may take back.
                await self._schedd.journal.flush()
                await asyncio.sleep(0)
                number = next(iter(self._wanted))
                del self._wanted[number]
                cluster = self._schedd.queue.clusters.get(number)
                if cluster is None:
                    continue
                with tasks.reported("Making a cluster's jobs"):
                    if self._make(cluster):
                        self._wanted[number] = None
        finally:
            self._running = False

    def _make(self, cluster: Cluster) -> bool:
        """Make a cluster's next jobs; True if there may be more."""
        schedd = self._schedd
        wanted = factory.count_wanted(cluster)
        made = wanted > 0 and self._make_some(cluster, wanted)
        if not cluster.procs and not departures.makes_more(cluster):
            leaving = schedd.queue.transaction()
            departures.plan_cluster_departure(leaving, schedd.queue, cluster)
            self._commit(cluster, leaving)
            return False
        return made

    def _make_some(self, cluster: Cluster, wanted: int) -> bool:
        """Make as many jobs as are wanted, or the time allows; True if there may be more.

        Those before one that cannot be made are made.
        """
        schedd = self._schedd
        transaction = schedd.queue.transaction()
        turn = _Turn(wanted, schedd.runtime.clock.monotonic)
        made = 0
        paused: Paused | None = None
        reason = ""
        try:
            made = factory.plan_jobs(
                transaction,
                cluster,
                turn.cut(self._plan_of(cluster)),
                schedd.queue_settings,
                schedd.now(),
                self._applying(),
            )
        except Exception as error:  # noqa: BLE001 - other clusters go on
            # The next try begins with the first job that is not there.
            self._plans.pop(cluster.id, None)
            reason = without_line_ends(str(error)).strip()
            paused = factory.judge_failure(error)
            if paused is None:
                self._try_later(cluster, reason)
            else:
                schedd.runtime.log.problem(f"Cluster {cluster.id} makes no jobs: {reason}")
        else:
            if made < wanted and not turn.is_over:
                paused = Paused.NO_MORE
        if paused is not None:
            factory.plan_end(transaction, cluster, paused, reason)
        do_all(
            (
                partial(self._commit, cluster, transaction),
                partial(self._after_making, cluster, transaction, paused, reason),
            )
        )
        if made:
            self._tries.pop(cluster.id, None)
        return made > 0

    def _commit(self, cluster: Cluster, transaction: Transaction) -> None:
        """Commit what was made of a cluster; what the queue does not take is tried again."""
        try:
            self._schedd.queue.commit(transaction)
        except Exception as error:
            if not transaction.taken:
                self._try_later(cluster, without_line_ends(str(error)).strip())
            raise

    def _after_making(
        self, cluster: Cluster, transaction: Transaction, paused: Paused | None, reason: str
    ) -> None:
        self._found.discard(cluster.id)
        if not transaction.taken:
            # These jobs are not there, and are the next ones to be made.
            self._plans.pop(cluster.id, None)
        elif paused in {Paused.HELD, Paused.INVALID}:
            event = FactoryPausedEvent(reason=reason, pause_code=paused)
            self._schedd.events.write_cluster(cluster, event)

    def _try_later(self, cluster: Cluster, reason: str) -> None:
        """Have a cluster make its jobs another time: longer after each failure."""
        tries = self._tries.get(cluster.id, 0)
        self._tries[cluster.id] = tries + 1
        seconds = min(_FIRST_SECONDS << min(tries, 10), _LONGEST_SECONDS)
        said = f"Cluster {cluster.id} makes its next jobs in {seconds} seconds: {reason}"
        self._schedd.runtime.log.problem(said)
        self._forget_later(cluster.id)
        again = self._want_in(seconds, cluster)
        self._later[cluster.id] = tasks.spawn(again, "late materialization, once more")

    def _forget_later(self, cluster: int) -> None:
        waiting = self._later.pop(cluster, None)
        if waiting is not None:
            waiting.cancel()

    async def _want_in(self, seconds: int, cluster: Cluster) -> None:
        await asyncio.sleep(seconds)
        self._later.pop(cluster.id, None)
        if self._schedd.queue.clusters.get(cluster.id) is cluster:
            self._want(cluster)

    def _applying(self) -> Applying | None:
        """Return what changes new jobs as the administrator says, None if nothing does."""
        schedd = self._schedd
        rules = schedd.queue_settings.rules
        if not rules:
            return None
        return Applying(rules, self._own_ad, schedd.runtime.log)

    def _plan_of(self, cluster: Cluster) -> Iterator[JobPlan]:
        plan = self._plans.get(cluster.id)
        if plan is None:
            plan = self._plans[cluster.id] = self._open(cluster)
        return plan

    def _open(self, cluster: Cluster) -> Iterator[JobPlan]:
        schedd, ad = self._schedd, cluster.ad
        files = schedd.runtime.files
        digest = files.read_text(schedd.spool.cluster_file(cluster.id, "digest"))
        items_file = ad.string("JobMaterializeItemsFile") or ""
        items: Sequence[str] = ()
        if items_file:
            own = schedd.spool.cluster_file(cluster.id, "items")
            items = ItemLines(files.read_pieces(own), partial(files.read_at, own), own)
        facts = SubmitFacts(
            now=schedd.now(),
            user=ad.string("Owner") or "",
            folder=ad.string("Iwd") or "/",
            file_name="digest",
            version=schedd.queue_settings.version,
            platform=schedd.queue_settings.platform,
            environment={},
            cluster=cluster.id,
        )
        # After a restart others are drawn: those of jobs that are in the queue stay as they are.
        sources = factory.DigestSources(items_file, items, SystemRandom())
        return later_jobs(
            digest,
            ad,
            sources,
            schedd.runtime.config,
            facts,
            skip=factory.next_proc(cluster),
            protected=read_protected(
                schedd.runtime.config, files.read_text, schedd.runtime.log.problem
            ),
            tell=schedd.runtime.log.problem,
        )

    def _on_gone(self, cluster: Cluster) -> None:
        self._late.pop(cluster.id, None)
        self._plans.pop(cluster.id, None)
        self._tries.pop(cluster.id, None)
        self._forget_later(cluster.id)
        paused = cluster.ad.integer("JobMaterializePaused") or 0
        # Any number at all: a user may set the attribute.
        completion = _COMPLETIONS.get(paused, Completion.INCOMPLETE)
        self._schedd.events.cluster_removed(cluster, completion)
        self._schedd.spool.remove_cluster(cluster.id)
