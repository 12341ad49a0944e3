"""`$$()` filled in from the slot."""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.policy.match_expansion import expand_match

SLOT = ClassAd({"Memory": 128, "OpSys": "LINUX"})


def test_names_defaults_and_expressions_are_filled_in_as_the_reference_does() -> None:
    job = ClassAd(
        {
            "RequestMemory": 128,
            "Args": "$$(Memory) $$(Nope:dflt) $$([Memory/2]) $$(OpSys) $$([TARGET.Memory > 3])",
            "Cmd": "/bin/$$(OpSys)",
            "Plain": "no $ here",
        }
    )
    expansion = expand_match(job, SLOT)
    assert expansion.changed == {"Args": "128 dflt 64 LINUX true", "Cmd": "/bin/LINUX"}
    assert expansion.unresolved is None


def test_what_the_slot_lacks_is_named() -> None:
    assert expand_match(ClassAd({"Args": "$$(Nope)"}), SLOT).unresolved == "Nope"


def test_an_open_parenthesis_is_left_as_it_is() -> None:
    assert expand_match(ClassAd({"Args": "$$(Nope"}), SLOT).changed == {}


def test_what_was_filled_in_is_not_looked_at_again() -> None:
    slot = ClassAd({"Trick": "$$(Trick)"})
    assert expand_match(ClassAd({"Args": "$$(Trick)"}), slot).changed == {"Args": "$$(Trick)"}


def test_two_dollars_have_a_name_that_needs_no_slot_attribute() -> None:
    # Recorded: a job of the reference with these arguments printed `$$(date) b$$c $$(Nope)`.
    job = ClassAd({"Args": "$$(DOLLARDOLLAR)(date) b$$(DOLLARDOLLAR)c $$(dollardollar)(Nope)"})
    assert expand_match(job, SLOT).changed == {"Args": "$$(date) b$$c $$(Nope)"}
