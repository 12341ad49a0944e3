"""`condor_submit`: queue the jobs that a submit description makes, or show what they would be.

What a description means is `kettle.submit`; how jobs reach a schedd is `kettle.client.queue`, by
way of `submit_jobs` in `sending.py`. Here are the command line, the output and the exit
codes (vectors `submit/cases.json`, `tests/conformance/submit/`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING

from kettle.config import Config
from kettle.errors import KettleError, SubmitError, UsageError
from kettle.octets import AS_IS
from kettle.patterns import late_pattern
from kettle.runtime.storage.texts import read_stream, read_text
from kettle.structs import Struct, field
from kettle.submit.build import JobPlan, Submission, SubmitOptions, read_submission
from kettle.submit.reader import QUEUE
from kettle.tools.options import BriefError, Option, check_address, match_option, with_debugging
from kettle.tools.programs import Streams
from kettle.tools.submitting.sending import (
    Manner,
    Progress,
    render_proc,
    show_capabilities,
    submit_jobs,
    tell_absence,
    way_to_watch,
)

if TYPE_CHECKING:
    from typing import TextIO

    from kettle.tools.reach import Reach

USAGE = """\
Usage: condor_submit [options] [NAME=VALUE...] [FILE | -]
  -append LINE          add a line to the description, before its queue statement
  -batch-name NAME      show the jobs under this name
  -dry-run FILE         write the jobs' attributes to FILE (- for stdout), queue nothing
  -dump FILE            the same; says so as if the jobs were queued
  -capabilities         say what the schedd offers to submitters, and end
  -factory              let the schedd make the jobs as it needs them
  -interactive          run a shell in the job's place, once it runs
  -maxjobs N            refuse to make more than N jobs
  -name SCHEDD          submit to this schedd
  -address ADDRESS      submit to the schedd at this address
  -pool HOST            look for the schedd in this pool
  -remote SCHEDD        submit to this schedd and spool the files
  -queue WORDS...       the queue statement, up to the next option
  -spool                send the input files to the schedd
  -terse                print only the range of job ids
  -verbose              print the jobs' attributes
  -unused               say nothing of lines that nothing looks at; where
                        WARN_ON_UNUSED_SUBMIT_FILE_MACROS is false, warn of them
  -allow-crlf-script    warn of a script whose lines end as DOS's do; else it is refused
  -debug                say on stderr what is being done
  -disable, -single-cluster
                        taken and without effect: nothing is refused for its permissions, and
                        a description makes one cluster
  -help, -version
