"""`kettle.compat.htcondor2` without a pool: descriptions, logs, the configuration, refusals."""

from __future__ import annotations

import enum
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.classad import ClassAd as Ad
from kettle.client.daemon import Ping
from kettle.compat import classad2, htcondor, htcondor2
from kettle.compat.htcondor2 import negotiator, security
from kettle.compat.htcondor2.job_specs import JobSpec
from kettle.compat.htcondor2.process import PROCESS
from kettle.compat.htcondor2.schedd import job_spec_hack
from kettle.compat.htcondor2.submitting import read

ROOT = Path(__file__).parents[3]
NOBODY = classad2.ClassAd(
    {"MyAddress": "<127.0.0.1:1>", "CondorVersion": htcondor2.version(), "MyType": "Scheduler"}
)
LOG = """\
000 (007.000.000) 2026-11-23 10:00:00 Job submitted from host: <127.0.0.1:9618>
...
001 (007.000.000) 2026-11-23 10:00:01 Job executing on host: <127.0.0.1:9619>
...
"""


@pytest.fixture(autouse=True)
def configuration(tmp_path: Path) -> Iterator[Path]:
    file = tmp_path / "condor_config"
    file.write_text("LOCAL_DIR = /nowhere/at/all\nFULL_HOSTNAME = here\nA = $(B) c\nB = b\n")
    PROCESS.reload(str(file), {"HOME": str(tmp_path)})
    yield file
    PROCESS.write_log_to(None)
    PROCESS.reload("/dev/null", {})


# -- Descriptions ---------------------------------------------------------------------------


def test_a_description_is_a_mapping_that_prints_itself() -> None:
    text = 'executable = /bin/a\n+Colour = "red"\nqueue 2 x in (\na\nb\n)\n'
    description = htcondor2.Submit(text, arguments="$(x) $(Nothing)")
    assert dict(description) == {
        "executable": "/bin/a",
        "MY.Colour": '"red"',
        "arguments": "$(x) $(Nothing)",
    }
    assert description["EXECUTABLE"] == "/bin/a"
    description["EXECUTABLE"] = "/bin/b"
    assert str(description).splitlines()[0] == "executable = /bin/b"
    assert description.getQArgs() == "2 x in ("
    assert list(description.itemdata() or ()) == [{"x": "a"}, {"x": "b"}]
    with pytest.raises(NotImplementedError):
        del description["arguments"]


@pytest.mark.parametrize(
    ("args", "items"),
    [
        ("queue 2", None),
        ("a,b from (\n1,2\n3\n)", [{"a": "1", "b": "2"}, {"a": "3", "b": ""}]),
        ("in x y", [{"Item": "x"}, {"Item": "y"}]),
        ("x from ( \\\na\nb\n)", [{"x": "a"}, {"x": "b"}]),
        ("x \\\n  from \\\n(\na\n)", [{"x": "a"}]),
        ("queue in (a \\\n b)", [{"Item": "a"}, {"Item": "b"}]),
        ("from TABLE ( \\\nh,i\n1,\\\n2\n)", [{"h": "1", "i": "2"}]),
        ("2 \\\n", None),
    ],
)
def test_other_queue_arguments_give_other_items(
    args: str, items: list[dict[str, str]] | None
) -> None:
    found = htcondor2.Submit("executable = /bin/a\nqueue\n").itemdata(args)
    assert (None if found is None else list(found)) == items


def test_items_are_those_of_the_slice() -> None:
    found = htcondor2.Submit("executable = /bin/a\nqueue x from [1:] (\na\nb\n)\n").itemdata()
    assert list(found or ()) == [{"x": "b"}]


def test_what_is_no_description_is_refused() -> None:
    with pytest.raises(ValueError, match="neither an assignment nor a statement"):
        htcondor2.Submit("foo bar\n")
    with pytest.raises(ValueError, match="can't open file /none: No such file"):
        htcondor2.Submit("queue x from /none\n").itemdata()
    with pytest.raises(TypeError):
        htcondor2.Submit({"a": [1]})
    with pytest.raises(ValueError, match="queue statement"):
        htcondor2.Submit({"queue": "1"})


