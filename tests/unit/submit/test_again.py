"""Which steps run again for a job behind the watched one, and what the others leave for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kettle.submit.job as builder
from kettle.config import Config
from kettle.config.origin import Origin
from kettle.errors import SubmitError
from kettle.submit.again import Again, Comparison, Later
from kettle.submit.differences import differences
from kettle.submit.job import JobBuilder
from kettle.submit.macros import SubmitMacros
from kettle.submit.quick_job import QuickJob, UnforeseenError, Writes
from kettle.submit.sources import MemorySubmitSources
from kettle.submit.steps import Step
from kettle.submit.watched_job import WatchedJob
from unit.submit.submitting import FACTS

NOTHING = Writes(frozenset(), frozenset(), frozenset())
_HERE = Origin("job.sub", 1)
_Work = Callable[[JobBuilder], None]
_Texts = Mapping[str, tuple[str, str]]


class Course:
    """Steps, of which the first row's job was watched; counts which of them run for others."""

    def __init__(
        self,
        steps: Iterable[_Work],
        row: str = "a",
        *,
        cluster: _Texts | None = None,
        more: Iterable[str] = (),
        fixed: Iterable[str] = (),
        texts: Mapping[str, str] | None = None,
    ) -> None:
        self.ran: list[str] = []
        self._work = tuple(steps)
        self._cluster = cluster or {}
        self._macros = SubmitMacros(MemorySubmitSources(), FACTS, {})
        for name, text in (texts or {}).items():
            self._macros.assign(name, text, _HERE)
        self._set(row)
        self.job = self._new(WatchedJob)
        counted = [Step(self._counted(one)) for one in self._work]
        self.again = Again(self.job, counted, frozenset(more))
        watched = differences(self.job)
        self.comparison = Comparison(self.again, watched, frozenset(fixed))

    def _new(self, kind: type[JobBuilder]) -> JobBuilder:
        config = Config.from_text("", facts={})
        sources = MemorySubmitSources()
        return kind(self._macros, sources, config, FACTS, cluster=self._cluster)

    def _set(self, row: str) -> None:
        # `x` is a letter of the row: what the steps that look at the row get.
        self._macros.set_row(["x"], [row], _HERE)

    def _counted(self, work: _Work) -> _Work:
        def run(job: JobBuilder) -> None:
            self.ran.append(work.__name__)
            work(job)

        return run

    def make(self, row: str) -> QuickJob:
        self.ran.clear()
        self._set(row)
        return self.again.make()

    def made(self, row: str) -> dict[str, str]:
        """What a job made by steps that run again has otherwise than the cluster."""
        return dict(self.comparison.differences(self.make(row)))

    def whole(self, row: str) -> JobBuilder:
        """The job made by all steps."""
        self._set(row)
        job = self._new(JobBuilder)
        for work in self._work:
            work(job)
        return job

    def ran_for(self, row: str) -> list[str]:
        """The steps that run for a row; what they make is as all steps make it."""
        made = self.made(row)
        ran = list(self.ran)
        whole = self.whole(row)
        assert made == dict(differences(whole))
        again = self.make(row)
        assert {name: vars(again)[name] for name in self._fields()} == {
            name: getattr(whole, name) for name in self._fields()
        }
        return ran

    def _fields(self) -> Iterable[str]:
        return self.again.last.fields


def letter(job: JobBuilder) -> str:
    return job.param("x") or ""


def live(job: JobBuilder) -> None:
    job.attributes.set("Letter", letter(job))


def fixed(job: JobBuilder) -> None:
    job.attributes.set("Fixed", "1")


def reader(job: JobBuilder) -> None:
    job.attributes.set("Twice", 2 * (job.attributes.get("letter") or ""))


def test_a_step_that_looks_at_the_row_runs_for_each_job_and_no_other_does() -> None:
    course = Course([fixed, live])
    assert [course.ran_for(row) for row in "aba"] == [["live"]] * 3
    assert course.made("b") == {"Fixed": "1", "Letter": "b"}


def test_a_step_runs_again_where_what_it_read_is_otherwise_than_for_the_watched_job() -> None:
    course = Course([live, fixed, reader])
    assert course.ran_for("a") == ["live"]
    assert course.ran_for("b") == ["live", "reader"]
    assert course.ran_for("b") == ["live", "reader"]
    # And what it left is as it was for the watched job again.
    assert course.ran_for("a") == ["live"]


