"""An ad: names, without regard to case, to expressions; possibly chained to a parent ad.

Attributes arrive as text far more often than they are looked at, so text is kept as it came and
parsed when somebody asks; text that turns out not to parse is ERROR. How names are found across
ads is decided in `state.py`; forms other than new and old syntax are in `forms.py`.
"""

# ruff: noqa: SLF001 - the private members meant are those of other ads, of this same class
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from sys import getsizeof
from typing import Any, Final

from kettle.classad.context import Context
from kettle.classad.nodes import ERROR_LITERAL, AdNode, ListNode, Literal, literal
from kettle.classad.parser import (
    RESERVED,
    Parser,
    is_plain,
    parse_expression,
    parse_old_value,
    plain_integer,
    plain_string,
)
from kettle.classad.unparse import unparse
from kettle.classad.values import (
    UNDEFINED,
    AbsoluteTime,
    Ad,
    Error,
    Expr,
    ExprList,
    RelativeTime,
    Undefined,
    Value,
    saturate_integer,
    wrap_integer,
)
from kettle.errors import ClassAdSyntaxError
from kettle.octets import BLANKS
from kettle.remembered import ENTRY_BYTES, Allowance

# Names repeat from ad to ad: one key object and one usual spelling each. An ad remembers only
# the spellings that differ from the usual one.
# Limit: the bytes of the names that are shared; further ones cost their ads a little more.
_shared_names: Final = Allowance(3 * 1024 * 1024, largest=1024)
_usual_key: Final[dict[str, str]] = {}
_usual_name: Final[dict[str, str]] = {}


# The last text of each usual name, if it is short: ads that come one after the other are mostly
# alike, and their texts are one object then.
_last_text: Final[dict[str, str]] = {}
# Limit: the characters of such a text.
_LONGEST_SHARED: Final = 300


def _may_be_usual(name: str, key: str) -> bool:
    """Tell whether a name's spelling is the usual one from now on: it needs no quotes."""
    plain = name.isidentifier() and key not in RESERVED
    return plain and _shared_names.take(2 * (ENTRY_BYTES + getsizeof(name)))


def _key_of(name: str) -> str:
    """Return the lower-case key of a name."""
    return _usual_key.get(name) or name.lower()


