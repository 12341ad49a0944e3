"""`kettle submit check`: what a submit description would do, with nothing queued.

What is looked for is `kettle.submit.check`'s; here are the file, the drawing and the exit code.
No schedd is asked.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping

from kettle.client.queue import check_universe
from kettle.client.submit_sources import SystemSubmitSources, read_facts
from kettle.config import Config, load_config
from kettle.config.finding import is_bad
from kettle.errors import NotFoundError, UsageError
from kettle.runtime.storage.files import SystemSources
from kettle.runtime.storage.texts import read_stream, read_text
from kettle.submit.build import SubmitOptions, read_submission
from kettle.submit.check import Report
from kettle.submit.check_again import check_description
from kettle.tools.front import place
from kettle.tools.front.findings import count_findings, paint, render_findings, to_json, visible
from kettle.tools.programs import Streams

_UNITS = ("B", "KB", "MB", "GB", "TB", "PB")


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of `kettle submit`."""
    parser = argparse.ArgumentParser(
        description="Say what a submit description would do: its jobs, what they ask for, which "
        "input files are found or missing, and what is wrong with it. Nothing is queued.",
        epilog="Exit code: 0, or 1 if there is an error (--strict: or a warning), 2 for a command "
        "line that makes no sense. condor_submit -dry-run shows the jobs' attributes.",
    )
    parser.add_argument("action", choices=["check"])
    parser.add_argument("file", metavar="FILE", help="the description; - is standard input")
    parser.add_argument(
        "values",
        nargs="*",
        metavar="NAME=VALUE",
        help="set before the description is read, as condor_submit takes it",
    )
    place.add_folder_option(parser)
    parser.add_argument("--strict", action="store_true", help="fail for warnings, too")
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")
    return parser


def run(arguments: argparse.Namespace, environment: Mapping[str, str], streams: Streams) -> int:
    """Check and print; 1 if the description is not to be submitted."""
    config = read_config(arguments.dir, environment)
    text = read_description(arguments.file, streams)
    facts = read_facts(config, environment, arguments.file)
    sources = SystemSubmitSources(None if arguments.file == "-" else streams.stdin.read)
    options = SubmitOptions(
        assignments=tuple(read_assignment(word) for word in arguments.values),
        allow_many_queues=config.boolean("SUBMIT_PREVENT_MULTI_QUEUE") is False,
    )
    report = check_description(
        lambda text: read_submission(text, sources, config, facts, options),
        text,
        check_universe,
    )
    if arguments.json:
        streams.stdout.write(json.dumps(report_json(report), indent=2) + "\n")
    else:
        colour = place.may_colour(environment, streams)
        streams.stdout.write(render_report(report, arguments.file, colour=colour))
    return 1 if is_bad(report.findings, strict=arguments.strict) else 0


def read_assignment(word: str) -> tuple[str, str]:
    """Return the name and the value of a NAME=VALUE of the command line."""
    name, equals, value = word.partition("=")
    name = name.strip()
    name = f"MY.{name[1:]}" if name.startswith("+") else name
    if not equals or not re.fullmatch(r"[A-Za-z0-9_./]+", name):
        raise UsageError(f"{word} is not NAME=VALUE")
    return name, value.strip()


def read_config(given: str | None, environment: Mapping[str, str]) -> Config:
    """Return the configuration with which it would be submitted: the pool's, else the defaults."""
    if not place.is_configured(given, environment):
        pool = place.open_pool(given, environment)
        named = given or "KETTLE_DIR" in environment
        if named and not pool.exists():
            raise place.missing_pool(pool)
        root = pool.config_file if pool.exists() else "ONLY_ENV"
        environment = {**environment, "CONDOR_CONFIG": root}
    return load_config(SystemSources(), environment, subsystem="SUBMIT")


def read_description(name: str, streams: Streams) -> str:
    """Return the description; NotFoundError if it cannot be read."""
    try:
        if name == "-":
            return read_stream(streams.stdin, name, newline="\n")
        return read_text(name, newline="\n")
    except OSError as error:
        raise NotFoundError(f"{name} cannot be read: {error.strerror}") from None


def report_json(report: Report) -> Mapping[str, object]:
    """Return a report as JSON has it."""
    return {
        "jobs": report.jobs,
        "universe": report.universe,
        "program": report.program,
        "requests": report.requests,
        "inputs": [
            {
                "path": file.path,
                "command": file.command,
                "found": file.is_found,
                "folder": file.is_directory,
                "bytes": file.size_bytes,
            }
            for file in report.inputs
        ],
        "urls": report.urls,
        "bytes_of_a_job": report.most_bytes,
        "bytes_of_all": report.total_bytes,
        "findings": [to_json(finding) for finding in report.findings],
    }


def render_report(report: Report, name: str, *, colour: bool) -> str:
    """Return what it would do, a line for each thing, and the findings below."""
    rows = [("jobs", f"{report.jobs} in one cluster" if report.jobs else "none")]
    if report.program:
        rows.append(("program", f"{report.program} ({report.universe} universe)"))
    asks = [f"{name.removeprefix('Request')} {text}" for name, text in report.requests.items()]
    if asks:
        rows.append(("each asks", ", ".join(asks)))
    if report.inputs or report.urls:
        rows.append(("inputs", describe_inputs(report)))
    width = max(len(title) for title, _ in rows)
    lines = [paint(visible(name), "1", colour=colour)]
    lines += [f"  {title:<{width}}  {visible(text)}" for title, text in rows]
    text = "".join(f"{line}\n" for line in lines)
    found = render_findings(report.findings, colour=colour, below=name)
    return f"{text}{found}{count_findings(report.findings)}\n"


def describe_inputs(report: Report) -> str:
    """Return how many input files there are, how large they are, and how many are missing."""
    missing = len(report.missing)
    found = len(report.inputs) - missing
    parts = [f"{found} found", f"{missing} missing"] if missing else [f"{found} found"]
    if report.urls:
        parts.append(f"{report.urls} URL{'' if report.urls == 1 else 's'}")
    size = render_size(report.most_bytes)
    return f"{', '.join(parts)}; {size} for a job, {render_size(report.total_bytes)} for all"


def render_size(number: float) -> str:
    """Return a number of bytes in the unit that suits it."""
    for unit in _UNITS[:-1]:
        if number < 1024:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:.1f} {_UNITS[-1]}"
