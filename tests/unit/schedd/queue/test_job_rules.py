"""How new jobs are changed and what they have to be; the words and values are a real schedd's."""

from __future__ import annotations

import errno
import itertools
import tracemalloc

import pytest

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.errors import RefusedError
from kettle.schedd.queue import factory, job_rules
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.queue.job_rules import Applying, JobRules, read_job_rules
from kettle.schedd.queue.jobs import Cluster
from kettle.submit.build import JobPlan
from kettle.submit.job import Attributes
from kettle.submit.queue_statement import Row
from kettle.transforms.configured import read_rules
from kettle.wire.codec import Reader, Writer
from kettle.wire.messages import qmgmt as calls
from kettle.wire.messages.rpc import Reply
from unit.schedd.queue_fixture import ALICE, BOB, NOW, Schedd

CHANGES = """
JOB_TRANSFORM_NAMES = A, B
JOB_TRANSFORM_A @=end
SET TA 1
SET TB $(MY.RequestMemory:none)
EVALSET TC strcat(Owner, "-", ProcId)
DELETE Rank
COPY /^FooC(.*)/ Bar\\1
RENAME FooR FooS
SET Where "$(IsClusterAd)$(LateMaterialization) $(MY.ClusterId).$(MY.ProcId)"
@end
JOB_TRANSFORM_B @=end
REQUIREMENTS FooC1 == 1
SET TA $(MY.TA)1
@end
"""


def rules(text: str, *, of_made_jobs: bool = True) -> JobRules:
    return read_job_rules(Config.from_text(text), of_made_jobs=of_made_jobs)


def submit(schedd: Schedd, *jobs: dict[str, str], **shared: str) -> Reply:
    """Submit one cluster whose jobs have attributes of their own; return what its commit says."""
    client = schedd.client()
    cluster = client.call(calls.NewCluster()).value
    for name, text in {"Owner": "undefined", "JobUniverse": "5", **shared}.items():
        client.set(cluster, -1, name, text)
    for own in jobs:
        proc = client.call(calls.NewProc(cluster)).value
        for name, text in own.items():
            client.set(cluster, proc, name, text)
    return client.call(calls.CommitTransactionNoFlags())


def reason(reply: Reply) -> str:
    assert reply.value == -1
    assert reply.errno == errno.EINVAL
    assert reply.details is not None
    return reply.details.string("ErrorReason") or ""


def texts(schedd: Schedd, job: JobId, *names: str) -> dict[str, str | None]:
    ad = schedd.queue.jobs[job].ad
    return {name: ad.text(name) for name in names}


def test_every_new_job_is_changed_by_the_rules_for_it_in_order() -> None:
    schedd = Schedd(rules=rules(CHANGES))
    shared = {"Rank": "Memory", "FooR": "3", "FooC1": "0", "RequestMemory": "100"}
    assert submit(schedd, {}, {"FooC1": "1"}, **shared).value == 0
    names = ("TA", "TB", "TC", "Rank", "Bar1", "FooR", "FooS", "Where")
    assert texts(schedd, JobId(1, 0), *names) == {
        "TA": "1", "TB": "100", "TC": '"alice-0"', "Rank": "undefined", "Bar1": "0",
        "FooR": "undefined", "FooS": "3", "Where": '"00 1.0"',
    }  # fmt: skip
    assert texts(schedd, JobId(1, 1), "TA", "TC", "Bar1") == {
        "TA": "11", "TC": '"alice-1"', "Bar1": "1",
    }  # fmt: skip
    cluster = schedd.queue.clusters[1].ad
    assert [cluster.text(name) for name in ("Rank", "FooR", "TA")] == ["Memory", "3", None]
    assert list(schedd.replayed().jobs[JobId(1, 1)].ad.lines()) == list(
        schedd.queue.jobs[JobId(1, 1)].ad.lines()
    )


def test_a_rule_whose_statements_stand_in_an_if_is_applied_to_the_jobs_that_it_is_for() -> None:
    text = (
        "JOB_TRANSFORM_NAMES = A\nJOB_TRANSFORM_A @=end\nif defined MY.Foo\nSET TA 1\nendif\n@end\n"
    )
    schedd = Schedd(rules=rules(text))
    assert submit(schedd, {}, {"Foo": "1"}).value == 0
    assert texts(schedd, JobId(1, 0), "TA") == {"TA": None}
    assert texts(schedd, JobId(1, 1), "TA") == {"TA": "1"}


