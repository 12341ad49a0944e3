"""`condor_config_val`: what the configuration says, where it says so, and what the default is.

Options, bytes and exit codes are the reference's (vectors `config/cases.json`); the rendering is
`listing.py`. Nothing here decides what a configuration means: that is `kettle.config`.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from typing import TextIO

from kettle.attributes.version import CONDOR_VERSION
from kettle.config import Config, load_config, metaknobs
from kettle.config.conditions import decide_condition
from kettle.config.templates import TEMPLATES
from kettle.errors import ConfigError, EndingConfigError, UsageError
from kettle.runtime.storage.files import SystemSources
from kettle.tools.configuration import listing
from kettle.tools.configuration.condor_version import platform_text
from kettle.tools.configuration.request import TEMPLATE, BriefError, Request, read_request
from kettle.tools.programs import Streams

USAGE = """\
Usage: condor_config_val [options] NAME...
       condor_config_val [options] -dump [REGEXP...] | -summary[:detected] | -config
       condor_config_val use CATEGORY[:TEMPLATE]
  how to show a value
    -raw                  as it was written
    -expanded             with $(NAME) replaced (the default for names)
    -default              the built-in default
    -verbose              also where it was set, raw and default
    -evaluate             of a daemon: what the value is as an expression; else like -expanded
    -mixedcase            names as they were written first
  what to show
    -dump [REGEXP...]     all names, or those that match
    -summary[:detected]   what files and environment changed
    -config               the files that were read
    -stats                how much there is of all that
  -used, -unused        with -dump, what defaults refer to, or the rest
  -check-if CONDITION   whether it can stand after if, and holds
    -macro[:path] TEXT... TEXT with its macros replaced
    -writeconfig[:FILTER[,only]] FILE
                          write the configuration; FILTER is any of default, detected,
                          environment, file, upgrade; FILE may be -
    -owner, -tilde        the account and the folder that own the installation
  about a running daemon
    -name NAME, -pool HOST, -address ADDRESS
    -master, -schedd, -startd, -collector, -negotiator
    -set "NAME = VALUE"..., -unset NAME...    for good
    -rset "NAME = VALUE"..., -runset NAME...  until it starts again
    -dump, -summary, -verbose, -raw, -default, -used, -unused
                          the same, of the daemon
  for whom
    -subsystem DAEMON     as this daemon sees it
    -local-name NAME      as the instance of this name sees it
    -root-config FILE     with FILE as the first file
  -help, -version
"""

# What the program ends with when it cannot write the file of -writeconfig.
UNWRITABLE = 2


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run the tool; 0, or 1 if something is not defined, wrong or unreadable, 2 if unwritable."""
    try:
        request = read_request(argv[1:])
    except UsageError as error:
        streams.stderr.write(f"{error.message}\n")
        if not isinstance(error, BriefError):
            streams.stderr.write(USAGE)
        return 1
    streams.stderr.write("".join(request.complaints))
    if request.has("help"):
        return _show_usage(streams)
    if request.has("version"):
        streams.stdout.write(f"{CONDOR_VERSION}\n{platform_text()}\n")
        return 0
    if only_templates(request):
        # Compat: they are told also where there is no configuration (test_metaknobs.py).
        with contextlib.suppress(ConfigError):
            _say_warnings(_load(request, environment), streams)
        for name in request.names:
            show_templates(name[1:], request, streams)
        return 0
    trace = listing.Trace(request) if request.has("trace") else None
    try:
        config = _load(request, environment, trace)
    except ConfigError as error:
        streams.stderr.write(f"{error}\n")
        return error.EXIT_CODE if isinstance(error, EndingConfigError) else 1
    alone = say_alone(config, request)
    if alone == "\n" and request.has("tilde"):
        streams.stderr.write("Error: Specified -tilde but can't find condor's home directory\n")
        return 1
    if alone is not None:
        streams.stdout.write(alone)
        return 0
    _say_warnings(config, streams)
    if trace is not None:
        streams.stdout.write(trace.render())
    return answer(config, request, environment, streams)


def _load(
    request: Request, environment: Mapping[str, str], trace: listing.Trace | None = None
) -> Config:
    return load_config(
        SystemSources(),
        environment,
        subsystem=request.values.get("subsystem", "TOOL"),
        local_name=request.values.get("local-name"),
        root=request.values.get("root-config"),
        on_replaced=None if trace is None else trace.add,
    )


def _say_warnings(config: Config, streams: Streams) -> None:
    """Tell what the configuration itself warns of."""
    if config.warnings:
        from kettle.config.remarks import render_all  # few have any

        streams.stderr.write(f"{render_all(config.warnings)}\n")


def only_templates(request: Request) -> bool:
    """Tell whether the command line asks for templates and nothing else."""
    asked = bool(request.names) and all(name.startswith(TEMPLATE) for name in request.names)
    return asked and not (request.asks_daemon or request.has("config") or request.has("summary"))


def _show_usage(streams: Streams) -> int:
    streams.stderr.write(USAGE)
    return 1


