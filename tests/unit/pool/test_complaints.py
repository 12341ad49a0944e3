"""What a pool that does not come up is said to suffer from."""

from __future__ import annotations

import pytest

from kettle.pool.complaints import (
    end_again_and_again,
    find_complaints,
    find_endings,
    find_refusals,
    is_hopeless,
    render_complaints,
)

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


def test_a_daemon_that_refuses_to_be_is_named_with_its_end() -> None:
    line = "11/21/26 16:11:05.584 The SCHEDD (pid {}) exited with status 3\n"
    found = find_endings({"MasterLog": "".join(map(line.format, (7, 8, 9)))})
    assert render_complaints(found) == "MasterLog: SCHEDD exited with status 3"
    assert end_again_and_again(found)
    assert not end_again_and_again(find_endings({"MasterLog": line.format(7) * 2}))
    killed = "11/21/26 16:11:05 The SCHEDD (pid 7) died due to signal 9\n" * 9
    assert not end_again_and_again(find_endings({"MasterLog": killed}))
    assert not find_endings({"MasterLog": line.replace("status 3", "status 0")})


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
