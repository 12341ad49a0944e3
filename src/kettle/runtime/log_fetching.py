"""Log and history files, read and purged from afar (condor_fetchlog).

Only files that the configuration names can be read. Source: wire notes, DC_FETCH_LOG and the
file primitive.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from enum import IntEnum
from typing import TYPE_CHECKING, BinaryIO

from kettle.errors import RemoteProtocolError
from kettle.wire.dialog import Words

if TYPE_CHECKING:
    from kettle.config import Config
    from kettle.runtime.sockets.stream import Stream

_CHUNK = 262144
_EMPTY_FILE_WORD = 666


class LogKind(IntEnum):
    """What is to be fetched."""

    PLAIN = 0
    HISTORY = 1
    HISTORY_FOLDER = 2
    PURGE = 3


class Result(IntEnum):
    """How the request went."""

    OK = 0
    NO_NAME = 1
    CANNOT_OPEN = 2
    BAD_TYPE = 3


async def fetch_log(stream: Stream, config: Config) -> None:
    """Answer DC_FETCH_LOG."""
    reader = await stream.receive()
    kind = reader.integer()
    if kind == LogKind.PURGE:
        await stream.send(Words(_purge(config, reader.integer())))
        return
    name = reader.string()
    if kind == LogKind.HISTORY_FOLDER:
        await _send_history_folder(stream, config)
    elif kind in {LogKind.PLAIN, LogKind.HISTORY}:
        path = _log_path(config, name) if kind == LogKind.PLAIN else config.get("HISTORY")
        await _send_one(stream, path)
    else:
        await stream.send(Words(int(Result.BAD_TYPE)))


async def purge_log(stream: Stream, config: Config) -> None:
    """Answer DC_PURGE_LOG: remove per-job history files older than a moment."""
    cutoff = (await stream.receive()).integer()
    await stream.send(Words(_purge(config, cutoff)))


def _log_path(config: Config, name: str) -> str | None:
    """Return the file of `SCHEDD` or `STARTER.slot1`; None for a name that is not one."""
    subsystem, dot, extension = name.partition(".")
    if not re.fullmatch(r"\w+", subsystem) or not re.fullmatch(r"[\w.@-]*", extension):
        return None
    path = config.get(f"{subsystem}_LOG")
    return None if path is None else path + dot + extension


async def _send_one(stream: Stream, path: str | None) -> None:
    if path is None:
        await stream.send(Words(int(Result.NO_NAME)))
        return
    try:
        file = open(path, "rb")  # noqa: ASYNC230, SIM115 - a local file, closed below
    except OSError:
        await stream.send(Words(int(Result.CANNOT_OPEN)))
        return
    with file:
        await put_file(stream, file, Words(int(Result.OK)))


async def _send_history_folder(stream: Stream, config: Config) -> None:
    for path in _history_files(config):
        try:
            file = open(path, "rb")  # noqa: ASYNC230, SIM115 - a local file, closed below
        except OSError:
            continue
        with file:
            await put_file(stream, file, Words(1, os.path.basename(path)))
    await stream.send(Words(0))


def _history_files(config: Config) -> Iterator[str]:
    folder = config.get("STARTD.PER_JOB_HISTORY_DIR") or config.get("PER_JOB_HISTORY_DIR")
    if folder is None:
        return
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        if name.startswith("history."):
            yield os.path.join(folder, name)


def _purge(config: Config, cutoff: int) -> int:
    folder = config.get("STARTD.PER_JOB_HISTORY_DIR") or config.get("PER_JOB_HISTORY_DIR")
    if folder is None:
        return 0
    for path in _history_files(config):
        try:
            if os.stat(path).st_mtime < cutoff:
                os.unlink(path)
        except OSError:
            continue
    return 1


async def put_file(stream: Stream, file: BinaryIO, first: Words) -> None:
    """Send a file after the words of the message that announces it.

    The size is fixed at the start: a log that grows meanwhile is sent up to there.
    """
    size = os.fstat(file.fileno()).st_size
    announcement: list[int | str | bytes | float | object | None] = [*first.values, size]
    if stream.encrypted:
        announcement.append(_CHUNK)
    await stream.send(Words(*announcement))  # type: ignore[arg-type]
    if size == 0:
        await stream.send(Words(_EMPTY_FILE_WORD))
        return
    left = size
    while left:
        piece = file.read(min(_CHUNK, left))
        if not piece:
            raise RemoteProtocolError("the file became shorter while it was sent")
        left -= len(piece)
        if stream.encrypted:
            await stream.send(Words(piece))
        else:
            await stream.send_raw(piece)
