"""Old routes, written as rules of the transform language.

What `condor_transform_ads -convert` prints of JOB_ROUTER_DEFAULTS and JOB_ROUTER_ENTRIES. Nothing
of Kettle's needs it to carry a route out (`old_form.py`). Source: vectors
`router/convert_old_routes.json`.
"""

from __future__ import annotations

from collections.abc import Iterator

from kettle.attributes.codes import JobUniverse
from kettle.classad import ClassAd, Expr
from kettle.classad.ad import parse_ad_at
from kettle.classad.nodes import Literal
from kettle.classad.references import find_references
from kettle.classad.unparse import quote, unparse
from kettle.errors import ClassAdSyntaxError, TransformError
from kettle.transforms.old_form import prefixed
from kettle.transforms.scopes import filled_in, with_scope

# What the router reads itself, evaluated as far as the route goes, its TARGET being the job.
_FLATTENED = frozenset(
    {
        "editjobinplace",
        "failureratethreshold",
        "jobfailuretest",
        "jobshouldbesandboxed",
        "overrideroutingentry",
        "sharedx509userproxy",
        "usesharedx509userproxy",
    }
)
_APART = frozenset({"name", "targetuniverse", "requirements"})
# What the usual defaults of a compute element computed with eval_set_, and the macros that do now.
_SIMPLER = {
    "requestmemory": "$(maxMemory:2000)",
    "requestcpus": "$(xcount:1)",
    "remote_nodenumber": "$(xcount:1)",
    "remote_smpgranularity": "$(xcount:1)",
    "remote_queue": "$Fq(queue)",
}
_HOLDS = frozenset({"onexithold", "onexitholdreason", "onexitholdsubcode"})
# Compat: the reference's lines do the same in two branches, with sentences of its own
# (test_the_usual_defaults_of_a_compute_element_become_macros).
_HELD_WHEN_SHORT = (
    "# hold what ends before minWallTime",
    "COPY OnExitHold orig_OnExitHold",
    "COPY OnExitHoldReason orig_OnExitHoldReason",
    "COPY OnExitHoldSubCode orig_OnExitHoldSubCode",
    "DEFAULT orig_OnExitHold false",
    'DEFAULT orig_OnExitHoldReason "The job\'s own policy holds it."',
    "DEFAULT orig_OnExitHoldSubCode 1",
    "SET OnExitHoldMinWallTime (RemoteWallClockTime ?: 1e9) < 60 * $(minWallTime)",
    'SET OnExitHoldReasonMinWallTime strcat("It ran only ", RemoteWallClockTime, " seconds.")',
    "SET OnExitHold orig_OnExitHold || OnExitHoldMinWallTime",
    "SET OnExitHoldReason orig_OnExitHold ? orig_OnExitHoldReason : OnExitHoldReasonMinWallTime",
    "SET OnExitHoldSubCode orig_OnExitHold ? orig_OnExitHoldSubCode : 42",
)
_KINDS = {
    "copy_": ("copy_* rules", "COPY"),
    "delete_": ("delete_* rules", "DELETE"),
    "set_": ("set_* rules", "SET"),
    "eval_set_": ("eval_set_* rules", "EVALSET"),
}


def split_routes(text: str, defaults: ClassAd) -> Iterator[ClassAd | TransformError]:
    """Yield each route of a list of ads, the defaults filled in; an error ends the list."""
    position = _skip(text, 0)
    while position < len(text):
        try:
            own, position = parse_ad_at(text, position)
        except ClassAdSyntaxError as error:
            yield TransformError("a route does not parse", hint=str(error))
            return
        route = defaults.copy()
        route.update(own)
        yield route
        position = _skip(text, position)


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():
        position += 1
    return position


def read_defaults(text: str, *, merge: bool) -> ClassAd:
    """Return JOB_ROUTER_DEFAULTS as an ad; TransformError where it is none.

    Several ads count one after the other where they are to be merged, else the first.
    """
    written = text.strip()
    if written and not written.startswith("["):
        written, merge = f"[ {written} ]", False
    defaults = ClassAd()
    position = 0
    while position < len(written):
        try:
            found, position = parse_ad_at(written, position)
        except ClassAdSyntaxError as error:
            raise TransformError("JOB_ROUTER_DEFAULTS does not parse", hint=str(error)) from None
        defaults.update(found)
        position = _skip(written, position)
        if not merge:
            break
    return defaults


