"""How often a rule is applied to one ad, and with which macros: what `TRANSFORM` says.

The statement is `queue` of submit descriptions under another name and is read by the same code.
Compat: the reference forgets its slice and its TABLE, so that the rule is applied to each line
(test_a_rule_is_applied_to_the_items_that_its_statement_says); and it knows no macro of the
configuration's there, which the rule's own lines do (test_a_count_may_be_a_macro).
What the rule sets for one item is forgotten for the next, not for the next step of the same item.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.config.lines import LineReader
from kettle.errors import ConfigError, SubmitError, TransformError
from kettle.submit.matching import MatchRules
from kettle.submit.queue_statement import QueueStatement, parse_queue
from kettle.submit.reader import QueueText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kettle.errors import Remark
    from kettle.submit.sources import SubmitSources
    from kettle.transforms.macros import TransformMacros
    from kettle.transforms.source import Transform


class _Following:
    """What the queue statement's reader asks for: macros, the lines that follow, an error."""

    word = "TRANSFORM"

    def __init__(self, macros: TransformMacros, rule: Transform) -> None:
        self.macros = macros
        self.lines = LineReader(rule.rest)

    def parse_error(
        self, message: str, details: tuple[Remark, ...] = (), hint: str = ""
    ) -> SubmitError:
        """Return the error for a statement that cannot be carried out."""
        del details
        return SubmitError(message, hint=hint, mark="")

    def no_statement(self, message: str) -> SubmitError:
        """Return the error for words that make no sense; the reference does not say which."""
        del message
        return SubmitError("invalid TRANSFORM statement", mark="")

    def match_rules(self, kind: str) -> MatchRules:
        """Return the rules of every TRANSFORM statement: nothing changes them."""
        return MatchRules(kind)


def read_iteration(
    rule: Transform, macros: TransformMacros, sources: SubmitSources
) -> QueueStatement:
    """Return what a rule's TRANSFORM says, items read; raise TransformError.

    Lines after it that are items are taken away from the rule's `rest`.
    """
    following = _Following(macros, rule)
    try:
        statement = parse_queue(QueueText(rule.iteration, rule.line), following, sources)
    except (SubmitError, ConfigError) as error:
        raise TransformError(
            error.message, source=rule.name, line=rule.line, hint=error.hint
        ) from None
    if statement.items is not None and not len(statement.items):
        # No items are one that is nothing: the ad does not get lost.
        statement.items = [""]
    rule.rest = "\n".join(following.lines.rest())
    return statement


def rounds(statement: QueueStatement, macros: TransformMacros) -> Iterator[int]:
    """Yield a number for each time, the macros set for it; the macros are as before at the end."""
    kept = dict(macros.variables)
    live = dict(macros.live)
    last_index = -1
    try:
        for number, row in enumerate(statement.rows()):
            if row.index != last_index:
                # What the rule sets over an item's variable stays so for the item's next step.
                names = (name.upper() for name in statement.variables)
                macros.variables = {**kept, **dict(zip(names, row.values, strict=False))}
                last_index = row.index
            macros.live.update(
                STEP=str(row.step),
                ROW=str(row.index),
                ITEMINDEX=str(row.index),
                ITERATING="1",
                XFORMID=str(number),
            )
            yield number
    finally:
        macros.variables, macros.live = kept, live