class ClassAd(Ad):
    """A set of named expressions. Names keep their first spelling and the order they came in.

    `parent` is an ad this one is chained to: names it does not have are looked up there (a job's
    ad is chained to its cluster's). `scope` is the ad around a nested one. `table` is for the
    evaluator alone: own attributes by lower-case name, as trees or as text not parsed yet.
    """

    __slots__ = ("__weakref__", "_names", "_shared", "parent", "scope", "table")

    def __init__(
        self, attributes: Mapping[str, object] | None = None, *, parent: ClassAd | None = None
    ) -> None:
        self.table: dict[str, Expr | str] = {}
        self._names: dict[str, str] | None = None
        self._shared = False
        self.parent = parent
        self.scope: Ad | None = None
        if attributes is not None:
            for name, value in attributes.items():
                self[name] = value

    @classmethod
    def view_of(cls, node: AdNode, scope: Ad | None) -> ClassAd:
        """Return the value of an ad written out in an expression; it is copied when changed."""
        ad = cls.__new__(cls)
        ad.table = node.table
        ad._names = node.names
        ad._shared = True
        ad.parent = None
        ad.scope = scope
        return ad

    # -- Names ------------------------------------------------------------------------------

    def own_names(self) -> list[str]:
        """Return the names of the ad's own attributes in the order they came in."""
        names = self._names
        if names is None:
            return [_usual_name[key] for key in self.table]
        # A name may be empty.
        given = names.get
        return [_usual_name[key] if (name := given(key)) is None else name for key in self.table]

    @property
    def spelled_as_usual(self) -> bool:
        """Whether `table`'s keys alone say how the ad's own names are spelled."""
        return self._names is None

    def names(self) -> list[str]:
        """Return the names of all attributes, those of the chained ad after the ad's own."""
        if self.parent is None:
            return self.own_names()
        seen = dict.fromkeys(self.table)
        result = self.own_names()
        for name in self.parent.names():
            if _key_of(name) not in seen:
                result.append(name)
        return result

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __len__(self) -> int:
        return len(self.table) if self.parent is None else len(self.names())

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        # `_raw`, written out: a job costs some 100 of these.
        key = _usual_key.get(name) or name.lower()
        if key in self.table:
            return True
        ad = self.parent
        while ad is not None:
            if key in ad.table:
                return True
            ad = ad.parent
        return False

    def spelling(self, name: str) -> str | None:
        """Return an attribute's name as the ad spells it; None if it is not there."""
        key = _key_of(name)
        ad: ClassAd | None = self
        while ad is not None:
            if key in ad.table:
                given = ad._names.get(key) if ad._names else None
                return _usual_name[key] if given is None else given
            ad = ad.parent
        return None

    def outermost(self) -> Ad:
        """Return the ad around all the ads this one is in; itself, if in none."""
        ad: Ad = self
        while ad.scope is not None:
            ad = ad.scope
        return ad

    # -- Changing ---------------------------------------------------------------------------

    def _store(self, name: str, value: Expr | str) -> str:
        if self._shared:
            self._unshare()
        key = _usual_key.get(name)
        if key is None:
            key = self._unusual(name)
        self.table[key] = value
        return key

    def _unusual(self, name: str) -> str:
        key = name.lower()
        if key not in _usual_name and _may_be_usual(name, key):
            _usual_name[key] = name
            _usual_key[name] = key
        elif key not in self.table:
            if self._names is None:
                self._names = {}
            self._names[key] = name
        return key

    def _unshare(self) -> None:
        self.table = dict(self.table)
        self._names = dict(self._names) if self._names is not None else None
        self._shared = False

    @classmethod
    def of_node(cls, node: AdNode) -> ClassAd:
        """Return an ad that has what is written out in a node which nobody else keeps."""
        ad = cls()
        ad.table = node.table
        names = {key: name for key, name in node.names.items() if name not in _usual_key}
        for key, name in list(names.items()):
            if key not in _usual_name and _may_be_usual(name, key):
                _usual_name[key] = name
                _usual_key[name] = key
                del names[key]
        ad._names = names or None
        return ad

    def insert(self, name: str, expr: Expr) -> None:
        """Set an attribute to an expression."""
        self._store(name, expr)

    def insert_text(self, name: str, text: str, *, check: bool = False) -> str:
        """Set an attribute to an expression in old syntax, parsed when it is needed.

        With `check` it is parsed now, wholly, and ClassAdSyntaxError raised if it does not parse.
        Returns the name in lower case.
        """
        if check:
            return self._store(name, parse_expression(text, old=True))
        if self._shared:
            self._unshare()
        # `_store`, written out: a job costs some 250 of these.
        key = _usual_key.get(name)
        if key is None:
            key = self._unusual(name)
        elif (before := _last_text.get(key, "")) == text:
            text = before
        elif len(text) <= _LONGEST_SHARED:
            _last_text[key] = text
        self.table[key] = text
        return key

    def insert_lines(self, lines: Iterable[str]) -> str | None:
        """Set attributes from `Name = value` lines of old syntax, parsed when they are needed.

        Return the first line that is none of the kind, None if all are.
        """
        if self._shared:
            self._unshare()
        table, usual, seen = self.table, _usual_key, _last_text.get
        for line in lines:
            name, _, text = line.partition(" = ")
            key = usual.get(name)
            if key is None or not text:
                name, _, text = line.partition("=")
                name = name.strip()
                key = usual.get(name)
            text = text.strip()
            if not name or not text:
                return line
            if key is None:
                table[self._unusual(name)] = text
                continue
            before = seen(key)
            if before == text:
                text = before
            elif len(text) <= _LONGEST_SHARED:
                _last_text[key] = text
            table[key] = text
        return None

    def __setitem__(self, name: str, value: object) -> None:
        self._store(name, to_expression(value))

    def __delitem__(self, name: str) -> None:
        if not self.discard(name):
            raise KeyError(name)

    def discard(self, name: str) -> bool:
        """Remove the ad's own attribute of this name; whether there was one."""
        key = _key_of(name)
        if key not in self.table:
            return False
        if self._shared:
            self._unshare()
        del self.table[key]
        if self._names is not None:
            self._names.pop(key, None)
        return True

    def update(self, other: ClassAd | Mapping[str, object]) -> None:
        """Set every attribute that `other` has, its chained ad's included."""
        if not isinstance(other, ClassAd):
            for name, value in other.items():
                self[name] = value
            return
        if other.parent is None and not self._shared:
            if other._names:
                # Into what is there: ads are put together from many small ones.
                new = {key: one for key, one in other._names.items() if key not in self.table}
                if self._names is None:
                    self._names = new or None
                else:
                    self._names |= new
            self.table.update(other.table)
            return
        for name in other.names():
            entry = other._raw(_key_of(name))
            assert entry is not None
            self._store(name, entry)

    def copy(self) -> ClassAd:
        """Return an ad that can be changed by itself; the chained ad is the same one."""
        ad = ClassAd(parent=self.parent)
        ad.table = dict(self.table)
        ad._names = dict(self._names) if self._names is not None else None
        ad.scope = self.scope
        return ad

    def with_texts(self, texts: Iterable[str]) -> ClassAd:
        """Return an ad with this one's own names and parent, and other texts in old syntax.

        What is the same in both, which is most of it, is in memory once.
        """
        ad = ClassAd.__new__(ClassAd)
        # A copy that is filled in anew need not grow.
        ad.table = table = self.table.copy()
        for (key, own), text in zip(self.table.items(), texts, strict=True):
            if own != text:
                table[key] = text
        # Whichever is changed first takes names of its own.
        ad._names = self._names
        ad._shared = self._shared = self._names is not None
        ad.parent = self.parent
        ad.scope = None
        return ad

    def chain(self, own: dict[str, Expr | str], parent: ClassAd) -> None:
        """Chain the ad to one that says what `own` leaves out of the ad's table."""
        self.table = own
        if self._shared:
            self._names = dict(self._names) if self._names is not None else None
            self._shared = False
        self.parent = parent

    def flattened(self) -> ClassAd:
        """Return a copy that has the chained ad's attributes as its own and no parent."""
        ad, parent = ClassAd(), self.parent
        if parent is None or parent.parent is not None or self._names or parent._names:
            if parent is not None:
                ad.update(parent)
            ad.update(self)
        else:
            ad.table = {**parent.table, **self.table}
        return ad

    # -- Looking ----------------------------------------------------------------------------

    def _raw(self, key: str) -> Expr | str | None:
        ad: ClassAd | None = self
        while ad is not None:
            found = ad.table.get(key)
            if found is not None:
                return found
            ad = ad.parent
        return None

    def entry(self, key: str) -> Expr | None:
        """Return the expression under a lower-case name, here or in the chained ad."""
        ad: ClassAd | None = self
        while ad is not None:
            found = ad.table.get(key)
            if found is not None:
                if type(found) is not str:
                    return found  # type: ignore[return-value]
                return ad._parse(key, found)
            ad = ad.parent
        return None

    def _parse(self, key: str, text: str) -> Expr:
        try:
            expr = parse_old_value(text)
        except ClassAdSyntaxError:
            expr = ERROR_LITERAL
        self.table[key] = expr
        return expr

    def lookup(self, name: str) -> Expr | None:
        """Return the expression of an attribute, None if there is no such attribute."""
        return self.entry(_key_of(name))

    def text(self, name: str) -> str | None:
        """Return an attribute's expression in old syntax: as it came, if nobody parsed it yet."""
        key = _usual_key.get(name) or name.lower()
        # `_raw`, written out: a job costs some 80 of these.
        found, parent = self.table.get(key), self.parent
        while found is None and parent is not None:
            found, parent = parent.table.get(key), parent.parent
        return found if found is None or isinstance(found, str) else found.old_text

    def own_texts(self) -> list[tuple[str, str]]:
        """Return name and expression in old syntax of each of the ad's own attributes."""
        names, usual = self._names, _usual_name
        if names is None:
            return [
                (usual[key], found if isinstance(found, str) else found.old_text)
                for key, found in self.table.items()
            ]
        return [
            (name, found if isinstance(found, str) else found.old_text)
            for name, found in zip(self.own_names(), self.table.values(), strict=True)
        ]

    def texts(self, *, above: ClassAd | None = None) -> list[tuple[str, str]]:
        """Return name and expression in old syntax of each attribute, the chained ad's last.

        With `above`, an ad this one is chained to, only what is before that one.
        """
        found = self.own_texts()
        seen: dict[str, Expr | str] = self.table
        ad = self.parent
        while ad is not above and ad is not None:
            pairs = zip(ad.table, ad.own_texts(), strict=True)
            found += [pair for key, pair in pairs if key not in seen]
            if ad.parent is not None:
                seen = {**seen, **ad.table}
            ad = ad.parent
        return found

    def __getitem__(self, name: str) -> Value:
        if name not in self:
            raise KeyError(name)
        return self.evaluate(name)

    def lines(self, *, above: ClassAd | None = None) -> list[str]:
        """Return `Name = value` in old syntax for every attribute, in the order of `texts`.

        Names are not quoted here, whatever they look like: files and the wire have none quoted.
        """
        return [f"{name} = {text}" for name, text in self.texts(above=above)]

    # -- Evaluating -------------------------------------------------------------------------

    def evaluate(
        self, name: str, target: ClassAd | None = None, context: Context | None = None
    ) -> Value:
        """Return an attribute's value, UNDEFINED if there is no such attribute."""
        # `entry`, written out: a job costs some 250 of these.
        key = _usual_key.get(name) or name.lower()
        ad: ClassAd | None = self
        while ad is not None:
            found = ad.table.get(key)
            if found is not None:
                expr = ad._parse(key, found) if isinstance(found, str) else found
                if type(expr) is Literal:
                    return expr.value
                return expr.evaluate(self, target, context)
            ad = ad.parent
        return UNDEFINED

    def evaluate_expression(
        self, expr: Expr, target: ClassAd | None = None, context: Context | None = None
    ) -> Value:
        """Return the value of any expression in this ad."""
        return expr.evaluate(self, target, context)

    def integer(self, name: str, target: ClassAd | None = None) -> int | None:
        """Return an attribute's value as an integer, reals cut off; None if it is no number."""
        key = _usual_key.get(name) or name.lower()
        # `_raw`, written out: a job costs some 150 of these.
        found, parent = self.table.get(key), self.parent
        while found is None and parent is not None:
            found, parent = parent.table.get(key), parent.parent
        if type(found) is str and (plain := plain_integer(found)) is not None:
            return plain
        if found is None:
            return None
        value = found.value if type(found) is Literal else self.evaluate(name, target)
        if isinstance(value, int):
            return int(value)
        return saturate_integer(value) if isinstance(value, float) else None

    def real(self, name: str, target: ClassAd | None = None) -> float | None:
        """Return an attribute's value as a real; None if it is no number."""
        key = _usual_key.get(name) or name.lower()
        found, parent = self.table.get(key), self.parent
        while found is None and parent is not None:
            found, parent = parent.table.get(key), parent.parent
        if found is None:
            return None
        if type(found) is str and (plain := plain_integer(found)) is not None:
            return float(plain)
        value = found.value if type(found) is Literal else self.evaluate(name, target)
        return float(value) if isinstance(value, _NUMBERS) else None

    def string(self, name: str, target: ClassAd | None = None) -> str | None:
        """Return an attribute's value if it is a string, else None."""
        key = _usual_key.get(name) or name.lower()
        found, parent = self.table.get(key), self.parent
        while found is None and parent is not None:
            found, parent = parent.table.get(key), parent.parent
        if type(found) is str and (plain := plain_string(found)) is not None:
            return plain
        if found is None:
            return None
        value = found.value if type(found) is Literal else self.evaluate(name, target)
        return value if isinstance(value, str) else None

    def boolean(self, name: str, target: ClassAd | None = None) -> bool | None:
        """Return an attribute's value as a boolean; None if it is neither boolean nor number."""
        value = self.evaluate(name, target)
        if type(value) is bool:
            return value
        return bool(value) if isinstance(value, _NUMBERS) else None

    def satisfies(self, condition: Expr, target: ClassAd | None = None) -> bool:
        """Tell whether a condition is true of this ad, or a number other than zero.

        What is undefined, an error, text or anything else is not true.
        """
        value = condition.evaluate(self, target)
        return value is True or (isinstance(value, _NUMBERS) and value != 0)

    # -- As a value -------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ClassAd):
            return NotImplemented
        if self is other:
            return True
        keys = {_key_of(name) for name in self.names()}
        if keys != {_key_of(name) for name in other.names()}:
            return False
        return all(self.entry(key) == other.entry(key) for key in keys)

    __hash__ = object.__hash__

    def __str__(self) -> str:
        return unparse(self)

    def __repr__(self) -> str:
        return f"<ClassAd {unparse(self)[:200]}>"


