"""Which files travel, under which names, and where they land."""

from __future__ import annotations

import dataclasses
import errno
import stat
from pathlib import Path

import pytest

from kettle.classad import ClassAd
from kettle.errors import RefusedError
from kettle.runtime.storage.transfer_files import LocalFiles
from kettle.transfer.items import Look, SendDirectory, SendFile, SendUrl, Unlisted
from kettle.transfer.landing import Landing, only_folder, plan_landing
from kettle.transfer.plan import (
    STDOUT_NAME,
    Plan,
    changed_files,
    count_input,
    list_spooled,
    make_catalogue,
    plan_input,
    plan_output,
    size_limit,
    split_at_commas,
    split_url_outputs,
    streams_share_a_file,
)
from kettle.transfer.remaps import parse_remaps, remap
from unit.transfer.disk import MemoryDisk


def job(**attributes: object) -> ClassAd:
    return ClassAd({"Iwd": "/home/u", "Cmd": "/home/u/job.sh", **attributes})


DISK = MemoryDisk(
    {
        "/home/u/job.sh": b"#!",
        "/home/u/in.txt": b"12345",
        "/home/u/d/x": b"x",
        "/home/u/d/e/y": b"yy",
        "/data/z": b"zzz",
    }
)


def names(ad: ClassAd, disk: MemoryDisk = DISK) -> list[str]:
    return [item.name for item in plan_input(ad, disk).items]


def test_the_input_list_comes_before_the_standard_input_and_the_executable() -> None:
    ad = job(TransferInput="d/x, in.txt", In="in.txt")
    assert names(ad) == ["x", "in.txt", "job.sh"]
    plan = plan_input(ad, DISK)
    assert plan.sandbox_bytes == 8
    assert plan.items[-1] == SendFile("/home/u/job.sh", "job.sh")


def test_a_directory_is_made_and_filled_and_a_slash_means_its_contents_only() -> None:
    assert names(job(TransferInput="d", TransferExecutable=False)) == ["d", "d/e", "d/e/y", "d/x"]
    assert names(job(TransferInput="d/", TransferExecutable=False)) == ["e", "e/y", "x"]
    items = plan_input(job(TransferInput="d", TransferExecutable=False), DISK).items
    assert items[0] == SendDirectory("d", 0o40755)


def test_relative_paths_are_kept_if_the_job_says_so() -> None:
    ad = job(TransferInput="d/e/y,/data/z", PreserveRelativePaths=True, TransferExecutable=False)
    assert names(ad) == ["d", "d/e", "d/e/y", "z"]
    with pytest.raises(RefusedError):
        plan_input(job(TransferInput="../x", PreserveRelativePaths=True), DISK)


def test_a_url_travels_as_a_url() -> None:
    ad = job(TransferInput="http://h/a/b.txt?q=1", TransferExecutable=False)
    assert plan_input(ad, DISK).items == (SendUrl("http://h/a/b.txt?q=1", "b.txt"),)


def test_urls_that_were_put_apart_for_queues_of_their_own_travel_with_the_others() -> None:
    ad = job(
        TransferInput="in.txt",
        TransferInputFrom_LOCAL="null:///a/first,null:///a/second",
        TransferInputFrom_FAR="null:///b/third",
    )
    ad.insert_text("TransferQueueInputList", "{ TransferInputFrom_LOCAL,TransferInputFrom_FAR,No }")
    assert names(ad) == ["in.txt", "first", "second", "third", "job.sh"]
    assert count_input(ad)["NULL"] == 3
    ad.insert_text("TransferQueueInputList", '"no list"')
    assert names(ad) == ["in.txt", "job.sh"]


def test_a_missing_input_file_is_sent_anyway_so_that_the_sender_can_name_it() -> None:
    assert names(job(TransferInput="nope", TransferExecutable=False)) == ["nope"]


