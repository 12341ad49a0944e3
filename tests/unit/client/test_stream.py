"""The blocking connection of tools."""

from __future__ import annotations

import subprocess
import sys

_PROGRAM = """\
import signal, socket
from kettle.client.stream import BlockingStream
from kettle.errors import ConnectionLost
from kettle.wire.dialog import Words

# As tools have it that only print.
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
ours, theirs = socket.socketpair()
theirs.close()
try:
    BlockingStream(ours, remote_name="a daemon").send(Words(1))
except ConnectionLost as error:
    print(error)
"""


def test_a_daemon_that_dies_while_a_tool_sends_to_it_is_told_of_and_does_not_end_the_tool() -> None:
    argv = [sys.executable, "-c", _PROGRAM]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "the connection to a daemon broke: Broken pipe\n"
