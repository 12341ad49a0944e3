"""Who may read and write what `kettle up` makes, whatever the umask of who makes it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kettle.errors import UsageError
from kettle.pool.personal import PersonalPool
from kettle.tools.front import doctor


@contextmanager
def umask(bits: int) -> Iterator[None]:
    before = os.umask(bits)
    try:
        yield
    finally:
        os.umask(before)


def make(folder: Path) -> None:
    PersonalPool(str(folder), environment={"PATH": "/bin"}).make()


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder that the account of root's jobs can go to."""
    for each in (tmp_path, *tmp_path.parents[:3]):
        if each.stat().st_uid == os.getuid() and each != Path("/tmp"):
            each.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize("bits", [0, 0o002, 0o022, 0o027, 0o077])
def test_nobody_else_writes_what_a_pool_is_made_of(place: Path, bits: int) -> None:
    with umask(bits):
        make(place / "way" / "pool")
    for path in (place / "way", *(place / "way").rglob("*")):
        assert not mode_of(path) & 0o022, path


@pytest.mark.parametrize("bits", [0o177, 0o377, 0o577, 0o777])
def test_its_owner_can_use_what_a_pool_is_made_of(place: Path, bits: int) -> None:
    with umask(bits):
        make(place / "way" / "pool")
        assert os.umask(bits) == bits
    for path in (place / "way", *(place / "way").rglob("*")):
        wanted = 0o700 if path.is_dir() else 0o600
        assert mode_of(path) & wanted == wanted, path


@pytest.mark.skipif(os.getuid() != 0, reason="its daemons are another account's only under root")
@pytest.mark.parametrize("bits", [0o027, 0o077])
def test_the_daemons_of_root_can_read_the_configuration(place: Path, bits: int) -> None:
    with umask(bits):
        make(place / "pool")
    assert mode_of(place / "pool" / "condor_config") == 0o644


@pytest.mark.parametrize("name", [".", "condor_config", "config.d/50-mine"])
def test_what_everybody_can_write_starts_no_pool(place: Path, name: str) -> None:
    pool = place / "pool"
    make(pool)
    (pool / "config.d" / "50-mine").touch()
    loose = pool / name
    loose.chmod(mode_of(loose) | 0o002)
    with pytest.raises(UsageError, match="everybody can write"):
        make(pool)
    # Its files are named.
    said = doctor.check_configuration(doctor.Patient(pool, {"PATH": "/bin"}, str(pool)))
    assert said[0] == doctor.DOUBT
    assert said[1] == f"everybody can write {pool / name}"


def test_a_group_loses_what_it_could_write(place: Path) -> None:
    """Made by an earlier version with a umask of 002, as many users have it."""
    pool = place / "pool"
    make(pool)
    for each in (pool, pool / "condor_config"):
        each.chmod(mode_of(each) | 0o020)
    make(pool)
    assert not any(mode_of(each) & 0o020 for each in (pool, pool / "condor_config"))


def test_what_an_earlier_version_left_open_is_closed_in_a_personal_pool(place: Path) -> None:
    """Histories tell who ran what, with which arguments: the pool's READ is its owner's alone."""
    pool = place / "pool"
    make(pool)
    names = ["spool/history", "spool/history.20260101T000000", "log/startd_history"]
    for name in (*names, "spool/.schedd_address"):
        (pool / name).touch(mode=0o644)
    make(pool)
    assert {mode_of(pool / name) for name in names} == {0o600}
    assert mode_of(pool / "spool/.schedd_address") == 0o644
    assert (mode_of(pool / "spool"), mode_of(pool / "log")) == (0o711, 0o711)
