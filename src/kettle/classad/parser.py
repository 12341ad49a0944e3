"""Tokens to a tree. Each method's docstring is its grammar rule.

The parser decides what is an expression and what an ad in new syntax; lines of old syntax are
split in `ad.py`. Operators are parsed with a stack and the precedence table below, chains of
prefixes and of conditionals in loops, so that only brackets nest; how deep is bounded.
"""

from __future__ import annotations

from sys import getsizeof
from typing import Final

from kettle.classad.calendar import parse_moment, parse_span, span_text
from kettle.classad.context import ambient
from kettle.classad.lexer import Token, tokenize, unescape
from kettle.classad.nodes import (
    BRACKET_DEPTH,
    CHAIN_DEPTH,
    FALSE,
    MAX_DEPTH,
    TRUE,
    AdNode,
    AttributeReference,
    Binary,
    Call,
    Conditional,
    ListNode,
    Literal,
    Parentheses,
    Selection,
    Subscript,
    Unary,
    literal,
)
from kettle.classad.values import ERROR, UNDEFINED, AbsoluteTime, Expr
from kettle.digits import MAX_INTEGER, MIN_INTEGER
from kettle.errors import ClassAdSyntaxError
from kettle.patterns import late_pattern
from kettle.remembered import Allowance, Answers, Memory

# fmt: off
PRECEDENCE: Final = {
    "||": 2, "&&": 3, "|": 4, "^": 5, "&": 6,
    "==": 7, "!=": 7, "=?=": 7, "=!=": 7, "is": 7, "isnt": 7,
    "<": 8, "<=": 8, ">": 8, ">=": 8,
    "<<": 9, ">>": 9, ">>>": 9,
    "+": 10, "-": 10, "*": 11, "/": 11, "%": 11,
}
# fmt: on
CONDITIONAL_PRECEDENCE: Final = 1
UNARY_PRECEDENCE: Final = 12
CHOICE_PRECEDENCE: Final = 13
UNARY: Final = frozenset("-+!~")
CONSTANTS: Final[dict[str, Literal]] = {
    "true": TRUE,
    "false": FALSE,
    "undefined": literal(UNDEFINED),
    "error": literal(ERROR),
}
# Words that cannot be attribute names unless quoted.
RESERVED: Final = frozenset({"true", "false", "undefined", "error", "is", "isnt"})
# Calls with text that are checked when they are parsed, and then have one spelling.
_TIME_LITERALS: Final = {"abstime": "absTime", "reltime": "relTime"}
_SYNONYMS: Final = {"is": "=?=", "isnt": "=!="}

_SPACED_CHOICE: Final = [("symbol", "?"), ("symbol", ":")]


