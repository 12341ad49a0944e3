"""What a pool that does not come up is said to suffer from."""

from __future__ import annotations

import pytest

from kettle.pool.complaints import find_complaints, find_refusals, is_hopeless, render_complaints

PORT = "cannot listen on 127.0.0.1 port 9618: Address already in use"
DISK = "cannot write /p/spool/.schedd_address.super: No space left on device"


def test_a_complaint_is_told_once_without_its_moment() -> None:
    found = find_complaints(
        {"CollectorLog": f"11/21/26 16:11:05 ERROR: {PORT}\n11/21/26 16:11:09 ERROR: {PORT}\n"}
    )
    assert render_complaints(found) == f"CollectorLog: {PORT}"
    assert is_hopeless(found)


@pytest.mark.parametrize(
    "head",
    [
        "",
        "11/21/26 16:11:05 ",
        "11/21/26 16:11:05.584 (pid:17) ",
        "11/21/26 16:11:05.584 (pid:17) (D_ERROR) ",
        "1795290481.584 (D_ERROR) ",
    ],
)
def test_a_line_is_known_whatever_the_log_shows_before_it(head: str) -> None:
    found = find_complaints({"CollectorLog": f"{head}ERROR: {PORT}\n"})
    assert render_complaints(found) == f"CollectorLog: {PORT}"


def test_of_a_traceback_only_its_last_word_is_told() -> None:
    text = (
        "Traceback (most recent call last):\n"
        '    raise StorageError(f"cannot write {path}: {error.strerror}") from error\n'
        f"kettle.errors.StorageError: {DISK}\n"
    )
    found = find_complaints({"SchedLog": text})
    assert render_complaints(found) == f"SchedLog: {DISK}"
    assert not is_hopeless(found)


def test_logs_without_errors_say_nothing() -> None:
    assert render_complaints(find_complaints({"MasterLog": "Started DaemonCore process\n"})) == ""


@pytest.mark.parametrize(
    "line",
    [
        "PERMISSION DENIED: 127.0.0.1 proved nothing",
        "No tokens can be signed: cannot make the signing key /p/POOL: No such file or directory",
        "Failed to send update to collector 0: nobody is there",
    ],
)
def test_what_keeps_others_from_being_heard_is_no_complaint_but_a_refusal(line: str) -> None:
    logs = {"CollectorLog": f"11/21/26 16:11:05.584 {line}\n" * 3}
    assert not find_complaints(logs)
    assert render_complaints(find_refusals(logs)) == f"CollectorLog: {line}"
