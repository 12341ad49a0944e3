"""How `condor_config_val` shows entries of a configuration: listings, sections, notes."""

from __future__ import annotations

import functools
import os.path
import re
from collections import deque
from collections.abc import Callable, Iterator

from kettle.config.origin import DEFAULT_SOURCE, DETECTED_SOURCE, ENVIRONMENT_SOURCE, Origin
from kettle.config.store import Config, Macro
from kettle.errors import ConfigError
from kettle.named_tuples import NamedTuple
from kettle.octets import to_bytes
from kettle.tools.configuration.request import Request
from kettle.tools.programs import Streams

_REFERENCE = re.compile(r"\$\(\s*([\w.]+)")
Write = Callable[[str], object]


# The defaults that `-dump -verbose` shows although they are empty; observed of the reference.
_TOLD_EMPTY = """
ADSTASH_SE_PASSWORD_FILE AUTH_SSL_CLIENT_CADIR AUTH_SSL_CLIENT_CAFILE AUTH_SSL_SERVER_CADIR
AUTH_SSL_SERVER_CAFILE DAGMAN_CONFIG_FILE DAGMAN_INSERT_SUB_FILE DEFAULT_MASTER_SHUTDOWN_SCRIPT
GAHP_SSL_CADIR GAHP_SSL_CAFILE PROMETHEUS_HTTP_AUTH_FILE SEC_TOKEN_DIRECTORY WINDOWS_RMDIR
WINDOWS_SOFTKILL
"""

# What the reference's tool asks for whatever it is asked.
_ASKED_BY_THE_TOOL = """
ABORT_ON_EXCEPTION AUTO_USE_FEATURE_PELICANRETRYPOLICY CLASSAD_USER_LIBS
CLASSAD_USER_PYTHON_MODULES COUNT_HYPERTHREAD_CPUS DEFAULT_DOMAIN_NAME ENABLE_CLASSAD_CACHING
ENABLE_IPV4 ENABLE_IPV6 ENABLE_PERSISTENT_CONFIG ENABLE_RUNTIME_CONFIG FILESYSTEM_DOMAIN
LOCAL_CONFIG_DIR LOCAL_CONFIG_FILE NETWORK_HOSTNAME NETWORK_INTERFACE NO_DNS PASSWD_CACHE_REFRESH
REQUIRE_LOCAL_CONFIG_FILE USER_CONFIG_FILE
"""


class DumpOptions(NamedTuple):
    """What `-dump` shows of each entry."""

    expand: bool
    default: bool
    verbose: bool


def expanded(config: Config, text: str, streams: Streams) -> str:
    """Return the expanded text; what cannot be expanded is told on the error stream."""
    config.problems.clear()
    try:
        value = config.expand(text)
    except ConfigError as error:
        streams.stderr.write(f"ERROR: {error}\n")
        value = ""
    if config.problems:
        from kettle.config.remarks import render_all  # few have any

        streams.stderr.write(f"{render_all(config.problems)}\n")
    return value


def canonical_path(path: str) -> str:
    """Return a path without doubled slashes and dots; it need not exist."""
    return os.path.normpath(path)


def assignment(name: str, value: str, *, lines: bool | None = None) -> str:
    """Return the statement that sets a name, as a here-document if it has several lines.

    `lines` says that it has, or has not, whatever the value is.
    """
    if not ("\n" in value if lines is None else lines):
        return f"{name} = {value}\n"
    return f"{name} @=end\n{_indented('   ', value)}@end\n"


def _indented(before: str, text: str) -> str:
    """Return the lines of a text that hold something, each behind a beginning."""
    return "".join(f"{before}{line.rstrip()}\n" for line in text.split("\n") if line.strip())


def raw_note(name: str, text: str) -> str:
    """Return the comment that shows how a value was written."""
    if "\n" not in text:
        return f" # raw: {name} = {text}\n"
    return " # raw: \n" + _indented(" #   ", f"{name} = {text}")