def test_an_edit_changes_nothing_else() -> None:
    schedd = Schedd(rules=rules("JOB_TRANSFORM_NAMES = A\nJOB_TRANSFORM_A = SET TA Foo\n"))
    assert submit(schedd, {}, Foo="1").value == 0
    client = schedd.client()
    client.set(1, 0, "TA", "7")
    assert client.call(calls.CommitTransactionNoFlags()).value == 0
    assert texts(schedd, JobId(1, 0), "TA") == {"TA": "7"}


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("SET X", "JOB_TRANSFORM_A, line 1: SET needs 2 arguments"),
        ("SET B 1\nbogus", "JOB_TRANSFORM_A, line 2: bogus is not a valid transform keyword"),
        ("SET B 1\nif true", "JOB_TRANSFORM_A, line 2: endif(s) not found before end-of-file"),
        ('SET Owner "root"', 'Failed to set Owner = "root": alice@vm cannot submit jobs of root'),
        ("SET ClusterId 99", "Failed to set ClusterId = 99: ClusterId of cluster 1 cannot be 99"),
        ("SET A.B 7", "Failed to set A.B = 7: Got invalid attribute named A.B for job 1.0"),
    ],
)
def test_a_rule_that_cannot_be_applied_refuses_the_submission(rule: str, said: str) -> None:
    text = f"JOB_TRANSFORM_NAMES = A\nJOB_TRANSFORM_A @=end\n{rule}\n@end\n"
    schedd = Schedd(rules=rules(text))
    assert reason(submit(schedd, {})) == f"Failed to apply a required job transform.\n{said}"
    assert not schedd.queue.jobs


def test_what_a_rule_could_not_do_is_in_the_log_and_the_job_is_queued() -> None:
    told: list[str] = []
    text = "JOB_TRANSFORM_NAMES = A\nJOB_TRANSFORM_A @=e\nSET B (\nSET C 1\n@e\n"
    applying = Applying(rules(text), ClassAd, told.append)
    assert applying.change(ClassAd(), 1, 0) == {"C": "1"}
    applying.change(ClassAd(), 1, 1)
    failed = "JOB_TRANSFORM_A: ERROR: SET B invalid expression : ("
    assert told == [failed, "job_transforms for 1.0: 1 considered, 1 applied (A)", failed]


def test_rules_share_macros_for_one_job_and_forget_them_for_the_next() -> None:
    text = (
        "JOB_TRANSFORM_NAMES = A B\nJOB_TRANSFORM_A @=e\nx = $(x)1\nSET A 1\n@e\n"
        "JOB_TRANSFORM_B = SET B $(x)\n"
    )
    applying = Applying(rules(text), ClassAd, lambda _: None)
    assert [applying.change(ClassAd(), 1, proc)["B"] for proc in range(2)] == ["1", "1"]


def test_rules_in_the_classad_form_count() -> None:
    text = "JOB_TRANSFORM_NAMES = A\nJOB_TRANSFORM_A = [ set_B = 1; delete_C = true ]\n"
    schedd = Schedd(rules=rules(text))
    assert submit(schedd, {}, C="5").value == 0
    assert texts(schedd, JobId(1, 0), "B", "C") == {"B": "1", "C": "undefined"}


def test_rules_that_make_no_sense_are_told_once_and_passed_over() -> None:
    text = (
        "JOB_TRANSFORM_NAMES = No Empty NAMES Bad Old Many\nJOB_TRANSFORM_Empty =\n"
        "JOB_TRANSFORM_Bad = REQUIREMENTS (\nJOB_TRANSFORM_Old = [ set_A =\n"
        "JOB_TRANSFORM_Many = TRANSFORM 3\n"
        "SUBMIT_REQUIREMENT_NAMES = No Bad NAMES\nSUBMIT_REQUIREMENT_Bad = (\n"
    )
    found = rules(text)
    assert not found
    assert [problem.split(":")[0] for problem in found.problems] == [
        "JOB_TRANSFORM_No not defined, ignoring.",
        "JOB_TRANSFORM_Empty definition is empty, ignoring.",
        "JOB_TRANSFORM_Bad (/condor_config, line 3), line 1",
        "JOB_TRANSFORM_Old (/condor_config, line 4)",
        "JOB_TRANSFORM_Many (/condor_config, line 5), line 1",
        "Submit requirement No not defined, ignoring.",
        "Unable to parse submit requirement Bad, ignoring",
    ]


