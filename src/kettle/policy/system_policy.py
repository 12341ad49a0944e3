"""The access point's own periodic rules, read from the configuration.

SYSTEM_PERIODIC_HOLD, _RELEASE, _REMOVE and _VACATE, each also in named forms
(SYSTEM_PERIODIC_HOLD_NAMES = A, B gives SYSTEM_PERIODIC_HOLD_A, ...), with _REASON and _SUBCODE
beside a hold. What they lead to is decided in `job_policy.py`.
"""

from __future__ import annotations

from collections.abc import Callable

from kettle.classad import Expr, parse_expression
from kettle.errors import ClassAdSyntaxError, ConfigError
from kettle.policy.job_policy import SystemPolicy, SystemRule, Verdict

_VERDICTS = {
    "HOLD": Verdict.HOLD,
    "RELEASE": Verdict.RELEASE,
    "REMOVE": Verdict.REMOVE,
    "VACATE": Verdict.VACATE,
}


def read_system_policy(
    get: Callable[[str], str | None], report: Callable[[str], object]
) -> SystemPolicy:
    """Return the rules; `get` gives the expanded text of a knob or None.

    An expression that does not parse is told of, and is none: a typo must not take the other rules
    from all jobs. A rule that is the literal false, as the defaults are, is left out.
    """

    def expression_of(name: str) -> Expr | None:
        try:
            return _expression(get, name)
        except ConfigError as error:
            report(f"{error.message}; it is ignored")
            return None

    rules: list[SystemRule] = []
    for word, verdict in _VERDICTS.items():
        macro = f"SYSTEM_PERIODIC_{word}"
        names = (get(f"{macro}_NAMES") or "").replace(",", " ").split()
        for suffix in [*(f"_{name}" for name in names), ""]:
            expression = expression_of(f"{macro}{suffix}")
            if expression is None:
                continue
            rules.append(
                SystemRule(
                    f"{macro}{suffix}",
                    verdict,
                    expression,
                    expression_of(f"{macro}{suffix}_REASON"),
                    expression_of(f"{macro}{suffix}_SUBCODE"),
                )
            )
    return SystemPolicy(tuple(rules))


def _expression(get: Callable[[str], str | None], name: str) -> Expr | None:
    text = (get(name) or "").strip()
    if not text or text.lower() == "false":
        return None
    try:
        return parse_expression(text)
    except ClassAdSyntaxError as error:
        raise ConfigError(f"{name} is no expression: {error.message}") from error