def test_jobs_and_procs_show_what_would_be_submitted() -> None:
    text = "executable = /bin/sh\ntransfer_executable = false\narguments = $(x)\nqueue x in a b\n"
    description = htcondor2.Submit(text)
    jobs = list(description.jobs(clusterid=9, procid=5, owner="me"))
    assert [(ad["ClusterId"], ad["ProcId"], ad["Owner"]) for ad in jobs] == [
        (9, 5, "me"),
        (9, 6, "me"),
    ]
    assert [ad["Args"] for ad in jobs] == ["a", "b"]
    assert jobs[0]["JobSubmitMethod"] == 2
    first, second = description.procs(count=1)
    assert "Cmd" in first
    assert "Cmd" not in second
    assert [ad["ProcId"] for ad in description.jobs(count=3)] == list(range(6))


SH = {"executable": "/bin/sh", "transfer_executable": "false"}


def _only(description: htcondor2.Submit) -> classad2.ClassAd:
    (ad,) = description.jobs()
    return ad


@pytest.mark.parametrize(
    "value", ["back\\", "one\n@end\npriority = 99", "one\npriority = 99", "a\n# b\n@end\\"]
)
@pytest.mark.parametrize("way", ["dictionary", "name", "item"])
def test_a_value_is_never_another_command(value: str, way: str) -> None:
    commands = {**SH, "+Text": "1", "x": value, "priority": "7", "batch_name": "$(x)"}
    if way == "dictionary":
        description = htcondor2.Submit(commands)
    elif way == "name":
        description = htcondor2.Submit(SH, **{key: commands[key] for key in list(commands)[2:]})
    else:
        description = htcondor2.Submit(SH)
        for key in list(commands)[2:]:
            description[key] = commands[key]
    ad = _only(description)
    assert (ad["JobPrio"], ad["JobBatchName"], ad["Text"]) == (7, value, 1)
    # What it prints is read as the same commands, too.
    assert htcondor2.Submit(str(description))["priority"] == "7"
    assert description["x"] == value


def test_continued_lines_of_a_value_are_joined() -> None:
    for description in (htcondor2.Submit({**SH, "batch_name": "a \\\n  b"}), htcondor2.Submit(SH)):
        description["batch_name"] = "a \\\n  b"
        assert _only(description)["JobBatchName"] == "a b"


@pytest.mark.parametrize("name", ["queue", "IF", "a b", "a\nb", "x = 1\ny", "#", "+a-b", ""])
def test_the_name_of_no_command_is_refused(name: str) -> None:
    description = htcondor2.Submit(SH)
    description[name] = "1"
    with pytest.raises(ValueError, match="name of no command"):
        list(description.jobs())


def test_what_no_value_can_say_is_refused() -> None:
    for key, value in (("x", "a\0b"), ("x\0y", "a")):
        with pytest.raises(ValueError, match="NUL"):
            htcondor2.Submit({key: value})
        with pytest.raises(ValueError, match="NUL"):
            htcondor2.Submit()[key] = value
    with pytest.raises(ValueError, match="one line"):
        htcondor2.Submit({"x = 1\ny": "1"})


def test_an_item_may_be_any_line() -> None:
    items = ["a", "#b", ")", "(", "c\\", "queue", "in x", "$(item)"[:-1]]
    description = htcondor2.Submit({**SH, "batch_name": "$(item)"})
    found = description.jobs(itemdata=iter(items))
    assert [ad["JobBatchName"] for ad in found] == items
    rows = [{"y": "#1", "x": ") 2"}, {"y": "", "x": "b,c\\"}]
    description["batch_name"] = "$(x)-$(y)"
    found = description.jobs(2, itemdata=iter(rows))
    assert [ad["JobBatchName"] for ad in found] == [") 2-#1"] * 2 + ["b,c\\-"] * 2


@pytest.mark.parametrize(
    "item",
    [
        *("a\nb", "a\0b", {"x": "\0"}, {"x y": "1"}, {"x from /etc/passwd": "1"}, {"in": "1"}),
        *({"a": "\x1f", "b": ""}, {"": "1"}),
    ],
)
def test_what_no_item_can_say_is_refused(item: str | dict[str, str]) -> None:
    with pytest.raises(ValueError, match="itemdata"):
        list(htcondor2.Submit(SH).jobs(itemdata=iter([item])))


