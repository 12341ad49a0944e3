"""Our execution point comes to what a real one was recorded to answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kettle.attributes.version import CONDOR_VERSION
from kettle.classad import ClassAd, parse_old_ad
from kettle.config import Config
from kettle.startd import ads, claim_machine, machine_ad, requests
from kettle.startd.facts import MachineFacts, Readings
from kettle.startd.machine import Machine, machine_resources, plan_layout
from kettle.starter import outcome
from kettle.starter.launch import Surroundings, plan_launch
from kettle.starter.sandbox import Sandbox
from kettle.starter.usage import Sample, Usage, update_ad

VECTORS = Path(__file__).parent.parent / "data" / "vectors" / "daemons"


def recorded(name: str, direction: str, first: int) -> list[dict[str, Any]]:
    """Return the decoded values of the first message in a direction that begins with a number."""
    for connection in json.loads((VECTORS / f"{name}.json").read_text())["connections"]:
        for message in connection["messages"]:
            values: list[dict[str, Any]] = message.get("decoded") or []
            if message["dir"] == direction and values and values[0].get("value") == first:
                return values
    raise AssertionError(f"{name} has no message {first}")


def ad_of(values: list[dict[str, Any]], position: int = 0) -> ClassAd:
    found = [value for value in values if value["type"] == "classad"][position]
    lines = [text.removeprefix("(ZKM-marked private) ") for text in found["attrs"]]
    return parse_old_ad(lines)


def machine() -> tuple[Machine, Config, ClassAd]:
    config = Config.from_text("NUM_CPUS = 8\nMEMORY = 16384\n", subsystem="STARTD")
    facts = MachineFacts(host="vm", cores=2, memory_mib=24105)
    made = Machine(facts, "vm")
    made.readings = Readings(disk_kib=79232756, disk_total_kib=264212084)
    resources = machine_resources(config, facts, made.readings)
    made.divide(plan_layout(config, resources), resources, 0.0)
    around = machine_ad.Surroundings("<127.0.0.7:9621>", "{}", CONDOR_VERSION, "p", 0.0, 0.0)
    return made, config, machine_ad.base_ad(config, facts, around, resources)


def test_the_dynamic_slot_has_the_recorded_size_and_attributes() -> None:
    request = ad_of(recorded("request_claim_pslot", "client->server", 442))
    reply = recorded("request_claim_pslot", "server->client", 7)
    theirs = ad_of(reply)
    made, config, base = machine()
    parent = made.find("slot1")
    assert parent is not None
    whole = ads.build_slot_ad(parent, made, config, base, 0.0)
    wanted = requests.size_request(parent, request, whole, config)
    assert wanted is not None
    child = made.carve(parent, wanted, 0.0)
    holder = claim_machine.Holder(user="tester@test.local", schedd_name="vm")
    offered = claim_machine.Claim("<127.0.0.7:9621>#1#1#secret")
    made.set_claim(child, claim_machine.accept(offered, holder, 0.0, lease=2400, worklife=1200))
    ours = ads.build_slot_ad(child, made, config, base, 0.0)
    ads.add_policy(ours, child, made, config)
    assert requests.accepts(ours, request)
    for name in ("Cpus", "Memory", "Disk", "GPUs", "TotalSlotCpus", "TotalSlotMemory", "DSlotId"):
        assert ours.integer(name) == theirs.integer(name), name
    for name in ("Name", "SlotType", "MyType"):
        assert ours.string(name) == theirs.string(name), name
    here = {name.lower() for name in ours.names()}
    # What describes their machine, their build or features that are not ours.
    foreign = {
        "authenticatedidentity", "condorscratchdir", "daemoncoredutycycle", "detectedmemory",
        "hascommonfilestransfer", "hasjobnetworking", "hasjobtransferplugins",
        "hasrotationalscratch", "lastfetchworkcompleted", "lastfetchworkspawned",
        "mappingmethod", "periodic_checkpoint", "recentdaemoncoredutycycle", "unhibernate",
    }  # fmt: skip
    missing = {
        name
        for name in theirs.names()
        if name.lower() not in here
        and name.lower() not in foreign
        and not name.lower().startswith(("has_", "monitorself", "expected", "totaltime"))
    }
    machine_ad.fill_readings(base, made, None, 0.0)
    assert missing - set(base.names()) == set()


def test_the_leftovers_are_what_the_request_left() -> None:
    reply = recorded("request_claim_pslot", "server->client", 7)
    theirs = ad_of(reply, 1)
    request = ad_of(recorded("request_claim_pslot", "client->server", 442))
    made, config, base = machine()
    parent = made.find("slot1")
    assert parent is not None
    whole = ads.build_slot_ad(parent, made, config, base, 0.0)
    wanted = requests.size_request(parent, request, whole, config)
    assert wanted is not None
    made.carve(parent, wanted, 0.0)
    ours = ads.build_slot_ad(parent, made, config, base, 0.0)
    for name in ("Cpus", "Memory", "Disk"):
        assert ours.integer(name) == theirs.integer(name), name


def test_a_recorded_job_is_started_with_its_arguments_and_special_output_names() -> None:
    job = ad_of(recorded("activate_claim_and_syscalls", "client->server", 444))
    plan = plan_launch(
        job, ClassAd({"Cpus": 1}), Sandbox("/x/dir_1"), Surroundings(), transfers=True
    )
    assert plan.argv == ("/x/dir_1/scratch/job.sh", "5")
    assert plan.stdout.path == "/x/dir_1/scratch/_condor_stdout"
    assert plan.stdin.path == "/dev/null"


def test_updates_have_the_recorded_attributes() -> None:
    connection = json.loads((VECTORS / "activate_claim_and_syscalls.json").read_text())
    updates = [
        ad_of(message["decoded"])
        for message in connection["connections"][0]["messages"]
        if message["decoded"] and message["decoded"][0].get("value") == -81
    ]
    usage = Usage(started_at=10.0).observe(Sample(1, 100, 50, 0.1, 0.2))
    running = {name.lower() for name in update_ad(usage, 7, "Running", 12.0).names()}
    theirs = {name.lower() for name in updates[1].names()}
    assert theirs - running == {"_condor_jobinfo_maxinterval"}


def test_a_recorded_exit_is_told_the_same_way() -> None:
    values = recorded("activate_claim_and_syscalls", "server->client", -65)
    status, reason = values[1]["value"], values[2]["value"]
    assert outcome.exit_reason(status, None) == reason
    assert outcome.exit_attributes(status) == {"ExitBySignal": False, "ExitCode": 3}


def test_a_recorded_eviction_is_told_the_same_way() -> None:
    values = recorded("activate_then_vacated_fast", "server->client", -65)
    theirs = ad_of(values)
    vacate = outcome.Vacate("Claim deactivated forcibly")
    assert outcome.exit_reason(values[1]["value"], vacate) == values[2]["value"]
    ours = ClassAd(outcome.vacate_attributes(vacate))
    for name in ("VacateReasonCode", "VacateReasonSubCode"):
        assert ours.integer(name) == theirs.integer(name), name