def note(label: str, text: str, *, lines: bool | None = None) -> str:
    """Return the comment that shows a further form of a value; `lines` as for `assignment`."""
    if not ("\n" in text if lines is None else lines):
        return f" # {label}: {text}\n"
    return f" # {label}: \n" + _indented(" #     ", text)


# Limit: the characters of earlier texts that -trace keeps, of the last statements; a name that is
# added to a line at a time had as much as the square of its last text.
MOST_TRACED = 1 << 24


class Trace:
    """What the names that are asked for had before each statement that set them again.

    Compat: what was detected twice is not among it (test_trace_shows_what_was_before), and of texts
    that are longer than MOST_TRACED together only the last are shown
    (test_a_trace_of_a_list_that_grows_keeps_the_last_texts).
    """

    def __init__(self, request: Request) -> None:
        self._wanted = [
            re.compile(name if request.has("dump") else f"{re.escape(name)}$", re.IGNORECASE)
            for name in request.names
        ]
        self._kept: deque[Macro] = deque()
        self._size = self._dropped = 0

    def add(self, macro: Macro) -> None:
        """Keep what a name had if it is asked for."""
        if not any(pattern.match(macro.name) for pattern in self._wanted):
            return
        self._kept.append(macro)
        self._size += len(macro.text)
        while self._size > MOST_TRACED and len(self._kept) > 1:
            self._size -= len(self._kept.popleft().text)
            self._dropped += 1

    def render(self) -> str:
        """Return the lines that -trace prints."""
        dropped = f" # trace: {self._dropped:,} earlier texts are left out\n"
        return (dropped if self._dropped else "") + "".join(
            f" # trace: {macro.name}\n  # was: {macro.text}\n  # set at: {macro.origin}\n"
            for macro in self._kept
        )


def all_macros(config: Config) -> Iterator[Macro]:
    """Yield everything a name stands for: set, detected and default, ordered by name.

    Compat: knobs of Kettle's own are listed where they are set; else they are shown to whoever
    asks for them by name (test_a_knob_of_our_own_is_listed_where_it_is_set).
    """
    from kettle.config.default_texts import DEFAULTS

    names = {macro.name.upper(): macro.name for macro in config.entries()}
    for key, (name, _) in {**DEFAULTS, **config.facts()}.items():
        names.setdefault(key, name)
    for name in sorted(names.values(), key=str.lower):
        found = config.find_set(name) or config.find_default(name)
        is_silent = name.startswith("KETTLE_") and found is not None and is_default(found)
        if found is not None and not is_silent:
            yield found


def is_default(macro: Macro) -> bool:
    """Tell whether an entry is a built-in default."""
    return macro.origin.source == DEFAULT_SOURCE


def name_in_table(config: Config, macro: Macro) -> str:
    """Return the name under which an entry is known: a default of this daemon's own has a prefix.

    Observed of the reference: `SCHEDD.IsSchedd`.
    """
    from kettle.config.subsystem_defaults import SUBSYSTEM_DEFAULTS

    own = SUBSYSTEM_DEFAULTS.get(config.subsystem, {})
    is_own = is_default(macro) and macro.name.upper() in own
    return f"{config.subsystem}.{macro.name}" if is_own else macro.name


def is_used(macro: Macro, request: Request) -> bool:
    """Tell whether -used and -unused let an entry be listed.

    Used is what a default refers to, and what the reference's tool asks for itself.
    """
    if not (request.has("used") or request.has("unused")):
        return True
    return request.has("used") is (macro.name.upper() in _used_names())


@functools.cache
def _used_names() -> frozenset[str]:
    from kettle.config.default_texts import DEFAULTS

    texts = (text for _, text in DEFAULTS.values())
    referred = (found.upper() for text in texts for found in _REFERENCE.findall(text))
    return frozenset((*referred, *_ASKED_BY_THE_TOOL.split()))