def say_alone(config: Config, request: Request) -> str | None:
    """Return what an option asks for that stands for itself, None without one."""
    if request.has("owner") or request.has("tilde"):
        return f"{config.raw('USERNAME' if request.has('owner') else 'TILDE') or ''}\n"
    return None


def answer(
    config: Config, request: Request, environment: Mapping[str, str], streams: Streams
) -> int:
    """Print what was asked for, in the reference's order; the result is the exit code."""
    if request.has("config"):
        show_files(config, streams)
    if "check-if" in request.values:
        return check_condition(config, request.values["check-if"], streams)
    refused = write_wanted(config, request, streams)
    if refused is not None:
        return refused
    wrong = complain_of_target(request, config)
    if wrong:
        streams.stderr.write(wrong)
        return 1
    if not request.asks_daemon:
        if request.has("dump"):
            return show_dump(config, request, streams)
        if request.has("stats"):
            streams.stdout.write(listing.statistics(config))
            return 0
    names = names_meant(request)
    if names is None:
        return _show_usage(streams)
    if request.asks_daemon:
        from kettle.tools.configuration.remote import run_remote

        return run_remote(request, names, environment, streams)
    return max([show_one(config, name, request, streams) for name in names], default=0)


def names_meant(request: Request) -> list[str] | None:
    """Return the words that are asked about, None if the command line means nothing without."""
    if request.names or request.has("config"):
        return request.names
    if request.switches & {"dump", "stats", "summary"}:
        return [""] if request.asks_daemon else []
    return [] if "writeconfig" in request.values else None


def complain_of_target(request: Request, config: Config) -> str:
    """Return what is wrong with the daemon that the options name, empty if nothing is."""
    name = request.values.get("name")
    if name is not None:
        from kettle.runtime.sockets.addresses import may_be_daemon

        if not may_be_daemon(name, config):
            return f"condor_config_val: unknown host {name}\n"
    elif "pool" in request.values:
        return "Error: you must specify -name with -pool\n"
    return ""


def write_wanted(config: Config, request: Request, streams: Streams) -> int | None:
    """Write what -summary or -writeconfig asks for; an exit code if that was all, or failed."""
    if request.has("summary") and not request.asks_daemon:
        wanted = {"file", "environment"}
        wanted |= {"detected"} if request.filters("summary", detected=3) else set()
        sections = listing.sections(config, wanted)
        if sections:
            streams.stdout.write(f"# condor_config_val {CONDOR_VERSION}\n{sections}")
    if "writeconfig" not in request.values:
        return None
    if request.daemon == "master":
        streams.stdout.write("-writeconfig is not currently supported with -master\n")
        return 1
    return write_config(config, request, streams)


def show_one(config: Config, name: str, request: Request, streams: Streams) -> int:
    """Print what one word of the command line asks for; 1 if it is not defined."""
    if name.startswith(TEMPLATE):
        show_templates(name[1:], request, streams)
        return 0
    if request.has("macro"):
        show_macro(config, name, request, streams)
        return 0
    return show_name(config, name, request, streams)


def show_macro(config: Config, text: str, request: Request, streams: Streams) -> None:
    """Print a text with its macros replaced."""
    from kettle.config.single_pass import Passed, expand_once

    try:
        passed = expand_once(text, config)
    except ConfigError as error:
        passed = Passed("", problem=f"ERROR: {error}")
    if passed.problem:
        streams.stderr.write(f"{passed.problem}\n")
    shown = passed.text
    if request.filters("macro", path=4) and shown:
        shown = listing.canonical_path(shown)
    if request.verbose:
        streams.stdout.write(f"{text} expands to: {shown}\n # exist: 0x{passed.exist:X}\n")
    else:
        streams.stdout.write(f"{shown}\n")


def show_name(config: Config, name: str, request: Request, streams: Streams) -> int:
    """Print one value in the way asked for; 1 if it is not defined."""
    if request.has("default"):
        return _show_default(config, name, streams)
    out = streams.stdout
    found = config.find(name)
    raw_wanted = request.has("raw")
    value = "" if found is None else found.text
    if found is not None and not raw_wanted:
        value = listing.expanded(config, found.text, streams)
    verbose = request.verbose
    shown_name = name if found is None else listing.name_in_table(config, found)
    missing = found is None or (not value and not raw_wanted)
    if missing:
        streams.stderr.write(f"Not defined: {found.name if found else name.upper()}\n")
    elif verbose:
        out.write(listing.assignment(shown_name, value))
    else:
        out.write(f"{value}\n")
    if verbose:
        if found is not None:
            out.write(f" # at: {found.origin}\n")
            if not raw_wanted:
                out.write(listing.raw_note(shown_name, found.text))
        _say_unread(name, out)
        out.write("\n")
    return 1 if missing else 0


def _say_unread(name: str, out: TextIO) -> None:
    """Say of a name that is known and counts for nothing why that is so.

    Compat: the reference has no such line (test_verbose_says_what_counts_for_nothing_and_why).
    """
    from kettle.config.unread import why_unread

    why = why_unread(name)
    if why:
        out.write(f" # counts for nothing: {why}\n")


