"""What the administrator says of new jobs: how they are changed, and what they have to be.

JOB_TRANSFORM_NAMES and SUBMIT_REQUIREMENT_NAMES. Every new job is changed by the rules that apply
to it, in order, and then has to meet every requirement, or the whole submission is refused. Edits
of jobs that are in the queue are neither. A cluster that makes its jobs later is changed and
looked at as such, and so is every job that it makes.
Source: the manual, knobs of these names; observed of a real schedd (messages, and what it stores).
"""

from __future__ import annotations

import errno
import itertools
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kettle.classad import ClassAd, Expr
from kettle.classad.nodes import (
    AdNode,
    AttributeReference,
    Call,
    Literal,
    Selection,
    children,
)
from kettle.classad.text import quote_line
from kettle.errors import ConfigError, RefusedError, TransformError
from kettle.schedd.queue.job_ids import CLUSTER_PROC, key_of, parse_key
from kettle.schedd.queue.within import within
from kettle.submit.job import split_at_commas
from kettle.transforms.configured import macros_of, read_rules
from kettle.transforms.scopes import with_scope
from kettle.transforms.source import Transform

if TYPE_CHECKING:
    from kettle.config import Config
    from kettle.schedd.queue.transaction import Transaction
    from kettle.transforms.macros import TransformMacros
    from kettle.transforms.source import Rule

