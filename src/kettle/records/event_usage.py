"""CPU times and the table of resources, as they stand in events 003-005 and 015.

Pure text: numbers in, lines out, and back. Which numbers belong into a job's table is decided by
`kettle.shadow`; the attributes of the table (`Cpus`, `RequestCpus`, `CpusUsage`, `AssignedGPUs`,
...) are the same in an event's ClassAd form. Format: wire notes, Job event log.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from sys import getsizeof
from typing import TYPE_CHECKING, Final

from kettle.classad.text import quote_old, read_old_string
from kettle.named_tuples import NamedTuple
from kettle.patterns import late_pattern
from kettle.records.event_text import one_line, quoted
from kettle.remembered import Answers

if TYPE_CHECKING:
    from kettle.classad import ClassAd

UsageValue = int | float | str
UsageTable = Mapping[str, UsageValue]

# What these resources are measured in, in the label of their row: names in just these letters, as
# in the reference, which takes what is used of `Gpus` for an average wherever it has it from.
_UNITS = {
    "Memory": "MB",
    "Disk": "KB",
    "TimeExecute": "s",
    "TimeSlotBusy": "s",
    "Gpus": "Average",
}
_TIMES = late_pattern(r"Usr {0} {0}:{0}:{0},\s*Sys {0} {0}:{0}:{0}(?!\d)".format(r"(-?\d{1,18})"))
# More seconds than the world is old are no time.
_ENDLESS = 1e18
_HEADING = "Partitionable Resources"
_LABEL = late_pattern(r"\s*([^\s:]+)(?: \(([A-Za-z]+)\))?\s*:(.*)$")


@dataclass(frozen=True, slots=True)
class CpuTimes:
    """User and system seconds; whole seconds are all that the log keeps."""

    user_seconds: float = 0.0
    system_seconds: float = 0.0

    def __str__(self) -> str:
        return f"Usr {_clock(self.user_seconds)}, Sys {_clock(self.system_seconds)}"

    @classmethod
    def parse(cls, text: str) -> CpuTimes:
        """Read `Usr D HH:MM:SS, Sys D HH:MM:SS`; ValueError if it is something else.

        A time below zero, of a clock that was set, is written as none.
        """
        match = _TIMES.match(text.strip())
        if match is None:
            raise ValueError(f"not a usage: {quoted(text)}")
        days, hours, minutes, seconds = (int(part) for part in match.groups()[:4])
        user = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
        days, hours, minutes, seconds = (int(part) for part in match.groups()[4:])
        return cls(float(user), float(((days * 24 + hours) * 60 + minutes) * 60 + seconds))


@lru_cache(maxsize=1024)
def _clock(seconds: float) -> str:
    # A job's ad may say that it took infinitely long, or NaN seconds.
    whole = int(seconds) if 0 < seconds < _ENDLESS else 0
    days, rest = divmod(whole, 86_400)
    hours, rest = divmod(rest, 3_600)
    minutes, rest = divmod(rest, 60)
    return f"{days} {hours:02}:{minutes:02}:{rest:02}"


NO_TIME = CpuTimes()


class _Row(NamedTuple):
    """A resource's row: its label, and the attributes of a table that stand in its columns."""

    label: str
    used: str | None
    requested: str | None
    allocated: str | None
    assigned: str | None


class _Form(NamedTuple):
    """How tables with the same attributes are laid out."""

    rows: tuple[_Row, ...]
    width: int


def _lay_out(attributes: tuple[str, ...]) -> _Form:
    spelled = {attribute.lower(): attribute for attribute in attributes}
    names = _resource_names(attributes)
    rows = []
    for name in names:
        key = name.lower()
        averaged = spelled.get(f"{key}averageusage")
        rows.append(
            _Row(
                _label(name, averaged=averaged is not None),
                spelled.get(f"{key}usage", averaged),
                spelled.get(f"request{key}"),
                spelled.get(key),
                spelled.get(f"assigned{key}"),
            )
        )
    return _Form(tuple(rows), max(12, *(len(name) for name in names)) + 8 if names else 0)


# What a form takes for each name of the table.
_NAME_BYTES = 400
# Limit: the bytes of the forms that are remembered; jobs have a few each.
_forms: Final = Answers(
    _lay_out,
    512 * 1024,
    cost=lambda names: sum(_NAME_BYTES + 4 * getsizeof(name) for name in names),
)


