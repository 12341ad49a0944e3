"""What the functions of the `$FUNCTION(arguments)` kind compute, for configuration and submit.

The arguments are the text up to the first closing bracket. A function that cannot be computed
tells `on_problem` and gives the text that the reference gives (vectors `config/cases.json`,
topics "function …"); nothing here raises.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from kettle.digits import MAX_32, MAX_INTEGER, MIN_32, MIN_INTEGER, whole
from kettle.named_tuples import NamedTuple
from kettle.octets import BLANKS, words_of
from kettle.patterns import late_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

    from kettle.classad import ClassAd

STRING_FORMAT = late_pattern(r"(?:[^%]|%%)*%-?\d{0,4}(?:\.\d{1,4})?s(?:[^%]|%%)*")
# What C reads as a real number, and the expressions of ClassAds do not.
_HEXADECIMAL = late_pattern(
    r"[-+]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][-+]?\d+)?"
)
_NO_DIGITS = late_pattern(r"([-+]?(?:inf(?:inity)?|nan))(?:(?<=nan)\(\w*\))?", re.IGNORECASE)
_WITHOUT_FRACTION = late_pattern(r"[-+]?\d+\.(?:[eE][-+]?\d+)?")
_DIGITS = late_pattern(r"\s*([-+]?\d+)")
# Digits that no 64 bits are too few for.
_SURELY_WHOLE = 19


# What a function can lack, in the reference's words for the value of a name; those for a text that
# is expanded in one pass are in `single_pass.py`.
_WORDS = {
    "format": "${function}() macro: '{about}' is not a valid format specifier!",
    "string format": "${function} macro: '{about}' is not a valid format specifier!",
    "integer": "${function}() macro: {about} does not evaluate to an integer!",
    "real": "${function}() macro: {about} does not evaluate to an real!",
    "no length": "${function}() macro: no length specified!",
    "start": "${function}() macro: {about} is invalid start index!",
    "length": "${function}() macro: {about} is invalid length !",
    "index": "${function}() error: '{about}' is invalid index",
    "no items": "${function}() error: no list",
    "no list": '${function}() macro: no list named "{about}"!',
    "range": "${function}() config macro: index {about} is out of range!",
    "empty": "${function}() macro is empty!",
    "argument": "${function}() config macro: invalid {about}!",
    "order": "${function}() config macro: min > max!",
}


class Problem(NamedTuple):
    """Why a function cannot be computed: its `kind` is one of _WORDS, `about` the text at fault."""

    kind: str
    function: str
    about: str

    def words(self) -> str:
        """Return what the reference says of it, without what it writes around that."""
        return _WORDS[self.kind].format(function=self.function, about=self.about)

    def render(self) -> str:
        """Return what the reference writes of it for the value of a name."""
        return f'ERROR "{self.words()}"'


class Call(NamedTuple):
    """One use of a function: its name, the text in its brackets, and what it may ask."""

    function: str
    body: str
    lookup: Callable[[str], str | None]
    random: Callable[[], Random]
    on_problem: Callable[[Problem], object]
    absolute: Callable[[str], str] | None
    # The text of a name before its macros are replaced.
    raw: Callable[[str], str | None]
    ad: ClassAd | None = None
    # Whether it is computed for a text that is gone through once (`single_pass.py`).
    in_one_pass: bool = False

    def problem(self, kind: str, about: str = "") -> None:
        """Report that the function cannot be computed."""
        self.on_problem(Problem(kind, self.function, about))

    def arguments(self) -> list[str]:
        """Split the body at its commas."""
        return self.body.split(",")

    def value_or_text(self, name: str) -> str:
        """Return the value of a macro of this name, else the name itself."""
        value = self.lookup(name)
        return name if value is None else value


def compute(call: Call) -> str:
    """Return the text that stands for the call."""
    return function_of(call.function).compute(call)


def compute_integer(call: Call) -> str:
    """`$INT(name-or-expression[,format])`: a whole number, cut towards zero."""
    from kettle.config.c_format import is_integer_format, render

    name, comma, format_text = call.body.partition(",")
    if comma and not is_integer_format(format_text):
        call.problem("format", format_text)
        return format_text
    text = call.value_or_text(name)
    value = whole_value(text)
    if value is None:
        call.problem("integer", text)
        return ""
    return render(format_text, value) if comma else str(value)


def compute_real(call: Call) -> str:
    """`$REAL(name-or-expression[,format])`: a number with a fraction, 16 digits by default."""
    from kettle.config.c_format import is_real_format, render

    name, comma, format_text = call.body.partition(",")
    if comma and not is_real_format(format_text):
        call.problem("format", format_text)
        return format_text
    text = call.value_or_text(name)
    value = parse_real(text.strip(BLANKS))
    if value is None:
        call.problem("real", text)
        return ""
    if not comma:
        return render("%.16G", float(value))
    shown = render(format_text, float(value))
    return shown if "." in shown else f"{shown}.0"


def compute_string(call: Call) -> str:
    """`$STRING(name-or-expression[,format])`: a ClassAd string without quotes, else the text."""
    name, comma, format_text = call.body.partition(",")
    if comma and not STRING_FORMAT.fullmatch(format_text):
        call.problem("string format", format_text)
        return format_text
    text = call.value_or_text(name)
    value = evaluate(text)
    shown = value if isinstance(value, str) else text
    return format_text % shown if comma else shown


def compute_evaluation(call: Call) -> str:
    """`$EVAL(name-or-expression)`: the value as ClassAd text, strings without quotes.

    In the ad of a transform, elsewhere in none. What is no expression, and was made with macros,
    is the text itself: so the half of `$EVAL($(NAME))` that is in its brackets becomes the text of
    NAME, once the other half is seen again.
    """
    text = call.value_or_text(call.body)
    raw = call.raw(call.body)
    otherwise = text if "$" in (call.body if raw is None else raw) else ""
    if not text.strip(BLANKS):
        return otherwise
    from kettle.classad import ClassAd, parse_expression
    from kettle.classad.unparse import render_value
    from kettle.errors import ClassAdSyntaxError

    try:
        tree = parse_expression(text)
    except ClassAdSyntaxError:
        return otherwise
    value = (ClassAd() if call.ad is None else call.ad).evaluate_expression(tree)
    return value if isinstance(value, str) else render_value(value)


def compute_substring(call: Call) -> str:
    """`$SUBSTR(name,start[,length])`: negative numbers count from the end."""
    parts = call.body.split(",", 2)
    if len(parts) < 2:
        call.problem("no length")
        return ""
    numbers = [0, MAX_32]
    places = range(len(parts) - 1)
    # A single pass looks at the length first.
    for place in reversed(places) if call.in_one_pass else places:
        number = call.value_or_text(parts[place + 1])
        value = whole_value(number)
        if value is None or not MIN_32 <= value < MAX_32 + place:
            call.problem(("start", "length")[place], number)
            return ""
        numbers[place] = value
    start, length = numbers
    text = call.lookup(parts[0]) or ""
    rest = text[start:] if start >= 0 or -start <= len(text) else text
    if len(parts) == 2:
        return rest
    return rest[:length] if length else ""


def compute_choice(call: Call) -> str:
    """`$CHOICE(index,name-of-a-list)` or `$CHOICE(index,item,…)`, counted from 0."""
    parts = call.arguments()
    number = call.value_or_text(parts[0].strip(BLANKS))
    index = whole_value(number)
    if index is None or not 0 <= index < MAX_32:
        call.problem("index", number)
        index = 0
    items = parts[1:]
    if not items:
        call.problem("no items")
        return ""
    if len(items) == 1:
        listed = call.lookup(items[0].strip(BLANKS))
        if listed is None:
            call.problem("no list", items[0].strip(BLANKS))
            return ""
        items = listed.split(",")
    if index >= len(items):
        call.problem("range", str(index))
        return ""
    return items[index].strip(BLANKS)


def compute_random_choice(call: Call) -> str:
    """`$RANDOM_CHOICE(item,…)` or `$RANDOM_CHOICE(name-of-a-list)`.

    Items that are nothing are none, so that one with a comma may be a name, too; in a single pass
    they can be drawn.
    """
    items = [item.strip(BLANKS) for item in call.arguments()]
    if not call.in_one_pass:
        items = list(filter(None, items))
    if len(items) == 1:
        listed = call.lookup(items[0])
        if listed is not None and call.in_one_pass:
            items = [item.strip(BLANKS) for item in listed.split(",")]
        elif listed is not None:
            items = words_of(listed.replace(",", " "))
    if items in ([], [""]):
        call.problem("empty")
        return ""
    return call.random().choice(items)


def compute_random_integer(call: Call) -> str:
    """`$RANDOM_INTEGER(least,most[,step])`."""
    parts = [part.strip(BLANKS) for part in call.arguments()]
    numbers: list[int] = []
    for position, word in enumerate(("min", "max", "step")):
        text = parts[position] if position < len(parts) else ""
        if word == "step":
            text = text or "1"
        written = _DIGITS.match(text)
        number = whole(written[1]) if written else None
        if number is None or (word == "step" and number < 1):
            call.problem("argument", word)
            # One that is no number draws nothing but the least.
            number = {"min": 0, "max": numbers[0] if numbers else 0, "step": 1}[word]
        numbers.append(number)
    least, most, step = numbers
    if least > most:
        if len(parts) > 1:
            call.problem("order")
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
    suffix = suffix.strip(BLANKS) if comma else ""
    return name[: -len(suffix)] if suffix and name.lower().endswith(suffix.lower()) else name


def compute_file_name(call: Call) -> str:
    """`$F…(path-or-name)`: the parts of a path that the letters after F ask for.

    p directory, d last directory, dd the last two and so on, n name, x extension, q in double
    quotes, a in single quotes, b without the slash or dot at the edge, w and u other slashes,
    f made absolute first. Compat: more d than there are directories are all of them; the
    reference has nothing then, or crashes; of a name that is all extension (`.x`) it has nothing
    in quotes (test_parts_of_paths).
    """
    letters = call.function[1:].lower()
    path = _unquoted(call.value_or_text(call.body))
    if "f" in letters and call.absolute is not None:
        path = call.absolute(path[2:] if len(path) > 2 and path.startswith("./") else path)
    if "w" in letters:
        path = path.replace("/", "\\")
    elif "u" in letters:
        path = path.replace("\\", "/")
    parts = set(letters) & set("pdnx")
    if not path:
        # Compat: of the quotes around a part that is not there the reference often leaves one
        # (test_parts_of_paths).
        return quoted("", letters)[: None if "n" in letters or not parts else 1]
    text = _chosen_parts(path, letters) if parts else path
    if not text and parts not in (set(), {"d"}, {"p", "d"}):
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


def whole_value(text: str) -> int | None:
    """Evaluate a text to a whole number, cut towards zero; None where it has none."""
    if len(text) < _SURELY_WHOLE and text.isascii() and text.isdigit():
        return int(text)
    written = _DIGITS.match(text)
    if written and not text[written.end() :].strip(BLANKS):
        return max(MIN_INTEGER, min(whole(written[1]), MAX_INTEGER))
    value = evaluate_number(text)
    if isinstance(value, float) and not MIN_INTEGER <= value <= MAX_INTEGER:
        return MIN_INTEGER
    return None if value is None else int(value)


def parse_whole(text: str) -> int | None:
    """Read digits with an optional sign; None for anything else."""
    return whole(text) if re.fullmatch(r"[-+]?\d+", text) else None


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


class Takes(NamedTuple):
    """What makes an argument the name of a macro; else it is a text as it stands.

    Where it `is_needed`, nothing but a name that is set, or a number, can be computed. Where it
    `is_alone`, it is one if no argument follows: items, or the name of a list of them.
    """

    is_needed: bool = False
    is_alone: bool = False


class Function(NamedTuple):
    """How a function is computed, and which of its first arguments may be names of macros."""

    compute: Callable[[Call], str]
    takes: tuple[Takes, ...] = ()

    def names(self, body: str) -> Iterator[tuple[str, Takes]]:
        """Yield the text of each argument that may be a name, without its blanks, and how."""
        arguments = body.split(",", len(self.takes))
        for position, (text, takes) in enumerate(zip(arguments, self.takes, strict=False), 1):
            if not takes.is_alone or position == len(arguments):
                yield text.strip(BLANKS), takes


_TEXT = Takes()
_NUMBER = Takes(is_needed=True)
FUNCTIONS: dict[str, Function] = {
    "BASENAME": Function(compute_base_name, (_TEXT,)),
    "CHOICE": Function(compute_choice, (_NUMBER, Takes(is_needed=True, is_alone=True))),
    "DIRNAME": Function(compute_directory_name, (_TEXT,)),
    "EVAL": Function(compute_evaluation, (_TEXT,)),
    "INT": Function(compute_integer, (_NUMBER,)),
    "RANDOM_CHOICE": Function(compute_random_choice, (Takes(is_alone=True),)),
    "RANDOM_INTEGER": Function(compute_random_integer),
    "REAL": Function(compute_real, (_NUMBER,)),
    "STRING": Function(compute_string, (_TEXT,)),
    "SUBSTR": Function(compute_substring, (_NUMBER, _NUMBER, _NUMBER)),
}
_FILE_NAME = Function(compute_file_name, (_TEXT,))


def function_of(name: str) -> Function:
    """Return the function of a name; one that is in no table is `$F…`."""
    return FUNCTIONS.get(name, _FILE_NAME)
