"""One evaluation on its way: which ad names are looked up in, and how names are found.

Scoping as the vectors in scoping.json show it. A name is looked for in the current ad and the
ads around it. What is not in the current ad itself may be one of the special names (`MY`, `SELF`,
`PARENT`, `TOPLEVEL`, `CurrentTime`). Around the outermost ad of a match lies its context, which
knows `TARGET` and `OTHER`, and around that an ad with `LEFT` and `RIGHT` (`surroundings.py`). Only
a bare name that is nowhere there is looked for in the other ad of the match, and only outside
strict mode.
"""

from __future__ import annotations

from typing import Final

from kettle.classad.context import AMBIENT, Context
from kettle.classad.nodes import Literal
from kettle.classad.values import ERROR, UNDEFINED, Ad, Expr, Value

# Names that mean something where an ad does not have them.
SPECIAL: Final = frozenset({"my", "self", "parent", "toplevel", "root", "currenttime"})
_SIDES: Final = frozenset({"left", "right"})
_IN_CONTEXT: Final = frozenset({"target", "other", "my", "ad"})
_OF_THE_MATCH: Final = frozenset(
    {"lctx", "rctx", "leftrankvalue", "rightrankvalue"}
    | {"symmetricmatch", "leftmatchesright", "rightmatchesleft"}
)
AROUND: Final = _SIDES | _IN_CONTEXT | _OF_THE_MATCH


# Limit: the work of one evaluation: the attributes' expressions that it looks into, each by its
# size (8 nodes count as one), and what its functions and comparisons read and make (64 bytes count
# as one). Where each attribute of a row names the one before twice, there is no end of them; from
# here on they are ERROR.
MOST_STEPS: Final = 100_000


# Limit: CPU seconds that the patterns of one evaluation may take together, as far as the process
# bounds them at all (`functions/regex.py`).
PATTERN_SECONDS: Final = 0.25
# Limit: steps, a few nanoseconds each, of the patterns that are not timed one by one.
PATTERN_STEPS: Final = 10_000_000


class SpentError(ArithmeticError):
    """An evaluation has done all the work it may."""


# What a value that nobody thought of may make a function raise. Evaluation is total: the call is
# ERROR then, and no ad of a stranger's can end what a daemon does.
FAULT: Final = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    OSError,
    TypeError,
    ValueError,
)
# Limit: what goes deeper than Python's stack (the reference raises or dies there), or needs more
# memory than there is, is ERROR as a whole.
ANY_FAULT: Final = (*FAULT, RecursionError, MemoryError)


class State:
    """The ad names are looked up in now, the two ads of the match, and what is under way."""

    __slots__ = (
        "active",
        "ad",
        "around",
        "circular",
        "context",
        "context_ad",
        "failed",
        "left",
        "pattern_seconds",
        "pattern_steps",
        "right",
        "root",
        "steps",
        "strict",
    )

    def __init__(
        self,
        ad: Ad | None,
        left: Ad | None,
        right: Ad | None,
        context: Context,
    ) -> None:
        self.ad = ad
        self.left = left
        self.right = right
        self.root: Final = ad if ad is None or ad.scope is None else ad.outermost()
        self.context: Final = context
        # The ad of a list in which an expression is evaluated now.
        self.context_ad: Ad | None = None
        # The ad around both of the match, once somebody has asked for it.
        self.around: Ad | None = None
        # Whether something was asked of the outermost ad where there is none: the reference has no
        # value then, not even an error.
        self.failed = False
        # Whether a reference came back to itself.
        self.circular = False
        self.strict: Final = context.strict
        self.active: Final[set[tuple[int, int]]] = set()
        self.steps = 0
        self.pattern_seconds = PATTERN_SECONDS
        self.pattern_steps = PATTERN_STEPS

    def charge(self, size: int) -> bool:
        """Count what is read or put together, in bytes; False if it is too much of one evaluation.

        Then the value is ERROR, and so is all that follows.
        """
        self.steps += size >> 6
        return self.steps <= MOST_STEPS

    def spend(self, size: int) -> None:
        """Count what is read or put together, in bytes; SpentError if it is too much."""
        if not self.charge(size):
            raise SpentError

    def evaluate_in(self, expr: Expr, ad: Ad | None) -> Value:
        """Return the value of the expression with `ad` as the current ad."""
        if type(expr) is Literal:
            return expr.value
        self.steps += expr.weight
        if self.steps > MOST_STEPS:
            return ERROR
        before = self.ad
        self.ad = ad
        try:
            return expr.closure(self)
        finally:
            self.ad = before

    def outermost(self) -> Ad | None:
        """Return the ad around all others, in a match that around both ads.

        None without an ad, and where the two are too large for one evaluation.
        """
        if self.right is None:
            self.failed = self.failed or self.root is None
            return self.root
        if self.around is None:
            # Loaded here: hardly a policy looks at what is around the ads of a match.
            from kettle.classad.surroundings import count_steps, surrounding_ad

            assert self.left is not None
            self.steps += count_steps(self.left) + count_steps(self.right)
            if self.steps > MOST_STEPS:
                return None
            self.around = surrounding_ad(self.left, self.right)
        return self.around

    def absolute(self, key: str) -> Value:
        """Return the value of `.key`, an attribute of the outermost ad."""
        if self.left is not None and self.right is not None and key in _SIDES:
            return self.left if key == "left" else self.right
        around = self.outermost()
        return ERROR if around is None else resolve(self, around, key, alternate=False)


