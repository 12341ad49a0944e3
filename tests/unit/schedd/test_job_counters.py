"""Statistics of sets of jobs: of each owner's, and of those that rules name."""

from __future__ import annotations

import re

from kettle.classad import ClassAd
from kettle.collector.ad_store import MOST_ATTRIBUTES
from kettle.config import Config
from kettle.schedd.job_counters import MOST_RULE_SETS, MOST_SETS, JobSets, read_rules
from kettle.schedd.run_counts import Counted

NOW = 1_000_000
STARTED = Counted({"JobsStarted": 1, "JobsAccumTimeToStart": 7}, {})
ENDED = Counted(
    {"JobsExited": 1, "JobsAccumChurnTime": 3}, {"JobsCompletedRuntimes": 40, "JobsBadputSizes": 1}
)


def sets(config: str = "") -> JobSets:
    found = JobSets(NOW - 500, (1200, 240))
    found.set_rules(read_rules(Config.from_text(config), print))
    return found


def job(**attributes: object) -> ClassAd:
    return ClassAd({"Owner": "ann", "Cmd": "/bin/sleep", "RequestCpus": 1, **attributes})


def of_owner(sets: JobSets, owner: str, now: int = NOW) -> ClassAd:
    ad = ClassAd()
    sets.publish_owner(ad, owner, now)
    return ad


def of_others(sets: JobSets, now: int = NOW) -> ClassAd:
    ad = ClassAd()
    sets.publish_others(ad, now)
    return ad


def test_each_owners_jobs_are_counted() -> None:
    found = sets()
    found.count(job(), STARTED, NOW)
    found.count(job(), ENDED, NOW)
    found.count(job(Owner="bob"), STARTED, NOW)
    ad = of_owner(found, "ann")
    assert ad.integer("JobsStarted") == ad.integer("RecentJobsStarted") == 1
    assert ad.integer("JobsAccumTimeToStart") == 7
    assert (ad.string("RecentJobsCompletedRuntimes") or "").startswith("0, 1, 0")
    assert of_owner(found, "bob").integer("JobsExited") == 0
    assert len(of_owner(found, "eve")) == 0


def test_what_is_no_longer_recent_leaves_recent_alone() -> None:
    found = sets()
    found.count(job(), STARTED, NOW)
    ad = of_owner(found, "ann", NOW + 2000)
    assert (ad.integer("JobsStarted"), ad.integer("RecentJobsStarted")) == (1, 0)


def test_a_submitters_ad_leaves_out_what_the_reference_does() -> None:
    found = sets()
    found.count(job(), ENDED, NOW)
    ad = of_owner(found, "ann")
    # Rare things that never happened, and what is counted of all jobs alone.
    for name in ("JobsCoredumped", "RecentJobsCoredumped", "JobsAccumChurnTime"):
        assert name not in ad
    found.count(job(), Counted({"JobsCoredumped": 1}, {}), NOW)
    assert of_owner(found, "ann").integer("RecentJobsCoredumped") == 1


def test_running_jobs_count_for_their_owner() -> None:
    found = sets()
    young = job(JobStartDate=NOW - 10, ImageSize=2500, ImageSize_RAW=10)
    found.look_at([young, job(JobStartDate=NOW - 70), job(Owner="bob")], NOW)
    ad = of_owner(found, "ann")
    assert ad.integer("JobsRunning") == 2
    assert (ad.string("JobsRunningRuntimes") or "").startswith("1, 0, 1, 0")
    assert (ad.string("JobsRunningSizes") or "").startswith("2, 0")
    found.look_at([], NOW)
    assert of_owner(found, "ann").integer("JobsRunning") == 0


def test_every_value_of_an_expression_has_its_own_figures() -> None:
    found = sets("SCHEDD_COLLECT_STATS_BY_cmd = Cmd\n")
    for command in ("/bin/sleep", "/bin/true", "/bin/true"):
        found.count(job(Cmd=command), STARTED, NOW)
    ad = of_others(found)
    assert ad.integer("CmdJobsStarted") == ad.integer("CmdRecentJobsStarted") == 3
    assert ad.integer("Cmd__bin_sleep_JobsStarted") == 1
    assert ad.integer("Cmd__bin_true_RecentJobsStarted") == 2