def _resource_names(attributes: Iterable[str]) -> list[str]:
    """Return the resources that a table's attributes speak of, sorted, each once."""
    names: dict[str, str] = {}
    for attribute in attributes:
        lower = attribute.lower()
        if lower.startswith("request"):
            name = attribute[len("request") :]
        elif lower.startswith("assigned"):
            continue
        elif lower.endswith("averageusage"):
            name = attribute[: -len("averageusage")]
        elif lower.endswith("usage"):
            name = attribute[: -len("usage")]
        else:
            name = attribute
        names.setdefault(name.lower(), name)
    return [names[key] for key in sorted(names)]


def _column(values: Sequence[UsageValue | None]) -> list[str]:
    """Return one column's texts: with a fraction anywhere, whole numbers make room for it."""
    fractional = any(isinstance(value, float) and not value.is_integer() for value in values)
    texts = []
    for value in values:
        if value is None:
            texts.append("")
        elif isinstance(value, float) and not value.is_integer():
            texts.append(f"{value:.2f}")
        elif isinstance(value, (int, float)):
            texts.append(f"{int(value)}   " if fractional else str(int(value)))
        else:
            texts.append(one_line(value))
    return texts


def render_usage_table(table: UsageTable) -> list[str]:
    """Return the lines of the table of resources, heading first; none for an empty table."""
    rows, width = _forms[tuple(table)]
    if not rows:
        return []
    used = _column([table.get(row.used or "") for row in rows])
    requested = _column([table.get(row.requested or "") for row in rows])
    allocated = _column([table.get(row.allocated or "") for row in rows])
    assigned = [table.get(row.assigned or "") for row in rows]
    widths = (
        max(8, *map(len, used)),
        max(8, *map(len, requested)),
        max(9, *map(len, allocated)),
    )
    some_assigned = any(value is not None for value in assigned)
    heading = ("Usage", "Request", "Allocated", "Assigned" if some_assigned else "")
    lines = [f"\t{_HEADING:<{width + 3}} : {_row(heading, widths)}"]
    for row, *cells, names_given in zip(rows, used, requested, allocated, assigned, strict=True):
        quoted = "" if names_given is None else quote_old(one_line(str(names_given)))
        lines.append(f"\t   {row.label:<{width}} : {_row((*cells, quoted), widths)}")
    return lines


def _label(name: str, *, averaged: bool) -> str:
    if averaged:
        return f"{name} (Average)"
    unit = _UNITS.get(name)
    return name if unit is None else f"{name} ({unit})"


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    used, requested, allocated, assigned = cells
    return f"{used:>{widths[0]}} {requested:>{widths[1]}} {allocated:>{widths[2]}} {assigned}"


def is_usage_heading(line: str) -> bool:
    """Tell whether a line of an event begins the table of resources."""
    return line.startswith(f"\t{_HEADING}")


def parse_usage_table(lines: Sequence[str]) -> tuple[dict[str, UsageValue], int]:
    """Read the table whose heading is `lines[0]`; return it and how many lines it took.

    The cells are cut where the heading's words end, because any of them may be empty.
    """
    heading = lines[0]
    ends = [heading.find(word) + len(word) for word in ("Usage", "Request", "Allocated")]
    table: dict[str, UsageValue] = {}
    taken = 1
    for line in lines[1:]:
        match = _LABEL.match(line)
        if match is None:
            break
        taken += 1
        name = match.group(1)
        start = match.start(3)
        cells = [line[start : ends[0]], line[ends[0] : ends[1]], line[ends[1] : ends[2]]]
        assigned = line[ends[2] :].strip()
        # As in the reference an average's label alone says that it is one.
        columns = (f"{name}Usage", f"Request{name}", name)
        for attribute, cell in zip(columns, cells, strict=True):
            if cell.strip():
                table[attribute] = _number(cell.strip())
        if assigned:
            names = read_old_string(assigned)
            table[f"Assigned{name}"] = assigned if names is None else names
    return table, taken


def _number(text: str) -> UsageValue:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


def usage_in(ad: ClassAd, known: Iterable[str]) -> dict[str, UsageValue]:
    """Return the table of resources that an ad has: what is no attribute that is `known` otherwise.

    A name that is no word, or has a colon, is no label of a row.

    Compat: the reference takes of an XML or JSON log only resources that were requested, and loses
    the rest of what it wrote (test_resources_without_a_request_are_kept).
    """
    explained = {attribute.lower() for attribute in known}
    usage: dict[str, UsageValue] = {}
    for name in ad.own_names():
        value = ad.evaluate(name)
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        is_assigned = isinstance(value, str) and name.lower().startswith("assigned")
        if name.lower() in explained or name.split() != [name] or ":" in name:
            continue
        if is_number or is_assigned:
            assert isinstance(value, (int, float, str))
            usage[name] = value
    return usage
