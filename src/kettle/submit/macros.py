"""The variables of a submit description: what it sets, what changes from job to job, defaults.

Remembers which variables were used, for the warnings about typing errors, and whether an
expansion looked at something that changes from job to job, so that only that is done anew.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, TypeVar

from kettle.config import metaknobs
from kettle.config.expander import KEPT, LEAST_WORK, Expander
from kettle.submit.notices import Notice
from kettle.submit.registry import command_names, find_command

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from random import Random

    from kettle.config.functions import Problem
    from kettle.config.origin import Origin
    from kettle.errors import Remark
    from kettle.submit.sources import SubmitFacts, SubmitSources

Subject = TypeVar("Subject")
Given = TypeVar("Given")

# Names that change with the job; the first of each group is what the queue statement sets.
LIVE_NAMES = {
    "PROCESS": "Process",
    "PROCID": "Process",
    "STEP": "Step",
    "ROW": "Row",
    "ITEMINDEX": "ItemIndex",
    "ITEM": "Item",
    "NODE": "Node",
}
# Those of them that are whole numbers.
NUMBERS = frozenset(("Process", "Step", "Row", "ItemIndex"))

# What stands for other names, as long as a description does not set it.
OTHER_NAMES = {
    "JOBID": "$(ClusterId).$(ProcId)",
    "JOBLISTID": "$(ClusterId)",
    "REQUEST_CPUS": "$(RequestCPUs)",
    "REQUEST_MEMORY": "$(RequestMemory)",
    "VM_MEMORY": "$(Request_Memory)",
    "VM_VCPUS": "$(Request_CPUs)",
}

# What `use strict : …` sets; a name of these that nobody asks for is never told of.
STRICT_NAMES = (
    "SubmitWarnEmptyMatches",
    "SubmitFailEmptyMatches",
    "SubmitWarnDuplicateMatches",
    "SubmitFailEmptyFields",
    "SubmitWarnEmptyFields",
)
_NEVER_TOLD = frozenset(name.upper() for name in STRICT_NAMES)


class Variable:
    """One name that the description or the command line sets."""

    __slots__ = ("name", "origin", "text", "used")

    def __init__(self, name: str, text: str, origin: Origin, used: bool = False) -> None:
        self.name, self.text, self.origin, self.used = name, text, origin, used


class SubmitMacros:
    """The table that the submit reader fills and the job builder asks."""

    def __init__(
        self, sources: SubmitSources, facts: SubmitFacts, defaults: Mapping[str, str]
    ) -> None:
        self.facts = facts
        self.warnings: list[Remark] = []
        self.problems: list[Notice] = []
        # The name whose text was expanded last for a job.
        self.reading = ""
        self._told: set[Problem] = set()
        # What is said before and after a problem: where it was met. What is live is filled in.
        self.place = ("ERROR: ", "", "")
        self.files: list[str] = []
        self.variables: dict[str, Variable] = {}
        self.row_variables: dict[str, Variable] = {}
        self._last_values: dict[str, str] = {}
        # What changes from job to job: LIVE_NAMES, and the row variables by their upper case.
        self.live = {"Process": "0", "Step": "0", "Row": "0", "ItemIndex": "0", "Item": ""}
        self.live["Node"] = ""
        # Whether the row's values can stand in a text as they are.
        self.is_plain_row = True
        # Whether what changes from job to job was looked at since somebody began to watch.
        self._looked_at_live = False
        # Names that count as live even where the description sets them, in upper case.
        self.always_live: frozenset[str] = frozenset()
        self.drew = False
        self._sources = sources
        self.defaults = {
            "CLUSTER": str(facts.cluster),
            "CLUSTERID": str(facts.cluster),
            # Of what came by standard input there is no file.
            "SUBMIT_FILE": "" if facts.file_name == "-" else facts.file_name,
            "SUBMIT_TIME": str(facts.now),
            **dict(zip(("YEAR", "MONTH", "DAY"), facts.local_date.split("-"), strict=True)),
            # The number of a packed task; none are packed yet.
            "TASKID": "0",
            **OTHER_NAMES,
            "ISLINUX": "1",
            "ISWINDOWS": "0",
            **{name.upper(): text for name, text in defaults.items()},
        }
        # Which cluster it will be nobody knows while the description is read: the reference says 1.
        self.defaults_read = {**self.defaults, "CLUSTER": "1", "CLUSTERID": "1"}
        self._expander = Expander(
            self.raw,
            facts.environment.get,
            self.draw,
            on_problem=self.take_problem,
            absolute=self.absolute,
            repeats=True,
        )
        self._quiet = Expander(
            self._peek, facts.environment.get, sources.random, on_problem=self.take_problem
        )

    def draw(self) -> Random:
        """Return the source of randomness, and remember that somebody used it.

        What is drawn is another thing for each job, as what is live.
        """
        self.drew = self._looked_at_live = True
        return self._sources.random()

    def set_numbers(self, process: int, step: int, index: int) -> None:
        """Go on to another job."""
        live = self.live
        live["Process"] = str(process)
        live["Step"] = str(step)
        live["Row"] = live["ItemIndex"] = str(index)

    def set_row(self, names: Sequence[str], values: Sequence[str], origin: Origin) -> None:
        """Give the variables of a queue statement the values of a row."""
        self.live["Item"] = ""
        self.is_plain_row = True
        for name, value in zip(names, values, strict=False):
            key = name.upper()
            if key not in self.row_variables:
                self.row_variables[key] = Variable(name, value, origin)
            self.row_variables[key].text = self.live[key] = value
        for value in values:
            if "$" in value or KEPT in value or len(value) > LEAST_WORK:
                self.is_plain_row = False
        if not names and ("ITEM" in self.variables or "ITEM" in self.row_variables):
            # A statement without items has no item, whoever has set one.
            self.row_variables["ITEM"] = Variable("Item", "", origin, used=True)
            self.live["ITEM"] = ""

    def end_rows(self, names: Sequence[str]) -> None:
        """Give variables of a queue statement that has its jobs the text that they have then.

        It is the reference's; a further statement goes on with their last values where its first
        item is blank.
        """
        for key in {name.upper() for name in names}:
            row = self.row_variables.get(key)
            if row is not None:
                self._last_values[key] = row.text
                row.text = "<Queue_item>"

    def empty_rows(self, names: Sequence[str]) -> None:
        """Leave nothing in the variables of the last queue statement, as they are told of then."""
        for name in names:
            row = self.row_variables.get(name.upper())
            if row is not None:
                row.text = ""

    def last_values(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return what variables had in the last job that had them."""
        return tuple(self._last_values.get(name.upper(), "") for name in names)

    def allow(self, work: int) -> None:
        """Bound what replacing macros may cost from now on (`Expander.allowance`)."""
        self._expander.allowance = self._quiet.allowance = work

    def assign(self, name: str, text: str, origin: Origin) -> None:
        """Set a name; mentions of itself are replaced by what it was before."""
        key = name.upper()
        whole = text
        if "$" in text:
            text = self._quiet.expand_only(text, lambda mentioned: mentioned.upper() == key)
        # What a queue statement has set is set anew behind it.
        earlier = [
            one for one in (self.variables.get(key), self.row_variables.pop(key, None)) if one
        ]
        shown = earlier[0].name if earlier else name
        # Who mentions what it was before has looked at it.
        used = bool(earlier) and (text != whole or any(one.used for one in earlier))
        self.variables[key] = Variable(shown, text, origin, used)

    def raw(self, name: str) -> str | None:
        """Return the text of a name and remember that it was used; None if it is not set."""
        key = name.upper()
        row = self.row_variables.get(key)
        if row is not None:
            row.used = True
            self._looked_at_live = True
            return row.text
        if key in self.always_live:
            self._looked_at_live = True
        variable = self.variables.get(key)
        if variable is not None:
            variable.used = True
            return variable.text
        live = LIVE_NAMES.get(key)
        if live is not None:
            self._looked_at_live = True
            return self.live.get(live)
        return self.defaults.get(key)

    def watch(self, run: Callable[[Subject], Given], subject: Subject) -> tuple[Given, bool]:
        """Return what something gives, and whether it looked at what changes from job to job.

        What is watched in it counts for both.
        """
        before, self._looked_at_live = self._looked_at_live, False
        try:
            return run(subject), self._looked_at_live
        finally:
            self._looked_at_live |= before

    def is_set(self, name: str) -> bool:
        """Tell whether the description or the queue statement sets a name, even to nothing."""
        return name.upper() in self.variables or name.upper() in self.row_variables

    def variable_of(self, command: str) -> Variable | None:
        """Return what is set for a command, given under any of its names; None if nothing is.

        An attribute is one that the description forces, where it has no command.
        """
        row = find_command(command)
        names = (command.upper(), *(command_names(row.name) if row else ()))
        for key in dict.fromkeys((*names, *(f"MY.{name}" for name in names))):
            found = self.row_variables.get(key) or self.variables.get(key)
            if found is not None:
                return found
        # What stands for another name, as that is to blame.
        other = OTHER_NAMES.get(command.upper(), "")
        return self.variable_of(other[2:-1]) if other else None

    def expand(self, text: str) -> str:
        """Return the text with its macros replaced; raise ConfigError for a circle."""
        return self._expander.expand(text)

    def expand_first(self, text: str) -> str:
        """Return a text with its macros replaced that is expanded once more; ConfigError."""
        return self._expander.expand_first(text)

    def is_defined(self, name: str) -> bool:
        """Tell whether a name has a text that is not empty."""
        return bool(self.raw(name))

    def has_template(self, text: str) -> bool:
        """Tell whether the configuration's `use` knows it; those of descriptions do not count."""
        return metaknobs.is_known(text)

    def absolute(self, path: str) -> str:
        """Return a path as seen from the submission's folder.

        Compat: the reference knows no folder yet where it asks for the universe, so that `$Ff()`
        leaves it as it is; here it does the same everywhere
        (test_a_whole_path_is_one_also_where_a_universe_is_asked_for).
        """
        return path if path.startswith("/") else posixpath.join(self.facts.folder, path)

    def unused(self, *, items_first: bool = False) -> list[Variable]:
        """Return the variables that nobody asked for, in the order of the warnings.

        Where jobs are made later, those of the queue statement stand before all others there.
        """
        found = []
        for key, variable in {**self.row_variables, **self.variables}.items():
            row = self.row_variables.get(key, variable)
            if not (variable.used or row.used or "." in key or key in _NEVER_TOLD):
                found.append(Variable(variable.name, row.text, variable.origin))
        found.sort(key=lambda variable: variable.name.lower(), reverse=True)
        if items_first:
            # The last one first.
            own = [key for key in reversed(self.row_variables) if key not in self.variables]
            places = {key: number for number, key in enumerate(own)}
            found.sort(key=lambda variable: places.get(variable.name.upper(), len(own)))
        return found

    def value(self, name: str, active: tuple[str, ...]) -> str | None:
        """Return the expanded text of a name for a function, inside the names that are `active`."""
        return self._expander.value(name, active)

    def take_problem(self, problem: Problem) -> None:
        """Note what a function could not do, once however many jobs meet it.

        Compat: the reference tells it for each job anew, a line for each of a million jobs
        (test_what_a_function_cannot_do_is_told_once).
        """
        if problem not in self._told:
            self._told.add(problem)
            mark, before, after = self.place
            said = f"{before}{problem.words()}{after % self.live}"
            self.problems.append(Notice(said, self.reading.upper(), mark))

    def forget_problems(self) -> None:
        """Have what functions could not do so far be told when they cannot do it again."""
        self.problems.clear()
        self._told.clear()

    def _peek(self, name: str) -> str | None:
        key = name.upper()
        variable = self.row_variables.get(key) or self.variables.get(key)
        if variable is not None:
            return variable.text
        live = LIVE_NAMES.get(key)
        return self.defaults_read.get(key) if live is None else self.live[live]
