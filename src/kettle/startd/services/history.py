"""What ran on this machine: STARTD_HISTORY, written and asked for.

A record is `startd.run_record`'s. Records of the same moment are rendered
and written together, a little after their jobs have ended: nobody was promised that they are on
disk. The format is `records.history`'s, the file `runtime.storage.record_files`'s.
"""

from __future__ import annotations

import asyncio
from functools import partial

from kettle.classad import ClassAd
from kettle.classad.shared_lines import SharedLines
from kettle.config import Config
from kettle.config.knobs.history import HistoryKnobs
from kettle.errors import RefusedError, StorageError
from kettle.policy.lease import RUN_LEASE
from kettle.records import history_query
from kettle.records.history import ENVIRONMENT, render_banner, render_record
from kettle.runtime.context import Runtime
from kettle.runtime.sockets.stream import Stream
from kettle.runtime.storage.record_files import RecordFile, read_rotation, send_history
from kettle.startd.run_record import PASSING, run_record
from kettle.wire.codec import is_private_attribute
from kettle.wire.commands import Command
from kettle.wire.dialog import Words
from kettle.wire.messages.queue_queries import HistoryErrorCode
from kettle.wire.messages.short_way import FOR_THE_STARTER

# Records that come within this time are written together.
_TOGETHER_SECONDS = 0.05
# What starters and shadows need of each other.
_OTHERS = frozenset((*FOR_THE_STARTER, *PASSING, RUN_LEASE))


class RunHistory:
    """The file, where one is configured, and the records that wait to be written."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._file: RecordFile | None = None
        # The configuration that named the file.
        self._config: Config | None = None
        self._waiting: list[tuple[ClassAd, int]] = []
        # The lines of records, those that jobs have in common from the time before.
        self._lines = SharedLines(_is_kept)
        self._timer: asyncio.TimerHandle | None = None

    def register(self) -> None:
        """Make the command known to the network."""
        self._runtime.network.register(Command.GET_HISTORY, self.answer)

    def _open(self) -> RecordFile | None:
        runtime = self._runtime
        if self._config is not runtime.config:
            self.flush()
            self._config = runtime.config
            with_environment = runtime.config[HistoryKnobs.HISTORY_CONTAINS_JOB_ENVIRONMENT]
            self._lines = SharedLines(
                _is_kept if with_environment else _is_kept_without_environment
            )
            path = runtime.config.get("STARTD_HISTORY")
            rotation = read_rotation(runtime.config)
            self._file = RecordFile(runtime.files, path, rotation) if path else None
        return self._file

    def note(self, job: ClassAd, final: ClassAd | None) -> None:
        """Write soon what ran, and what its starter said of its end."""
        if self._open() is None:
            return
        now = int(self._runtime.clock.now())
        self._waiting.append((run_record(job, final, now), now))
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(_TOGETHER_SECONDS, self.flush)

    def flush(self) -> None:
        """Write what waits."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        waiting, self._waiting = self._waiting, []
        if not waiting or self._file is None or self._config is None:
            return
        renders = [partial(_render, ad, ended_at, self._lines) for ad, ended_at in waiting]
        while renders:
            written, trouble = self._file.append_all(renders, waiting[-1][1])
            if trouble is None:
                return
            self._runtime.log.problem(f"The history lacks runs: {trouble}")
            if isinstance(trouble, StorageError | OSError):
                return
            renders = renders[written + 1 :]

    async def answer(self, stream: Stream) -> None:
        """Answer GET_HISTORY."""
        request = (await stream.receive()).ad()
        file = self._open()
        if file is None:
            none = history_query.failure(HistoryErrorCode.NOT_CONFIGURED, "There is no history")
            await stream.send(Words(none))
            return
        try:
            query = history_query.parse(request)
        except RefusedError as refusal:
            await stream.send(Words(history_query.failure(refusal.code, refusal.message)))
            return
        self.flush()
        await send_history(self._runtime, stream, file, query)


def _render(ad: ClassAd, ended_at: int, lines: SharedLines, offset: int) -> bytes:
    banner = render_banner(
        offset=offset,
        cluster=ad.integer("ClusterId") or 0,
        proc=ad.integer("ProcId") or 0,
        owner=ad.string("Owner") or "",
        completed=ended_at,
        now=ended_at,
    )
    return render_record(lines.of(ad), banner)


def _is_kept(name: str) -> bool:
    """Whether everybody on the machine may read it: a claim's secret is none of theirs."""
    return name not in _OTHERS and not is_private_attribute(name)


def _is_kept_without_environment(name: str) -> bool:
    return _is_kept(name) and name.lower() not in ENVIRONMENT
