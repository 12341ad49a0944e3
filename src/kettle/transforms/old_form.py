"""The ClassAd form of rules and routes: `[ set_Rank = 5; delete_Args = true; … ]`.

`copy_X = "Y"`, `delete_X`, `set_X = expression`, `eval_set_X = expression`, carried out in this
order and by name within each; Requirements say whom it is for. In `eval_set_X` and Requirements
the rule's own attributes are filled in, what is left are the job's, with or without `TARGET.`;
an expression that asks for none of these is as it is written. Compat: in such a one the reference
knows no `TARGET.` (test_an_expression_that_asks_for_nothing_of_the_rule_is_as_it_is_written).
Everything else is for the router. Source: rows P056 to P063; the manual, Job
router, old syntax; vectors `router/old_job_transforms.json`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.classad import ClassAd, Expr
from kettle.classad.ad import parse_ad_at
from kettle.classad.references import find_references
from kettle.classad.unparse import unparse
from kettle.errors import ClassAdSyntaxError, TransformError
from kettle.structs import Struct, field
from kettle.transforms.editor import Editor, Telling
from kettle.transforms.scopes import filled_in

if TYPE_CHECKING:
    from kettle.transforms.macros import TransformMacros

# How a name can begin; the longest comes first where it could begin with two of them.
PREFIXES = ("eval_set_", "copy_", "delete_", "set_")


class OldTransform(Struct):
    """A rule in the ClassAd form."""

    name: str
    requirements: Expr | None = None
    copies: list[tuple[str, str]] = field(default_factory=list)
    deletions: list[str] = field(default_factory=list)
    expressions: list[tuple[str, Expr]] = field(default_factory=list)
    values: list[tuple[str, Expr]] = field(default_factory=list)

    def applies_to(self, ad: ClassAd) -> bool:
        """Tell whether its Requirements are true of the ad, if it has any."""
        return self.requirements is None or ad.satisfies(self.requirements, ad)

    def apply(self, ad: ClassAd, macros: TransformMacros, telling: Telling) -> dict[str, str]:
        """Change the ad; its macros were the configuration's and are replaced already."""
        del macros
        editor = Editor(ad, telling)
        for name, to in self.copies:
            editor.copy(name, to)
        for name in self.deletions:
            editor.delete(name)
        for name, expr in self.expressions:
            editor.set_expression(name, expr)
        for name, expr in self.values:
            telling.step(f"EVALSET {name} to {unparse(expr, old=True)}")
            editor.set_value(name, editor.evaluate(expr, ad))
        return editor.changed


def is_old_form(text: str) -> bool:
    """Tell whether a rule's text is in the ClassAd form."""
    return text.lstrip().startswith("[")


def read_old_form(text: str, name: str) -> OldTransform:
    """Return the rule that the first ad of a text is; TransformError where it is none.

    Compat: the reference reads it, turns it into statements and carries out those; what follows the
    first ad means nothing, as there (old_job_transforms.json).
    """
    try:
        rule, _ = parse_ad_at(text, 0)
    except ClassAdSyntaxError as error:
        raise TransformError(f"Could not parse transform classad {name}", hint=str(error)) from None
    return make_rule(rule, name)


def make_rule(rule: ClassAd, name: str) -> OldTransform:
    """Return the rule that an ad describes; `name` where it has no Name of its own."""
    made = OldTransform(rule.string("Name") or name)
    requirements = rule.lookup("Requirements")
    if requirements is not None:
        made.requirements = filled_in(requirements, rule)
    for written, kind, attribute in prefixed(rule):
        expr = rule.lookup(written)
        assert expr is not None
        if kind == "copy_":
            to = rule.string(written)
            if to is not None:
                made.copies.append((attribute, to))
        elif kind == "delete_":
            # Compat: whatever it is set to, false too, as the reference does
            # (old_job_transforms.json).
            made.deletions.append(attribute)
        elif kind == "set_":
            made.expressions.append((attribute, expr))
        else:
            asks_itself, _ = find_references(expr, rule)
            made.values.append((attribute, filled_in(expr, rule) if asks_itself else expr))
    return made


def prefixed(rule: ClassAd) -> list[tuple[str, str, str]]:
    """Return the rule's commands, by attribute: as written, its kind, the attribute."""
    found = []
    for name in rule.names():
        kind = next((prefix for prefix in PREFIXES if name.lower().startswith(prefix)), "")
        if kind and len(name) > len(kind):
            found.append((name, kind, name[len(kind) :]))
    return sorted(found, key=lambda command: command[2].lower())