# A union written where it is asked for would be made for each question.
_NUMBERS: Final = (int, float)
_OF_TYPE: Final[dict[type, Callable[[Any], Expr]]] = {
    str: Literal,
    bool: literal,
    int: lambda value: literal(wrap_integer(value)),
    float: literal,
}


def to_expression(value: object) -> Expr:
    """Return a Python value as an expression; None is UNDEFINED, a mapping an ad.

    Raises TypeError for what ClassAds have no value for.
    """
    # Most are of these types, and no question about any other is asked for them.
    make = _OF_TYPE.get(type(value))
    if make is not None:
        return make(value)
    if isinstance(value, Expr):
        return value
    if value is None:
        return literal(UNDEFINED)
    if isinstance(value, bool):
        return literal(value)
    if isinstance(value, int):
        return literal(wrap_integer(int(value)))
    if isinstance(value, float):
        return literal(float(value))
    if isinstance(value, AbsoluteTime | RelativeTime | Undefined | Error):
        return literal(value)
    if isinstance(value, str):
        return Literal(str(value))
    if isinstance(value, ExprList):
        return ListNode(value.elements)
    if isinstance(value, ClassAd):
        return _ad_node(value)
    if isinstance(value, Mapping):
        return _ad_node(ClassAd(value))
    if isinstance(value, list | tuple | set | frozenset):
        return ListNode(tuple(to_expression(item) for item in value))
    raise TypeError(f"a ClassAd has no value for a {type(value).__name__}")


