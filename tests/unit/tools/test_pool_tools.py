"""condor_advertise, condor_findhost and condor_who up to the point where a daemon is asked."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from kettle.classad import ClassAd
from kettle.errors import KettleError, UsageError
from kettle.tools.configuration import condor_version
from kettle.tools.control import condor_advertise
from kettle.tools.programs import Streams
from kettle.tools.status import condor_findhost, condor_status, condor_who, questions


def streams(text: str = "") -> Streams:
    return Streams(io.StringIO(text), io.StringIO(), io.StringIO())


def advertised(path: Path, *, multiple: bool = False) -> list[ClassAd]:
    wish = condor_advertise.Wish("UPDATE_AD_GENERIC", str(path), multiple=multiple)
    return condor_advertise.read_ads(wish, streams())


def test_several_ads_of_a_file_are_sent_only_with_multiple(tmp_path: Path) -> None:
    path = tmp_path / "ads"
    path.write_text('Name = "a"\nX = 1\n\nName = "b"\n')
    assert [ad.string("Name") for ad in advertised(path, multiple=True)] == ["a", "b"]
    (ad,) = advertised(path)
    assert ad.string("Name") == "b"
    assert ad.integer("X") == 1


def test_a_file_that_is_empty_or_no_ad_is_named(tmp_path: Path) -> None:
    path = tmp_path / "ads"
    path.write_text("\n")
    with pytest.raises(KettleError, match="ads is empty"):
        advertised(path)
    path.write_text("Nonsense\n")
    with pytest.raises(KettleError, match="couldn't parse ClassAd in"):
        advertised(path)


def test_a_misspelt_command_names_the_nearest_and_exits_with_1() -> None:
    where = streams()
    assert condor_advertise.main(["condor_advertise", "UPDATE_STARTED_AD", "x"], {}, where) == 1
    message = where.stderr.getvalue()  # type: ignore[attr-defined]
    assert "Unknown command name UPDATE_STARTED_AD (did you mean UPDATE_STARTD_AD?)" in message


@pytest.mark.parametrize(
    ("words", "file"), [("- C", ""), ("C -", ""), ("C - ads", "ads"), ("C ads -", "ads")]
)
def test_a_dash_alone_changes_nothing(words: str, file: str) -> None:
    """Standard input is read for want of a file; to the reference a dash begins -tcp."""
    wish = condor_advertise.read_wish(words.replace("C", "UPDATE_AD_GENERIC").split())
    assert (wish.command, wish.file) == ("UPDATE_AD_GENERIC", file)


def test_the_best_hosts_come_first_and_machines_count_once() -> None:
    ads = [
        ClassAd(
            {"Name": f"slot{number}@m{number % 2}", "Machine": f"m{number % 2}", "Memory": number}
        )
        for number in range(4)
    ]
    wish = condor_findhost.Wish(number=2, rank="Memory")
    assert condor_findhost.choose(wish, ads) == ["slot3@m1", "slot2@m0"]
    wish = condor_findhost.Wish(number=9, rank="Memory", machines=True)
    assert condor_findhost.choose(wish, ads) == ["m1", "m0"]


def test_findhost_refuses_a_number_of_nothing() -> None:
    with pytest.raises(UsageError, match="integer greater than 0"):
        condor_findhost.read_wish(["-n", "0"])


def test_findhost_takes_names_of_machines() -> None:
    assert condor_findhost.read_wish(["-m", "vm", "slot1@b"]).names == ["vm", "slot1@b"]


@pytest.mark.parametrize(
    ("word", "constraint"),
    [("-offline", []), ("-slots", []), ("-snapshot", []), ("-annex x", ['AnnexName =?= "x"'])],
)
def test_status_takes_every_choice_of_slots(word: str, constraint: list[str]) -> None:
    wish = condor_status.read_wish([*word.split(), "-af", "Name"])
    assert condor_status.MODES[wish.mode].command == "QUERY_STARTD_ADS"
    assert wish.constraints == constraint
    if word == "-offline":
        assert condor_status.MODES[wish.mode].condition == "size(OfflineUniverses) != 0"


def test_version_names_its_parts() -> None:
    said = {}
    for word in ("-arch", "-opsys", "-platform"):
        where = streams()
        assert condor_version.main(["condor_version", word], {}, where) == 0
        said[word] = where.stdout.getvalue().strip()  # type: ignore[attr-defined]
    assert said["-platform"] == f"$CondorPlatform: {said['-arch']}-{said['-opsys']} $"


@pytest.mark.shows("R073")
def test_who_shows_owner_client_slot_job_runtime_and_process() -> None:
    ad = ClassAd(
        {
            "Machine": "vm",
            "Name": "slot1_5@vm",
            "JobId": "2.0",
            "RemoteOwner": "tester@vm",
            "ClientMachine": "127.0.0.1",
            "TotalJobRunTime": 8,
            "JobPid": 4194304,
        }
    )
    assert condor_who.render(condor_who.Wish(), {"<127.0.0.1:9>": [ad]}).split("\n") == [
        "",
        "--Startd : vm has 1 job(s) running:",
        "OWNER     CLIENT    SLOT JOB   RUNTIME    PID     JOB_DIR",
        "tester@vm 127.0.0.1 1_5  2.0   0+00:00:08 4194304        ",
        "",
        "",
    ]


def test_startds_are_found_by_their_address_files(tmp_path: Path) -> None:
    (tmp_path / ".startd_address").write_text("<127.0.0.1:9>\n$CondorVersion$\n")
    (tmp_path / ".schedd_address").write_text("<127.0.0.1:8>\n")
    assert condor_who.find_startds(tmp_path) == ["<127.0.0.1:9>"]


def test_status_asks_only_for_the_attributes_it_shows() -> None:
    wish = condor_status.read_wish(["-af", "Memory/Cpus", "-sort", "Disk", "-pool", "p"])
    assert questions.projection(wish) == ["Cpus", "Disk", "Machine", "Memory", "Name", "OCU"]
    assert questions.projection(condor_status.read_wish(["-l"])) == []
    assert "State" in questions.projection(condor_status.read_wish([]))


def test_status_names_and_constraints_must_all_hold() -> None:
    wish = condor_status.read_wish(["-claimed", "-constraint", "A", "host"])
    assert questions.conditions(wish) == [
        '(State == "Claimed")',
        "(A)",
        'Name == "host" || Machine == "host"',
    ]


def test_a_host_that_nobody_knows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(condor_status, "ask", lambda *_: [])
    for name, code, said in (
        ("nosuch", 1, "condor_status: unknown host nosuch\n"),
        # With a dot in it a name is taken for a whole one.
        ("nosuch.invalid", 0, ""),
        ("slot1@nosuch.invalid", 0, ""),
        ("127.0.0.1", 0, ""),
    ):
        where = streams()
        assert (
            condor_status.main(["condor_status", name], {"CONDOR_CONFIG": "/dev/null"}, where)
            == code
        )
        assert where.stderr.getvalue() == said  # type: ignore[attr-defined]
        assert where.stdout.getvalue() == ""  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "text", ["A=1\nfoo bar\n", "A=1\nfoo bar\nB=2\n", "A=1\n\nfoo bar\n", "A=1\n***\nB=1\n"]
)
@pytest.mark.parametrize("words", [(), ("-multiple",)])
def test_half_an_ad_is_not_advertised(text: str, words: tuple[str, ...]) -> None:
    """Recorded."""
    out, err = io.StringIO(), io.StringIO()
    argv = ["condor_advertise", *words, "UPDATE_STARTD_AD"]
    where = {"CONDOR_CONFIG": "ONLY_ENV", "_CONDOR_COLLECTOR_HOST": "127.0.0.1:1"}
    assert condor_advertise.main(argv, where, Streams(io.StringIO(text), out, err)) == 1
    assert (out.getvalue(), err.getvalue()) == ("", "couldn't parse ClassAd in (stdin)\n")
