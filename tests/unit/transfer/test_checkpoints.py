"""Manifests of checkpoints at a URL."""

from __future__ import annotations

import hashlib

import pytest

from kettle.errors import RefusedError
from kettle.octets import to_bytes
from kettle.transfer.checkpoints import (
    MAX_MANIFEST,
    Entry,
    manifest_name,
    number_of,
    parse_by_steps,
    parse_manifest,
    place_of,
    plan_restore,
    render_manifest,
    was_checkpoint,
)
from kettle.transfer.items import SendFile, SendUrl
from stopwatch import cpu_seconds

ENTRIES = [Entry("a" * 64, "state"), Entry("b" * 64, "d/with blank")]


def test_a_manifest_lists_its_files_and_ends_with_itself() -> None:
    text = render_manifest(3, ENTRIES)
    lines = text.splitlines(keepends=True)
    assert lines[0] == f"{'a' * 64} *state\n"
    own = hashlib.sha256("".join(lines[:-1]).encode()).hexdigest()
    assert lines[-1] == f"{own} *_condor_checkpoint_MANIFEST.0003\n"
    assert parse_manifest(text.encode()) == ENTRIES


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[:-1],
        lambda text: text.replace("state", "stale"),
        lambda text: text.partition("\n")[2],
        lambda text: "nonsense\n" + text,
    ],
)
def test_a_damaged_manifest_is_none(damage: object) -> None:
    assert callable(damage)
    with pytest.raises(RefusedError):
        parse_manifest(damage(render_manifest(3, ENTRIES)).encode())


@pytest.mark.parametrize("name", ["a\u2028b", "a\x0cb", "a\x85b", "a\rb", "a\udcffb"])
def test_a_manifest_has_a_line_end_where_the_others_have_theirs_only(name: str) -> None:
    entries = [Entry("a" * 64, name), *ENTRIES]
    assert parse_manifest(to_bytes(render_manifest(3, entries))) == entries


def test_a_name_that_is_two_lines_is_in_no_manifest() -> None:
    with pytest.raises(RefusedError, match=r"'a\\nb' has a line end"):
        render_manifest(3, [Entry("a" * 64, "a\nb")])


def test_a_manifest_that_would_be_too_long_to_be_read_is_not_made() -> None:
    def of(length: int) -> str:
        return render_manifest(
            3,
            [Entry("a" * 64, "x" * 4000)] * (MAX_MANIFEST // 4067)
            + [Entry("b" * 64, "x" * length)],
        )

    spare = MAX_MANIFEST - len(of(1))
    assert len(parse_manifest(of(1 + spare).encode())) == MAX_MANIFEST // 4067 + 1
    with pytest.raises(RefusedError, match="longer than"):
        of(2 + spare)


@pytest.mark.parametrize("line", [b"\n", b"a\n", b"x", b"a" * 64 + b" *" + b"n" * 5000 + b"\n"])
def test_the_first_line_that_is_none_ends_the_reading_of_what_is_no_manifest(line: bytes) -> None:
    data = line * (MAX_MANIFEST // len(line))

    def read() -> None:
        with pytest.raises(RefusedError):
            parse_manifest(data)

    assert cpu_seconds(read, below=0.01) < 0.01
    with pytest.raises(RefusedError):
        parse_manifest(data + to_bytes(render_manifest(0, [])))


def test_a_long_manifest_is_read_by_short_steps() -> None:
    entries = [Entry("a" * 64, f"{number}") for number in range(2000)]
    steps = parse_by_steps(render_manifest(0, entries).encode())
    assert sum(1 for _ in steps) >= 8


def test_a_manifest_names_nothing_outside_of_the_sandbox() -> None:
    with pytest.raises(RefusedError, match="outside"):
        parse_manifest(render_manifest(0, [Entry("a" * 64, "../../etc/passwd")]).encode())


def test_the_number_is_in_the_name() -> None:
    assert manifest_name(7) == "_condor_checkpoint_MANIFEST.0007"
    assert number_of(manifest_name(12_345)) == 12_345
    assert number_of("_condor_checkpoint_FAILURE.0007") is None


@pytest.mark.parametrize("digits", ["1", "007", "00007", "010000", "1234567890", "+001", "٠٠٠١"])
def test_a_number_in_any_other_form_than_its_own_is_none(digits: str) -> None:
    """Who opened the manifest by its number would not find it."""
    assert number_of(f"_condor_checkpoint_MANIFEST.{digits}") is None
    assert was_checkpoint(f"_condor_checkpoint_FAILURE.{digits}") is None


def test_each_checkpoint_of_each_job_has_a_place_of_its_own() -> None:
    assert place_of("file:///ck/", "here#1.0#5", 2) == "file:///ck/here_1.0_5/0002"


def test_a_checkpoint_is_restored_from_its_urls() -> None:
    assert list(plan_restore("u://x/0001", "/spool/m", 1, ENTRIES)) == [
        SendFile("/spool/m", "_condor_checkpoint_MANIFEST.0001"),
        SendUrl("u://x/0001/state", "state"),
        SendUrl("u://x/0001/d/with blank", "d/with blank"),
    ]