"""
OPTIONS = (
    Option("append", 1, 1),
    Option("address", 2, 1),
    Option("allow-crlf-script", 2),
    Option("batch-name", 1, 1),
    Option("capabilities", 3, qualified=True),
    Option("debug", 2, qualified=True),
    Option("disable", 3, ignored=True),
    Option("dry-run", 3, 1, qualified=True),
    Option("dump", 2, 1),
    Option("factory", 2),
    Option("file", 2, 1),
    Option("force-mpi-universe", 7, ignored=True),
    Option("generator", 1),
    Option("help", 1),
    Option("interactive", 1),
    Option("maxjobs", 3, 1),
    Option("name", 1, 1),
    Option("pool", 2, 1),
    Option("queue", 1),
    Option("remote", 1, 1),
    Option("single-cluster", 3, ignored=True),
    Option("spool", 1),
    Option("terse", 1),
    Option("unused", 1),
    Option("verbose", 1),
    Option("version", 4),
)
ASSIGNMENT = late_pattern(r"([^\s=]+)\s*=(.*)", re.DOTALL)
NAME = late_pattern(r"[A-Za-z_][A-Za-z0-9_.]*")
NO_FILE = """
ERROR: No submit filename was provided, and '{0}'
  was given as the output filename for -dump or -dry-run. Was this intended?
  To to avoid confusing the output file with the submit file when using these
  commands, an explicit submit filename argument must be given. You can use -
  as the submit filename argument to read from stdin."""


class Request(Struct):
    """What the command line asks for."""

    file: str = ""
    switches: set[str] = field(default_factory=set)
    values: dict[str, str] = field(default_factory=dict)
    appended: list[str] = field(default_factory=list)
    assignments: list[tuple[str, str]] = field(default_factory=list)
    queue: str | None = None
    # Of a dry run: whether each job is shown whole, and the number of its cluster.
    whole_ads: bool = False
    shows_digest: bool = False
    cluster: int = 1

    @property
    def dry_file(self) -> str:
        """Where a dry run writes to, empty if it is none."""
        return self.values.get("dry-run") or self.values.get("dump") or ""

    @property
    def is_spooled(self) -> bool:
        """Whether the files travel to the schedd."""
        return "spool" in self.switches or "remote" in self.values

    @property
    def is_terse(self) -> bool:
        """Whether only the range of jobs is said; what shows them whole wins."""
        return "terse" in self.switches and "verbose" not in self.switches

    @property
    def is_quiet(self) -> bool:
        """Whether the description comes by `-`, which shows each job and nothing else."""
        return self.file == "-" and not self.is_terse

    @property
    def is_verbose(self) -> bool:
        """Whether each job is shown whole."""
        return "verbose" in self.switches or self.is_quiet

    @property
    def is_factory(self) -> bool:
        """Whether the schedd is to make the jobs."""
        return bool({"factory", "generator"} & self.switches)

    @property
    def shows_dump(self) -> bool:
        """Whether what the jobs would be goes to standard output, by -dump: nothing else does."""
        return self.values.get("dump") == "-"

    def manner(self) -> Manner:
        """Return how the jobs are sent."""
        return Manner(
            verbose=self.is_verbose,
            terse=self.is_terse,
            quiet=self.is_quiet,
            is_factory=self.is_factory,
            schedd_words=tuple(
                word
                for option in ("name", "pool")
                if option in self.values
                for word in (f"-{option}", self.values[option])
            ),
        )

    def options(self, config: Config) -> SubmitOptions:
        """Return what changes how the description is read."""
        # No number, and none above zero, is no limit.
        most = int(self.values.get("maxjobs", "0"))
        return SubmitOptions(
            assignments=tuple(self.assignments),
            appended=tuple(self.appended),
            queue=self.queue,
            spooled=self.is_spooled,
            allow_many_queues=config.boolean("SUBMIT_PREVENT_MULTI_QUEUE") is False,
            batch_name=self.values.get("batch-name", ""),
            most_jobs=most if most > 0 else None,
            interactive="interactive" in self.switches,
            toggles_unused="unused" in self.switches,
            allows_dos_scripts="allow-crlf-script" in self.switches,
            is_factory=self.is_factory,
            first_of_later=bool(self.dry_file),
            checks_program="dump" not in self.values,
        )


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run the tool; 0, or 1 if nothing or not everything was queued."""
    try:
        request = parse_arguments(argv[1:])
        if not request.switches & {"help", "version"}:
            check_request(request)
    except UsageError as error:
        streams.stderr.write(f"{error.message}\n")
        return 1
    if "help" in request.switches:
        streams.stdout.write(USAGE)
        return 0
    if "version" in request.switches:
        from kettle.tools.configuration.condor_version import main as show_version

        return show_version(["condor_version"], environment, streams)
    from kettle.tools.reach import Reach

    named = request.values.get("name", request.values.get("remote", ""))
    try:
        reach = Reach(
            with_debugging(argv, environment),
            # A pool alone does not name a schedd: the own one is meant then.
            pool=request.values.get("pool", "") if named else "",
            name=named,
            address=request.values.get("address", ""),
            subsystem="SUBMIT",
        )
    except KettleError as error:
        streams.stderr.write(f"{error}\n")
        return 1
    return submit(request, reach, environment, streams)


def check_request(request: Request) -> None:
    """Raise UsageError for a command line that cannot be meant."""
    if request.dry_file and not request.file and "interactive" not in request.switches:
        raise UsageError(NO_FILE.format(request.dry_file))
    if address := request.values.get("address"):
        check_address("condor_submit", address, form="ip:port")


