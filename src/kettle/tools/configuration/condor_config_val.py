"""`condor_config_val`: what the configuration says, where it says so, and what the default is.

Options, bytes and exit codes are the reference's (vectors `config/cases.json`); the rendering is
`listing.py`. Nothing here decides what a configuration means: that is `kettle.config`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kettle.attributes.version import CONDOR_VERSION
from kettle.config import Config, load_config, metaknobs
from kettle.config.templates import TEMPLATES
from kettle.errors import ConfigError, UsageError
from kettle.runtime.storage.files import SystemSources
from kettle.tools.configuration import listing
from kettle.tools.configuration.condor_version import platform_text
from kettle.tools.configuration.request import Request
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
    -evaluate             like -expanded
    -mixedcase            names as they were written first
  what to show
    -dump [REGEXP...]     all names, or those that match
    -summary[:detected]   what files and environment changed
    -config               the files that were read
    -stats                how much there is of all that
    -macro[:path] TEXT... TEXT with its macros replaced
    -writeconfig[:FILTER[,only]] FILE
                          write the configuration; FILTER is any of default, detected,
                          environment, file, upgrade; FILE may be -
    -owner, -tilde        the account and the folder that own the installation
  about a running daemon
    -name NAME, -pool HOST, -address ADDRESS
    -master, -schedd, -startd, -collector, -negotiator
    -set "NAME = VALUE", -unset NAME      for good
    -rset "NAME = VALUE", -runset NAME    until it starts again
  for whom
    -subsystem DAEMON     as this daemon sees it
    -local-name NAME      as the instance of this name sees it
    -root-config FILE     with FILE as the first file
  -help, -version
"""