def new_state(ad: Ad | None, target: Ad | None = None, context: Context | None = None) -> State:
    """Return the state an evaluation in `ad` against `target` starts with."""
    chosen = context if context is not None else AMBIENT.context
    if target is not None and ad is not None:
        return State(ad, ad.outermost(), target.outermost(), chosen)
    return State(ad, None, None, chosen)


def evaluate_entry(state: State, expr: Expr, ad: Ad) -> Value:
    """Return the value of an attribute's expression found in `ad`; UNDEFINED if it is circular."""
    if type(expr) is Literal:
        return expr.value
    mark = (id(expr), id(ad.table))
    active = state.active
    if mark in active:
        state.circular = True
        return UNDEFINED
    state.steps += expr.weight
    if state.steps > MOST_STEPS:
        return ERROR
    active.add(mark)
    before = state.ad
    state.ad = ad
    try:
        return expr.closure(state)
    finally:
        state.ad = before
        active.discard(mark)


def resolve(state: State, start: Ad, key: str, *, alternate: bool) -> Value:
    """Return the value of the name `key` looked up from `start` outwards."""
    found = start.entry(key)
    if found is not None:
        return evaluate_entry(state, found, start)
    if key in SPECIAL:
        special = _special(state, start, key)
        if special is not None:
            return special
    value = _look_around(state, start, key)
    if value is None and alternate and not state.strict:
        other = other_ad(state, start)
        if other is not None:
            found = other.entry(key)
            if found is not None:
                return evaluate_entry(state, found, other)
    return UNDEFINED if value is None else value


def other_ad(state: State, ad: Ad) -> Ad | None:
    """Return the other ad of the match, if `ad` is one of the two.

    That of a list, in which an expression is evaluated, stands for the one around it.
    """
    if ad is state.context_ad:
        ad = ad.outermost()
    if ad is state.left:
        return state.right
    return state.left if ad is state.right else None


def _look_around(state: State, start: Ad, key: str) -> Value | None:
    current = start
    while True:
        around = current.scope
        if around is None:
            break
        current = around
        found = current.entry(key)
        if found is not None:
            return evaluate_entry(state, found, current)
    if key in AROUND and state.right is not None:
        return _context_name(state, current, key)
    return None


def _context_name(state: State, outermost: Ad, key: str) -> Value | None:
    if key == "left":
        return state.left
    if key == "right":
        return state.right
    other = other_ad(state, outermost)
    if other is None:
        return None
    if key in ("my", "ad"):
        return outermost
    if key in ("target", "other"):
        return other
    return state.absolute(key)


def _context_ad(state: State, ad: Ad) -> Value:
    """Return the ad around one of the two of a match."""
    other = other_ad(state, ad)
    if other is None:
        return UNDEFINED
    return state.absolute("rctx" if other is state.left else "lctx")


def _special(state: State, start: Ad, key: str) -> Value | None:
    if key == "self" or (key == "my" and not state.strict):
        return start
    if key == "parent":
        if start.scope is not None:
            return start.scope
        return UNDEFINED if state.right is None else _context_ad(state, start)
    if key in ("toplevel", "root"):
        around = state.outermost()
        return ERROR if around is None else around
    if key == "currenttime" and not state.strict:
        return int(state.context.now())
    return None
