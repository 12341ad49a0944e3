"""The plug-in contract: abilities, requests, results, which plug-in serves what."""

from __future__ import annotations

import errno

import pytest

from kettle.attributes.codes import TransferSubCode, sends_back
from kettle.classad import ClassAd, parse_ads, unparse
from kettle.transfer.outcome import UrlResult
from kettle.transfer.plugin_records import TransferClass, file_record, run_record, split_records
from kettle.transfer.plugins import (
    Plugin,
    Ran,
    built_in_plugin,
    choose_plugin,
    many_argv,
    parse_abilities,
    parse_job_plugins,
    plan_runs,
    read_result_ads,
    read_results,
    render_requests,
    single_argv,
    single_result,
)

CURL = Plugin(("/x/curl",), frozenset({"http", "ftp"}))
ONE = Plugin(("/x/one",), frozenset({"s3"}), many=False)


def test_abilities_are_read_from_the_answer_to_classad() -> None:
    answer = (
        'PluginVersion = "0.1"\nPluginType = "FileTransfer"\nMultipleFileSupport = true\n'
        'SupportedMethods = "http,HTTPS, ftp"\n'
    )
    plugin = parse_abilities("/x/p", answer)
    assert plugin == Plugin(("/x/p",), frozenset({"http", "https", "ftp"}))
    assert parse_abilities("/x/p", 'PluginType = "Other"\nSupportedMethods = "x"\n') is None
    assert parse_abilities("/x/p", "usage: p FILE") is None
    assert parse_abilities("/x/p", 'PluginType = "FileTransfer"\n') is None


def test_what_a_plug_in_says_beside_its_abilities_is_passed_over() -> None:
    answer = (
        "11/23/2026 14:27:47 Changing logging level from 0 to 1\n"
        'PluginType = "FileTransfer"\nSupportedMethods = "debug"\nwarning: x = (1 +\n'
        "ProtocolVersion = 2\nMultipleFileSupport = true\n"
    )
    assert parse_abilities("/x/p", answer) == Plugin(("/x/p",), frozenset({"debug"}), version=2)


def test_the_first_plug_in_that_serves_a_method_is_chosen() -> None:
    assert choose_plugin([CURL, built_in_plugin()], "HTTP://h/x") is CURL
    assert choose_plugin([CURL, built_in_plugin("py")], "file:///x") == built_in_plugin("py")
    assert choose_plugin([CURL], "gopher://h/x") is None


def test_files_of_one_plug_in_travel_together_where_it_can() -> None:
    wanted = [
        ("http://a", "1"),
        ("s3://b", "2"),
        ("http://c", "3"),
        ("s3://d", "4"),
        ("x://e", "5"),
    ]
    runs, failed = plan_runs([CURL, ONE], wanted)
    assert runs == [
        (CURL, [("http://a", "1"), ("http://c", "3")]),
        (ONE, [("s3://b", "2")]),
        (ONE, [("s3://d", "4")]),
    ]
    assert [result.url for result in failed] == ["x://e"]
    assert "plugin for type x not found" in failed[0].error
    assert sends_back(12, failed[0].subcode)


def test_commands_are_as_the_contract_says() -> None:
    assert single_argv(ONE, "s3://b", "/f") == ["/x/one", "s3://b", "/f"]
    assert single_argv(ONE, "s3://b", "/f", upload=True) == ["/x/one", "/f", "s3://b"]
    assert many_argv(CURL, "in", "out", upload=True) == [
        "/x/curl", "-infile", "in", "-outfile", "out", "-upload",
    ]  # fmt: skip


def test_a_request_file_has_an_ad_for_each_file() -> None:
    pairs = [("http://a", "/one"), ("http://b", '/with "quote"')]
    ads = list(parse_ads(render_requests(pairs)))
    assert [(ad.string("Url"), ad.string("LocalFileName")) for ad in ads] == pairs


def result(**values: object) -> str:
    return unparse(ClassAd(values)) + "\n"


def judge(pairs: list[tuple[str, str]], text: str, ran: Ran) -> list[UrlResult]:
    return read_results(CURL, pairs, read_result_ads(text), ran)


GOOD = result(TransferUrl="http://a", TransferSuccess=True, TransferFileBytes=7)


def test_each_file_has_its_own_result() -> None:
    text = GOOD + result(TransferUrl="http://b", TransferSuccess=False, TransferError="404")
    pairs = [("http://a", "1"), ("http://b", "2"), ("http://c", "3")]
    good, bad, missing = judge(pairs, text, Ran(1))
    assert (good.size, good.error) == (7, "")
    assert (bad.error, bad.subcode, bad.orderly) == ("404", 1 << 8, False)
    assert judge(pairs, text, Ran(0))[1].orderly
    assert missing.error.endswith("ended with exit code 1 and no result for http://c")
    assert missing.subcode == 1 << 8


@pytest.mark.parametrize(
    ("values", "status", "subcode", "told"),
    [
        ({"TransferSuccess": False, "TransferError": "no"}, 0, 1, "no ( URL file = http://a )|"),
        ({"TransferSuccess": False, "TransferError": "no"}, 3, 768, "no ( URL file = http://a )|"),
        (
            {"TransferSuccess": False}, 0, 0,
            ("File transfer plugin /x/curl exited unexpectedly without producing an error message "
            " ( URL file = http://a )|"),
        ),
        (
            {}, 0, 0,
            ("File transfer plugin /x/curl exited without producing a TransferSuccess result "
            " (http://a)|"),
        ),
    ],
)  # fmt: skip
def test_what_a_plug_in_calls_a_failure_is_one_however_it_ends_itself(
    values: dict[str, object], status: int, subcode: int, told: str
) -> None:
    """The words and subcodes are those of a real pool's output."""
    [only] = judge([("http://a", "1")], result(TransferUrl="http://a", **values), Ran(status))
    assert (only.subcode, only.told, only.orderly) == (subcode, told, status == 0)
    assert only.broke == f"non-zero exit ({status}) from /x/curl"


