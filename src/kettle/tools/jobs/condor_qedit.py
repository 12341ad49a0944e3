"""`condor_qedit`: change attributes of jobs in the queue.

First restrictions say which jobs, then edits say what. A single job's edits are set one by one,
anything else by constraint; all of them in one transaction, so that nothing is half done. Texts
are the reference's (tests/cli/test_condor_qedit.py has the recorded ones).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kettle.classad import ClassAd, parse_ads, parse_expression
from kettle.classad.unparse import render_value
from kettle.client.queue import Queue
from kettle.errors import (
    ClassAdSyntaxError,
    NotFoundError,
    RefusedError,
    Unreached,
    UsageError,
)
from kettle.patterns import late_pattern
from kettle.runtime.storage.texts import LARGEST_ADS, read_text
from kettle.tools.options import (
    BriefError,
    Option,
    UnknownOptionError,
    choose_option,
    run_tool,
    tell_more,
)
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach
from kettle.wire.messages.qmgmt import SetAttributeFlags

OPTIONS = (
    Option("help"),
    Option("version"),
    Option("debug", qualified=True),
    Option("dry-run", shortest=3),
    Option("name", values=1),
    Option("pool", values=1),
    Option("addr", 2, 1),
    Option("forward", 3),
    Option("jobids", values=1),
    Option("owner", values=1),
    Option("constraint", values=1),
    Option("edits", 2, 1, qualified=True),
)
# What no user may change; the schedd refuses these as well.
IMMUTABLE = frozenset(
    {"owner", "user", "osuser", "clusterid", "procid", "jobuniverse", "mytype", "targettype"}
)
USAGE = """\
Usage: condor_qedit [OPTIONS] RESTRICTION… EDIT…

OPTIONS
  -help                show this and end
  -version             show the version and end
  -debug               say more about what is being done
  -dry-run             say whether the edit is allowed, change nothing
  -name NAME           edit at this schedd
  -pool HOST           ask this pool's collector where the schedd is
  -addr ADDRESS        edit at the schedd with this address
  -forward             mark what is changed for shadows and grid managers that ask for it

RESTRICTION
  CLUSTER              jobs of a cluster
  CLUSTER.PROC         one job
  OWNER                jobs of an owner
  -jobids LIST         jobs in the list
  -owner OWNER         jobs of an owner
  -constraint EXPR     jobs for which the expression is true
A cluster that makes its jobs later is edited, too, unless -constraint or CLUSTER.PROC is said.

EDIT
  ATTRIBUTE EXPR       two words
  ATTRIBUTE=EXPR       one word
  -edits[:FORM] FILE   attributes of an ad in a file; FORM is auto, long, xml, json or new

Restrictions come first. Strings need their own quotes: condor_qedit 12 Foo '"text"'
"""
_ATTRIBUTE = late_pattern(r"[A-Za-z_][A-Za-z0-9_]*")
# What an option is said to need.
_NEEDS = {
    "name": "a SCHEDD name as an argument",
    "pool": "a HTCondor collector name or address as an argument",
    "addr": "an address as an argument",
    "constraint": "a ClassAd expression an argument",
    "owner": "a owner name argument",
    "jobids": "a list of job ids as an argument",
    "edits": "a filename as an argument",
}


@dataclass
class Wish:
    """Which jobs to edit, and how: `edits` maps names to expression texts."""

    ids: list[str] = field(default_factory=list)
    owner: str = ""
    constraints: list[str] = field(default_factory=list)
    edits: dict[str, str] = field(default_factory=dict)
    dry_run: bool = False
    # Whether the changes are marked for those who have read the job already.
    forward: bool = False
    # Why an edit cannot be; what stands behind it was not read.
    fault: UsageError | None = None
    reach: dict[str, str] = field(default_factory=dict)

    @property
    def restricted(self) -> bool:
        """Whether it has been said which jobs are meant."""
        return bool(self.ids or self.owner or self.constraints)

    def single_jobs(self) -> list[tuple[int, int]]:
        """Return the jobs if each is named by its whole id and nothing else is said; else none."""
        if self.owner or self.constraints or not all("." in word for word in self.ids):
            return []
        pairs = (word.split(".") for word in self.ids)
        return sorted({(int(cluster), int(proc)) for cluster, proc in pairs})

    def flags(self) -> int:
        """Return how jobs are edited: one's own only; whole clusters with their later jobs."""
        flags = int(SetAttributeFlags.ONLY_MY_JOBS) | self.mark()
        if not self.constraints and not any("." in word for word in self.ids):
            flags |= SetAttributeFlags.POST_SUBMIT_CLUSTER_CHANGE
        return flags

    def mark(self) -> int:
        """Return the flag with which the schedd keeps in mind what has changed; 0 without it."""
        return int(SetAttributeFlags.MARK_DIRTY) if self.forward else 0

    def constraint(self) -> str:
        """Return the expression that the jobs meant satisfy."""
        parts = []
        if self.ids:
            parts.append("(" + "|| ".join(map(_render_word, self.ids)) + ")")
        if self.owner:
            parts.append(f"(Owner=={render_value(self.owner)})")
        parts += [f"({text})" for text in self.constraints]
        return "( " + " && ".join(parts) + " )"


