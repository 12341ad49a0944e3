"""FS_REMOTE: as FS, in a folder that the hosts share (FS_REMOTE_DIR).

    S> str path            "" = no folder is configured here
    ... then as FS

Decides nothing else: `fs.py` has the messages and the checks. Source: wire notes, FS.
"""

from __future__ import annotations

from kettle.wire.dialog import Dialog, Do, Receive, Send, Words
from kettle.wire.security.methods import fs
from kettle.wire.security.methods.context import (
    ClientContext,
    ClientProof,
    ServerContext,
    ServerProof,
)


def client(context: ClientContext) -> Dialog[ClientProof | None]:
    """Prove this user to the server by a directory."""
    return (yield from fs.client(context))


def server(context: ServerContext) -> Dialog[ServerProof | None]:
    """Learn who the client is from the owner of the directory it makes."""
    folder = context.fs_remote_directory
    if not folder:
        yield Send(Words(""))
        (yield Receive()).rest()
        return None
    # A shared file system may still remember that nothing of that name is there.
    yield Do(lambda: context.credentials.refresh_folder(folder))
    return (yield from fs.serve(context, folder, "FS_REMOTE"))