class Parser:
    """One text being parsed. `strict` reads integers as strict new ClassAds do."""

    __slots__ = ("_depth", "_index", "_old", "_strict", "_text", "_tokens", "cacheable")

    def __init__(self, text: str, *, old: bool = False, strict: bool = False) -> None:
        self._text: Final = text
        self._old: Final = old
        self._strict: Final = strict
        self._tokens: Final[list[Token]] = tokenize(text, old=old)
        self._index = 0
        self._depth = 0
        # Local times read differently in another zone: not to be remembered.
        self.cacheable = True

    @property
    def tokens(self) -> int:
        """Return how many tokens the text has."""
        return len(self._tokens)

    @property
    def position(self) -> int:
        """Return where in the text the next token starts."""
        return self._tokens[self._index][2]

    @property
    def at_end(self) -> bool:
        """Return whether everything has been read."""
        return self._tokens[self._index][0] == "end"

    def expect_end(self) -> None:
        """Raise ClassAdSyntaxError unless everything has been read."""
        if not self.at_end:
            raise self._error("unexpected")

    def expression(self) -> Expr:
        """Expression = operand { operator operand } [ "?" expression ":" expression ].

        Operators are grouped by PRECEDENCE, from the left.
        """
        conditions: list[tuple[Expr, Expr]] = []
        depth = self._depth
        while True:
            operands = [self._operand()]
            operators: list[str] = []
            operator = self._operator()
            while operator or operators:
                rank = PRECEDENCE[operator] if operator else 0
                while operators and PRECEDENCE[operators[-1]] >= rank:
                    right = operands.pop()
                    operands.append(Binary(operators.pop(), operands.pop(), right))
                if operator:
                    self._index += 1
                    operators.append(_SYNONYMS.get(operator, operator))
                    operands.append(self._operand())
                    operator = self._operator()
            result = operands[0]
            if not self._take("?"):
                break
            # What is on either side of the colon is one conditional deeper.
            self._deepen(CHAIN_DEPTH)
            conditions.append((result, self.expression()))
            self._require(":")
        self._depth = depth
        for condition, yes in reversed(conditions):
            result = Conditional(condition, yes, result)
        return result

    def _operator(self) -> str:
        kind, text, _ = self._tokens[self._index]
        if kind == "symbol":
            return text if text in PRECEDENCE else ""
        if kind == "name":
            word = text.lower()
            return word if word in _SYNONYMS else ""
        return ""

    def _operand(self) -> Expr:
        """Operand = { "-" | "+" | "!" | "~" } postfix { "?:" postfix }.

        postfix = primary { "." name | "[" expression "]" }.
        """
        prefixes: list[str] = []
        choices: list[Expr] = []
        depth = self._depth
        while self._peek() in UNARY and not self._at_negative_number():
            prefixes.append(self._peek())
            self._index += 1
            self._deepen(CHAIN_DEPTH)
        while True:
            result = self._primary()
            if self._peek() == "." and self._follows_integer():
                raise self._error("a real number needs digits after")
            while True:
                if self._take("."):
                    result = Selection(result, self._attribute_name("after the dot"))
                elif self._take("["):
                    before = self._depth
                    self._deepen(BRACKET_DEPTH)
                    result = Subscript(result, self.expression())
                    self._depth = before
                    self._require("]")
                else:
                    break
            if not self._take_choice():
                break
            choices.append(result)
            self._deepen(CHAIN_DEPTH)
        self._depth = depth
        while choices:
            result = Conditional(choices.pop(), None, result)
        for prefix in reversed(prefixes):
            result = Unary(prefix, result)
        return result

    def _primary(self) -> Expr:
        """Primary = number | string | constant | name | call | "." name | "(" … | "{" … | "[" …."""
        kind, text, _ = self._tokens[self._index]
        if kind == "name":
            return self._named(text)
        if kind == "string":
            return literal(self._string())
        if kind in ("integer", "real", "odd"):
            self._index += 1
            return self._number(kind, text)
        if kind == "quoted":
            return self._named_by_quotes()
        if kind == "symbol":
            if text == "(":
                return self._parenthesized()
            if text == "{":
                return self._list()
            if text == "[":
                return self.ad()
            if text == "-" and self._at_negative_number():
                self._index += 2
                number_kind, number, _ = self._tokens[self._index - 1]
                return self._number(number_kind, number, negative=True)
            if text == ".":
                self._index += 1
                self._take(".")
                return AttributeReference(self._attribute_name("after the dot"), absolute=True)
        raise self._error("expected a value, not")

    def _named(self, text: str) -> Expr:
        """Named = constant | name | name "(" [ expression { "," expression } ] ")"."""
        word = text.lower()
        if word in RESERVED:
            constant = CONSTANTS.get(word)
            if constant is None:
                raise self._error("expected a value, not")
            self._index += 1
            return constant
        self._index += 1
        return self._call(text) if self._peek() == "(" else AttributeReference(text)

    def _named_by_quotes(self) -> Expr:
        name = self._quoted()
        return self._call(name) if self._peek() == "(" else AttributeReference(name)

    def _call(self, name: str) -> Expr:
        self._index += 1
        depth = self._depth
        self._deepen(BRACKET_DEPTH)
        arguments: list[Expr] = []
        if not self._take(")"):
            arguments.append(self.expression())
            # Compat: outside strict mode the reference takes a semicolon for a comma here
            # (syntax.json).
            while self._take(",") or (not self._strict and self._take(";")):
                arguments.append(self.expression())
            self._require(")")
        self._depth = depth
        if name.lower() in _TIME_LITERALS and len(arguments) == 1:
            return self._time(name, arguments[0])
        return Call(name, tuple(arguments))

    def _time(self, name: str, argument: Expr) -> Expr:
        """Return `absTime("…")` or `relTime("…")` in its one spelling."""
        if not isinstance(argument, Literal) or not isinstance(argument.value, str):
            return Call(name, (argument,))
        name = _TIME_LITERALS[name.lower()]
        spelling = self._moment if name == "absTime" else self._span
        text = spelling(argument.value)
        if text is None:
            raise self._error("not a time: the argument before")
        return Call(name, (Literal(text),))

    def _moment(self, text: str) -> str | None:
        # Compat: what the reference prints of a moment before the year 1000 is another moment when
        # it is read again, and yet another then; so the text stays
        # (test_a_moment_that_would_not_be_read_back_is_printed_as_it_was_written).
        offset_at = ambient().utc_offset
        moment = parse_moment(text, offset_at)
        self.cacheable = self.cacheable and text.rstrip()[-1:] in ("Z", "z")
        if moment is None:
            return None
        spelling = str(AbsoluteTime(*moment))
        return spelling if parse_moment(spelling, offset_at) == moment else text

    def _span(self, text: str) -> str | None:
        # Compat: what the reference prints of a fraction of many digits, or of what 32 bits do not
        # hold, is another span or none, so that the text stays (test_spans_of_huge_parts).
        span = parse_span(text)
        if span is None:
            return None
        spelling = span_text(span)
        return spelling if repr(parse_span(spelling)) == repr(span) else text

    def _parenthesized(self) -> Expr:
        """Parenthesized = "(" expression ")"."""
        self._index += 1
        depth = self._depth
        self._deepen(BRACKET_DEPTH)
        inner = self.expression()
        self._require(")")
        self._depth = depth
        return Parentheses(inner)

    def _list(self) -> Expr:
        """List = "{" [ expression { "," expression } ] "}"."""
        self._index += 1
        depth = self._depth
        self._deepen(BRACKET_DEPTH)
        elements: list[Expr] = []
        if not self._take("}"):
            elements.append(self.expression())
            while self._take(","):
                elements.append(self.expression())
            self._require("}")
        self._depth = depth
        return ListNode(tuple(elements))

    def outermost_ad(self) -> AdNode:
        """Outermost = ad; its own brackets are no level of depth; old syntax has none."""
        self._depth = -BRACKET_DEPTH
        node = self.ad()
        self._depth = 0
        return node

    def ad(self) -> AdNode:
        """Ad = "[" { name "=" expression ";" } [ name "=" expression ] "]"."""
        self._require("[")
        depth = self._depth
        self._deepen(BRACKET_DEPTH)
        table: dict[str, Expr | str] = {}
        names: dict[str, str] = {}
        while True:
            parted = False
            while self._take(";"):
                parted = True
            # What is parted has to be something.
            if (table or not parted) and self._take("]"):
                break
            name = self._attribute_name("as an attribute's name")
            if not name:
                raise self._error("an attribute needs a name before")
            self._require("=")
            key = name.lower()
            names.setdefault(key, name)
            table[key] = self._primary() if self._is_alone() else self.expression()
            if self._peek() not in (";", "]"):
                raise self._error("expected ; or ], not")
        self._depth = depth
        return AdNode(table, names)

    def _is_alone(self) -> bool:
        """Tell whether an attribute is one token, as most are: no need to look for operators."""
        following = self._tokens[self._index + 1 : self._index + 2]
        if not following or following[0][0] != "symbol" or following[0][1] not in ";]":
            return False
        # The bracket of an ad without attributes may begin an expression.
        return self._tokens[self._index][0] != "symbol"

    def _number(self, kind: str, text: str, *, negative: bool = False) -> Literal:
        if kind == "real":
            number = float(text) if text[1] not in "xX" else _hexadecimal_real(text)
            return Literal(-number if negative else number)
        if kind == "odd":
            return Literal(0.0)
        if len(text) > 1 and text[0] == "0":
            # Compat: behind a minus the reference reads octal digits, as decimal ones, and
            # hexadecimal ones, as 0 (test_numbers_that_start_with_0_are_read_behind_a_minus).
            hexadecimal = text[1] in "xX"
            if not self._strict and not (negative and (hexadecimal or not set(text) & {"8", "9"})):
                self._index -= 1
                raise self._error("an integer does not start with 0, as does")
            if hexadecimal:
                return literal(0)
        integer = int(text) if len(text) <= 20 else 1 << 64
        if negative:
            integer = -integer
        # Compat: as the reference has it, an integer that does not fit in 64 bits is 0
        # (ads_old.json).
        return literal(integer if MIN_INTEGER <= integer <= MAX_INTEGER else 0)

    def _string(self) -> str:
        kind, text, _ = self._tokens[self._index]
        value = self._unescape(text)
        self._index += 1
        # In new syntax, strings side by side are one.
        while not self._old and self._tokens[self._index][0] == "string":
            kind, text, _ = self._tokens[self._index]
            value += self._unescape(text)
            self._index += 1
        assert kind == "string"
        return value

    def _quoted(self) -> str:
        name = self._unescape(self._tokens[self._index][1])
        self._index += 1
        while not self._old and self._tokens[self._index][0] == "quoted":
            name += self._unescape(self._tokens[self._index][1])
            self._index += 1
        return name

    def _unescape(self, text: str) -> str:
        try:
            return unescape(text[1:-1], old=self._old)
        except ClassAdSyntaxError as error:
            raise ClassAdSyntaxError(error.message, text=self._text, column=self.position) from None

    def _attribute_name(self, where: str) -> str:
        """Name = letters, digits and underscores, not reserved | anything in single quotes."""
        kind, text, _ = self._tokens[self._index]
        if kind == "quoted":
            return self._quoted()
        if kind == "name" and text.lower() not in RESERVED:
            self._index += 1
            return text
        raise self._error(f"expected a name {where}, not")

    def _at_negative_number(self) -> bool:
        kind, text, position = self._tokens[self._index]
        if kind != "symbol" or text != "-":
            return False
        following, _, start = self._tokens[self._index + 1]
        return following in ("integer", "real") and start == position + 1

    def _follows_integer(self) -> bool:
        """Tell whether the next token stands directly behind an integer."""
        kind, text, start = self._tokens[self._index - 1]
        return kind == "integer" and start + len(text) == self.position

    def _peek(self) -> str:
        kind, text, _ = self._tokens[self._index]
        return text if kind == "symbol" else ""

    def _take(self, symbol: str) -> bool:
        kind, text, _ = self._tokens[self._index]
        if kind == "symbol" and text == symbol:
            self._index += 1
            return True
        return False

    def _take_choice(self) -> bool:
        """Take `?:`, also with blanks inside it, as the reference does."""
        if self._take("?:"):
            return True
        following = self._tokens[self._index : self._index + 2]
        if [(kind, text) for kind, text, _ in following] != _SPACED_CHOICE:
            return False
        self._index += 2
        return True

    def _require(self, symbol: str) -> None:
        if not self._take(symbol):
            raise self._error(f"expected {symbol} before")

    def _deepen(self, levels: int) -> None:
        self._depth += levels
        if self._depth > MAX_DEPTH:
            raise ClassAdSyntaxError(
                "the expression is nested too deeply", text=self._text, column=self.position
            )

    def _error(self, problem: str) -> ClassAdSyntaxError:
        kind, text, position = self._tokens[self._index]
        found = "the end" if kind == "end" else _OPEN.get(text) or repr(text[:40])
        return ClassAdSyntaxError(
            f"{problem} {found} at column {position + 1} of {excerpt(self._text, position)!r}",
            text=self._text,
            column=position,
            complaint=f"{problem} {found}",
        )


