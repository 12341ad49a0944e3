"""As which account a job runs (R086, R087).

The peer says whose job it is and which UID domain that name is from. It is believed only where the
submit host itself lies in that domain, or where TRUST_UID_DOMAIN says that it need not; everybody
else's jobs run as the slot's account. Pure: who looks up hosts and accounts is `service.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from kettle.classad import ClassAd
from kettle.errors import RefusedError

NOBODY = "nobody"


@dataclass(frozen=True)
class AccountRules:
    """What the configuration says about accounts of jobs.

    `slot_users` has slots' short names in lower case (SLOT1_USER, SLOT1_2_USER); `everybody` is
    NOBODY_SLOT_USER; `dedicated` DEDICATED_EXECUTE_ACCOUNT_REGEXP.
    """

    uid_domain: str = ""
    trust_uid_domain: bool = False
    allow_run_as_owner: bool = True
    slot_users: Mapping[str, str] = field(default_factory=dict)
    everybody: str = ""
    dedicated: str = ""


@dataclass(frozen=True)
class Claimed:
    """What the submit side says: the job's owner and domain, and whether it asks to run as him."""

    owner: str
    uid_domain: str
    run_as_owner: bool = True


def read_claimed(activated: ClassAd, job: ClassAd) -> Claimed:
    """Return whose job it is, from the ad that came with the activation and the job's own.

    RefusedError if the two name different owners: the machine agreed to run one user's job.
    """
    owner = (job.string("OsUser") or job.string("Owner") or "").partition("@")[0]
    expected = (activated.string("Owner") or owner).partition("@")[0]
    if job.string("Owner") not in {None, expected}:
        raise RefusedError(
            f"the claim was activated for a job of {expected}, not of {job.string('Owner')}"
        )
    return Claimed(owner, job.string("UidDomain") or "", job.boolean("RunAsOwner") is not False)


@dataclass(frozen=True)
class Choice:
    """The chosen account, why, and whether the administrator named it himself."""

    name: str
    reason: str
    named_here: bool = False


def needs_submit_host(rules: AccountRules, claimed: Claimed) -> bool:
    """Return whether it counts in which domain the submit host lies: to find out may take long."""
    return not rules.trust_uid_domain and not _why_not_owner(rules, claimed, in_domain=True)


def choose_account(rules: AccountRules, claimed: Claimed, slot: str, *, in_domain: bool) -> Choice:
    """Return the account for a job in `slot` (a short name like slot1_2).

    `in_domain` says whether the submit host lies in our UID domain, where that counts.
    """
    refusal = _why_not_owner(rules, claimed, in_domain=in_domain)
    if not refusal:
        return Choice(claimed.owner, "the owner, of our UID domain")
    name = slot_account(rules, slot)
    return Choice(name, refusal, named_here=name != NOBODY)


def _why_not_owner(rules: AccountRules, claimed: Claimed, *, in_domain: bool) -> str:
    if not claimed.owner:
        return "the job has no owner"
    if not claimed.run_as_owner:
        return "the job does not ask to run as its owner"
    if not rules.allow_run_as_owner:
        return "STARTER_ALLOW_RUNAS_OWNER is false"
    if not claimed.uid_domain or claimed.uid_domain.lower() != rules.uid_domain.lower():
        return f"the job's UID domain {claimed.uid_domain!r} is not ours ({rules.uid_domain})"
    if not rules.trust_uid_domain and not in_domain:
        return (
            f"the submit host claims to be of our UID domain {rules.uid_domain} and its name does "
            "not say so; TRUST_UID_DOMAIN would believe it"
        )
    return ""


def slot_account(rules: AccountRules, slot: str) -> str:
    """Return whose account a slot has: its own, its parent's, everybody's, else nobody.

    Never root, whatever the configuration says.
    """
    short = slot.lower()
    for name in (
        rules.slot_users.get(short),
        rules.slot_users.get(short.partition("_")[0]),
        rules.everybody,
    ):
        if name and name != "root":
            return name
    return NOBODY


def is_dedicated(rules: AccountRules, account: str) -> bool:
    """Whether every process of the account is a job's, to be ended with it."""
    if not rules.dedicated or account in {"root", ""}:
        return False
    try:
        return re.fullmatch(rules.dedicated, account) is not None
    except re.error:
        return False