@pytest.mark.parametrize("kind", [stat.S_IFIFO, stat.S_IFSOCK])
def test_a_pipe_or_a_socket_in_the_list_is_passed_over(kind: int) -> None:
    class Disk(MemoryDisk):
        def look(self, path: str) -> Look | None:
            look = super().look(path)
            if look is None or path != "/home/u/in.txt":
                return look
            return dataclasses.replace(look, is_regular=False, mode=kind | 0o644)

    ad = job(TransferInput="d/x, in.txt", TransferExecutable=False)
    assert names(ad, Disk(DISK.files)) == ["x"]


def test_streams_that_do_not_travel_are_left_out() -> None:
    assert names(job(In="/dev/null")) == ["job.sh"]
    assert names(job(In="in.txt", StreamIn=True)) == ["job.sh"]


def test_the_input_travels_also_where_it_was_not_to() -> None:
    assert names(job(In="in.txt", TransferIn=False)) == names(job(In="in.txt"))
    assert "in.txt" in names(job(In="in.txt", TransferIn=False))


def links_to_directories(plan: Plan) -> list[str]:
    return [
        each.name for each in plan.items if isinstance(each, SendFile) and each.is_directory_link
    ]


def test_a_link_to_a_directory_inside_a_tree_is_not_followed_and_fails_the_transfer() -> None:
    disk = MemoryDisk({"/home/u/d/loop/x": b"", "/home/u/d/a": b""})
    disk.links.add("/home/u/d/loop")
    for entry, prefix in (("d", "d/"), ("d/", "")):
        plan = plan_input(job(TransferInput=entry, TransferExecutable=False), disk)
        assert links_to_directories(plan) == [f"{prefix}loop"]
        assert [item.name for item in plan.items if isinstance(item, SendFile)] == [
            f"{prefix}a",
            f"{prefix}loop",
        ]
        assert plan.sandbox_bytes == 0
    plan = plan_output(job(TransferOutput="d"), disk, "/home/u", {})
    assert links_to_directories(plan) == ["d/loop"]


def test_a_link_to_a_directory_that_is_listed_is_followed_for_its_contents_only() -> None:
    disk = MemoryDisk({"/home/u/link/x": b""})
    disk.links.add("/home/u/link")
    for keep_path in (False, True):
        ad = job(TransferExecutable=False, PreserveRelativePaths=keep_path)
        ad["TransferInput"] = ad["TransferOutput"] = "link"
        assert links_to_directories(plan_input(ad, disk)) == ["link"]
        assert links_to_directories(plan_output(ad, disk, "/home/u", {})) == ["link"]
    ad = job(TransferInput="link/", TransferExecutable=False, TransferOutput="link/")
    assert names(ad, disk) == ["x"]
    assert [item.name for item in plan_output(ad, disk, "/home/u", {}).items] == ["x"]


def test_a_link_to_a_directory_is_no_program_whose_contents_travel() -> None:
    disk = MemoryDisk({"/usr/bin/x": b""})
    disk.links.add("/usr/bin")
    assert names(job(Cmd="/usr/bin"), disk) == ["bin"]


def test_patterns_say_which_files_are_encrypted() -> None:
    ad = job(
        TransferInput="in.txt,d/x,/data/z",
        EncryptInputFiles="*.txt",
        DontEncryptInputFiles="z",
        TransferExecutable=False,
    )
    wishes = [item.encrypt for item in plan_input(ad, DISK).items if isinstance(item, SendFile)]
    assert wishes == [True, None, False]


def box(**files: bytes) -> MemoryDisk:
    return MemoryDisk({f"/box/{name}": data for name, data in files.items()})


def test_without_a_list_every_new_or_changed_file_comes_back() -> None:
    disk = box(**{"job.sh": b"", "old": b"1", "same": b"1", ".job.ad": b"", STDOUT_NAME: b""})
    before = make_catalogue(disk, "/box")
    disk.files["/box/old"] = b"12"
    disk.files["/box/new"] = b""
    disk.files["/box/sub/deep"] = b""
    disk.directories["/box/sub"] = 0o40755
    names = disk.names("/box")
    assert changed_files(disk, "/box", names, before, frozenset()) == ["new", "old"]
    plan = plan_output(job(Out="o", StreamOut=False), disk, "/box", before)
    assert [item.name for item in plan.items] == ["_condor_stdout", "new", "old"]
    # Of two that land at one place the stream comes last, and stays.
    plan = plan_output(job(Out="new", StreamOut=False), disk, "/box", before)
    assert [item.name for item in plan.items] == ["new", "old", "_condor_stdout"]