def convert_route(
    route: ClassAd,
    *,
    default_name: str = "",
    without_rsl: bool = True,
    simplify: ClassAd | None = None,
) -> tuple[str, list[str]]:
    """Return a route's name and the lines of the rule that does the same; raise TransformError.

    `without_rsl` leaves out `set_InputRSL`, which nothing reads any more; what still is as in
    `simplify`, the defaults, is written by macros where it is one of a compute element's usual.
    """
    name = route.string("Name") or default_name
    lines = [f"NAME {name}"] if name else []
    universe = route.integer("TargetUniverse")
    if universe:
        lines.append(f"UNIVERSE {universe_name(universe)}")
    requirements = route.lookup("Requirements")
    if requirements is not None:
        flat = filled_in(requirements, route)
        said = unparse(with_scope(flat, "target", ""), old=True).strip()
        lines.append(f"REQUIREMENTS {said}")
    lines.append(f"# autoconversion of route '{name}' from old route syntax")
    macros = dict(_macros(route))
    lines += [f"{macro} = {text}" for macro, text in sorted(macros.items(), key=_by_name)]
    commands = _commands(route, without_rsl=without_rsl)
    holds = simplify is not None and _simplify(route, simplify, commands)
    for kind in ("copy_", "delete_", "set_"):
        lines += _section(kind, commands[kind])
    if holds and "minWallTime" in route:
        lines += _HELD_WHEN_SHORT
    if commands["eval_set_"]:
        helped = _needed(route, commands, macros)
        lines += helped and ["# temporarily SET attrs because eval_set_ rules refer to them"]
        lines += [f"SET {wanted} {_mention(route, wanted)}" for wanted in helped]
        lines += _section("eval_set_", commands["eval_set_"])
        lines += helped and ["# remove temporary attrs"]
        lines += [f"DELETE {wanted}" for wanted in helped]
    return name, lines


def universe_name(number: int) -> str:
    """Return a universe's name as statements have it."""
    try:
        return JobUniverse(number).name
    except ValueError:
        return "UNKNOWN"


def _by_name(row: tuple[str, object]) -> str:
    return row[0].lower()


def _section(kind: str, commands: dict[str, str]) -> list[str]:
    title, word = _KINDS[kind]
    rows = sorted(commands.items(), key=_by_name)
    lines = [f"{word} {attribute} {text}".rstrip() for attribute, text in rows]
    return [f"# {title}", *lines] if lines else []


def _macros(route: ClassAd) -> Iterator[tuple[str, str]]:
    """Yield what the route has beside commands: macros of the rule, strings without quotes."""
    commands = {written for written, _, _ in prefixed(route)}
    for name in route.names():
        key = name.lower()
        if name in commands or key in _APART:
            continue
        expr = route.lookup(name)
        assert expr is not None
        if key in _FLATTENED:
            text = unparse(with_scope(filled_in(expr, route), "target", "MY"), old=True)
        elif key != "gridresource" and isinstance(expr, Literal) and isinstance(expr.value, str):
            text = expr.value
        else:
            text = unparse(expr, old=True)
        if text:
            yield name, text


def _commands(route: ClassAd, *, without_rsl: bool) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {kind: {} for kind in _KINDS}
    for written, kind, attribute in prefixed(route):
        expr = route.lookup(written)
        assert expr is not None
        if kind == "copy_":
            to = route.string(written)
            if to is not None:
                found[kind][attribute] = to
        elif kind == "delete_":
            found[kind][attribute] = ""
        elif kind == "set_":
            if not (without_rsl and attribute.lower() == "inputrsl"):
                found[kind][attribute] = unparse(expr, old=True)
        else:
            found[kind][attribute] = unparse(_evaluated(route, expr), old=True)
    return found


def _simplify(route: ClassAd, defaults: ClassAd, commands: dict[str, dict[str, str]]) -> bool:
    """Write by macros what is as the defaults have it; tell whether OnExitHold is among that."""
    found = False
    for written, kind, attribute in prefixed(route):
        key = attribute.lower()
        if kind != "eval_set_" or route.lookup(written) != defaults.lookup(written):
            continue
        if key in _SIMPLER:
            del commands[kind][attribute]
            commands["set_"][attribute] = _SIMPLER[key]
        found = found or key in _HOLDS
    if found:
        for kind in ("copy_", "eval_set_"):
            rows = commands[kind]
            commands[kind] = {name: rows[name] for name in rows if name.lower() not in _HOLDS}
    return found


def _evaluated(route: ClassAd, expr: Expr) -> Expr:
    """Return what an eval_set_ is to evaluate: with what the route knows where it asks for that."""
    internal, _ = find_references(expr, route)
    return with_scope(filled_in(expr, route), "target", "MY") if internal else expr


def _needed(
    route: ClassAd, commands: dict[str, dict[str, str]], macros: dict[str, str]
) -> list[str]:
    """Return the macros that the job has to have as attributes while its values are made."""
    wanted: dict[str, str] = {}
    for written, kind, attribute in prefixed(route):
        expr = route.lookup(written)
        assert expr is not None
        if kind == "eval_set_" and attribute in commands[kind]:
            internal, _ = find_references(_evaluated(route, expr), route)
            wanted.update((name.lower(), name) for name in internal)
    known = {name.lower() for name in macros} - {name.lower() for name in commands["set_"]}
    return sorted((name for key, name in wanted.items() if key in known), key=str.lower)


def _mention(route: ClassAd, name: str) -> str:
    expr = route.lookup(name)
    is_text = isinstance(expr, Literal) and isinstance(expr.value, str)
    return quote(f"$({name})", old=True) if is_text else f"$({name})"
