"""What .job.ad adds to the job's ad, as recorded of a real 25.14.1 starter."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd, parse_old_ad
from kettle.starter.job_file import Givings, as_shown, job_as_run
from kettle.starter.place import Place, Process
from kettle.starter.sandbox import Sandbox
from kettle.starter.settings import StarterSettings

SANDBOX = Sandbox.of_starter("/execute", 17)
PROVISIONED = as_shown(
    ClassAd({"CpusProvisioned": 2, "GPUsProvisioned": 0, "ProvisionedResources": "Cpus GPUs"})
)
RUNS = {
    "CpusProvisioned": "2", "GpusProvisioned": "0", "ProvisionedResources": '"Cpus GPUs"',
    "OsUser": '"ann"', "OSHomeDir": '"/home/ann"', "OrigCmd": '"/bin/sh"', "OrigIwd": '"/work"',
}  # fmt: skip


def job(**more: object) -> ClassAd:
    shared = ClassAd({"Cmd": "/bin/sh", "Iwd": "/work", "Owner": "ann", "JobUniverse": 5})
    ad = ClassAd({"In": "/dev/null", **more})
    ad.parent = shared
    return ad


def added(ad: ClassAd, *, transfers: bool) -> dict[str, str]:
    """Return what .job.ad says otherwise than the job's ad."""
    had = Givings(SANDBOX, PROVISIONED).to(ad)
    whole = job_as_run(ad, SANDBOX, had, "/home/ann", transfers=transfers)
    settings = StarterSettings()
    place = Place(settings, ClassAd(), "slot1@ep", Process(17, "<127.0.0.1:9618>"))
    # Twice: what is shared by the jobs of a cluster comes from the time before.
    texts = {place.text_of_job(whole) for _ in range(2)}
    assert len(texts) == 1
    (text,) = texts
    names = [line.partition(" = ")[0] for line in text.splitlines()]
    assert len(set(names)) == len(names)
    read = parse_old_ad(text)
    return {name: read.text(name) or "" for name in names if read.text(name) != ad.text(name)}


def test_a_job_in_its_own_folder_keeps_its_names() -> None:
    ad = job(Out="o", Err="e", StreamOut=False, StreamErr=False)
    assert added(ad, transfers=False) == {**RUNS, "TransferInputFileCounts": "[ CEDAR = 1 ]"}


def test_a_job_in_a_sandbox_is_told_its_folder_and_the_names_of_its_streams() -> None:
    ad = job(Out="out/o", Err="/abs/e", StreamOut=False, StreamErr=False, TransferInput="a,b")
    assert added(ad, transfers=True) == {
        **RUNS,
        "TransferInputFileCounts": "[ CEDAR = 3 ]",
        "Iwd": '"/execute/dir_17/scratch"',
        "Out": '"_condor_stdout"',
        "OriginalOut": '"out/o"',
        "Err": '"_condor_stderr"',
        "OriginalErr": '"/abs/e"',
    }


@pytest.mark.parametrize(
    ("streams", "expected"),
    [
        ({"Out": "/dev/null", "Err": "/dev/null"}, {}),
        (
            {"Out": "o", "StreamOut": True, "Err": "e", "StreamErr": False},
            {"Err": '"_condor_stderr"', "OriginalErr": '"e"'},
        ),
        (
            {"Out": "o", "StreamOut": False, "Err": "o", "StreamErr": False},
            {
                "Out": '"_condor_stdout"', "OriginalOut": '"o"',
                "Err": '"_condor_stdout"', "OriginalErr": '"o"',
            },
        ),
    ],
)  # fmt: skip
def test_only_streams_that_are_renamed_have_an_original_name(
    streams: dict[str, object], expected: dict[str, str]
) -> None:
    found = added(job(TransferExecutable=False, **streams), transfers=True)
    assert found == {
        **RUNS, "TransferInputFileCounts": "[  ]", "Iwd": '"/execute/dir_17/scratch"', **expected,
    }  # fmt: skip


def test_a_local_job_is_told_its_own_names_only() -> None:
    assert added(job(JobUniverse=12, Out="o", StreamOut=False), transfers=False) == {
        name: RUNS[name] for name in ("OsUser", "OrigCmd", "OrigIwd")
    }


def test_a_local_jobs_ad_has_nothing_of_its_schedds() -> None:
    # As a real local job's: no process of the schedd's, and its start is not counted yet.
    schedds = {
        "KettleJobPid": 7, "KettleJobPidBirth": 9, "RemoteHost": "h", "ShadowIpAddr": "<>",
        "ShadowVersion": "v", "UidDomain": "d", "JobCurrentStartExecutingDate": 5,
    }  # fmt: skip
    ad = job(JobUniverse=12, ShouldTransferFiles="YES", NumJobStarts=1, **schedds)
    had = Givings(SANDBOX, PROVISIONED).to(ad)
    whole = job_as_run(ad, SANDBOX, had, "/home/ann", transfers=False)
    assert {name: whole.text(name) for name in whole.names()} == {
        "Cmd": '"/bin/sh"', "In": '"/dev/null"', "Iwd": '"/work"', "JobUniverse": "12",
        "NumJobStarts": "0", "OrigCmd": '"/bin/sh"', "OrigIwd": '"/work"', "OsUser": '"ann"',
        "Owner": '"ann"', "ShouldTransferFiles": '"YES"',
    }  # fmt: skip


def test_what_a_job_is_given_is_the_same_ad_for_the_next_one_only_where_it_says_the_same() -> None:
    givings = Givings(SANDBOX, PROVISIONED)
    first = givings.to(job())
    assert givings.to(job(Args="2")) is first
    other = givings.to(job(Owner="bob"))
    assert (first.string("OsUser"), other.string("OsUser")) == ("ann", "bob")
    fetching = givings.to(job(TransferInput="a,b"))
    assert fetching.text("TransferInputFileCounts") != first.text("TransferInputFileCounts")
    assert "TransferInputFileCounts" not in givings.to(job(TransferInputFileCounts="7"))
