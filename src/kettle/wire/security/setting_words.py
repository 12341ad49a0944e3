"""What of the settings of security means nothing: wishes, methods, and entries of lists.

Pure, a setting at a time. Who reads them takes what it can (`negotiation.py`, `authorization.py`);
daemons and `kettle config check` tell of the rest. Source: the manual's chapter on security.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kettle.levels import Level
from kettle.named_tuples import NamedTuple
from kettle.nearest import nearest_of
from kettle.patterns import late_pattern
from kettle.wire.security.authorization import parse_entry
from kettle.wire.security.negotiation import (
    METHOD_BITS,
    Wish,
    canonical_method,
    display_method,
    parse_wish,
)

_LIST = late_pattern(r"(?:ALLOW|DENY)_(.+)")
_WISH = late_pattern(r"SEC_\w+?_(AUTHENTICATION|ENCRYPTION|INTEGRITY|NEGOTIATION)")
_METHODS = late_pattern(r"SEC_\w+?_AUTHENTICATION_METHODS")
_HOST = late_pattern(r"[\w.*\-]+|\[?[0-9A-Fa-f:.]+\]?")
_WISHES = [wish.name for wish in sorted(Wish, reverse=True)]
# Truth values say it as well.
_TRUTHS = frozenset({"YES", "NO", "TRUE", "FALSE"})


class OddWord(NamedTuple):
    """What is wrong with a setting: a label, a sentence, the nearest right word (empty: none).

    `is_fatal`: a daemon must not go on with it, as the reference's do not.
    """

    label: str
    sentence: str
    near: str = ""
    is_fatal: bool = False


def find_odd_words(name: str, text: str) -> Iterator[OddWord]:
    """Judge the expanded text of a setting; nothing is said of names that are not security's."""
    key = name.upper()
    words = text.replace(",", " ").split()
    if is_list(key):
        for word in words:
            why = why_nobody(word)
            if why:
                yield OddWord("entry", f"{word} in {name} matches nobody: {why}")
    elif _METHODS.fullmatch(key):
        known = [display_method(method) for method in METHOD_BITS]
        for word in words:
            if canonical_method(word) not in METHOD_BITS:
                sentence = f"{name} names {word}, which is no method"
                yield OddWord("word", sentence, nearest_of(word, known))
    elif _WISH.fullmatch(key):
        word = text.strip().upper()
        if word and word not in {*_WISHES, *_TRUTHS}:
            sentence = f"{name} = {text.strip()} is not one of {', '.join(_WISHES)}"
            # The first letter is what counts.
            fatal = parse_wish(word) is None
            yield OddWord("value", sentence, nearest_of(word, _WISHES), fatal)


def is_list(key: str) -> bool:
    """Tell whether a name in upper case is a list of who may do what at some level."""
    match = _LIST.fullmatch(key)
    return match is not None and any(
        match[1] == level.value or match[1].startswith(f"{level.value}_") for level in Level
    )


def why_nobody(word: str) -> str:
    """Return why an entry of a list of who may do what matches nobody, empty if it may."""
    entry = parse_entry(word)
    host = entry.host
    if entry.user.startswith("+"):
        return ""
    if entry.user.count("@") > 1 or entry.user.endswith("@") or entry.user.startswith("@"):
        return f"{entry.user} is no USER@DOMAIN"
    if entry.network is not None or host == "*":
        return ""
    if "/" in host:
        return f"{host} is no network"
    if re.fullmatch(r"[\d.]+", host):
        return f"{host} is no address"
    if re.fullmatch(r"[\d.*]+", host) and host.count(".") > 3:
        return f"{host} has more than four parts"
    return "" if _HOST.fullmatch(host) else f"{host} is no host's name"
