"""Which jobs are spared their run because their output is there already."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.transfer.dataflow import is_dataflow_job
from unit.transfer.disk import MemoryDisk


def judge(times: dict[str, int], **attributes: str) -> bool:
    disk = MemoryDisk({f"/home/ada/{name}": b"" for name in times})
    disk.times = {f"/home/ada/{name}": time for name, time in times.items()}
    ad = {"Iwd": "/home/ada", "Cmd": "run", "TransferInput": "a, b", "TransferOutput": "x, y"}
    return is_dataflow_job(ClassAd({**ad, **attributes}), disk)


FILES = {"run": 1, "a": 2, "b": 3, "x": 5, "y": 6}


def test_output_newer_than_every_input_needs_no_run() -> None:
    assert judge(FILES)
    assert judge(FILES, TransferInput="a, https://example.org/b")
    assert judge({**FILES, "stdin": 4}, In="stdin")


@pytest.mark.parametrize(
    "change", [{"a": 5}, {"run": 7}, {"y": 3}, {"a": 9, "b": 9}], ids=lambda change: str(change)
)
def test_one_output_that_is_not_newer_than_everything_needs_a_run(change: dict[str, int]) -> None:
    assert not judge({**FILES, **change})


def test_a_standard_input_counts() -> None:
    assert not judge({**FILES, "stdin": 9}, In="stdin")
    assert not judge(FILES, In="missing")
    assert judge(FILES, In="/dev/null")


def test_outputs_that_are_missing_or_not_listed_need_a_run() -> None:
    assert not judge({name: time for name, time in FILES.items() if name != "x"})
    assert not judge(FILES, TransferOutput="")
    assert not judge(FILES, TransferOutput="s3://bucket/x")


def test_a_missing_program_is_for_the_run_to_report() -> None:
    assert not judge(FILES, Cmd="/no/such")


def test_a_listed_input_that_is_missing_has_no_time() -> None:
    assert judge({name: time for name, time in FILES.items() if name != "a"})
