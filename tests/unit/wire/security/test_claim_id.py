"""What a claim id tells of the startd that gave it out."""

from __future__ import annotations

import pytest

from kettle.wire.security.claim_id import ClaimId


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
