"""Which process is a job's that runs beside the schedd: noted in its ad, read from the log."""

from __future__ import annotations

import pytest

from kettle.classad import parse_old_ad
from kettle.errors import StorageError
from kettle.records.queue_log import (
    encode_destroy_ad,
    encode_new_ad,
    encode_set_attribute,
    encode_transaction,
)
from kettle.schedd.job_processes import NO_PROCESS, JobProcess, noted_process, read_noted

RAN = JobProcess(4242, 17, 33)


def written(job: str, process: JobProcess) -> list[str]:
    return [encode_set_attribute(job, name, text or "") for name, text in process.note().items()]


def lines(*transactions: list[str]) -> list[bytes]:
    text = "107 1 CreationTimestamp 1\n" + "".join(map(encode_transaction, transactions))
    return text.encode().splitlines(keepends=True)


def test_what_is_noted_is_read_from_an_ad_and_from_the_log() -> None:
    ad = parse_old_ad("".join(f"{name} = {text}\n" for name, text in RAN.note().items()))
    assert noted_process(ad) == RAN
    other = encode_set_attribute("2.0", "Owner", '"KettleJobPid"')
    assert read_noted(lines([encode_new_ad("2.0"), other, *written("2.0", RAN)])) == {"2.0": RAN}


def test_a_process_that_ended_a_job_that_is_gone_and_what_never_happened_are_none() -> None:
    ended = [encode_set_attribute("1.0", name, text) for name, text in NO_PROCESS.items()]
    assert read_noted(lines(written("1.0", RAN), ended)) == {}
    assert read_noted(lines(written("1.0", RAN), [encode_destroy_ad("1.0")])) == {}
    assert read_noted(lines(written("1.0", RAN))[:-1]) == {}


def test_a_log_that_lost_something_is_no_witness() -> None:
    good = lines(written("1.0", RAN))
    with pytest.raises(StorageError):
        read_noted([*good[:2], b"9999 what\n", *good[2:], *good[1:]])


def test_everything_that_it_began_carries_a_mark_where_its_schedd_is_known() -> None:
    assert RAN.marks("7.1") == ["_CONDOR_ANCESTOR_33=4242:", "_CONDOR_ANCESTOR_33=33:7.1:"]
    assert JobProcess(4242, 17, 0).marks("7.1") == []