def test_a_step_behind_another_runs_again_only_where_that_one_wrote_something_else() -> None:
    def long(job: JobBuilder) -> None:
        job.attributes.set("Long", str(len(job.attributes.get("Letter") or "") > 1))

    def last(job: JobBuilder) -> None:
        job.attributes.set("Last", f"{job.attributes.get('Long')}!")

    course = Course([live, long, last])
    assert course.ran_for("b") == ["live", "long"]
    assert course.ran_for("bb") == ["live", "long", "last"]
    assert course.ran_for("c") == ["live", "long"]
    assert course.made("bb")["Last"] == "True!"


def test_whether_an_attribute_is_there_is_read_too() -> None:
    def maybe(job: JobBuilder) -> None:
        if letter(job) != "n":
            job.attributes.set("Letter", letter(job))

    def default(job: JobBuilder) -> None:
        job.attributes.set("Given", str("LETTER" in job.attributes))

    course = Course([maybe, default])
    assert course.ran_for("a") == ["maybe"]
    assert course.ran_for("n") == ["maybe", "default"]
    assert course.made("n") == {"Given": "False"}
    assert course.ran_for("a") == ["maybe"]


@pytest.mark.parametrize("mark", ["attributes", "forced"])
def test_whoever_reads_all_names_runs_again_where_the_watched_job_had_one_less(mark: str) -> None:
    def maybe(job: JobBuilder) -> None:
        if letter(job) != "n":
            getattr(job, mark).set("Letter", letter(job))

    def names(job: JobBuilder) -> None:
        job.attributes.set("Names", ",".join(sorted(getattr(job, mark).names())))

    course = Course([maybe, names], "n", more=["letter" if mark == "attributes" else "+letter"])
    assert course.ran_for("a") == ["maybe", "names"]
    assert course.made("n")["Names"] == ""


@pytest.mark.parametrize("mark", ["attributes", "forced"])
def test_what_a_step_that_runs_again_does_not_set_is_not_left_by_the_watched_job(mark: str) -> None:
    def long(job: JobBuilder) -> None:
        if len(job.attributes.get("Letter") or "") > 1:
            getattr(job, mark).set("Long", "1")

    def last(job: JobBuilder) -> None:
        job.attributes.set("Last", str(getattr(job, mark).get("Long")))

    course = Course([fixed, live, long, last], "aa")
    assert course.ran_for("a") == ["live", "long", "last"]
    assert course.made("a") == {"Fixed": "1", "Letter": "a", "Last": "None"}
    assert course.ran_for("aa") == ["live"]
    assert course.made("aa")["Long"] == "1"


@pytest.mark.parametrize("mark", ["attributes", "forced"])
def test_what_is_not_written_over_is_as_the_step_before_it_left_it(mark: str) -> None:
    def first(job: JobBuilder) -> None:
        getattr(job, mark).set("Letter", "first")

    def over(job: JobBuilder) -> None:
        if letter(job) != "n":
            getattr(job, mark).set("Letter", letter(job))

    def last(job: JobBuilder) -> None:
        job.attributes.set("Last", str(getattr(job, mark).get("Letter")))

    course = Course([first, over, last], "b")
    assert course.ran_for("n") == ["over", "last"]
    assert course.made("n") == {"Letter": "first", "Last": "first"}


def test_fields_are_read_and_written_as_attributes_are() -> None:
    def kind(job: JobBuilder) -> None:
        job.grid_type = letter(job)

    def taken(job: JobBuilder) -> None:
        job.attributes.set("Kind", job.grid_type)
        job.should_transfer = f"for {job.grid_type}"

    def told(job: JobBuilder) -> None:
        job.attributes.set("Told", job.should_transfer)

    course = Course([fixed, kind, taken, told])
    assert course.ran_for("a") == ["kind"]
    assert course.ran_for("b") == ["kind", "taken", "told"]
    assert course.ran_for("a") == ["kind"]
    assert course.make("b").should_transfer == "for b"
    assert course.make("a").should_transfer == "for a"


