"""What the functions of the `$FUNCTION(arguments)` kind compute, for configuration and submit.

The arguments are the text up to the first closing bracket. A function that cannot be computed
tells `on_problem` and gives the text that the reference gives (vectors `config/cases.json`,
topics "function …"); nothing here raises.
"""

from __future__ import annotations

import math
import re
from sys import getsizeof
from typing import TYPE_CHECKING, Final, NamedTuple

from kettle.octets import to_text
from kettle.patterns import late_pattern
from kettle.remembered import Answers

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from kettle.classad import ClassAd

# Limit: a width and a precision of four digits; nobody reads a wider number, and a few characters
# more of a format would otherwise fill the memory of whoever expands it.
_SIZES = r"(?:[1-9]\d{0,3})?(?:\.\d{1,4})?"
_NUMBER = rf"%[-+ #0]*{_SIZES}"
INTEGER_FORMAT = late_pattern(
    rf"[^%]*{_NUMBER}(?P<length>ll|l)?(?P<conversion>[dixXouc])(?:[^%]|%%)*"
)
REAL_FORMAT = late_pattern(rf"[^%]*{_NUMBER}[eEfFgGaA](?:[^%]|%%)*")
STRING_FORMAT = late_pattern(r"[^%]*%-?\d{0,4}(?:\.\d{1,4})?s(?:[^%]|%%)*")
_LONG_INTEGER = late_pattern(rf"({_NUMBER})(?:ll|l)([dixXouc])")
_LETTER = late_pattern(rf"({_NUMBER})c")
_HEXADECIMAL_REAL = late_pattern(rf"({_NUMBER})[aA]")
# What C reads as a real number, and the expressions of ClassAds do not.
_HEXADECIMAL = late_pattern(
    r"[-+]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][-+]?\d+)?"
)
_NO_DIGITS = late_pattern(r"([-+]?(?:inf(?:inity)?|nan))(?:(?<=nan)\(\w*\))?", re.IGNORECASE)
_WITHOUT_FRACTION = late_pattern(r"[-+]?\d+\.(?:[eE][-+]?\d+)?")
SMALLEST_INTEGER = -(1 << 63)
LARGEST_INTEGER = (1 << 63) - 1


class Call(NamedTuple):
    """One use of a function: its name, the text in its brackets, and what it may ask."""

    function: str
    body: str
    lookup: Callable[[str], str | None]
    random: Callable[[], Random]
    on_problem: Callable[[str], None]
    absolute: Callable[[str], str] | None
    ad: ClassAd | None = None

    def problem(self, text: str) -> None:
        """Report that the function cannot be computed."""
        self.on_problem(f'ERROR "{text}"')

    def arguments(self) -> list[str]:
        """Split the body at its commas."""
        return self.body.split(",")

    def value_or_text(self, name: str) -> str:
        """Return the value of a macro of this name, else the name itself."""
        value = self.lookup(name)
        return name if value is None else value


def compute(call: Call) -> str:
    """Return the text that stands for the call."""
    if call.function in FUNCTIONS:
        return FUNCTIONS[call.function](call)
    return compute_file_name(call)


def compute_integer(call: Call) -> str:
    """`$INT(name-or-expression[,format])`: a whole number, cut towards zero."""
    name, comma, format_text = call.body.partition(",")
    form = _integer_forms[format_text] if comma else None
    if comma and form is None:
        call.problem(f"$INT() macro: '{format_text}' is not a valid format specifier!")
        return format_text
    text = call.value_or_text(name)
    value = evaluate_number(text) if text == text.strip() else None
    if value is None:
        call.problem(f"$INT() macro: {text} does not evaluate to an integer!")
        return ""
    if isinstance(value, float) and not SMALLEST_INTEGER <= value <= LARGEST_INTEGER:
        value = SMALLEST_INTEGER
    if form is None:
        return str(int(value))
    return render(format_text, _as_in_c(int(value), form["length"], form["conversion"]))