def test_jobs_made_later_have_no_value_that_is_another_command() -> None:
    from kettle.compat.htcondor2 import submitting
    from kettle.errors import SubmitError

    for value in ("$(Process)\\", "$(Process)\n@end\npriority = 99"):
        description = htcondor2.Submit({**SH, "max_materialize": "1", "batch_name": value})
        submission = submitting.read(description, 1, spooled=False)
        with pytest.raises(SubmitError, match="cannot have batch_name with"):
            submission.first_of_later()


def test_a_reserved_method_must_be_insisted_on() -> None:
    description = htcondor2.Submit()
    with pytest.raises(ValueError, match="100 or greater"):
        description.setSubmitMethod(3)
    description.setSubmitMethod(3, allow_reserved_values=True)
    assert description.getSubmitMethod() == htcondor2.SubmitMethod.HTCondorJobSubmit


def test_a_dag_becomes_the_description_of_its_dagman(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dag, program = tmp_path / "x.dag", tmp_path / "condor_dagman"
    dag.write_text("JOB A a.sub\n")
    options: dict[str, int | bool | str] = {"dagman": str(program), "maxidle": 5, "batch-name": "n"}
    description = htcondor2.Submit.from_dag(str(dag), options)
    assert description["universe"] == "scheduler"
    assert description["executable"] == str(program)
    assert "-MaxIdle 5" in description["arguments"]
    assert description["MY.JobBatchName"] == '"n"'
    with pytest.raises(htcondor2.HTCondorException, match="there already"):
        htcondor2.Submit.from_dag(str(dag), options)
    with pytest.raises(TypeError, match="needs to be a integer"):
        htcondor2.Submit.from_dag(str(dag), {**options, "maxidle": "many"})
    with pytest.raises(KeyError):
        htcondor2.Submit.from_dag(str(dag), {"nonsense": 1})
    htcondor2.Submit.from_dag_options()
    assert "MaxIdle : (integer)" in capsys.readouterr().out


def test_the_example_in_the_manual_prints_what_is_under_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = (ROOT / "docs/reference/python-htcondor.md").read_text(encoding="utf-8")
    code, printed = re.findall(r"```(?:python|text)\n(.*?)```", page, re.DOTALL)
    exec(compile(code, "python-htcondor.md", "exec"), {})
    assert capsys.readouterr().out == printed


def test_a_program_need_not_be_there_and_is_not_looked_at(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "dos").write_bytes(b"#!/bin/sh\r\n")
    for name in ("nowhere", "empty", "dos"):
        path = tmp_path / name
        submission = read(htcondor2.Submit({"executable": str(path)}), 1, spooled=False)
        assert len(list(submission.jobs())) == 1
        assert submission.cluster_ad()["Cmd"] == str(path)


# -- Event logs -----------------------------------------------------------------------------


def test_a_log_is_read_while_it_grows_and_goes_on_when_pickled(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(LOG)
    log = htcondor2.JobEventLog(str(path))
    assert next(log.events(0)).type is htcondor2.JobEventType.SUBMIT
    copy = pickle.loads(pickle.dumps(log))
    for one in (log, copy):
        event = next(one.events(0))
        assert (event.type, event.cluster, event.proc) == (htcondor2.JobEventType.EXECUTE, 7, 0)
        assert event["ExecuteHost"] == "<127.0.0.1:9619>"
        assert str(event).startswith("001 (007.000.000) 2026-11-23 10:00:01 Job executing")
        assert list(one.events(0)) == []
    with path.open("a") as file:
        file.write("008 (007.000.000) 2026-11-23 10:00:02 a remark\n...\n")
    assert [event.type.name for event in log.events(0)] == ["GENERIC"]
    with log as same:
        assert same is log
    with pytest.raises(htcondor2.HTCondorException, match="No such file or directory"):
        htcondor2.JobEventLog(str(tmp_path / "none"))


def test_a_damaged_event_is_told_of_and_the_log_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("005 (007.000.000) 2026-11-23 10:00:02 Job terminated.\n\t(1) Nor\n...\n" + LOG)
    events = htcondor2.JobEventLog(str(path)).events(0)
    said = f"ULOG_RD_ERROR: {path}: event 005 of job 7.0.0 at 2026-11-23 10:00:02 is damaged: "
    with pytest.raises(htcondor2.HTCondorException, match=re.escape(said)):
        next(events)
    assert next(events).type is htcondor2.JobEventType.SUBMIT


# -- The configuration ----------------------------------------------------------------------


def test_param_has_the_types_of_the_wheel() -> None:
    param = htcondor2.param
    assert param["A"] == "b c"
    assert param["NEGOTIATOR_CONSIDER_PREEMPTION"] is True
    assert param["PRIORITY_HALFLIFE"] == 86400.0
    assert isinstance(param["PRIORITY_HALFLIFE"], float)
    assert param["MAX_SCHEDD_LOG"] == "10 Mb"
    assert "NO_SUCH_KNOB" not in param
    param["NUM_CPUS"] = "2 * 3"
    assert param["num_cpus"] == 6
    del param["NUM_CPUS"]
    assert "NUM_CPUS" not in param
    assert {"A", "B", "SPOOL"} <= set(param)
    htcondor2.reload_config()


def test_a_number_that_is_none_raises_and_does_not_end_the_program() -> None:
    htcondor2.param["NUM_CPUS"] = "many"
    with pytest.raises(htcondor2.HTCondorException, match="NUM_CPUS = many is no number"):
        htcondor2.param["NUM_CPUS"]
    htcondor2.param["NEGOTIATOR_CONSIDER_PREEMPTION"] = "perhaps"
    assert htcondor2.param["NEGOTIATOR_CONSIDER_PREEMPTION"] is True


def test_a_subsystem_has_its_own_configuration(configuration: Path) -> None:
    with configuration.open("a") as file:
        file.write("SCHEDD.B = s\n")
    htcondor2.set_subsystem("SCHEDD", htcondor2.SubsystemType.Schedd)
    PROCESS.reload(str(configuration), {})
    assert htcondor2.param["A"] == "s c"
    htcondor2.set_subsystem("TOOL")


def test_debugging_can_be_turned_on_and_off(
    configuration: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    level = htcondor2.LogLevel
    htcondor2.log(level.Always, "unheard")
    htcondor2.enable_debug("D_SECURITY")
    htcondor2.log(level.Always, "heard")
    htcondor2.log(level.Security, "also heard")
    htcondor2.log(level.Network, "not asked for")
    htcondor2.disable_debug()
    htcondor2.log(level.Always, "unheard again")
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(" ", 2)[2] for line in lines] == ["heard", "also heard"]
    htcondor2.param["TOOL_LOG"] = str(configuration.parent / "ToolLog")
    htcondor2.enable_log()
    htcondor2.log(level.Always, "kept")
    assert (configuration.parent / "ToolLog").read_text().rstrip().endswith(" kept")


def test_user_maps_of_the_configuration_are_loaded_when_asked_for() -> None:
    htcondor2.param["TOOL_CLASSAD_USER_MAP_NAMES"] = "trust"
    htcondor2.param["CLASSAD_USER_MAPDATA_trust"] = "* bob User\n* /.*/ Nobody"
    asked = classad2.ExprTree('userMap("Trust", "bob") + userMap("Trust", "eve")')
    assert asked.eval() is classad2.Value.Undefined
    htcondor2.reload_config_usermaps()
    assert classad2.ExprTree('userMap("Trust", "eve")').eval() == "Nobody"
    htcondor2.param["TOOL_CLASSAD_USER_MAP_NAMES"] = ""
    htcondor2.reload_config_usermaps()
    assert classad2.ExprTree('userMap("Trust", "bob")').eval() is classad2.Value.Undefined


def test_user_maps_are_for_expressions(tmp_path: Path) -> None:
    file = tmp_path / "map"
    file.write_text("* alice chemists\n")
    htcondor2.load_a_config_usermap_file("groups", str(file))
    assert classad2.ExprTree('userMap("groups", "alice")').eval() == "chemists"
    with pytest.raises(htcondor2.HTCondorException, match="Failed to load userMap file"):
        htcondor2.load_a_config_usermap_file("groups", str(tmp_path / "none"))


# -- Daemons that are not there -------------------------------------------------------------

SCHEDD = htcondor2.Schedd(NOBODY)
STARTD = htcondor2.Startd(NOBODY)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (SCHEDD.query, "Failed to fetch ads from schedd, errmsg=CEDAR:6001:Failed to connect to"),
        (lambda: SCHEDD.query("a b"), "Failed to fetch ads from schedd, errmsg="),
        (SCHEDD.history, "Failed to connect to <127.0.0.1:1>"),
        (lambda: SCHEDD.edit("1.0", "A", "1"), "Failed to connect to schedd."),
        (
            lambda: SCHEDD.act(htcondor2.JobAction.Hold, "1.0"),
            "Error when performing action on the schedd.",
        ),
        (lambda: SCHEDD.unexport_jobs("1.0"), "DCSchedd::unexportJobs:6001:Failed to connect"),
        (SCHEDD.get_claims, "Cannot query schedd"),
        (SCHEDD.queryUserAds, "Failed to fetch ads from schedd"),
        (lambda: htcondor2.Collector("127.0.0.1:1").query(), "Failed communication with collector"),
        (lambda: htcondor2.ping(NOBODY), "Unable to connect to the remote daemon."),
        (lambda: htcondor2.ping(NOBODY, "NONSENSE"), "Unable to determine DaemonCore command"),
        (lambda: htcondor2.RemoteParam(NOBODY), "Failed to connect to daemon."),
        (STARTD.drainJobs, "Startd failed to start draining jobs."),
        (STARTD.vacate, "Startd failed send to vacate all claims command."),
        (htcondor2.Negotiator(NOBODY).resetAllUsage, "Unable to connect to the negotiator"),
        (htcondor2.Credd(NOBODY).query_password, "Communication error"),
        (htcondor2.Placementd(NOBODY).queryUsers, "Failed to contact PlacementD"),
    ],
)
def test_a_daemon_that_is_not_there_is_told_of_in_the_wheels_words(call: object, said: str) -> None:
    assert callable(call)
    with pytest.raises(htcondor2.HTCondorException) as raised:
        call()
    assert str(raised.value).startswith(said)