def test_a_field_that_steps_set_again_and_again_is_to_each_what_those_before_it_left() -> None:
    seen: list[str] = []

    def first(job: JobBuilder) -> None:
        job.should_transfer = "first"

    def second(job: JobBuilder) -> None:
        job.should_transfer = "second"

    def look(job: JobBuilder) -> None:
        seen.append(job.should_transfer)
        job.attributes.set("Look", f"{job.should_transfer} {letter(job)}")

    def third(job: JobBuilder) -> None:
        job.should_transfer = "third"

    def again(job: JobBuilder) -> None:
        seen.append(job.should_transfer)
        job.attributes.set("Again", f"{job.should_transfer} {letter(job)}")

    course = Course([first, look, second, again, third])
    seen.clear()
    assert course.made("b") == {"Look": "first b", "Again": "second b"}
    assert course.made("c") == {"Look": "first c", "Again": "second c"}
    assert seen == ["first", "second"] * 2
    assert course.make("d").should_transfer == "third"


def test_a_step_that_does_not_run_leaves_a_field_that_it_only_may_set() -> None:
    def sometimes(job: JobBuilder) -> None:
        job.attributes.set("Long", str(len(letter(job)) > 1))
        if letter(job) == "b":
            job.grid_type = "b"

    def long(job: JobBuilder) -> None:
        job.attributes.set("Also", str(job.attributes.get("Long")))

    course = Course([sometimes, long], "b", more=[".grid_type"])
    assert course.ran_for("c") == ["sometimes"]
    assert course.make("b").grid_type == "b"
    assert course.make("c").grid_type == ""


def test_a_field_that_is_otherwise_is_not_taken_back_by_what_steps_set_that_do_not_run() -> None:
    def kind(job: JobBuilder) -> None:
        job.grid_type = letter(job)

    def own(job: JobBuilder) -> None:
        job.attributes.set("Own", f"{job.grid_type} {letter(job)}")

    course = Course([kind, fixed, own])
    assert course.ran_for("b") == ["kind", "own"]
    assert course.made("b")["Own"] == "b b"
    assert course.make("b").grid_type == "b"


@pytest.mark.parametrize("mark", ["attributes", "forced"])
def test_whoever_reads_all_names_runs_again_where_one_more_or_less_is_there(mark: str) -> None:
    def maybe(job: JobBuilder) -> None:
        if letter(job) != "n":
            getattr(job, mark).set("Letter", letter(job))

    def names(job: JobBuilder) -> None:
        job.attributes.set("Names", ",".join(sorted(set(getattr(job, mark).names()))))

    course = Course([fixed, maybe, names])
    assert course.ran_for("a") == ["maybe"]
    assert course.ran_for("b") == ["maybe"]
    assert course.ran_for("n") == ["maybe", "names"]
    assert course.ran_for("a") == ["maybe"]


@pytest.mark.parametrize("mark", ["attributes", "forced"])
def test_whoever_reads_all_texts_runs_again_where_one_is_otherwise(mark: str) -> None:
    def some(job: JobBuilder) -> None:
        getattr(job, mark).set("Letter", letter(job))

    def texts(job: JobBuilder) -> None:
        whole = ",".join(f"{name}={text}" for name, text in sorted(getattr(job, mark)))
        job.attributes.set("Texts", whole)

    course = Course([fixed, some, texts])
    assert course.ran_for("a") == ["some"]
    assert course.ran_for("b") == ["some", "texts"]
    assert course.ran_for("a") == ["some"]


def test_what_is_forced_and_what_is_not_are_two_things() -> None:
    def force(job: JobBuilder) -> None:
        job.forced.set("Letter", letter(job))

    def plain(job: JobBuilder) -> None:
        job.attributes.set("Plain", str(job.attributes.get("Letter")))

    def names(job: JobBuilder) -> None:
        job.attributes.set("Names", ",".join(job.attributes.names()))

    def forced(job: JobBuilder) -> None:
        job.attributes.set("Forced", str(job.forced.get("Letter")))

    course = Course([force, plain, names, forced])
    assert course.ran_for("b") == ["force", "forced"]
    assert course.ran_for("a") == ["force"]


def test_what_a_step_has_written_itself_it_does_not_read() -> None:
    def own(job: JobBuilder) -> None:
        job.attributes.set("Letter", "own")
        job.grid_type = "own"
        job.attributes.set("Own", f"{job.attributes.get('Letter')} {job.grid_type}")

    course = Course([own, fixed])
    record = course.job.watch(Step(own))
    assert record.read == set()
    assert record.written == {"letter", "own", ".grid_type"}