def submit(request: Request, reach: Reach, environment: Mapping[str, str], streams: Streams) -> int:
    """Queue the jobs, or write what they would be; the exit code."""
    # As in the reference the schedd comes before the description; a dry run needs none.
    try:
        schedd = reach.schedd() if needs_schedd(request) else None
    except KettleError as error:
        streams.stderr.write(tell_absence(reach, error))
        return 1
    if "capabilities" in request.switches and schedd is not None:
        return show_capabilities(reach, schedd, streams)
    if request.is_factory and "interactive" in request.switches:
        streams.stderr.write("\nERROR: Interactive jobs cannot be materialized late\n")
        return 1
    text = read_description(request, streams)
    if text is None:
        return 1
    submission = prepare(text, request, reach.config, environment, streams)
    if schedd is None or request.dry_file:
        return run_dry(submission, request, streams)
    return submit_jobs(reach, schedd, submission, request.manner(), streams)


def needs_schedd(request: Request) -> bool:
    """Whether a schedd has to be found: for what is queued, and for a dry run that names one."""
    if not request.dry_file:
        return True
    return "dry-run" in request.values and bool({"name", "remote"} & request.values.keys())


def parse_arguments(words: list[str]) -> Request:
    """Read the command line; raise UsageError, with the usage for an option that does not exist."""
    request = Request()
    position = 0
    while position < len(words):
        word = words[position]
        position += 1
        if not word.startswith("-") or word == "-":
            _read_word(word, request)
            continue
        option = next((one for one in OPTIONS if match_option(word, one) is not None), None)
        if option is None:
            # Behind the usage, which would push it out of sight.
            raise UsageError(f"{USAGE}\ncondor_submit: unknown option {word}")
        if option.name == "queue":
            taken = list(takewhile(lambda word: word == "-" or word[:1] != "-", words[position:]))
            if not taken:
                raise BriefError("condor_submit: -queue requires at least one argument")
            _take_queue(" ".join(taken), request)
            position += len(taken)
            continue
        if not option.values:
            _take_switch(option.name, request)
            continue
        value = _next_word(option.name, words[position:])
        _read_option(option.name, match_option(word, option) or "", value, request)
        position += 1
    return request


def _take_queue(text: str, request: Request) -> None:
    """Take a queue statement, by -queue or -append: there is one at most."""
    if request.queue is not None:
        raise BriefError("condor_submit: only one -queue command allowed")
    request.queue = text


def _next_word(name: str, rest: list[str]) -> str:
    """Return the word behind an option; the file of a dry run is no other option."""
    if not rest or (name == "dry-run" and rest[0][:1] == "-" != rest[0]):
        raise UsageError(f"condor_submit: -{name} requires another argument")
    return rest[0]


def _take_switch(name: str, request: Request) -> None:
    """Note an option that stands for itself; of these two the last one counts."""
    if name in {"terse", "verbose"}:
        request.switches -= {"terse", "verbose"}
    request.switches.add(name)


def _read_option(name: str, qualifiers: str, value: str, request: Request) -> None:
    """Take an option's value; `qualifiers` is what stands behind the colon in its name."""
    if name == "append":
        statement = QUEUE.match(value)
        if statement is not None:
            _take_queue(statement.group(1) or "", request)
        else:
            request.appended.append(value)
        return
    if name == "file":
        request.file = value
        return
    if name == "maxjobs":
        if not re.fullmatch(r"\s*[+-]?\d{1,18}", value, re.ASCII):
            raise UsageError(
                f"Error: Unable to convert argument ({value}) to a number for -maxjobs."
            )
        if int(value) < -1:
            raise UsageError(f"Error: {int(value)} is not a valid for -maxjobs.")
    other = {"dump": "dry-run", "dry-run": "dump"}.get(name)
    if other in request.values:
        raise UsageError(
            f"condor_submit: -{name} <file> and -{other} <file> cannot be used together"
        )
    if name == "dry-run":
        _read_dry_words(qualifiers, request)
    request.values[name] = value


def _read_dry_words(words: str, request: Request) -> None:
    """Read what stands behind `-dry-run:`.

    Compat: hash, template and jobset, which show the reference's own tables (a described set of
    jobs even unasked, with an address in its memory), are unknown
    (test_a_dry_run_can_show_whole_ads_of_another_cluster). Of a cluster the number counts with
    which it begins, as in the reference, whose scripts say the name of a file there.
    """
    for word in re.split(r"[,\s]+", words.strip()) if words else ():
        if word == "full":
            request.whole_ads = True
        elif word == "digest":
            request.shows_digest = True
        elif numbered := re.match(r"cluster=(\d{0,9})", word):
            request.cluster = max(1, int(numbered[1] or 0))
        elif not re.fullmatch(r"def|oauth=\d+", word):
            raise UsageError(f"unknown option {word} for -dry-run:<opts>")


