"""Values of one attribute in many ads with the same names, as they are printed.

Texts that are plain values (integers, strings without an escape) are recognised all at once; a
text that is anything else is evaluated in its ad.
"""

from __future__ import annotations

from kettle.patterns import late_pattern
from kettle.wire.ad_shapes import AdRun

# As every writer of ads spells an integer and a string; they have no other form when printed.
_INTEGER = r"(?:0|-?[1-9]\d{0,17})"
_STRING = r'"[ !#-\[\]-~]*"'
_INTEGERS = late_pattern(rf"{_INTEGER}(?:\n{_INTEGER})*")
_STRINGS = late_pattern(rf"{_STRING}(?:\n{_STRING})*")


def plain_values(texts: list[str], *, quoted: bool) -> list[str] | None:
    """Return texts that are all integers, or all strings, as values; None for others."""
    joined = "\n".join(texts)
    if joined.count("\n") >= len(texts):
        return None
    if _INTEGERS.fullmatch(joined):
        return texts
    if _STRINGS.fullmatch(joined):
        return texts if quoted else joined[1:-1].split('"\n"')
    return None


def strings_of(run: AdRun, name: str) -> list[str | None]:
    """Return the value of an attribute in each ad if it is a string, else None."""
    texts = run.texts(name.lower())
    if texts is not None and texts[0].startswith('"'):
        values = plain_values(texts, quoted=False)
        if values is not None:
            return list(values)
    return [ad.string(name) for ad in run]
