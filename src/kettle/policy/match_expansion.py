"""`$$()` in a job's attributes: filled in from the slot the job got.

`$$(Attr)` is the slot's attribute, `$$(Attr:text)` has something to say where the slot has none,
`$$(DOLLARDOLLAR)` is two dollars, `$$([expr])` is an expression with MY as the job and TARGET as
the slot. What cannot be filled in holds the job (R050). Pure: ads in, changed texts or the culprit
out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from kettle.classad import ERROR, UNDEFINED, ClassAd, parse_expression, to_expression, unparse
from kettle.errors import ClassAdSyntaxError

# Limit: expansions in one attribute; the result of one is not looked at again.
MAX_EXPANSIONS = 1000
# Limits on transfers, in lower case, which may be expressions about the slot.
_LIMITS = ("maxtransferinputmb", "maxtransferoutputmb")
# Attributes whose text is an expression to be evaluated elsewhere, never a place for `$$()`.
_LEFT_ALONE = frozenset({"requirements", "rank", "globaljobid", "submitevent"})


@dataclass(slots=True)
class Expansion:
    """The changed attributes as text, or the name that could not be resolved.

    `values` has what each name was resolved to; the schedd keeps them as MATCH_EXP_<attribute>.
    """

    changed: dict[str, str] = field(default_factory=dict)
    unresolved: str | None = None


@dataclass(frozen=True, slots=True)
class _Place:
    start: int
    end: int
    inside: str


def _places(text: str) -> Iterator[_Place]:
    """Yield each `$$(...)` of a text with what stands inside of its parentheses."""
    at = 0
    for _ in range(MAX_EXPANSIONS):
        start = text.find("$$(", at)
        if start < 0:
            return
        if text.startswith("$$([", start):
            end = text.find("])", start)
            end = end + 2 if end >= 0 else -1
        else:
            end = text.find(")", start)
            end = end + 1 if end >= 0 else -1
        if end < 0:
            return
        yield _Place(start, end, text[start + 3 : end - 1])
        at = end


def resolve(inside: str, job: ClassAd, slot: ClassAd) -> str | None:
    """Return what stands for `$$(inside)`, None if nothing does."""
    if inside.startswith("["):
        try:
            expression = parse_expression(inside.strip("[]"))
        except ClassAdSyntaxError:
            return None
        value = job.evaluate_expression(expression, slot)
    else:
        if inside.lower() == "dollardollar":
            return "$$"
        name, colon, default = inside.partition(":")
        value = slot.evaluate(name.strip())
        if value is UNDEFINED:
            return default if colon else None
    if value is UNDEFINED or value is ERROR:
        return None
    return value if isinstance(value, str) else unparse(to_expression(value))


def asks_slot(ad: ClassAd) -> bool:
    """Tell whether an ad itself, without its parent, has something to be filled in from a slot."""
    for value in ad.table.values():
        if "$$(" in (value if isinstance(value, str) else value.text(old=True)):
            return True
    limits = (ad.lookup(name) for name in _LIMITS if name in ad.table)
    return any(limit is not None and not limit.is_literal for limit in limits)


def expand_match(job: ClassAd, slot: ClassAd) -> Expansion:
    """Fill in every `$$()` of a job's string attributes from its slot."""
    expansion = Expansion()
    for name in job.names():
        text = job.text(name)
        if text is None or "$$(" not in text or name.lower() in _LEFT_ALONE:
            continue
        value = job.string(name)
        if value is None:
            continue
        parts: list[str] = []
        at = 0
        for place in _places(value):
            found = resolve(place.inside, job, slot)
            if found is None:
                expansion.unresolved = place.inside
                return expansion
            parts += (value[at : place.start], found)
            at = place.end
        if parts:
            expansion.changed[name] = "".join(parts) + value[at:]
    return expansion
