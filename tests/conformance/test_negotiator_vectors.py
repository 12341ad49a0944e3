"""What our negotiator says is what the recorded one said, as far as it has to be the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kettle.classad import ClassAd, parse_old_ad
from kettle.matchmaking.plan import Match, Rejection
from kettle.matchmaking.rank import Eviction
from kettle.matchmaking.requests import build_request, parse_request
from kettle.negotiator.accountant import Accountant
from kettle.negotiator.accounting_ads import (
    CycleFacts,
    accounting_ads,
    advertised_ads,
    resource_list_ad,
    rollup_ad,
)
from kettle.negotiator.dialogue import Header, deliver, fetch_requests, offered_ad
from kettle.wire.codec import Reader, Writer
from kettle.wire.dialog import Receive, Send

VECTORS = Path(__file__).parent.parent / "data" / "vectors" / "daemons"

USER = "tester@test.local"


def recorded(name: str) -> list[dict[str, Any]]:
    connections: list[dict[str, Any]] = json.loads((VECTORS / f"{name}.json").read_text())[
        "connections"
    ]
    return connections


def body(message: dict[str, Any]) -> bytes:
    return b"".join(bytes.fromhex(packet["payload"]) for packet in message["packets"])


def written(message: Any) -> bytes:
    writer = Writer()
    message.write(writer)
    return writer.getvalue()


def attributes(connection: dict[str, Any], place: int = 1) -> list[ClassAd]:
    """Return the ads of a recorded message."""
    return [
        parse_old_ad("\n".join(item["attrs"]))
        for item in connection["messages"][place]["decoded"]
        if item["type"] == "classad"
    ]


def named(command: str) -> list[dict[str, Any]]:
    return [each for each in recorded("userprio") if each.get("command") == command]


def books() -> Accountant:
    """Return the books as they must have stood when the recording was made."""
    accountant = Accountant()
    accountant.age(1795217733)
    accountant.add_match(USER, "slot1@vm@<127.0.0.7:9621?addrs=127.0.0.7-9621&alias=vm>", 8.0, 0)
    accountant.age(1795217906)
    return accountant


def test_a_round_is_opened_with_the_recorded_bytes() -> None:
    (connection,) = recorded("negotiate_and_match")
    header = Header(
        submitter=USER,
        attributes="CatalogID,catalogs,CatalogSize,RequestCpus,RequestDisk,RequestedCatalogIDs,"
        "RequestedCatalogs,RequestGPUs,RequestMemory",
        negotiator="vm",
    )
    assert written(header) == body(connection["messages"][0])


def test_requests_are_fetched_with_the_recorded_words() -> None:
    (connection,) = recorded("negotiate_and_match")
    dialog = fetch_requests(200, 30.0)
    asked = next(dialog)
    assert isinstance(asked, Send)
    assert written(asked.message) == body(connection["messages"][1])
    assert isinstance(dialog.send(None), Receive)
    dialog.send(Reader(body(connection["messages"][2])))
    try:
        dialog.send(Reader(body(connection["messages"][3])))
    except StopIteration as end:
        fetched = end.value
    assert fetched.all_of_them
    (ad,) = fetched.ads
    request = parse_request(ad, submitter=USER, schedd="<1>")
    assert (request.cluster, request.proc, request.autocluster_id, request.left) == (1, 0, 1, 1)
    assert request.wants_diagnostics


def test_a_match_and_the_end_are_told_with_the_recorded_words() -> None:
    (connection,) = recorded("negotiate_and_match")
    told = body(connection["messages"][6])
    reader = Reader(told)
    assert reader.integer() == 472
    claim_id = reader.secret()
    slot = reader.ad()
    tied = {"_condor_RESOURCE_CLUSTER", "_condor_RESOURCE_PROC"}
    plain = parse_old_ad(line for line in slot.lines() if line.split(" ")[0] not in tied)
    request = parse_request(
        ClassAd({"ClusterId": 1, "ProcId": 0, "AutoClusterId": 1}), submitter=USER, schedd="<1>"
    )
    match = Match(request, "slot1@vm", "<1>", plain, claim_id, 8.0, Eviction.NOBODY)
    match_step, end_step = list(deliver([match], []))
    assert isinstance(match_step, Send)
    assert isinstance(end_step, Send)
    again = Reader(written(match_step.message))
    assert again.integer() == 472
    assert again.secret() == claim_id
    assert set(again.ad().lines()) >= set(slot.lines()) - {
        line for line in slot.lines() if line.startswith(("RemoteGroup", "MatchedConc"))
    }
    assert written(end_step.message) == body(connection["messages"][7])


def test_a_match_says_nothing_of_who_had_the_slot_before() -> None:
    held = ClassAd({"RemoteGroup": "group_b", "MatchedConcurrencyLimits": "lic"})
    request = parse_request(
        ClassAd({"ClusterId": 1, "ProcId": 0, "AutoClusterId": 1, "SubmitterGroup": "group_c"}),
        submitter=USER,
        schedd="<1>",
    )
    ad = offered_ad(Match(request, "slot1@vm", "<1>", held, "", 8.0, Eviction.PRIORITY))
    assert ad.string("RemoteGroup") is None
    assert ad.string("RemoteNegotiatingGroup") == "<none>"
    assert ad.string("MatchedConcurrencyLimits") is None


def test_a_rejection_names_reason_autocluster_and_job() -> None:
    request = parse_request(
        ClassAd({"ClusterId": 7, "ProcId": 3, "AutoClusterId": 4, "WantMatchDiagnostics": 3}),
        submitter=USER,
        schedd="<1>",
    )
    step, _ = list(deliver([], [Rejection(request, "no match found")]))
    assert isinstance(step, Send)
    reader = Reader(written(step.message))
    assert reader.integer() == 476
    assert reader.string() == "no match found |4|7.3|"
    assert reader.ad().string("Reason") == "no match found"


def test_a_request_has_what_the_recorded_schedd_sent() -> None:
    (connection,) = recorded("negotiate_and_match")
    reader = Reader(body(connection["messages"][2]))
    assert reader.integer() == 419
    theirs = reader.ad()
    job = theirs.copy()
    ours = build_request(
        job, ["RequestCpus", "RequestMemory", "RequestDisk"], autocluster_id=1, count=1
    )
    assert dict(line.split(" = ", 1) for line in ours.lines()) == dict(
        line.split(" = ", 1) for line in theirs.lines()
    )


def test_accounting_ads_have_the_recorded_attributes() -> None:
    theirs = {ad.string("Name"): ad for ad in attributes(named("QUERY_ACCOUNTING_ADS")[1])}
    facts = {USER: CycleFacts(1.0, 8.0)}
    ours = {ad.string("Name"): ad for ad in accounting_ads(books(), facts)}
    assert set(ours) == set(theirs)
    for name, ad in theirs.items():
        assert set(ours[name].names()) == set(ad.names())
    assert ours[USER].real("SubmitterLimit") == theirs[USER].real("SubmitterLimit")
    assert ours[USER].real("PriorityFactor") == theirs[USER].real("PriorityFactor")
    assert ours[USER].integer("LastUpdate") == theirs[USER].integer("LastUpdate")


def test_the_ads_of_a_collector_have_the_recorded_attributes() -> None:
    added = {
        "MyType", "NegotiatorName", "LastHeardFrom", "AuthenticatedIdentity", "DaemonStartTime",
        "DaemonLastReconfigTime", "UpdateSequenceNumber",
    }  # fmt: skip
    theirs = {ad.string("Name"): ad for ad in attributes(named("QUERY_ACCOUNTING_ADS")[0])}
    ours = {ad.string("Name"): ad for ad in advertised_ads(books(), {USER: CycleFacts(1.0, 8.0)})}
    assert set(ours) == set(theirs)
    for name, ad in theirs.items():
        assert set(ours[name].names()) == set(ad.names()) - added


def test_the_rollup_numbers_its_attributes_as_recorded() -> None:
    (theirs,) = attributes(named("GET_PRIORITY_ROLLUP")[0])
    ours = rollup_ad(books(), {USER: CycleFacts(1.0, 8.0)})
    assert set(ours.names()) == set(theirs.names())
    assert ours.string("Name1") == theirs.string("Name1")
    assert ours.string("Name2") == theirs.string("Name2")


def test_the_list_of_slots_is_the_recorded_one() -> None:
    (theirs,) = attributes(named("GET_RESLIST")[0])
    ours = resource_list_ad(books(), USER)
    assert ours.string("Name1") == theirs.string("Name1")
    assert set(ours.names()) == set(theirs.names())