# What a lone quote is: a closed one would be part of a longer token.
_OPEN: Final = {'"': "a string that never ends", "'": "a name in quotes that never ends"}


# Limit: the letters of a text that an error repeats, and how many of them before the place.
_MOST_LETTERS: Final = 200
_LETTERS_BEFORE: Final = 150


def excerpt(text: str, place: int) -> str:
    """Return a text that is not long, else the part of it around a place."""
    if len(text) <= _MOST_LETTERS:
        return text
    first = max(0, min(place - _LETTERS_BEFORE, len(text) - _MOST_LETTERS))
    last = first + _MOST_LETTERS
    return f"{'…' if first else ''}{text[first:last]}{'…' if last < len(text) else ''}"


# Limit: the bytes of all trees that are remembered by their texts, compiled and printed.
_MOST_BYTES: Final = 10 * 1024 * 1024
# What a tree costs at most beside its text, measured of all kinds of nodes: for each token, and
# for itself; and how often its text is in memory: as key, as values of strings, printed in both
# syntaxes. Letters that are not ASCII are printed as up to eight others.
_TOKEN_BYTES: Final = 300
_TREE_BYTES: Final = 200
_COPIES: Final = 4
_COPIES_NOT_ASCII: Final = 12
_allowance: Final = Allowance(_MOST_BYTES)
_new_cache: Final[Memory[str, Expr]] = Memory(_allowance)
_old_cache: Final[Memory[str, Expr]] = Memory(_allowance)
_old_prefix_cache: Final[Memory[str, Expr]] = Memory(_allowance)
_find_new: Final = _new_cache.get
_find_old: Final = _old_cache.get
_find_old_prefix: Final = _old_prefix_cache.get