def compute_real(call: Call) -> str:
    """`$REAL(name-or-expression[,format])`: a number with a fraction, 16 digits by default."""
    name, comma, format_text = call.body.partition(",")
    if comma and not REAL_FORMAT.fullmatch(format_text):
        call.problem(f"$REAL() macro: '{format_text}' is not a valid format specifier!")
        return format_text
    text = call.value_or_text(name)
    value = parse_real(text) if text == text.strip() else None
    if value is None:
        call.problem(f"$REAL() macro: {text} does not evaluate to an real!")
        return ""
    return render(format_text if comma else "%.16G", float(value))


def compute_string(call: Call) -> str:
    """`$STRING(name-or-expression[,format])`: a ClassAd string without quotes, else the text."""
    name, comma, format_text = call.body.partition(",")
    if comma and not STRING_FORMAT.fullmatch(format_text):
        call.problem(f"$STRING macro: '{format_text}' is not a valid format specifier!")
        return format_text
    text = call.value_or_text(name)
    value = evaluate(text)
    shown = value if isinstance(value, str) else text
    return format_text % shown if comma else shown


def compute_evaluation(call: Call) -> str:
    """`$EVAL(name-or-expression)`: the value as ClassAd text, strings without quotes.

    In the ad of a transform, elsewhere in none.
    """
    text = call.value_or_text(call.body)
    if not text.strip():
        return ""
    from kettle.classad import ClassAd, parse_expression
    from kettle.classad.unparse import render_value
    from kettle.errors import ClassAdSyntaxError

    try:
        tree = parse_expression(text)
    except ClassAdSyntaxError:
        return ""
    value = (ClassAd() if call.ad is None else call.ad).evaluate_expression(tree)
    return value if isinstance(value, str) else render_value(value)


def compute_substring(call: Call) -> str:
    """`$SUBSTR(name,start[,length])`: negative numbers count from the end."""
    parts = call.arguments()
    if len(parts) < 2:
        call.problem("$SUBSTR() macro: no length specified!")
        return ""
    start = whole_number(call, parts[1])
    if start is None:
        call.problem(f"$SUBSTR() macro: {parts[1]} is invalid start index!")
        return ""
    text = call.lookup(parts[0]) or ""
    rest = text[start:] if start >= 0 or -start <= len(text) else text
    if len(parts) == 2:
        return rest
    length = whole_number(call, parts[2])
    if length is None:
        call.problem(f"$SUBSTR() macro: {parts[2]} is invalid length !")
        return ""
    return rest[:length] if length else ""


def compute_choice(call: Call) -> str:
    """`$CHOICE(index,name-of-a-list)` or `$CHOICE(index,item,…)`, counted from 0."""
    parts = call.arguments()
    index = whole_number(call, parts[0])
    if index is None or index < 0:
        call.problem(f"$CHOICE() error: '{parts[0]}' is invalid index")
        index = 0
    items = parts[1:]
    if not items:
        call.problem("$CHOICE() error: no list")
        return ""
    if len(items) == 1:
        listed = call.lookup(items[0].strip())
        if listed is None:
            call.problem(f'$CHOICE() macro: no list named "{items[0]}"!')
            return ""
        items = listed.split(",") if listed else []
        if not items:
            return ""
    if index >= len(items):
        call.problem(f"$CHOICE() config macro: index {index} is out of range!")
        return ""
    return items[index].strip()


def compute_random_choice(call: Call) -> str:
    """`$RANDOM_CHOICE(item,…)` or `$RANDOM_CHOICE(name-of-a-list)`."""
    items = call.arguments()
    if len(items) == 1:
        listed = call.lookup(items[0].strip())
        if listed is not None:
            items = listed.split(",")
    items = [item.strip() for item in items if item.strip()]
    if not items:
        call.problem("$RANDOM_CHOICE() macro is empty!")
        return ""
    return call.random().choice(items)


