"""The sentences of condor_rm, _hold and the others, as the real ones printed them."""

from __future__ import annotations

import io

import pytest

from kettle.attributes.codes import ActionResult, JobAction
from kettle.client.jobs import Acted
from kettle.tools.jobs.actions import (
    STANDARD,
    TOOLS,
    Wish,
    default_reason,
    main,
    plan_target,
    read_wish,
    render_result,
    render_totals,
)
from kettle.tools.options import read_options
from kettle.tools.programs import Streams


def wish_of(*words: str) -> Wish:
    tool = TOOLS[words[0]]
    return read_wish(tool, list(read_options(words[1:], (*STANDARD, *tool.options))))


def test_a_user_is_a_name_and_never_an_expression() -> None:
    target = plan_target(TOOLS["condor_rm"], wish_of("condor_rm", 'x" || true || "'))
    assert target is not None
    assert target.constraint == 'Owner == "x\\" || true || \\""'


@pytest.mark.parametrize(
    ("tool", "result", "sentence"),
    [
        ("condor_hold", ActionResult.SUCCESS, "Job 1.0 held"),
        ("condor_hold", ActionResult.ALREADY_DONE, "Job 1.0 already held"),
        ("condor_release", ActionResult.SUCCESS, "Job 1.0 released"),
        ("condor_release", ActionResult.BAD_STATUS, "Job 1.0 not held to be released"),
        ("condor_rm", ActionResult.SUCCESS, "Job 1.0 marked for removal"),
        ("condor_rm", ActionResult.NOT_FOUND, "Job 1.0 not found"),
        ("condor_suspend", ActionResult.BAD_STATUS, "Job 1.0 not running to be suspended"),
        ("condor_continue", ActionResult.BAD_STATUS, "Job 1.0 not running to be continued"),
        ("condor_continue", ActionResult.SUCCESS, "Job 1.0 continued"),
        ("condor_vacate_job", ActionResult.SUCCESS, "Job 1.0 vacated"),
        ("condor_vacate_job", ActionResult.BAD_STATUS, "Job 1.0 not running to be vacated"),
        ("condor_rm", ActionResult.PERMISSION_DENIED, "Permission denied to remove job 1.0"),
    ],
)
def test_each_result_has_its_sentence(tool: str, result: ActionResult, sentence: str) -> None:
    assert render_result(TOOLS[tool], TOOLS[tool].action, "1.0", result) == sentence


def test_a_fast_vacate_says_so() -> None:
    wish = wish_of("condor_vacate_job", "-fast", "2.2")
    sentence = render_result(TOOLS["condor_vacate_job"], wish.action, "2.2", ActionResult.SUCCESS)
    assert sentence == "Job 2.2 fast-vacated"


@pytest.mark.parametrize(
    ("words", "done", "missing"),
    [
        (
            ("condor_hold", "1"),
            "All jobs in cluster 1 have been",
            "Couldn't find/hold all jobs in cluster 1",
        ),
        (
            ("condor_rm", "3", "2"),
            "All jobs matching constraint (ClusterId == 3 || ClusterId == 2) have been",
            "Couldn't find/remove all jobs matching constraint (ClusterId == 3 || ClusterId == 2)",
        ),
        (
            ("condor_hold", "-constraint", "ClusterId==3"),
            "All jobs matching constraint (ClusterId==3) have been",
            "Couldn't find/hold all jobs matching constraint (ClusterId==3)",
        ),
        (
            ("condor_rm", "tester"),
            'All jobs of user "tester" have been',
            'Couldn\'t find/remove all jobs of user "tester"',
        ),
        (("condor_rm", "-all"), "All jobs have been", "Couldn't find/remove all jobs"),
        (
            ("condor_release", "-held", "-all"),
            "All held jobs have been",
            "Couldn't find/release all held jobs",
        ),
        (
            ("condor_rm", "-held", "1"),
            "All held jobs in cluster 1 have been",
            "Couldn't find/remove all held jobs in cluster 1",
        ),
    ],
)
def test_requests_by_constraint_are_worded_as_the_reference_s(
    words: tuple[str, ...], done: str, missing: str
) -> None:
    target = plan_target(TOOLS[words[0]], wish_of(*words))
    assert target is not None
    assert (target.done, target.missing) == (done, missing)


@pytest.mark.parametrize(
    ("words", "constraint"),
    [
        (("condor_rm", "ann", "7"), 'Owner == "ann" || ClusterId == 7'),
        (("condor_rm", "ann", "-constraint", "A > 1"), '(A > 1) && (Owner == "ann")'),
        (("condor_rm", "-held"), "JobStatus == 5"),
        (("condor_rm", "-held", "3.1"), "((ClusterId == 3 && ProcId == 1)) && (JobStatus == 5)"),
    ],
)
def test_what_is_named_adds_up_and_a_condition_narrows_it(
    words: tuple[str, ...], constraint: str
) -> None:
    target = plan_target(TOOLS[words[0]], wish_of(*words))
    assert target is not None
    assert target.constraint == constraint


def test_a_constraint_may_stand_beside_all() -> None:
    # Recorded: `condor_hold -all -constraint true` says this and ends with 0.
    target = plan_target(
        TOOLS["condor_hold"], wish_of("condor_hold", "-all", "-constraint", "true")
    )
    assert target is not None
    assert (target.constraint, target.done) == (
        "true",
        "All jobs matching constraint (true) have been",
    )


def test_totals_are_counted_from_a_long_answer() -> None:
    acted = Acted(
        {(2, 0): ActionResult.SUCCESS, (2, 1): ActionResult.ALREADY_DONE}, {}, succeeded=True
    )
    assert render_totals(acted) == (
        "1 Succeeded, 0 Failed, 0 Not Found, 0 Bad Status, 1 Already Done, 0 Permission Denied\n"
    )


@pytest.mark.parametrize(
    ("words", "first"),
    [
        (("condor_rm",), "You did not specify any jobs"),
        (("condor_rm", "-foo"), "Unrecognized option: -foo"),
        (("condor_rm", "-all", "1"), "-all cannot be used with other constraints"),
        (("condor_hold", "-forcex", "1"), "Unrecognized option: -forcex"),
        (("condor_hold", "-subcode", "x", "1"), "-subcode needs a number, not x"),
    ],
)
def test_a_wrong_command_line_gets_a_sentence_and_the_usage(
    words: tuple[str, ...], first: str
) -> None:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    assert main(list(words), {}, streams) == 1
    text = streams.stderr.getvalue()  # type: ignore[attr-defined]
    assert text.startswith(first)
    assert f"Usage: {words[0]}" in text


def test_without_a_reason_the_tool_names_itself() -> None:
    assert default_reason(TOOLS["condor_hold"], JobAction.HOLD) == "via condor_hold"
    assert default_reason(TOOLS["condor_rm"], JobAction.REMOVE_X) == "via condor_rm -forcex"


def test_forcex_and_transfer_are_actions_of_their_own() -> None:
    assert wish_of("condor_rm", "-forcex", "1.0").action is JobAction.REMOVE_X
    assert wish_of("condor_rm", "-transfer", "1.0").action is JobAction.TRANSFER_AND_REMOVE
