"""What a digest says, and what a schedd makes of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kettle.config import Config
from kettle.errors import SubmitError
from kettle.schedd.queue.factory import DigestSources
from kettle.submit.build import SubmitOptions
from kettle.submit.digest import encode_items, render_digest
from kettle.submit.materialize import later_jobs
from unit.submit.submitting import FACTS, MACHINE, submission, values

FILES = dict.fromkeys(
    ("a", "b", "A.class", "B.class", "A.jar", "a.sif", "dir/x", "other/x", "a0", "a1", "/bin/sh"),
    "x",
)


def digest_of(text: str) -> list[str]:
    made = submission(f"executable = job.sh\nmax_idle = 2\n{text}", FILES)
    return render_digest(made, made.first_of_later(), "items").splitlines()


def lines_of(text: str) -> list[str]:
    """What a digest of two jobs has beside what each has."""
    lines = digest_of(f"{text}queue 2\n")
    assert lines[-3:] == ["Item=", "", "Queue 2 "]
    return [line for line in lines[:-3] if not line.startswith("FACTORY.")]


def late(
    text: str, name: str, tell: Callable[[str], object] | None = None, skip: int = 0
) -> list[str | None]:
    """One attribute of every job that a schedd makes."""
    made = submission(f"executable = job.sh\nmax_idle = 2\n{text}", FILES)
    statement = made.first_of_later()
    digest = render_digest(made, statement, "items")
    items = [item.decode().removesuffix("\n") for item in encode_items(statement)]
    config = Config.from_text("", facts=MACHINE)
    sources = DigestSources("items", items)
    cluster = made.cluster_ad()
    jobs = later_jobs(digest, cluster, sources, config, FACTS, skip=skip, tell=tell)
    return [job.differences.get(name) or cluster.text(name) for job in jobs]


def test_a_digest_mentions_what_counts_the_jobs_whoever_has_set_it() -> None:
    lines = "process = $(Process)\nrow = 4\ntaskid = 5\nfoo = $(process).$(Row)\n"
    text = f"{lines}+A = $(foo) + $(TaskId) + $(ItemIndex)\nqueue 3\n"
    assert digest_of(text) == [
        "FACTORY.Requirements=MY.Requirements",
        "FACTORY.Iwd=/work",
        "foo=$(process).$(Row)",
        "MY.A=$(foo) + $(TaskId) + $(ItemIndex)",
        "process=0",
        "row=4",
        "taskid=5",
        "Item=",
        "",
        "Queue 3 ",
    ]
    assert late(text, "A") == ["0.4 + 5 + 0", "1.4 + 5 + 0", "2.4 + 5 + 0"]


@pytest.mark.parametrize("line", ["process = $(Process)", "Process = 7", "process ="])
def test_a_job_that_is_made_later_has_its_own_number_whatever_is_said(line: str) -> None:
    text = f"{line}\nprocid = 9\n+A = $INT(Process) + $(ProcId)\nqueue 3\n"
    assert late(text, "A") == ["0 + 9", "1 + 9", "2 + 9"]


def test_late_jobs_have_requirements_of_their_own() -> None:
    found = late("requirements = Memory > $(Process)\nqueue 3\n", "Requirements")
    assert [text and text.partition(" && ")[0] for text in found] == [
        "(Memory > 0)",
        "(Memory > 1)",
        "(Memory > 2)",
    ]


def test_a_queue_variable_may_be_called_process() -> None:
    assert late("+A = $(Process)\nqueue process in (5, 6)\n", "A") == ["5", "6"]


def test_an_item_that_is_set_and_has_no_items_is_nothing() -> None:
    assert "item=" in digest_of("item = 8\n+A = 1$(item)$(Process)\nqueue 3\n")
    assert late("item = 8\n+A = 1$(item)$(Process)\nqueue 3\n", "A") == ["10", "11", "12"]


def test_no_item_decides_how_many_jobs_may_be_there() -> None:
    made = submission("executable = job.sh\nmax_materialize = 2$(item)\nqueue item in (x, 3)\n")
    made.first_of_later()
    assert made.materialize_limit() == 2
    assert [str(each).partition("\n")[0] for each in made.unused] == [
        "WARNING: the Queue variable 'item' was unused by condor_submit. Is it a typo?"
    ]


@pytest.mark.parametrize("command", ["max_materialize", "max_idle"])
def test_an_item_alone_asks_for_no_later_jobs(command: str) -> None:
    made = submission(f"executable = job.sh\n{command} = $(item)\nqueue item in (x, 3)\n")
    assert not made.wants_factory()
    assert len(list(made.jobs())) == 2
    assert not made.is_factory


@pytest.mark.parametrize("command", ["max_materialize", "max_idle"])
@pytest.mark.parametrize("value", ["abc", "99999999999"])
def test_how_many_jobs_may_be_there_is_a_number(command: str, value: str) -> None:
    made = submission(f"executable = job.sh\n{command} = {value}\nqueue item in (x, 3)\n")
    with pytest.raises(SubmitError, match=f"{command}={value} is invalid, must eval") as refused:
        made.first_of_later()
    assert f"job.sub, line 2: {command} = {value}" in str(refused.value.hint)


def test_each_job_may_say_otherwise_how_many_may_be_idle() -> None:
    text = "max_materialize = 3\nmax_idle = $(item)\nqueue item in (2, x)\n"
    assert values(f"max_idle = 5$(item)\n{text}", "JobMaterializeMaxIdle")[0] == "2"
    assert late(text, "JobMaterializeMaxIdle") == ["2", "x"]


def test_what_a_digest_has_put_in_its_place_is_no_typing_error() -> None:
    made = submission("executable = job.sh\nmax_idle = 1\nfoo = $(bar)\nbar = 3\nqueue 2\n")
    made.first_of_later()
    assert [each.command for each in made.unused] == ["foo"]


def test_what_a_function_cannot_do_for_a_late_job_is_told_when_the_job_is_made() -> None:
    text = "+A = $INT(item)\nqueue item in (bad, 2, worse, bad)\n"
    said = "$INT() macro: {} does not evaluate to an integer!"
    told: list[str] = []
    assert late(text, "A", told.append) == ["undefined", "2", "undefined", "undefined"]
    assert told == ["Job 1.0: " + said.format("bad"), "Job 1.2: " + said.format("worse")]
    told.clear()
    assert late(text, "A", told.append, skip=1) == ["2", "undefined", "undefined"]
    assert told == ["Job 1.2: " + said.format("worse"), "Job 1.3: " + said.format("bad")]
    assert len(late(text.replace("worse", "x" * 10_000), "A", told.append)) == 4
    assert max(map(len, told)) < 600


@pytest.mark.parametrize("command", ["deferral", "cron"])
def test_a_late_job_has_the_deferral_window_of_its_cluster(command: str) -> None:
    text = f"deferral_time = 5$(Process)\n{command}_window = 9\n{command}_prep_time = 8\nqueue 2\n"
    assert late(text, "DeferralTime") == ["50", "51"]
    assert late(text, "DeferralWindow") == ["9", "9"]
    assert late(text, "DeferralPrepTime") == ["8", "8"]
    each = text.replace("= 9", "= $CHOICE(Process,9,)")
    assert late(each, "DeferralWindow") == ["9", "0"]


JAVA = "universe = java\nexecutable = A.class\narguments = A\n"


@pytest.mark.parametrize(
    ("lines", "name", "jobs"),
    [
        (
            "transfer_input_files = a$(Process)\n",
            "TransferInput",
            ["a0,/work/A.class", "a1,/work/A.class"],
        ),
        (
            "transfer_input_files = $CHOICE(Process,a,)\njar_files = A.jar\n",
            "TransferInput",
            ["a,/work/A.class,A.jar"] * 2,
        ),
        (
            "transfer_input_files = a\nexecutable = $CHOICE(Process,A.class,B.class)\n",
            "TransferInput",
            ["a,/work/A.class", "a,/work/B.class"],
        ),
        ("executable = $CHOICE(Process,A.class,B.class)\n", "Cmd", ["java", "java"]),
    ],
)
def test_a_late_java_job_has_its_class_beside_its_input(
    lines: str, name: str, jobs: list[str]
) -> None:
    text = f"{JAVA}{lines}queue 2\n"
    assert late(text, name) == [f'"{one}"' for one in jobs] == values(text, name, files=FILES)


def test_a_late_java_job_of_another_s_digest_has_no_program_called_java() -> None:
    made = submission(f"{JAVA}transfer_input_files = a\nqueue\n", FILES)
    list(made.jobs())
    digest = "transfer_input_files=a$(Process)\nuniverse=java\nQueue 2 \n"
    config = Config.from_text("", facts=MACHINE)
    jobs = later_jobs(digest, made.cluster_ad(), DigestSources("", []), config, FACTS)
    assert [dict(job.differences) for job in jobs] == [
        {"TransferInput": '"a0"'},
        {"TransferInput": '"a1"'},
    ]


def test_a_late_job_s_folder_is_seen_from_the_submission_s() -> None:
    assert lines_of("initialdir = dir\n") == ["initialdir=/work/dir"]
    assert lines_of("iwd = $CHOICE(Process,dir,b)\n") == ["iwd=$CHOICE(Process,dir,b)"]
    text = "executable = $CHOICE(Process,a,b)\ninitialdir = $CHOICE(Process,dir,{})\nqueue 2\n"
    for folder in ("b", "/work/b"):
        lines = text.format(folder)
        assert late(lines, "Iwd") == ['"/work/dir"', '"/work/b"']
        assert late(lines, "Cmd") == ['"/work/a"', '"/work/b"']


def test_what_is_a_dollar_in_a_digest_is_one_in_its_jobs() -> None:
    text = 'x = $(DOLLAR)(Step)\n+A = "$(Process) $(DOLLAR)(Process) $(x)"\n'
    assert lines_of(text) == [
        'MY.A="$(Process) $(DOLLAR)(Process) $(DOLLAR)(Step)"',
        "x=$(DOLLAR)(Step)",
    ]
    assert late(f"{text}queue\n", "A") == ['"0 $(Process) $(Step)"']


def test_several_lines_are_one_value_in_a_digest() -> None:
    text = "MY.A @=x\n$(Process)\n+ 1\n@x\n"
    assert lines_of(text) == ["MY.A @=end", "$(Process)", "+ 1", "@end"]
    assert late(f"{text}queue 2\n", "A") == ["0 + 1", "1 + 1"]


def test_what_a_cluster_decides_stands_in_no_digest() -> None:
    body = "transform_body_a @=x\nSET B $(Process)\nSET C 2\n@x\non_evict_checks = a\n"
    assert lines_of(f"getenv = LANG$(Process)\n{body}") == []
    assert lines_of("requirements = Memory > $(Process)\n") == ["requirements=Memory > $(Process)"]


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        ("container_image = a.sif\n", "Universe=container"),
        ("docker_image = busybox\n", "Universe=container"),
        ("universe = vanilla\ncontainer_image = a.sif\n", "universe=container"),
        ("universe = 5\ndocker_image = busybox\n", "universe=container"),
        ("universe = Docker\ndocker_image = busybox\n", "universe=docker"),
        ("universe = local\n", "universe=local"),
    ],
)
def test_a_digest_says_that_jobs_run_in_a_container(lines: str, kind: str) -> None:
    assert digest_of(f"{lines}queue\n")[0 if kind[0] == "U" else 2] == kind
    text = f"{lines}arguments = $(Process)\nqueue 2\n"
    assert late(text, "WantContainer") == values(text, "WantContainer", files=FILES)
    assert late(text, "DockerImage") == values(text, "DockerImage", files=FILES)


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        ('+Iwd = "/x"\ninitialdir = $CHOICE(Process,dir,other)\n+MyType = "X"\n', "Iwd MyType"),
        ('+Iwd = "/x"\n+MyType = "X"\n+JobUniverse = 7\n', "Iwd MyType JobUniverse"),
        ("+RequestMemory = 8\nrequest_memory = 1$(Process)\n", "RequestMemory"),
        ("+JobStatus = 5\narguments = $(Process)\n", "JobStatus"),
        (
            'env = B=1\nenvironment = "A=$(Process)"\nallow_environment_v1 = true\n',
            "Env Environment",
        ),
        ("accounting_group = g\naccounting_group_user = u$(Process)\n", "AccountingGroup"),
        ("nice_user = true\nmax_job_retirement_time = 1$(Process)\n", "MaxJobRetirementTime"),
        ("max_retries = 2\non_exit_remove = ExitCode > $(Process)\n", "OnExitRemove"),
        ("shell = echo a\narguments = $(Process)\n", "Cmd Arguments Args"),
        ("initialdir = $CHOICE(Process,dir,other)\nlog = l\n", "UserLog Iwd"),
        ("executable = a\ntransfer_executable = $CHOICE(Process,true,false)\n", "Cmd"),
        ("container_image = $CHOICE(Process,a.sif,b)\ntransfer_input_files = a\n", "TransferInput"),
        ("container_image = a.sif\ntransfer_input_files = a$(Process)\n", "TransferInput"),
        (
            "request_memory = 5\nretry_request_memory = $CHOICE(Process,7,8)\n",
            "TransformBody_RequestMemory",
        ),
        ("universe = local\nkill_sig = $CHOICE(Process,9,)\n", "KillSig"),
    ],
)
def test_a_late_job_is_what_it_would_be_at_once(lines: str, names: str) -> None:
    text = f"{lines}queue 2\n"
    files = {**FILES, "/bin/sh": "x"}
    for name in names.split():
        at_once = values(text, name, files=files)
        assert late(text, name) == at_once, name


def test_unused_variables_of_later_jobs_are_told_before_all_others() -> None:
    made = submission(
        "executable = job.sh\nmax_idle = 1\nn = 3\nzed = 4\nitem = 8\nqueue item,y,foo in (1)\n"
    )
    made.first_of_later()
    assert [each.command for each in made.unused] == ["foo", "y", "zed", "n", "item"]


def test_later_jobs_have_one_statement_whatever_a_site_allows() -> None:
    options = SubmitOptions(allow_many_queues=True, first_of_later=True)
    made = submission("executable = job.sh\nmax_idle = 1\nqueue\nqueue 2\n", options=options)
    with pytest.raises(SubmitError, match="Extra data found after queue statement"):
        list(made.jobs())


def test_no_jobs_are_one_in_a_digest() -> None:
    assert digest_of("queue 0\n")[-1] == "Queue 1 "


def test_a_file_name_of_no_variable_is_the_variable_s_name() -> None:
    text = '+A = "$F(nothing)$(item)"\n'
    assert 'MY.A="nothing$(item)"' in digest_of(f"{text}queue in (a, b)\n")
    assert values(f"{text}queue in (a, b)\n", "A") == ['"nothinga"', '"nothingb"']


def test_a_late_cluster_has_what_its_first_job_has() -> None:
    made = submission(
        "executable = job.sh\nmax_idle = 2\n+A = $(x)\nqueue x in [2:] (1, 2, 3, 4)\n"
    )
    made.first_of_later()
    assert made.cluster_ad().text("A") == "3"
