"""`Submit`: a description of jobs in the submit language, as a mapping of its commands."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from pathlib import Path
from typing import Any, Final

from kettle.client.submit_sources import SystemSubmitSources, read_facts
from kettle.compat.classad2 import ClassAd
from kettle.compat.htcondor2.errors import HTCondorException
from kettle.compat.htcondor2.job_enums import SubmitMethod
from kettle.compat.htcondor2.process import PROCESS
from kettle.config.lines import LineReader
from kettle.config.origin import Origin
from kettle.config.reader import IDENTIFIER
from kettle.errors import ConfigError, StatementError, SubmitError
from kettle.octets import BLANKS
from kettle.submit.build import make_macros
from kettle.submit.extended import read_templates
from kettle.submit.macros import SubmitMacros, Variable
from kettle.submit.queue_statement import QueueStatement, parse_queue
from kettle.submit.queue_words import KEYWORD, KEYWORDS, split_left
from kettle.submit.reader import ATTRIBUTE_NAME, QueueText, SubmitReader
from kettle.submit.tables import UNIT_SEPARATOR

_NAME: Final = "<PythonString>"
_WORD_QUEUE: Final = "queue "
# Where a queue statement has its items from that a program has handed over; no file is read.
_GIVEN: Final = "<itemdata>"
_CONTINUED: Final = re.compile(r"\\[ \t\r]*\n\s*")
# What begins a statement is the name of no command; `error` and `use` may be one.
_STATEMENTS: Final = frozenset({"queue", "iterate", "if", "elif", "else", "endif"})
# Numbers that only a `SubmitMethod` may have, unless a program insists.
_RESERVED: Final = range(100)


class Submit(MutableMapping[str, str]):
    """The commands of a description by name, without regard to case, and its queue statement.

    Values are texts of the language, with macros as they are written. Nothing can be taken away;
    an empty value has no effect.
    """

    def __init__(
        self,
        input: dict[str, Any] | str | None = None,  # noqa: A002 - the wheel's name
        queue: str | None = None,
        **kwargs: str,
    ) -> None:
        """Take a text, which may end with its queue statement, or a dictionary of commands.

        `queue` is a queue statement's arguments; further names are commands. Raises ValueError for
        a text that is no description.
        """
        self._queue_args = ""
        # The lines behind a queue statement: its items, where they stand in the description.
        self._inline: list[str] = []
        # Items that a program has handed over: never text, for an item may be any line.
        self._items: Sequence[str] | None = None
        self._method = int(SubmitMethod.PythonBindings)
        self._macros = new_macros()
        if isinstance(input, dict):
            self._read_mapping(input)
        elif isinstance(input, str):
            self._read(input)
        elif input is not None:
            raise TypeError(
                "input must be a dictionary mapping string to strings, a string, or None"
            )
        self.update(kwargs)
        if queue is not None:
            if not isinstance(queue, str):
                raise TypeError("queue must be a string")
            self.setQArgs(queue)

    def _read_mapping(self, commands: dict[str, Any]) -> None:
        texts = {_checked(key, "key"): _text_of(key, one) for key, one in commands.items()}
        # Compat: with the wheel a value of several lines is several commands, and one that ends
        # in a backslash takes the next command with it
        # (test_a_value_is_never_another_command).
        kept = {key: text for key, text in texts.items() if "\n" in text or text[-1:] == "\\"}
        self._read("\n".join(f"{key} = {'' if key in kept else texts[key]}" for key in texts))
        for key, text in kept.items():
            self[_command_name(key, self._macros)] = text

    def _read(self, text: str) -> None:
        reader = SubmitReader(self._macros, SystemSubmitSources(), text, _NAME)
        reader.templates = read_templates(PROCESS.config)
        try:
            found = reader.next_queue()
        except SubmitError as error:
            raise ValueError(str(error).strip()) from error
        if found is not None:
            self._queue_args = found.text.strip()
            self._inline = reader.lines.rest()

    # -- The mapping ------------------------------------------------------------------------

    def __getitem__(self, key: str) -> str:
        found = self._macros.variables.get(_checked(key, "key").upper())
        if found is None:
            raise KeyError(key)
        return found.text

    def __setitem__(self, key: str, value: str) -> None:
        key, text = _checked(key, "key"), _checked(value, "value")
        _refuse_nul(key, text)
        earlier = self._macros.variables.get(key.upper())
        name = earlier.name if earlier is not None else key
        self._macros.variables[key.upper()] = Variable(name, text, Origin(_NAME))

    def __delitem__(self, key: str) -> None:
        raise NotImplementedError(
            "Submit object keys can not be removed, but the empty string is defined to have "
            "no effect."
        )

    def __iter__(self) -> Iterator[str]:
        return iter([variable.name for variable in self._macros.variables.values()])

    def __len__(self) -> int:
        return len(self._macros.variables)

    def __str__(self) -> str:
        return f"{self.commands()}{_WORD_QUEUE}{self._queue_args}".rstrip(" ") + "\n"

    def __repr__(self) -> str:
        return f"Submit({self})"

    def commands(self) -> str:
        """Return the description without its queue statement, one command a line."""
        return "".join(_line(key, value) for key, value in self.items())

    # -- The queue statement ----------------------------------------------------------------

    def getQArgs(self) -> str:  # noqa: N802
        """Return the arguments of the queue statement."""
        return self._queue_args

    def setQArgs(self, args: str) -> None:  # noqa: N802
        """Take other arguments for the queue statement; they may begin with `queue`.

        Lines behind it are its items; one that ends in a backslash goes on in the next.
        """
        args = _checked(args, "args")
        if args[: len(_WORD_QUEUE)].casefold() == _WORD_QUEUE:
            args = args[len(_WORD_QUEUE) :]
        lines = LineReader(_WORD_QUEUE + args.strip())
        self._queue_args = (lines.next_line() or "")[len(_WORD_QUEUE) :].strip()
        self._inline, self._items = lines.rest(), None

    def itemdata(self, qargs: str | None = None) -> Iterator[str] | Iterator[dict[str, str]] | None:
        """Return the items of the queue statement, or of another one: a dictionary for each.

        None where the statement has no items. Raises ValueError for a statement that is none.

        Compat: the wheel forgets the statement's slice here and returns all items, so that
        handing them to `submit` makes other jobs than the statement
        (test_items_are_those_of_the_slice).
        """
        asked = self
        if qargs is not None:
            asked = self.copy()
            asked.setQArgs(qargs)
        return asked.own_items()

    def own_items(self) -> Iterator[dict[str, str]] | None:
        """Return the items of the queue statement; see `itemdata`."""
        statement = self._statement()
        if not statement.items:
            return None
        chosen = statement.items[statement.selected]
        if not all(chosen):
            raise ValueError("invalid qargs")
        names = statement.variables
        return iter([dict(zip(names, statement.values_of(one), strict=True)) for one in chosen])

    def _statement(self) -> QueueStatement:
        reader = SubmitReader(self._macros, SystemSubmitSources(), "\n".join(self._inline), _NAME)
        try:
            return parse_queue(QueueText(self._queue_args, 1), reader, self.sources())
        except (SubmitError, ConfigError) as error:
            raise ValueError(_reason(error)) from error

    def check_items(self) -> None:
        """Raise ValueError for a queue statement that is none."""
        self._statement()

    def copy(self) -> Submit:
        """Return the same description, which can be changed for itself."""
        same = Submit()
        same._macros.variables.update(
            (key, Variable(one.name, one.text, one.origin))
            for key, one in self._macros.variables.items()
        )
        same._queue_args, same._inline = self._queue_args, list(self._inline)
        same._items, same._method = self._items, self._method
        return same

    def with_queue(self, queue: str | None) -> Submit:
        """Return this description with another queue statement, if one is given."""
        if queue is None:
            return self
        same = self.copy()
        same.setQArgs(queue)
        return same

    def with_items(self, items: Iterator[str] | Iterator[dict[str, str]] | None) -> Submit:
        """Return this description with these items, or with one job for None."""
        same = self.copy()
        same.setQArgs("")
        if items is not None:
            same.give_items(*read_items(items))
        return same

    def give_items(self, names: str, items: Sequence[str]) -> None:
        """Take these items, for variables with these names, instead of a queue statement's."""
        self.setQArgs(f"{names} from {_GIVEN}")
        self._items = items

    def queue_text(self, count: int = 0) -> str:
        """Return the queue statement, `count` jobs of each item if that is not 0.

        It stands on the line where it would stand behind the commands, for the messages.
        """
        args = with_count(self._queue_args, count, self._macros) if count else self._queue_args
        before = "\n" * self.commands().count("\n")
        return "\n".join([f"{before}{_WORD_QUEUE}{args}", *self._inline, ""])

    def sources(self) -> SystemSubmitSources:
        """Return where a submission has its files and items from."""
        return SystemSubmitSources() if self._items is None else _GivenItems(self._items)

    def assign_to(self, macros: SubmitMacros) -> None:
        """Set the commands in a table, each to its value, whatever that would mean as text.

        Raises ValueError for a name that no command has, HTCondorException for a macro in a
        value that cannot be replaced.
        """
        for number, (key, value) in enumerate(self.items(), 1):
            try:
                name = _command_name(key, macros)
                text = "undefined" if key[:1] == "-" else _joined(value)
                macros.assign(name, text, Origin("", number))
            except ConfigError as error:
                raise HTCondorException(str(error)) from error

    # -- The rest ---------------------------------------------------------------------------

    def expand(self, attr: str) -> str:
        """Return the value of a command with its macros replaced."""
        found = self._macros.raw(_checked(attr, "attr"))
        if found is None:
            raise KeyError(attr)
        try:
            return self._macros.expand(found)
        except ConfigError as error:
            raise HTCondorException(str(error)) from error

    def jobs(
        self,
        count: int = 0,
        itemdata: Iterator[Any] | None = None,
        clusterid: int = 1,
        procid: int = 0,
        qdate: int = 0,
        owner: str = "",
    ) -> Iterator[ClassAd]:
        """Yield the ads of the jobs that would be submitted, each whole.

        Compat: the wheel has the method and does not implement it (shown by
        test_jobs_and_procs_show_what_would_be_submitted).
        """
        from kettle.compat.htcondor2.submitting import make_ads

        real = self if itemdata is None else self.with_items(itemdata)
        return make_ads(real, count, clusterid, procid, qdate, owner, whole=True)

    def procs(
        self,
        count: int = 0,
        itemdata: Iterator[Any] | None = None,
        clusterid: int = 1,
        procid: int = 0,
        qdate: int = 0,
        owner: str = "",
    ) -> Iterator[ClassAd]:
        """Yield what each job would have for itself; the first one is whole. See `jobs`."""
        from kettle.compat.htcondor2.submitting import make_ads

        real = self if itemdata is None else self.with_items(itemdata)
        return make_ads(real, count, clusterid, procid, qdate, owner, whole=False)

    def setSubmitMethod(  # noqa: N802
        self, method_value: SubmitMethod | int = -1, allow_reserved_values: bool = False
    ) -> None:
        """Say what JobSubmitMethod tells of the jobs; below 0 nothing is told."""
        value = int(method_value)
        if value in _RESERVED and not allow_reserved_values:
            raise ValueError(
                "Submit method value must be 100 or greater, or allowed_reserved_values must be "
                "True."
            )
        self._method = value

    def getSubmitMethod(self) -> int:  # noqa: N802
        """Return what JobSubmitMethod tells of the jobs."""
        return self._method

    def issue_credentials(self) -> str | None:
        """See to the credentials that the jobs need; None where they need none.

        Kettle has no credd: HTCondorException for jobs that need OAuth2 tokens.
        """
        for command in ("use_oauth_services", "OAuthServicesNeeded", "use_scitokens"):
            text = self.get(command) or self.get(f"MY.{command}")
            if text and text.strip(' "').lower() not in {"", "false", "auto"}:
                raise HTCondorException(f"no credd keeps the credentials for {text.strip()}")
        return None

    @staticmethod
    def from_dag(
        filename: str,
        options: dict[str, int | bool | str] = {},  # noqa: B006 - as the wheel has it
    ) -> Submit:
        """Write the description of a DAGMan job for a DAG, FILE.condor.sub, and return it.

        `options` are those of `condor_submit_dag`: see `from_dag_options`.
        """
        from kettle.compat.htcondor2.dag_description import write_description

        if not isinstance(options, dict):
            raise TypeError("options must be a dict")
        if not Path(filename).exists():
            raise HTCondorException(f"{filename} does not exist")
        return Submit(write_description(filename, options))

    @staticmethod
    def from_dag_options() -> None:
        """Print the options of `from_dag`, with their types."""
        from kettle.compat.htcondor2.dag_options import show_options

        show_options()


