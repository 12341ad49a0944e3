"""Uploads and downloads against each other, over clear and encrypted channels."""

from __future__ import annotations

import errno
import posixpath
from collections.abc import Sequence
from dataclasses import replace

import pytest

from kettle.classad import ClassAd
from kettle.errors import ConnectionLost, RefusedError, RemoteProtocolError
from kettle.shadow.endings import transfer_reason
from kettle.starter.outcome import told_reason
from kettle.testing.dialog_pairs import run_pair
from kettle.transfer.go_ahead import Terms
from kettle.transfer.items import (
    Item,
    PutUrls,
    ReportUrl,
    SendDirectory,
    SendFile,
    SendUrl,
    Unlisted,
)
from kettle.transfer.landing import Landing
from kettle.transfer.outcome import Failure, Outcome, UrlResult
from kettle.transfer.plan import check_name
from kettle.transfer.receiving import download
from kettle.transfer.sending import upload
from kettle.wire.dialog import Dialog, Receive, Send, Words
from unit.transfer.disk import MemoryDisk

KEYS = [None, bytes(range(32))]
SHADOW = Terms("SHADOW", peer="<127.0.0.1:1>", code=13)
STARTER = Terms("STARTER", peer="<127.0.0.1:2>", code=13)


def place(name: str) -> str:
    return posixpath.join("/box", check_name(name, code=13))


def carry(
    items: Sequence[Item | PutUrls],
    source: MemoryDisk,
    target: MemoryDisk,
    key: bytes | None = None,
    *,
    terms: Terms = STARTER,
    piece: int = 65_536,
) -> tuple[Outcome, Outcome]:
    return run_pair(
        upload(items, source, SHADOW, sandbox_bytes=1),
        download(place, target, terms),
        key=key,
        piece=piece,
    )


@pytest.mark.parametrize("key", KEYS, ids=["clear", "encrypted"])
@pytest.mark.parametrize("piece", [65_536, 7])
def test_files_and_directories_arrive_with_their_modes(key: bytes | None, piece: int) -> None:
    source = MemoryDisk({"/a": b"alpha" * 100, "/d/x": b"", "/d/y": b"why"})
    source.modes["/d/y"] = 0o755
    target = MemoryDisk()
    items = [
        SendFile("/a", "a"),
        SendDirectory("d", 0o40711),
        SendFile("/d/x", "d/x", encrypt=True if key else None),
        SendFile("/d/y", "d/y", encrypt=False),
    ]
    sent, received = carry(items, source, target, key, piece=piece)
    assert target.files == {"/box/a": b"alpha" * 100, "/box/d/x": b"", "/box/d/y": b"why"}
    assert target.modes == {"/box/a": 0o644, "/box/d/x": 0o644, "/box/d/y": 0o755}
    assert target.directories == {"/box/d": 0o40711}
    assert sent.success
    assert received.success
    # The reference counts four bytes and one file for a directory, at the sending side only.
    assert (sent.bytes, sent.stats(sent=True).integer("CedarFilesCount")) == (507, 4)
    assert (received.bytes, received.stats(sent=False).integer("CedarFilesCount")) == (503, 3)
    assert sent.folders == received.folders == 1
    assert sorted(target.closed) == ["/box/a", "/box/d/x", "/box/d/y"]


@pytest.mark.parametrize("key", KEYS, ids=["clear", "encrypted"])
def test_a_file_larger_than_a_chunk_travels_in_pieces(key: bytes | None) -> None:
    data = bytes(range(256)) * 3000
    target = MemoryDisk()
    sent, _ = carry([SendFile("/big", "big")], MemoryDisk({"/big": data}), target, key)
    assert target.files["/box/big"] == data
    assert sent.success


