"""What the schedd takes from a shadow host's words."""

from __future__ import annotations

from kettle.policy.attribute_protection import ProtectedNames
from kettle.schedd.host_reports import Beliefs


def test_a_reason_that_names_a_claim_names_it_without_its_secret() -> None:
    nothing = ProtectedNames(frozenset(), frozenset(), frozenset())
    said = r'"no <1.2.3.4:5>#17#2#[Encryption=\"YES\";]00ff here"'
    told = Beliefs(nothing).believed({"VacateReason": said}, running=True)
    assert told == ({"VacateReason": '"no <1.2.3.4:5>#17#2#... here"'}, [])
