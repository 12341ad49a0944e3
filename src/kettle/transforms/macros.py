"""The macros of a rule: what it sets, what its iteration sets, `MY.` attributes, the configuration.

A name is looked for in that order. Macros are the configuration's (`kettle.config.expander`); the
one difference is that `$EVAL()` evaluates in the ad. Source: vectors `router/transforms.json`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.classad.nodes import Literal
from kettle.classad.unparse import unparse
from kettle.config import metaknobs
from kettle.config.expander import Expander, keep
from kettle.errors import TransformError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

    from kettle.classad import ClassAd
    from kettle.config.origin import Origin
    from kettle.errors import Remark

# Limit: characters of one macro's text; a rule that doubles one again and again ends here.
LONGEST_MACRO = 1 << 18
_DEFAULTS = {"ISLINUX": "1", "ISWINDOWS": "0", "ITERATING": "0"}


class TransformMacros:
    """The table that a rule's statements act on, and the ad whose attributes are `MY.`."""

    def __init__(
        self,
        configured: Callable[[str], str | None],
        environment: Callable[[str], str | None],
        random: Callable[[], Random],
        *,
        arguments: Mapping[str, str] | None = None,
    ) -> None:
        self._configured = configured
        self.warnings: list[Remark] = []
        self.problems: list[str] = []
        self.files: list[str] = []
        self.variables = {name.upper(): text for name, text in (arguments or {}).items()}
        self.live = dict(_DEFAULTS)
        self.on_problem: Callable[[str], None] = self.problems.append
        self._expander = Expander(
            self.raw,
            environment,
            random,
            on_problem=lambda problem: self.on_problem(problem.render()),
        )

    @property
    def ad(self) -> ClassAd | None:
        """The ad that is being changed."""
        return self._expander.ad

    @ad.setter
    def ad(self, ad: ClassAd | None) -> None:
        self._expander.ad = ad

    def assign(self, name: str, text: str, origin: Origin | None = None) -> None:
        """Set a macro; mentions of itself are replaced by what it was before."""
        del origin
        key = name.upper()
        if "$" in text:
            text = self._expander.expand_only(text, lambda mentioned: mentioned.upper() == key)
        if len(text) > LONGEST_MACRO:
            raise TransformError(f"{name} gets longer than {LONGEST_MACRO} characters")
        self.variables[key] = text

    def assign_value(self, name: str, text: str) -> None:
        """Set a macro to what an expression is in the ad: it holds no macros, see `raw`."""
        self.assign(name, keep(text))

    def raw(self, name: str) -> str | None:
        """Return the text of a name, None if nobody has one."""
        key = name.upper()
        for table in (self.variables, self.live):
            found = table.get(key)
            if found is not None:
                return found
        if key.startswith("MY.") and self.ad is not None:
            expr = self.ad.lookup(name[3:])
            if expr is not None:
                # Compat: the reference replaces macros in here, too, with the daemon's settings and
                # environment, which anybody with a job could read so
                # (test_what_a_job_says_is_no_macro).
                if isinstance(expr, Literal) and isinstance(expr.value, str):
                    return keep(expr.value)
                return keep(unparse(expr, old=True))
        return self._configured(name)

    def expand(self, text: str) -> str:
        """Return the text with its macros replaced; ConfigError for a circle."""
        return self._expander.expand(text)

    def is_defined(self, name: str) -> bool:
        """Tell whether a name has a text that is not empty."""
        return bool(self.raw(name))

    def has_template(self, text: str) -> bool:
        """Tell whether the configuration's `use` knows it."""
        return metaknobs.is_known(text)
