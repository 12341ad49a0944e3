"""Which slots are the same to a request, so that one evaluation stands for all of them.

Two slots are in one class for a request if all attributes that the request's Requirements and Rank
and the slots' own Requirements look at have the same text in both, followed through the slots' own
definitions. Who holds a slot does not count: whether it may be taken is judged slot by slot.
Purely an optimisation: a property test holds it to the same result.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Final

from kettle.classad import ClassAd, parse_expression
from kettle.errors import ClassAdSyntaxError
from kettle.matchmaking.autoclusters import closure
from kettle.matchmaking.elsewhere import looks_elsewhere
from kettle.matchmaking.slots import Slot
from kettle.remembered import Answers

# The expressions of a slot that take part in every match.
SLOT_EXPRESSIONS = ("Requirements",)

_LITERAL = re.compile(
    r'\s*(?:[-+]?\d[\d.eE+-]*|"[^"\\]*"|true|false|undefined)\s*\Z', re.IGNORECASE
)

# An expression that calls one of these may differ between slots with equal texts.
_UNSTEADY = re.compile(r"\b(?:random|time|eval|unparse|evalInEachContext)\s*\(", re.IGNORECASE)

Texts = tuple[str | None, ...]


@dataclass(slots=True)
class _Template:
    """What one kind of slot ad makes of the names: those to compare, and its definitions.

    `asked` are the names that it looks up in requests.
    """

    names: tuple[str, ...]
    definitions: tuple[str, ...]
    texts: Texts
    steady: bool
    asked: tuple[str, ...]


@dataclass(slots=True)
class SlotClasses:
    """Signatures of slots for one set of names that requests look at."""

    outside: tuple[str, ...]
    _templates: list[_Template] = field(default_factory=list)
    _known: dict[tuple[int, int], Hashable] = field(default_factory=dict)

    def signature(self, slot: Slot) -> Hashable:
        """Return what slots of one class have in common; None if a slot stands for itself alone."""
        key = (slot.index, slot.version)
        if key not in self._known:
            self._known[key] = self._compute(slot)
        return self._known[key]

    def asked(self) -> set[str]:
        """Return what the slots of which a signature was asked look up in requests."""
        return {name for template in self._templates for name in template.asked}

    def _compute(self, slot: Slot) -> Hashable:
        ad = slot.ad
        for number, template in enumerate(self._templates):
            if tuple(map(ad.text, template.definitions)) != template.texts:
                continue
            if not template.steady:
                return None
            values = tuple(map(ad.text, template.names))
            if all(map(is_plain, values)):
                return (number, values, slot.partitionable)
        template = self._learn(ad)
        if not template.steady:
            return None
        return (len(self._templates) - 1, tuple(map(ad.text, template.names)), slot.partitionable)

    def _learn(self, ad: ClassAd) -> _Template:
        """Find out what a new kind of slot ad looks at."""
        inside, elsewhere = closure(ad, (*SLOT_EXPRESSIONS, *self.outside))
        names = dict.fromkeys(name.lower() for name in (*inside, *elsewhere, *self.outside))
        texts = {name: ad.text(name) for name in names}
        definitions = tuple(name for name, text in texts.items() if not is_plain(text))
        template = _Template(
            tuple(name for name in names if name not in definitions),
            definitions,
            tuple(texts[name] for name in definitions),
            is_steady(texts[name] for name in definitions),
            tuple(name.lower() for name in elsewhere),
        )
        self._templates.append(template)
        return template


def asked_of_requests(slots: Iterable[Slot]) -> tuple[str, ...]:
    """Return what the slots' expressions look up in requests, lower case and sorted."""
    classes = SlotClasses(())
    for slot in slots:
        classes.signature(slot)
    return tuple(sorted(classes.asked()))


def _is_value(text: str | None) -> bool:
    return text is None or _LITERAL.match(text) is not None


# Limit: the bytes of the texts of slots of which it is known whether they are values, and of
# those of which it is known whether they are unsteady.
_MOST_KNOWN: Final = 2 * 1024 * 1024
_plain: Final = Answers(_is_value, _MOST_KNOWN)


def is_plain(text: str | None) -> bool:
    """Tell whether a text is a value, which refers to nothing."""
    return _plain[text]


def looked_at(request: ClassAd, asked: Iterable[str] = ()) -> tuple[str, ...] | None:
    """Return the attributes that a request looks up in slots, lower case and sorted.

    That is what its Requirements, its Rank and what slots have `asked` of it depend on; None if
    that may differ between slots that have the same of all of them.
    """
    inside, outside = closure(request, ("Requirements", "Rank", *asked))
    if not is_steady(map(request.text, inside)):
        return None
    return tuple(sorted({name.lower() for name in outside}))


def is_steady(texts: Iterable[str | None]) -> bool:
    """Tell whether expressions give the same result for the same values of what they name."""
    return not any(map(_unsteady.__getitem__, texts))


def _is_unsteady(text: str | None) -> bool:
    if is_plain(text):
        return False
    assert text is not None
    if _UNSTEADY.search(text) is not None:
        return True
    try:
        return looks_elsewhere(parse_expression(text, old=True))
    except ClassAdSyntaxError:
        # It is an error wherever it is looked at.
        return False


_unsteady: Final = Answers(_is_unsteady, _MOST_KNOWN)