def test_whoever_writes_over_what_runs_again_runs_again_for_each_job() -> None:
    def over(job: JobBuilder) -> None:
        job.attributes.set("Letter", "over")

    course = Course([fixed, live, over])
    assert course.ran_for("a") == ["live", "over"]
    assert course.ran_for("b") == ["live", "over"]
    assert course.made("b")["Letter"] == "over"


def test_what_is_as_it_was_for_the_watched_job_again_is_no_change() -> None:
    def both(job: JobBuilder) -> None:
        job.attributes.set("Letter", letter(job))
        job.forced.set("Letter", letter(job))
        job.grid_type = letter(job)

    def over(job: JobBuilder) -> None:
        job.attributes.set("Letter", "over")
        job.forced.set("Letter", "over")
        job.grid_type = "over"

    def told(job: JobBuilder) -> None:
        job.attributes.set("Told", f"{job.current('Letter')} {job.grid_type}")

    def plain(job: JobBuilder) -> None:
        job.attributes.set("Plain", f"{job.attributes.get('Letter')}")

    assert Course([both, over, told, plain]).ran_for("b") == ["both", "over"]


def is_long(job: JobBuilder, most: int) -> bool:
    return len(job.attributes.get("Letter") or "") > most


def test_a_question_counts_for_its_answer_alone() -> None:
    def asks(job: JobBuilder) -> None:
        job.attributes.set("Length", f"{job.ask(is_long, 1)} {job.ask(is_long, 3)}")

    def last(job: JobBuilder) -> None:
        job.attributes.set("Last", f"{job.attributes.get('Length')}!")

    course = Course([live, asks, last])
    assert course.ran_for("b") == ["live"]
    assert course.ran_for("bbb") == ["live", "asks", "last"]
    assert course.ran_for("bbbbb") == ["live", "asks", "last"]
    assert course.made("bbbbb")["Length"] == "True True"
    assert course.ran_for("c") == ["live"]


def all_texts(job: JobBuilder) -> list[tuple[str, str]]:
    return sorted(job.attributes)


def test_a_question_about_what_the_step_wrote_itself_is_none() -> None:
    def asks(job: JobBuilder) -> None:
        job.attributes.set("Own", letter(job))
        job.attributes.set("Asked", f"{job.ask(own)} {job.ask(all_texts)}")

    def own(job: JobBuilder) -> str | None:
        return job.attributes.get("Own")

    course = Course([asks, fixed])
    assert course.ran_for("b") == ["asks"]
    assert course.made("b")["Asked"] == f"b {[('Own', 'b')]}"


def test_a_question_is_answered_by_the_attributes_before_its_step() -> None:
    def fixed_beside_letter(job: JobBuilder) -> str | None:
        return job.attributes.get("Letter") and job.attributes.get("Fixed")

    def forced_beside_letter(job: JobBuilder) -> str | None:
        return job.attributes.get("Letter") and job.forced.get("Forced")

    def force(job: JobBuilder) -> None:
        job.forced.set("Forced", "1")

    def asks(job: JobBuilder) -> None:
        both = job.ask(fixed_beside_letter), job.ask(forced_beside_letter)
        job.attributes.set("Asked", str(both))

    course = Course([live, fixed, force, asks])
    assert course.ran_for("b") == ["live"]


def test_what_is_read_for_a_question_and_beside_it_counts() -> None:
    def asks(job: JobBuilder) -> None:
        job.attributes.set("Length", f"{job.ask(is_long, 1)} {job.attributes.get('Letter')}")

    course = Course([live, asks])
    assert course.ran_for("a") == ["live"]
    assert course.ran_for("b") == ["live", "asks"]


def test_what_is_read_before_and_behind_a_question_counts_whatever_the_answer() -> None:
    def asks(job: JobBuilder) -> None:
        before = job.attributes.get("Letter")
        job.attributes.set("Own", "1")
        job.attributes.set("Asked", f"{before} {job.ask(has_own)}")

    def has_own(job: JobBuilder) -> bool:
        return "Own" in job.attributes

    course = Course([live, asks])
    assert course.ran_for("a") == ["live"]
    assert course.ran_for("b") == ["live", "asks"]