def _ad_node(ad: ClassAd) -> AdNode:
    table: dict[str, Expr | str] = {}
    names: dict[str, str] = {}
    for name in ad.names():
        key = _key_of(name)
        expr = ad.entry(key)
        assert expr is not None
        table[key] = expr
        names[key] = name
    return AdNode(table, names)


def parse_ad(text: str, *, strict: bool = False) -> ClassAd:
    """Return the ad a text in new syntax is. Raises ClassAdSyntaxError, which knows the column."""
    # Loaded here: most tools read no ad in new syntax.
    from kettle.classad.plain_ads import find_plain_ad, split_plain_ad

    if not strict:
        table = split_plain_ad(text, _usual_key)
        if table is not None:
            ad = ClassAd()
            ad.table = table
            return ad
        plain = find_plain_ad(text)
        if plain is not None and not text[plain[1] :].strip(BLANKS):
            return ClassAd.of_node(plain[0])
    parser = Parser(text, strict=strict)
    node = parser.outermost_ad()
    parser.expect_end()
    return ClassAd.of_node(node)


def parse_ad_at(text: str, position: int) -> tuple[ClassAd, int]:
    """Return the ad in new syntax that starts at `position`, and where it ends."""
    from kettle.classad.plain_ads import find_plain_ad

    plain = find_plain_ad(text, position)
    if plain is not None:
        return ClassAd.of_node(plain[0]), plain[1]
    parser = Parser(text[position:])
    node = parser.outermost_ad()
    return ClassAd.of_node(node), position + parser.position