class Ticking:
    """A clock that goes on by a second whenever it is looked at."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@pytest.mark.parametrize("key", KEYS, ids=["clear", "encrypted"])
def test_what_is_done_with_the_bytes_of_files_is_timed(key: bytes | None) -> None:
    items = [SendFile("/a", "a"), SendFile("/empty", "empty"), SendDirectory("d", 0o755)]
    sent, received = run_pair(
        upload(items, MemoryDisk({"/a": b"a", "/empty": b""}), replace(SHADOW, clock=Ticking())),
        download(place, MemoryDisk(), replace(STARTER, clock=Ticking())),
        key=key,
    )
    # One read and one sending; one receiving, and a writing and two closings.
    assert (sent.spent.file_seconds, sent.spent.net_seconds) == (1.0, 1.0)
    assert (received.spent.file_seconds, received.spent.net_seconds) == (3.0, 1.0)


def test_nothing_to_send_is_a_success() -> None:
    sent, received = carry([], MemoryDisk(), MemoryDisk())
    assert sent.success
    assert received.success


@pytest.mark.parametrize("key", KEYS, ids=["clear", "encrypted"])
def test_a_missing_file_is_reported_by_both_sides_and_the_rest_still_travels(
    key: bytes | None,
) -> None:
    target = MemoryDisk()
    items = [SendFile("/nope", "nope"), SendFile("/a", "a")]
    sent, received = carry(items, MemoryDisk({"/a": b"a"}), target, key)
    assert target.files == {"/box/a": b"a"}
    for outcome in (sent, received):
        assert outcome.failure is not None
        assert (outcome.failure.code, outcome.failure.subcode) == (13, 2)
        assert outcome.sender_failed
        assert outcome.detail == (
            "1 total failures: first failure: reading from file /nope: "
            "(errno 2) No such file or directory"
        )
        assert outcome.failure.reason == (
            "SHADOW at 127.0.0.1 failed to send file(s) to <127.0.0.1:1>: |Error: "
            f"{outcome.detail}; STARTER failed to receive file(s) from <127.0.0.1:2>"
        )


@pytest.mark.parametrize("before", [(), (SendDirectory("d", 0o40300),)], ids=["alone", "with it"])
def test_a_folder_that_cannot_be_listed_fails_the_transfer_as_a_file_does(
    before: tuple[Item, ...],
) -> None:
    target = MemoryDisk()
    sent, received = carry([*before, Unlisted("/d", errno.EACCES)], MemoryDisk(), target)
    assert len(target.directories) == len(before)
    for outcome in (sent, received):
        assert outcome.failure is not None
        assert (outcome.failure.code, outcome.failure.subcode) == (13, errno.EACCES)
        assert outcome.sender_failed
        assert outcome.detail == (
            "1 total failures: first failure: reading from folder /d: (errno 13) Permission denied"
        )


def test_who_receives_from_a_side_that_failed_says_only_that() -> None:
    def refuse(name: str) -> str:
        raise RefusedError(f"no place for {name}", code=12)

    sent, received = run_pair(
        upload([SendFile("/nope", "nope"), SendFile("/a", "a")], MemoryDisk({"/a": b"a"}), SHADOW),
        download(refuse, MemoryDisk(), STARTER),
    )
    for outcome in (sent, received):
        assert outcome.failure is not None
        assert outcome.failure.reason.endswith(
            "; STARTER failed to receive file(s) from <127.0.0.1:2>"
        )


def test_nothing_fits_behind_what_is_too_much_but_what_is_empty() -> None:
    source = MemoryDisk({"/big": b"x" * 30, "/small": b"s", "/empty": b""})
    target = MemoryDisk()
    items = [SendFile(f"/{name}", name) for name in ("big", "small", "empty")]
    sent, _ = run_pair(
        upload(items, source, replace(SHADOW, max_bytes=20)),
        download(Landing("/box", {}).path_for, target, STARTER),
    )
    assert sent.detail.startswith("2 total failures: first failure: sending file /big: max total ")


def test_a_link_to_a_directory_is_no_file_and_says_so() -> None:
    target = MemoryDisk()
    items = [SendFile("/d/el", "d/el", is_directory_link=True), SendFile("/a", "a")]
    sent, _ = carry(items, MemoryDisk({"/a": b"a"}), target)
    assert target.files == {"/box/a": b"a"}
    assert sent.failure is not None
    assert (sent.failure.code, sent.failure.subcode) == (13, 21)
    assert sent.detail == (
        "1 total failures: first failure: reading from file /d/el: (errno 21) Is a directory"
        "- Transfer of symlinks to directories is not supported."
    )


def test_a_file_that_cannot_be_written_fails_both_sides() -> None:
    target = MemoryDisk()
    target.denied.add("/box/a")
    target.full.add("/box/b")
    items = [SendFile("/a", "a"), SendFile("/b", "b"), SendFile("/c", "c")]
    sent, received = carry(items, MemoryDisk({"/a": b"a", "/b": b"b", "/c": b"c"}), target)
    assert target.files["/box/c"] == b"c"
    for outcome in (sent, received):
        assert outcome.failure is not None
        assert outcome.failure.subcode == 13
        assert not outcome.sender_failed
        assert outcome.detail == "writing to file /box/a: (errno 13) Permission denied"
    assert sent.failure is not None
    assert sent.failure.reason == (
        "SHADOW at 127.0.0.1 failed to send file(s) to <127.0.0.1:1>; "
        "STARTER at 127.0.0.1 - |Error: writing to file /box/a: (errno 13) Permission denied"
    )


def test_a_folder_that_cannot_be_made_is_told_before_what_was_to_lie_in_it() -> None:
    target = MemoryDisk()
    target.denied |= {"/box/a", "/box/d", "/box/d/x"}
    items = [SendFile("/a", "a"), SendDirectory("d", 0o755), SendFile("/a", "d/x")]
    sent, received = carry(items, MemoryDisk({"/a": b"a"}), target)
    for outcome in (sent, received):
        assert outcome.failure is not None
        assert (outcome.failure.code, outcome.failure.subcode) == (13, 13)
        assert not outcome.sender_failed
        # No part of the reason is an error that could stand alone: the whole is told.
        assert outcome.detail == ""
    assert sent.failure is not None
    assert sent.failure.reason == (
        "SHADOW at 127.0.0.1 failed to send file(s) to <127.0.0.1:1>; "
        "STARTER at 127.0.0.1 failed to create directory /box/d: Permission denied (errno 13)"
    )


def test_a_name_that_leaves_the_sandbox_is_refused() -> None:
    target = MemoryDisk()
    items = [SendFile("/a", "../a"), SendFile("/a", "/etc/a"), SendFile("/a", "x/../../a")]
    _, received = carry(items, MemoryDisk({"/a": b"a"}), target)
    assert target.files == {}
    assert received.failure is not None
    assert received.failure.subcode == 1


def test_more_bytes_than_the_receiver_takes_is_its_own_hold_code() -> None:
    terms = Terms("STARTER", code=13, max_bytes=3)
    items = [SendFile("/a", "a"), SendFile("/b", "b")]
    target = MemoryDisk()
    sent, _ = carry(items, MemoryDisk({"/a": b"12", "/b": b"34"}), target, terms=terms)
    assert sent.failure is not None
    assert sent.failure.code == 32
    assert target.files["/box/a"] == b"12"


def test_urls_are_fetched_by_the_receiver_after_the_files() -> None:
    target = MemoryDisk()
    wanted: list[tuple[str, str]] = []

    def fetch(pairs: Sequence[tuple[str, str]]) -> list[UrlResult]:
        assert "/box/a" in target.files
        wanted.extend(pairs)
        return [UrlResult(url, path, 10) for url, path in pairs]

    sent, received = run_pair(
        upload([SendUrl("http://h/x", "x"), SendFile("/a", "a")], MemoryDisk({"/a": b"a"}), SHADOW),
        download(place, target, STARTER, fetch=fetch),
    )
    assert wanted == [("http://h/x", "/box/x")]
    assert sent.success
    assert received.bytes == 11
    stats = received.stats(sent=False)
    assert (stats.text("HTTPFilesCount"), stats.text("HTTPSizeBytes")) == ("1", "10")
    assert "HTTPFilesCount" in stats.own_names()
    # What came another way did not come over this connection.
    assert (stats.integer("CedarFilesCount"), stats.integer("CedarSizeBytes")) == (1, 1)


def test_a_url_without_a_plug_in_fails_the_transfer() -> None:
    sent, _ = carry([SendUrl("foo://h/x", "x")], MemoryDisk(), MemoryDisk())
    assert sent.failure is not None
    assert not sent.sender_failed


def test_a_failed_upload_to_a_url_is_told_to_the_receiver() -> None:
    report = ReportUrl("out", "s3://b/out", success=False, error="denied")
    items = [PutUrls(("out",), lambda: [report])]
    sent, received = carry(items, MemoryDisk(), MemoryDisk())
    assert sent.failure is not None
    assert received.failure is not None


TOLD = "no room ( URL file = shelf://b/out )|"


def test_a_plug_in_that_says_that_it_did_not_bring_a_file_is_told_of_in_its_own_words() -> None:
    # Observed of a real pool, whose plug-in ended with 3.
    def fetch(wanted: Sequence[tuple[str, str]]) -> list[UrlResult]:
        [(url, path)] = wanted
        told, how = f"coded ( URL file = {url} )|", "non-zero exit (3) from /p/tst"
        return [UrlResult(url, path, error="coded", subcode=768, broke=how, told=told)]

    sent, received = run_pair(
        upload([SendUrl("tst://h/x", "x")], MemoryDisk(), SHADOW),
        download(Landing("/box", {}).path_for, MemoryDisk(), STARTER, fetch=fetch),
    )
    assert told_reason(received) == (
        "FILETRANSFER:1:non-zero exit (3) from /p/tst. |Error: coded ( URL file = tst://h/x )|"
    )
    detail = sent.detail
    assert detail == "coded ( URL file = tst://h/x )|"
    assert transfer_reason("input", "ap", "slot1@ep", here_failed=False, detail=detail) == (
        "Transfer input files failure at execution point slot1@ep using protocol tst. "
        "Details: coded ( URL file = tst://h/x )|"
    )


def test_a_plug_in_that_breaks_over_an_upload_is_told_of_in_its_own_words() -> None:
    # Observed of a real pool, whose plug-in ended with 1.
    how = "non-zero exit (1) from /p/shelf"
    report = ReportUrl("out", "shelf://b/out", False, "no room", 256, broke=how, told=TOLD)
    items = [PutUrls(("out",), lambda: [report])]
    sent, received = carry(items, MemoryDisk(), MemoryDisk())
    assert sent.failure is not None
    told = f": : FILETRANSFER:1:{how}. |Error: no room ( URL file = shelf://b/out )|; "
    assert told in sent.failure.reason
    assert " failed to receive file(s) from " in sent.failure.reason.partition(told)[2]
    assert received.failure is not None
    assert (received.failure.subcode, received.sender_failed) == (256, True)
    assert received.failure.reason.count("no room") == 1


def test_what_went_to_a_url_needs_no_place_at_the_receiver() -> None:
    """Where its remap says that it goes to a URL nothing of that name may come as a file."""
    landing = Landing("/box", {}, (("out", "s3://b/out"),))
    report = ReportUrl("out", "s3://b/out", success=True)
    sent, received = run_pair(
        upload([PutUrls(("out",), lambda: [report])], MemoryDisk(), SHADOW),
        download(landing.path_for, MemoryDisk(), STARTER),
    )
    assert sent.success
    assert received.success


def test_files_go_to_their_urls_when_both_sides_know_that_the_transfer_has_begun() -> None:
    told: list[str] = []
    arrived: list[str] = []

    def put() -> list[ReportUrl]:
        told.append("put")
        return [ReportUrl(name, f"s3://b/{name}", success=True, size=3) for name in ("x", "y")]

    terms = replace(SHADOW, started=lambda: told.append("begun"))
    sent, received = run_pair(
        upload([PutUrls(("x", "y"), put)], MemoryDisk(), terms),
        download(place, MemoryDisk(), STARTER, arrived=arrived.append),
    )
    assert told == ["begun", "put"]
    assert sent.success
    assert received.success
    assert arrived == ["x", "y"]
    assert (sent.bytes, sent.moved, received.moved) == (0, 6, 0)
    # And the receiver hears how much it was.
    assert received.peer_ack is not None
    told_stats = received.peer_ack.evaluate("TransferStats")
    assert isinstance(told_stats, ClassAd)
    assert (told_stats.integer("S3FilesCount"), told_stats.integer("S3SizeBytes")) == (2, 6)


@pytest.mark.parametrize("ours", [True, False], ids=["of the receiver", "of the sender"])
def test_what_urls_bring_counts_against_the_limits_of_both_sides(ours: bool) -> None:
    def fetch(pairs: Sequence[tuple[str, str]]) -> list[UrlResult]:
        return [UrlResult(url, path, 600) for url, path in pairs]

    def carried(most: int, count: int) -> Outcome:
        limited = [replace(terms, max_bytes=most) for terms in (SHADOW, STARTER)]
        items = [SendUrl(f"https://x/{n}", f"{n}") for n in range(count)]
        _, received = run_pair(
            upload(items, MemoryDisk(), SHADOW if ours else limited[0]),
            download(place, MemoryDisk(), limited[1] if ours else STARTER, fetch=fetch),
        )
        return received

    assert carried(1200, 2).success
    failure = carried(1199, 2).failure
    assert failure is not None
    assert (failure.code, "larger than the limit of 1199 bytes" in failure.reason) == (32, True)


def test_nothing_is_kept_of_urls_that_nobody_fetches_and_of_others_what_fits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kettle.transfer.receiving.MAX_WANTED", 1_000)
    items = [SendUrl(f"https://x/{n}/" + "u" * 100, f"{n}") for n in range(20)]
    sent, _ = carry(items, MemoryDisk(), MemoryDisk())
    assert sent.failure is not None
    with pytest.raises(RemoteProtocolError, match="too long together"):
        run_pair(
            upload(items, MemoryDisk(), SHADOW),
            download(place, MemoryDisk(), STARTER, fetch=lambda pairs: []),
        )


def refusing(code: int) -> Dialog[None]:
    for _ in range(4):
        yield Receive()
    from kettle.classad import ClassAd

    answer = ClassAd({"Result": 0, "Timeout": 10})
    yield Send(Words(answer))
    answer = ClassAd({"Result": -1, "TryAgain": False, "HoldReasonCode": code})
    answer["HoldReason"] = "too many"
    yield Send(Words(answer))


def test_a_file_that_has_to_be_encrypted_does_not_travel_in_clear() -> None:
    source = MemoryDisk({"/secret": b"s", "/other": b"o"})
    target = MemoryDisk()
    items = [SendFile("/secret", "secret", encrypt=True), SendFile("/other", "other")]
    sent, received = carry(items, source, target)
    assert target.files == {"/box/other": b"o"}
    for outcome in (sent, received):
        assert outcome.failure is not None
        assert (outcome.failure.code, outcome.failure.subcode) == (13, errno.EPERM)
        assert "/secret has to be encrypted" in outcome.detail


def test_while_its_turn_does_not_come_a_side_says_so_and_asks_again() -> None:
    turns = {"up": [False, False, True], "down": [False, True]}
    up = replace(SHADOW, await_turn=lambda: turns["up"].pop(0))
    down = replace(STARTER, await_turn=lambda: turns["down"].pop(0))
    target = MemoryDisk()
    sent, _ = run_pair(
        upload([SendFile("/a", "a")], MemoryDisk({"/a": b"a"}), up),
        download(place, target, down),
    )
    assert sent.success
    assert turns == {"up": [], "down": []}
    assert target.files == {"/box/a": b"a"}


def test_a_refused_go_ahead_ends_the_upload_with_its_reason() -> None:
    sent, _ = run_pair(upload([SendFile("/a", "a")], MemoryDisk({"/a": b""}), SHADOW), refusing(18))
    assert sent.failure is not None
    assert (sent.failure.code, sent.failure.reason) == (18, "too many")
    assert not sent.failure.try_again


@pytest.mark.parametrize("key", KEYS, ids=["clear", "encrypted"])
def test_a_receiver_that_objects_to_what_is_announced_takes_nothing(key: bytes | None) -> None:
    told: list[tuple[bool, int]] = []

    def begun(final: bool, size: int) -> Failure:
        told.append((final, size))
        return Failure("too much for /home", 12, errno.ENOSPC)

    target = MemoryDisk()
    sent, received = run_pair(
        upload([SendFile("/a", "a")], MemoryDisk({"/a": b"a"}), STARTER, sandbox_bytes=1 << 40),
        download(place, target, SHADOW, begun=begun),
        key=key,
    )
    assert told == [(False, 1 << 40)]
    assert target.files == {}
    for outcome in (sent, received):
        assert outcome.failure == Failure("too much for /home", 12, errno.ENOSPC)
        assert outcome.detail == "too much for /home"
        assert not outcome.sender_failed


@pytest.mark.parametrize("missing", [(), ("b",)], ids=["all", "not all"])
def test_what_has_arrived_is_kept_before_its_sender_hears_that_it_did(
    missing: tuple[str, ...],
) -> None:
    """And only if it is all there; a receiver that cannot keep it says why."""
    kept: list[str] = []
    target = MemoryDisk()

    def complete() -> Failure:
        kept.append(",".join(target.files))
        return Failure("cannot keep it", 12, errno.ENOSPC)

    items = [SendFile(f"/{name}", name) for name in ("a", *missing)]
    sent, received = run_pair(
        upload(items, MemoryDisk({"/a": b"a"}), STARTER),
        download(place, target, SHADOW, complete=complete),
    )
    assert sent.failure is not None
    assert received.failure is not None
    if missing:
        assert kept == []
        assert sent.failure.subcode == errno.ENOENT
        return
    assert kept == ["/box/a"]
    for outcome in (sent, received):
        assert outcome.failure is not None
        assert (outcome.failure.code, outcome.failure.subcode) == (12, errno.ENOSPC)
        assert outcome.detail == "cannot keep it"
        assert not outcome.sender_failed


def test_an_empty_file_whose_sender_disappears_is_taken_away() -> None:
    def gone() -> Dialog[None]:
        yield Send(Words(0, ClassAd()))
        yield Send(Words(1))
        yield Send(Words("a"))
        yield Send(Words(300))
        yield Receive()
        yield Receive()
        yield Send(Words(ClassAd({"Result": 2})))
        yield Send(Words(0o644))
        yield Send(Words(0))

    target = MemoryDisk()
    with pytest.raises(ConnectionLost):
        run_pair(gone(), download(place, target, STARTER))
    assert (target.files, target.closed) == ({}, ["/box/a"])


def test_a_peer_that_disappears_is_an_error_and_not_a_result() -> None:
    def gone() -> Dialog[None]:
        yield Receive()

    with pytest.raises(ConnectionLost):
        run_pair(upload([SendFile("/a", "a")], MemoryDisk({"/a": b""}), SHADOW), gone())


def test_an_announced_size_below_zero_breaks_the_connection() -> None:
    def lying() -> Dialog[None]:
        from kettle.classad import ClassAd

        yield Send(Words(0, ClassAd()))
        yield Send(Words(1))
        yield Send(Words("a"))
        yield Send(Words(300))
        yield Receive()
        yield Receive()
        yield Send(Words(ClassAd({"Result": 2})))
        yield Send(Words(0o644))
        yield Send(Words(-5))

    with pytest.raises(RemoteProtocolError):
        run_pair(lying(), download(place, MemoryDisk(), STARTER))


def test_both_sides_wait_for_their_turn_before_the_first_byte() -> None:
    story: list[str] = []
    terms = {
        who: Terms(
            who,
            await_turn=lambda who=who: story.append(f"{who} turn"),  # type: ignore[misc]
            started=lambda who=who: story.append(f"{who} started"),  # type: ignore[misc]
        )
        for who in ("UP", "DOWN")
    }
    run_pair(
        upload([SendFile("/a", "a")], MemoryDisk({"/a": b""}), terms["UP"]),
        download(place, MemoryDisk(), terms["DOWN"]),
    )
    assert story == ["DOWN turn", "UP turn", "UP started", "DOWN started"]


def test_check_name_raises_with_the_code_it_was_given() -> None:
    with pytest.raises(RefusedError) as caught:
        check_name("a/../b", code=12)
    assert caught.value.code == 12