def test_a_question_is_asked_again_only_where_what_it_looks_at_is_otherwise() -> None:
    asked: list[str] = []

    def plain(job: JobBuilder) -> str:
        asked.append("plain")
        return job.attributes.get("Fixed") or ""

    def first(job: JobBuilder) -> str:
        asked.append("first")
        return (job.attributes.get("Letter") or "")[:1]

    def asks(job: JobBuilder) -> None:
        if job.attributes.get("Letter"):
            job.attributes.set("Asked", job.ask(plain) + job.ask(first))

    course = Course([fixed, live, asks])
    asked.clear()
    assert course.made("b")["Asked"] == "1b"
    assert asked == ["first"]


def test_a_step_that_reads_what_never_changes_does_not_run_again() -> None:
    def of_fixed(job: JobBuilder) -> None:
        job.attributes.set("Also", f"{job.attributes.get('Fixed')} {job.grid_type}")

    course = Course([fixed, live, of_fixed])
    assert course.ran_for("b") == ["live"]


def test_a_step_sees_the_attributes_as_they_were_before_it_and_not_behind_it() -> None:
    def early(job: JobBuilder) -> None:
        known = "Fixed" in job.attributes, job.attributes.get("fixed"), "late" in job.forced
        job.attributes.set("Early", f"{letter(job)} {known} {sorted(job.attributes.names())}")

    def late(job: JobBuilder) -> None:
        job.forced.set("Late", "1")
        job.attributes.set("Seen", f"{letter(job)} {dict(job.attributes)}")

    course = Course([early, fixed, late])
    course.ran_for("b")
    course.ran_for("c")


@pytest.mark.parametrize("kind", ["attribute", "forced", "field", "removed", "forced, removed"])
def test_a_step_that_writes_what_it_did_not_for_the_watched_job_is_unforeseen(kind: str) -> None:
    def odd(job: JobBuilder) -> None:
        job.attributes.set("Letter", letter(job))
        if letter(job) == "b":
            if kind == "attribute":
                job.attributes.set("Odd", "1")
            elif kind == "forced":
                job.forced.set("Odd", "1")
            elif kind == "field":
                job.grid_type = "odd"
            elif kind == "removed":
                job.attributes.remove("Odd")
            else:
                job.forced.remove("Odd")

    course = Course([odd])
    name = {"attribute": "odd", "field": ".grid_type", "removed": "odd"}.get(kind, "+odd")
    with pytest.raises(UnforeseenError) as unforeseen:
        course.make("b")
    assert unforeseen.value.name == name
    found: set[str] = set()
    assert Later(course.again, course.comparison).attempt(found) is None
    assert found == {name}
    # Once it is known, the next watched job leaves room for it; nothing takes any away.
    if "removed" not in kind:
        course = Course([odd], more=[name])
        for row in "aba":
            assert course.ran_for(row) == ["odd"]


def test_a_field_that_is_written_elsewhere_is_unforeseen_too() -> None:
    def first(job: JobBuilder) -> None:
        job.attributes.set("Letter", letter(job))
        if letter(job) == "b":
            job.grid_type = "odd"

    def second(job: JobBuilder) -> None:
        job.grid_type = letter(job)

    with pytest.raises(UnforeseenError):
        Course([first, second]).make("b")


def test_a_job_that_is_refused_has_to_be_made_as_a_whole_and_nothing_is_unforeseen() -> None:
    def refuses(job: JobBuilder) -> None:
        if letter(job) == "b":
            raise SubmitError("no")
        job.attributes.set("Letter", letter(job))

    course = Course([refuses])
    found: set[str] = set()
    later = Later(course.again, course.comparison)
    made = later.attempt(found)
    assert made is not None
    with pytest.raises(SubmitError):
        course.make("b")
    assert later.attempt(found) is None
    assert found == set()


def test_no_step_that_runs_again_is_no_job_that_differs() -> None:
    def field(job: JobBuilder) -> None:
        job.grid_type = "set"

    course = Course([fixed, field])
    assert course.ran_for("b") == []
    assert course.made("b") == {"Fixed": "1"}
    assert course.again.always_writes() == NOTHING


def test_what_steps_write_for_each_job_is_known() -> None:
    def both(job: JobBuilder) -> None:
        job.attributes.set("Letter", letter(job))
        job.forced.set("Forced", letter(job))
        job.grid_type = letter(job)

    wrote = Writes(frozenset({"grid_type"}), frozenset({"letter"}), frozenset({"forced"}))
    assert Course([both, fixed, reader]).again.always_writes() == wrote
    more = Course([both, fixed], more=["more"]).again.always_writes()
    assert more == wrote._replace(attributes=frozenset({"letter", "more"}))


