"""Who listens behind which id, and who is told what."""

from __future__ import annotations

from itertools import count

import pytest

from kettle.classad import ClassAd
from kettle.collector.broker_ids import KeptId
from kettle.collector.ccb import PASSED_OVER, RECONNECT_SECONDS, REQUEST_SECONDS, Broker


@pytest.fixture
def broker() -> Broker:
    numbers = count(1)
    return Broker("127.0.0.1:9618", lambda: f"cookie{next(numbers)}")


def ask(number: int = 1) -> ClassAd:
    return ClassAd({"CCBID": str(number), "ClaimId": "c", "MyAddress": "<2>", "Name": "tool"})


def test_a_listener_gets_an_id_and_a_cookie(broker: Broker) -> None:
    (tell,) = broker.register("L", ClassAd({"Command": 67, "Name": "startd"}))
    assert tell.connection == "L"
    assert tell.ad.string("CCBID") == "127.0.0.1:9618#1"
    assert tell.ad.string("ClaimId") == "cookie1"


def test_a_request_reaches_the_listener_and_its_report_the_requester(broker: Broker) -> None:
    broker.register("L", ClassAd({"Name": "startd"}))
    (forward,) = broker.request("R", ask(), 0.0)
    assert forward.connection == "L"
    assert forward.ad.string("MyAddress") == "<2>"
    report = forward.ad.copy()
    report["Result"] = True
    (answer,) = broker.hear("L", report)
    assert answer.connection == "R"
    assert answer.ad.boolean("Result") is True
    assert answer.last


def test_a_failed_call_back_is_told_with_its_reason(broker: Broker) -> None:
    broker.register("L", ClassAd())
    (forward,) = broker.request("R", ask(), 0.0)
    forward.ad["Result"] = False
    forward.ad["ErrorString"] = "refused"
    (answer,) = broker.hear("L", forward.ad)
    assert answer.ad.string("ErrorString") == "refused"


@pytest.mark.parametrize(
    ("result", "word", "end"), [(True, "success", "over"), (False, "failure", "over: no route")]
)
def test_the_log_can_tell_what_came_of_a_request(
    broker: Broker, result: bool, word: str, end: str
) -> None:
    broker.register("L", ClassAd({"Name": "startd"}))
    (forward,) = broker.request("R", ask(), 0.0, "10.0.0.7")
    assert not forward.note
    forward.ad["Result"] = result
    forward.ad["ErrorString"] = "no route"
    (answer,) = broker.hear("L", forward.ad)
    assert answer.note.startswith(f"CCB: received '{word}' from target daemon startd, id 1;")
    assert answer.note.endswith(f"10.0.0.7 is {end}")


def test_only_the_listener_that_was_asked_may_report(broker: Broker) -> None:
    broker.register("L", ClassAd())
    broker.register("M", ClassAd())
    (forward,) = broker.request("R", ask(1), 0.0)
    forward.ad["Result"] = True
    assert broker.hear("M", forward.ad) == []
    assert broker.hear("stranger", forward.ad) == []
    assert len(broker.hear("L", forward.ad)) == 1


def test_nobody_behind_an_id_is_an_answer_at_once(broker: Broker) -> None:
    (answer,) = broker.request("R", ask(7), 0.0)
    assert answer.ad.boolean("Result") is False
    assert answer.last


def test_a_listener_that_returns_with_its_cookie_keeps_its_id(broker: Broker) -> None:
    (first,) = broker.register("L", ClassAd(), "10.0.0.1")
    broker.lose("L", 1.0)
    again = ClassAd({"CCBID": first.ad.string("CCBID"), "ClaimId": first.ad.string("ClaimId")})
    (second,) = broker.register("L2", again, "10.0.0.2")
    assert second.ad.string("CCBID") == first.ad.string("CCBID")
    again["ClaimId"] = "guessed"
    (third,) = broker.register("L3", again)
    assert third.ad.string("CCBID") != first.ad.string("CCBID")


def test_a_lost_listener_frees_those_who_wait(broker: Broker) -> None:
    broker.register("L", ClassAd())
    broker.request("R", ask(), 0.0)
    (answer,) = broker.lose("L", 1.0)
    assert answer.connection == "R"
    assert answer.ad.boolean("Result") is False


def test_a_request_nobody_answers_is_given_up(broker: Broker) -> None:
    broker.register("L", ClassAd())
    broker.request("R", ask(), 0.0)
    assert broker.expire(REQUEST_SECONDS - 1) == []
    (answer,) = broker.expire(REQUEST_SECONDS)
    assert answer.connection == "R"


def test_a_sign_of_life_is_returned(broker: Broker) -> None:
    broker.register("L", ClassAd())
    (answer,) = broker.hear("L", ClassAd({"Command": 441}))
    assert answer.ad.integer("Command") == 441


