"""Every knob says truly whether anything here acts on it, and what is read by name is declared.

A knob is read where its name is written out in the source, where a typed constant of a table stands
for it, where a name is put together that is its own (`f"JOB_DEFAULT_{attribute}"`), and where the
default of a knob that is read mentions it.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import kettle.config.knobs
from kettle.config.declared import declared_knobs, names_of_levels
from kettle.config.deprecated import find_newer
from kettle.config.knob import Family, Knob
from kettle.config.templates import TEMPLATES
from kettle.config.unread import find_area
from kettle.levels import CONFIGURED
from kettle.runtime.machine_facts import read_machine_facts

SOURCES = Path(__file__).parents[2] / "src" / "kettle"
# What lists names without reading them.
LISTS = (
    "compat/htcondor2/param_types.py",
    "config/bare_names.py",
    "config/check.py",
    "config/default_texts.py",
    "config/deprecated.py",
    "config/families.py",
    "config/knobs/",
    "config/strictest_texts.py",
    "config/subsystem_defaults.py",
    "config/templates.py",
    "config/unread.py",
    "config/unread_names.py",
)
# Tables of words that are there for other settings to mention.
MENTIONED = ("places", "policy")

DAEMONS = "COLLECTOR|MASTER|NEGOTIATOR|SCHEDD|SHADOW|SHARED_PORT|STARTD|STARTER|SUBMIT|TOOL"
LEVELS = "|".join(CONFIGURED)
_FEATURES = "AUTHENTICATION|ENCRYPTION|INTEGRITY|NEGOTIATION|AUTHENTICATION_METHODS|CRYPTO_METHODS"
# Which names are put together by a shape whose blanks are not a daemon or a level alone.
SHAPES = {
    "JOB_DEFAULT_{}": r"JOB_DEFAULT_REQUEST\w+",
    "MASTER_{}": r"MASTER_(?:BACKOFF_(?:CONSTANT|FACTOR|CEILING)|RECOVER_FACTOR)",
    "MAX_{}_LOG": rf"MAX_(?:{DAEMONS}|NEGOTIATOR_MATCH)_LOG",
    "MODIFY_REQUEST_EXPR_REQUEST{}": r"MODIFY_REQUEST_EXPR_REQUEST\w+",
    "SCHEDD_ROUND_ATTR_{}": r"SCHEDD_ROUND_ATTR_(?!NUMCKPTS)\w+",
    "SEC_{}_{}": rf"SEC_(?:{LEVELS})_(?:{_FEATURES}|SESSION_DURATION|SESSION_LEASE)",
    "SYSTEM_PERIODIC_{}": r"SYSTEM_PERIODIC_[A-Z]+",
    "SYSTEM_{}_JOB_ATTRS": r"SYSTEM_(?:IMMUTABLE|PROTECTED|SECURE)_JOB_ATTRS",
    "TRUNC_{}_LOG_ON_OPEN": rf"TRUNC_(?:{DAEMONS}|MATCH|SCHED)_LOG_ON_OPEN",
    # What the master starts: ours but itself, and HTCondor's own that have such a knob.
    "{}_ARGS": rf"(?!MASTER_)(?:{DAEMONS}|HAD|REPLICATION)_ARGS",
    "{}_ENVIRONMENT": rf"(?!MASTER_)(?:{DAEMONS})_ENVIRONMENT",
    "{}_JOB_ATTRS": r"(?:IMMUTABLE|PROTECTED|SECURE|INPUT|OUTPUT|CHECKPOINT)_JOB_ATTRS",
    "{}_{}_LOG": rf"(?:{DAEMONS})_MATCH_LOG",
    "{}_{}": rf"(?:{DAEMONS})_(?:SUPER_ADDRESS_FILE|ADDRESS_FILE)",
    "{}{}_REASON": r"SYSTEM_PERIODIC_[A-Z]+_REASON",
    "{}{}_SUBCODE": r"SYSTEM_PERIODIC_[A-Z]+_SUBCODE",
}
# Read although no name of it is found, and not read although a name is, with the reasons.
READ = {
    "ALLOW_CLIENT": "the lists of rights are read by level",
    "CREDD_POLLING_TIMEOUT": "HTCondor's own tools read it, in a pool of ours too",
    "PLACEMENTD": "the master starts whatever DAEMON_LIST names",
}
NOT_READ = {
    "VM_MEMORY": "a macro of submit descriptions has that name",
}
# How a text of a configuration is asked for by name.
_ASKING = frozenset(
    {
        "boolean",
        "expression",
        "find",
        "get",
        "integer",
        "is_defined",
        "origin",
        "raw",
        "real",
        "sound_expression",
        "text",
        "words",
    }
)


class Sources(NamedTuple):
    """What the source says: words written out, constants of tables, shapes of names."""

    words: set[str]
    constants: set[str]
    shapes: set[str]


def scan(texts: Iterator[str]) -> Sources:
    found = Sources(set(), set(), set())
    for text in texts:
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.JoinedStr):
                parts = (str(p.value) if isinstance(p, ast.Constant) else "{}" for p in node.values)
                found.shapes.add("".join(parts))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.words.add(node.value)
            elif isinstance(node, ast.Attribute) and ast.unparse(node.value).endswith("Knobs"):
                found.constants.add(node.attr)
    return found


def texts() -> Iterator[str]:
    for path in sorted(SOURCES.rglob("*.py")):
        if not path.relative_to(SOURCES).as_posix().startswith(LISTS):
            yield path.read_text(encoding="utf-8")


def rows() -> Iterator[tuple[str, Any]]:
    for info in pkgutil.iter_modules(kettle.config.knobs.__path__):
        module = importlib.import_module(f"kettle.config.knobs.{info.name}")
        for table in vars(module).values():
            if isinstance(table, type) and table.__module__ == module.__name__:
                for row in vars(table).values():
                    if isinstance(row, Knob | Family):
                        yield info.name, row


def mentions(text: str) -> set[str]:
    return {name.upper() for name in re.findall(r"\$\((\w+)", text)}


def made_by(shapes: set[str]) -> re.Pattern[str]:
    """Return what matches the names that are put together by the shapes."""
    plain = {shape for shape in shapes if re.fullmatch(r"(?:\w|\{\})*[A-Z]{2}(?:\w|\{\})*", shape)}
    blank = f"(?:{DAEMONS}|{LEVELS})"
    made = [shape.replace("{}", blank) for shape in plain - SHAPES.keys() if "{}" in shape]
    made += [SHAPES[shape] for shape in shapes & SHAPES.keys()]
    return re.compile("|".join(made or ["(?!)"]), re.IGNORECASE)


def find_read(knobs: list[Knob[Any]], sources: Sources) -> set[str]:
    """Return the upper-case names of the knobs that something reads."""
    made = made_by(sources.shapes)
    read = {
        knob.name.upper()
        for knob in knobs
        if knob.name in sources.constants
        or {knob.name, knob.name.upper()} & sources.words
        or made.fullmatch(knob.name)
        or knob.name in READ
    } - NOT_READ.keys()
    while True:
        texts = [knob.default or "" for knob in knobs if knob.name.upper() in read]
        more = set().union(*map(mentions, texts)) - read
        if not more:
            return read
        read |= more


KNOBS = [(table, row) for table, row in rows() if isinstance(row, Knob)]


@pytest.fixture(scope="module")
def found() -> Sources:
    return scan(texts())


def test_a_knob_is_marked_unread_where_nothing_reads_it(found: Sources) -> None:
    read = find_read([knob for _, knob in KNOBS], found)
    # A template that a site uses may hand it on to what is read.
    handed = mentions(" ".join(text for group in TEMPLATES.values() for text in group.values()))
    for table, knob in KNOBS:
        name = knob.name.upper()
        if table in MENTIONED:
            assert not knob.unread, knob
        elif knob.unread:
            assert name not in read, f"{name} is read, and marked as unread"
        else:
            assert name in read | handed, f"nothing reads {name}: mark it as unread"


def test_what_is_told_is_what_is_marked(found: Sources) -> None:
    for _, knob in KNOBS:
        assert bool(find_area(knob.name)[0]) == knob.unread, knob
    for _, row in rows():
        if isinstance(row, Family):
            name = row.pattern.replace(
                row.pattern[row.pattern.index("{") :].split("}")[0] + "}", "X"
            )
            assert bool(find_area(name)[0]) == row.unread, name


def test_every_shape_and_exception_is_needed(found: Sources) -> None:
    assert SHAPES.keys() <= found.shapes
    names = {knob.name for _, knob in KNOBS}
    assert READ.keys() | NOT_READ.keys() <= names
    assert NOT_READ.keys() <= found.words
    assert not READ.keys() & (found.words | found.constants)


@pytest.mark.parametrize(
    ("text", "is_read"),
    [
        ("config.get('A_KNOB')", True),
        ("config[MyKnobs.A_KNOB]", True),
        ("other.A_KNOB", False),
        ("config.get('ANOTHER')", False),
        ("config.get(f'JOB_DEFAULT_{name}')", False),
    ],
)
def test_a_reader_is_found(text: str, is_read: bool) -> None:
    knob = Knob[str](None, doc="A knob.")
    knob.name = "A_KNOB"
    assert ("A_KNOB" in find_read([knob], scan(iter([text])))) == is_read


def test_a_name_that_is_put_together_is_found() -> None:
    shapes = scan(iter(["f'JOB_DEFAULT_{name}', f'{subsystem}_LOG'"])).shapes
    assert made_by(shapes).fullmatch("JOB_DEFAULT_REQUESTCPUS")
    assert made_by(shapes).fullmatch("SCHEDD_LOG")
    assert not made_by(shapes).fullmatch("DEFRAG_LOG")


def asked(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and name of every name that is written out where a configuration is asked."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        whose = ast.unparse(node.func.value).lower().rpartition(".")[2]
        name = node.args[0]
        if "config" not in whose or node.func.attr not in _ASKING:
            continue
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            yield node.lineno, name.value


def is_declared(name: str) -> bool:
    """Tell whether a name is a knob's, a detected one's, or an older spelling that is told of."""
    # What stands before a dot says whose setting it is.
    plain = name.upper().rpartition(".")[2]
    return (
        plain in declared_knobs()
        or plain in names_of_levels()
        or _is_of_family(plain)
        or plain in map(str.upper, read_machine_facts())
        or bool(find_newer(plain)[0])
    )


def _is_of_family(name: str) -> bool:
    return any(
        _pattern_of(row).fullmatch(name)
        for _, row in rows()
        if isinstance(row, Family) and not re.search(r"\{(?:level|context|which)\}", row.pattern)
    )


def _pattern_of(row: Family[Any]) -> re.Pattern[str]:
    before, _, rest = row.pattern.partition("{")
    after = rest.partition("}")[2]
    if not before:
        # Any word with that end is of such a family; ours are those of our daemons.
        return re.compile(f"(?:{DAEMONS}){after}" if after else "(?!)")
    return re.compile(rf"{before}\w+{after}")


def test_every_name_that_is_asked_for_is_declared() -> None:
    wrong = []
    for path in sorted(SOURCES.rglob("*.py")):
        for line, name in asked(ast.parse(path.read_text(encoding="utf-8"))):
            if not is_declared(name):
                wrong.append(f"{path.relative_to(SOURCES)}:{line}: {name}")
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("self._config.get('A_KNOB')", [(1, "A_KNOB")]),
        ("reach.config.words('A_KNOB', 1)", [(1, "A_KNOB")]),
        ("config.environment.get('HOME')", []),
        ("config.get(name)", []),
        ("ad.get('A_KNOB')", []),
    ],
)
def test_what_is_asked_for_is_found(text: str, names: list[tuple[int, str]]) -> None:
    assert list(asked(ast.parse(text))) == names


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("SPOOL", True),
        ("STARTD.SPOOL", True),
        ("SCHEDD_LOG", True),
        ("FULL_HOSTNAME", True),
        ("STARTD_EXPRS", True),
        ("A_KNOB", False),
        ("SCHED_LOG", False),
    ],
)
def test_what_is_declared(name: str, declared: bool) -> None:
    assert is_declared(name) == declared
