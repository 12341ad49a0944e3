"""Files of jobs, to and from a schedd: `condor_submit -spool`, `condor_transfer_data`.

Which files a job takes along and where its output belongs is decided in `transfer.plan`; this
connects, and runs the transfer once for each job. Source: wire notes, SPOOL_JOB_FILES.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence

from kettle.attributes.version import CONDOR_VERSION
from kettle.classad import ClassAd
from kettle.client.connector import Connector
from kettle.errors import RefusedError, WireError
from kettle.runtime.storage.beside_files import PART_PREFIX, BesideFiles, BesideTarget
from kettle.runtime.storage.transfer_files import LocalFiles, LocalTarget
from kettle.transfer.go_ahead import Terms
from kettle.transfer.landing import Landing, plan_landing
from kettle.transfer.outcome import Outcome
from kettle.transfer.plan import plan_input
from kettle.transfer.receiving import download
from kettle.transfer.remaps import parse_remaps
from kettle.transfer.sending import upload
from kettle.wire.commands import Command
from kettle.wire.messages.queue_queries import (
    SpoolJobFiles,
    SpoolJobIds,
    SpoolReply,
    TransferData,
    TransferDataCount,
)
from kettle.wire.sinful import Sinful

SPOOL_SECONDS = 300.0
# What stands before the names that spooling has changed.
_BEFORE = "SUBMIT_"


def spool_input(connector: Connector, address: Sinful, jobs: Sequence[ClassAd]) -> list[Outcome]:
    """Send the input files of submitted jobs; when it returns the schedd has released them.

    Raises RefusedError if a file cannot be sent or the schedd does not take them.
    """
    command = Command.SPOOL_JOB_FILES_WITH_PERMS
    ids = [(job.integer("ClusterId") or 0, job.integer("ProcId") or 0) for job in jobs]
    outcomes = []
    with connector.connect(
        address, command, timeout=SPOOL_SECONDS, force_authentication=True
    ) as stream:
        stream.send(SpoolJobFiles(CONDOR_VERSION, len(jobs)))
        stream.send(SpoolJobIds(ids))
        storage = LocalFiles()
        terms = Terms(connector.config.subsystem, peer=str(address))
        for job in jobs:
            plan = plan_input(job, storage)
            try:
                outcome = stream.run(
                    upload(plan.items, storage, terms, sandbox_bytes=plan.sandbox_bytes)
                )
            except WireError as error:
                # A schedd that does not want a job's files says so no further.
                raise _not_sent(
                    job, f"the schedd does not take them: its log says why ({error})"
                ) from error
            outcomes.append(outcome)
            if outcome.failure is not None:
                raise _not_sent(job, outcome.failure.reason)
        if SpoolReply.read(stream.receive()).code != 1:
            raise RefusedError("The schedd did not take the spooled files")
    return outcomes


def _not_sent(job: ClassAd, reason: str) -> RefusedError:
    name = f"{job.integer('ClusterId')}.{job.integer('ProcId')}"
    return RefusedError(
        f"DCSchedd::spoolJobFiles:7002:File transfer failed for target job {name}: {reason}"
    )


def fetch_output(
    connector: Connector,
    address: Sinful,
    constraint: str,
    place_for: Callable[[ClassAd], Callable[[str], str]],
) -> Iterator[tuple[ClassAd, Outcome]]:
    """Fetch the output of every matching job; yields each job's ad with how it went.

    `place_for(job)` gives the function that says where each of its files belongs.
    """
    command = Command.TRANSFER_DATA_WITH_PERMS
    with connector.connect(
        address, command, timeout=SPOOL_SECONDS, force_authentication=True
    ) as stream:
        stream.send(TransferData(CONDOR_VERSION, constraint))
        count = TransferDataCount.read(stream.receive()).jobs
        terms = Terms("TOOL", peer=str(address), code=12)
        for _ in range(count):
            job = stream.receive().ad()
            storage = BesideFiles() if "StageInStart" in job else FilesInPlace()
            yield job, stream.run(download(place_for(job), storage, terms))
        writer = stream.writer()
        stream.send(writer.integer(1))


class FilesInPlace(BesideFiles):
    """Files that may lie already where they are to land: what is there stays until all has come.

    Compat: the reference empties such a file before the schedd has read it, and then takes it away
    (test_output_that_is_fetched_onto_itself_stays_whole).
    """

    def open_target(self, path: str, mode: int, size: int = 0) -> LocalTarget:
        """Open a new file beside one that is there, in whose place it is put when it is whole."""
        real = os.path.realpath(path)
        if not os.path.isfile(real) or not os.access(os.path.dirname(real), os.W_OK):
            return super().open_target(path, mode, size)
        before = os.stat(real)
        return _Replacement(real, mode or stat.S_IMODE(before.st_mode), before)


class _Replacement(BesideTarget):
    """A file that takes another one's place at its end, also one that may only be read."""

    __slots__ = ()

    def __init__(self, path: str, mode: int, before: os.stat_result) -> None:
        """`before` is what `path` was; what takes its place is its owner's, too."""
        # A file of its own, whatever lies there and whatever others may lay there meanwhile.
        self._descriptor, self._part = tempfile.mkstemp(
            prefix=PART_PREFIX, dir=os.path.dirname(path)
        )
        self._path, self._guard, self._was_empty = path, None, False
        self._held = contextlib.ExitStack()
        if os.geteuid() == 0:
            os.fchown(self._descriptor, before.st_uid, before.st_gid)
        os.fchmod(self._descriptor, mode)


def place_for(job: ClassAd) -> Callable[[str], str]:
    """Return where each file of a job belongs: as if it had never been spooled.

    The streams of one that never was come under their last parts, as the reference has it.
    """
    if "StageInStart" not in job and f"{_BEFORE}Iwd" not in job:
        remaps = parse_remaps(job.string("TransferOutputRemaps"))
        return Landing(job.string("Iwd") or os.getcwd(), {}, remaps).path_for
    original = job.copy()
    for name in job.names():
        if name.startswith(_BEFORE):
            expression = job.lookup(name)
            if expression is not None:
                original.insert(name.removeprefix(_BEFORE), expression)
    folder = original.string("Iwd") or os.getcwd()
    return plan_landing(original, folder).path_for
