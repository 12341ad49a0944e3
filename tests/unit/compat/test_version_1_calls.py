"""Calls of version 1, and what the wheel 24.12 makes of them (asked of it one by one)."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from kettle.compat import classad, htcondor
from kettle.compat.htcondor import security, token_request

UNNAMED = """\
060 (007.000.000) 2026-11-23 10:00:00 Something of a later version
\tmore: 1
...
"""


@pytest.mark.parametrize("scope", [{"x": 4}, 4, "x", [1]], ids=str)
def test_what_is_no_ad_is_no_scope(scope: Any) -> None:
    tree = classad.ExprTree("x + 1")
    assert tree.eval(scope) is classad.Value.Undefined
    assert str(tree.simplify(scope)) == "undefined"
    assert tree.eval(classad.ClassAd({"x": 4})) == 5


def test_what_is_not_there_can_be_removed() -> None:
    ad = classad.ClassAd({"a": 1})
    del ad["zz"]
    del ad[""]
    del ad["A"]
    assert dict(ad) == {}


def test_a_text_is_a_value_where_names_are_looked_for() -> None:
    ad = classad.ClassAd({"a": 1})
    assert ad.externalRefs("a + zz") == []
    assert ad.internalRefs("a + zz") == []
    assert ad.externalRefs(classad.ExprTree("a + zz")) == ["zz"]


def test_a_value_without_a_name_is_refused() -> None:
    with pytest.raises(classad.ClassAdValueError):
        classad.ClassAd({"": 1})


def test_enumerations_have_their_names_and_take_any_number() -> None:
    assert list(classad.Parser.names) == ["Auto", "Old", "New"]
    assert classad.Value.values[2] is classad.Value.Undefined
    unnamed = htcondor.JobAction(99)
    assert (unnamed == 99, str(unnamed), int(unnamed)) == (True, "99", 99)
    assert repr(unnamed) == "htcondor.htcondor.JobAction(99)"
    assert htcondor.JobAction.names.keys() == htcondor.JobAction.__members__.keys()
    with pytest.raises(ValueError, match="Hold"):
        htcondor.JobAction("Hold")
    assert dict(htcondor.LockType.names) == {"ReadLock": 0, "WriteLock": 1}
    assert htcondor.ProvisionerState.DeprovisioningComplete == 4


def test_an_event_of_a_later_version_has_a_type(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(UNNAMED)
    (event,) = htcondor.JobEventLog(str(log)).events(0)
    assert repr(event.type) == "htcondor.htcondor.JobEventType(60)"
    assert (event.type == 60, event["MyType"]) == (True, "FutureEvent")


def test_a_wait_for_an_event_loses_none(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(UNNAMED + UNNAMED.replace("007", "008"))
    events = htcondor.read_events(str(log))
    events.wait()
    assert [event["Cluster"] for event in events] == [7, 8]
    assert (events.poll(0), events.use_inotify, events.watch()) == (None, False, -1)


def test_a_log_without_a_name_is_an_error_of_files() -> None:
    with pytest.raises(htcondor.HTCondorIOError):
        htcondor.JobEventLog("")


@pytest.mark.parametrize("name", ["Schedd", "Startd", "Negotiator", "Credd"])
def test_what_is_no_place_is_no_daemon(name: str) -> None:
    with pytest.raises(htcondor.HTCondorValueError):
        getattr(htcondor, name)(1)


def test_a_place_need_not_say_a_version() -> None:
    place = classad.ClassAd({"MyAddress": "<127.0.0.1:5>"})
    assert htcondor.Schedd(place).location.address == "<127.0.0.1:5>"
    assert htcondor.Credd(place).location == (htcondor.DaemonTypes.Credd, "<127.0.0.1:5>", "")


def test_a_description_is_made_of_pairs_and_knows_a_plus() -> None:
    made = htcondor.Submit([("a", "b"), ("+x", '"y"')])
    assert (made["a"], made["+x"], made["MY.x"], "+X" in made) == ("b", '"y"', '"y"', True)
    del made["+x"]
    assert list(made.keys()) == ["a"]


def test_the_tokens_that_a_description_needs() -> None:
    assert htcondor.Submit({}).oauth_services == []
    made = htcondor.Submit(
        {
            "use_oauth_services": "box, gdrive",
            "box_oauth_permissions": "r",
            "Box_OAuth_Permissions_a": "p",
            "box_oauth_options": "o",
            "gdrive_oauth_resource_x": "rr",
        }
    )
    assert [dict(ad) for ad in made.oauth_services] == [
        {"Service": "box", "Scopes": "r", "Options": "o"},
        {"Service": "box", "Handle": "a", "Scopes": "p"},
        {"Service": "gdrive", "Handle": "x", "Audience": "rr"},
    ]


def test_a_level_is_a_number() -> None:
    with pytest.raises(TypeError):
        htcondor.log("x", "x")


def test_one_writer_has_a_file_alone(tmp_path: Path) -> None:
    file = tmp_path / "file"
    order: list[str] = []
    with file.open("w") as one, file.open() as other:

        def read() -> None:
            with htcondor.lock(other, htcondor.LockType.ReadLock):
                order.append("read")

        with htcondor.lock(one, htcondor.LockType.WriteLock):
            reader = threading.Thread(target=read)
            reader.start()
            order.append("written")
        reader.join()
    assert order == ["written", "read"]


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (htcondor.Claim, "claims on demand"),
        (lambda: htcondor.LogReader("x"), "Schedd.query"),
        (htcondor.ScheddNegotiate, "negotiates with the pool's negotiator"),
        (htcondor.ResourceRequestIterator, "negotiates with the pool's negotiator"),
        (lambda: htcondor.SecMan().setGSICredential("x"), "GSI is gone"),
    ],
)
def test_what_is_not_here_says_why(call: Any, why: str) -> None:
    with pytest.raises(htcondor.HTCondorInternalError, match=why):
        call()
    with pytest.raises(RuntimeError):
        htcondor.CredStatus()


def test_a_token_is_asked_for_until_it_is_granted(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []
    answers = iter(["", "", "a.b.c"])

    def start(_connector: Any, _address: Any, **wish: Any) -> tuple[str, str]:
        asked.append(wish)
        return "", "1234567"

    def finish(_connector: Any, _address: Any, **wish: Any) -> str:
        assert wish["request_id"] == "1234567"
        return next(answers)

    monkeypatch.setattr(token_request, "start_token_request", start)
    monkeypatch.setattr(token_request, "finish_token_request", finish)
    monkeypatch.setattr(token_request.time, "sleep", lambda _seconds: None)
    request = htcondor.TokenRequest("a@b", bounding_set=["READ", "WRITE"], lifetime=60)
    for unasked in (request.done, request.result, lambda: request.request_id):
        with pytest.raises(htcondor.HTCondorIOError, match="not been submitted"):
            unasked()
    request.submit(classad.ClassAd({"MyAddress": "<127.0.0.1:5>"}))
    assert request.request_id == "1234567"
    assert asked[0]["user"] == "a@b"
    assert (asked[0]["levels"], asked[0]["lifetime_seconds"]) == ("READ,WRITE", 60)
    assert not request.done()
    token = request.result()
    assert isinstance(token, security.Token)
    assert token.contents == "a.b.c"


def test_what_is_wrong_is_told_by_the_exceptions_of_version_1() -> None:
    nobody = classad.ClassAd({"MyAddress": "<127.0.0.1:1>", "Name": "x", "Machine": "m"})
    schedd, startd = htcondor.Schedd(nobody), htcondor.Startd(nobody)
    with pytest.raises(KeyError):
        htcondor.Submit({}).expand("a")
    with pytest.raises(htcondor.HTCondorTypeError, match="dictionary-like object"):
        htcondor.Submit("a=1").update(1)
    with pytest.raises(htcondor.HTCondorValueError, match="without active transaction"):
        htcondor.Submit({}).queue(None)  # type: ignore[arg-type]
    with pytest.raises(htcondor.HTCondorValueError, match="without active transaction"):
        htcondor.Submit({}).queue_with_itemdata(None)  # type: ignore[arg-type]
    for history in (schedd.history, startd.history, schedd.jobEpochHistory):
        with pytest.raises(classad.ClassAdParseError):
            history("a b", [], 1)
    with pytest.raises(htcondor.HTCondorValueError, match="invalid edit list"):
        schedd.edit_multiple("x")  # type: ignore[arg-type]
    for export in (
        lambda: schedd.export_jobs("true", "/x", "/y"),
        lambda: schedd.unexport_jobs("1"),
    ):
        with pytest.raises(htcondor.HTCondorIOError):
            export()
    with pytest.raises(htcondor.HTCondorTypeError, match="Unable to iterate"):
        htcondor.poll(1)  # type: ignore[arg-type]
    with pytest.raises(htcondor.HTCondorEnumError, match="DaemonCore command"):
        htcondor.SecMan().ping(nobody, "BOGUS")
    with pytest.raises(htcondor.HTCondorIOError):
        htcondor.SecMan().ping(nobody, "write")


def test_arguments_that_mean_nothing_are_refused_at_the_call_as_in_version_1() -> None:
    with pytest.raises(AttributeError, match="__iter__"):
        htcondor.Collector(4)
    assert isinstance(htcondor.Collector({"<127.0.0.1:1>"}), htcondor.Collector)
    for daemon in (htcondor.Collector, htcondor.Schedd):
        with pytest.raises(htcondor.HTCondorValueError, match="tuple is not a daemon location"):
            daemon(("a", "b"))
    with pytest.raises(classad.ClassAdParseError):
        classad.parseAds(4)  # type: ignore[arg-type]
    get_name = htcondor.SecMan().getCommandString
    for number, kind in ((-4, RuntimeError), (77777, RuntimeError), (1 << 31, OverflowError)):
        with pytest.raises(kind) as told:
            get_name(number)
        assert type(told.value) is kind
    with pytest.raises(htcondor.HTCondorEnumError, match="DaemonCore command"):
        htcondor.SecMan().ping(NOBODY, 77777)


NOBODY = classad.ClassAd({"MyAddress": "<127.0.0.1:1>", "Name": "x", "Machine": "m"})


@pytest.mark.parametrize(
    "call",
    [
        lambda: htcondor.Submit({}).queue(4),  # type: ignore[arg-type]
        lambda: htcondor.Submit({}).setSubmitMethod("x"),
        lambda: htcondor.Submit({}).jobs("x"),  # type: ignore[arg-type]
        lambda: htcondor.Submit({}).procs(clusterid="x"),  # type: ignore[arg-type]
        lambda: htcondor.Submit.from_dag(4),  # type: ignore[arg-type]
        lambda: htcondor.Schedd(NOBODY).query("true", [], None, "x"),  # type: ignore[arg-type]
        lambda: htcondor.Schedd(NOBODY).history("true", [], "x"),  # type: ignore[arg-type]
        lambda: htcondor.Schedd(NOBODY).transaction("x"),
        lambda: htcondor.Collector("127.0.0.1:1").locate(4),
        lambda: htcondor.Startd(NOBODY).drainJobs("x"),  # type: ignore[arg-type]
        lambda: htcondor.Startd(NOBODY).drainJobs(reason=4),
        lambda: htcondor.Credd(NOBODY).add_password(4),  # type: ignore[arg-type]
        lambda: htcondor.Credd(NOBODY).add_user_cred("x", b"x"),
        lambda: htcondor.RemoteParam(4),
        lambda: htcondor.SecMan().ping(4),
        lambda: htcondor.SecMan().getCommandString("x"),  # type: ignore[arg-type]
        lambda: htcondor.SecMan().getCommandString(None),  # type: ignore[arg-type]
        lambda: htcondor.Startd(NOBODY).cancelDrainJobs(4),
        lambda: htcondor.Collector(["h", 4]),
        lambda: htcondor.Collector((1, "<127.0.0.1:1>", "")),
        lambda: htcondor.Schedd((htcondor.DaemonTypes.Schedd, 4, "")),
        lambda: classad.parseAds("", 4),  # type: ignore[arg-type]
        lambda: classad.parseOne(b"A = 1"),  # type: ignore[arg-type]
        lambda: htcondor.SecMan().setToken(4),  # type: ignore[arg-type]
        lambda: htcondor.SecMan().setConfig("A", 4),  # type: ignore[arg-type]
        lambda: htcondor.Token(4),  # type: ignore[arg-type]
        lambda: htcondor.TokenRequest("x", [], "x"),  # type: ignore[arg-type]
        lambda: htcondor.log(htcondor.LogLevel.Always, 4),  # type: ignore[arg-type]
        lambda: htcondor.send_command(NOBODY, "x"),
    ],
)
def test_an_argument_of_another_type_is_a_type_error_as_in_version_1(call: Any) -> None:
    with pytest.raises(TypeError):
        call()


def test_the_configuration_of_a_daemon_is_asked_for_when_it_is_wanted() -> None:
    param = htcondor.RemoteParam(NOBODY)
    param.refresh()
    for use in (
        lambda: len(param),
        lambda: param["A"],
        lambda: "A" in param,
        lambda: param.keys(),
        lambda: param.pop("A"),
    ):
        with pytest.raises(htcondor.HTCondorIOError, match="Failed to connect to daemon"):
            use()


@pytest.mark.parametrize(
    ("user", "why"),
    [("alice", "bad arguments"), ("@x", "bad arguments"), ("alice@x", "Communication error")],
)
def test_whose_password_it_is_has_a_domain(user: str, why: str) -> None:
    credd = htcondor.Credd(NOBODY)
    for call in (credd.query_password, credd.delete_password):
        with pytest.raises(htcondor.HTCondorIOError, match=why):
            call(user)
    with pytest.raises(htcondor.HTCondorIOError, match=why):
        credd.add_password("pw", user)


def test_what_a_daemon_would_refuse_is_told_as_version_1_tells_it() -> None:
    schedd, startd = htcondor.Schedd(NOBODY), htcondor.Startd(NOBODY)
    with pytest.raises(htcondor.HTCondorReplyError, match="when performing action"):
        schedd.act(htcondor.JobAction.Hold, ["x"])
    with pytest.raises(htcondor.HTCondorValueError, match="not a valid constraint"):
        schedd.act(htcondor.JobAction.Hold, "a b")
    with pytest.raises(htcondor.HTCondorValueError, match="Invalid check expression"):
        startd.drainJobs(0, 0, "(((")
    with pytest.raises(htcondor.HTCondorReplyError):
        startd.drainJobs(0, 0, None, "(((")
    with pytest.raises(htcondor.HTCondorIOError, match="Unable to connect"):
        htcondor.SecMan().ping("<127.0.0.1:1>")
    with pytest.raises(htcondor.HTCondorInternalError, match="can't open file /nope/file"):
        list(htcondor.Submit("executable = /bin/true\nqueue x from /nope/file").itemdata())


@pytest.mark.parametrize("name", ["a/b", "/tmp/a", ".."])
def test_a_token_that_cannot_be_written_is_an_error(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_CONDOR_SEC_TOKEN_DIRECTORY", str(tmp_path))
    htcondor.reload_config()
    with pytest.raises(htcondor.HTCondorException):
        htcondor.Token("x").write(name)
    htcondor.Token("x").write("")
    monkeypatch.undo()
    htcondor.reload_config()
    assert [path.name for path in tmp_path.iterdir()] == ["python_generated_tokens"]