# Options by name with the fewest letters that still mean them; `:` options may have qualifiers.
SWITCHES = {
    "config": 2,
    "debug": 3,
    "default": 3,
    "dump": 1,
    "evaluate": 2,
    "expanded": 2,
    "help": 1,
    "macro": 2,
    "mixedcase": 2,
    "owner": 1,
    "raw": 3,
    "stats": 4,
    "summary": 2,
    "tilde": 1,
    "trace": 2,
    "unused": 3,
    "used": 3,
    "verbose": 1,
    "version": 7,
}
VALUED = {"local-name": 2, "local_name": 2, "root-config": 3, "subsystem": 2, "writeconfig": 1}
ELSEWHERE = {
    "address": 1,
    "collector": 3,
    "master": 3,
    "name": 1,
    "negotiator": 2,
    "pool": 1,
    "rset": 2,
    "runset": 3,
    "schedd": 2,
    "set": 3,
    "startd": 3,
    "unset": 4,
}


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run the tool; 0, or 1 if something is not defined, wrong or unreadable."""
    try:
        request = parse_arguments(argv[1:])
    except UsageError as error:
        streams.stderr.write(f"{error.message}\n" if error.message else "")
        if error.hint != "short":
            streams.stderr.write(USAGE)
        return 1
    if request.has("help"):
        streams.stderr.write(USAGE)
        return 1
    if request.has("version"):
        streams.stdout.write(f"{CONDOR_VERSION}\n{platform_text()}\n")
        return 0
    if request.names[:1] and request.names[0].lower() == "use":
        return show_templates(request, streams)
    if request.remote:
        from kettle.tools.configuration.remote import run_remote

        return run_remote(request, environment, streams)
    try:
        config = load_config(
            SystemSources(),
            environment,
            subsystem=request.values.get("subsystem", "TOOL"),
            local_name=request.values.get("local-name"),
            root=request.values.get("root-config"),
        )
    except ConfigError as error:
        streams.stderr.write(f"{error}\n")
        return 1
    for warning in config.warnings:
        streams.stderr.write(f"{warning}\n")
    return answer(config, request, streams)


def parse_arguments(arguments: list[str]) -> Request:
    """Read the command line; raise UsageError, whose hint "short" means no usage text."""
    request = Request()
    rest = iter(arguments)
    for argument in rest:
        if not argument.startswith("-") or argument == "-":
            request.names.append(argument)
            continue
        word, _, qualifiers = argument.partition(":")
        name = match_option(word)
        if name is None:
            raise UsageError(f"{argument} is not a valid argument")
        if name in ELSEWHERE:
            request.remote[name] = _remote_value(name, rest)
            continue
        request.qualifiers[name] = [part for part in qualifiers.split(",") if part]
        if name in SWITCHES:
            request.switches.add(name)
            continue
        name = "local-name" if name == "local_name" else name
        value = next(rest, None)
        if value is None:
            shown = "local_name" if name == "local-name" else name
            raise UsageError(f"-{shown} requires an argument", hint="short")
        request.values[name] = value
    if not request.names and _needs_names(request):
        raise UsageError("")
    return request


def _needs_names(request: Request) -> bool:
    """Whether the command line means nothing without the name of a knob."""
    if request.remote.keys() & {"set", "rset", "unset", "runset"}:
        return False
    alone = {"config", "dump", "help", "owner", "stats", "summary", "tilde", "version"}
    return not request.switches & alone and "writeconfig" not in request.values


def _remote_value(name: str, rest: Iterator[str]) -> str:
    if name not in ("address", "name", "pool", "rset", "runset", "set", "unset"):
        return ""
    value = next(rest, None)
    if value is None:
        raise UsageError(f"-{name} requires an argument", hint="short")
    return value


def match_option(word: str) -> str | None:
    """Return the option a word means: exactly after two dashes, by prefix after one."""
    options = {**SWITCHES, **VALUED, **ELSEWHERE}
    if word.startswith("--"):
        return word[2:] if word[2:] in options else None
    letters = word[1:].lower()
    for name, fewest in options.items():
        if len(letters) >= fewest and name.startswith(letters):
            return name
    return None


def answer(config: Config, request: Request, streams: Streams) -> int:
    """Print what was asked for; 1 if something asked for is not defined."""
    out = streams.stdout
    if request.has("config"):
        show_files(config, streams)
    alone = say_alone(config, request)
    if alone is not None:
        out.write(alone)
        return 0
    if "writeconfig" in request.values:
        return write_config(config, request, streams)
    if request.has("dump"):
        return show_dump(config, request, streams)
    if request.has("summary"):
        out.write(f"# condor_config_val {CONDOR_VERSION}\n")
        wanted = {"file", "environment"}
        wanted |= {"detected"} if "detected" in request.qualifiers["summary"] else set()
        out.write(listing.sections(config, wanted))
    if request.has("macro"):
        for text in request.names:
            shown = listing.expanded(config, text, streams)
            if "path" in request.qualifiers["macro"] and shown:
                shown = listing.canonical_path(shown)
            out.write(f"{shown}\n")
        return 0
    return max([show_name(config, name, request, streams) for name in request.names], default=0)


def say_alone(config: Config, request: Request) -> str | None:
    """Return what an option asks for that stands for itself, None without one."""
    if request.has("owner") or request.has("tilde"):
        return f"{config.raw('USERNAME' if request.has('owner') else 'TILDE') or ''}\n"
    return listing.statistics(config) if request.has("stats") else None


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
    verbose = request.has("verbose")
    missing = found is None or (not value and not raw_wanted)
    if missing:
        streams.stderr.write(f"Not defined: {name.upper()}\n")
    elif verbose:
        out.write(listing.assignment(found.name if found else name, value))
    else:
        out.write(f"{value}\n")
    if verbose:
        if found is not None:
            out.write(f" # at: {found.origin}\n")
            if not raw_wanted:
                out.write(listing.raw_note(found.name, found.text))
        out.write("\n")
    return 1 if missing else 0


def _show_default(config: Config, name: str, streams: Streams) -> int:
    """Print what a name is where nobody sets it; 1 if that is nothing."""
    found = config.find_default(name)
    if found is None or not found.text:
        streams.stderr.write(f"Not defined: {name.upper()}\n")
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
            if wanted.search(macro.name):
                options = listing.DumpOptions(
                    expand=request.has("expanded"),
                    default=request.has("default"),
                    verbose=request.has("verbose"),
                )
                out.write(listing.dumped(config, macro, options, streams))
    if not request.has("verbose"):
        out.write("# Contributing configuration file(s):\n")
        out.writelines(f"#\t{path}\n" for path in config.files)
    return 0


def write_config(config: Config, request: Request, streams: Streams) -> int:
    """Write the configuration, or the parts that the filter names."""
    filters = set(request.qualifiers["writeconfig"])
    wanted = filters - {"only", "upgrade"}
    if "only" not in filters:
        wanted |= {"file", "environment"}
    if "default" in wanted:
        wanted.add("detected")
    text = listing.sections(config, wanted)
    target = request.values["writeconfig"]
    if target == "-":
        streams.stdout.write(text)
        return 0
    try:
        SystemSources().write_text(target, text)
    except OSError as error:
        streams.stderr.write(f"Can't create file {target}: {error.strerror}\n")
        return 1
    return 0


def show_templates(request: Request, streams: Streams) -> int:
    """Print the templates of a category, or the statements of one (R032, R033)."""
    out = streams.stdout
    wanted = request.names[1:]
    if not wanted:
        streams.stderr.write("use should be followed by a category or category:option argument\n")
        # Compat: no error, as in the reference (test_condor_config_val.py).
        out.write("Not defined: use \n")
        return 0
    for word in wanted:
        category, colon, items = word.partition(":")
        found = metaknobs.find_category(category)
        if found is None or (colon and not items):
            out.write(f"Not defined: use {word.upper()}\n")
        elif not colon:
            out.write(f"use {found} accepts\n")
            out.writelines(f"  {name}\n" for name in sorted(TEMPLATES[found], key=str.lower))
        else:
            show_template(found, items, out.write, expanded=request.has("expanded"))
    return 0


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
        name = metaknobs.template_name(category, item.name)
        shown = name if item.arguments is None else f"{name}({item.arguments})"
        write(f"use {category}:{shown} {'expands to' if expanded else 'is'}\n")
        for line in text.splitlines():
            write(f"\t{line}\n")
        if is_applied:
            write("\n")