def compute_random_integer(call: Call) -> str:
    """`$RANDOM_INTEGER(least,most[,step])`."""
    parts = [part.strip() for part in call.arguments()]
    numbers = []
    for position, word in enumerate(("min", "max", "step")):
        text = parts[position] if position < len(parts) else ("1" if word == "step" else "")
        number = parse_whole(text)
        if number is None or (word == "step" and number < 1):
            call.problem(f"$RANDOM_INTEGER() config macro: invalid {word}!")
            number = 1 if word == "step" else 0
        numbers.append(number)
    least, most, step = numbers
    if least > most:
        if len(parts) > 1:
            call.problem("$RANDOM_INTEGER() config macro: min > max!")
            return str(most)
        return str(least)
    return str(least + step * call.random().randint(0, (most - least) // step))


def compute_directory_name(call: Call) -> str:
    """`$DIRNAME(path-or-name)`: everything up to the last slash, with it."""
    return file_name_parts(call.value_or_text(call.body)).directory


def compute_base_name(call: Call) -> str:
    """`$BASENAME(path-or-name[,suffix])`: what follows the last slash."""
    path, comma, suffix = call.body.rpartition(",")
    parts = file_name_parts(_unquoted(call.value_or_text(path if comma else suffix)))
    name = parts.name + parts.extension
    suffix = suffix.strip() if comma else ""
    return name[: -len(suffix)] if suffix and name.lower().endswith(suffix.lower()) else name


def compute_file_name(call: Call) -> str:
    """`$F…(path-or-name)`: the parts of a path that the letters after F ask for.

    p directory, d last directory, dd the last two and so on, n name, x extension, q in double
    quotes, a in single quotes, b without the slash or dot at the edge, w and u other slashes,
    f made absolute first. Compat: more d than there are directories are all of them; the
    reference crashes.
    """
    letters = call.function[1:].lower()
    path = _unquoted(call.value_or_text(call.body))
    if not path:
        return quoted("", letters)
    if "f" in letters and call.absolute is not None:
        path = call.absolute(path)
    if "w" in letters:
        path = path.replace("/", "\\")
    elif "u" in letters:
        path = path.replace("\\", "/")
    parts = set(letters) & set("pdnx")
    text = _chosen_parts(path, letters) if parts else path
    if not text and parts != {"d"} and parts != {"p", "d"}:
        # Compat: of the quotes around a part that is not there the reference leaves one, unless
        # directories were asked for last (test_parts_of_paths).
        return quoted("", letters)[:1]
    return quoted(text, letters)


def _chosen_parts(path: str, letters: str) -> str:
    """Return the parts of a path that the letters p, d, n, x and b ask for."""
    parts = file_name_parts(path)
    count = letters.count("d")
    directory = last_directories(parts.directory, count) if count else parts.directory
    wants_directory = bool(set(letters) & set("pd")) and bool(directory)
    text = directory if wants_directory else ""
    if "n" in letters or (wants_directory and "x" in letters):
        text += parts.name
    if "x" in letters:
        text += parts.extension
    if "b" in letters:
        text = text.removesuffix("/") if "n" not in letters and "x" not in letters else text
        text = text.removeprefix(".") if not set(letters) & set("pdn") else text
    return text


class FileNameParts(NamedTuple):
    """A path taken apart; the directory keeps its slash, the extension its dot."""

    directory: str
    name: str
    extension: str


def file_name_parts(path: str) -> FileNameParts:
    """Take a path apart at its last slash and the last dot of what follows."""
    cut = path.rfind("/") + 1
    directory, name = path[:cut], path[cut:]
    dot = name.rfind(".")
    if dot <= 0:
        return FileNameParts(directory, name, "")
    return FileNameParts(directory, name[:dot], name[dot:])


def last_directories(directory: str, count: int) -> str:
    """Return the last so many directories of a path that ends in a slash, all if it has fewer."""
    start = len(directory) - 1
    for _ in range(count):
        start = directory.rfind("/", 0, max(start, 0))
    return directory[start + 1 :]


def _unquoted(path: str) -> str:
    """Take the quotes off that stand around a path."""
    wrapped = len(path) > 1 and path[0] == path[-1] and path[0] in "\"'"
    return path[1:-1] if wrapped else path


def quoted(text: str, letters: str) -> str:
    """Put a text in the quotes that the letters of `$F…()` ask for."""
    if "q" not in letters:
        return text
    return f"'{text}'" if "a" in letters else f'"{text}"'


def whole_number(call: Call, text: str) -> int | None:
    """Read an index: digits, or the name of a macro that holds them."""
    number = parse_whole(text.strip())
    if number is not None:
        return number
    value = call.lookup(text.strip()) if text.strip() else None
    return None if value is None else parse_whole(value.strip())


def parse_whole(text: str) -> int | None:
    """Read digits with an optional sign; None for anything else."""
    return int(text) if text.isdecimal() or re.fullmatch(r"[-+]?\d+", text) else None


def parse_real(text: str) -> float | None:
    """Read a number as C's strtod() does, hexadecimal ones too, else evaluate the text."""
    if _HEXADECIMAL.fullmatch(text):
        try:
            return float.fromhex(text)
        except OverflowError:
            return math.copysign(math.inf, -1 if text.startswith("-") else 1)
    if found := _NO_DIGITS.fullmatch(text):
        return float(found[1])
    if _WITHOUT_FRACTION.fullmatch(text):
        return float(text)
    return evaluate_number(text)


def evaluate(text: str) -> object:
    """Evaluate a text as a ClassAd expression without any ad; None where it does not parse."""
    from kettle.config.knob import evaluate_text

    return evaluate_text(text)


def evaluate_number(text: str) -> int | float | None:
    """Evaluate a text to a number; truth values count as 0 and 1."""
    number = parse_whole(text)
    if number is not None:
        return number
    value = evaluate(text)
    if isinstance(value, bool):
        return int(value)
    return value if isinstance(value, (int, float)) else None


def _as_in_c(value: int, length: str | None, conversion: str) -> int | str:
    """Return what a conversion of C's sees of a number: 32 bits of it, or 64 with `l` or `ll`.

    A letter is one byte, and nothing where that is zero, which ends a text of C's.
    """
    if conversion == "c":
        return to_text(bytes([value & 0xFF]).strip(b"\0"))
    bits = 64 if length else 32
    value &= (1 << bits) - 1
    return value - (1 << bits) if conversion in "di" and value >> (bits - 1) else value


def render(format_text: str, value: float | str) -> str:
    """Format a number as C would with a format that has exactly one conversion."""
    text = _own_forms[format_text]
    if isinstance(value, str):
        text = _LETTER.sub(r"\1s", text)
    return text % value


def _own_form(format_text: str) -> str:
    """Return Python's format for one of C's, but for a letter."""
    return _HEXADECIMAL_REAL.sub(r"\1e", _LONG_INTEGER.sub(r"\1\2", format_text))


# Limit: the bytes of the formats that are remembered, and of those of $INT().
_own_forms: Final[Answers[str, str]] = Answers(_own_form, 1 << 16)
_integer_forms: Final[Answers[str, re.Match[str] | None]] = Answers(
    lambda text: INTEGER_FORMAT.fullmatch(text), 1 << 16, cost=lambda text: 500 + getsizeof(text)
)


FUNCTIONS: dict[str, Callable[[Call], str]] = {
    "BASENAME": compute_base_name,
    "CHOICE": compute_choice,
    "DIRNAME": compute_directory_name,
    "EVAL": compute_evaluation,
    "INT": compute_integer,
    "RANDOM_CHOICE": compute_random_choice,
    "RANDOM_INTEGER": compute_random_integer,
    "REAL": compute_real,
    "STRING": compute_string,
    "SUBSTR": compute_substring,
}
