"""How condor_ping shows what was agreed on; recorded from HTCondor 25.14.1."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.client.daemon import Ping
from kettle.errors import AuthorizationDenied, RemoteProtocolError
from kettle.tools.printing.columns import Columns
from kettle.tools.status.condor_ping import render, render_columns, render_failure

USER = "unauthenticated@unmapped"


def answer(method: str, *, encrypted: bool, sealed: bool) -> Ping:
    methods = ("FS", "CLAIMTOBE")
    return Ping(
        *(True, USER, method, encrypted, sealed, "vm:1:2:3", "version", ClassAd()),
        common_methods=methods,
    )


@pytest.mark.parametrize(
    ("method", "encrypted", "sealed", "how"),
    [
        ("", False, False, "no encryption, no integrity, and no authentication"),
        ("FS", False, False, "no encryption, no integrity, and FS"),
        ("", True, True, "AES, AES, and no authentication"),
        ("TOKEN", True, True, "AES, AES, and IDTOKENS"),
        ("", False, True, "no encryption, AES, and no authentication"),
    ],
)
def test_what_was_agreed_on_is_said(method: str, encrypted: bool, sealed: bool, how: str) -> None:
    found = answer(method, encrypted=encrypted, sealed=sealed)
    said = render("", "WRITE", 60021, "local schedd", found)
    assert said == f"WRITE command using ({how}) succeeded as {USER} to local schedd.\n"


def test_the_methods_are_shown_where_one_was_used() -> None:
    found = answer("", encrypted=False, sealed=False)
    lines = render("verbose", "WRITE", 60021, "local schedd", found).splitlines()
    assert lines[6:9] == [
        "Encryption:                  none",
        "Integrity:                   none",
        "Authentication:              none",
    ]
    found = answer("FS", encrypted=True, sealed=True)
    lines = render("verbose", "WRITE", 60021, "local schedd", found).splitlines()
    assert lines[8:10] == [
        "Authenticated using:         FS",
        "All authentication methods:  FS,CLAIMTOBE",
    ]
    row = render("table", "WRITE", 60021, "x", answer("", encrypted=False, sealed=True))
    assert row.split() == ["WRITE", "none", "none", "AES", "ALLOW", USER]


def test_long_shows_the_ad_of_the_session_and_why_there_is_none() -> None:
    found = answer("FS", encrypted=True, sealed=True)
    found.session_ad["Sid"] = "vm:1"
    said = render("long", "READ", 60020, "local schedd", found)
    assert said == '# READ command to local schedd is ALLOWED\nSid = "vm:1"\n\n'
    denied = AuthorizationDenied("no", code="DENIED", user="mallory@vm", method="CLAIMTOBE")
    assert render_failure("long", "WRITE", "local schedd", denied) == (
        '#SECMAN:2010:Received "DENIED" from server for user mallory@vm using method CLAIMTOBE.\n'
        "# WRITE command to local schedd is FAILED\n"
    )


def test_columns_are_of_the_session_and_of_what_is_known_of_a_refusal() -> None:
    columns = Columns()
    columns.add_auto("h", ["Name", "From", "Result", "AuthCommand", "MyRemoteUserName"])
    denied = AuthorizationDenied("no", code="DENIED", user="mallory@vm", method="CLAIMTOBE")
    ad = ClassAd({"AuthCommand": 60021})
    said = render_columns(columns, ad, 60021, "local schedd", denied, allowed=False)
    assert said.splitlines() == [
        "Name         From         Result AuthCommand MyRemoteUserName",
        "DC_NOP_WRITE local schedd DENIED 60021       mallory@vm      ",
    ]
    broken = RemoteProtocolError("broken")
    ad = ClassAd({"AuthCommand": 999})
    again = render_columns(columns, ad, 999, "local schedd", broken, allowed=False)
    assert again.splitlines()[0] == "#broken"
    assert again.splitlines()[1].startswith("command 999  local schedd FAILED 999 ")
