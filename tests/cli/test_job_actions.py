"""The sentences of condor_rm, _hold and the others, as the real ones printed them."""

from __future__ import annotations

import io
import shlex
from pathlib import Path
from typing import Any, ClassVar

import pytest

from kettle.attributes.codes import ActionResult, JobAction
from kettle.client.jobs import Acted
from kettle.tools.jobs.actions import (
    TOOLS,
    Wish,
    default_reason,
    main,
    plan_target,
    read_words,
    render_result,
    render_totals,
)
from kettle.tools.programs import Streams


def wish_of(*words: str) -> Wish:
    tool = TOOLS[words[0]]
    return read_words(tool, words[1:])


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
            ("condor_vacate_job", "-fast", "1"),
            "All jobs in cluster 1 have been",
            "Couldn't find/fast-vacate all jobs in cluster 1",
        ),
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
        (("condor_rm", "7", "ann", "8"), 'ClusterId == 7 || Owner == "ann" || ClusterId == 8'),
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
        (("condor_hold", "-forcex", "1"), "-forcex is only valid with condor_rm\n"),
        (("condor_rm", "0"), "Invalid cluster # from 0.\nYou did not specify any jobs\n"),
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


class EmptyQueue:
    """A schedd that has no jobs, as `act_on_jobs` asks it."""

    asked: ClassVar[list[tuple[tuple[str, ...], str, bool]]] = []

    @classmethod
    def act(cls, *_: object, **words: Any) -> Acted:
        cls.asked.append((tuple(words["ids"]), words["constraint"], words["of_each"]))
        return Acted({}, {}, succeeded=False, queue_is_empty=True)


@pytest.mark.parametrize(
    ("words", "code", "complaint"),
    [
        # Recorded: an empty queue is no failure, unless something else failed before.
        ("condor_rm -all", 0, "condor_rm:0:There are no jobs in the queue\n"),
        (
            "condor_rm -constraint %%",
            1,
            (
                "DCSchedd::actOnJobs:1:Can't insert constraint into ClassAd\n"
                "Couldn't find/remove all jobs matching constraint (%%)\n"
            ),
        ),
        (
            "condor_rm -constraint ''",
            1,
            (
                "DCSchedd::actOnJobs:1:Can't insert constraint into ClassAd\n"
                "Couldn't find/remove all jobs matching constraint ()\n"
            ),
        ),
        ("condor_hold nobody", 0, "condor_hold:0:There are no jobs in the queue\n"),
        ("condor_release -held 1.0", 0, "condor_release:0:There are no jobs in the queue\n"),
        (
            "condor_rm 3.0 -constraint true",
            1,
            """Warning, -constraint is ignored for fully qualified job ids

Job 3.0 not found
condor_rm:0:There are no jobs in the queue
Couldn't find/remove all jobs matching constraint (true)
""",
        ),
        (
            "condor_rm 1 2 3.0",
            1,
            """
Job 3.0 not found
condor_rm:0:There are no jobs in the queue
Couldn't find/remove all jobs matching constraint (ClusterId == 1 || ClusterId == 2)
""",
        ),
    ],
)
def test_an_empty_queue_is_no_failure(
    words: str, code: int, complaint: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("kettle.client.jobs.act_on_jobs", EmptyQueue.act)
    (tmp_path / "address").write_text("<127.0.0.1:1>\n")
    config = tmp_path / "config"
    config.write_text(f"SCHEDD_ADDRESS_FILE = {tmp_path}/address\n")
    out, err = io.StringIO(), io.StringIO()
    environment = {"CONDOR_CONFIG": str(config)}
    assert main(shlex.split(words), environment, Streams(io.StringIO(), out, err)) == code
    assert (out.getvalue(), err.getvalue()) == ("", complaint)