@pytest.mark.parametrize("entry", ["d", "d/", "d/e", "d/e/"])
def test_what_cannot_be_listed_is_not_left_out_unsaid(entry: str) -> None:
    disk = MemoryDisk(dict(DISK.files))
    disk.unlisted = {"/home/u/d/e"}
    items = plan_input(job(TransferInput=entry), disk).items
    assert Unlisted("/home/u/d/e", errno.EACCES) in items
    assert SendFile("/home/u/job.sh", "job.sh") in items
    assert (SendFile("/home/u/d/x", "x") in items) == (entry == "d/")
    assert (SendDirectory("e", 0o40755) in items) == (entry in {"d/", "d/e"})
    box = MemoryDisk({f"/box/{path[8:]}": data for path, data in DISK.files.items()})
    box.unlisted = {"/box/d/e"}
    ad = job(TransferOutput=f"{entry},in.txt", OutputDestination="s3://b")
    plan, to_urls = split_url_outputs(ad, plan_output(ad, box, "/box", {}))
    assert plan.items == (Unlisted("/box/d/e", errno.EACCES),)
    assert ("in.txt", "s3://b/in.txt", "/box/in.txt") in to_urls
    assert list_spooled(ad, plan) == []


def test_what_is_new_in_a_sandbox_that_cannot_be_listed_is_not_lost_unsaid() -> None:
    disk = box(old=b"1", **{STDOUT_NAME: b"said"})
    disk.unlisted = {"/box"}
    assert make_catalogue(disk, "/box") == {}
    plan = plan_output(job(Out="o", StreamOut=False), disk, "/box", {})
    assert plan.items == (
        Unlisted("/box", errno.EACCES),
        SendFile(f"/box/{STDOUT_NAME}", STDOUT_NAME),
    )
    assert plan_output(job(TransferOutput="old"), disk, "/box", {}).items == (
        SendFile("/box/old", "old"),
    )


def test_of_a_sandbox_that_is_gone_nothing_is_new(tmp_path: Path) -> None:
    assert plan_output(job(), LocalFiles(), str(tmp_path / "none"), {}).items == ()


def test_a_list_brings_just_what_it_names_and_the_streams() -> None:
    disk = box(a=b"1", b=b"2", _condor_stdout=b"out", _condor_stderr=b"err")
    ad = job(TransferOutput="a", Out="o", Err="e", StreamOut=False, StreamErr=False)
    plan = plan_output(ad, disk, "/box", {})
    assert [item.name for item in plan.items] == ["a", "_condor_stdout", "_condor_stderr"]
    empty = plan_output(job(TransferOutput=""), disk, "/box", {})
    assert empty.items == ()


def test_two_streams_of_one_name_are_one_file() -> None:
    disk = box(a=b"1", _condor_stdout=b"out")
    ad = job(TransferOutput="a", Out="o", Err="o", StreamOut=False, StreamErr=False)
    plan = plan_output(ad, disk, "/box", {})
    assert [item.name for item in plan.items] == ["a", "_condor_stdout"]
    # One that stays behind, or is streamed, leaves the other its own.
    for apart in ({"TransferOut": False}, {"StreamOut": True}, {"Err": "./o"}):
        ad = job(**{"Out": "o", "Err": "o", "StreamOut": False, "StreamErr": False, **apart})
        assert not streams_share_a_file(ad)


def test_streams_keep_their_own_names_where_streaming_was_never_mentioned() -> None:
    # Compat: the reference renames them only if StreamOut is there and false.
    disk = box(out=b"1")
    plan = plan_output(job(Out="results/out"), disk, "/box", {})
    assert [item.name for item in plan.items] == ["out"]


