"""Whose process connects to a server on the loopback interface."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from kettle.runtime.sockets.loopback import uid_of_peer


def test_the_account_at_the_other_end_is_the_one_that_connected(tmp_path: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as client,
    ):
        connection, _ = server.accept()
        with connection:
            assert uid_of_peer(connection) == os.getuid()
            table = tmp_path / "tcp"
            table.write_text("  sl  local_address rem_address\n   0: nonsense\n")
            assert uid_of_peer(connection, str(table)) is None
            theirs, ours = client.getsockname()[1], server.getsockname()[1]
            table.write_text(f"0: 0100007F:{theirs:04X} 0100007F:{ours:04X} 01 0 0 0 4711 0 1\n")
            assert uid_of_peer(connection, str(table)) == 4711
