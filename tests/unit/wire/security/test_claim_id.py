"""What a claim id tells of the startd that gave it out."""

from __future__ import annotations

import pytest

from kettle.wire.security.claim_id import CLAIM_INFO, ClaimId, public_claim_id
from kettle.wire.security.secret_words import hide_secrets


@pytest.mark.parametrize(
    ("text", "birthday"),
    [
        ("<1.2.3.4:5>#17#2#secret", 17),
        ("<1.2.3.4:5?CCBID=1.2.3.9:9618%3fnoUDP#2&noUDP>#17#2#secret", 17),
        ("<1.2.3.4:5?CCBID=1.2.3.9:9618#3%201.2.3.8:9618#4>#17#2#secret", 17),
        ("<1.2.3.4:5>#soon#2#secret", None),
        ("family:7#17#2#secret", 17),
        ("secret", None),
    ],
)
def test_when_the_startd_began_whose_address_may_have_marks_of_its_own(
    text: str, birthday: int | None
) -> None:
    assert ClaimId(text).birthday == birthday


@pytest.mark.parametrize(
    ("text", "public"),
    [
        ("<1.2.3.4:5>#17#2#secret", "<1.2.3.4:5>#17#2#..."),
        (
            '<1.2.3.4:5?CCBID=1.2.3.9:9618#3>#17#2#[Encryption="YES";]secret',
            "<1.2.3.4:5?CCBID=1.2.3.9:9618#3>#17#2#...",
        ),
        ("secret", "#..."),
        ("", "#..."),
    ],
)
def test_what_may_be_shown_of_a_claim_id_has_no_secret(text: str, public: str) -> None:
    assert public_claim_id(text) == public
    assert ClaimId(text).public == str(ClaimId(text)) == public


SAID = [
    ("ClaimId ({}) and GlobalJobId ( vm#1.0#17 ) not found", "<1.2.3.4:5?addrs=1-5&a=b>#17#2#"),
    ('"it is {}"', "<[::1]:5>#17#2#"),
    ("{}, {}", "filetransfer.7#"),
    ("family {}", "condor@family:1:2:3#"),
]


@pytest.mark.parametrize(("text", "head"), SAID)
@pytest.mark.parametrize("info", [CLAIM_INFO, CLAIM_INFO.replace('"', '\\"'), ""])
def test_a_text_that_names_an_id_keeps_all_but_its_secret(text: str, head: str, info: str) -> None:
    if not info and ">#" not in head:
        return
    shown = text.replace("{}", f"{head}...")
    assert hide_secrets(text.replace("{}", f"{head}{info}00ffee11")) == shown
    assert hide_secrets(shown) == shown


@pytest.mark.parametrize("end", [">", "&gt;"])
def test_a_claim_in_an_xml_text_keeps_its_secret(end: str) -> None:
    text = f"<s>ClaimId (&lt;1.2.3.4:5{end}#17#2#{{}}) not found</s>"
    assert hide_secrets(text.format("00ffee11")) == text.format("...")


@pytest.mark.parametrize("text", ["", "vm#12.0#17", "list#[1] of 3 >#", "a[b]#[c d]e"])
def test_a_text_that_names_no_id_is_left_alone(text: str) -> None:
    assert hide_secrets(text) == text
