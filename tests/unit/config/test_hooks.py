"""Hooks that a configuration names."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.config.hooks import explain_uncalled, fetch_hooks, read_job_hooks

TEXT = """\
SITE_HOOK_JOB_EXIT = /x
Site_Hook_Prepare_Job = /y
OTHER_HOOK_UPDATE_JOB_INFO = /z
OTHER_HOOK_JOB_EXIT =
FAR_HOOK_FETCH_WORK = /w
SITE_HOOK_OF_OUR_OWN = /v
"""
SITE = ("SITE_HOOK_JOB_EXIT", "SITE_HOOK_PREPARE_JOB")
OTHER = ("OTHER_HOOK_UPDATE_JOB_INFO",)


@pytest.mark.parametrize(
    ("more", "keyword", "names"),
    [
        ("", None, ()),
        ("", "site", SITE),
        ("", "Nobody", ()),
        ("STARTER_JOB_HOOK_KEYWORD = OTHER\n", "site", OTHER),
        ("STARTER_DEFAULT_JOB_HOOK_KEYWORD = other\n", None, OTHER),
        ("STARTER_DEFAULT_JOB_HOOK_KEYWORD = other\n", "site", SITE),
    ],
)
def test_a_jobs_hooks_are_those_of_the_keyword_that_counts(
    more: str, keyword: str | None, names: tuple[str, ...]
) -> None:
    hooks = read_job_hooks(Config.from_text(TEXT + more, subsystem="STARTER"))
    job = ClassAd({"HookKeyword": keyword} if keyword else {})
    assert hooks.meant_for(job) == names


def test_a_startd_fetches_work_by_its_own_keyword_alone() -> None:
    config = Config.from_text(TEXT, subsystem="STARTD")
    assert fetch_hooks(config) == []
    config = Config.from_text(f"{TEXT}STARTD_JOB_HOOK_KEYWORD = far\n", subsystem="STARTD")
    assert fetch_hooks(config) == ["FAR_HOOK_FETCH_WORK"]
    assert "FAR_HOOK_FETCH_WORK will not" in explain_uncalled(fetch_hooks(config))
