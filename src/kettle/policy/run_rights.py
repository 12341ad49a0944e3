"""What the machine that runs a job may reach of its owner's: decided once, when the run begins.

Pure. What is said of a job's ad later, by its machine or by anybody, changes nothing for the run.
"""

from __future__ import annotations

from dataclasses import dataclass

from kettle.classad import ClassAd

_CHIRP = ("WantIOProxy",)
_STREAMS = ("StreamIn", "StreamOut", "StreamErr")
_UPDATES = ("WantRemoteUpdates",)


@dataclass(frozen=True, slots=True)
class RunRights:
    """What one run's starter may ask for."""

    # Files here, as their owner: for chirp, or for streams, that the job asked for. Otherwise a
    # machine that only runs the job would read and write all that its owner can.
    files: bool
    # The job's attributes in the queue, at once; and with the next report.
    attributes: bool
    delayed: bool
    # The job's own fence, as its text: the folders that its files may be in.
    fence: str


def rights_of(job: ClassAd) -> RunRights:
    """Return what a job's ad, as its owner left it, lets the run's machine do."""

    def wants(*names: str) -> bool:
        return any(job.boolean(name) is True for name in names)

    return RunRights(
        files=wants(*_CHIRP, *_STREAMS),
        attributes=wants(*_CHIRP, *_UPDATES),
        delayed=job.boolean("WantDelayedUpdates") is not False,
        fence=job.string("LimitDirectoryAccess") or "",
    )
