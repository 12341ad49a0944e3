"""What the logs of a folder tell of the daemons that wrote them: who, where, and how they ended.

For `condor_who`, which must find daemons that it cannot ask.
"""

from __future__ import annotations

from pathlib import Path

from kettle.attributes.exit_codes import EXIT_NO_RESTART, REASONS
from kettle.config import Config
from kettle.patterns import late_pattern
from kettle.structs import Struct

LOGS = {
    "Collector": "CollectorLog",
    "Master": "MasterLog",
    "Negotiator": "NegotiatorLog",
    "Schedd": "SchedLog",
    "Startd": "StartLog",
}
"""Daemons, as `condor_who` calls them, and the logs in which they say who they are."""

_PID = late_pattern(r"\*\* PID = (\d+)")
_PROGRAM = late_pattern(r"\*\* (/.*)")
_ADDRESS = late_pattern(r"DaemonCore: command socket at (<\S+>)")
_EXIT = late_pattern(r"\bpid (\d+) EXITING WITH STATUS (-?\d+)")
# Limit: how much of a log's end is read; a daemon that began long ago is known by its address file.
_TAIL_BYTES = 4 << 20


class Traces(Struct):
    """What a daemon has left in a folder; `exit_code` is None while it has not said farewell."""

    pid: int = 0
    program: str = ""
    address: str = ""
    exit_code: int | None = None

    @property
    def parent(self) -> int:
        """The parent of its process, 0 if that is gone."""
        return _parent_of(self.pid) if self.pid else 0

    @property
    def lives(self) -> bool:
        """Whether it can be asked."""
        return bool(self.address) and self.exit_code is None and bool(self.parent)


def read_traces(name: str, folder: Path, config: Config) -> Traces | None:
    """Return what a daemon has left in a log folder, None if nothing."""
    text = _read_tail(folder / LOGS[name])
    configured = config.get(f"{name.upper()}_ADDRESS_FILE") or ""
    places = (folder / f".{name.lower()}_address", Path(configured))
    file = next((place for place in places if place.is_file()), None)
    if file is None and not text:
        return None
    pids, programs = _PID.findall(text), _PROGRAM.findall(text)
    addresses = _ADDRESS.findall(text)
    # A daemon that restarts itself keeps its pid: what it said before it began anew is over.
    exits = _EXIT.findall(text.rpartition("** PID = ")[2])
    pid = int(pids[-1]) if pids else 0
    ended = exits and int(exits[-1][0]) == pid
    address = addresses[-1] if addresses else ""
    if file is not None:
        address = file.read_text(encoding="utf-8", errors="replace").split("\n")[0] or address
    return Traces(
        pid, programs[-1] if programs else "", address, int(exits[-1][1]) if ended else None
    )


def _read_tail(log: Path) -> str:
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _TAIL_BYTES))
            return file.read(_TAIL_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def _parent_of(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    return int(text.rpartition(")")[2].split()[1])


def render_daemons(folder: Path, config: Config, *, short: bool = False) -> str:
    """Return the table of the daemons of a log folder; the short one has fewer columns."""
    heading = ("Daemon", "Alive", "PID", "PPID", "Exit", "Addr", "Executable")
    rows = [heading, tuple("-" * len(word) for word in heading)]
    for name in LOGS:
        traces = read_traces(name, folder, config)
        if traces is None:
            continue
        parent = traces.parent
        ended = "no" if parent else _render_end(traces.exit_code)
        pid = str(traces.pid) if parent else "no"
        alive = "yes" if parent else "no"
        rows.append((name, alive, pid, str(parent or "no"), ended, traces.address, traces.program))
    lines = [f'\nLOG directory "{folder}"\n']
    for name, alive, pid, parent_of, ended, address, program in rows:
        start = (
            f"{name:<12} {pid:<6}" if short else f"{name:<12} {alive:<6} {pid:<6} {parent_of:<6}"
        )
        end = address if short else f"{address:<24} {program}"
        lines.append(f"{start} {ended:<6} {end}")
    return "".join(f"{line}\n" for line in lines)


def _render_end(exit_code: int | None) -> str:
    """Return how a daemon ended, as its master says it."""
    if exit_code is None:
        return "???"
    said = f" ({REASONS[exit_code]})" if exit_code == EXIT_NO_RESTART else ""
    return f"{exit_code}{said}"
