"""`kettle config check`: what is odd about a configuration, before a daemon reads it.

What is looked for is `kettle.config.check`'s; here are the files, the drawing and the exit code.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Mapping

from kettle.config import Config, Sources, load_config
from kettle.config.check import broken_config, check_config
from kettle.config.finding import Finding, is_bad
from kettle.errors import ConfigError, NotFoundError, UsageError
from kettle.runtime.storage.files import RememberingSources
from kettle.tools.front import place
from kettle.tools.front.findings import count_findings, render_findings, to_json
from kettle.tools.front.site_faults import find_site_faults
from kettle.tools.programs import Streams

Tell = Callable[[ConfigError], object]


class _Parser(argparse.ArgumentParser):
    """A parser for which files may stand behind options, too."""

    def parse_args(  # type: ignore[override]
        self, args: list[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        """Read the words; SystemExit where they make no sense."""
        return self.parse_intermixed_args(args, namespace)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of `kettle config`."""
    parser = _Parser(
        description="Check a configuration: names that nothing reads, with the nearest knob; "
        "macros that nothing uses; values that a knob does not take; older spellings; paths "
        "where nothing is; policies that can never be true.",
        epilog="Exit code: 0, or 1 if there is an error (--strict: or a warning), 2 for a command "
        "line that makes no sense.",
    )
    parser.add_argument("action", choices=["check"])
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="the files that make up the configuration, in their order; of a folder its files "
        "(default: the pool's configuration)",
    )
    place.add_folder_option(parser)
    parser.add_argument("--strict", action="store_true", help="fail for warnings, too")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    return parser


def run(arguments: argparse.Namespace, environment: Mapping[str, str], streams: Streams) -> int:
    """Check and print; 1 if the configuration is not to be used."""
    if arguments.files and arguments.dir:
        raise UsageError("files and a pool cannot both be checked", hint="leave out --dir")
    files: list[str] = []
    findings: list[Finding] = []
    broken: list[ConfigError] = []
    try:
        config = (
            read_files(arguments.files, environment, broken.append)
            if arguments.files
            else read_pool(arguments.dir, environment, broken.append)
        )
        files, findings = config.files, check_config(config, find_site_faults)
    except ConfigError as error:
        if not error.line:
            raise
        broken.append(error)
    findings = [*map(broken_config, broken), *findings]
    if broken and files:
        order = {path: number for number, path in enumerate(files)}
        findings.sort(key=lambda found: (order.get(found.source, len(order)), found.line))
    code = 1 if is_bad(findings, strict=arguments.strict) else 0
    if arguments.json:
        facts = {"files": files, "findings": [to_json(finding) for finding in findings]}
        streams.stdout.write(json.dumps(facts, indent=2) + "\n")
        return code
    colour = place.may_colour(environment, streams)
    streams.stdout.write(render_findings(findings, colour=colour))
    streams.stdout.write(render_end(files, findings))
    return code


def read_files(names: list[str], environment: Mapping[str, str], tell: Tell) -> Config:
    """Return the configuration that files alone make up, without settings of the environment."""
    sources = RememberingSources()
    first, *more = expand_folders(names, sources)
    environment = {name: text for name, text in environment.items() if name[:8] != "_CONDOR_"}
    return load_config(sources, environment, subsystem="MASTER", root=first, more=more, tell=tell)


def read_pool(given: str | None, environment: Mapping[str, str], tell: Tell) -> Config:
    """Return the configuration of the pool that is meant; NotFoundError if there is none."""
    config = place.read_configuration(given, environment, tell)[1]
    if config is None:
        raise place.missing_pool(place.open_pool(given, environment))
    return config


def expand_folders(names: list[str], sources: Sources) -> list[str]:
    """Return the files in their order, those of folders by name; NotFoundError for what is not."""
    files: list[str] = []
    for name in names:
        try:
            if os.path.isdir(name):
                inside = (os.path.join(name, entry) for entry in sorted(os.listdir(name)))
                files += [path for path in inside if os.path.isfile(path)]
                continue
            sources.read_text(name)
            files.append(name)
        except OSError as error:
            raise NotFoundError(f"{name} cannot be read: {error.strerror}") from None
    if not files:
        raise NotFoundError(f"there is no file in {', '.join(names)}")
    return files


def render_end(files: list[str], findings: list[Finding]) -> str:
    """Return the last line: what was read, and how many findings there are."""
    number = f" in {len(files)} file{'' if len(files) == 1 else 's'}" if files else ""
    return f"{count_findings(findings)}{number}\n"