def test_a_collector_stays_the_one_of_the_configuration_in_which_it_was_made(
    configuration: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def query_ads(connector: object, address: object, *query: object) -> list[Ad]:
        asked.append(str(address))
        return []

    monkeypatch.setattr("kettle.compat.htcondor2.collector.query_ads", query_ads)
    address_file = tmp_path / "address"
    with configuration.open("a") as file:
        file.write(f"COLLECTOR_HOST = here:0\nCOLLECTOR_ADDRESS_FILE = {address_file}\n")
    PROCESS.reload(str(configuration), {})
    collector = htcondor2.Collector()
    PROCESS.reload("/dev/null", {"_CONDOR_COLLECTOR_HOST": "127.0.0.1:2"})
    for port in (3, 4):
        address_file.write_text(f"<127.0.0.1:{port}>\n")
        collector.query()
    location = collector.locate(htcondor2.DaemonType.Collector)
    assert location is not None
    assert location["MyAddress"] == "<127.0.0.1:4>"
    htcondor2.Collector().query()
    assert asked == ["<127.0.0.1:3>", "<127.0.0.1:4>", "<127.0.0.1:2>"]


def test_a_token_is_told_of_by_the_name_that_configurations_have() -> None:
    found = Ping(True, "joe@pool", "TOKEN", True, True, "id", "", Ad())
    assert security._policy_of(found, 60011)["AuthMethods"] == "IDTOKENS"


def test_what_chooses_jobs_calls_the_function_for_them() -> None:
    def call(spec: JobSpec) -> object:
        def ids(*given: object) -> object:
            return "ids", *given

        def constraint(*given: object) -> object:
            return "constraint", *given

        return job_spec_hack("<1>", spec, ids, constraint, ["more"])

    assert call("6.5") == ("ids", "<1>", "6.5", "more")
    assert call(["1.0", "2.1"]) == ("ids", "<1>", "1.0, 2.1", "more")
    assert call(7) == ("constraint", "<1>", "ClusterId == 7", "more")
    assert call(classad2.ExprTree("a != 3")) == ("constraint", "<1>", "a != 3", "more")
    with pytest.raises(TypeError):
        call(3.1)  # type: ignore[arg-type]


def test_what_is_no_job_no_action_and_no_number_is_refused() -> None:
    hold = htcondor2.JobAction.Hold
    with pytest.raises(TypeError):
        SCHEDD.act(1, "1.0")  # type: ignore[arg-type]
    for wrong in ("a b", ["a"]):
        with pytest.raises(ValueError):
            SCHEDD.act(hold, wrong)
    for other in (1.5, [1]):
        with pytest.raises(TypeError):
            SCHEDD.act(hold, other)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="invalid constraint"):
        SCHEDD.history("a b")
    with pytest.raises(ValueError):
        htcondor2.Negotiator(NOBODY).setFactor("a@b", 0.5)