def _remember(cache: Memory[str, Expr], text: str, expr: Expr, tokens: int) -> None:
    copies = _COPIES if text.isascii() else _COPIES_NOT_ASCII
    cache.keep(text, expr, _TREE_BYTES + _TOKEN_BYTES * tokens + copies * getsizeof(text))


def _guarded(parser: Parser) -> Expr:
    try:
        return parser.expression()
    except RecursionError:
        # Limit: called so deep in other code that Python's stack ends before MAX_DEPTH does.
        raise ClassAdSyntaxError("the expression is nested too deeply") from None


def parse_beginning(text: str) -> Expr:
    """Return the expression in new syntax that a text begins with; what follows means nothing."""
    return _guarded(Parser(text))


def parse_expression(text: str, *, old: bool = False, strict: bool = False) -> Expr:
    """Return the tree of an expression; the same text gives the same tree.

    `old` reads strings as old syntax writes them. Raises ClassAdSyntaxError, which knows the
    column. Source: the vectors in syntax.json.
    """
    if strict:
        parser = Parser(text, old=old, strict=True)
        expr = _guarded(parser)
        parser.expect_end()
        return expr
    known = _find_old(text) if old else _find_new(text)
    if known is not None:
        return known
    parser = Parser(text, old=old)
    expr = _guarded(parser)
    parser.expect_end()
    if parser.cacheable:
        _remember(_old_cache if old else _new_cache, text, expr, parser.tokens)
    return expr


