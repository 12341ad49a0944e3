"""How the classic tools read their options: the one- and two-dash rule.

One dash: the rest may be any beginning of the option's name that is long enough to be its own
(each row says how long). Two dashes: the whole name and nothing else. After a colon come
qualifiers (`-af:jr`, `-echo:UTC`) for the rows that take them. Rows are tried in order, as the
reference does, so a short beginning belongs to the first row that admits it. Anything else that
starts with a dash is an error, which names the nearest option. Checked against the real tools.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TextIO, TypeVar

from kettle.errors import KettleError, Unreached, UsageError
from kettle.structs import Struct
from kettle.tools.programs import Streams

DEBUG_FLAGS = "_KETTLE_TOOL_DEBUG_FLAGS"
"""The variable of a tool's environment with what `-debug:` asks for beyond TOOL_DEBUG.

`with_debugging` puts it there; it is not there without `-debug`.
"""

W = TypeVar("W")
# Compat: these tools say their usage on stderr when they are asked for it; shown by
# test_help_goes_where_the_reference_says_it.
# fmt: off
HELP_ON_STDERR = frozenset({
    "condor_advertise", "condor_continue", "condor_drain", "condor_fetchlog", "condor_hold",
    "condor_off", "condor_on", "condor_reconfig", "condor_release", "condor_reschedule",
    "condor_restart", "condor_rm", "condor_set_shutdown", "condor_ssh_to_job", "condor_status",
    "condor_store_cred", "condor_suspend", "condor_tail", "condor_token_create",
    "condor_token_fetch", "condor_token_request", "condor_token_request_approve",
    "condor_token_request_list", "condor_transfer_data", "condor_userprio", "condor_vacate",
    "condor_vacate_job", "condor_wait", "condor_who",
})
# fmt: on
# As many words as come before the next option, one at least.
MANY = -1


class Option(Struct):
    """One option of a tool.

    `shortest` is how many letters one dash needs (0: the whole name); `values` how many words
    follow it (MANY: all up to the next option); `qualified` whether a colon with qualifiers may
    follow the name. One that is `ignored` is taken, so that scripts that say it run, and has no
    effect.
    """

    name: str
    shortest: int = 1
    values: int = 0
    qualified: bool = False
    ignored: bool = False


class Given(Struct):
    """An option as it was given; a positional word has the empty name and itself as value.

    `word` is the option as typed, `index` its place in the arguments.
    """

    name: str
    word: str
    qualifiers: str = ""
    values: tuple[str, ...] = ()
    index: int = 0

    @property
    def value(self) -> str:
        """The first value, which is the word itself for a positional."""
        return self.values[0]


class Asked(Exception):  # noqa: N818 - a question, not an error
    """The command line wants to be told something and nothing done: `kind` is help or version.

    `more` is what else is told, after the usage.
    """

    def __init__(self, kind: str, more: str = "") -> None:
        super().__init__(kind)
        self.kind = kind
        self.more = more


class UnknownOptionError(UsageError):
    """An option that does not exist; `word` is the option as typed."""

    def __init__(self, word: str, *, hint: str = "") -> None:
        super().__init__(f"unknown option {word}", hint=hint)
        self.word = word


class BriefError(UsageError):
    """A wrong command line about which the sentence says all: no usage stands below it."""


class MissingValueError(UsageError):
    """An option without the words it needs: `option` is its row, `word` the option as typed."""

    def __init__(self, option: Option, word: str) -> None:
        what = f"{option.values} arguments" if option.values > 1 else "an argument"
        super().__init__(f"option {word} needs {what}")
        self.option, self.word = option, word


def check_address(tool: str, word: str, *, form: str = "ip.address.here:port") -> str:
    """Return the word that stands for a daemon's address; BriefError if it cannot be one."""
    if word.startswith("<"):
        return word
    raise BriefError(
        f'{tool}: "{word}" is not a valid address\n'
        f"Should be of the form <{form}>\n"
        "For example: <123.456.789.123:6789>"
    )