def new_macros() -> SubmitMacros:
    """Return an empty table of commands, with the defaults of the configuration."""
    config = PROCESS.config
    facts = read_facts(config, os.environ, "")
    return make_macros(SystemSubmitSources(), config, facts)


def _checked(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a string")
    # Compat: of a member of an enumeration that is a text its letters count wherever it stands; the
    # wheel has `Class.NAME` in its place if it comes in a dictionary
    # (test_of_a_text_of_another_class_its_letters_count).
    return str.__str__(value)


def _reason(error: Exception) -> str:
    """Return an error of the language without the lines that only a tool prints around it."""
    if isinstance(error, StatementError):
        return next(iter(error.complaint.splitlines()), "")
    return str(error).strip()


def _text_of(key: object, value: Any) -> str:
    """Return a command's value as text; TypeError for what the language has no text for."""
    name = _checked(key, "key")
    if name.casefold() == "queue":
        raise ValueError("the queue statement can not be specified in a dictionary")
    if isinstance(value, ClassAd):
        value = repr(value)
    elif isinstance(value, int | float | Path):
        value = str(value)
    text = _checked(value, "value")
    _refuse_nul(name, text)
    if "\n" in name:
        raise ValueError(f"a command's name has one line: {name!r}")
    return _joined(text)


def _refuse_nul(key: str, text: str) -> None:
    if "\0" in key or "\0" in text:
        raise ValueError(f"a command has no NUL character: {key!r} = {text!r}")


def _joined(value: str) -> str:
    """Return a value without the blanks around it, its continued lines joined."""
    return _CONTINUED.sub("", value.strip())


def _command_name(key: str, macros: SubmitMacros) -> str:
    """Return the name that `key = value` sets; ValueError where that is no command."""
    name = macros.expand(key.strip())
    if name[:1] in ("+", "-") and ATTRIBUTE_NAME.fullmatch(name[1:]):
        return f"MY.{name[1:]}"
    if not IDENTIFIER.fullmatch(name) or name.casefold() in _STATEMENTS:
        raise ValueError(f"{key!r} is the name of no command")
    return name


def _line(key: str, value: str) -> str:
    """Return one command; a value of several lines is written as one.

    The language has no way to write a backslash at the end of a line: what reads the text loses
    it. The blank line is for that, so that the next command is not lost too.
    """
    blank = "\n" if value.rstrip().endswith("\\") else ""
    if "\n" not in value:
        return f"{key} = {value}\n{blank}"
    tag, joined = "end", _joined(value)
    while f"@{tag}" in joined:
        tag += "_"
    return f"{key} @={tag}\n{value}\n{blank}@{tag}\n"


class _GivenItems(SystemSubmitSources):
    """What a submission can read, and the items that a program has handed over."""

    def __init__(self, items: Sequence[str]) -> None:
        super().__init__()
        self._items = items

    def read_items(self, path: str) -> Sequence[str]:
        """Return the items, if it is they that are asked for."""
        return self._items if path == _GIVEN else super().read_items(path)


def read_items(items: Iterator[str] | Iterator[dict[str, str]]) -> tuple[str, list[str]]:
    """Return the variables of a queue statement for these items, and the items, one text each.

    The names are those of the first dictionary. Raises TypeError and ValueError for what cannot
    stand there.

    Compat: to the wheel an item `#b` is a comment and one that begins with `)` ends the items
    (test_an_item_may_be_any_line).
    """
    if not isinstance(items, Iterable):
        raise TypeError(f"itemdata is no iterator but {type(items).__name__}")
    every: list[str | dict[str, str]] = [*items]
    if not every:
        raise ValueError("itemdata is empty")
    first = every[0]
    if isinstance(first, str):
        return "item", [_item_line(one, []) for one in every]
    if not isinstance(first, dict):
        raise TypeError("itemdata must be a list of strings or dictionaries")
    if not all(isinstance(name, str) for name in first):
        raise TypeError("itemdata dictionaries must have string keys")
    names = list(first)
    for name in names:
        if split_left(name) != ("", (name,)) or name.lower() in KEYWORDS:
            raise ValueError(f"itemdata keys must be names of variables, which {name!r} is not")
    return ",".join(names), [_item_line(one, names) for one in every]


def _item_line(item: str | dict[str, str], names: list[str]) -> str:
    texts = [item] if isinstance(item, str) else [item.get(name, "") for name in names]
    if isinstance(item, str):
        if "\n" in item:
            raise ValueError("itemdata strings must not contain newlines")
    elif any("\n" in name for name in item):
        raise ValueError("itemdata keys must not contain newlines")
    elif any("\n" in value for value in item.values()):
        raise ValueError("itemdata values must not contain newlines")
    if any("\0" in text for text in texts):
        raise ValueError("itemdata must not contain NUL characters")
    if len(texts) > 1 and any(UNIT_SEPARATOR in text for text in texts):
        raise ValueError("itemdata values must not contain the unit separator")
    return UNIT_SEPARATOR.join(texts).strip(BLANKS)


def with_count(args: str, count: int, macros: SubmitMacros) -> str:
    """Return the arguments of a queue statement with another number of jobs of each item."""
    keyword = KEYWORD.search(args)
    if keyword is None:
        return str(count)
    left, rest = args[: keyword.start()], args[keyword.start() :]
    if "$" in left:
        left = macros.expand(left)
    names = split_left(left.rstrip(BLANKS))[1]
    return f"{count} {','.join(names)} {rest}"
