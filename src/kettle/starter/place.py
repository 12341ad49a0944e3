"""What is the same for every job that runs in a slot, worked out once for all jobs of a claim.

Pure. From one job of a claim to the next a slot's ad changes only in its times and in what it
repeats of the job (`is_passing`); the startd then sends no more than that
(`wire.messages.starter_control.NextActivation`). Everything else that is read from the ad, its text
in .machine.ad, what the shadow is told of it, limits, environment, is kept here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from kettle.classad import ClassAd, parse_expression
from kettle.classad.shared_lines import SharedLines
from kettle.errors import ClassAdSyntaxError
from kettle.starter.affinity import choose_affinity
from kettle.starter.job_file import Givings, as_shown
from kettle.starter.launch import SlotShare, Surroundings, share_of
from kettle.starter.limits import Allowance, Limits, allow_disk, plan_limits
from kettle.starter.private_view import (
    SHARED_MEMORY,
    hidden_folders,
    is_needed,
    private_folders,
    shown_folders,
)
from kettle.starter.sandbox import Sandbox
from kettle.starter.settings import StarterSettings
from kettle.wire.codec import is_private_attribute
from kettle.wire.messages.rpc import RepeatedCall
from kettle.wire.messages.starter_control import OF_THE_JOB, is_passing

# What register_starter_info repeats from the slot's ad.
_FROM_SLOT = (
    "Cpus",
    "Memory",
    "Disk",
    "GPUs",
    "Name",
    "Machine",
    "MachineResources",
    "PrivateNetworkName",
)


# What a job names the attributes of the slot by that its event 001 shows (`ulog_execute_attrs`).
SHOWN = "UserLogExecuteEventAttrs"


def add_shown(info: ClassAd, job: ClassAd, slot: ClassAd) -> None:
    """Add to what is said of a starter what the job wants its log to show, as values."""
    for name in (job.string(SHOWN) or "").replace(",", " ").split():
        value = slot.evaluate(name)
        if name not in info and isinstance(value, (bool, int, float, str)):
            info[name] = value


@dataclass(frozen=True)
class Process:
    """The starter's own process, as its jobs and its shadows see it."""

    pid: int
    address: str
    ancestors: dict[str, str] = field(default_factory=dict)
    # What jobs inherit of our environment, where they are to.
    environment: dict[str, str] = field(default_factory=dict)
    machine_pids: int = 0
    # The machine's cores that it may run on itself.
    cores: tuple[int, ...] = ()


