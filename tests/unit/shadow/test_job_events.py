"""Events and updates made from a job's ad and a starter's reports."""

from __future__ import annotations

import pytest

from kettle.attributes.codes import HoldReasonCode, ShadowExit
from kettle.classad import ClassAd
from kettle.policy.attribute_protection import ProtectedNames
from kettle.records.event_log import render_event
from kettle.shadow.endings import Ending
from kettle.shadow.job_events import (
    evicted_event,
    execute_event,
    image_size_event,
    remote_error_event,
    starter_facts,
    terminated_event,
    usage_table,
)
from kettle.shadow.job_updates import delayed_chirp, from_report, texts, transfer_stats


def job(**expressions: str) -> ClassAd:
    ad = ClassAd()
    for name, text in expressions.items():
        ad.insert_text(name, text)
    return ad


def test_the_execute_event_shows_the_slots_resources_and_the_scratch_directory() -> None:
    info = job(
        Name='"slot1_1@h"',
        CondorScratchDir='"/x"',
        MachineResources='"Cpus Memory Disk Swap GPUs Foo"',
        Cpus="1",
        Memory="128",
        Disk="10",
        GPUs="0",
        Foo="2",
        AvailableFoo="{ Foo_a,Foo_b }",
        HasReconnect="true",
    )
    event = execute_event("<1.2.3.4:5>", starter_facts(info, ClassAd()), ClassAd())
    assert event.slot_name == "slot1_1@h"
    assert list(event.properties) == [
        "CondorScratchDir", "Cpus", "Memory", "Disk", "GPUs", "Foo", "AvailableFoo",
    ]  # fmt: skip


def test_the_execute_event_shows_what_the_job_asks_for_as_values() -> None:
    info = job(Name='"s"', MachineResources='"Cpus"', Cpus="1", Arch='"X86_64"', TotalCpus="8.0")
    wanting = job(UserLogExecuteEventAttrs='"Arch, TotalCpus Nope,Cpus"')
    event = execute_event("<1.2.3.4:5>", starter_facts(info, wanting), wanting)
    assert event.properties == {"Cpus": "1", "Arch": '"X86_64"', "TotalCpus": "8.0"}


JOB = job(
    ProvisionedResources='"Cpus Memory Disk Swap GPUs"',
    CpusProvisioned="1",
    MemoryProvisioned="128",
    DiskProvisioned="10240",
    GPUsProvisioned="0",
    RequestCpus="1",
    RequestMemory="64",
    RequestDisk="10240.0",
    CpusUsage="0.0",
    ResidentSetSize="3620",
    MemoryUsage="((ResidentSetSize + 1023) / 1024)",
    JobCurrentStartDate="100",
    JobCurrentStartExecutingDate="105",
    BytesSent="5.0",
    CumulativeRemoteUserCpu="60.0",
    RemoteUserCpu="2.0",
    ExitBySignal="false",
    ExitCode="3",
)


def test_the_table_of_resources_has_what_was_given_asked_and_used() -> None:
    assert usage_table(JOB, 114.0) == {
        "Cpus": 1,
        "RequestCpus": 1,
        "CpusUsage": 0.0,
        "Memory": 128,
        "RequestMemory": 64,
        "MemoryUsage": 4,
        "Disk": 10240,
        "RequestDisk": 10240.0,
        "GPUs": 0,
        "TimeExecuteUsage": 9,
        "TimeSlotBusyUsage": 14,
    }


def test_without_a_second_of_execution_no_use_of_processors_is_told() -> None:
    # As the recorded late_materialization.log has it.
    table = usage_table(JOB, 105.5)
    assert table["TimeExecuteUsage"] == 0
    assert "CpusUsage" not in table


