"""`Submit`: a description of jobs in the submit language, as a mapping of its commands."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, MutableMapping
from pathlib import Path
from typing import Any, Final

from kettle.client.submit_sources import SystemSubmitSources, read_facts
from kettle.compat.classad2 import ClassAd
from kettle.compat.htcondor2.errors import HTCondorException
from kettle.compat.htcondor2.job_enums import SubmitMethod
from kettle.compat.htcondor2.process import PROCESS
from kettle.config.origin import Origin
from kettle.errors import ConfigError, SubmitError
from kettle.submit.build import make_macros
from kettle.submit.extended import read_templates
from kettle.submit.macros import SubmitMacros, Variable
from kettle.submit.queue_statement import (
    COUNT_FIRST,
    KEYWORD,
    UNIT_SEPARATOR,
    QueueStatement,
    parse_queue,
)
from kettle.submit.reader import QueueText, SubmitReader

_NAME: Final = "<PythonString>"
_WORD_QUEUE: Final = "queue "
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
        self._method = int(SubmitMethod.PythonBindings)
        self._macros = new_macros()
        if isinstance(input, dict):
            self._read(text_of_mapping(input))
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
        """Take other arguments for the queue statement; they may begin with `queue`."""
        args = _checked(args, "args")
        if args[: len(_WORD_QUEUE)].casefold() == _WORD_QUEUE:
            args = args[len(_WORD_QUEUE) :]
        first, *lines = args.strip().split("\n")
        self._queue_args = first.strip()
        self._inline = lines

    def itemdata(self, qargs: str | None = None) -> Iterator[str] | Iterator[dict[str, str]] | None:
        """Return the items of the queue statement, or of another one: a dictionary for each.

        None where the statement has no items. Raises ValueError for a statement that is none.
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
            return parse_queue(QueueText(self._queue_args, 1), reader, SystemSubmitSources())
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
        same._method = self._method
        return same

    def with_queue(self, queue: str | None) -> Submit:
        """Return this description with another queue statement, if one is given."""
        if queue is None:
            return self
        same = self.copy()
        same.setQArgs(queue)
        return same

    def with_items(
        self, queue: str | None, items: Iterator[str] | Iterator[dict[str, str]] | None
    ) -> Submit:
        """Return this description with these items, or with one job for None."""
        same = self.copy()
        same.setQArgs("" if items is None else queue_for(items))
        del queue
        return same

    def whole_text(self, count: int = 0) -> str:
        """Return the description, `count` jobs of each item if that is not 0."""
        args = with_count(self._queue_args, count, self._macros) if count else self._queue_args
        return "\n".join([f"{self.commands()}{_WORD_QUEUE}{args}", *self._inline, ""])

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

        real = self if itemdata is None else self.with_items(None, itemdata)
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

        real = self if itemdata is None else self.with_items(None, itemdata)
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
    return value


def _reason(error: Exception) -> str:
    """Return an error of the language without the lines that only a tool prints around it."""
    text = str(error).strip()
    found = re.match(r"ERROR: on Line \d+ of \S+: (.*?)(?:\n|$)", text)
    return found[1] if found is not None else text


def text_of_mapping(commands: dict[str, Any]) -> str:
    """Return commands as text; TypeError for what the language has no text for."""
    lines = []
    for key, value in commands.items():
        name = _checked(key, "key")
        if name.casefold() == "queue":
            raise ValueError("the queue statement can not be specified in a dictionary")
        if isinstance(value, ClassAd):
            value = repr(value)
        elif isinstance(value, int | float | Path):
            value = str(value)
        lines.append(f"{name} = {_checked(value, 'value')}")
    return "\n".join(lines)


def _line(key: str, value: str) -> str:
    """Return one command; a value of several lines is written as one."""
    if "\n" not in value:
        return f"{key} = {value}\n"
    return f"{key} @=end\n{value}\n@end\n"


def queue_for(items: Iterator[str] | Iterator[dict[str, str]]) -> str:
    """Return the arguments of a queue statement with these items in it.

    The names are those of the first dictionary. Raises TypeError and ValueError for what cannot
    stand there.
    """
    if not isinstance(items, Iterable):
        raise TypeError(f"itemdata is no iterator but {type(items).__name__}")
    every: list[str | dict[str, str]] = [*items]
    if not every:
        raise ValueError("itemdata is empty")
    first = every[0]
    if isinstance(first, str):
        return "\n".join(["item from (", *(_item_line(one, []) for one in every), ")"])
    if not isinstance(first, dict):
        raise TypeError("itemdata must be a list of strings or dictionaries")
    if not all(isinstance(name, str) for name in first):
        raise TypeError("itemdata dictionaries must have string keys")
    names = list(first)
    lines = (_item_line(one, names) for one in every)
    return "\n".join([f"{','.join(names)} from (", *lines, ")"])


def _item_line(item: str | dict[str, str], names: list[str]) -> str:
    if isinstance(item, str):
        if "\n" in item:
            raise ValueError("itemdata strings must not contain newlines")
        return item
    if any("\n" in name for name in item):
        raise ValueError("itemdata keys must not contain newlines")
    if any("\n" in value for value in item.values()):
        raise ValueError("itemdata values must not contain newlines")
    return UNIT_SEPARATOR.join(item.get(name, "") for name in names)


def with_count(args: str, count: int, macros: SubmitMacros) -> str:
    """Return the arguments of a queue statement with another number of jobs of each item."""
    keyword = KEYWORD.search(args)
    if keyword is None:
        return str(count)
    left, rest = args[: keyword.start()], args[keyword.start() :]
    if "$" in left:
        left = macros.expand(left)
    return f"{count} {COUNT_FIRST.sub('', left, count=1)}{rest}"
