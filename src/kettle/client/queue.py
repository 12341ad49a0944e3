"""Queue management from a tool: submit, edit, read, over one connection to a schedd.

A `Queue` is one connection with one transaction. Attributes of a submission are sent without
waiting for answers (SetAttribute2 with NO_ACK); whatever went wrong with one of them, the commit
says. Jobs are described by ads; where those come from is `kettle.submit`'s. Source: wire
notes, Schedd queue management.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Self

from kettle.attributes.codes import JobUniverse
from kettle.classad import ClassAd
from kettle.client.connector import Connector
from kettle.client.stream import BlockingStream
from kettle.errors import NotCommitted, RefusedError, RemoteProtocolError, SubmitError
from kettle.wire.commands import Command
from kettle.wire.messages import qmgmt
from kettle.wire.messages.rpc import Call, Reply
from kettle.wire.sinful import Sinful

if TYPE_CHECKING:
    from kettle.submit.build import Submission

QUEUE_SECONDS = 120.0
# The proc number under which a cluster's common attributes are set.
CLUSTER_AD = -1
# Attributes that `submit` sends first, with the numbers that the schedd gave.
NUMBERS = frozenset({"procid", "clusterid"})
NO_ACK = int(qmgmt.SetAttributeFlags.NO_ACK)
# So many new procs are asked for before the first answer is read. Their answers fit in the
# socket's buffer, so that neither side ever waits for the other to read.
PROCS_AHEAD = 500
# Items are sent when so many bytes of them have come together.
ITEM_BYTES = 1 << 16


class Queue:
    """A queue management connection; leaving it without `commit` undoes what was not committed."""

    def __init__(self, connector: Connector, address: Sinful, *, read_only: bool = False) -> None:
        command = Command.QMGMT_READ_CMD if read_only else Command.QMGMT_WRITE_CMD
        self._stream: BlockingStream = connector.connect(
            address, command, timeout=QUEUE_SECONDS, force_authentication=not read_only
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                self._stream.send(qmgmt.CloseSocket())
        finally:
            self._stream.close()

    @property
    def user(self) -> str:
        """Who the schedd says we are."""
        return self._stream.user

    def call(self, call: Call) -> Reply:
        """Make one call and return its reply, whatever its value."""
        self._stream.send(call)
        return call.read_answer(self._stream.receive())

    def ask(self, call: Call, what: str) -> Reply:
        """Make one call; RefusedError with `what` and the schedd's reason if it failed."""
        reply = self.call(call)
        if reply.value < 0:
            raise refusal(reply, what)
        return reply

    def capabilities(self, *, help_text: bool = False) -> ClassAd:
        """Return what the schedd can do, with the text that explains its own submit commands."""
        found = self.call(qmgmt.GetCapabilities(int(help_text))).result
        assert isinstance(found, ClassAd)
        return found

    def new_cluster(self) -> int:
        """Begin a cluster and return its number."""
        return self.ask(qmgmt.NewCluster(), "Failed to create cluster").value

    def post_attribute(
        self, cluster: int, proc: int, name: str, text: str, *, flags: int = NO_ACK
    ) -> None:
        """Set an attribute to an expression's text without waiting; the commit tells of errors."""
        stream = self._stream
        stream.post_body(
            qmgmt.set_attribute_body(cluster, proc, name, text, flags, encrypted=stream.encrypted)
        )

    def set_attribute(
        self, cluster: int, proc: int, name: str, text: str, *, flags: int = 0
    ) -> None:
        """Set an attribute to an expression's text; RefusedError says why not.

        `flags` are those of SetAttributeFlags.
        """
        call: Call = qmgmt.SetAttribute(cluster, proc, text, name)
        if flags:
            call = qmgmt.SetAttribute2(cluster, proc, text, name, flags)
        self.ask(
            call,
            f"Failed to set {name} to {text} for job {cluster}.{proc}",
        )

    def set_where(self, constraint: str, name: str, text: str, *, flags: int = 0) -> int:
        """Set an attribute of every job that matches; return how many there were."""
        return self.ask(
            qmgmt.SetAttributeByConstraint2(constraint, text, name, flags),
            f"Failed to set {name} to {text} where {constraint}",
        ).value

    def commit(self, what: str = "Failed to commit") -> str:
        """Make it so; return the schedd's warning, mostly empty. On return it is on disk.

        `what` begins the sentence about a refusal, NotCommitted.
        """
        reply = self.call(qmgmt.CommitTransactionNoFlags())
        if reply.value < 0:
            raise refusal(reply, what, NotCommitted)
        details = reply.details
        return (details.string("WarningReason") or "") if details is not None else ""

    def jobs(self, constraint: str, projection: Iterable[str] = ()) -> Iterator[ClassAd]:
        """Yield the ads of all jobs that match."""
        names = " ".join(projection)
        yield from self.call(qmgmt.GetAllJobsByConstraint(constraint, names)).result

    def submit(
        self,
        cluster_ad: Callable[[int], ClassAd],
        procs: Callable[[int, int], ClassAd | Iterable[tuple[str, str]] | None],
        on_proc: Callable[[int, int], None] = lambda _cluster, _proc: None,
    ) -> tuple[int, int]:
        """Submit one cluster; return its number and how many jobs it got.

        `cluster_ad(cluster)` is the ad of what all jobs share, `procs(cluster, index)` the
        attributes of one job that differ, by name and text or in an ad, None after the last.
        `on_proc` hears of each. Nothing is in the queue before `commit`.
        """
        cluster = self.new_cluster()
        return cluster, self._send_procs(cluster, 0, cluster_ad, procs, on_proc)

    def append(
        self,
        cluster: int,
        first: int,
        procs: Callable[[int, int], ClassAd | Iterable[tuple[str, str]] | None],
        on_proc: Callable[[int, int], None] = lambda _cluster, _proc: None,
    ) -> int:
        """Submit further jobs of a cluster that has `first` of them; return how many it has then.

        See `submit`; the cluster came into the queue in the same transaction.
        """
        return self._send_procs(cluster, first, None, procs, on_proc)

    def _send_procs(
        self,
        cluster: int,
        first: int,
        cluster_ad: Callable[[int], ClassAd] | None,
        procs: Callable[[int, int], ClassAd | Iterable[tuple[str, str]] | None],
        on_proc: Callable[[int, int], None],
    ) -> int:
        count = answered = first
        # The same words for each job.
        writer = self._stream.writer()
        qmgmt.NewProc(cluster).write(writer)
        new_proc = writer.getvalue()
        while (own := procs(cluster, count)) is not None:
            # Proc numbers are consecutive (wire notes, Queue management), so the answer, which
            # is checked later, is known.
            bodies = [new_proc]
            if count == 0 and cluster_ad is not None:
                numbered = [("ClusterId", str(cluster)), *_texts_of(cluster_ad(cluster))]
                bodies += self._attribute_bodies(cluster, CLUSTER_AD, numbered)
            numbered = [("ProcId", str(count)), *_texts_of(own)]
            bodies += self._attribute_bodies(cluster, count, numbered)
            self._stream.post_bodies(bodies)
            on_proc(cluster, count)
            count += 1
            if count - answered >= PROCS_AHEAD:
                answered = self._check_procs(cluster, answered, answered + PROCS_AHEAD // 2)
        self._check_procs(cluster, answered, count)
        return count

    def _check_procs(self, cluster: int, first: int, end: int) -> int:
        """Read the answers to the NewProc calls from `first` on; returns `end`."""
        call = qmgmt.NewProc(cluster)
        for expected in range(first, end):
            reply = call.read_answer(self._stream.receive())
            if reply.value < 0:
                raise refusal(reply, "Failed to create proc")
            if reply.value != expected:
                raise RemoteProtocolError(
                    f"the schedd made proc {reply.value} where {expected} comes next"
                )
        return end

    def _attribute_bodies(
        self, cluster: int, proc: int, texts: Iterable[tuple[str, str]]
    ) -> list[bytes]:
        encrypted = self._stream.encrypted
        return [
            qmgmt.set_attribute_body(cluster, proc, name, text, NO_ACK, encrypted=encrypted)
            for name, text in texts
        ]

    def set_factory(
        self, cluster: int, rows: Iterable[bytes], most: int, digest: Callable[[str, int], str]
    ) -> tuple[str, int]:
        """Have the schedd make the jobs itself, as it needs them.

        `rows` are the encoded item rows; `digest(file, count)` is the submit digest, once the
        schedd has said where it keeps them. Returns that file's name and the number of rows.
        """
        name, count = self._send_items(cluster, rows)
        self.set_digest(cluster, most, digest(name, count))
        return name, count

    def set_digest(self, cluster: int, most: int, digest: str) -> None:
        """Have the schedd make the jobs that a submit digest describes."""
        reply = self.call(qmgmt.SetJobFactory(cluster, most, "", digest))
        if reply.value < 0 and reply.errno == errno.EFBIG:
            from kettle.submit.digest import LONGEST_DIGEST

            raise RefusedError(
                f"Failed to set job factory: the description has {len(digest)} characters that "
                "change from job to job or may, more than the schedd takes (Kettle's takes "
                f"{LONGEST_DIGEST}); put long values into the items, or submit without "
                "max_materialize and max_idle",
                code=reply.errno,
            )
        if reply.value < 0:
            raise refusal(reply, "Failed to set job factory")

    def _send_items(self, cluster: int, rows: Iterable[bytes]) -> tuple[str, int]:
        """Send item rows, in one message as they come; return the schedd's file and the count."""
        call = qmgmt.SendMaterializeData(cluster, 0, b"")
        writer = self._stream.writer()
        call.write(writer)
        # What is sent when there is more: the last part says that it is the last.
        part = bytearray(writer.getvalue())
        for row in rows:
            if len(part) >= ITEM_BYTES:
                self._stream.post_part(bytes(part), last=False)
                part.clear()
            part += row
        self._stream.post_part(bytes(part), last=True)
        reply = call.read_answer(self._stream.receive())
        if reply.value >= 0:
            name, count = reply.result
            return name, count
        if reply.errno == errno.EFBIG:
            from kettle.submit.item_lines import MOST_ITEM_BYTES, MOST_ITEMS, MOST_ROW_BYTES

            raise RefusedError(
                "Failed to send item data: these are more than the schedd takes for one cluster "
                f"(Kettle's takes {MOST_ITEMS} items of {MOST_ITEM_BYTES >> 20} MiB altogether, "
                f"each of {MOST_ROW_BYTES >> 20} MiB at most); submit them in several clusters, "
                "each with a part of the items, and have long ones in files of their jobs",
                code=reply.errno,
            )
        raise refusal(reply, "Failed to send item data")


def _texts_of(own: ClassAd | Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield names and texts of attributes, without the numbers that a schedd gives."""
    if isinstance(own, ClassAd):
        own = [(name, own.text(name) or "undefined") for name in own.own_names()]
    return (one for one in own if one[0].lower() not in NUMBERS)


def refusal(reply: Reply, what: str, kind: type[RefusedError] = RefusedError) -> RefusedError:
    """Return the error of a call that failed: the schedd's own words, else the errno's."""
    details = reply.details
    reason = (details.string("ErrorReason") or "") if details is not None else ""
    if not reason and reply.errno in errno.errorcode:
        reason = os.strerror(reply.errno)
    said = f"{what}: {reason}" if reason else what
    return kind(said, code=reply.errno or reply.value, reason=reason)


def check_universe(universe: int | None) -> None:
    """Raise SubmitError for jobs that no pool of Kettle's runs, however well they are described.

    Compat: the reference takes parallel jobs, which wait for machines under a dedicated schedd; the
    seeds want them refused (S011, test_a_parallel_job_is_described_and_refused).
    """
    if universe == JobUniverse.PARALLEL:
        raise SubmitError("'Parallel' is not a supported universe.")


def submit_factory(queue: Queue, submission: Submission) -> tuple[int, int]:
    """Submit a cluster whose jobs the schedd makes later; returns its number and their count."""
    from kettle.submit.digest import encode_items, render_digest

    cluster = queue.new_cluster()
    submission.begin(cluster)
    statement = submission.first_of_later()
    check_universe(submission.cluster_ad().integer("JobUniverse"))
    count = submission.job_count
    most = submission.materialize_limit() or count
    if statement.items is None:
        digest = render_digest(submission, statement, "")
        queue.set_digest(cluster, most, digest)
    else:
        queue.set_factory(
            cluster,
            encode_items(statement),
            most,
            lambda name, _rows: render_digest(submission, statement, name),
        )
    queue.post_attribute(cluster, -1, "ClusterId", str(cluster))
    for name, text in submission.cluster:
        if name.lower() != "clusterid":
            queue.post_attribute(cluster, -1, name, text)
    queue.post_attribute(cluster, -1, "TotalSubmitProcs", str(count))
    return cluster, count
