"""A site's configuration with many faults: each is told once, on its line, and nothing else is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kettle.config import Config
from kettle.config.check import check_config
from kettle.config.finding import Finding
from kettle.config.templates import TEMPLATES
from kettle.errors import ConfigError
from kettle.tools.front.site_faults import find_site_faults

DOCS = Path(__file__).parents[4] / "docs"
FACTS = {
    "CondorIsAdmin": "false",
    "DETECTED_CPUS": "4",
    "DETECTED_CPUS_LIMIT": "4",
    "DETECTED_MEMORY": "4096",
    "FULL_HOSTNAME": "h",
    "TILDE": "/t",
    "USERNAME": "u",
}
SITE = """\
# Our pool: one access point, forty workers
CONDOR_HOST = cm.example.org
UID_DOMAIN = example.org
LOCAL_DIR = /var/lib/condor
LOG = log
SPOOL = $(LOCALDIR)/spool
COLLECTOR_HOST = $(CONDOR_HOST):9618
include ifexist : $(SITE_DIR)/extra.conf

DAEMON_LIST = MASTER, SCHEDD, STARTD
use SECURITY : HOST_BASED
ALLOW_WRITE = *.example.org
ALOW_READ = *

# Workers
NUM_CPUS = 0
MEMORY = -1
RESERVED_MEMORY = 1024
UPDATE_INTERVAL = 99999999999
POLLING_INTERVAL = 5 seconds
NUM_SLOTS_TYPE_1 = 1
SLOT_TYPE_1 = 100%
SLOT_TYPE_1_PARTITIONABLE = treu
START = (Owner == "alice") && (Owner == "bob")
SUSPEND = false
STARTD_ATTRS = HasMatlab, Rack
HasMatlab = True
MACHINE_RESOURCE_ACTUATOR = 4
STARTD_DEBUG = D_FULLDEBUG D_COMAND

# Access point
MAX_JOBS_RUNNING = 20000
MAX_JOBS_SUBMITTED = 500000
SCHEDD_INTERVAL = 0
JOB_TRANSFORM_NAMES = AddProject, Legacy
JOB_TRANSFORM_AddProject @=end
  SET Project "none"
@end
SUBMIT_REQUIREMENT_NAMES = Memory
SUBMIT_REQUIREMENT_Memory = RequestMemory < 100000
SUBMIT_REQUIREMENT_Memory_REASON = "too much"
SYSTEM_PERIODIC_HOLD = ImageSize >
STARTD_EXPRS = HasMatlab
GROUP_NAMES = physics, bio
GROUP_QUOTA_physics = 20
GROUP_QUOTA_chem = 4
MATLAB_LIMIT = 10
COLLECTOR_PORT = 96180
PERIODIC_EXPR_TIMESLICE = 1.5

MY_EMAIL = root@example.org
EVENT_LOG = /var/log/condor/EventLog
SEC_DEFAULT_AUTHENTICATION = REQUIRD
SCHEDD.MAX_JOBS_RUNING = 10
FLOCK_TO = other.example.net
SHADOW_WORKLIFE = 1 hour
"""
# The lines with a fault, what its sentence has, and what is advised.
FAULTS = [
    (5, "no absolute path", ""),
    (6, "nothing sets LOCALDIR", "LOCAL_DIR"),
    (8, "include mentions $(SITE_DIR)", ""),
    (13, "nothing reads ALOW_READ", "ALLOW_READ"),
    (16, "all cores count", ""),
    (17, "not an integer of at least 0", "do not start"),
    (19, "from 1 to 2147483647", "do not start"),
    (20, "number of seconds", "did you mean 5?"),
    (23, "not boolean", "true"),
    (24, "can never be true", ""),
    (26, "names Rack", ""),
    (29, "D_COMAND", "D_COMMAND"),
    (34, "1 counts instead", ""),
    (35, "names Legacy", ""),
    (42, "not an expression", ""),
    (43, "older name", "STARTD_ATTRS"),
    (46, "does not name CHEM", ""),
    (48, "from 0 to 65535", "do not start"),
    (49, "from 0 to 1", "do not start"),
    (51, "nothing reads MY_EMAIL", ""),
    (53, "not one of REQUIRED", "REQUIRED"),
    (54, "SCHEDD.MAX_JOBS_RUNING", "MAX_JOBS_RUNNING"),
    (56, "number of seconds", "did you mean 3600?"),
]


def check(text: str) -> list[Finding]:
    config = Config.from_text(text, subsystem="MASTER", facts=FACTS)
    # What is there on this machine is another matter.
    return [one for one in check_config(config, find_site_faults) if one.kind != "path"]


def faults_or_why_not(text: str) -> tuple[list[Finding], str]:
    """Return the faults, or what is said of a text that cannot be read."""
    try:
        return [one for one in check(text) if one.severity != "note"], ""
    except ConfigError as error:
        return [], str(error)


def test_each_fault_is_told_once_on_its_line_with_what_helps() -> None:
    found = check(SITE)
    assert [one.line for one in found] == [line for line, _, _ in FAULTS]
    for one, (_, words, advice) in zip(found, FAULTS, strict=True):
        assert words in one.sentence
        assert advice in one.advice


@pytest.mark.parametrize("category", TEMPLATES)
def test_what_our_templates_set_is_no_fault(category: str) -> None:
    for name in TEMPLATES[category]:
        found, why_not = faults_or_why_not(f"use {category} : {name}\n")
        assert not why_not or "require" in why_not, name
        # Some say themselves that something else must be set.
        assert [one for one in found if one.kind != "said"] == [], name


def examples() -> list[str]:
    texts = []
    for path in sorted(DOCS.rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        if path.name != "submit.md":
            texts += re.findall(r"^```ini\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        texts += re.findall(
            r"^\$ cat >+ \S*config\.d/\S* <<'?END'?\n(.*?)^END", text, re.DOTALL | re.MULTILINE
        )
    return texts


def test_the_examples_of_the_manual_are_no_faults_but_those_that_show_one() -> None:
    texts = examples()
    assert len(texts) > 8
    kinds = set()
    for text in texts:
        found, why_not = faults_or_why_not(text)
        kinds |= {(one.name, one.kind) for one in found}
        # A command that is not here, a condition and a template that are no such thing.
        assert not why_not or re.search("FROM_COMMAND|not a valid if condition|GPU", why_not), text
    # The ring that the page shows.
    assert kinds == {("ONE", "value"), ("TWO", "value")}