def _read_word(word: str, request: Request) -> None:
    assignment = ASSIGNMENT.fullmatch(word)
    if assignment is None:
        request.file = word
        return
    name, value = assignment.groups()
    if not NAME.fullmatch(name):
        raise UsageError(
            f"condor_submit: invalid attribute name '{name}' for attrib=value assigment"
        )
    request.assignments.append((name, value.strip()))


def read_description(request: Request, streams: Streams) -> str | None:
    """Return the description's text; None after telling that there is none."""
    if not request.file and "interactive" in request.switches:
        from kettle.submit.interactive import DEFAULT_DESCRIPTION

        return DEFAULT_DESCRIPTION
    if not request.file and request.queue is not None and (request.appended or request.assignments):
        # The command line says all of it.
        return ""
    if request.file in ("", "-"):
        return read_stream(streams.stdin, "(stdin)", newline="\n")
    try:
        return read_text(request.file, newline="\n")
    except OSError as error:
        streams.stderr.write(
            f"\nERROR: Failed to open command file ({request.file}) ({error.strerror})\n"
        )
        return None


def prepare(
    text: str, request: Request, config: Config, environment: Mapping[str, str], streams: Streams
) -> Submission:
    """Return the submission that a text describes; nothing of it is looked at yet."""
    from kettle.client.submit_sources import SystemSubmitSources, read_facts

    facts = read_facts(config, environment, request.file or "-")
    facts.cluster = request.cluster
    sources = SystemSubmitSources(
        None if request.file in ("", "-") else lambda: read_stream(streams.stdin, "standard input")
    )
    return read_submission(text, sources, config, facts, request.options(config))


def run_dry(submission: Submission, request: Request, streams: Streams) -> int:
    """Write what the jobs would be; 1 if one of them cannot be made."""
    dumped = "dump" in request.values
    words = ("job ClassAd(s)", "Storing", "submitted")
    if not dumped:
        words = ("job(s)", "Dry-Run", "dry-run")
    show = Progress(streams, words[1], words[2], terse=request.is_terse)
    # What stores tells that it does, even if the description came by `-`.
    show.quiet = request.is_quiet and not dumped
    show.silent = request.shows_dump
    show.by_dash, show.verbose = request.is_quiet, request.is_verbose
    show.what = words[0]
    show.begin()
    if request.dry_file == "-":
        write: Callable[[str], object] = streams.stdout.write
        return write_dry(submission, request, show, write)
    try:
        if request.whole_ads:
            # These are written when all is said.
            ads: list[str] = []
            code = write_dry(submission, request, show, ads.append)
            if not code:
                with open(request.dry_file, "w", encoding="utf-8", errors=AS_IS) as file:
                    file.writelines(ads)
            return code
        # A description that cannot be read leaves no file, but where jobs are stored in one.
        with LateFile(request.dry_file) as late:
            if dumped:
                late.write("")
            code = write_dry(submission, request, show, late.write)
            if not code:
                late.write("")
            return code
    except OSError as error:
        what = "file to dump ClassAds into" if dumped else "file -dry-run output file"
        streams.stderr.write(f"\nERROR: Failed to open {what} ({error.strerror})\n")
        return 1