CONDITIONS = """
JOB_TRANSFORM_NAMES = A
JOB_TRANSFORM_A = SET TA 1
SUBMIT_REQUIREMENT_NAMES = R1 R2 R3 R4 R5
SUBMIT_REQUIREMENT_R1 = NoR1 =!= true
SUBMIT_REQUIREMENT_R1_REASON = strcat("no r1 for ", Owner, " TA is ", TA)
SUBMIT_REQUIREMENT_R2 = JOB.NoR2 =!= true && SCHEDD.Name == "vm"
SUBMIT_REQUIREMENT_R2_REASON = 5
SUBMIT_REQUIREMENT_R3 = WarnR3 =!= true
SUBMIT_REQUIREMENT_R3_IS_WARNING = true
SUBMIT_REQUIREMENT_R3_REASON = "careful"
SUBMIT_REQUIREMENT_R4 = ifThenElse(BadR4 =?= true, "text", 1)
SUBMIT_REQUIREMENT_R5 = ifThenElse(BadR5 =?= true, NoSuch, TARGET.TA == 1)
"""


@pytest.mark.parametrize(
    ("attribute", "said"),
    [
        ("NoR1", "no r1 for alice TA is 1"),
        ("NoR2", "Submit requirement R2 not met.\n"),
        ("BadR4", "Submit requirement R4 evaluated to non-boolean.\n"),
        ("BadR5", "Submit requirement R5 evaluated to non-boolean.\n"),
    ],
)
def test_a_job_that_does_not_meet_a_requirement_refuses_its_submission(
    attribute: str, said: str
) -> None:
    schedd = Schedd(rules=rules(CONDITIONS))
    schedd.own_ad = ClassAd({"Name": "vm"})
    assert reason(submit(schedd, {}, {attribute: "true"})) == said
    assert not schedd.queue.jobs
    assert submit(schedd, {}).value == 0


def test_a_requirement_may_only_warn() -> None:
    schedd = Schedd(rules=rules(CONDITIONS))
    schedd.own_ad = ClassAd({"Name": "vm"})
    reply = submit(schedd, {}, {}, WarnR3="true")
    assert reply.value == 0
    assert reply.details is not None
    assert reply.details.string("WarningReason") == "QMGMT:0:careful|QMGMT:0:careful"
    assert len(schedd.queue.jobs) == 2
    assert submit(schedd, {}).details is None


def late_cluster(schedd: Schedd) -> Cluster:
    client = schedd.client(ALICE)
    cluster = client.call(calls.NewCluster()).value
    client.call(calls.SetJobFactory(cluster, 5, "", "queue 5\n"))
    for name, text in {"Owner": "undefined", "JobUniverse": "5", "FooC1": "0"}.items():
        client.set(cluster, -1, name, text)
    assert client.call(calls.CommitTransactionNoFlags()).value == 0
    return schedd.queue.clusters[cluster]


def make(schedd: Schedd, cluster: Cluster, **own: str) -> None:
    differences = Attributes()
    for name, text in own.items():
        differences.set(name, text)
    plan = JobPlan(0, 1, Row(0, 0, ()), differences, 5, None)
    transaction = schedd.queue.transaction()
    applying = Applying(schedd.settings.rules, ClassAd, lambda _: None)
    factory.plan_jobs(transaction, cluster, [plan], schedd.settings, NOW, applying)
    schedd.queue.commit(transaction)


def test_a_cluster_that_makes_its_jobs_later_is_changed_and_each_of_its_jobs_too() -> None:
    schedd = Schedd(rules=rules(CHANGES))
    cluster = late_cluster(schedd)
    assert cluster.ad.text("Where") == '"11 1.0"'
    assert cluster.ad.text("TC") == '"alice-0"'
    assert cluster.ad.text("ProcId") is None
    assert cluster.ad.text("EditedClusterAttrs") is None
    make(schedd, cluster, FooC1="1")
    assert texts(schedd, JobId(1, 0), "TA", "Where") == {"TA": "11", "Where": '"01 1.0"'}


