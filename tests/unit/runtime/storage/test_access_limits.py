"""Where files of jobs may come from and go to."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from kettle.runtime.storage.access_limits import AccessLimits


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    folder = tmp_path / "inside"
    folder.mkdir()
    return folder


def test_what_is_below_a_folder_is_allowed_whether_it_is_there_or_not(inside: Path) -> None:
    limits = AccessLimits([str(inside)])
    (inside / "file").touch()
    assert limits.allow(f"{inside}/file")
    assert limits.allow(f"{inside}/new/folder/file")
    assert limits.allow(str(inside))
    assert not limits.allow(str(inside.parent))
    assert not limits.allow(f"{inside}side/file")


def test_links_and_dots_count_by_where_they_lead(inside: Path) -> None:
    (inside / "out").symlink_to(inside.parent)
    (inside.parent / "into").symlink_to(inside)
    limits = AccessLimits([str(inside)])
    assert not limits.allow(f"{inside}/out/x")
    assert not limits.allow(f"{inside}/../x")
    assert limits.allow(f"{inside.parent}/into/x")
    # The list itself may name a link.
    assert AccessLimits([f"{inside.parent}/into"]).allow(f"{inside}/x")


def test_an_entry_may_be_a_prefix_and_the_null_device_is_always_allowed(inside: Path) -> None:
    limits = AccessLimits([f"{inside}/a*"])
    assert limits.allow(f"{inside}/abc")
    assert not limits.allow(f"{inside}/b")
    assert limits.allow("/dev/null")


def test_a_path_outside_is_no_permission(inside: Path) -> None:
    with pytest.raises(OSError, match="Permission denied") as caught:
        AccessLimits([str(inside)]).look_at("/etc/passwd")
    assert caught.value.errno == errno.EACCES


def test_the_administrator_s_list_wins_and_the_job_s_spool_is_always_inside(inside: Path) -> None:
    spooled = f"{inside.parent}/spool"
    assert AccessLimits.of((), "", spooled) is None
    own = AccessLimits.of((), f"{inside}, /elsewhere", spooled)
    assert own is not None
    assert own.allow(f"{inside}/x")
    assert own.allow(f"{spooled}/x")
    assert own.allow(f"{spooled}.tmp/x")
    theirs = AccessLimits.of(["/srv"], str(inside), spooled)
    assert theirs is not None
    assert not theirs.allow(f"{inside}/x")
    assert theirs.allow("/srv/x")