# What the reference's commit fails with, beside the reason.
NOT_APPLIED = "Failed to apply a required job transform.\n"
# Limit: warnings of one submission that are sent on.
MOST_WARNINGS = 100
# Limit: the time that the rules may take for one submission, and more of it for each job. A rule
# takes some 0.1 ms; what a submitter writes may take 0.3 s at every look.
MOST_SECONDS = 5.0
SECONDS_A_JOB = 0.01
# Names of jobs' attributes that are looked at in one step.
_NAMES_A_STEP = 10_000
# Which attributes of a cluster were edited after its submission: these hold for jobs that are made
# later, too, whatever the digest says.
EDITED = "EditedClusterAttrs"
# A job's own, whatever a rule says.
_NOT_CHANGED = frozenset(("procid",))


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition of every new job; `reason` says in its own words why one is refused."""

    name: str
    condition: Expr
    reason: Expr | None = None
    is_warning: bool = False


def _no_macros() -> TransformMacros:
    raise AssertionError("there are no rules")


@dataclass(frozen=True, slots=True)
class JobRules:
    """All of it, as one configuration says it.

    `problems` is what is wrong with it, for the log. `of_made_jobs` is whether jobs that are made
    later are changed like all others, or only their cluster.
    """

    transforms: tuple[Rule, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    problems: tuple[str, ...] = ()
    of_made_jobs: bool = True
    macros: Callable[[], TransformMacros] = field(default=_no_macros, compare=False)

    def __bool__(self) -> bool:
        return bool(self.transforms or self.requirements)


def read_job_rules(config: Config, *, of_made_jobs: bool) -> JobRules:
    """Take the rules from a configuration."""
    names = config.get("JOB_TRANSFORM_NAMES") or ""
    transforms, problems = read_rules(config, names, "JOB_TRANSFORM_")
    requirements = list(_read_requirements(config, problems))
    return JobRules(
        tuple(transforms),
        tuple(requirements),
        tuple(problems),
        of_made_jobs,
        lambda: macros_of(config),
    )


def _read_requirements(config: Config, problems: list[str]) -> Iterator[Requirement]:
    for name in config.words("SUBMIT_REQUIREMENT_NAMES"):
        if name.upper() == "NAMES":
            continue
        knob = f"SUBMIT_REQUIREMENT_{name}"
        try:
            condition = config.expression(knob)
        except ConfigError as error:
            problems.append(f"Unable to parse submit requirement {name}, ignoring: {error}")
            continue
        if condition is None:
            problems.append(f"Submit requirement {name} not defined, ignoring.")
            continue
        reason = None
        try:
            reason = config.expression(f"{knob}_REASON")
        except ConfigError as error:
            problems.append(f"Unable to parse submit requirement reason {name}, ignoring: {error}")
        is_warning = bool(config.boolean(f"{knob}_IS_WARNING"))
        yield Requirement(name, _placed(condition), reason and _placed(reason), is_warning)


def _placed(expr: Expr) -> Expr:
    """Return an expression in which SCHEDD and JOB are the two ads that it is evaluated in."""
    return with_scope(with_scope(expr, "schedd", "MY"), "job", "TARGET")


def note_edited(known: str, name: str) -> str:
    """Return the list of edited attributes with one more name, ordered as the reference does."""
    names = {word.lower(): word for word in split_at_commas(known)}
    names.setdefault(name.lower(), name)
    return ",".join(names[key] for key in sorted(names))


class Applying:
    """The rules at work on the jobs of one commit; `warnings` are for whoever submits them."""

    def __init__(
        self, rules: JobRules, own_ad: Callable[[], ClassAd], tell: Callable[[str], object]
    ) -> None:
        self.rules = rules
        self.warnings: list[str] = []
        self.tell = tell
        self._own_ad = own_ad() if rules.requirements else ClassAd()
        self._macros = rules.macros() if rules.transforms else None
        self._names = [_names_of(rule) for rule in rules.transforms]
        self._told_of: set[int] = set()

    def change(self, ad: ClassAd, cluster: int, proc: int, *, late: bool = False) -> dict[str, str]:
        """Change a job's ad; return name and text of what is otherwise now, by name.

        RefusedError where a rule cannot be applied.
        """
        if self._macros is None:
            return {}
        macros = self._macros
        kept = dict(macros.variables)
        macros.live["ISCLUSTERAD"] = str(int(proc < 0))
        macros.live["LATEMATERIALIZATION"] = str(int(late))
        changed: dict[str, str] = {}
        applied = []
        for rule in self.rules.transforms:
            try:
                if rule.applies_to(ad):
                    changed |= rule.apply(ad, macros, _Told(self.tell, rule.name))
                    applied.append(rule.name)
            except TransformError as error:
                where = f", line {error.line}" if error.line else ""
                said = f"JOB_TRANSFORM_{rule.name}{where}: {error.message.strip()}"
                self.tell(f"({cluster}.{proc}) job_transforms: ERROR applying {said}")
                raise RefusedError(f"{NOT_APPLIED}{said}", code=errno.EINVAL) from None
        macros.variables = kept
        self._tell_applied(cluster, proc, applied)
        names = (name for key, name in changed.items() if key not in _NOT_CHANGED)
        return {name: ad.text(name) or "undefined" for name in names}

    def _tell_applied(self, cluster: int, proc: int, applied: list[str]) -> None:
        # Limit: of each cluster what was done to the first one is told.
        if cluster not in self._told_of:
            self._told_of.add(cluster)
            self.tell(
                f"job_transforms for {cluster}.{proc}: {len(self.rules.transforms)} considered, "
                f"{len(applied)} applied ({','.join(applied) or '<none>'})"
            )

    def check(self, ad: ClassAd) -> None:
        """Raise RefusedError for a job that does not meet a requirement."""
        for requirement in self.rules.requirements:
            value = requirement.condition.evaluate(self._own_ad, ad)
            if not isinstance(value, bool | int | float):
                said = f"Submit requirement {requirement.name} evaluated to non-boolean.\n"
                raise RefusedError(said, code=errno.EINVAL)
            if value:
                continue
            said = f"Submit requirement {requirement.name} not met.\n"
            if requirement.reason is not None:
                reason = requirement.reason.evaluate(self._own_ad, ad)
                said = reason if isinstance(reason, str) else said
            if not requirement.is_warning:
                raise RefusedError(said, code=errno.EINVAL)
            if len(self.warnings) < MOST_WARNINGS:
                self.warnings.append(f"QMGMT:0:{said}")

    def look_for_none(
        self, clusters: Collection[ClassAd], own_names: Iterable[str]
    ) -> Generator[None, None, bool]:
        """Return, by steps, whether no rule applies to any job of these clusters.

        `own_names` are those of all that the jobs have beside their clusters, in lower case. Where
        no rule's REQUIREMENTS ask for one of them a cluster answers for all its jobs: most
        submissions are none of a rule's business, and a look at each job would cost more than the
        rest.
        """
        wanted: set[str] = set()
        for names in self._names:
            if names is None:
                return False
            wanted |= names
        for cluster in clusters:
            # What is computed may come out otherwise for each job.
            found = filter(None, map(cluster.lookup, wanted))
            if not all(isinstance(each, Literal) for each in found):
                return False
        if self.rules.requirements:
            return False
        names_left = iter(own_names)
        while some := set(itertools.islice(names_left, _NAMES_A_STEP)):
            if not wanted.isdisjoint(some):
                return False
            yield
        for rule in self.rules.transforms:
            for cluster in clusters:
                if rule.applies_to(cluster):
                    return False
                yield
        return True


SetNew = Callable[[int, int, str, str], None]


def apply_to_submission(
    transaction: Transaction,
    clusters: Collection[tuple[int, int]],
    applying: Applying,
    set_new: SetNew,
    monotonic: Callable[[], float],
) -> Iterator[None]:
    """Change and check what a transaction submits, by steps; RefusedError.

    `clusters` are the number and the count of jobs of each new cluster; `set_new` stores what a
    rule says as if the submitter had said it, and refuses it alike. What rules ask may be computed
    from what the submitter wrote, so that all steps together have their time.
    """
    jobs = sum(max(1, count) for _, count in clusters)
    seconds = MOST_SECONDS + SECONDS_A_JOB * jobs
    refusal = RefusedError(
        f"{NOT_APPLIED}What the access point's rules look at takes longer than {seconds:.0f} "
        "seconds to evaluate for these jobs.",
        code=errno.EINVAL,
    )
    steps = _apply_to_each(transaction, clusters, applying, set_new)
    return within(steps, seconds, monotonic, refusal)


def _apply_to_each(
    transaction: Transaction,
    clusters: Collection[tuple[int, int]],
    applying: Applying,
    set_new: SetNew,
) -> Iterator[None]:
    shared = {}
    for cluster, _ in clusters:
        ad = _shared_ad(transaction, cluster)
        shared[cluster] = ad
        if "JobMaterializeDigestFile" in ad:
            _apply_to_factory(transaction, cluster, ad, applying, set_new)
        yield
    said = (name.lower() for _, key, name, _ in transaction.changes if not key.endswith(".-1"))
    own_names = itertools.chain(_OF_EVERY_JOB, said)
    if (yield from applying.look_for_none(list(shared.values()), own_names)):
        return
    for key, own in transaction.new_jobs():
        cluster, proc = parse_key(key) or (0, -1)
        if cluster not in shared:
            continue
        ad = ClassAd({"ProcId": proc, "JobStatus": 1}, parent=shared[cluster])
        for name, text in own.values():
            ad.insert_text(name, text)
        _store(applying.change(ad, cluster, proc), cluster, proc, applying, set_new)
        applying.check(ad)
        yield


def _shared_ad(transaction: Transaction, cluster: int) -> ClassAd:
    ad = ClassAd({"ClusterId": cluster})
    for name, text in transaction.overlay_of(key_of(cluster, CLUSTER_PROC)):
        if text is not None:
            ad.insert_text(name, text)
    return ad


def _apply_to_factory(
    transaction: Transaction, cluster: int, shared: ClassAd, applying: Applying, set_new: SetNew
) -> None:
    """Change and check a cluster that makes its jobs later, as if its first one were there."""
    own = {"ProcId": 0, "JobFactoryId": cluster}
    ad = ClassAd(own if "JobStatus" in shared else {**own, "JobStatus": 1}, parent=shared)
    changes = applying.change(ad, cluster, CLUSTER_PROC, late=True)
    _store(changes, cluster, CLUSTER_PROC, applying, set_new)
    if changes and not applying.rules.of_made_jobs:
        # What the rules say holds for the jobs, too, whatever their description says.
        edited = shared.string(EDITED) or ""
        for name in changes:
            edited = note_edited(edited, name)
        transaction.set_attribute(key_of(cluster, CLUSTER_PROC), EDITED, quote_line(edited))
    applying.check(ad)


def _store(
    changes: dict[str, str], cluster: int, proc: int, applying: Applying, set_new: SetNew
) -> None:
    for name, text in changes.items():
        try:
            set_new(cluster, proc, name, text)
        except RefusedError as refusal:
            said = f"Failed to set {name} = {text[:200]}: {refusal.message}"
            applying.tell(f"({cluster}.{proc}) job_transforms: {said}")
            raise RefusedError(f"{NOT_APPLIED}{said}", code=errno.EINVAL) from None


class _Told:
    """What a rule could not do, told with the rule's name."""

    def __init__(self, tell: Callable[[str], object], name: str) -> None:
        self._tell = tell
        self._name = name

    def step(self, text: str) -> None:
        """Pass over what went well."""

    def error(self, text: str) -> None:
        """Tell what did not."""
        self._tell(f"JOB_TRANSFORM_{self._name}: {text}")