def test_a_program_that_never_started_has_no_time_of_execution() -> None:
    # As the recorded executable_error.log has it, after its event 001.
    ending = Ending(
        ShadowExit.SHOULD_HOLD,
        reason="Failed to execute",
        code=HoldReasonCode.FailedToCreateProcess,
        has_code=True,
    )
    text = render_event(evicted_event(JOB, ending, 0, 0, 114.0)).decode()
    assert "TimeExecute" not in text
    assert "TimeSlotBusy (s)" in text
    assert "Cpus                 :                 1         1" in text


def test_the_terminated_event_adds_this_run_to_the_totals() -> None:
    text = render_event(terminated_event(JOB, 10, 20, 114.0)).decode()
    assert "\t(1) Normal termination (return value 3)\n" in text
    assert "\t\tUsr 0 00:01:02, Sys 0 00:00:00  -  Total Remote Usage\n" in text
    assert "\t10  -  Run Bytes Sent By Job\n" in text
    assert "\t15  -  Total Bytes Sent By Job\n" in text
    assert "\t   Memory (MB)          :        4       64       128 \n" in text


def test_an_eviction_with_a_requeue_shows_the_exit_and_no_table() -> None:
    ending = Ending(ShadowExit.SHOULD_REQUEUE, reason="because")
    event = evicted_event(JOB, ending, 0, 0, 114.0, requeued=True)
    text = render_event(event).decode()
    assert "Job was evicted.\n\t(0) Job terminated and was requeued\n" in text
    assert "\t(1) Normal termination (return value 3)\n\tbecause\n...\n" in text


def test_the_image_size_event_leaves_unknown_sizes_out() -> None:
    event = image_size_event(job(ImageSize="150", MemoryUsage="5", ResidentSetSize="5092"))
    assert (event.size_kb, event.memory_mb, event.proportional_kb) == (150, 5, None)


def test_a_remote_error_is_critical_unless_it_says_otherwise() -> None:
    assert remote_error_event(job(ErrorMsg='"x"')).critical
    assert not remote_error_event(job(ErrorMsg='"x"', CriticalError="false")).critical


def test_a_report_changes_only_what_a_machine_may_measure() -> None:
    report = job(
        CpusUsage="0.5",
        GPUsProvisioned="1",
        AssignedGPUs='"GPU-1"',
        StatsLifetime="7",
        MemoryUsage="((ResidentSetSize + 1023) / 1024)",
        JobPid="5",
        Owner='"root"',
        Requirements="true",
        _condor_JOBINFO_MAXINTERVAL="3000",
    )
    assert from_report(report) == {
        "CpusUsage": "0.5",
        "GPUsProvisioned": "1",
        "AssignedGPUs": '"GPU-1"',
        "StatsLifetimeStarter": "7",
        "MemoryUsage": "((ResidentSetSize + 1023) / 1024)",
    }


@pytest.mark.parametrize(
    ("patterns", "kept"),
    [
        ("Chirp*", {"ChirpX": "1"}),
        ("my*, other", {"MyX": "2", "Other": "3"}),
        ("Chirp", {}),
        ("*", {"ChirpX": "1", "MyX": "2", "Other": "3"}),
    ],
)
def test_delayed_chirp_sets_what_its_knob_names_and_never_whose_job_it_is(
    patterns: str, kept: dict[str, str]
) -> None:
    lists = ProtectedNames(frozenset({"owner"}), frozenset(), frozenset())
    set_by_job = '[ ChirpX = 1; MyX = 2; Other = 3; Owner = "root"; JobStatus = 4 ]'
    report = job(ChirpDelayedAttrs=set_by_job)
    assert delayed_chirp(report, patterns, lists) == kept
    assert delayed_chirp(job(Other="1"), patterns, lists) == {}


def test_a_report_brings_neither_more_lines_nor_names_that_are_none() -> None:
    report = ClassAd()
    report.insert_text("AssignedX", '1\n103 1.1 Owner "root"')
    report.insert_text("AssignedY Owner", '"root"')
    report.insert_text("Assigned\n103 1.1 Owner", '"root"')
    report.insert_text("ExitReason", '"died\non signal 9"')
    assert from_report(report) == {
        "AssignedX": '1 103 1.1 Owner "root"',
        "ExitReason": '"died on signal 9"',
    }


