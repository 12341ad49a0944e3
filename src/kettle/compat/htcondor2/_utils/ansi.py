"""Colours and styles of a terminal: texts that are plain where the output is none.

The names are the wheel's, which the command `htcondor` imports from here.
"""

from __future__ import annotations

import enum
import re
import sys
from typing import Final

_BEGIN: Final = "\033["
ANSI_RESET: Final = f"{_BEGIN}0m"
ANSI_ESCAPE_RE: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[@-Z\\-_])")
IS_TTY: Final = sys.stdout is not None and sys.stdout.isatty()
_MOST: Final = 255


class Color(enum.StrEnum):
    """What begins a text of a colour."""

    BLACK = f"{_BEGIN}30m"
    RED = f"{_BEGIN}31m"
    GREEN = f"{_BEGIN}32m"
    YELLOW = f"{_BEGIN}33m"
    BLUE = f"{_BEGIN}34m"
    MAGENTA = f"{_BEGIN}35m"
    CYAN = f"{_BEGIN}36m"
    WHITE = f"{_BEGIN}37m"
    DARK_GREY = f"{_BEGIN}90m"
    BRIGHT_RED = f"{_BEGIN}91m"
    BRIGHT_GREEN = f"{_BEGIN}92m"
    BRIGHT_YELLOW = f"{_BEGIN}93m"
    BRIGHT_BLUE = f"{_BEGIN}94m"
    BRIGHT_MAGENTA = f"{_BEGIN}95m"
    BRIGHT_CYAN = f"{_BEGIN}96m"
    BRIGHT_WHITE = f"{_BEGIN}97m"


class Style(enum.StrEnum):
    """What begins a text of a style."""

    BOLD = f"{_BEGIN}1m"
    UNDERLINE = f"{_BEGIN}4m"
    BLINK = f"{_BEGIN}5m"


class AnsiOptions:
    """Styles and colours together; a number of a colour goes before its name."""

    def __init__(
        self,
        *,
        bold: bool = False,
        blink: bool = False,
        underline: bool = False,
        style: Style | None = None,
        color: Color | None = None,
        color_id: int | None = None,
        highlight: int | None = None,
    ) -> None:
        """Take what to switch on; `highlight` is the number of the colour behind the text."""
        self.bold = bold or style is Style.BOLD
        self.blink = blink or style is Style.BLINK
        self.underline = underline or style is Style.UNDERLINE
        self.style = style
        self.color = None if color is None else _code(color)
        self.color_id = None if color_id is None else _number(color_id)
        self.highlight = None if highlight is None else _number(highlight)

    def __str__(self) -> str:
        codes = []
        for wanted, style in (
            (self.bold, Style.BOLD),
            (self.underline, Style.UNDERLINE),
            (self.blink, Style.BLINK),
        ):
            if wanted:
                codes.append(_code(style))
        if self.color_id is not None:
            codes.append(f"38;5;{self.color_id}")
        elif self.color is not None:
            codes.append(self.color)
        if self.highlight is not None:
            codes.append(f"48;5;{self.highlight}")
        return f"{_BEGIN}{';'.join(codes)}m" if codes else ""


def is_capable() -> bool:
    """Return whether the output shows colours."""
    return IS_TTY


def colorize(string: str, color: Color) -> str:
    """Return a text in a colour."""
    return _shown(color.value, string)


def id_colorize(string: str, id: int) -> str:  # noqa: A002 - the wheel's name
    """Return a text in one of 256 colours."""
    return _shown(f"{_BEGIN}38;5;{_number(id)}m", string)


def highlight(string: str, id: int) -> str:  # noqa: A002 - the wheel's name
    """Return a text before one of 256 colours."""
    return _shown(f"{_BEGIN}48;5;{_number(id)}m", string)


def underline(string: str) -> str:
    """Return an underlined text."""
    return _shown(Style.UNDERLINE.value, string)


def bold(string: str) -> str:
    """Return a bold text."""
    return _shown(Style.BOLD.value, string)


def blink(string: str) -> str:
    """Return a blinking text."""
    return _shown(Style.BLINK.value, string)


def stylize(string: str, options: AnsiOptions) -> str:
    """Return a text with all that the options say."""
    return _shown(str(options), string)


def strip_ansi(string: str) -> str:
    """Return a text without colours and styles."""
    return ANSI_ESCAPE_RE.sub("", string)


def _shown(begin: str, text: str) -> str:
    return f"{begin}{text}{ANSI_RESET}" if is_capable() else text


def _number(color: int) -> int:
    return min(max(0, color), _MOST)


def _code(begin: Color | Style) -> str:
    return begin.value.removeprefix(_BEGIN).removesuffix("m")
