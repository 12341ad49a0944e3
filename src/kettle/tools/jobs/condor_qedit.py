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
from kettle.classad.text import equals
from kettle.client.queue import Queue
from kettle.errors import ClassAdSyntaxError, RefusedError, UsageError
from kettle.patterns import late_pattern
from kettle.tools.options import Option, UnknownOptionError, choose_option, run_tool
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
    Option("addr", values=1),
    Option("forward"),
    Option("jobids", values=1),
    Option("owner", values=1),
    Option("constraint", values=1),
    Option("edits", values=1, qualified=True),
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
  -forward             tell shadows of running jobs at once

RESTRICTION
  CLUSTER              jobs of a cluster
  CLUSTER.PROC         one job
  OWNER                jobs of an owner
  -jobids LIST         jobs in the list
  -owner OWNER         jobs of an owner
  -constraint EXPR     jobs for which the expression is true

EDIT
  ATTRIBUTE EXPR       two words
  ATTRIBUTE=EXPR       one word
  -edits[:FORM] FILE   attributes of an ad in a file; FORM is auto, long, xml, json or new

Restrictions come first. Strings need their own quotes: condor_qedit 12 Foo '"text"'
"""
_ATTRIBUTE = late_pattern(r"[A-Za-z_][A-Za-z0-9_.]*")


@dataclass
class Wish:
    """Which jobs to edit, and how: `edits` maps names to expression texts."""

    ids: list[str] = field(default_factory=list)
    owner: str = ""
    constraints: list[str] = field(default_factory=list)
    edits: dict[str, str] = field(default_factory=dict)
    dry_run: bool = False
    reach: dict[str, str] = field(default_factory=dict)

    @property
    def restricted(self) -> bool:
        """Whether it has been said which jobs are meant."""
        return bool(self.ids or self.owner or self.constraints)

    def single_job(self) -> tuple[int, int] | None:
        """Return the job if it is one job and nothing else, else None."""
        if len(self.ids) == 1 and "." in self.ids[0] and not self.owner and not self.constraints:
            cluster, proc = self.ids[0].split(".")
            return int(cluster), int(proc)
        return None

    def constraint(self) -> str:
        """Return the expression that the jobs meant satisfy."""
        parts = []
        if self.ids:
            parts.append("(" + " || ".join(map(render_id, self.ids)) + ")")
        if self.owner:
            parts.append(f"({equals('Owner', self.owner)} )")
        parts += [f"({text})" for text in self.constraints]
        return "( " + " && ".join(parts) + " )"


def render_id(job: str) -> str:
    """Return the condition that a job id or cluster id stands for."""
    cluster, _, proc = job.partition(".")
    if proc:
        return f"(ClusterId == {cluster} && ProcId == {proc})"
    return f"ClusterId == {cluster} "


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_qedit`."""

    def act(wish: Wish, environment: Mapping[str, str], streams: Streams) -> int:
        wrong = find_wrong_edit(wish.edits)
        if wrong:
            streams.stderr.write(f"{wrong}\nTransaction failed.  No attributes were set.\n")
            return 1
        return edit(wish, Reach(environment, **wish.reach), streams)

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
    text = str(error)
    if isinstance(error, UnknownOptionError):
        text = f"unrecognized option {error.word}" + (f" ({error.hint})" if error.hint else "")
    said = f"condor_qedit : {text}\n" if text else ""
    return f"{said}{USAGE}"


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
                    raise UsageError(f"option {word} needs an argument")
                value = words[index]
                index += 1
            apply_option(wish, option.name, value, qualifiers)
        elif not wish.restricted or (not wish.edits and is_job_id(word)):
            add_restriction(wish, word)
        elif "=" in word and _ATTRIBUTE.fullmatch(word.partition("=")[0].strip()):
            name, _, text = word.partition("=")
            wish.edits[name.strip()] = text.strip()
        else:
            if index == len(words):
                raise UsageError(f"expression required after attribute {word}")
            wish.edits[word] = words[index]
            index += 1
    if not wish.restricted or not wish.edits:
        raise UsageError("")
    return wish


def apply_option(wish: Wish, name: str, value: str, form: str) -> None:
    """Add what an option says."""
    match name:
        case "dry-run":
            wish.dry_run = True
        case "name" | "pool":
            wish.reach[name] = value
        case "addr":
            wish.reach["address"] = value
        case "jobids":
            wish.ids += [part for part in re.split(r"[,\s]+", value) if part]
        case "owner":
            wish.owner = value
        case "constraint":
            wish.constraints.append(value)
        case "edits":
            wish.edits.update(read_edits(value, form))


def read_edits(path: str, form: str) -> dict[str, str]:
    """Return the attributes of the first ad in a file; raise UsageError."""
    del form  # every form is recognised by its first characters
    try:
        with open(path, encoding="utf-8") as file:
            ads = list(parse_ads(file.read()))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except ClassAdSyntaxError as error:
        raise UsageError(f"{path} holds no ad: {error}") from None
    return {name: text_of(ads[0], name) for name in ads[0].names()} if ads else {}


def text_of(ad: ClassAd, name: str) -> str:
    """Return an attribute's expression as text."""
    text = ad.text(name)
    assert text is not None
    return text


def is_job_id(word: str) -> bool:
    """Tell whether a word is a cluster or a job id (or a list of them)."""
    return re.fullmatch(r"\d+(\.\d+)?(,\d+(\.\d+)?)*", word) is not None


def add_restriction(wish: Wish, word: str) -> None:
    """Take a bare word that says which jobs: ids or an owner."""
    if is_job_id(word):
        wish.ids += word.split(",")
    else:
        wish.owner = word


def find_wrong_edit(edits: Mapping[str, str]) -> str:
    """Return why an edit cannot be, empty if all can."""
    for name, text in edits.items():
        if name.lower() in IMMUTABLE:
            return f'Update of immutable attribute "{name}" is not allowed.'
        try:
            parse_expression(text, old=True)
        except ClassAdSyntaxError:
            return f"Update aborted, illegal value for : {name}"
    return ""


def edit(wish: Wish, reach: Reach, streams: Streams) -> int:
    """Make the edits in one transaction; 1, and nothing changed, if one is refused."""
    job = wish.single_job()
    constraint = wish.constraint()
    said = []
    with Queue(reach.connector, reach.schedd().address) as queue:
        for name in sorted(wish.edits, key=str.lower):
            text = wish.edits[name]
            where = f"for job {wish.ids[0]}." if job else f"by constraint: {constraint}"
            try:
                count = set_one(queue, job, constraint, name, text)
            except RefusedError:
                streams.stderr.write(
                    f'Failed to set attribute "{name}" {where}\n'
                    "Queue transaction failed.  No attributes were set.\n"
                )
                return 1
            said.append(f'Set attribute "{name}" for {count} matching jobs.\n')
        if not wish.dry_run:
            queue.commit()
    streams.stdout.write("".join(said))
    return 0


def set_one(
    queue: Queue, job: tuple[int, int] | None, constraint: str, name: str, text: str
) -> int:
    """Set one attribute and return how many jobs it was set for; RefusedError if it may not be."""
    if job is not None:
        queue.set_attribute(*job, name, text)
        return 1
    return queue.set_where(constraint, name, text, flags=int(SetAttributeFlags.ONLY_MY_JOBS))