_NOT_ZERO: Final = frozenset("123456789")
_PLAIN_STARTS: Final = _NOT_ZERO | {'"'}


def plain_string(text: str) -> str | None:
    """Return what a text in old syntax stands for if it is a string without escapes, else None."""
    if text[:1] == '"' and text.find('"', 1) == len(text) - 1 and "\\" not in text:
        return text[1:-1]
    return None


def plain_integer(text: str) -> int | None:
    """Return what a text stands for if it is a positive decimal number, else None.

    A leading zero would make the number octal; a huge one is cut to 64 bits by the parser.
    """
    if text[:1] in _NOT_ZERO and len(text) < 18 and text.isdecimal() and text.isascii():
        return int(text)
    return None


def is_plain(text: str) -> bool:
    """Tell whether a text is what old syntax would print of the value that it stands for.

    It is a string without escapes or a positive decimal number: such texts are kept as they are.
    """
    if text[:1] == '"':
        return text.find('"', 1) == len(text) - 1 and "\\" not in text
    return text.isdecimal() and text[0] in _NOT_ZERO and len(text) < 18 and text.isascii()


def _hexadecimal_real(text: str) -> float:
    """Return a hexadecimal number with a point.

    Compat: what looks like a power of ten is more digits, which its sign would end, as in the
    reference (test_hexadecimal_numbers_with_a_point).
    """
    return float.fromhex(_SIGN.split(text, maxsplit=1)[0])


