"""What a claim request asks for, and whether a slot can give it.

Choices about one request: sizes of the dynamic slot, match in both directions, rank. The
conversation is `services/claiming.py`; the arithmetic `slots.py` (wire notes, REQUEST_CLAIM).
"""

from __future__ import annotations

from kettle.classad import ClassAd, parse_expression
from kettle.config import Config
from kettle.config.knobs.startd import StartdKnobs
from kettle.errors import ClassAdSyntaxError
from kettle.matchmaking.requests import limits_text
from kettle.policy.job_owner import user_of
from kettle.startd.claim_machine import Holder
from kettle.startd.machine import SlotRecord
from kettle.startd.slots import Bundle, choose_request, plan_request

# How the reference rounds what it carves (A076).
DEFAULT_ROUNDING = {
    "Cpus": "quantize(RequestCpus,{1})",
    "Memory": "quantize(RequestMemory,{128})",
    "Disk": "quantize(RequestDisk,{1024})",
}


def _number(job: ClassAd, slot: ClassAd, text: str) -> float | None:
    try:
        value = job.evaluate_expression(parse_expression(text, old=True), slot)
    except ClassAdSyntaxError:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value


def size_request(record: SlotRecord, job: ClassAd, slot: ClassAd, config: Config) -> Bundle | None:
    """Return what to carve out for a job; None if there is not enough left."""
    names = [name for name in record.available.amounts if name != "Swap"]

    def asked(name: str) -> float | None:
        return _number(job, slot, f"Request{name}")

    def rounded(name: str) -> float | None:
        text = config.get(f"MODIFY_REQUEST_EXPR_REQUEST{name.upper()}")
        text = text or DEFAULT_ROUNDING.get(name)
        value = _number(job, slot, text) if text else None
        return asked(name) if value is None else value

    plain = plan_request(names, asked)
    must = config.value(StartdKnobs.MUST_MODIFY_REQUEST_EXPRS)
    chosen = choose_request(record.available, plain, plan_request(names, rounded), must_round=must)
    return chosen if record.available.fits(chosen) else None


def read_holder(
    job: ClassAd, *, schedd_address: str, client_machine: str, alive_seconds: int
) -> Holder:
    """Return who asks for a claim, and on whose account, as its request says.

    An accounting group is completed by the domain of the user: so the negotiator names submitters.
    The concurrency limits may depend on the slot that is given (`with_limits`).
    """
    user = user_of(job)
    account = job.string("AccountingGroup") or ""
    if account and "@" not in account:
        account = f"{account}@{user.partition('@')[2]}"
    return Holder(
        schedd_address=schedd_address,
        schedd_name=job.string("ScheddName") or "",
        user=user,
        owner=job.string("Owner") or "",
        accounting_group=account,
        group=job.string("RemoteGroup") or "",
        negotiating_group=job.string("RemoteNegotiatingGroup") or "",
        autoregroup=job.boolean("RemoteAutoregroup") is True,
        client_machine=client_machine,
        alive_interval_seconds=max(1, alive_seconds),
        startd_sends_alives=job.boolean("StartdSendsAlives") is not False,
    )


def with_limits(holder: Holder, slot: ClassAd, job: ClassAd) -> Holder:
    """Return a holder with the concurrency limits that the job counts against on the slot."""
    return holder._replace(limits=limits_text(job, slot))


def accepts(slot: ClassAd, job: ClassAd) -> bool:
    """Whether the slot's Requirements hold for the job, and the job's for the slot.

    A job without Requirements asks for nothing.
    """
    if slot.evaluate("Requirements", job) is not True:
        return False
    return "Requirements" not in job or job.evaluate("Requirements", slot) is True


def rank_of(slot: ClassAd, job: ClassAd) -> float:
    """Return how much the slot likes the job: booleans count, anything odd is 0."""
    value = slot.evaluate("Rank", job)
    return float(value) if isinstance(value, (bool, int, float)) else 0.0


def may_preempt(new_rank: float, current_rank: float) -> bool:
    """Whether a waiting claim may take the slot: by rank, or by the negotiator's word.

    The negotiator hands out a busy slot's claim id only for a better priority or a better rank,
    so an equal rank is enough here; a lower one never is (B015).
    """
    return new_rank >= current_rank