def _names_of(rule: Rule) -> frozenset[str] | None:
    """Return the names that a rule's REQUIREMENTS ask for, None where that is not to be known."""
    if not isinstance(rule, Transform) or rule.requirements is None:
        return None
    names: set[str] = set()
    pending = [rule.requirements]
    while pending:
        node = pending.pop()
        if isinstance(node, AdNode) or (isinstance(node, Call) and node.name.lower() in _DYNAMIC):
            return None
        if isinstance(node, Selection) and _is_whole_ad(node.base):
            names.add(node.key)
        elif isinstance(node, AttributeReference):
            if node.key in _WHOLE_ADS:
                # It may ask for any of the attributes.
                return None
            names.add(node.key)
        else:
            if isinstance(node, Selection):
                names.add(node.key)
            pending += children(node)
    return frozenset(names)


def _is_whole_ad(expr: Expr) -> bool:
    return isinstance(expr, AttributeReference) and expr.key in _WHOLE_ADS


# What a name means that is no attribute's.
_WHOLE_ADS = frozenset(
    ("my", "self", "target", "other", "left", "right", "parent", "toplevel", "root")
)
# Functions that look at what no name in the expression says, or answer otherwise each time.
_DYNAMIC = frozenset(
    ("eval", "evalineachcontext", "countmatches", "random", "unparse", "unresolved", "debug")
)
# What the schedd says of every job, whether its submitter does or not, in lower case.
_OF_EVERY_JOB = ("procid", "jobstatus", "globaljobid")