CLUSTER = {"letter": ("LETTER", "a"), "fixed": ("FIXED", "1"), "rest": ("Rest", "r")}


def test_what_the_cluster_has_alike_is_no_difference_and_its_spelling_stays() -> None:
    course = Course([fixed, live], "b", cluster=CLUSTER)
    assert course.made("c") == {"LETTER": "c"}
    assert course.made("a") == {}
    assert course.ran_for("c") == ["live"]


def test_what_is_not_set_shows_the_cluster_s_through() -> None:
    def maybe(job: JobBuilder) -> None:
        if letter(job) != "n":
            job.attributes.set("Letter", letter(job))

    def names(job: JobBuilder) -> None:
        job.attributes.set("Names", ",".join(sorted(job.attributes.names())))

    course = Course([maybe, reader, names], "b", cluster=CLUSTER)
    assert course.ran_for("n") == ["maybe", "reader"]
    assert course.made("n") == {"Twice": "aa", "Names": "FIXED,LETTER,Rest,Twice"}
    assert course.ran_for("b") == ["maybe"]


def test_what_is_forced_hides_what_is_not() -> None:
    def both(job: JobBuilder) -> None:
        job.attributes.set("Letter", f"plain {letter(job)}")
        if letter(job) != "n":
            job.forced.set("LETTER", f"forced {letter(job)}")

    course = Course([fixed, both])
    assert course.made("b") == {"LETTER": "forced b", "Fixed": "1"}
    assert course.made("n") == {"Letter": "plain n", "Fixed": "1"}

    def forces(job: JobBuilder) -> None:
        if letter(job) != "n":
            job.forced.set("FIXED", f"forced {letter(job)}")

    # What it hid in the watched job it does not hide in others.
    hides = Course([fixed, forces])
    assert hides.made("b") == {"FIXED": "forced b"}
    assert hides.made("n") == {"Fixed": "1"}
    course.ran_for("n")
    course.ran_for("c")


def test_what_is_forced_once_and_for_all_hides_what_changes() -> None:
    def force(job: JobBuilder) -> None:
        job.forced.set("Letter", "forced")

    for course in (Course([force, live]), Course([live, force])):
        assert course.ran_for("b") == ["live"]
        assert course.made("b") == {"Letter": "forced"}


def test_what_is_fixed_nobody_has_otherwise() -> None:
    course = Course([fixed, live], fixed=["letter"])
    assert course.made("b") == {"Fixed": "1"}


def test_a_job_begins_without_what_was_told_of_the_one_before() -> None:
    def tells(job: JobBuilder) -> None:
        if letter(job) == "b":
            job.warnings.append("b")
            job.asked.append("b")
        job.attributes.set("Letter", letter(job))

    course = Course([tells])
    assert course.make("b").warnings == ["b"]
    again = course.make("c")
    assert (again.warnings, again.asked) == ([], [])


def test_what_the_watched_job_told_stays_told() -> None:
    def tells(job: JobBuilder) -> None:
        job.warnings.append(letter(job))
        job.attributes.set("Letter", letter(job))

    course = Course([tells])
    before = list(course.job.asked)
    course.make("b")
    assert course.job.warnings == ["a"]
    assert course.job.asked == before


@pytest.mark.parametrize(("text", "times"), [("7", 1), ("$(x)", 3)])
@pytest.mark.parametrize(
    ("method", "reads"), [("integer", "whole_number"), ("boolean", "evaluate")]
)
def test_a_value_whose_text_does_not_change_is_read_once(
    text: str, times: int, method: str, reads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def looks(job: JobBuilder) -> None:
        getattr(job, method)("value")
        job.attributes.set("Letter", letter(job))

    course = Course([looks], "1", texts={"value": text})
    read: list[str] = []
    read_value = getattr(builder, reads)
    monkeypatch.setattr(builder, reads, lambda text: (read.append(text), read_value(text))[1])
    for row in "123":
        course.make(row)
    assert len(read) == times


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain", ["plain", "plain"]),
        ("  blanks  ", ["  blanks  ", "  blanks  "]),
        ("", [None, None]),
        ("$(x)", ["b", "c"]),
        (" $(x)$(x) ", [" bb ", " cc "]),
        ("$(other)", ["fixed", "fixed"]),
        ("$(none)", [None, None]),
        ("$(none) $(x)", [" b", " c"]),
    ],
)
def test_a_command_is_what_it_is_for_each_row(text: str, seen: list[str | None]) -> None:
    found: list[tuple[str | None, str | None, str]] = []

    def looks(job: JobBuilder) -> None:
        expanded = job.expand(f"<{text}>")
        found.extend((job.param("cmd"), job.text_of("cmd"), expanded) for _ in range(2))
        assert job.param("no_such") is None
        assert job.text_of("no_such") is None
        job.attributes.set("Letter", letter(job))

    course = Course([looks], texts={"cmd": text, "other": "fixed"})
    found.clear()
    course.make("b")
    course.make("c")
    assert found == [(one, one or "", f"<{one or ''}>") for one in seen for _ in range(2)]