def test_rules_of_clusters_alone_hold_for_the_jobs_they_make() -> None:
    text = (
        "JOB_TRANSFORM_NAMES = A\nJOB_TRANSFORM_A @=e\nSET FooC1 7\nSET Any $(MY.JobFactoryId)\n@e"
    )
    schedd = Schedd(rules=rules(text, of_made_jobs=False))
    cluster = late_cluster(schedd)
    assert cluster.ad.string("EditedClusterAttrs") == "Any,FooC1"
    make(schedd, cluster, FooC1="1")
    assert texts(schedd, JobId(1, 0), "FooC1", "Any") == {"FooC1": "7", "Any": "1"}


def test_a_job_that_is_made_later_has_to_meet_the_requirements() -> None:
    schedd = Schedd(
        rules=rules("SUBMIT_REQUIREMENT_NAMES = R\nSUBMIT_REQUIREMENT_R = FooC1 == 0\n")
    )
    cluster = late_cluster(schedd)
    with pytest.raises(RefusedError, match=r"Submit requirement R not met\."):
        make(schedd, cluster, FooC1="1")


def test_others_have_their_turn_while_a_large_submission_is_changed() -> None:
    schedd = Schedd(rules=rules("JOB_TRANSFORM_NAMES = A\nJOB_TRANSFORM_A = SET TA 1\n"))
    client = schedd.client()
    cluster = client.call(calls.NewCluster()).value
    client.set(cluster, -1, "Owner", "undefined")
    for _ in range(250):
        client.call(calls.NewProc(cluster))
    answer = client.connection.commits.commit(calls.CommitTransactionNoFlags(), 0)
    assert answer.steps is not None
    assert len(list(answer.steps)) > 250
    assert len(schedd.queue.jobs) == 250


