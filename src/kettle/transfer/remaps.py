"""TransferOutputRemaps and TransferInputRemaps: under which names what comes lands.

Pure text. The rules and their escapes are those of the reference's 25.14.1, as its runs show them.
"""

from __future__ import annotations

from collections.abc import Mapping

from kettle.errors import RefusedError
from kettle.patterns import late_pattern

# Limit: steps of one name; further ones are in a circle, or the name is too deep. The reference's.
MAX_REMAPS = 128
# Limit: characters of what remaps make of a name.
_LONGEST_NAME = 64 * 1024
_SOURCE = late_pattern(r"((?:[^=\\]|\\=|\\(?!=))*)=")
_TARGET = late_pattern(r"((?:[^;\\]|\\;|\\(?!;))*);?")
_NO_BREAKS = {ord("\t"): None, ord("\n"): None}


def parse_remaps(text: str | None) -> dict[str, str]:
    r"""Return the rules of TransferOutputRemaps, `a=b;c=d`; the first one for a name counts.

    Literal are `\=` in a source and `\;` in a target. Nothing takes a `;` into a source: what is
    before it is no rule.
    """
    rest, start = (text or "").translate(_NO_BREAKS), 0
    rules: dict[str, str] = {}
    while source := _SOURCE.match(rest, start):
        name = source.group(1).rpartition(";")[2]
        target = _TARGET.match(rest, source.end())
        assert target is not None
        if named := _plain(name, "="):
            rules.setdefault(named, _plain(target.group(1), ";"))
        start = target.end()
    return rules


def _plain(text: str, delimiter: str) -> str:
    return text.replace("\\" + delimiter, delimiter).strip()


def remap(name: str, rules: Mapping[str, str]) -> str | None:
    """Return where a received `name` goes by the rules, None if none speaks of it.

    A rule for a directory takes everything below it along, and what it says is mapped again. Raises
    RefusedError if that has no end: each rule that is followed, and each directory above that is
    looked at, is a step, as the reference counts them.
    """
    if not rules:
        return None
    place, is_mapped = name, False
    above, below = name, ""
    for _ in range(MAX_REMAPS):
        if above in rules:
            place = rules[above].rstrip("/") + below if below else rules[above]
            above, below, is_mapped = place, "", True
        else:
            above, slash, last = above.rpartition("/")
            below = f"{slash}{last}{below}"
        if not above:
            return place if is_mapped else None
        if len(place) > _LONGEST_NAME:
            break
    raise RefusedError(f"remaps resulted in a cycle: {name}", code=12)
