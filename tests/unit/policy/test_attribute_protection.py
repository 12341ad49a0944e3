"""What a running job may say of itself, whichever road it takes to its ad in the queue."""

from __future__ import annotations

import errno

import pytest

from kettle.errors import RefusedError
from kettle.policy.attribute_protection import (
    MAX_EXPRESSION,
    ProtectedNames,
    decide_by_job,
    may_set,
)

LISTS = ProtectedNames(frozenset({"owner"}), frozenset({"project"}), frozenset({"token"}))


def test_a_job_may_not_rename_its_owner() -> None:
    assert may_set("ChirpX", LISTS)
    for name in (
        "OWNER", "Project", "token", "ClaimId", "JobStatus", "USERLOG", "bad name", "a.b",
        "KettleJobPid", "kettlejobpidbirth",
    ):  # fmt: skip
        assert not may_set(name, LISTS), name


def test_what_a_job_sets_is_one_expression_in_the_queues_words() -> None:
    assert decide_by_job("ChirpX", "1+  2", LISTS) == "1 + 2"
    for name, text, code in (
        ("Owner", '"bob"', errno.EACCES),
        ("ChirpX", "1 +", errno.EINVAL),
        ("ChirpX", '"' + "x" * MAX_EXPRESSION + '"', errno.EACCES),
    ):
        with pytest.raises(RefusedError) as caught:
            decide_by_job(name, text, LISTS)
        assert caught.value.code == code