def test_the_tenth_user_is_not_mixed_with_others() -> None:
    answer = Ad({f"Name{n}": f"user{n}" for n in range(1, 13)})
    answer["NumSubmittors"] = 12
    found = negotiator._split(answer)
    assert type(found) is list
    names = [ad["Name"] for ad in found]
    assert names == [f"user{n}" for n in range(1, 13)]


def test_credentials_are_there_where_nothing_has_to_be_fetched() -> None:
    assert htcondor2.CredCheck("a", None).present
    fetched = htcondor2.CredCheck("a", "https://somewhere/key")
    assert (bool(fetched), fetched.url, fetched.error) == (False, "https://somewhere/key", None)
    assert str(htcondor2.CredCheck("a", "no such service")) == "no such service"


def test_what_the_wheel_forgot_to_import_works() -> None:
    request = classad2.ClassAd({"Service": "box"})
    with pytest.raises(htcondor2.HTCondorException, match="startCommand failed"):
        htcondor2.Credd(NOBODY).check_user_service_creds(htcondor2.CredType.OAuth, [request])
    with pytest.raises(ValueError, match="no 'Service' attribute"):
        htcondor2.Credd(NOBODY).check_user_service_creds(
            htcondor2.CredType.OAuth, [classad2.ClassAd()]
        )