def test_a_plug_in_that_fails_and_calls_no_file_a_failure_is_told_of_as_such() -> None:
    [only] = judge([("http://a", "1")], GOOD, Ran(3))
    assert only.error == (
        "File transfer plugin /x/curl failed unexpectedly with exit code 3, "
        "did not report a TransferError message."
    )


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_what_a_job_has_for_plug_ins_reaches_them_as_their_protocol_says(version: int) -> None:
    job = ClassAd({})
    for name in ("PluginData", "http_PluginData", "s3_PluginData"):
        job.insert_text(name, f'[ for = "{name}" ]')
    text = render_requests([("http://a", "1")], job, version)
    got = [sorted(name.lower() for name in ad) for ad in parse_ads(text)]
    file = ["localfilename", "url"]
    assert got == {
        2: [["http_plugindata", "localfilename", "plugindata", "url"]],
        4: [["plugindata"], ["http_plugindata", "protocol"], file],
    }.get(version, [file])


def test_a_plug_in_that_crashed_has_moved_nothing() -> None:
    [only] = judge([("http://a", "1")], "garbage [", Ran(-6))
    assert only.subcode == 6
    assert "signal 6" in only.error


@pytest.mark.parametrize("text", ["", "garbage [", "   "])
@pytest.mark.parametrize("status", [0, 3])
def test_a_plug_in_that_says_nothing_is_to_blame_and_not_the_job(text: str, status: int) -> None:
    [silent] = judge([("http://a", "1")], text, Ran(status))
    assert "no valid classads" in silent.error
    assert silent.subcode == TransferSubCode.PluginSilent
    assert sends_back(12, silent.subcode)


def test_a_plug_in_of_the_job_goes_by_its_name_beside_its_answers() -> None:
    for program, name in (("/box/plug.py", "plug.py"), ("/usr/plug.py", "/usr/plug.py")):
        plugin = Plugin((program,), frozenset({"foo"}))
        [silent] = read_results(plugin, [("foo://a", "1")], [], Ran(9), "/box/.x.out")
        assert silent.error == (
            f"file transfer plugin {name} exited (exit code 9), "
            "no valid classads in output file /box/.x.out"
        )


def test_a_plug_in_that_failed_and_names_no_file_has_failed_with_the_first() -> None:
    [only] = judge([("http://a", "1")], GOOD, Ran(17))
    assert only.subcode == 17 << 8
    assert only.error


def test_a_plug_in_that_took_too_long_holds_the_job_with_the_errno_of_that() -> None:
    late = Ran(-9, seconds=5, timed_out=True)
    for found in (
        judge([("http://a", "1")], "", late)[0],
        single_result(ONE, ("s3://b", ""), late, 0),
    ):
        assert found.subcode == errno.ETIME
        assert "timed out after 5 seconds" in found.error
        assert not sends_back(12, found.subcode)


def test_a_plug_in_that_could_not_be_started_sends_the_job_elsewhere() -> None:
    absent = Ran(127, "No such file or directory", started=False)
    [only] = judge([("http://a", "1")], "", absent)
    assert sends_back(12, only.subcode)
    assert only.error == "FILETRANSFER: Failed to execute /x/curl: No such file or directory"


def test_a_single_file_is_judged_by_the_exit_status() -> None:
    assert single_result(ONE, ("s3://b", "/f"), Ran(0), 5).size == 5
    failed = single_result(ONE, ("s3://b", "/f"), Ran(3, "some noise\ndenied\n"), 0)
    assert failed.error == "file transfer plugin /x/one failed for s3://b: denied"


def test_what_is_kept_of_a_plug_in_is_what_is_known_of_the_right_type() -> None:
    said = ClassAd({"TransferUrl": "http://a", "TransferSuccess": "yes", "Spam": 1})
    said["TransferErrorData"] = [ClassAd({"ErrorType": "Resolution", "Other": 2}), 5]
    kept = file_record(said)
    assert unparse(kept) == unparse(
        ClassAd(
            {
                "TransferUrl": "http://a",
                "TransferErrorData": [ClassAd({"ErrorType": "Resolution"})],
            }
        )
    )


def test_runs_and_files_are_told_apart() -> None:
    run = run_record(CURL, ["ftp://a", "http://b"], TransferClass.OUTPUT, Ran(-9, seconds=3))
    assert (run.string("Schemes"), run.integer("ExitSignal")) == ("ftp,http", 9)
    assert run.integer("TransferClass") == 2
    done = ClassAd({"TransferSuccess": True})
    files, runs = split_records([run, done, 7])
    assert (files, runs) == ([done], [run])
    assert split_records("nonsense") == ([], [])


def test_the_jobs_own_plug_ins_are_listed_by_method() -> None:
    assert parse_job_plugins("foo,bar=a.py; baz = b.sh;junk") == [
        (frozenset({"foo", "bar"}), "a.py"),
        (frozenset({"baz"}), "b.sh"),
    ]
    assert parse_job_plugins(None) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", []),
        ("nonsense\n", []),
        ('[ TransferFileName = "a"; ];\n', ["a"]),
        ('[ TransferFileName = "a" ]\n[ TransferFileName = "b"; ]\n', ["a", "b"]),
        ('[ TransferFileName = "a" ]\n[ TransferFileName = \n', ["a"]),
    ],
)
def test_ads_count_up_to_what_is_none(text: str, names: list[str]) -> None:
    assert [ad.string("TransferFileName") for ad in read_result_ads(text)] == names
