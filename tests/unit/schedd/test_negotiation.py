"""What the schedd asks a negotiator for."""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.schedd.negotiation import avoid, parse_rejection


def request() -> ClassAd:
    ad = ClassAd()
    ad.insert_text("Requirements", "TARGET.Memory > 10 || TARGET.HasAll")
    return ad


def accepts(asked: ClassAd, **slot: object) -> object:
    return asked.evaluate("Requirements", target=ClassAd({"Memory": 100, **slot}))


def test_a_startd_that_cannot_be_reached_is_not_asked_for_until_it_was_heard_again() -> None:
    asked = request()
    avoid(asked, {"<10.0.0.1:1>": 1000.5, "<10.0.0.2:1>": 1000.5})
    assert accepts(asked, MyAddress="<10.0.0.3:1>", LastHeardFrom=900) is True
    assert accepts(asked, MyAddress="<10.0.0.2:1>", LastHeardFrom=900) is False
    assert accepts(asked, MyAddress="<10.0.0.2:1>", LastHeardFrom=1001) is True
    assert accepts(asked, MyAddress="<10.0.0.3:1>", Memory=1) is not True


def test_an_address_is_text_and_no_expression() -> None:
    asked = request()
    avoid(asked, {'<" || true || ">': 1000.0})
    assert accepts(asked, MyAddress='<" || true || ">', LastHeardFrom=1) is False


def test_nothing_changes_where_everybody_answers() -> None:
    asked = request()
    avoid(asked, {})
    assert asked.text("Requirements") == "TARGET.Memory > 10 || TARGET.HasAll"


def test_a_rejection_of_endless_digits_is_of_no_autocluster() -> None:
    assert parse_rejection("no match found |4|7.3|") == ("no match found", 4)
    assert parse_rejection(f"no match found |{'9' * 5000}|7.3|") == ("no match found", -1)
    assert parse_rejection("no match found") == ("no match found", -1)