def test_a_log_that_is_closed_has_no_more_events(tmp_path: Path) -> None:
    """Also none of those that were read ahead."""
    file = tmp_path / "job.log"
    file.write_text(LOG)
    log = htcondor2.JobEventLog(str(file))
    assert next(log.events(0)).type == htcondor2.JobEventType.SUBMIT
    log.close()
    assert list(log.events(0)) == []


def test_a_number_or_boolean_that_is_set_to_nothing_is_its_default() -> None:
    param = htcondor2.param
    for name in ("UPDATE_INTERVAL", "USE_SHARED_PORT", "MAIL"):
        param[name] = ""
    assert (param["UPDATE_INTERVAL"], param["USE_SHARED_PORT"]) == (300, True)
    assert "UPDATE_INTERVAL" in param
    assert param.get("MAIL", "none") == "none"


def test_in_version_1_a_name_that_is_set_to_nothing_is_the_empty_text() -> None:
    param = htcondor.param
    for name in ("UPDATE_INTERVAL", "MAIL"):
        param[name] = ""
    assert (param["UPDATE_INTERVAL"], param["MAIL"], param.get("MAIL", "none")) == (300, "", "")
    assert "MAIL" not in param
    assert "MAIL" in list(param)
    with pytest.raises(KeyError):
        param["NO_SUCH_NAME"]


def test_of_a_text_of_another_class_its_letters_count() -> None:
    class Word(str, enum.Enum):  # noqa: UP042 - a StrEnum shows its letters
        A = "x"

    made = htcondor2.Submit({Word.A: Word.A})
    assert dict(made) == {"x": "x"}
    made = htcondor2.Submit()
    made[Word.A] = Word.A
    assert dict(made) == {"x": "x"}
    assert dict(htcondor.Submit({Word.A: Word.A})) == {"x": "x"}
