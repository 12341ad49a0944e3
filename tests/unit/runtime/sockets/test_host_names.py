"""Which hosts lie in a domain, and which addresses are this machine's."""

from __future__ import annotations

import socket

import pytest

from kettle.config import Config
from kettle.runtime.sockets.addresses import may_be_daemon
from kettle.runtime.sockets.host_names import is_in_domain, is_own_address, lies_in


def test_a_domain_holds_its_own_name_and_what_is_below_it() -> None:
    assert lies_in("Node1.Pool.example.", "pool.example")
    assert lies_in("pool.example", ".pool.example")
    assert not lies_in("evilpool.example", "pool.example")
    assert not lies_in("node1", "")


def test_loopback_is_ours_and_other_peoples_addresses_are_not() -> None:
    assert is_own_address("127.0.0.1")
    assert not is_own_address("192.0.2.77")
    assert not is_own_address("?")


def test_no_host_lies_in_the_domain_without_a_name() -> None:
    assert not is_in_domain("127.0.0.1", "")


@pytest.mark.parametrize(
    ("name", "canonical", "domain", "may"),
    [
        ("a@b", None, "", True),
        ("a.b", None, "", True),
        ("far", None, "", False),
        ("far", None, "example.org", False),
        ("near", "near", "", False),
        ("near", "near", "example.org", True),
        ("near", "near.example.org", "", True),
        ("", "", "", False),
    ],
)
def test_a_daemon_s_host_has_a_whole_name(
    name: str, canonical: str | None, domain: str, may: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look_up(*_: object, **__: object) -> list[tuple[object, ...]]:
        if canonical is None:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, canonical, ("127.0.0.1", 0))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    config = Config.from_text(f"DEFAULT_DOMAIN_NAME = {domain}\n")
    assert may_be_daemon(name, config) is may