def test_jobs_of_which_an_expression_is_true_have_figures() -> None:
    found = sets("SCHEDD_COLLECT_STATS_FOR_Small = RequestCpus < 3\n")
    for cpus in (1, 2, 8):
        found.count(job(RequestCpus=cpus), STARTED, NOW)
    ad = of_others(found)
    assert ad.integer("SmallJobsStarted") == 2
    assert not [name for name in ad.own_names() if not name.startswith("Small")]


def test_what_has_no_value_is_of_no_set() -> None:
    found = sets("SCHEDD_COLLECT_STATS_BY_Project = Project\n")
    found.count(job(), STARTED, NOW)
    found.count(job(Project=""), STARTED, NOW)
    assert len(of_others(found)) == 0


def test_a_value_that_no_job_has_had_for_long_is_forgotten() -> None:
    found = sets("SCHEDD_COLLECT_STATS_BY_Cmd = Cmd\nSCHEDD_EXPIRE_STATS_BY_Cmd = 60\n")
    found.count(job(), STARTED, NOW)
    found.forget(NOW + 60)
    assert of_others(found).integer("Cmd__bin_sleep_JobsStarted") == 1
    found.forget(NOW + 61)
    ad = of_others(found)
    assert "Cmd__bin_sleep_JobsStarted" not in ad
    # The sum over all values stays, and so do the owner's for a week.
    assert ad.integer("CmdJobsStarted") == 1
    assert of_owner(found, "ann").integer("JobsStarted") == 1
    found.forget(NOW + 8 * 24 * 3600)
    assert len(of_owner(found, "ann")) == 0


def test_a_rule_that_is_gone_takes_its_figures_along() -> None:
    found = sets("SCHEDD_COLLECT_STATS_BY_Cmd = Cmd\n")
    found.count(job(), STARTED, NOW)
    found.set_rules(read_rules(Config.from_text("SCHEDD_COLLECT_STATS_BY_Cmd = Cmd\n"), print))
    assert of_others(found).integer("CmdJobsStarted") == 1
    found.set_rules([])
    assert len(of_others(found)) == 0


def test_a_rule_with_a_typo_is_told_of() -> None:
    said: list[str] = []
    text = "SCHEDD_COLLECT_STATS_BY_X = ((\nSCHEDD_COLLECT_STATS_FOR_Y = true\n"
    found = JobSets(NOW - 500, (1200, 240))
    found.set_rules(read_rules(Config.from_text(text), said.append))
    found.count(job(), STARTED, NOW)
    assert of_others(found).integer("YJobsStarted") == 1
    (line,) = said
    assert "SCHEDD_COLLECT_STATS_BY_X is ignored" in line


def test_two_rules_of_one_name_count_once() -> None:
    """As in the reference, FOR takes the place of BY."""
    text = "SCHEDD_COLLECT_STATS_BY_X = Cmd\nSCHEDD_COLLECT_STATS_FOR_X = true\n"
    found = sets(text)
    found.count(job(), STARTED, NOW)
    ad = of_others(found)
    assert ad.integer("XJobsStarted") == 1
    assert "X__bin_sleep_JobsStarted" not in ad


def test_jobs_cannot_make_sets_without_end() -> None:
    found = sets("SCHEDD_COLLECT_STATS_BY_X = Anything\n")
    for number in range(MOST_SETS + 50):
        found.count(job(Anything=number, Owner=f"u{number}"), STARTED, NOW)
    ad = of_others(found)
    assert ad.integer("XJobsStarted") == MOST_SETS + 50
    assert f"X_{MOST_RULE_SETS - 2}_JobsStarted" in ad
    assert f"X_{MOST_RULE_SETS - 1}_JobsStarted" not in ad
    # With all of them a collector takes the ad.
    assert len(ad) < MOST_ATTRIBUTES * 0.9
    assert len(of_owner(found, f"u{MOST_SETS - 1}"))
    assert not len(of_owner(found, f"u{MOST_SETS}"))


def test_a_value_becomes_a_short_part_of_names_whatever_is_in_it() -> None:
    found = sets("SCHEDD_COLLECT_STATS_BY_X = Anything\n")
    for value in ("x" * 1_000_000, "a\nEvil = 1", "ü%\0"):
        found.count(job(Anything=value), STARTED, NOW)
    names = of_others(found).own_names()
    assert max(map(len, names)) < 400
    assert all(re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) for name in names)
    assert "X_a_Evil___1_JobsStarted" in names
