"""The books as the accounting log keeps them: what is written of them, and reading it.

The log itself is `records/accounting_log.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kettle.classad.text import quote_line, read_old_string
from kettle.matchmaking import fair_share
from kettle.matchmaking.fair_share import PrioritySettings
from kettle.negotiator.accountant import Accountant
from kettle.negotiator.customers import LEASE_KINDS, Customer, Holding, Lease, lease_attributes
from kettle.records.accounting_log import (
    ACCOUNTANT,
    AccountingTable,
    customer_key,
    is_name,
    resource_key,
)

# Limit: customers on the books; a pool has thousands of users, not millions.
MAX_CUSTOMERS = 100_000
# Limit: what a log says beyond this is no usage, and its products would be infinite.
_LARGEST = 1e300


def table_of(accountant: Accountant) -> AccountingTable:
    """Return all that the books say as the accounting log keeps it."""
    table = AccountingTable()
    table.ads[ACCOUNTANT] = {"LastUpdateTime": str(accountant.last_update_at)}
    for customer in accountant.customers.values():
        table.ads[customer_key(customer.name)] = _customer_texts(accountant, customer)
    for holding in accountant.holdings.values():
        table.ads[resource_key(holding.name)] = _holding_texts(holding)
    return table


def _customer_texts(accountant: Accountant, customer: Customer) -> dict[str, str]:
    texts = {
        name: format_(getattr(customer, attribute))
        for name, (attribute, format_, _) in CUSTOMER_FIELDS.items()
    }
    factor = accountant.factor(customer.name) if customer.factor is None else customer.factor
    texts["PriorityFactor"] = _real(factor)
    for name, value in lease_attributes(customer).items():
        is_real = name == "PriorityFactorPreLeaseValue"
        texts[name] = _real(value) if is_real else _integer(value)
    return texts


def accountant_of(
    table: AccountingTable,
    settings: PrioritySettings,
    *,
    group_names: tuple[str, ...] = (),
    use_slot_weights: bool = True,
) -> Accountant:
    """Open the books as a log left them; what does not read as a number counts as absent."""
    accountant = Accountant(settings, group_names, use_slot_weights)
    own = table.ads.get(ACCOUNTANT, {})
    accountant.last_update_at = int(_number(own.get("LastUpdateTime")) or 0)
    for name, texts in table.customers():
        if len(accountant.customers) >= MAX_CUSTOMERS:
            break
        if not is_name(name):
            continue
        accountant.customers[name] = _read_customer(name, texts, settings)
    for name, texts in table.resources():
        user = read_old_string(texts.get("RemoteUser", ""))
        if user and is_name(user) and is_name(name):
            since = int(_number(texts.get("StartTime")) or 0)
            weight = _number(texts.get("SlotWeight"))
            accountant.holdings[name] = Holding(
                name,
                user,
                since,
                1.0 if weight is None else weight,
                read_old_string(texts.get("MatchedConcurrencyLimits", "")) or "",
            )
    accountant.recount()
    return accountant


def _read_customer(name: str, texts: Mapping[str, str], settings: PrioritySettings) -> Customer:
    customer = Customer(name)
    for attribute, (field_name, _, convert) in CUSTOMER_FIELDS.items():
        value = _number(texts.get(attribute))
        if value is not None:
            setattr(customer, field_name, convert(value))
    factor = _number(texts.get("PriorityFactor"))
    # The default is written out too; it must go on following the configuration.
    if factor is not None and factor != fair_share.default_factor(name, settings):
        customer.factor = factor
    for attribute, kind in LEASE_KINDS.items():
        until = _number(texts.get(f"{attribute}LeaseExpiration"))
        was = _number(texts.get(f"{attribute}PreLeaseValue"))
        if until is not None and was is not None:
            before = was if kind.is_factor else int(was)
            customer.leases[attribute] = Lease(max(0, int(until)), before)
    customer.priority = max(customer.priority, fair_share.MINIMUM_PRIORITY)
    return customer


def _real(value: float) -> str:
    return f"{value:.6f}"


def _integer(value: float) -> str:
    return str(int(value))


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else None
    except ValueError:
        return None
    return value if value is not None and value == value and abs(value) < _LARGEST else None


def _holding_texts(holding: Holding) -> dict[str, str]:
    texts = {
        "RemoteUser": quote_line(holding.user),
        "SlotWeight": _real(holding.weight),
        "StartTime": str(holding.since),
    }
    if holding.limits:
        texts["MatchedConcurrencyLimits"] = quote_line(holding.limits)
    return texts


# Attribute in the log: field of Customer, how it is written, what it is read into.
CUSTOMER_FIELDS: Mapping[str, tuple[str, Callable[[float], str], Callable[[float], float]]] = {
    "Priority": ("priority", _real, float),
    "AccumulatedUsage": ("accumulated", _real, float),
    "WeightedAccumulatedUsage": ("weighted_accumulated", _real, float),
    "BeginUsageTime": ("begin_usage_at", _integer, int),
    "LastUsageTime": ("last_usage_at", _integer, int),
    "ResourcesUsed": ("slots_in_use", _integer, int),
    "WeightedResourcesUsed": ("weight_in_use", _real, float),
    "HierWeightedResourcesUsed": ("tree_weight_in_use", _real, float),
    "UnchargedTime": ("uncharged", _integer, float),
    "WeightedUnchargedTime": ("weighted_uncharged", _real, float),
    "Ceiling": ("ceiling", _integer, int),
    "Floor": ("floor", _integer, int),
}
