"""URLs that are fetched out of turn with other files: each of a map's queues has a list of its own.

PROTECTED_URL_TRANSFER_MAPFILE has lines of `SCHEME BEGINNING QUEUE`, the beginning as it stands
behind the `://`; the longest that fits counts. What none is for stays in TransferInput, and so does
all that a description forces there (`+TransferInput`). The queue `*` is that of LOCAL. Source: the
manual, Configuration of file transfer, and what HTCondor 25.14.1's condor_submit makes of a map.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.errors import ConfigError, KettleError
from kettle.submit.job import evaluate, split_at_commas

if TYPE_CHECKING:
    from collections.abc import Callable

    from kettle.config import Config
    from kettle.submit.job import JobBuilder
    from kettle.wire.security.mapfile import MapFile

KNOB = "PROTECTED_URL_TRANSFER_MAPFILE"
LISTS = "TransferQueueInputList"
_LIST = "TransferInputFrom_"


def read_protected(
    config: Config, read_text: Callable[[str], str], complain: Callable[[str], None]
) -> MapFile | None:
    """Return the map that a configuration names, None if it names none; `complain` is told why not.

    What cannot be read protects nothing, as in the reference.
    """
    path = config.get(KNOB)
    if not path:
        return None
    from kettle.wire.security.mapfile import parse_prefix_map  # for those alone who have a map

    def say(what: str) -> None:
        complain(f"{KNOB}: {what}")

    try:
        return parse_prefix_map(read_text(path), source=path, complain=say)
    except ConfigError as error:
        say(error.message)
    except (KettleError, OSError, UnicodeError) as error:
        say(f"{path} cannot be read: {error}")
    return None


def set_inputs(job: JobBuilder, names: list[str]) -> None:
    """Set TransferInput, and the list of each queue that one of the names waits in."""
    plain, queues = _apart(job.protected, names)
    job.set_string("TransferInput", ",".join(plain))
    for attribute, urls in queues.items():
        job.set_string(attribute, ",".join(urls))
    if queues:
        job.set_text(LISTS, f"{{ {','.join(queues)} }}")
    # The cluster's lists are those of all its jobs that have none of their own.
    for attribute in _of_cluster(job):
        if attribute not in queues:
            job.set_string(attribute, "")


def list_apart(job: JobBuilder) -> list[str]:
    """Return the URLs that a job has of its cluster's lists of queues."""
    lists = (evaluate(job.of_cluster(attribute) or "") for attribute in _of_cluster(job))
    return [url for text in lists if isinstance(text, str) for url in split_at_commas(text)]


def _of_cluster(job: JobBuilder) -> list[str]:
    return split_at_commas((job.of_cluster(LISTS) or "").strip("{} "))


def _apart(protected: MapFile | None, names: list[str]) -> tuple[list[str], dict[str, list[str]]]:
    """Return the names that no queue is for, and the others by the attribute of their queue."""
    plain: list[str] = []
    queues: dict[str, list[str]] = {}
    for name in names:
        scheme, mark, place = name.partition("://")
        queue = protected.map(scheme, place) if protected is not None and mark else None
        if queue is None:
            plain.append(name)
        else:
            queue = "LOCAL" if queue == "*" else queue.upper()
            queues.setdefault(_LIST + queue, []).append(name)
    return plain, dict(sorted(queues.items()))
