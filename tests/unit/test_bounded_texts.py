"""What others wrote is repeated in part, and says how long it was."""

from __future__ import annotations

from kettle.bounded_texts import MOST_OF_A_REASON, bounded, bounded_reason


def test_a_long_text_is_shown_by_its_beginning_and_its_length() -> None:
    assert bounded("x" * 1000) == "x" * 1000
    assert bounded("x" * 200_000) == f"{'x' * 1000}... (200000 characters in all)"
    assert bounded("abc", 2) == "ab... (3 characters in all)"


def test_a_long_reason_keeps_both_ends_and_is_bounded_for_good() -> None:
    assert bounded_reason("x" * MOST_OF_A_REASON) == "x" * MOST_OF_A_REASON
    reason = bounded_reason(f"cannot read {'x' * 200_000}: (errno 2) No such file")
    assert len(reason) == MOST_OF_A_REASON
    assert reason.startswith("cannot read xxx")
    assert "x... (200036 characters in all) ...x" in reason
    assert reason.endswith("x: (errno 2) No such file")
    assert bounded_reason(reason) == reason
