"""Manifests of checkpoints at a URL."""

from __future__ import annotations

import hashlib

import pytest

from kettle.errors import RefusedError
from kettle.transfer.checkpoints import (
    Entry,
    manifest_name,
    number_of,
    parse_manifest,
    place_of,
    plan_restore,
    render_manifest,
    was_checkpoint,
)
from kettle.transfer.items import SendFile, SendUrl

ENTRIES = [Entry("a" * 64, "state"), Entry("b" * 64, "d/with blank")]


def test_a_manifest_lists_its_files_and_ends_with_itself() -> None:
    text = render_manifest(3, ENTRIES)
    lines = text.splitlines(keepends=True)
    assert lines[0] == f"{'a' * 64} *state\n"
    own = hashlib.sha256("".join(lines[:-1]).encode()).hexdigest()
    assert lines[-1] == f"{own} *_condor_checkpoint_MANIFEST.0003\n"
    assert parse_manifest(text) == ENTRIES


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
        parse_manifest(damage(render_manifest(3, ENTRIES)))


def test_a_manifest_names_nothing_outside_of_the_sandbox() -> None:
    with pytest.raises(RefusedError, match="outside"):
        parse_manifest(render_manifest(0, [Entry("a" * 64, "../../etc/passwd")]))


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
    assert plan_restore("u://x/0001", "/spool/m", 1, ENTRIES) == [
        SendFile("/spool/m", "_condor_checkpoint_MANIFEST.0001"),
        SendUrl("u://x/0001/state", "state"),
        SendUrl("u://x/0001/d/with blank", "d/with blank"),
    ]
