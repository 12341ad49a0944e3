"""Draws `docs/pictures/demo.svg`: a real run of `kettle demo` in a terminal, as it ended.

    python docs/draw_session.py

The program runs in a pseudo-terminal; what the terminal would show is kept by pyte and drawn by
rich.
"""

from __future__ import annotations

import io
import os
import pty
import sys
from pathlib import Path

import pyte
from rich.console import Console
from rich.style import Style
from rich.text import Text

ROOT = Path(__file__).parents[1]
COLUMNS, LINES = 90, 60
NAMES = {"brown": "yellow", "default": None}


def record(argv: list[str]) -> pyte.Screen:
    """Run a program in a terminal and return what its screen shows at the end."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(
            TERM="xterm-256color",
            COLUMNS=str(COLUMNS),
            LINES=str(LINES),
            PYTHONPATH=str(ROOT / "src"),
        )
        os.execvp(argv[0], argv)
    screen = pyte.Screen(COLUMNS, LINES)
    stream = pyte.ByteStream(screen)
    while True:
        try:
            data = os.read(fd, 65536)
        except OSError:
            break
        if not data:
            break
        stream.feed(data)
    os.waitpid(pid, 0)
    return screen


def draw(screen: pyte.Screen, command: str) -> Text:
    """Return the screen's text with its colours, without the empty lines below."""
    text = Text(f"$ {command}\n", style="bold")
    last = max((row for row in range(LINES) if screen.display[row].strip()), default=0)
    for row in range(last + 1):
        line = screen.buffer[row]
        for column in range(COLUMNS):
            cell = line[column]
            colour = NAMES.get(cell.fg, cell.fg)
            if colour and len(colour) == 6 and colour != "yellow":
                colour = f"#{colour}"
            style = Style(color=colour, bold=cell.bold, reverse=cell.reverse)
            text.append(cell.data, style=style)
        text.append("\n")
    return text


def main() -> None:
    """Record and draw."""
    code = (
        "import sys; sys.argv=['kettle','demo'];"
        "from kettle.tools.programs import run_program; sys.exit(run_program('kettle'))"
    )
    screen = record([sys.executable, "-c", code])
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(draw(screen, "kettle demo"))
    target = ROOT / "docs" / "pictures" / "demo.svg"
    target.parent.mkdir(exist_ok=True)
    console.save_svg(str(target), title="kettle demo")
    print(target)


if __name__ == "__main__":
    main()