@pytest.mark.parametrize("text", ["7", "$(x)", "1$(x)"])
def test_numbers_and_truths_are_those_of_each_row(text: str) -> None:
    def looks(job: JobBuilder) -> None:
        both = [(job.integer("number"), job.boolean("truth")) for _ in range(2)]
        assert both[0] == both[1]
        assert (job.integer("no_such"), job.boolean("no_such")) == (None, None)
        job.attributes.set("Both", f"{both[0]} {letter(job)}")

    course = Course([looks], "0", texts={"number": text, "truth": text})
    for row in "1020":
        course.ran_for(row)


@pytest.mark.parametrize("method", ["integer", "boolean"])
def test_what_is_no_number_or_truth_is_refused_each_time(method: str) -> None:
    def looks(job: JobBuilder) -> None:
        if letter(job) != "a":
            getattr(job, method)("bad")
        job.attributes.set("Letter", letter(job))

    course = Course([looks], texts={"bad": '"no"'})
    for row in "bb":
        with pytest.raises(SubmitError, match="bad"):
            course.make(row)


_NAMES = ["A", "B", "C"]
_Move = tuple[str, str, str]


def step_of(number: int, moves: list[_Move], is_live: bool) -> _Work:
    """A step that makes these moves one after the other."""

    def run(job: JobBuilder) -> None:
        seen = letter(job) if is_live else ""
        for move, name, condition in moves:
            attributes = job.forced if move.startswith("forced") else job.attributes
            if move.endswith("read"):
                seen += str(attributes.get(name))
            elif move.endswith("names"):
                seen += str(sorted(attributes.names()))
            elif move.endswith("texts"):
                seen += str(sorted(attributes))
            elif move == "ask":
                seen += str(job.ask(size_of, name))
            elif move == "field":
                seen += job.grid_type
            elif condition in seen:
                # The same for many: a digest of few values.
                text = f"{number}.{sum(map(ord, seen)) % 3}"
                if move == "set field":
                    job.grid_type = text
                else:
                    attributes.set(name, text)

    run.__name__ = f"step {number}"
    return run


def size_of(job: JobBuilder, name: str) -> int:
    text = job.attributes.get(name) or ""
    return len(text) + (text[-1:] == "1")


_MOVES = st.sampled_from(["read", "set", "names", "texts", "ask", "field", "set field"]) | (
    st.sampled_from(["forced read", "forced set", "forced names", "forced texts"])
)
_PLANS = st.tuples(_MOVES, st.sampled_from(_NAMES), st.sampled_from(["", "", "", "a", "b"]))
_COURSES = st.lists(
    st.tuples(st.lists(_PLANS, min_size=1, max_size=5), st.booleans()), min_size=1, max_size=5
)
_ROWS = st.lists(st.sampled_from("abn"), max_size=5)


@settings(max_examples=300)
@given(_COURSES, st.sampled_from("abn"), _ROWS)
def test_whatever_the_steps_are_a_job_is_as_all_of_them_make_it(
    plans: list[tuple[list[_Move], bool]], first: str, rows: list[str]
) -> None:
    steps = [step_of(number, moves, is_live) for number, (moves, is_live) in enumerate(plans)]
    # The first job is the cluster, the second one is watched.
    made = Course(steps, first).whole(first)
    cluster = {**made.attributes.texts, **made.forced.texts}
    course, more = Course(steps, first, cluster=cluster), set[str]()
    for row in rows:
        try:
            course.ran_for(row)
        except UnforeseenError as error:
            more.add(error.name)
            course = Course(steps, row, cluster=cluster, more=more)
            course.ran_for(row)