def _show_default(config: Config, name: str, streams: Streams) -> int:
    """Print what a name is where nobody sets it; 1 if that is nothing."""
    found = config.find_built_in(name)
    if found is None or not found.text:
        known = config.find(name)
        streams.stderr.write(f"Not defined: {known.name if known else name.upper()}\n")
        return 1
    streams.stdout.write(f"{found.text}\n")
    return 0


def show_files(config: Config, streams: Streams) -> None:
    """Print the files that were read, the headings on the error stream."""
    streams.stderr.write("Configuration source:\n")
    for path in config.files[:1]:
        streams.stdout.write(f"\t{path}\n")
    local = config.files[1:]
    if local:
        streams.stderr.write(f"Local configuration source{'s' if len(local) > 1 else ''}:\n\n")
    for path in local:
        streams.stdout.write(f"\t{path}\n")


def show_dump(config: Config, request: Request, streams: Streams) -> int:
    """Print all names or those that match the expressions."""
    out = streams.stdout
    out.write(f"# Configuration from machine: {config.raw('FULL_HOSTNAME') or ''}\n")
    for pattern in request.names or [""]:
        if pattern:
            out.write(f"\n# Parameters with names that match {pattern}:\n")
        try:
            wanted = re.compile(pattern, re.IGNORECASE)
        except re.error as error:
            streams.stderr.write(f"{pattern} is not a regular expression: {error}\n")
            continue
        for macro in listing.all_macros(config):
            if wanted.search(macro.name) and listing.is_used(macro, request):
                options = listing.DumpOptions(
                    expand=request.has("expanded"),
                    default=request.has("default"),
                    verbose=request.verbose,
                )
                out.write(listing.dumped(config, macro, options, streams))
    if not request.verbose:
        out.write("# Contributing configuration file(s):\n")
        out.writelines(f"#\t{path}\n" for path in config.files)
    if request.has("stats"):
        out.write(listing.statistics(config))
    return 0


def write_config(config: Config, request: Request, streams: Streams) -> int | None:
    """Write the configuration, or the parts that the filter names; 2 if that cannot be.

    Compat: without a filter the reference adds, as comments, what files set to its default; nor
    are `comment`, `source`, `sort` and `duplicate` filters of ours (test_config_val_recordings.py).
    """
    given = request.filters(
        "writeconfig", default=3, detected=3, environment=3, only=0, file=0, upgrade=3
    )
    wanted = given - {"only", "upgrade"}
    if "only" not in given:
        wanted |= {"file", "environment"}
    if "default" in wanted:
        wanted.add("detected")
    text = listing.sections(config, wanted)
    target = request.values["writeconfig"]
    if target == "-":
        streams.stdout.write(text)
        return None
    try:
        SystemSources().write_text(target, text)
    except OSError as error:
        streams.stderr.write(f"Failed to create configuration file {target}.\n{error.strerror}\n")
        return UNWRITABLE
    return None


def check_condition(config: Config, text: str, streams: Streams) -> int:
    """Print whether a text can stand after `if`, and what it then is; always 0."""
    try:
        holds = decide_condition(text, config)
    except ConfigError as error:
        streams.stdout.write(f'# not supported: "{text}" {error.complaint}\n')
    else:
        streams.stdout.write(f'# ok: "{text}" \n{"true" if holds else "false"}\n')
    return 0


def show_templates(word: str, request: Request, streams: Streams) -> None:
    """Print the templates of a category, or the statements of one (R032, R033).

    Compat: one that is not there is no failure, as in the reference (test_condor_config_val.py).
    """
    out = streams.stdout
    category, colon, items = word.partition(":")
    found = metaknobs.find_category(category)
    if found is None or (colon and not items):
        out.write(f"Not defined: use {word.upper()}\n")
    elif not colon:
        out.write(f"use {found} accepts\n")
        out.writelines(f"  {name}\n" for name in sorted(TEMPLATES[found], key=str.lower))
    else:
        show_template(found, items, out.write, expanded=request.has("expanded"))


def show_template(
    category: str, items: str, write: listing.Write, *, expanded: bool = False
) -> None:
    """Print the statements of the templates that the items name.

    Arguments are put in where there are some, or where what it expands to is asked for.
    """
    for item in metaknobs.parse_items(items):
        text = metaknobs.find_template(category, item.name)
        if text is None:
            write(f"Not defined: use {category}:{item.name.upper()}\n")
            continue
        is_applied = expanded or item.arguments is not None
        if is_applied:
            text = metaknobs.apply_arguments(text, item.arguments or "")
        name = item.name if expanded else metaknobs.template_name(category, item.name)
        shown = name if item.arguments is None else f"{name}({item.arguments})"
        write(f"use {category}:{shown} {'expands to' if expanded else 'is'}\n")
        for line in text.splitlines():
            write(f"\t{line}\n")
        if is_applied:
            write("\n")