def test_what_is_spooled_is_named_without_what_is_in_folders_and_without_streams() -> None:
    disk = MemoryDisk({"/sb/b/f": b"x", "/sb/c": b"c", "/sb/out": b"o", "/sb/err": b"e"})
    plain = job(TransferOutput="c,b", Out="/home/u/out", Err="/dev/null")
    assert list_spooled(plain, plan_output(plain, disk, "/sb", {})) == ["c", "b"]
    special = job(TransferOutput="", Out="out", StreamOut=False)
    assert list_spooled(special, plan_output(special, disk, "/sb", {})) == []


def test_a_stream_that_the_job_took_away_is_missed_only_where_its_output_is_listed() -> None:
    ad = {"Out": "o", "Err": "e", "StreamOut": False, "StreamErr": False}
    assert plan_output(job(**ad), box(), "/box", {}).items == ()
    disk = box(_condor_stderr=b"")
    disk.directories["/box/_condor_stdout"] = 0o40755
    plan = plan_output(job(**ad), disk, "/box", {})
    assert [item.name for item in plan.items] == ["_condor_stderr"]
    for listed in ("", "a"):
        plan = plan_output(job(TransferOutput=listed, **ad), box(a=b""), "/box", {})
        expected = [*listed, "_condor_stdout", "_condor_stderr"]
        assert [item.name for item in plan.items] == expected


def test_output_outside_of_the_sandbox_keeps_its_last_part_only() -> None:
    disk = MemoryDisk({"/box/in/a": b"1", "/box/in/../x": b"2", "/box/in/../d/y": b"3"})
    plan = plan_output(job(TransferOutput="../x, ../d, a"), disk, "/box/in", {})
    assert [item.name for item in plan.items] == ["x", "d", "d/y", "a"]
    assert plan.objection == ""


@pytest.mark.parametrize(
    ("listed", "keeps"), [("../x", True), ("d/../a", True), ("..", False), ("d/..", False)]
)
def test_output_whose_name_leads_outside_is_objected_to_and_the_rest_is_sent(
    listed: str, keeps: bool
) -> None:
    ad = job(TransferOutput=f"{listed}, a", PreserveRelativePaths=keeps, Out="o", StreamOut=False)
    plan = plan_output(ad, box(a=b"1", _condor_stdout=b"out"), "/box", {})
    assert [item.name for item in plan.items] == ["a", "_condor_stdout"]
    assert "points outside of the sandbox" in plan.objection


def test_a_list_with_a_folder_and_what_is_in_it_makes_no_folder_of_another_name() -> None:
    """Compat: the reference also makes an empty folder `e`, which may stand in a stream's way."""
    disk = MemoryDisk({"/box/d/e/f": b"1", "/box/d/g": b"2"})
    ad = job(TransferOutput="d/e/f, d/", PreserveRelativePaths=True)
    plan = plan_output(ad, disk, "/box", {})
    assert {item.name for item in plan.items} == {"d", "d/e", "d/e/f", "d/g"}


def test_a_job_that_could_not_run_sends_its_streams_only() -> None:
    disk = box(a=b"1", _condor_stdout=b"")
    ad = job(TransferOutput="a", Out="o", StreamOut=False)
    plan = plan_output(ad, disk, "/box", {}, only_streams=True)
    assert [item.name for item in plan.items] == ["_condor_stdout"]


def test_output_lands_where_the_remaps_and_the_stream_names_say() -> None:
    ad = job(
        Out="logs/o",
        Err="/var/e",
        StreamOut=False,
        TransferOutputRemaps="a=/abs/a; b=other ;dir=away",
    )
    landing = plan_landing(ad, "/home/u")
    assert landing.path_for("_condor_stdout") == "/home/u/logs/o"
    assert landing.path_for("_condor_stderr") == "/var/e"
    assert landing.path_for("a") == "/abs/a"
    assert landing.path_for("b") == "/home/u/other"
    assert landing.path_for("dir/x") == "/home/u/away/x"
    assert landing.path_for("plain") == "/home/u/plain"
    for bad in ("/etc/x", "a/../../x", "..", ""):
        with pytest.raises(RefusedError):
            landing.path_for(bad)


