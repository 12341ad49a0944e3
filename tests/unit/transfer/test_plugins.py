"""The plug-in contract: abilities, requests, results, which plug-in serves what."""

from __future__ import annotations

from kettle.classad import ClassAd, parse_ads, unparse
from kettle.transfer.plugins import (
    Plugin,
    built_in_plugin,
    choose_plugin,
    many_argv,
    parse_abilities,
    parse_job_plugins,
    plan_runs,
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


def test_each_file_has_its_own_result() -> None:
    text = result(TransferUrl="http://a", TransferSuccess=True, TransferFileBytes=7) + result(
        TransferUrl="http://b", TransferSuccess=False, TransferError="404"
    )
    pairs = [("http://a", "1"), ("http://b", "2"), ("http://c", "3")]
    good, bad, missing = read_results(CURL, pairs, text, 1)
    assert bad.subcode == 1 << 8
    assert (good.size, good.error) == (7, "")
    assert (bad.error, bad.exit_code) == ("404", 1)
    assert missing.error == "file transfer plugin /x/curl exited (exit code 1), no valid classads"


def test_a_plug_in_that_crashed_has_moved_nothing() -> None:
    [only] = read_results(CURL, [("http://a", "1")], "garbage [", -6)
    assert only.subcode == 6
    assert "signal 6" in only.error
    [silent] = read_results(CURL, [("http://a", "1")], "", 0)
    assert silent.exit_code == 1


def test_a_single_file_is_judged_by_the_exit_status() -> None:
    assert single_result(ONE, ("s3://b", "/f"), 0, "", 5).size == 5
    failed = single_result(ONE, ("s3://b", "/f"), 3, "some noise\ndenied\n", 0)
    assert failed.error == "file transfer plugin /x/one failed for s3://b: denied"


def test_the_jobs_own_plug_ins_are_listed_by_method() -> None:
    assert parse_job_plugins("foo,bar=a.py; baz = b.sh;junk") == [
        (frozenset({"foo", "bar"}), "a.py"),
        (frozenset({"baz"}), "b.sh"),
    ]
    assert parse_job_plugins(None) == []
