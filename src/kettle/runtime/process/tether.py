"""Ends a program when the process that answers for it dies, however that dies.

What one process alone can do for another is a signal of the kernel's: the program inherits the
reading end of a pipe whose writing end is its keeper's. When the keeper is gone, even by SIGKILL,
its end closes, and the kernel sends the signal that was asked for to the program's process group.
PR_SET_PDEATHSIG does nearly that, but only a process itself can ask for it, between fork and exec;
posix_spawn has no such step and costs a fraction of a fork, and a setuid program loses it.

Limit: who closes its descriptors or leaves the process group is not held (test_tether.py); of a
job's processes the startd's child ends these, `startd/services/procd.py`.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import resource
import signal

# Where programs have the pipe: beyond what shells and scripts number themselves.
_NUMBER = 251


class Tether:
    """Holds one program. OSError from `make` if no pipe is to be had."""

    def __init__(self, theirs: int, ours: int) -> None:
        self._theirs = theirs
        self._ours = ours
        self._held = False

    @classmethod
    def make(cls) -> Tether:
        """Make one that holds nobody yet."""
        return cls(*os.pipe2(os.O_CLOEXEC))

    def descriptors(self) -> dict[int, int]:
        """Return what the program is to inherit: its number for the descriptor, and ours."""
        most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return {_NUMBER if most == resource.RLIM_INFINITY else min(_NUMBER, most - 1): self._theirs}

    def hold(self, group: int) -> None:
        """Hold the process group `group`; with the effective rights of a user who may signal it."""
        with contextlib.suppress(OSError):
            fcntl.fcntl(self._theirs, fcntl.F_SETSIG, signal.SIGKILL)
            fcntl.fcntl(self._theirs, fcntl.F_SETOWN, -group)
            fcntl.fcntl(self._theirs, fcntl.F_SETFL, os.O_ASYNC)
            self._held = True

    def let_go(self) -> None:
        """Hold nobody any more, without a signal to anybody."""
        if self._held:
            fcntl.fcntl(self._theirs, fcntl.F_SETOWN, 0)
        self._held = False
        for descriptor in (self._theirs, self._ours):
            if descriptor >= 0:
                os.close(descriptor)
        self._theirs = self._ours = -1
