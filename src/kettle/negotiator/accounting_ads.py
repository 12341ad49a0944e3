"""How the accountant's books look to condor_userprio: Accounting ads, the numbered reply, lists.

Attribute names and which of them a group has instead of a submitter are the reference's (daemon
reference, accounting commands). What the numbers are is `accountant.py`'s business.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kettle.classad import ClassAd
from kettle.matchmaking.groups import ROOT, Group, group_of
from kettle.negotiator.accountant import Accountant
from kettle.negotiator.customers import Customer, lease_attributes


@dataclass(frozen=True, slots=True)
class CycleFacts:
    """What the last cycle found out about one submitter."""

    share: float = 0.0
    limit: float = 0.0


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """The groups as the last cycle planned them; without groups only the root, all zero."""

    groups: Mapping[str, Group]
    configured: bool = False


NO_GROUPS = GroupFacts({})


def customer_attributes(
    accountant: Accountant, customer: Customer, facts: CycleFacts, groups: GroupFacts
) -> dict[str, object]:
    """Return the attributes of one submitter or group, without number."""
    is_group = customer.name == ROOT or customer.name in accountant.group_names
    group = customer.name if is_group else group_of(customer.name, accountant.group_names)
    attributes: dict[str, object] = {
        "Name": customer.name,
        "Priority": accountant.effective_priority(customer.name),
        "PriorityFactor": accountant.factor(customer.name),
        "ResourcesUsed": customer.slots_in_use,
        "WeightedResourcesUsed": customer.weight_in_use,
        "HierWeightedResourcesUsed": customer.tree_weight_in_use,
        "AccumulatedUsage": customer.accumulated,
        "WeightedAccumulatedUsage": customer.weighted_accumulated,
        "BeginUsageTime": customer.begin_usage_at,
        "LastUsageTime": customer.last_usage_at,
        "LastUpdate": accountant.last_update_at,
        "AccountingGroup": group,
        "IsAccountingGroup": is_group,
        "Ceiling": customer.ceiling,
        "Floor": customer.floor,
        "SubmitterShare": facts.share,
        "SubmitterLimit": facts.limit,
    }
    if is_group:
        attributes.update(_group_attributes(groups.groups.get(customer.name), groups))
    return attributes


def _group_attributes(group: Group | None, facts: GroupFacts) -> dict[str, object]:
    known = group if group is not None and facts.configured else None
    return {
        "ConfigQuota": known.settings.quota if known else 0.0,
        "EffectiveQuota": known.own_quota if known else 0.0,
        "SubtreeQuota": known.quota if known else 0.0,
        "GroupSortKey": known.sort_key if known else 0.0,
        "Requested": known.wanted if known else 0.0,
        "SurplusPolicy": known.surplus_policy if known else "byquota",
    }


def _ordered(accountant: Accountant) -> list[Customer]:
    """Return groups before submitters, both by name; the root comes first."""
    groups = {ROOT, *accountant.group_names}
    return sorted(
        accountant.customers.values(),
        key=lambda customer: (customer.name not in groups, customer.name),
    )


def accounting_ads(
    accountant: Accountant, facts: Mapping[str, CycleFacts], groups: GroupFacts = NO_GROUPS
) -> list[ClassAd]:
    """Return one ad for each customer: the answer to QUERY_ACCOUNTING_ADS."""
    return [
        ClassAd(
            _without_unset(
                customer_attributes(
                    accountant, customer, facts.get(customer.name, CycleFacts()), groups
                )
            )
            | lease_attributes(customer)
        )
        for customer in _ordered(accountant)
    ]


def advertised_ads(
    accountant: Accountant, facts: Mapping[str, CycleFacts], groups: GroupFacts = NO_GROUPS
) -> list[ClassAd]:
    """Return the ads that collectors get: as in the reference, they differ from the answer."""
    return [
        _advertised(accountant, customer, facts.get(customer.name, CycleFacts()), groups)
        for customer in _ordered(accountant)
    ]


def _advertised(
    accountant: Accountant, customer: Customer, facts: CycleFacts, groups: GroupFacts
) -> ClassAd:
    attributes = customer_attributes(accountant, customer, facts, groups)
    if attributes["IsAccountingGroup"]:
        for name in _OF_SUBMITTERS:
            del attributes[name]
    else:
        # Whatever was used is in the books when they are shown.
        attributes = _without_unset(attributes) | {"UnchargedTime": 0, "WeightedUnchargedTime": 0.0}
    return ClassAd(attributes | lease_attributes(customer))


def _without_unset(attributes: dict[str, object]) -> dict[str, object]:
    """Leave out what nothing was ever written of: a submitter's usage before the first use."""
    unset = {name for name in ("BeginUsageTime", "LastUsageTime") if not attributes[name]}
    if "BeginUsageTime" in unset:
        usages = ("AccumulatedUsage", "WeightedAccumulatedUsage")
        unset |= {name for name in usages if not attributes[name]}
    return {name: value for name, value in attributes.items() if name not in unset}


