"""How a running job is told to leave, by who wants it and how far it is."""

from __future__ import annotations

import itertools

import pytest

from kettle.classad import ClassAd
from kettle.shadow.endings import Request, Wish
from kettle.shadow.leaving import REMOVALS, Leave, choose_leave, wants_grace


@pytest.mark.parametrize(
    ("wish", "grace", "program_ended", "leave"),
    [
        (Wish.REMOVE, True, False, Leave.GENTLY),
        (Wish.REMOVE, True, True, Leave.AT_ONCE),
        (Wish.REMOVE, False, False, Leave.AT_ONCE),
        (Wish.POLICY_REMOVE, True, False, Leave.GENTLY),
        (Wish.POLICY_REMOVE, True, True, Leave.AT_ONCE),
        (Wish.HOLD, True, False, Leave.GENTLY),
        # What it has done may still arrive: then it has ended, and is not held.
        (Wish.HOLD, True, True, Leave.GENTLY),
        (Wish.HOLD, False, False, Leave.AT_ONCE),
        (Wish.POLICY_HOLD, False, True, Leave.AT_ONCE),
        # Whoever vacates a job says himself how.
        (Wish.VACATE, False, False, Leave.GENTLY),
        (Wish.VACATE, True, True, Leave.GENTLY),
        (Wish.ERROR, False, True, Leave.GENTLY),
    ],
)
def test_how_a_job_is_told_to_leave(
    wish: Wish, grace: bool, program_ended: bool, leave: Leave
) -> None:
    assert choose_leave(Request(wish), grace=grace, program_ended=program_ended) is leave


def test_whoever_says_at_once_is_obeyed_and_output_that_is_wanted_has_its_time() -> None:
    for wish, grace, ended in itertools.product(Wish, (False, True), (False, True)):
        fast = Request(wish, fast=True)
        assert choose_leave(fast, grace=grace, program_ended=ended) is Leave.AT_ONCE
    for wish, grace, ended in itertools.product(REMOVALS, (False, True), (False, True)):
        brought = Request(wish, brings_output=True)
        assert choose_leave(brought, grace=grace, program_ended=ended) is Leave.WITH_OUTPUT


def test_an_error_s_end_is_no_reason_to_kill() -> None:
    assert choose_leave(None, grace=False, program_ended=True) is Leave.GENTLY


@pytest.mark.parametrize(
    ("text", "by_default", "wanted"),
    [
        (None, True, True),
        (None, False, False),
        ("true", False, True),
        ("false", True, False),
        ("NumJobStarts > 1", False, True),
        ("NumJobStarts > 2", True, False),
        ("Nothing", True, True),
        ('"no"', False, False),
    ],
)
def test_the_job_says_whether_it_may_end_by_itself_and_the_pool_where_it_does_not(
    text: str | None, by_default: bool, wanted: bool
) -> None:
    job = ClassAd({"NumJobStarts": 2})
    if text is not None:
        job.insert_text("WantGracefulRemoval", text)
    assert wants_grace(job, by_default) is wanted