class LateFile:
    """A file that is made when something is written, once for all jobs."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file: TextIO | None = None

    def __enter__(self) -> LateFile:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def write(self, text: str) -> None:
        """Write at the end; raises OSError where there can be no such file."""
        if self._file is None:
            self._file = open(  # noqa: SIM115 - closed by whoever closes this
                self._path, "w", encoding="utf-8", errors=AS_IS
            )
        self._file.write(text)


def write_dry(
    submission: Submission, request: Request, show: Progress, write: Callable[[str], object]
) -> int:
    """Write each job's attributes; the first one with the cluster's."""
    whole: list[str] = []
    try:
        for job in submission.jobs():
            if submission.is_factory:
                _write_factory(submission, request, job, show, write)
                continue
            if request.whole_ads:
                whole.append(whole_ad(submission, job))
                show.tell(submission, job.proc)
                _show_one(submission, request, job, show)
                continue
            write("\n")
            # What goes wrong is told where the job begins.
            show.tell(submission, job.proc)
            if job.proc == 0:
                write(_cluster_lines(submission))
            write(own_attributes(job))
            _show_one(submission, request, job, show)
    except SubmitError as error:
        if _ends_line(submission, request, show, error):
            write("\n")
        show.fail(submission, error)
        return 1
    is_shown = "dump" in request.values and not (show.terse or show.silent or show.verbose)
    show.end(submission, request.cluster, way=way_to_watch(1) if is_shown and show.count else "")
    if request.whole_ads:
        # Also where there are none: a schedd would make the jobs.
        write("".join(f"\n{text}" for text in whole) or "\n")
    return 0


def _ends_line(
    submission: Submission, request: Request, show: Progress, error: SubmitError
) -> bool:
    """Whether the line that grows ends before a complaint.

    It does before a job's attributes, also when none follow; but a line of the description that
    means nothing is told of at once.
    """
    if not show.count:
        return not error.line and not request.whole_ads
    is_plain = not (submission.is_factory or request.whole_ads)
    return submission.is_making and is_plain


def _show_one(submission: Submission, request: Request, job: JobPlan, show: Progress) -> None:
    """Show that there is one more job, or all of it."""
    if show.verbose and not show.silent:
        show.streams.stdout.write(show_whole(submission, request, job))
    show.one()


def _cluster_lines(submission: Submission) -> str:
    """Return the attributes that all jobs share, one on a line."""
    ordered = sorted(submission.cluster, key=lambda one: _place(one[0]))
    return "".join(f"{name}={text}\n" for name, text in ordered)


def _write_factory(
    submission: Submission,
    request: Request,
    job: JobPlan,
    show: Progress,
    write: Callable[[str], object],
) -> None:
    """Write what a schedd would make its jobs of; the first one was made for that."""
    from kettle.submit.digest import digest_lines, render_digest

    statement = submission.statement
    assert statement is not None
    if not request.whole_ads:
        write("\n")
    # Also where it is not shown: what it mentions is no typing error.
    submission.digest_lines = digest_lines(submission, statement)
    if request.shows_digest:
        text = render_digest(submission, statement, statement.source)
        show.streams.stdout.write(f"\n----- submit digest -----\n{text}-----\n")
    show.tell(submission, job.proc)
    if not request.whole_ads:
        write(_cluster_lines(submission))
    show.count = statement.job_count()


def show_whole(submission: Submission, request: Request, job: JobPlan) -> str:
    """Return what a dry run says of each job where they are to be shown whole."""
    ad = job.differences.to_ad(submission.cluster_ad())
    ad["ClusterId"], ad["ProcId"], ad["JobStatus"] = request.cluster, job.proc, job.status
    return render_proc(ad)


def _place(name: str) -> tuple[bool, int, str]:
    """Sort attributes as the reference does: a cluster's number, then short names first."""
    lower = name.lower()
    return lower != "clusterid", len(name), lower


def whole_ad(submission: Submission, job: JobPlan) -> str:
    """Return all that a job's ad will hold, by name."""
    own = {"ProcId": str(job.proc), "JobStatus": job.status, **dict(job.differences)}
    hidden = {name.lower() for name in own}
    shared = {name: text for name, text in submission.cluster if name.lower() not in hidden}
    ordered = sorted((shared | own).items(), key=lambda one: one[0].lower())
    return "".join(f"{name} = {text}\n" for name, text in ordered)


def own_attributes(job: JobPlan) -> str:
    """Return the attributes that a job has for itself, one on a line, as a cluster's are."""
    texts = job.differences.texts
    lines = [f"ProcId={job.proc}\nJobStatus={job.status}\n"]
    for key in _order(tuple(texts)):
        name, text = texts[key]
        lines.append(f"{name}={text}\n")
    return "".join(lines)


@lru_cache(maxsize=64)
def _order(names: tuple[str, ...]) -> list[str]:
    """Return names in the order that is shown; those of a cluster's jobs are mostly the same."""
    return sorted(names, key=_place)
