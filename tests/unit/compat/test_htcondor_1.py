"""`kettle.compat.htcondor` without a pool: descriptions, enumerations, exceptions, logs."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kettle.compat import classad, classad2, htcondor, htcondor2
from kettle.compat.htcondor2.process import PROCESS

ROOT = Path(__file__).parents[3]
SURFACE = json.loads((ROOT / "tests/data/wheel/version_1.json").read_text(encoding="utf-8"))
LOG = """\
000 (007.000.000) 2026-11-23 10:00:00.250 Job submitted from host: <127.0.0.1:9618>
...
001 (007.000.000) 2026-11-23 10:00:01 Job executing on host: <127.0.0.1:9619>
...
"""


@pytest.fixture(autouse=True)
def configuration(tmp_path: Path) -> Iterator[Path]:
    file = tmp_path / "condor_config"
    file.write_text(f"LOCAL_DIR = /nowhere\nSEC_TOKEN_DIRECTORY = {tmp_path}/tokens\nA = b\n")
    PROCESS.reload(str(file), {"HOME": str(tmp_path)})
    yield file
    PROCESS.use_token(None)
    PROCESS.reload("/dev/null", {})


def test_the_module_has_the_public_names_of_version_1() -> None:
    surface = SURFACE["htcondor"]
    assert {name for name in surface["names"] if not hasattr(htcondor, name)} == set()
    missing = {
        name: [one for one in members if not hasattr(getattr(htcondor, name), one)]
        for name, members in surface["members"].items()
    }
    # The methods of claims on demand and of negotiation by a program: there are no such objects.
    refused = {"Claim", "LogReader", "ResourceRequestIterator", "ScheddNegotiate"}
    assert {name for name, found in missing.items() if found} <= refused


def test_enumerations_are_numbers_that_print_as_names() -> None:
    hold = htcondor.JobAction.Hold
    assert (str(hold), f"{hold}", f"{hold:>5}", f"{hold:d}", hold == 1) == (
        *("Hold", "Hold", "    1", "1", True),
    )
    assert repr(hold) == "htcondor.htcondor.JobAction.Hold"
    assert htcondor.JobAction.names["Hold"] is hold is htcondor.JobAction.values[1]
    assert getattr(htcondor.DaemonTypes, "None") == 0


@pytest.mark.parametrize(
    ("kind", "bases"),
    [
        (htcondor.HTCondorIOError, (OSError, ValueError, RuntimeError)),
        (htcondor.HTCondorLocateError, (OSError, ValueError)),
        (htcondor.HTCondorReplyError, (RuntimeError, ValueError)),
        (htcondor.HTCondorInternalError, (RuntimeError, TypeError)),
        (htcondor.HTCondorEnumError, (NotImplementedError, ValueError)),
        (classad.ClassAdParseError, (ValueError, SyntaxError)),
    ],
)
def test_an_exception_is_caught_by_what_programs_catch_it_by(
    kind: type[Exception], bases: tuple[type[Exception], ...]
) -> None:
    assert issubclass(kind, bases[0])
    assert all(issubclass(kind, one) for one in bases)
    assert issubclass(kind, (htcondor.HTCondorException, classad.ClassAdException))
    assert str(kind("words")) == "words"


def test_a_command_can_be_taken_out_of_a_description() -> None:
    description = htcondor.Submit({"executable": "/bin/a", "arguments": "x"})
    del description["ARGUMENTS"]
    assert str(description) == "executable = /bin/a\n"
    with pytest.raises(KeyError):
        del description["arguments"]


def test_values_of_commands_are_the_texts_of_what_is_given() -> None:
    given = {"a": b"x y", "b": 1, "c": 2.5, "d": None, "e": classad.ExprTree("f+1"), "g": True}
    expected = "a = x y\nb = 1\nc = 2.5\nd = undefined\ne = f + 1\ng = True\n"
    assert str(htcondor.Submit(given)) == expected


def test_the_pages_example_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs/reference/python-version-1.md").read_text(encoding="utf-8")
    code, printed = re.findall(r"```(?:python|text)\n(.*?)```", page, re.DOTALL)[:2]
    exec(compile(code, "python-version-1.md", "exec"), {})
    assert capsys.readouterr().out == printed


def test_a_copy_of_a_description_is_one_of_version_1() -> None:
    description = htcondor.Submit("executable = /bin/a\nqueue 2")
    same = description.copy()
    same["arguments"] = None
    assert (str(same), str(description)) == (
        "executable = /bin/a\narguments = undefined\nqueue 2",
        "executable = /bin/a\nqueue 2",
    )


def test_a_dag_becomes_a_description(tmp_path: Path) -> None:
    (tmp_path / "a.sub").write_text("executable = /bin/true\nqueue\n")
    dag = tmp_path / "one.dag"
    dag.write_text("JOB A a.sub\n")
    found = htcondor.Submit.from_dag(str(dag), {"dagman": "/bin/true", "force": True})
    assert type(found) is htcondor.Submit
    assert found["executable"] == "/bin/true"
    with pytest.raises(htcondor.HTCondorIOError):
        htcondor.Submit.from_dag(str(tmp_path / "none.dag"))


def test_times_of_events_have_a_fraction_where_the_log_has_one(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(LOG)
    times = ["2026-11-23T10:00:00.250", "2026-11-23T10:00:01"]
    for module in (htcondor, htcondor2):
        events: Any = module.JobEventLog(str(log)).events(0)  # type: ignore[attr-defined]
        assert [event["EventTime"] for event in events] == times


def test_events_are_read_in_the_older_way_too(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(LOG)
    with log.open() as file:
        events = htcondor.read_events(file)
        assert next(events)["MyType"] == "SubmitEvent"
        found = events.poll(0)
        assert found is not None
        assert found["MyType"] == "ExecuteEvent"
        assert events.poll(0) is None
        assert list(events) == []
    assert events.setBlocking(True) is False


def test_a_token_is_kept_where_tools_look_for_it(tmp_path: Path) -> None:
    token = htcondor.Token("aaa.bbb.ccc")
    token.write("mine")
    path = tmp_path / "tokens/mine"
    assert path.read_text() == "aaa.bbb.ccc\n"
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(htcondor.HTCondorValueError):
        token.write("../mine")
    (tmp_path / "tokens/link").symlink_to("/dev/null")
    with pytest.raises(htcondor.HTCondorIOError):
        token.write("link")


def test_a_token_is_used_until_the_statement_ends() -> None:
    with htcondor.SecMan() as manager:
        manager.setToken(htcondor.Token("aaa.bbb.ccc"))
        assert PROCESS.token == "aaa.bbb.ccc"
        manager.invalidateAllSessions()
        assert PROCESS.token == "aaa.bbb.ccc"
    assert PROCESS.token is None
    with pytest.raises(htcondor.HTCondorInternalError):
        htcondor.SecMan().setPoolPassword("x")
    with pytest.raises(RuntimeError):
        htcondor.SecMan().getCommandString(-1)


def test_the_configuration_is_a_mapping_with_lists() -> None:
    assert htcondor.param["A"] == "b"
    assert "A" in htcondor.param.keys()  # noqa: SIM118 - it is the list that is asked
    assert isinstance(htcondor.param.items(), list)
    htcondor.SecMan().setConfig("A", "c")
    assert htcondor2.param["A"] == "c"
    htcondor.reload_config()
    assert htcondor.param.get("NO_SUCH") is None


def test_answers_can_be_waited_for_by_a_descriptor() -> None:
    ads = [classad.ClassAd({"a": 1}), classad.ClassAd({"a": 2})]
    query = htcondor.QueryIterator(ads, "q")
    assert os.read(query.watch(), 8)
    assert (next(query)["a"], len(query.nextAdsNonBlocking()), query.done()) == (1, 1, True)
    with pytest.raises(StopIteration):
        next(query)
    assert [one.tag() for one in htcondor.poll([query], 10)] == ["q"]


def test_queueing_needs_a_transaction_that_is_under_way() -> None:
    place = classad.ClassAd(
        {"MyAddress": "<127.0.0.1:1>", "CondorVersion": htcondor.version(), "MyType": "Scheduler"}
    )
    schedd = htcondor.Schedd(place)
    assert schedd.location.address == "<127.0.0.1:1>"
    assert htcondor.Schedd(schedd.location).location == schedd.location
    with pytest.raises(htcondor.HTCondorValueError, match="without active transaction"):
        htcondor.Submit({"executable": "/bin/true"}).queue(schedd.transaction())


def test_debugging_and_subsystems_are_those_of_version_2() -> None:
    htcondor.enable_classad_extensions()
    htcondor.set_subsystem("TOOL", htcondor.SubsystemType.Tool)
    htcondor.enable_debug()
    assert PROCESS.log is not None
    htcondor.log(htcondor.LogLevel.Always, "seen")
    PROCESS.write_log_to(None)


@pytest.mark.parametrize(
    ("spec", "why"),
    [("(((", "job_spec is not a valid constraint expression."), (["x"], "Invalid ID")],
)
def test_what_means_no_job_is_refused_in_the_words_of_version_1(spec: object, why: str) -> None:
    place = {"MyAddress": "<127.0.0.1:1>", "CondorVersion": htcondor.version(), "MyType": "S"}
    schedd = htcondor.Schedd(classad.ClassAd(place))
    with pytest.raises(htcondor.HTCondorValueError) as refused:
        schedd.edit(spec, "Foo", "1")
    assert str(refused.value) == why


def test_no_jobs_are_edited_where_none_are_named() -> None:
    # As the wheel has it, nobody is asked then.
    place = {"MyAddress": "<127.0.0.1:1>", "CondorVersion": htcondor.version(), "MyType": "S"}
    assert htcondor2.Schedd(classad2.ClassAd(place)).edit([], "Foo", "1") == 0


def test_a_credd_is_looked_for_when_something_is_asked_of_it() -> None:
    # Ganga makes one before each submission, and uses it only for those who have a token of AFS.
    kerberos = htcondor.CredTypes.Kerberos
    for keeper in (htcondor.Credd(), htcondor.Credd(None)):
        for ask in (keeper.query_password, lambda keeper=keeper: keeper.query_user_cred(kerberos)):
            with pytest.raises(htcondor.HTCondorIOError) as refused:
                ask()
            assert str(refused.value) == "Communication error"
