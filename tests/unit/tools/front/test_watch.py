"""Which job a key of `kettle watch` is about."""

from __future__ import annotations

from kettle.tools.front.watch import View, decide_key, settle

DOWN, UP = "\x1b[B", "\x1b[A"
JOBS = ["1.0", "1.1", "2.0"]


def test_no_job_can_be_chosen_that_is_not_on_the_screen() -> None:
    view = settle(View(), JOBS)
    assert view.chosen == "1.0"
    for _ in range(9):
        view, _ = decide_key(DOWN, view, JOBS)
    assert decide_key("x", view, JOBS) == (view, "condor_rm")
    assert view.chosen == "2.0"
    view, _ = decide_key(UP, view, JOBS)
    assert view.chosen == "1.1"


def test_the_chosen_job_stays_it_when_others_come_before_it_or_leave() -> None:
    view, _ = decide_key(DOWN, settle(View(), JOBS), JOBS)
    assert settle(view, ["0.5", *JOBS]).chosen == "1.1"
    assert settle(view, ["1.1", "2.0"]).chosen == "1.1"


def test_when_the_chosen_job_is_gone_the_one_in_its_row_is_chosen() -> None:
    view, _ = decide_key(DOWN, settle(View(), JOBS), JOBS)
    assert settle(view, ["1.0", "2.0"]).chosen == "2.0"
    assert settle(view, ["1.0"]).chosen == "1.0"
    nobody = settle(view, [])
    assert (nobody.chosen, decide_key("x", nobody, [])[1]) == (None, "")


def test_a_job_that_left_the_screen_since_is_not_acted_on() -> None:
    assert decide_key("h", View(chosen="9.0"), JOBS)[1] == ""


def test_q_ends_it() -> None:
    assert decide_key("q", View(), JOBS)[0].ended
