"""Addresses: both text forms, parameters, the choice of a route."""

from __future__ import annotations

import pytest

from kettle.errors import RemoteProtocolError
from kettle.wire.sinful import Endpoint, Sinful, render_address_v1

TEXT = "<127.0.0.1:19677?addrs=127.0.0.1-19677&alias=vm&noUDP&sock=collector>"


def test_a_known_address_is_read_and_written_back() -> None:
    address = Sinful.parse(TEXT)
    assert str(address) == TEXT
    assert address.shared_port_id == "collector"
    assert address.alias == "vm"
    assert address.no_udp
    assert address.addresses == (Endpoint("127.0.0.1", 19677),)


@pytest.mark.parametrize(
    "text", ["host.example:9618", "<host.example:9618>", "<host.example:9618?>"]
)
def test_brackets_are_optional_on_input(text: str) -> None:
    assert str(Sinful.parse(text)) == "<host.example:9618>"


def test_ipv6_is_written_in_brackets_and_with_dashes_in_addrs() -> None:
    address = Sinful.parse("<[::1]:9618?addrs=[--1]-9618+10.0.0.1-9618&alias=h>")
    assert address.host == "::1"
    assert address.addresses == (Endpoint("::1", 9618), Endpoint("10.0.0.1", 9618))
    assert str(address) == "<[::1]:9618?addrs=[--1]-9618+10.0.0.1-9618&alias=h>"


def test_the_nearest_enabled_endpoint_is_dialed() -> None:
    address = Sinful.parse("<8.8.8.8:1?addrs=8.8.8.8-1+10.0.0.1-2+[--1]-3&sock=x>")
    assert address.choose_route().endpoint == Endpoint("::1", 3)
    assert address.choose_route(ipv6=False).endpoint == Endpoint("10.0.0.1", 2)
    assert address.choose_route(ipv6=False).shared_port_id == "x"


def test_the_private_address_is_used_inside_its_network_only() -> None:
    private = "%3c10.1.2.3:4%3fsock%3dx%3e"
    address = Sinful.parse(f"<8.8.8.8:1?PrivAddr={private}&PrivNet=lab>")
    assert str(address.choose_route(private_network="lab")) == "<10.1.2.3:4?sock=x>"
    assert address.choose_route(private_network="other").host == "8.8.8.8"


def test_the_last_of_two_equal_keys_counts_and_unknown_ones_are_kept() -> None:
    address = Sinful.parse("<1.2.3.4:5?new=1;sock=a&sock=b>")
    assert address.shared_port_id == "b"
    assert str(address) == "<1.2.3.4:5?new=1&sock=b>"


def test_broker_contacts_are_read() -> None:
    address = Sinful.parse("<1.2.3.4:5?CCBID=5.6.7.8:9618%3fsock%3dcollector#17%209.9.9.9:1#2>")
    (first, number), (second, other) = address.ccb_contacts
    assert (str(first), number) == ("<5.6.7.8:9618?sock=collector>", "17")
    assert (str(second), other) == ("<9.9.9.9:1>", "2")


def test_the_list_form_means_the_same_address() -> None:
    address = Sinful.parse(TEXT)
    assert Sinful.parse(render_address_v1(address)) == Sinful.parse(
        "<127.0.0.1:19677?alias=vm&sock=collector&noUDP&addrs=127.0.0.1-19677>"
    )


@pytest.mark.parametrize("text", ["", "<1.2.3.4>x", "<1.2.3.4:port>", "<1.2.3.4:99999>", "{ 1 }"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(RemoteProtocolError):
        Sinful.parse(text or "<")
