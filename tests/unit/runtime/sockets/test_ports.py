"""Which port a daemon of its own listens on."""

from __future__ import annotations

import pytest

from kettle.config import Config
from kettle.runtime.sockets.listening import plan_listening

BEFORE = "USE_SHARED_PORT = true\nDAEMON_LIST = MASTER, SHARED_PORT, COLLECTOR\n"


@pytest.mark.parametrize(
    ("text", "ports"),
    [
        ("COLLECTOR_HOST = here:0\n", (0,)),
        ("COLLECTOR_HOST = here:9700\nSHARED_PORT_PORT = 9800\n", (9700,)),
        ("COLLECTOR_HOST = here:9700?sock=collector\n", (9700,)),
        ("COLLECTOR_HOST = here\nSHARED_PORT_PORT = 9800\n", (9618,)),
        # A machine without the collector, and a collector with a port of its own.
        ("COLLECTOR_HOST = there:9700\nDAEMON_LIST = MASTER, STARTD\n", (9618,)),
        ("SHARED_PORT_PORT = 9800\nDAEMON_LIST = MASTER, STARTD\n", (9800,)),
        ("SHARED_PORT_PORT = 9800\nCOLLECTOR_USES_SHARED_PORT = false\n", (9800,)),
    ],
)
def test_before_the_collector_the_shared_port_has_its_port(
    text: str, ports: tuple[int, ...]
) -> None:
    config = Config.from_text(BEFORE + text, subsystem="SHARED_PORT")
    assert plan_listening(config, None).ports == ports
