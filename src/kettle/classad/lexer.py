r"""Text to tokens: one regular expression a kind of token, tried in the table's order.

Which tokens may follow which is the parser's business. Strings come unescaped. Old ClassAd text
(`old=True`: wire, queue log, `condor_q -long`) escapes nothing in strings but the quote; a
backslash before the closing quote at the very end of the text is a backslash.
"""

from __future__ import annotations

import re
from typing import Final

from kettle.errors import ClassAdSyntaxError
from kettle.patterns import late_pattern, replace_each

# Limit: an expression longer than this is refused; nothing sane comes near it.
MAX_TEXT: Final = 16 * 1024 * 1024

_POWER: Final = "[eE][+-]?[0-9]+"
# fmt: off
TOKENS: Final = (
    ("blank",   r"[ \t\r\n\f\v]+|//[^\n]*|/\*[\s\S]*?\*/"),
    # `..5` is a misreading of the reference's lexer that it keeps: the real zero.
    ("odd",     r"\.\.[0-9]+"),
    ("real",    rf"(?:0[xX][0-9a-fA-F]+|[0-9]*)\.[0-9]+(?:{_POWER})?|[0-9]+{_POWER}"),
    ("integer", r"0[xX][0-9a-fA-F]+|[0-9]+"),
    ("name",    r"[A-Za-z_][A-Za-z0-9_]*"),
    # What has an end is never taken another way: to remember the ways, for each character or
    # escape, took the memory of a hundred of them.
    ("string",  r'"[^"\\]*+(?:\\[\s\S][^"\\]*+)*+"'),
    ("quoted",  r"'[^'\\]*+(?:\\[\s\S][^'\\]*+)*+'"),
    ("symbol",  r"=\?=|=!=|>>>|\|\||&&|==|!=|<=|>=|<<|>>|\?:|[-+*%&|^~!<>?:.,;=()\[\]{}]|/(?!\*)"),
    # Nothing is searched for: what begins no token is found out at its own place.
    ("bad",     r"[\s\S]"),
)
# fmt: on
_PATTERN: Final = late_pattern("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in TOKENS))
# In old syntax a string keeps its backslashes; only \" is an escape, and not at the text's end.
_OLD_STRING: Final = r'"(?:[^"\\]|\\"(?![ \t\r]*\Z)|\\)*+"'
_OLD_TOKENS: Final = tuple(
    (kind, _OLD_STRING if kind == "string" else pattern) for kind, pattern in TOKENS
)
_OLD_PATTERN: Final = late_pattern(
    "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _OLD_TOKENS)
)
_ESCAPE: Final = late_pattern(r"\\([0-3][0-7]{2}|[0-7]{1,2}|[\s\S])")
_SIMPLE: Final = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}

Token = tuple[str, str, int]


def tokenize(text: str, *, old: bool = False) -> list[Token]:
    """Return the tokens as (kind, text, position), blanks and comments left out.

    Text that is no token ends the list with a token of kind `bad`; whether that is an error is
    decided by the parser, which in old syntax takes the longest prefix that makes sense.
    """
    if len(text) > MAX_TEXT:
        raise ClassAdSyntaxError(f"an expression of {len(text)} characters is too long")
    tokens: list[Token] = []
    for found in (_OLD_PATTERN if old else _PATTERN).finditer(text):
        kind = found.lastgroup
        if kind != "blank":
            tokens.append((kind, found.group(), found.start()))  # type: ignore[arg-type]
            if kind == "bad":
                return tokens
    tokens.append(("end", "", len(text)))
    return tokens


def unescape(body: str, *, old: bool = False) -> str:
    """Return what stands between two quotes with its escapes resolved.

    Raises ClassAdSyntaxError for an escaped NUL. Octal escapes are bytes of UTF-8.
    """
    if "\\" not in body:
        return body
    if old:
        return body.replace('\\"', '"')
    octal = False

    def resolve(found: re.Match[str]) -> str:
        nonlocal octal
        code = found.group(1)
        if code[0] in "01234567":
            octal = True
            if int(code, 8) == 0:
                raise ClassAdSyntaxError("a string cannot hold the character NUL")
            return chr(0xDC00 + int(code, 8)) if int(code, 8) >= 128 else chr(int(code, 8))
        return _SIMPLE.get(code, code)

    resolved = replace_each(_ESCAPE, resolve, body)
    if octal:
        raw = resolved.encode("utf-8", "surrogateescape")
        return raw.decode("utf-8", "surrogateescape")
    return resolved
