"""What the doctor says of disks."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from kettle.tools.front import doctor


@pytest.mark.parametrize("name", ["LOG", "SPOOL", "EXECUTE"])
def test_a_full_disk_is_found_wherever_the_daemons_write(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = tmp_path / "full"
    full.mkdir()
    lines = [
        f"{each} = {full if each == name else tmp_path}" for each in ("LOG", "SPOOL", "EXECUTE")
    ]
    config = tmp_path / "condor_config"
    config.write_text("\n".join(lines) + "\n")
    free = {full: 0}
    monkeypatch.setattr(
        shutil, "disk_usage", lambda each: SimpleNamespace(free=free.get(Path(each), 1 << 40))
    )
    patient = doctor.Patient(tmp_path, {"CONDOR_CONFIG": str(config)})
    verdict, said, _ = doctor.check_disk(patient)
    assert verdict == doctor.BAD
    assert said == f"0.00 GiB free in {full}"


def test_every_disk_without_room_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names, free = ("LOG", "SPOOL", "EXECUTE"), {}
    for number, name in enumerate(names):
        (tmp_path / name).mkdir()
        free[tmp_path / name] = number << 20
    config = tmp_path / "condor_config"
    config.write_text("".join(f"{name} = {tmp_path / name}\n" for name in names))
    monkeypatch.setattr(
        shutil, "disk_usage", lambda each: SimpleNamespace(free=free.get(Path(each), 1 << 40))
    )
    patient = doctor.Patient(tmp_path, {"CONDOR_CONFIG": str(config)})
    verdict, said, _ = doctor.check_disk(patient)
    assert verdict == doctor.BAD
    assert said == "; ".join(f"0.00 GiB free in {tmp_path / name}" for name in names)


@pytest.mark.skipif(os.geteuid() != 0, reason="root's jobs run as another account")
def test_a_python_that_jobs_of_root_cannot_run_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient = doctor.Patient(tmp_path, {})
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    monkeypatch.setattr(sys, "executable", str(closed / "python"))
    verdict, said, mend = doctor.check_python(patient)
    assert verdict == doctor.DOUBT
    assert "is closed to nobody, so that condor_chirp fails in jobs" in said
    assert mend.startswith("chmod o+x /")