def parse_old_ad(
    source: str | Iterable[str], *, check: bool = True, first_line: int = 1
) -> ClassAd:
    """Return the ad that lines of old syntax are; empty lines and `#` lines are skipped.

    With `check` (the default) every value is parsed now and ClassAdSyntaxError says which line
    is wrong, counted from `first_line`; without, values are kept as text and parsed when needed.
    """
    ad = ClassAd()
    table, usual, seen = ad.table, _usual_key, _last_text.get
    lines: Iterable[str] = source.split("\n") if isinstance(source, str) else source
    for number, line in enumerate(lines, first_line):
        name, _, text = line.partition(" = ")
        key = usual.get(name)
        text = text.strip()
        if key is None or not text:
            _read_line(ad, line.strip(), number, check=check)
            continue
        # What would be printed as it stands is kept as text also where it is checked.
        if check and not is_plain(text):
            table[key] = _checked_value(text, number, line)
            continue
        before = seen(key)
        if before == text:
            text = before
        elif len(text) <= _LONGEST_SHARED:
            _last_text[key] = text
        table[key] = text
    return ad


def _read_line(ad: ClassAd, text: str, number: int, *, check: bool) -> None:
    """Set an attribute from a line that is written in any way."""
    if not text or text[0] == "#":
        return
    name, equals, value = text.partition("=")
    name = name.rstrip(" ")
    if not equals or not name:
        raise _line_error(number, text, "there is no Name = value in")
    value = value.strip()
    if check and not is_plain(value):
        ad.insert(name, _checked_value(value, number, text))
    else:
        ad.insert_text(name, value)


def _checked_value(text: str, number: int, line: str) -> Expr:
    try:
        return parse_old_value(text)
    except ClassAdSyntaxError as error:
        shown = line.strip()
        place = len(shown) - len(text) + error.column
        found = _line_error(number, shown, error.message + ", in", place)
        found.complaint = f"line {number}: {error.complaint}"
        raise found from None


def _line_error(number: int, text: str, problem: str, column: int = 0) -> ClassAdSyntaxError:
    message = f"line {number}: {problem} {text[:200]!r}"
    error = ClassAdSyntaxError(message, text=text, column=column)
    error.line = number
    return error