_SIGN: Final = late_pattern("[+-]")


def _is_plain_real(text: str) -> bool:
    """Tell whether a text is a positive number with a decimal point, and neither sign nor power."""
    whole, point, fraction = text.partition(".")
    if not point or not fraction.isdecimal() or not text.isascii():
        return False
    return whole == "0" or (whole[:1] in _NOT_ZERO and whole.isdecimal())


# A positive decimal number, with a point or without, and a string without escapes.
_PLAIN: Final = late_pattern(r'[1-9][0-9]{0,16}|0|"[^"\\\0]*"|(?:0|[1-9][0-9]*)\.[0-9]+')
# Limit: the bytes of the texts for which it is remembered whether they parse.
_MOST_KNOWN: Final = 2 * 1024 * 1024


def is_expression(text: str) -> bool:
    """Tell whether the whole text is one expression of old syntax, as an ad on the wire has it.

    Numbers and strings, which most attributes are, cost nothing to speak of; of all others each
    distinct text is parsed once. A text with a NUL is none: for most readers it ends there.
    """
    if _PLAIN.fullmatch(text) is not None:
        return True
    return "\0" not in text and _parses[text]


def _try_to_parse(text: str) -> bool:
    try:
        parser = Parser(text, old=True)
        _guarded(parser)
        parser.expect_end()
    except ClassAdSyntaxError:
        return False
    return True


_parses: Final = Answers(_try_to_parse, _MOST_KNOWN)


def _plain_literal(text: str) -> Expr | None:
    """Return what most attributes are, a decimal number or a string without escapes, if it is one.

    None of these is remembered: the times of each job are others.
    """
    first = text[:1]
    if first == '"':
        inside = plain_string(text)
        if inside is not None:
            return Literal(inside)
    elif len(text) < 18 and text.isascii():
        number = plain_integer(text)
        if number is not None:
            return literal(number)
        if _is_plain_real(text):
            return Literal(float(text))
    return None


def parse_old_value(text: str, *, strict: bool = False) -> Expr:
    """Return the tree of an attribute's value in old syntax: its longest prefix that makes sense.

    Raises ClassAdSyntaxError where nothing at the start makes sense.
    Source: vectors/classad/ads_old.json.
    """
    if not strict:
        if text[:1] in _PLAIN_STARTS:
            known = _plain_literal(text) or _find_old_prefix(text)
        else:
            known = _find_old_prefix(text) or _plain_literal(text)
        if known is not None:
            return known
    parser = Parser(text, old=True, strict=strict)
    expr = _guarded(parser)
    if not strict and parser.cacheable:
        _remember(_old_prefix_cache, text, expr, parser.tokens)
    return expr