def test_spooled_output_keeps_its_sandbox_names() -> None:
    landing = plan_landing(job(Out="o", TransferOutputRemaps="a=b"), "/spool/1", spooled=True)
    assert landing.path_for("_condor_stdout") == "/spool/1/_condor_stdout"
    assert landing.path_for("a") == "/spool/1/a"


def test_remaps_take_escaped_separators_literally_where_they_would_separate() -> None:
    assert parse_remaps(r"a\=b=c;d=e\;f;junk") == {"a=b": "c", "d": "e;f"}
    assert parse_remaps(r"z\=z=R=2;w=R\=3") == {"z=z": "R=2", "w": r"R\=3"}
    assert parse_remaps(r"junk;a=b;more\;c=d") == {"a": "b", "c": "d"}
    assert parse_remaps("a=b\\") == {"a": "b\\"}
    assert parse_remaps(" a\t = b\nc ;; d = e") == {"a": "bc", "d": "e"}
    assert parse_remaps(None) == {}
    assert parse_remaps(r"a\=b") == {}


def test_a_rule_that_makes_names_longer_and_longer_has_an_end_soon() -> None:
    """The host of all of a user's shadows maps each name that comes."""
    rules = {"a": "a/" + "b/" * 2000}
    for name in ("a", "a/x"):
        with pytest.raises(RefusedError, match="cycle"):
            remap(name, rules)
    assert remap("deep/" * 100 + "x", {"y": "z"}) is None


def test_remaps_lead_on_until_none_speaks_and_a_circle_is_refused() -> None:
    assert remap("x", {"y": "z"}) is None
    assert remap("d/e/f", {"d": "1", "d/e": "2"}) == "2/f"
    assert remap("a", parse_remaps("a=b;b=c/d;c=e;a=never")) == "e/d"
    assert remap("/abs/f", {"/abs": "/away/"}) == "/away/f"
    for rules in ({"a": "a"}, {"a": "b", "b": "a"}, {"a": "a/b"}):
        with pytest.raises(RefusedError, match="remaps resulted in a cycle") as refused:
            remap("a", rules)
        assert refused.value.code == 12


def landed(name: str, remaps: str, **attributes: object) -> str:
    ad = job(StreamOut=False, StreamErr=False, TransferOutputRemaps=remaps, **attributes)
    return plan_landing(ad, "/home/u").path_for(name)


@pytest.mark.parametrize(
    ("out", "remaps", "path"),
    [
        ("o", "o=Ro", "Ro"),
        ("o", "_condor_stdout=Ro", "Ro"),
        ("o", "o=Ro;_condor_stdout=Rs", "Rs"),
        ("o", "o=Ro;Ro=R2", "R2"),
        ("o", "_condor_stdout=Ro;Ro=R2", "R2"),
        ("logs/o", "o=Ro", "logs/o"),
        ("logs/o", "logs/o=Ro", "Ro"),
        ("logs/o", "logs=away", "away/o"),
    ],
)
def test_remaps_speak_of_the_standard_streams_too(out: str, remaps: str, path: str) -> None:
    assert landed("_condor_stdout", remaps, Out=out) == f"/home/u/{path}"
    other = remaps.replace("stdout", "stderr")
    assert landed("_condor_stderr", other, Err=out) == f"/home/u/{path}"


def test_a_spooled_stream_goes_by_the_name_that_its_user_gave_it() -> None:
    # As it comes from the schedd, by its last part.
    assert landed("o", "o=Ro", Out="o") == "/home/u/Ro"
    assert landed("o", "o=Ro", Out="logs/o") == "/home/u/logs/o"
    assert landed("o", "/abs/o=Ro", Out="/abs/o") == "/home/u/Ro"
    assert landed("o", "_condor_stdout=Ro", Out="o") == "/home/u/o"


