"""What a query asks of the collector's tables, and which ads answer it.

`parse_query` reads the query ad (wire notes, queries); `answer` yields the ads with the names
to send of each. The bytes are `commands.py`'s business.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum

from kettle.classad import ClassAd, Expr, unparse
from kettle.classad.references import find_references
from kettle.collector.ad_kinds import (
    QUERY_ANY,
    QUERY_MULTIPLE,
    QUERY_MULTIPLE_PRIVATE,
    QUERY_PRIVATE_SLOTS,
    SLOT,
    AdKind,
    kind_of_query,
    kind_of_type,
)
from kettle.collector.ad_store import AdStore, StoredAd
from kettle.named_tuples import NamedTuple
from kettle.wire.codec import split_names

# Limit: types named in one query; more than there are kinds makes no sense.
MAX_TYPES = 64
# Limit: bytes of one query; to read an expression as long takes a fifth of a second.
MAX_QUERY = 256 * 1024
# An expression as long takes much longer than to send the ad it is about.
_LONG_EXPRESSION = 2000
# Ads of which some attributes are shown with the work that one whole ad takes.
_SOME_OF_ONE = 20


class Secrets(IntEnum):
    """Which secrets of an ad go along with it."""

    NONE = 0
    # What a negotiator needs.
    CLAIMS = 1
    # The keys of administrators too. Compat: the reference's negotiators get them with all ads and
    # throw them away; test_a_negotiator_s_question_brings_no_keys_of_administrators.
    ALL = 2


@dataclass(frozen=True, slots=True)
class TableQuery:
    """What is asked of one table."""

    kind: AdKind
    # None: every ad.
    requirements: Expr | None
    # Attribute names, empty for all; an expression is evaluated for each ad and gives the names.
    projection: tuple[str, ...] | Expr
    # None: no limit.
    limit: int | None
    private: Secrets = Secrets.NONE
    # Whether the answer is the private ads themselves.
    private_only: bool = False
    # Whether ads of machines that are gone are wanted too.
    absent: bool = False


class Answer(NamedTuple):
    """One ad of a reply, and the names that are asked for; none means all."""

    entry: StoredAd
    names: tuple[str, ...]
    # Which of its secrets are to be sent along, and whether the private ad is meant itself.
    private: Secrets = Secrets.NONE
    secret: bool = False

    @property
    def ad(self) -> ClassAd:
        """Return the ad that is meant."""
        if not self.secret:
            return self.entry.ad
        assert self.entry.private is not None
        return self.entry.private


def parse_query(command: int, query: ClassAd, store: AdStore, *, most: Secrets) -> list[TableQuery]:
    """Turn a query ad into one question for each table; empty if it asks for nothing we know.

    `most` is what of its secrets whoever asks may see at most.
    """
    target = query.string("TargetType") or ""
    private = Secrets.NONE
    if most and command == QUERY_MULTIPLE_PRIVATE:
        private = Secrets.CLAIMS
    elif most and query.boolean("SendPrivateAttributes"):
        private = most
    if command == QUERY_ANY:
        kinds: Iterable[AdKind] = store.kinds()
        return [_table_query(kind, query, "", private=private) for kind in kinds]
    if command in (QUERY_MULTIPLE, QUERY_MULTIPLE_PRIVATE):
        named = split_names(target)[:MAX_TYPES]
        if any(name.lower() == "any" for name in named):
            return [_table_query(kind, query, "", private=private) for kind in store.kinds()]
        return [_table_query(kind_of_type(name), query, name, private=private) for name in named]
    kind = kind_of_query(command, target)
    if kind is None:
        return []
    asked = _table_query(kind, query, "", private=private)
    if command == QUERY_PRIVATE_SLOTS:
        return [
            TableQuery(
                SLOT,
                asked.requirements,
                asked.projection,
                asked.limit,
                private_only=True,
                absent=asked.absent,
            )
        ]
    return [asked]


def _table_query(kind: AdKind, query: ClassAd, prefix: str, *, private: Secrets) -> TableQuery:
    requirements = _override(query, prefix, "Requirements")
    limit_expression = _override(query, prefix, "LimitResults")
    limit = query.evaluate_expression(limit_expression) if limit_expression is not None else None
    projection = _override(query, prefix, "Projection")
    # Machines that are gone show only when they are asked for by name of the attribute.
    absent = requirements is not None and "absent" in _referred(requirements)
    return TableQuery(
        kind,
        None if requirements is None or _is_true(requirements) else requirements,
        _parse_projection(query, projection),
        limit if isinstance(limit, int) and not isinstance(limit, bool) and limit > 0 else None,
        private=private,
        absent=absent,
    )


def _override(query: ClassAd, prefix: str, name: str) -> Expr | None:
    """Return <Type>Name if the query has it, else Name."""
    specific = query.lookup(prefix + name) if prefix else None
    return specific if specific is not None else query.lookup(name)


def _is_true(expression: Expr) -> bool:
    return expression.is_literal and ClassAd().evaluate_expression(expression) is True


def _referred(expression: Expr) -> set[str]:
    internal, external = find_references(expression, ClassAd())
    return {name.lower().rpartition(".")[2] for name in (*internal, *external)}


def _parse_projection(query: ClassAd, expression: Expr | None) -> tuple[str, ...] | Expr:
    if expression is None:
        return ()
    if not expression.is_literal:
        return expression
    value = query.evaluate_expression(expression)
    return tuple(split_names(value)) if isinstance(value, str) else ()


def extent(store: AdStore, queries: Iterable[TableQuery]) -> int:
    """Return about how many ads an answer has to look at.

    A long expression counts for many, some attributes of an ad for a part: they are copied out of
    what is known already, or will be, to the next who asks for them.
    """
    looked_at = 0
    for query in queries:
        there = len(store.table(query.kind))
        if query.requirements is None:
            there = min(there, there if query.limit is None else query.limit)
        elif len(unparse(query.requirements)) > _LONG_EXPRESSION:
            there *= _LONG_EXPRESSION
        if query.projection and isinstance(query.projection, tuple):
            there //= _SOME_OF_ONE
        looked_at += there
    return looked_at


def answer(store: AdStore, queries: Iterable[TableQuery]) -> Iterator[Answer | None]:
    """Yield the ads that answer, table after table; None for each that does not."""
    for query in queries:
        left = query.limit if query.limit is not None else -1
        # A list, so that an update that arrives while the answer is being sent cannot spoil it.
        for entry in list(store.table(query.kind).values()):
            if left == 0:
                break
            if not _wanted(entry, query):
                yield None
                continue
            left -= 1
            meant = entry.private if query.private_only else entry.ad
            assert meant is not None
            names = _names(meant, query.projection)
            yield Answer(entry, names, _secrets(entry, query), query.private_only)


def _secrets(entry: StoredAd, query: TableQuery) -> Secrets:
    """Return which secrets go along: those that were asked for, if there are any."""
    any_there = entry.private is not None or (query.private is Secrets.ALL and entry.capability)
    return query.private if any_there else Secrets.NONE


def _wanted(entry: StoredAd, query: TableQuery) -> bool:
    if query.private_only and entry.private is None:
        return False
    if not query.absent and "absent" in entry.ad.table and entry.ad.boolean("Absent"):
        return False
    return query.requirements is None or entry.ad.satisfies(query.requirements)


def _names(ad: ClassAd, projection: tuple[str, ...] | Expr) -> tuple[str, ...]:
    """Return the names of an ad's attributes that are asked for."""
    if isinstance(projection, tuple):
        return projection
    value = ad.evaluate_expression(projection)
    return tuple(split_names(value)) if isinstance(value, str) else ()
