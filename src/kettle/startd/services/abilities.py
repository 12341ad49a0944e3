"""Learning what the machine's programs can do, beside the startd's own work.

Each is asked in the background after the slots are offered: a machine whose Java or whose server of
virtual machines is slow, broken or missing is in the pool as fast as any other, and says in its log
why it does not offer them. What is asked and what answers mean is `startd/programs.py`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kettle.config import Config
from kettle.config.java import read_java
from kettle.config.knobs.virtual_machines import VirtualMachineKnobs
from kettle.errors import KettleError
from kettle.runtime.process.privileges import Privileges
from kettle.runtime.process.processes import Child, Processes
from kettle.startd.programs import (
    java_question,
    read_java_answer,
    read_vm_answer,
    vm_question,
)
from kettle.startd.services.asking import ask_program

# Limit: how long each may take; a Java that starts cold on a busy machine takes seconds.
JAVA_SECONDS = 60.0
VM_SECONDS = 60.0

Complain = Callable[[str], None]


async def learn_java(
    processes: Processes, config: Config, complain: Complain
) -> Mapping[str, object]:
    """Return what slot ads say of Java; nothing where there is none, or it does not work.

    The default of JAVA that is not installed is no fault and not worth a line.
    """
    try:
        java = read_java(config)
        if not java.program:
            return {}
        if shutil.which(java.program) is None:
            default = config.find_default("JAVA")
            if default is None or java.program != default.text:
                complain(f"no Java: JAVA = {java.program} is not there or not executable")
            return {}
        question = java_question(java)
        answer = await ask_program(
            processes.spawn, question, seconds=JAVA_SECONDS, name="java", stderr=True
        )
        return read_java_answer(answer)
    except (KettleError, OSError, ValueError) as error:
        complain(f"no Java: {config.get('JAVA')}: {error}")
        return {}


async def learn_vm(
    processes: Processes, config: Config, privileges: Privileges, complain: Complain
) -> Mapping[str, object]:
    """Return what slot ads say of virtual machines; nothing without VM_TYPE, or if it fails."""

    def spawn_as_root(argv: Sequence[str], **options: Any) -> Child:
        with privileges.as_root():
            return processes.spawn(argv, **options)

    try:
        question = vm_question(config, is_root=privileges.can_switch)
        if question is None:
            return {}
        answer = await ask_program(
            spawn_as_root,
            question,
            seconds=VM_SECONDS,
            name="vm-gahp",
            environment={"VMGAHP_USER_UID": str(privileges.daemon.uid)},
        )
        return read_vm_answer(answer, config)
    except (KettleError, OSError, ValueError) as error:
        kind = config.value(VirtualMachineKnobs.VM_TYPE)
        server = config.value(VirtualMachineKnobs.VM_GAHP_SERVER)
        complain(f"no virtual machines (VM_TYPE = {kind}): {server}: {error}")
        return {}