def test_what_comes_cannot_land_at_a_url() -> None:
    with pytest.raises(RefusedError, match="Remap of output file resulted in a URL: x://y"):
        landed("_condor_stdout", "o=x://y", Out="o")


def test_a_list_is_split_at_commas_and_trimmed() -> None:
    assert split_at_commas(" a , b,,c ") == ["a", "b", "c"]
    assert split_at_commas(None) == []


def test_the_size_limit_is_the_jobs_or_else_the_configured_one() -> None:
    assert size_limit(job(), None, "MaxTransferInputMB", -1) == -1
    assert size_limit(job(), None, "MaxTransferInputMB", 2) == 2 * 1024 * 1024
    assert size_limit(job(MaxTransferInputMB=1), None, "MaxTransferInputMB", 2) == 1024 * 1024


def test_output_listed_by_its_whole_path_comes_under_its_last_part_or_goes_to_a_url() -> None:
    disk = box(a=b"1")
    disk.files["/tmp/made"] = b"22"
    ad = job(TransferOutput="/tmp/made, /box/a")
    plan = plan_output(ad, disk, "/box", {})
    assert [item.name for item in plan.items] == ["made", "a"]
    assert split_url_outputs(ad, plan) == (plan, [])
    ad["TransferOutputRemaps"] = "/tmp/made=s3://bucket/x"
    rest, to_urls = split_url_outputs(ad, plan)
    assert [item.name for item in rest.items] == ["a"]
    assert to_urls == [("made", "s3://bucket/x", "/tmp/made")]


def test_output_for_urls_is_taken_out_of_the_plan() -> None:
    disk = box(a=b"1", b=b"22", _condor_stdout=b"out")
    ad = job(
        TransferOutput="a,b",
        TransferOutputRemaps="a=s3://bucket/a",
        Out="o",
        StreamOut=False,
    )
    rest, to_urls = split_url_outputs(ad, plan_output(ad, disk, "/box", {}))
    assert [item.name for item in rest.items] == ["b", "_condor_stdout"]
    assert to_urls == [("a", "s3://bucket/a", "/box/a")]
    ad["OutputDestination"] = "https://h/dir/"
    rest, to_urls = split_url_outputs(ad, plan_output(ad, disk, "/box", {}))
    assert [item.name for item in rest.items] == ["_condor_stdout"]
    assert [url for _, url, _ in to_urls] == ["s3://bucket/a", "https://h/dir/b"]
    plain = job(TransferOutput="a")
    plan = plan_output(plain, disk, "/box", {})
    assert split_url_outputs(plain, plan) == (plan, [])


@pytest.mark.parametrize(
    ("attributes", "folder"),
    [
        ({}, "/home/u"),
        ({"Out": "o", "Err": "sub/e"}, "/home/u"),
        ({"Out": "/data/o"}, None),
        ({"TransferOutputRemaps": "a=/data/a"}, None),
        ({"OutputDestination": "s3://bucket"}, None),
    ],
)
def test_output_lands_in_one_folder_or_perhaps_in_several(
    attributes: dict[str, object], folder: str | None
) -> None:
    ad = job(**attributes)
    assert only_folder(ad, plan_landing(ad, "/home/u")) == folder


def test_a_checkpoint_lands_in_one_folder_whatever_becomes_of_the_output() -> None:
    ad = job(Out="/data/o", TransferOutputRemaps="a=/data/a")
    assert only_folder(ad, Landing("/spool/1", {})) == "/spool/1"


def test_inputs_are_counted_as_they_are_named() -> None:
    # As a real shadow counts: a directory is one, and the executable is among them.
    ad = job(TransferInput="/etc/apt/, /etc/passwd, osdf://a/b, token+https://h/y")
    assert count_input(ad) == {"CEDAR": 3, "HTTPS": 1, "OSDF": 1}
    assert count_input(job(Cmd="/bin/sleep")) == {"CEDAR": 1}
    assert count_input(job(Cmd="/bin/sleep", TransferExecutable=False)) == {}