class Place:
    """One slot with the starter that works in it. `slot` is the whole ad, for the first job.

    `cores` are the slot's, as the startd says them.
    """

    def __init__(
        self,
        settings: StarterSettings,
        slot: ClassAd,
        slot_name: str,
        process: Process,
        cores: str = "",
    ) -> None:
        self._settings = settings
        self._first = slot
        self._short_name = slot_name.partition("@")[0]
        self.process = process
        self._cores = [int(word) for word in cores.split()]
        self._folders: dict[str, tuple[str, ...]] = {}
        self._surroundings: Surroundings | None = None
        # How a job's beginning is told on the short way, by whether files may travel.
        self.repeated: dict[bool, RepeatedCall] = {}
        self.sandbox = Sandbox.of_starter(settings.execute, process.pid)
        # What .job.ad holds; what jobs have in common is kept.
        self._job_lines = SharedLines(_is_public)

    # ---- the slot's ad ------------------------------------------------------------------------

    def slot_for(self, passing: ClassAd, job: ClassAd) -> ClassAd:
        """Return the slot's ad for a later job, from what the startd says of it."""
        passing.parent = self._first
        for name in OF_THE_JOB:
            text = job.text(name)
            if text is not None:
                passing.insert_text(name, text)
        return passing

    def text_of(self, slot: ClassAd) -> str:
        """Return the slot's ad for a job as text: what .machine.ad holds."""
        if slot is self._first:
            return public_text(slot.texts())
        own = [f"{name} = {text}" for name, text in slot.own_texts()]
        return "\n".join([*own, self._lasting_text])

    @cached_property
    def _lasting_text(self) -> str:
        texts = self._first.texts()
        return public_text((name, text) for name, text in texts if not is_passing(name))

    def text_of_job(self, job: ClassAd) -> str:
        """Return a job's ad as text: what .job.ad holds."""
        return "\n".join([*self._job_lines.of(job), ""])

    # ---- what shadows are told ----------------------------------------------------------------

    def info(self) -> ClassAd:
        """Return who runs the job, and where."""
        ad = ClassAd()
        for name in _FROM_SLOT:
            text = self._first.text(name)
            if text is not None:
                ad.insert_text(name, text)
        settings, address = self._settings, self.process.address
        ad["UidDomain"] = settings.uid_domain
        ad["FileSystemDomain"] = settings.file_system_domain
        ad["StarterIpAddr"] = address
        ad["MyAddress"] = address
        ad["CondorScratchDir"] = self.sandbox.scratch
        ad["HasReconnect"] = True
        ad["CondorVersion"] = settings.version
        ad["CondorPlatform"] = settings.platform
        return ad

    @cached_property
    def provisioned(self) -> ClassAd:
        """What the slot has for each job; nobody changes it."""
        ad = ClassAd()
        names = (self._first.string("MachineResources") or "Cpus Memory Disk").split()
        for name in names:
            text = self._first.text(name)
            if text is not None:
                ad.insert_text(f"{name}Provisioned", text)
        ad["ProvisionedResources"] = " ".join(names)
        return ad

    @cached_property
    def givings(self) -> Givings:
        """What each job is given, by the names that .job.ad has for it: GpusProvisioned."""
        return Givings(self.sandbox, as_shown(self.provisioned))

    # ---- what jobs get ------------------------------------------------------------------------

    @cached_property
    def _share(self) -> SlotShare:
        return share_of(self._first)

    def surroundings(self, home: str, job: ClassAd) -> Surroundings:
        """Return what a launch plan needs beside the ads."""
        settings, process = self._settings, self.process
        renice, last = self.renice(job), self._surroundings
        cores = choose_affinity(
            settings.affinity, job, self._short_name, self._cores, process.cores
        )
        if last is not None and (last.home, last.renice, last.cores) == (home, renice, cores):
            return last
        self._surroundings = Surroundings(
            slot_name=self._short_name if "Name" in self._first else "",
            starter_pid=process.pid,
            ancestors=process.ancestors,
            home=home,
            bin_directory=settings.bin_directory,
            wrapper=settings.wrapper,
            renice=renice,
            cores=cores,
            delayed_prefix=settings.chirp_prefix,
            starter_environment=process.environment,
            share=self._share,
            java=settings.java,
        )
        return self._surroundings

    @cached_property
    def allowed_disk(self) -> Allowance:
        """How many KiB a job may keep in its sandbox."""
        return allow_disk(self._settings.limits, self._first)

    @cached_property
    def _limits_of_all(self) -> Limits:
        return plan_limits(self._settings.limits, self._first, ClassAd(), self.process.machine_pids)

    def limits(self, slot: ClassAd, job: ClassAd) -> Limits:
        """Return the limits of a job's control group."""
        rules = self._settings.limits
        if rules.memory_policy.lower() != "custom":
            return self._limits_of_all
        return plan_limits(rules, slot, job, self.process.machine_pids)

    def private_folders(self, slot: ClassAd, job: ClassAd, needed: str) -> tuple[str, ...]:
        """Return the machine's folders that are a job's own; not one that it has to see."""
        expression = self._settings.private_folders
        found = self._folders.get(needed)
        if found is None:
            found = private_folders(expression, slot, job, (self.sandbox.root, needed))
            if _is_constant(expression):
                self._folders[needed] = found
        return found

    @cached_property
    def hidden_folders(self) -> tuple[str, ...]:
        """The folders of sandboxes that hide those of others from a job."""
        settings = self._settings
        return hidden_folders((settings.execute, *settings.other_executes))

    def shown_folders(self, needed: str) -> tuple[str, ...]:
        """Return what a job sees there, besides its own sandbox."""
        return shown_folders(self.hidden_folders, needed)

    def private_shared_memory(self, needed: str) -> bool:
        """Whether /dev/shm is a job's own: not where its sandbox or its folder lies there."""
        wanted = self._settings.private_shared_memory
        return wanted and not is_needed(SHARED_MEMORY, (self.sandbox.root, needed))

    def allows_scripts(self, slot: ClassAd, job: ClassAd) -> bool:
        """Whether a job's PreCmd and PostCmd are run here.

        Compat: where STARTER_ALLOW_JOB_PRE_AND_POST_CMD is not set they are; the reference then
        ignores them (test_scripts_run_where_the_machine_does_not_say_otherwise).
        """
        rule = self._settings.allows_scripts
        if rule is None:
            return False
        value = slot.evaluate_expression(rule, job)
        return value is True or (isinstance(value, int | float) and value != 0)

    def renice(self, job: ClassAd) -> int:
        """Return by how much a job is nicer than we are."""
        if self._constant_renice is not None:
            return self._constant_renice
        probe = ClassAd(parent=job)
        probe.insert_text("KettleRenice", self._settings.renice_expression)
        return _as_nice(probe.integer("KettleRenice"))

    @cached_property
    def _constant_renice(self) -> int | None:
        text = self._settings.renice_expression.strip()
        return _as_nice(int(text)) if text.isdecimal() else None


def _as_nice(number: int | None) -> int:
    return max(0, min(19, number or 0))


def _is_constant(expression: str) -> bool:
    """Whether an expression has the same value for every job."""
    try:
        return parse_expression(expression or '""').is_literal
    except ClassAdSyntaxError:
        return True


def public_text(texts: Iterable[tuple[str, str]]) -> str:
    """Return an ad, from its attributes and their texts, for the job to read, without secrets."""
    return "".join([f"{name} = {text}\n" for name, text in texts if _is_public(name)])


def _is_public(name: str) -> bool:
    """Whether a job may read the attribute."""
    return not is_private_attribute(name)