def test_delayed_chirp_attributes_are_names_and_single_lines() -> None:
    names = "'Chirp x' = 1; 'Chirp\\n106 ' = 2; ChirpY = strcat(\"a\nb\", Z)"
    report = ClassAd()
    report.insert_text("ChirpDelayedAttrs", f"[ {names} ]")
    lists = ProtectedNames(frozenset(), frozenset(), frozenset())
    assert delayed_chirp(report, "*", lists) == {"ChirpY": 'strcat("a b",Z)'}


def test_what_a_starter_reports_at_endless_length_is_not_taken_over() -> None:
    endless = '"' + "x" * 70_000 + '"'
    report = job(ExitReason=endless, CpusUsage="0.5")
    report.insert_text("ChirpDelayedAttrs", f"[ ChirpX = {endless}; ChirpY = 2 ]")
    lists = ProtectedNames(frozenset(), frozenset(), frozenset())
    assert from_report(report) == {"CpusUsage": "0.5"}
    assert delayed_chirp(report, "*", lists) == {"ChirpY": "2"}


def test_transfer_statistics_add_up_over_the_runs() -> None:
    first = transfer_stats(None, 10, 2)
    assert first == (
        "[ CedarSizeBytesTotal = 10; CedarFilesCountTotal = 2; "
        "CedarSizeBytesLastRun = 10; CedarFilesCountLastRun = 2 ]"
    )
    before = job(Stats=first).evaluate("Stats")
    assert isinstance(before, ClassAd)
    told = "CedarFilesCount = 9; HTTPFilesCount = 3; HTTPSizeBytes = 70; Protocols = 1"
    ack = job(TransferStats=f"[ {told} ]")
    assert transfer_stats(before, 5, 1, ack) == (
        "[ CedarSizeBytesTotal = 15; CedarFilesCountTotal = 3; HTTPFilesCountTotal = 3; "
        "HTTPSizeBytesTotal = 70; CedarSizeBytesLastRun = 5; CedarFilesCountLastRun = 1; "
        "HTTPFilesCountLastRun = 3; HTTPSizeBytesLastRun = 70 ]"
    )
    # What an earlier version counted under a name in another case is the same protocol's.
    earlier = _only("[ HttpFilesCountTotal = 2 ]").evaluate("TransferStats")
    assert isinstance(earlier, ClassAd)
    assert "HTTPFilesCountTotal = 5" in transfer_stats(earlier, 0, 0, ack)
    assert transfer_stats(None, 0, 0) == "[  ]"
    # Two empty files.
    assert transfer_stats(None, 0, 2) == "[ CedarFilesCountTotal = 2; CedarFilesCountLastRun = 2 ]"


def test_what_a_machine_calls_a_protocol_is_a_name_or_nothing() -> None:
    ack = _only("[ 'a = 1;\\n b\\nFilesCount' = 1; HttpFilesCount = 2 ]")
    text = transfer_stats(None, 1, 1, ack)
    assert text == transfer_stats(None, 1, 1, _only("[ HttpFilesCount = 2 ]"))
    # What such a text has left in the job's ad before goes no further either.
    before = ClassAd()
    before.insert_text("x", "[ 'a = 1; bTotal' = 1; CedarFilesCountTotal = 3 ]")
    inner = before.evaluate("x")
    assert isinstance(inner, ClassAd)
    assert "bTotal" not in transfer_stats(inner, 1, 1)


def _only(stats: str) -> ClassAd:
    ack = ClassAd()
    ack.insert_text("TransferStats", stats)
    return ack


def test_values_become_the_texts_that_the_queue_stores() -> None:
    assert texts({"A": 1, "B": "x", "C": True}) == {"A": "1", "B": '"x"', "C": "true"}
