"""What keeps an idle job's event log from being opened, as far as it can be seen from here.

The schedd opens the log when it has something to tell; what goes wrong is a line of its own log,
and of the job it is known when it is to start and is held for it.
"""

from __future__ import annotations

import errno
import os
import stat

from kettle.classad import ClassAd
from kettle.runtime.storage.told import user_log_paths


def describe_log_trouble(job: ClassAd, host: str, user: str) -> str:
    """Return what is wrong with the logs of a job, and what comes of it; empty if nothing is.

    Files are looked at for a job whose schedd is on this `host`, and of this `user` alone unless
    that is empty: of others nothing is known.
    """
    schedd = (job.string("GlobalJobId") or "").partition("#")[0].rpartition("@")[2]
    if (user and job.string("Owner") != user) or not schedd or schedd.lower() != host.lower():
        return ""
    for path in user_log_paths(job):
        number = _trouble_of(path)
        if number:
            return (
                f" Its event log tells nothing, and it will be held when it is to start: cannot "
                f"open the event log {path}: {os.strerror(number)} (errno {number})."
            )
    return ""


def _trouble_of(path: str) -> int:
    """Return the errno with which a log cannot be opened, 0 if it can; nothing is opened or made.

    A folder that is not there is made with the log.
    """
    missing = False
    while True:
        try:
            mode = os.stat(path).st_mode
        except FileNotFoundError:
            parent = os.path.dirname(path)
            if parent == path:
                return errno.ENOENT
            path, missing = parent, True
            continue
        except OSError as error:
            return error.errno or errno.EIO
        break
    if missing:
        if not stat.S_ISDIR(mode):
            return errno.ENOTDIR
        return 0 if os.access(path, os.W_OK | os.X_OK) else errno.EACCES
    if stat.S_ISDIR(mode):
        return errno.EISDIR
    if not stat.S_ISREG(mode):
        return errno.EINVAL
    return 0 if os.access(path, os.W_OK) else errno.EACCES