def _render_word(job: str) -> str:
    """Return the condition that an id stands for, spaced as the reference does."""
    cluster, _, proc = job.partition(".")
    if proc:
        return f"( ClusterId == {cluster} && ProcId == {proc} )"
    return f"ClusterId == {cluster} "


def render_id(job: str) -> str:
    """Return the condition that a job id or cluster id stands for."""
    cluster, _, proc = job.partition(".")
    if proc:
        return f"(ClusterId == {cluster} && ProcId == {proc})"
    return f"ClusterId == {cluster} "


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_qedit`."""

    def act(wish: Wish, environment: Mapping[str, str], streams: Streams) -> int:
        fault = wish.fault or find_fault(wish.edits)
        if fault is not None:
            streams.stderr.write(f"{fault}\nTransaction failed.  No attributes were set.\n")
            tell_more(fault, streams.stderr)
            return 1
        try:
            return edit(wish, find_schedd(wish, environment), streams)
        except Unreached as error:
            streams.stderr.write(f"Failed to connect to queue manager {error.address}\n")
            return 1

    return run_tool(
        argv,
        environment,
        streams,
        usage=USAGE,
        read_wish=read_wish,
        act=act,
        complain=_complain,
        prefix="condor_qedit: ",
    )


def _complain(error: UsageError) -> str:
    if isinstance(error, UnknownOptionError):
        return f"condor_qedit: {error.word} is not a valid option\n{USAGE}"
    said = f"condor_qedit : {error}\n" if str(error) else ""
    return f"{said}{USAGE}"


def find_schedd(wish: Wish, environment: Mapping[str, str]) -> Reach:
    """Return the way to the schedd that is meant; BriefError if the collector knows none.

    -pool alone changes nothing: this host's schedd is asked, as in the reference.
    """
    reach = Reach(environment, **wish.reach)
    name = wish.reach.get("name")
    if not name:
        near = reach.without_pool()
        try:
            found = near.schedd()
        except (NotFoundError, Unreached):
            raise BriefError("condor_qedit: ERROR: Can't find address of local schedd") from None
        return Reach(environment, address=str(found.address))
    try:
        found = reach.schedd()
    except (NotFoundError, Unreached):
        pool = wish.reach.get("pool", "local")
        raise BriefError(f"condor_qedit: No such schedd named {name} in {pool} pool") from None
    return Reach(environment, address=str(found.address))


def read_wish(words: Sequence[str]) -> Wish:
    """Return what the command line asks for.

    Raises Asked where help or the version is wanted, UsageError for what makes no sense: without
    text where the usage says it all.
    """
    wish = Wish()
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        if word.startswith("-"):
            option, qualifiers = choose_option(word, OPTIONS)
            value = ""
            if option.values:
                if index == len(words):
                    raise BriefError(f"condor_qedit: {word} requires {_NEEDS[option.name]}")
                value = words[index]
                index += 1
            apply_option(wish, option.name, value, qualifiers)
        elif not wish.restricted:
            add_restriction(wish, word)
            # Behind an id whatever begins as one does is none of the edits.
            while wish.ids and index < len(words) and words[index][:1].isdecimal():
                add_restriction(wish, words[index])
                index += 1
        else:
            name, equal, text = word.partition("=")
            if not equal:
                if index == len(words):
                    raise UsageError(f"expression required after attribute {word}")
                text = words[index]
                index += 1
            wish.fault = _find_fault(name.strip(), text.strip())
            if wish.fault is not None:
                return wish
            wish.edits[name.strip()] = text.strip()
    if not wish.edits:
        raise UsageError("Error - no attributes specifed." if wish.restricted else "")
    if not wish.restricted:
        raise UsageError(_NO_JOBS)
    return wish


_NO_JOBS = (
    "Error - there were no jobs specified.\n"
    "\tuse -constraint, jobid or owner argument to indicate which jobs to edit"
)


def _find_fault(name: str, text: str) -> UsageError | None:
    """Return why a pair of words is no edit, None if it is one."""
    if not _ATTRIBUTE.fullmatch(name):
        said = f'Update aborted, illegal attribute-name specified for attribute "{name}".'
        return UsageError(said)
    try:
        parse_expression(text, old=True)
    except ClassAdSyntaxError as error:
        fault = UsageError(f"Update aborted, illegal value for : {name}")
        fault.__cause__ = error
        return fault
    return None


def apply_option(wish: Wish, name: str, value: str, form: str) -> None:
    """Add what an option says."""
    match name:
        case "dry-run" | "forward":
            setattr(wish, name.replace("-", "_"), True)
        case "name" | "pool":
            wish.reach[name] = value
        case "addr":
            wish.reach["address"] = value
        case "jobids":
            wish.ids += _read_ids(value)
        case "owner":
            wish.owner = value
        case "constraint":
            try:
                parse_expression(value, old=True)
            except ClassAdSyntaxError as error:
                raise BriefError(f"condor_qedit: invalid constraint: {value}") from error
            wish.constraints.append(value)
        case "edits":
            wish.edits.update(read_edits(value, form))


def _read_ids(text: str) -> list[str]:
    """Return the jobs and clusters of a list.

    Compat: the reference takes a word that is no id for job 0.0 (test_condor_qedit).
    """
    ids = [part for part in re.split(r"[,\s]+", text) if part]
    wrong = next((part for part in ids if not is_job_id(part)), None)
    if wrong is not None:
        raise BriefError(f"condor_qedit: {wrong} is not a job id")
    return [each.rstrip(".") for each in ids]


def read_edits(path: str, form: str) -> dict[str, str]:
    """Return the attributes of the first ad in a file; raise UsageError."""
    del form  # every form is recognised by its first characters
    try:
        ads = list(parse_ads(read_text(path, limit=LARGEST_ADS)))
    except OSError:
        raise BriefError(f"Can't open file of edits: {path}") from None
    except ClassAdSyntaxError as error:
        raise BriefError(f"Unable to read file of edits: {path}: {error}") from error
    if not ads:
        raise BriefError(f"Unable to read file of edits: {path}")
    return {name: text_of(ads[0], name) for name in ads[0].names()}


def text_of(ad: ClassAd, name: str) -> str:
    """Return an attribute's expression as text."""
    text = ad.text(name)
    assert text is not None
    return text


def is_job_id(word: str) -> bool:
    """Tell whether a word is a cluster or a job id (or a list of them)."""
    return re.fullmatch(r"[0-9]+(\.[0-9]*)?(,[0-9]+(\.[0-9]*)?)*", word) is not None


def add_restriction(wish: Wish, word: str) -> None:
    """Take a bare word that says which jobs: ids or an owner."""
    if is_job_id(word):
        wish.ids += [each.rstrip(".") for each in word.split(",")]
    else:
        wish.owner = word


def find_fault(edits: Mapping[str, str]) -> UsageError | None:
    """Return why an edit cannot be, None if all can."""
    for name, text in edits.items():
        if name.lower() in IMMUTABLE:
            return UsageError(f'Update of immutable attribute "{name}" is not allowed.')
        fault = _find_fault(name, text)
        if fault is not None:
            return fault
    return None


def edit(wish: Wish, reach: Reach, streams: Streams) -> int:
    """Make the edits in one transaction; 1, and nothing changed, if one is refused."""
    jobs = wish.single_jobs()
    constraint = wish.constraint()
    said = []
    with Queue(reach.connector, reach.schedd().address) as queue:
        able = "Can " if wish.dry_run else ""
        for name in sorted(wish.edits, key=str.lower):
            text = wish.edits[name]
            where = f"by constraint: {constraint}"
            count = 0
            try:
                for job in jobs:
                    where = f"for job {job[0]}.{job[1]}."
                    queue.set_attribute(*job, name, text, flags=wish.mark())
                if not jobs:
                    count = queue.set_where(constraint, name, text, flags=wish.flags())
            except RefusedError:
                streams.stderr.write(
                    f'Failed to set attribute "{name}" {where}\n'
                    "Queue transaction failed.  No attributes were set.\n"
                )
                return 1
            said.append(f'{able}Set attribute "{name}" for {len(jobs) or count} matching jobs.\n')
        if not wish.dry_run:
            queue.commit()
    streams.stdout.write("".join(said))
    return 0