def test_a_rule_for_other_jobs_costs_no_look_at_each_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "JOB_TRANSFORM_NAMES = A\nJOB_TRANSFORM_A @=e\nREQUIREMENTS Want\nSET TA 1\n@e\n"
    looked = itertools.count()
    real = Applying.change

    def change(applying: Applying, *args: object, **named: object) -> dict[str, str]:
        next(looked)
        return real(applying, *args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(job_rules.Applying, "change", change)
    schedd = Schedd(rules=rules(text))
    assert submit(schedd, {}, {"Args": '"x"'}).value == 0
    assert next(looked) == 0
    assert submit(schedd, {}, {"Want": "true"}).value == 0
    assert texts(schedd, JobId(2, 1), "TA") == {"TA": "1"}
    assert texts(schedd, JobId(2, 0), "TA") == {"TA": None}
    assert submit(schedd, {}, Want="true").value == 0
    assert texts(schedd, JobId(3, 0), "TA") == {"TA": "1"}


WANTS = "JOB_TRANSFORM_NAMES = A\nJOB_TRANSFORM_A @=e\nREQUIREMENTS {}\nSET TA 1\n@e\n"


@pytest.mark.parametrize(
    "requirements",
    [
        'eval("Foo") == 2',
        "[ a = Foo ].a == 2",
        "countMatches(Foo == 2, { [ b = 1 ] }) == 1",
        'unparse(Foo) == "2"',
        "isString(MY) || Foo == 2",
        "MY.Foo == 2",
        "TARGET.Foo =?= undefined && .Foo == 2",
        "{ 1, Foo }[1] == 2",
        "ProcId == 1",
        "MY.ProcId == 1",
        "JobStatus == 1 && Foo == 2",
    ],
)
def test_a_rule_applies_however_it_names_what_it_is_about(requirements: str) -> None:
    """Names that were hidden in texts and ads, or that the schedd says itself, were not seen."""
    schedd = Schedd(rules=rules(WANTS.format(requirements)))
    assert submit(schedd, {}, {"Foo": "2"}).value == 0
    assert [texts(schedd, JobId(1, proc), "TA")["TA"] for proc in range(2)] == [None, "1"]


# Each attribute names the one before twice; with forty of them an evaluation takes 0.3 s.
DOUBLING = {"A0": "1", **{f"A{n}": f"A{n - 1} + A{n - 1}" for n in range(1, 10)}}


def test_a_submission_whose_rules_take_too_long_is_refused_and_others_have_their_turn() -> None:
    """150 such jobs stopped a schedd for 93 seconds."""
    schedd = Schedd(rules=rules(WANTS.format("A9 > 0")))
    client = schedd.client()
    times = itertools.count(0.0, 0.3)
    client.connection.commits._monotonic = lambda: next(times)
    cluster = client.call(calls.NewCluster()).value
    for name, text in {"Owner": "undefined", "JobUniverse": "5", **DOUBLING}.items():
        client.set(cluster, -1, name, text)
    for _ in range(150):
        client.call(calls.NewProc(cluster))
    answer = client.connection.commits.commit(calls.CommitTransactionNoFlags(), 0)
    steps, taken = answer.steps, 0
    assert steps is not None
    while True:
        try:
            next(steps)
        except StopIteration as end:
            answer = end.value
            break
        taken += 1
    # One evaluation a step; all of them are 150 * 0.3 seconds, and 5 + 150 * 0.01 are allowed.
    assert 20 <= taken < 25
    assert answer.reply is not None
    writer = Writer()
    answer.reply.write(writer)
    reply = calls.CommitTransactionNoFlags().read_answer(Reader(writer.getvalue()))
    assert reason(reply).endswith(
        "What the access point's rules look at takes longer than 6 seconds to evaluate for these"
        " jobs."
    )
    assert not schedd.queue.jobs
    assert submit(schedd, {}).value == 0


def test_a_factory_s_cluster_is_changed_also_where_it_comes_with_a_job() -> None:
    schedd = Schedd(rules=rules(CHANGES))
    client = schedd.client(ALICE)
    cluster = client.call(calls.NewCluster()).value
    client.call(calls.SetJobFactory(cluster, 5, "", "queue 5\n"))
    for name, text in {"Owner": "undefined", "JobUniverse": "5"}.items():
        client.set(cluster, -1, name, text)
    client.call(calls.NewProc(cluster))
    assert client.call(calls.CommitTransactionNoFlags()).value == 0
    assert schedd.queue.clusters[cluster].ad.text("TA") == "1"
    assert schedd.queue.clusters[cluster].ad.text("Where") == '"11 1.0"'
    assert schedd.queue.jobs[JobId(cluster, 0)].ad.text("TA") == "1"


def test_a_rule_sees_what_a_cluster_computes_from_each_job() -> None:
    text = "JOB_TRANSFORM_NAMES = A\nJOB_TRANSFORM_A @=end\nREQUIREMENTS RequestMemory > 4096\n"
    schedd = Schedd(rules=rules(f'{text}SET AcctGroup "big"\n@end\n'))
    submit(schedd, {"Mem": "8000"}, RequestMemory="Mem")
    assert schedd.queue.jobs[JobId(1, 0)].ad.string("AcctGroup") == "big"


def test_new_jobs_are_read_one_after_the_other() -> None:
    schedd = Schedd()
    client = schedd.client(BOB)
    cluster = client.call(calls.NewCluster()).value
    for _ in range(2000):
        proc = client.call(calls.NewProc(cluster)).value
        client.set(cluster, proc, "Args", '"' + "x" * 20 + '"')
    tracemalloc.start()
    for _ in client.connection.changes.transaction.new_jobs():
        pass
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 2000 * 300


def test_the_log_tells_of_names_that_no_expression_can_mention_with_file_and_line() -> None:
    config = Config.from_text("JOB_TRANSFORM_A @=end\n  SET B 1\n  SET 1C 2\n@end\n")
    place = config.origin("JOB_TRANSFORM_A")
    found, problems = read_rules(config, "A", "JOB_TRANSFORM_")
    assert [rule.name for rule in found] == ["A"]
    [said] = problems
    assert said.startswith(f"JOB_TRANSFORM_A ({place}): line 2: no expression can mention ")
    assert str(place).endswith(", line 4")