def statistics(config: Config) -> str:
    """Return what `-stats` says of the table of macros.

    Compat: the names are the reference's. Its numbers are of its own table in memory; here Used
    counts macros that are knobs, Referenced those that others refer to, TablesBytes what the
    references take. Shown by test_statistics_count_what_is_configured.
    """
    from kettle.config.default_texts import DEFAULTS

    macros = list(config.entries())
    names = {macro.name.upper() for macro in macros}
    referred = [found.upper() for macro in macros for found in _REFERENCE.findall(macro.text)]
    rows = {
        "Macros": len(macros),
        "Used": len(names & DEFAULTS.keys()),
        "Referenced": len(names.intersection(referred)),
        "Files": len(config.files),
        "StringBytes": sum(
            len(to_bytes(macro.name)) + len(to_bytes(macro.text)) for macro in macros
        ),
        "TablesBytes": sum(len(to_bytes(name)) for name in referred),
        "IsSorted": len(macros),
    }
    return "".join(f"{name} = {value}\n" for name, value in rows.items())


def dumped(config: Config, macro: Macro, options: DumpOptions, streams: Streams) -> str:
    """Return one entry of `-dump`.

    What is in force under a prefix is shown with it as it is written, and without when expanded.
    """
    name = macro.name
    default = config.find_built_in(macro.name)
    default_text = default.text if default else ""
    if not options.default:
        # One with a prefix may be in force, for a daemon or an instance.
        macro = config.find(macro.name) or macro
    text = default_text if options.default else macro.text
    full = expanded(config, macro.text, streams) if options.expand or options.verbose else ""
    # Observed of the reference: several lines are those of the text as it was written.
    lines = "\n" in text
    shown = assignment(
        name if options.expand or options.default else name_in_table(config, macro),
        full if options.expand else text,
        lines=lines,
    )
    if options.verbose:
        shown += f" # at: {macro.origin}\n"
        label, other = ("raw", text) if options.expand else ("expanded", full)
        shown += note(label, other, lines=lines)
        if default_text or macro.name in _TOLD_EMPTY.split():
            shown += note("default", default_text)
    return shown


def _is_as_by_default(config: Config, macro: Macro) -> bool:
    """Tell whether what is set is the default all the same, also that under a prefix."""
    before, _, after = macro.name.partition(".")
    default = config.find_built_in(after or before)
    return default is not None and default.text.lower() == macro.text.lower()


def _by_source(config: Config, wanted: set[str]) -> dict[str, list[Macro]]:
    """Return the entries of the wanted kinds by the place they came from, in order of the places.

    A file that was read several times is where it was read last. The environment is the last,
    behind what templates of a setting's own have set, too.
    """
    by_source: dict[str, list[Macro]] = {}
    if "detected" in wanted:
        by_source[DETECTED_SOURCE] = [
            Macro(name, text, Origin(DETECTED_SOURCE)) for name, text in config.facts().values()
        ]
    if "default" in wanted:
        by_source[DEFAULT_SOURCE] = [macro for macro in all_macros(config) if is_default(macro)]
    for path in config.files if "file" in wanted else ():
        by_source.pop(path, None)
        by_source[path] = []
    environment: list[Macro] = []
    for macro in config.entries():
        source = macro.origin.source
        if source in (DEFAULT_SOURCE, DETECTED_SOURCE) or _is_as_by_default(config, macro):
            continue
        if source == ENVIRONMENT_SOURCE:
            environment.append(macro)
        elif "file" in wanted:
            by_source.setdefault(source, []).append(macro)
    return {**by_source, ENVIRONMENT_SOURCE: environment if "environment" in wanted else []}


def sections(config: Config, wanted: set[str]) -> str:
    """Return the entries of the wanted kinds, a section for each place they came from.

    Compat: a default of several lines is a here-document, too; the reference writes it so that no
    program can read it (test_rare_texts.py).
    """
    text = ""
    for source, macros in _by_source(config, wanted).items():
        if macros:
            text += f"\n#\n# from {source}\n#\n"
            ordered = sorted(macros, key=lambda macro: (macro.origin.line, macro.name.lower()))
            text += "".join(assignment(macro.name, macro.text) for macro in ordered)
    return text
