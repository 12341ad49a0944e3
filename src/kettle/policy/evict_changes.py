"""What a job asks for next that had to leave its machine: the changes that its ad names.

`TransformOnEvict` names them, `TransformBody_NAME` has the lines of each. A job that would be held
for using too much is queued again where one of them has it ask for something else. Source: submit
commands `retry_request_memory` and `on_evict_checks`, and what a real schedd makes of them.

Limit: of the transform language SET, EVALSET, DEFAULT, EVALDEFAULT and DELETE; a body with
macros, with any other word or with a name that no attribute can have changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from kettle.attributes.codes import LINE_END
from kettle.classad import ClassAd, parse_expression
from kettle.classad.unparse import render_value
from kettle.classad.values import ERROR, UNDEFINED
from kettle.errors import ClassAdSyntaxError
from kettle.policy.attribute_protection import is_attribute_name

# Limit: changes that one ad may name, lines of all of them, characters of a line, and of a value
# that a line works out: it may be named in the next one again and again.
_MOST_CHANGES = 100
_MOST_LINES = 200
_LONGEST_LINE = 4096
_LONGEST_VALUE = 16 * 1024

Command = Callable[[ClassAd, str, str], None]


class _Unfit(Exception):  # noqa: N818 - the name says what happened
    """A change cannot be made, or is not meant for this end."""


class _TooMuchError(Exception):
    """Changes that cost more than anybody needs; none is made."""


def next_request(job: ClassAd, facts: Mapping[str, object]) -> dict[str, str]:
    """Return what changes in a job that would be held, empty if it asks for nothing else.

    `facts` are what the queue is about to have of its end: the codes of why it left.
    """
    names = (job.string("TransformOnEvict") or "").replace(",", " ").split()
    left = _MOST_LINES
    for name in names[:_MOST_CHANGES]:
        of_body = f"TransformBody_{name}"
        if not is_attribute_name(of_body):
            continue
        lines = (job.string(of_body) or "").replace(LINE_END, "\n").split("\n")
        left -= len(lines)
        if left < 0:
            break
        try:
            changes = _apply(lines, ClassAd(facts, parent=job), job)
        except (_Unfit, ClassAdSyntaxError):
            continue
        except _TooMuchError:
            break
        if any(changed.lower().startswith("request") for changed in changes):
            return changes
    return {}


def _apply(lines: list[str], ad: ClassAd, job: ClassAd) -> dict[str, str]:
    touched: dict[str, str] = {}
    for word, name, value in _read(lines):
        if word == "REQUIREMENTS":
            if not ad.satisfies(parse_expression(value, old=True)):
                raise _Unfit(value)
            continue
        _COMMANDS[word](ad, name, value)
        touched.setdefault(name.lower(), name)
    found = {name: ad.text(name) or "undefined" for name in touched.values()}
    return {name: text for name, text in found.items() if text != (job.text(name) or "undefined")}


def _read(lines: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield each line's word, its attribute, and the rest; _Unfit for what is no such line."""
    if macro := next((line for line in lines if "$(" in line), ""):
        raise _Unfit(macro[:80])
    for line in filter(None, map(str.strip, lines)):
        word, _, rest = line.partition(" ")
        word = word.upper()
        if len(line) > _LONGEST_LINE or (word != "REQUIREMENTS" and word not in _COMMANDS):
            raise _Unfit(line[:80])
        name, _, value = rest.strip().partition(" ")
        if word != "REQUIREMENTS" and not is_attribute_name(name):
            raise _Unfit(line[:80])
        yield word, name, rest.strip() if word == "REQUIREMENTS" else value.strip()


def _set(ad: ClassAd, name: str, value: str) -> None:
    ad.insert_text(name, value, check=True)


def _set_value(ad: ClassAd, name: str, value: str) -> None:
    found = ad.evaluate_expression(parse_expression(value, old=True))
    if found is UNDEFINED or found is ERROR:
        raise _Unfit(value)
    text = render_value(found, old=True)
    if len(text) > _LONGEST_VALUE:
        raise _TooMuchError(name)
    ad.insert_text(name, text)


def _delete(ad: ClassAd, name: str, _: str) -> None:
    ad.insert_text(name, "undefined")


def _if_unset(command: Command) -> Command:
    def run(ad: ClassAd, name: str, value: str) -> None:
        if name not in ad:
            command(ad, name, value)

    return run


_COMMANDS: dict[str, Command] = {
    "SET": _set,
    "EVALSET": _set_value,
    "DEFAULT": _if_unset(_set),
    "EVALDEFAULT": _if_unset(_set_value),
    "DELETE": _delete,
}