# What only an Accounting ad of a submitter has.
_HIERARCHY = "HierWeightedResourcesUsed"
_OF_SUBMITTERS = ("Ceiling", "Floor", "SubmitterLimit", "SubmitterShare", _HIERARCHY)
# What the numbered reply leaves out of submitters and of groups.
_NOT_NUMBERED = {False: (_HIERARCHY,), True: _OF_SUBMITTERS[:-1]}


def numbered_ad(
    accountant: Accountant, facts: Mapping[str, CycleFacts], groups: GroupFacts = NO_GROUPS
) -> ClassAd:
    """Return everything in one ad, attributes numbered from 1: the answer to GET_PRIORITY."""
    customers = _ordered(accountant)
    ad = ClassAd({"LastUpdate": accountant.last_update_at, "NumSubmittors": len(customers)})
    for number, customer in enumerate(customers, start=1):
        attributes = customer_attributes(
            accountant, customer, facts.get(customer.name, CycleFacts()), groups
        )
        for name in ("LastUpdate", *_NOT_NUMBERED[attributes["IsAccountingGroup"] is True]):
            del attributes[name]
        for name, value in attributes.items():
            ad[f"{name}{number}"] = value
    return ad


def rollup_ad(
    accountant: Accountant, facts: Mapping[str, CycleFacts], groups: GroupFacts = NO_GROUPS
) -> ClassAd:
    """Return the numbered ad in which a group's usage includes that of the groups below it."""
    ad = numbered_ad(accountant, facts, groups)
    for number, customer in enumerate(_ordered(accountant), start=1):
        below = [
            other
            for other in accountant.customers.values()
            if other.name != customer.name and _is_below(other.name, customer.name, accountant)
        ]
        if below:
            whole = [customer, *below]
            ad[f"AccumulatedUsage{number}"] = sum(each.accumulated for each in whole)
            ad[f"WeightedAccumulatedUsage{number}"] = sum(
                each.weighted_accumulated for each in whole
            )
    return ad


def _is_below(name: str, group: str, accountant: Accountant) -> bool:
    return group in accountant.group_names and name in _subgroups(group, accountant.group_names)


def _subgroups(group: str, names: Iterable[str]) -> set[str]:
    return {name for name in names if name.startswith(group + ".")}


def resource_list_ad(accountant: Accountant, user: str) -> ClassAd:
    """Return the slots a submitter holds and since when: the answer to GET_RESLIST."""
    ad = ClassAd()
    held = sorted(
        (holding for holding in accountant.holdings.values() if holding.user == user),
        key=lambda holding: holding.name,
    )
    for number, holding in enumerate(held, start=1):
        ad[f"Name{number}"] = holding.name
        ad[f"StartTime{number}"] = holding.since
    return ad
