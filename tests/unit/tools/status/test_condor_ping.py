"""How condor_ping shows what was agreed on; recorded from HTCondor 25.14.1."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.client.daemon import Ping
from kettle.tools.status.condor_ping import render

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
