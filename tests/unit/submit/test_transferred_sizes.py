"""How much travels to a job: DiskUsage in KiB, TransferInputSizeMB (dry runs of 25.14.1)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kettle.client.submit_sources import SystemSubmitSources
from unit.submit.submitting import submission

FILES = {"job.sh": "x" * 100, "d/f": "x" * 3000, "d/sub/g": "x" * 5000, "d/h": "x", "empty": ""}


@pytest.mark.parametrize(
    ("line", "kib"),
    [
        ("transfer_input_files = d", 1 + 8),
        ("transfer_input_files = d/", 1 + 8),
        ("transfer_input_files = d/sub, d/f", 1 + 5 + 3),
        ("transfer_input_files = d, d", 1 + 8 + 8),
        ("container_image = d", 1 + 8),
        ("transfer_input_files = empty", 1),
        ("transfer_input_files = nosuch", 1),
    ],
)
def test_what_is_in_a_folder_counts(line: str, kib: int) -> None:
    made = submission(f"executable = job.sh\n{line}\nqueue\n", FILES)
    list(made.jobs())
    assert made.cluster.get("DiskUsage") == str(kib)
    assert made.cluster.get("TransferInputSizeMB") == "1"


def test_each_job_counts_its_own_folder() -> None:
    files = {"job.sh": "x", "d1/f": "x" * 3000, "d2/f": "x" * 9000}
    made = submission("executable = job.sh\ninput = d$(item)\nqueue item in (0 1 2 1)\n", files)
    sizes = [job.differences.get("DiskUsage") for job in made.jobs()]
    assert made.cluster.get("DiskUsage") == "1"
    assert sizes[1:] == ["4", "10", "4"]


def test_links_in_a_folder_count_nothing_and_one_to_a_folder_does(tmp_path: Path) -> None:
    (tmp_path / "big").mkdir()
    (tmp_path / "big/x").write_bytes(bytes(50_000))
    folder = tmp_path / "d"
    (folder / ".hidden").mkdir(parents=True)
    (folder / "f").write_bytes(bytes(3_000))
    (folder / ".hidden/z").write_bytes(bytes(7_000))
    for name, target in (("a", "../big"), ("b", "../big/x"), ("c", "nowhere"), ("e", ".")):
        (folder / name).symlink_to(target)
    os.mkfifo(folder / "pipe")
    (tmp_path / "link").symlink_to("big")
    sources = SystemSubmitSources()
    assert sources.folder_bytes(str(folder)) == 10_000
    assert sources.folder_bytes(f"{folder}/") == 10_000
    assert sources.folder_bytes(str(tmp_path / "link")) == 50_000
    assert sources.folder_bytes(str(tmp_path / "nosuch")) == 0


def test_a_folder_of_many_jobs_is_counted_through_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "f").write_bytes(bytes(10))
    sources = SystemSubmitSources()
    assert sources.folder_bytes(str(tmp_path)) == 10
    monkeypatch.delattr(os, "scandir")
    assert sources.folder_bytes(str(tmp_path)) == 10
