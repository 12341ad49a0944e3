"""A knob that forbids something, or limits it, says in its row what allows least."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kettle.config import Config, Family, Knob
from kettle.config.declared import declared_knobs, families_of_knobs
from kettle.config.families import FAMILIES
from kettle.config.strictest import strictest

# What makes a name sound as if it kept somebody from something.
RESTRICTING = re.compile(
    r"(?:.*_)?(?:ALLOW|ALLOWED|DENY|IMMUTABLE|LIMITS?|MAX|PROTECTED|SEC|SECURE|TRUST|TRUSTED)(?:_.*)?"
)
# Knobs that sound so and are well served by their default, each pattern with the reason.
REASONS = {
    r"MAX_\w*LOG|MAX_\w+_ROTATIONS|EVENT_LOG_MAX_\w+|SHADOW_RECONNECT_LOG_MAX(_NUM)?|"
    r"MAX_ACCOUNTANT_DATABASE_SIZE|PREEN_COREFILE_MAX_SIZE": (
        "a file that is too small loses what it tells; the default is a limit"
    ),
    r"MAX_CONCURRENT_\w+|MAX_PENDING_STARTD_CONTACTS|MAX_CHECKPOINT_CLEANUP_PROCS|"
    r"NEGOTIATOR_MAX_TIME_\w+|GROUP_QUOTA_MAX_ALLOCATION_ROUNDS|MAX_PERIODIC_EXPR_INTERVAL": (
        "it paces our own work, and who waits gets no less"
    ),
    r"MAX_CLAIM_ALIVES_MISSED|MAX_FILE_TRANSFER_PLUGIN_LIFETIME|CHIRP_DELAYED_UPDATE_MAX_ATTRS|"
    r"SEC_\w+_SESSION_(DURATION|LEASE)|DEFAULT_JOB_MAX_RETRIES|MAX_SLOT_TYPES|"
    r"CONCURRENCY_LIMIT_DEFAULT": "the default is a limit that is sound",
    r"CGROUP_(HARD|LOW)_MEMORY_LIMIT_EXPR|VM_MAX_NUMBER": "the slot's memory is the limit without",
    r"COLLECTOR_ALLOW_ONLY_ONE_NEGOTIATOR|NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION|"
    r"SCHEDD_ALLOW_LATE_MATERIALIZE": "it says how something is done, and gives nobody more",
    r"SUBMIT_ALLOW_GETENV|SEC_CLAIMTOBE_\w+|SEC_CREDENTIAL_PRODUCER": (
        "what a person's own tool does, and the person may do without it"
    ),
    r"SEC_\w+_CRYPTO_METHODS": "each cipher that is spoken is sound",
    r"SEC_(PASSWORD|TOKEN)_\w*(DIRECTORY|FILE)|SEC_PASSWORD_DOMAIN|SEC_TOKEN_ISSUER_KEY|"
    r"TRUST_DOMAIN": "where keys are, or whose they are: without the right one nobody comes in",
    r"(SYSTEM_)?(IMMUTABLE|PROTECTED|SECURE)_JOB_ATTRS": (
        "the defaults protect what others rely on, and no list names all attributes"
    ),
    r"PROTECTED_URL_TRANSFER_MAPFILE": "which queue files wait in",
}


def _name(row: Knob[Any] | Family[Any]) -> str:
    return re.sub(r"\{\w+\}", "READ", row.pattern) if isinstance(row, Family) else row.name.upper()


READ = [row for row in (*declared_knobs().values(), *families_of_knobs()) if not row.unread]
SOUNDING = {_name(row): row for row in READ if RESTRICTING.fullmatch(_name(row))}


def test_each_knob_that_sounds_as_if_it_restricted_says_what_allows_least_or_why_not() -> None:
    undecided = [
        name
        for name, row in SOUNDING.items()
        if (row.strictest is None) != any(re.fullmatch(pattern, name) for pattern in REASONS)
    ]
    assert undecided == [], "say strictest= in their rows, or a reason here; not both"


def test_no_reason_outlives_its_knob() -> None:
    names = {name for name, row in SOUNDING.items() if row.strictest is None}
    stale = [one for one in REASONS if not any(re.fullmatch(one, name) for name in names)]
    assert stale == []


def test_rights_that_sites_make_up_say_it_too() -> None:
    rights = [row for row in FAMILIES if re.match("(ALLOW|DENY|SEC)_", row.example)]
    assert [row.example for row in rights if not row.strictest and not row.area] == []
    for row in rights:
        assert (strictest(row.example) or "") == row.strictest


@pytest.mark.parametrize(
    "knob", [row for row in declared_knobs().values() if row.strictest is not None], ids=repr
)
def test_what_allows_least_is_a_value_of_its_knob_and_counts(knob: Knob[Any]) -> None:
    assert knob.strictest is not None
    assert strictest(knob.name) == knob.strictest
    said: list[str] = []
    config = Config.from_text(f"{knob.name} = $(MINE)\nMINE = $({knob.name})\n")
    config.forgive(said.append)
    assert config[knob] == knob.parse(knob.strictest)
    assert said[0].endswith("which allows least")


@pytest.mark.parametrize("family", [row for row in families_of_knobs() if row.strictest], ids=_name)
def test_a_family_has_it_for_each_level(family: Family[Any]) -> None:
    for level in ("READ", "DEFAULT"):
        assert strictest(family[level].name) == family[level].strictest == family.strictest


def test_what_restricts_nothing_has_its_default() -> None:
    assert strictest("SCHEDD_INTERVAL") is None