def test_requests_are_bounded_by_listener_by_host_and_in_all(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kettle.collector.ccb.MAX_REQUESTS_OF_HOST", 3)
    broker.register("L", ClassAd({"Name": "startd"}))
    for number in range(3):
        (forward,) = broker.request(f"R{number}", ask(), 0.0, "10.0.0.9")
        assert forward.connection == "L"
    (refusal,) = broker.request("R3", ask(), 0.0, "10.0.0.9")
    assert refusal.last
    assert "too many" in (refusal.ad.string("ErrorString") or "")
    (forward,) = broker.request("R4", ask(), 0.0, "10.0.0.1")
    assert forward.connection == "L"
    broker.lose("R0", 0.0)
    (forward,) = broker.request("R5", ask(), 0.0, "10.0.0.9")
    assert forward.connection == "L"


def test_a_listeners_name_is_kept_in_part(broker: Broker) -> None:
    broker.register("L", ClassAd({"Name": "x" * 100_000}))
    (listener,) = broker.listeners.values()
    assert len(listener.name) == 4_096


def test_a_connection_asks_once_and_not_at_length(broker: Broker) -> None:
    broker.register("L", ClassAd({"Name": "startd"}))
    broker.request("R", ask(), 0.0)
    (refusal,) = broker.request("R", ask(), 0.0)
    assert refusal.last
    long = ask()
    long["ClaimId"] = "x" * 5000
    (refusal,) = broker.request("S", long, 0.0)
    assert "too long" in (refusal.ad.string("ErrorString") or "")


def test_whoever_leaves_takes_only_its_own_requests_along(broker: Broker) -> None:
    broker.register("L", ClassAd({"Name": "startd"}))
    (first,) = broker.request("R", ask(), 0.0)
    (second,) = broker.request("S", ask(), 0.0)
    assert broker.lose("R", 1.0) == []
    (answer,) = broker.hear(
        "L", ClassAd({"RequestID": second.ad.string("RequestID") or "", "Result": True})
    )
    assert answer.connection == "S"
    assert broker.hear("L", ClassAd({"RequestID": first.ad.string("RequestID") or ""})) == []


def contact(number: int, cookie: str) -> ClassAd:
    return ClassAd({"CCBID": f"127.0.0.1:9618#{number}", "ClaimId": cookie})


def test_only_a_new_id_is_to_be_written_down_and_from_where(broker: Broker) -> None:
    (tell,) = broker.register("L", ClassAd(), "10.0.0.7")
    assert tell.new == KeptId("10.0.0.7", 1, "cookie1")
    (tell,) = broker.register("L2", contact(1, "cookie1"), "10.0.0.7")
    assert tell.new is None


def test_a_listener_of_a_broker_that_died_gets_its_id_back(broker: Broker) -> None:
    broker.restore([KeptId("10.0.0.7", 4, "known")], 0.0)
    (answer,) = broker.request("R", ask(4), 1.0)
    assert answer.ad.boolean("Result") is False
    (tell,) = broker.register("L", contact(4, "known"))
    assert tell.ad.string("CCBID") == "127.0.0.1:9618#4"
    (forward,) = broker.request("S", ask(4), 1.0)
    assert forward.connection == "L"


def test_no_id_of_a_broker_that_died_is_given_to_another(broker: Broker) -> None:
    broker.restore([KeptId("10.0.0.7", number, "known") for number in (9, 2)], 0.0)
    given = [broker.register(name, contact(9, "guessed"))[0] for name in ("L", "M")]
    assert [tell.ad.string("CCBID") for tell in given] == [
        f"127.0.0.1:9618#{9 + PASSED_OVER + number}" for number in (1, 2)
    ]


def test_who_does_not_come_back_is_forgotten_but_not_which_ids_were_given(broker: Broker) -> None:
    broker.restore([KeptId("10.0.0.7", number, "known") for number in (1, 2, 3)], 0.0)
    broker.expire(RECONNECT_SECONDS - 1)
    assert sorted(broker.listeners) == [1, 2, 3]
    broker.expire(RECONNECT_SECONDS)
    assert sorted(broker.listeners) == [3]


def test_a_listener_keeps_its_id_though_its_address_changed(broker: Broker) -> None:
    """Compat: the reference gives it another one unless it is told not to."""
    broker.register("L", ClassAd(), "10.0.0.7")
    (tell,) = broker.register("M", contact(1, "cookie1"), "10.0.0.8")
    assert tell.ad.string("CCBID") == "127.0.0.1:9618#1"
    assert broker.listeners[1].kept.host == "10.0.0.8"
