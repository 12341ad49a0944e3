"""Event logs with one event damaged in some way, and what a reader says of them.

`python event_mutations.py MODULE < LOGS.json` prints, as JSON, what the JobEventLog of a module
reads of each; it runs under the wheel's interpreter, too, and so knows nothing of ours.
"""

from __future__ import annotations

import importlib
import json
import random
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

_NUMBERS = ["0", "-1", "99", "2147483648", "99999999999", "1.5", "x", "", "007", "1e3"]
_DATES = ["2026-13-01", "2026-00-10", "2026-02-31", "0000-00-00", "13/01", "00/00", "02/30"]
_CLOCKS = ["25:00:00", "24:00:00", "23:99:99", "10:11"]
_LINES = ["Name = 5", '\tName = "x"', "some words", "\tsome words", "    some words"]
# A log, and where it was cut while it grew.
Growing = tuple[str, list[int]]


def damaged(event: str, rng: random.Random) -> str:
    """Return an event's text with one random fault."""
    lines = event.split("\n")
    at = rng.randrange(max(1, len(lines) - 2))
    place = rng.randrange(len(event))
    match rng.randrange(12):
        case 0:
            lines[at + 1 : -2] = []
        case 1:
            return event[:place] + ("\n...\n" if event.endswith("\n...\n") else "\n")
        case 2:
            other = rng.randrange(max(1, len(lines) - 2))
            lines[at], lines[other] = lines[other], lines[at]
        case 3:
            lines.insert(at, lines[at])
        case 4:
            del lines[at]
        case 5:
            found = rng.choice(list(re.finditer(r"\d+", event)))
            return event[: found.start()] + rng.choice(_NUMBERS) + event[found.end() :]
        case 6:
            return re.sub(r"\d{4}-\d\d-\d\d|\d\d/\d\d", rng.choice(_DATES), event, count=1)
        case 7:
            return re.sub(r"\d\d:\d\d:\d\d", rng.choice(_CLOCKS), event, count=1)
        case 8:
            return event.replace("\n", "\r\n")
        case 9:
            end = place + rng.randrange(2)
            return event[:place] + rng.choice("aZ09 \t.-()=:\"'<>{}\n\0") + event[end:]
        case 10:
            lines[at] = rng.choice(["\t", "    ", " ", ""]) + lines[at].lstrip()
        case _:
            lines.insert(at + 1, rng.choice(_LINES))
    return "\n".join(lines)


def said_by(module: Any, log: Growing, path: Path) -> list[Any]:
    """Return what a program reads of a log while it grows: attributes, or "error"."""
    data, cuts = log[0].encode("latin-1"), log[1]
    path.write_bytes(b"")
    reader = module.JobEventLog(str(path))
    said: list[Any] = []
    for begin, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
        with path.open("ab") as file:
            file.write(data[begin:end])
        reader.events(stop_after=0)
        while len(said) < 40 and said[-4:] != ["error"] * 4:
            try:
                event = next(reader)
            except StopIteration:
                break
            except module.HTCondorException:
                said.append("error")
            else:
                plain = (str, int, float, bool)
                values = {name: event[name] for name in event}
                said.append({n: v if isinstance(v, plain) else str(v) for n, v in values.items()})
    reader.close()
    return said


if __name__ == "__main__":
    reading = importlib.import_module(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "log"
        print(json.dumps([said_by(reading, log, file) for log in json.load(sys.stdin)]))
