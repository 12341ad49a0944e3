"""What a machine learns of itself from programs that may take long: asked beside its other work.

Jobs are taken meanwhile; what has been learned is in the ads as soon as it is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from kettle.config.knobs.startd import StartdKnobs
from kettle.runtime.context import Runtime
from kettle.runtime.storage.url_fetching import MachinePlugins, plan_trials
from kettle.startd.facts import MachineFacts
from kettle.startd.machine import Machine
from kettle.startd.services.abilities import learn_java, learn_vm
from kettle.startd.services.questions import Questions


class Learning:
    """The programs of one machine; `tell` is called when what they say is new."""

    def __init__(self, runtime: Runtime, machine: Machine, tell: Callable[[], object]) -> None:
        self._runtime = runtime
        self._machine = machine
        self._tell = tell
        self._questions = Questions()
        self._java: Mapping[str, object] = {}
        self._vm: Mapping[str, object] = {}

    def begin(self) -> None:
        """Begin to ask everything."""
        self._questions.ask("virtual machines", self._learn_vm())
        self.ask_programs()

    def ask_programs(self) -> None:
        """Begin to ask what the configuration names."""
        self._questions.ask("URL plug-ins", self._learn_url_methods())
        self._questions.ask("Java", self._learn_java())

    def close(self) -> None:
        """Wait for no answer any more."""
        self._questions.close()

    async def _learn_url_methods(self) -> None:
        """Ask the machine's URL plug-ins what they serve, and offer what works of it."""
        runtime, config = self._runtime, self._runtime.config
        plugins = MachinePlugins(
            runtime.processes,
            config.get("FILETRANSFER_PLUGINS") or "",
            config.value(StartdKnobs.EXECUTE),
        )
        methods = await plugins.served_methods()
        self._take(replace(self._machine.facts, url_methods=methods))
        trials = plan_trials(config, methods)
        broken = await plugins.failing(trials)
        for method, why in broken.items():
            runtime.log.problem(f"No {method}:// is offered: {trials[method]}: {why}")
        self._take(replace(self._machine.facts, broken_url_methods=frozenset(broken)))

    async def _learn_java(self) -> None:
        """Ask the configured Java whether it works, and offer that."""
        runtime = self._runtime
        self._java = await learn_java(runtime.processes, runtime.config, runtime.log.problem)
        self._take_programs()

    async def _learn_vm(self) -> None:
        """Ask the server of virtual machines what it offers; once, as the seeds have it (H006)."""
        runtime = self._runtime
        self._vm = await learn_vm(
            runtime.processes, runtime.config, runtime.privileges, runtime.log.problem
        )
        self._take_programs()

    def _take_programs(self) -> None:
        self._take(replace(self._machine.facts, programs={**self._java, **self._vm}))

    def _take(self, facts: MachineFacts) -> None:
        """Tell everybody what has been learned of the machine, if it is new."""
        if facts != self._machine.facts:
            self._machine.facts = facts
            self._tell()