def run_tool(
    argv: Sequence[str],
    environment: Mapping[str, str],
    streams: Streams,
    *,
    usage: str,
    read_wish: Callable[[Sequence[str]], W],
    act: Callable[[W, Mapping[str, str], Streams], int],
    complain: Callable[[UsageError], str] | None = None,
    prefix: str = "",
    wrong_usage: int = 1,
    after_help: int = 0,
    after_version: int = 0,
) -> int:
    """Read the command line into a wish and act on it; the result is the exit code.

    Help and version go to stdout (but see HELP_ON_STDERR) with exit code 0, or `after_help` and
    `after_version`. A command line that means nothing is answered with what `complain` says (the
    error and the usage), an operating error with `prefix` and its sentence; both on stderr, with
    exit code `wrong_usage` and 1.
    """
    try:
        return act(read_wish(argv[1:]), with_debugging(argv, environment), streams)
    except Asked as asked:
        is_help = asked.kind == "help"
        where = streams.stderr if is_help and argv[0] in HELP_ON_STDERR else streams.stdout
        where.write(usage + asked.more if is_help else _version_text())
        return after_help if is_help else after_version
    except UsageError as error:
        brief = isinstance(error, BriefError)
        below = "" if brief else usage
        said = complain(error) if complain and not brief else f"{error}\n{below}"
        streams.stderr.write(said)
        tell_more(error, streams.stderr, said)
        code: int = getattr(error, "exit_code", wrong_usage)
        return code
    except KettleError as error:
        said = f"{prefix}{_say(error)}\n"
        streams.stderr.write(said)
        tell_more(error, streams.stderr, said)
    return 1


def tell_more(error: KettleError, stderr: TextIO, said: str = "") -> None:
    """Tell a person at a terminal more of an error than `said` does; see `at_terminal`."""
    if stderr.isatty():
        from kettle.tools.at_terminal import draw_fault

        draw_fault(error, stderr, said)


def _say(error: KettleError) -> str:
    """Return what is said of an error that nobody caught; of silence, the reference's words."""
    if not isinstance(error, Unreached):
        return str(error)
    from kettle.tools.failures import explain_in_line

    return explain_in_line(error)


def _version_text() -> str:
    from kettle.tools.configuration.condor_version import version_text

    return version_text()


def with_debugging(argv: Sequence[str], environment: Mapping[str, str]) -> Mapping[str, str]:
    """Return the environment in which `-debug` on a command line has its effect."""
    for word in argv[1:]:
        name, _, flags = word.partition(":")
        if name in ("-debug", "--debug"):
            return {**environment, DEBUG_FLAGS: flags}
        if word == "--":
            break
    return environment


def match_option(word: str, option: Option) -> str | None:
    """Return the qualifiers (perhaps none: empty) if `word` names `option`, else None."""
    name, colon, qualifiers = word.partition(":")
    if colon and not option.qualified:
        return None
    if name.startswith("--"):
        return qualifiers if name[2:] == option.name else None
    beginning = name[1:]
    shortest = option.shortest or len(option.name)
    if len(beginning) >= shortest and option.name.startswith(beginning):
        return qualifiers
    return None


def choose_option(word: str, options: Sequence[Option]) -> tuple[Option, str]:
    """Return the option that `word` names, and its qualifiers.

    Raises Asked at an option called help or version, UnknownOptionError if it names none.
    """
    for option in options:
        qualifiers = match_option(word, option)
        if qualifiers is not None:
            if option.name in {"help", "version"}:
                raise Asked(option.name)
            return option, qualifiers
    raise UnknownOptionError(word, hint=suggest_option(word, options))


def read_options(words: Sequence[str], options: Sequence[Option]) -> Iterator[Given]:
    """Yield what the command line `words` (without the program's name) gives, in order.

    Options that are ignored are passed over.

    Raises Asked at an option called help or version, UnknownOptionError for one that is not in
    `options`, MissingValueError for one whose values are missing.
    """
    index = 0
    while index < len(words):
        word = words[index]
        start = index
        index += 1
        if not word.startswith("-") or word == "-":
            yield Given("", word, "", (word,), start)
            continue
        option, qualifiers = choose_option(word, options)
        end = index + option.values
        if option.values == MANY:
            end = next(
                (n for n in range(index, len(words)) if words[n].startswith("-")), len(words)
            )
        values = tuple(words[index:end])
        if len(values) < abs(option.values):
            raise MissingValueError(option, word)
        index = end
        if not option.ignored:
            yield Given(option.name, word, qualifiers, values, start)


def take_by(actions: Mapping[str, Callable[[W, Given], object]], wish: W, option: Given) -> None:
    """Do for an option what a tool's table says.

    AssertionError if the table says nothing of it, which is a mistake of the tool: `with_debugging`
    alone looks at -debug.
    """
    action = actions.get(option.name)
    if action is not None:
        action(wish, option)
    elif option.name != "debug":
        raise AssertionError(f"nothing is done for -{option.name}")


def suggest_option(word: str, options: Sequence[Option]) -> str:
    """Return a hint naming the option nearest to a mistyped `word`, empty if none is near."""
    from kettle.nearest import LOOSE, nearest_of  # for those alone who mistype

    names = [option.name for option in options]
    near = nearest_of(word.lstrip("-").partition(":")[0], names, LOOSE)
    return f"did you mean -{near}?" if near else ""
