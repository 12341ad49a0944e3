"""What programs of a machine say they can do: its Java, and the server of virtual machines.

Their command lines, and what their answers become in slot ads. Running them is
`services/abilities.py`'s. Source: R071, H001-H009; HTCondor asks Java through a class of its own
and the server of virtual machines by `vmtype`.
"""

from __future__ import annotations

from collections.abc import Mapping

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.config.java import JavaMachine
from kettle.config.knobs.virtual_machines import VirtualMachineKnobs
from kettle.errors import ClassAdSyntaxError, KettleError

# The properties of Java that slot ads show.
JAVA_PROPERTIES = {
    "java.vendor": "JavaVendor",
    "java.version": "JavaVersion",
    "java.specification.version": "JavaSpecificationVersion",
}
# Both are run by libvirt, which only root may use (H009).
VM_TYPES = ("xen", "kvm")
# What VM_AvailNum says where VM_MAX_NUMBER sets no limit.
UNLIMITED_MACHINES = 10000
_TEST_MODE = 0
# Limit: what an ad shows of one value.
MAX_VALUE = 1024
# Limit: as many attributes are taken of one answer.
MAX_ATTRIBUTES = 64


# Else Java makes /tmp/hsperfdata_<account>, and nobody takes it away. What knows no such counters,
# as OpenJ9, passes over the words.
_LEAVING_NOTHING = ("-XX:-UsePerfData",)


class NotAbleError(KettleError):
    """A program did not say what was hoped for; the sentence says what is wrong."""


def java_question(java: JavaMachine) -> list[str]:
    """Return the command that makes Java print its properties.

    Compat: HTCondor runs a class of its own instead, which the Java machine has to find; this needs
    no class and works with a plain runtime environment. Shown by
    test_java_tells_its_vendor_and_versions.
    """
    return [*java.command(), *_LEAVING_NOTHING, "-XshowSettings:properties", "-version"]


def read_java_answer(answer: str) -> dict[str, object]:
    """Return the attributes of slot ads; NotAbleError if the answer has none of them.

    The properties are lines `name = value`; a second line of a value (a path's next folder) has no
    name.
    """
    found: dict[str, object] = {}
    for line in answer.splitlines():
        name, equals, value = line.partition(" = ")
        attribute = JAVA_PROPERTIES.get(name.strip()) if equals else None
        if attribute is not None:
            # As HTCondor spells what is no plain word.
            found[attribute] = value.strip().replace('"', "'")[:MAX_VALUE]
    if not found:
        raise NotAbleError("it prints none of its properties")
    return {**found, "HasJava": True}


def vm_question(config: Config, *, is_root: bool) -> list[str] | None:
    """Return the command that asks the server of virtual machines; None without VM_TYPE.

    Raises NotAbleError if what is configured cannot work.
    """
    kind = config.value(VirtualMachineKnobs.VM_TYPE).strip().lower()
    if not kind:
        return None
    if kind not in VM_TYPES:
        raise NotAbleError(f"VM_TYPE = {kind}: it may be {' or '.join(VM_TYPES)}")
    server = config.value(VirtualMachineKnobs.VM_GAHP_SERVER)
    if not server:
        raise NotAbleError("VM_GAHP_SERVER is not set")
    if not is_root:
        raise NotAbleError("virtual machines need daemons that root started")
    log = [] if config.value(VirtualMachineKnobs.VM_GAHP_LOG) else ["-t"]
    return [server, "-f", *log, "-M", str(_TEST_MODE), "vmtype", kind]


def read_vm_answer(answer: str, config: Config) -> dict[str, object]:
    """Return the attributes of slot ads; NotAbleError if the server offers nothing of use.

    The answer is an ad, an assignment a line; lines that are none are passed over. It must have
    VM_Type, as configured, and VM_Memory (MiB), how much there is for virtual machines.
    """
    ad = ClassAd()
    for line in answer.splitlines()[:MAX_ATTRIBUTES]:
        name, equals, text = line.partition("=")
        if equals and name.strip().replace("_", "a").isalnum():
            try:
                ad.insert_text(name.strip(), text.strip(), check=True)
            except ClassAdSyntaxError:
                continue
    kind, wanted = ad.string("VM_Type"), config.value(VirtualMachineKnobs.VM_TYPE).strip()
    if kind is None:
        raise NotAbleError("its answer has no VM_Type")
    if kind.lower() != wanted.lower():
        raise NotAbleError(f"it serves {kind}, not {wanted}")
    if (ad.integer("VM_Memory") or 0) <= 0:
        raise NotAbleError("its answer has no VM_Memory above 0")
    found: dict[str, object] = {name: ad.evaluate(name) for name in ad.names()}
    types = ad.string("VM_Networking_Types")
    offered = ad.boolean("VM_Networking") is True and types is not None
    found["VM_Networking"] = config.value(VirtualMachineKnobs.VM_NETWORKING) and offered
    most = config.value(VirtualMachineKnobs.VM_MAX_NUMBER)
    return {**found, "VM_AvailNum": most or UNLIMITED_MACHINES, "HasVM": True}


def ability_list(abilities: Mapping[str, object]) -> str:
    """Return StarterAbilityList: the names of what is there at all, but for those of a kind."""
    return ",".join(name for name in abilities if name.startswith("Has") and name != "HasIOProxy")
