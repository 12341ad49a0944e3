"""TransferOutputRemaps and TransferInputRemaps: under which names what comes lands.

Pure text. The rules and their escapes are those of the reference's 25.14.1, as its runs show them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kettle.errors import RefusedError
from kettle.patterns import late_pattern

# Limit: a name that remaps lead further than that is in a circle; the reference's bound.
MAX_REMAPS = 128
_SOURCE = late_pattern(r"((?:[^=\\]|\\=|\\(?!=))*)=")
_TARGET = late_pattern(r"((?:[^;\\]|\\;|\\(?!;))*);?")
_NO_BREAKS = {ord("\t"): None, ord("\n"): None}


def parse_remaps(text: str | None) -> list[tuple[str, str]]:
    r"""Return the pairs of TransferOutputRemaps, `a=b;c=d`.

    Literal are `\=` in a source and `\;` in a target. Nothing takes a `;` into a source: what is
    before it is no rule.
    """
    rest, start = (text or "").translate(_NO_BREAKS), 0
    pairs: list[tuple[str, str]] = []
    while source := _SOURCE.match(rest, start):
        name = source.group(1).rpartition(";")[2]
        target = _TARGET.match(rest, source.end())
        assert target is not None
        pairs.append((_plain(name, "="), _plain(target.group(1), ";")))
        start = target.end()
    return [(source, target) for source, target in pairs if source]


def _plain(text: str, delimiter: str) -> str:
    return text.replace("\\" + delimiter, delimiter).strip()


def remap(name: str, pairs: Iterable[tuple[str, str]]) -> str | None:
    """Return where a received `name` goes by the remaps, None if no rule speaks of it.

    A rule for a directory takes everything below it along; the first one counts, and what it says
    is mapped again. Raises RefusedError if that has no end.
    """
    rules: dict[str, str] = {}
    for source, target in pairs:
        rules.setdefault(source, target)
    place = name
    for number in range(MAX_REMAPS):
        found = _one_remap(place, rules)
        if found is None:
            return place if number else None
        place = found
    raise RefusedError(f"remaps resulted in a cycle: {name}", code=12)


def _one_remap(name: str, rules: Mapping[str, str]) -> str | None:
    above, below = name, ""
    while above:
        if above in rules:
            return rules[above].rstrip("/") + below if below else rules[above]
        above, slash, last = above.rpartition("/")
        below = f"{slash}{last}{below}"
    return None
