"""What the machine's programs are asked, and what of their answers slot ads show."""

from __future__ import annotations

import pytest

from kettle.config import Config
from kettle.config.java import read_java
from kettle.errors import ConfigError
from kettle.startd.programs import (
    NotAbleError,
    ability_list,
    java_question,
    read_java_answer,
    read_vm_answer,
    vm_question,
)


def make_config(text: str) -> Config:
    return Config.from_text(text, subsystem="STARTD")


shows = pytest.mark.shows

PROPERTIES = """\
Property settings:
    java.home = /usr/lib/jvm/java
    java.library.path = /usr/java/packages/lib
        java.vendor = nobody's
    java.specification.version = 17
    java.vendor = Some "Vendor"
    java.version = 17.0.15
    line.separator = \\n

openjdk version "17.0.15" 2025-04-15
"""


def test_java_is_asked_with_its_class_path_and_its_arguments() -> None:
    config = make_config(
        "JAVA = /opt/java\nJAVA_CLASSPATH_DEFAULT = /a, /b\n"
        "JAVA_EXTRA_ARGUMENTS = \"-Dx='1 2' -q\"\n"
    )
    command = ["/opt/java", "-classpath", "/a:/b", "-Dx=1 2", "-q"]
    question = [*command, "-XX:-UsePerfData", "-XshowSettings:properties", "-version"]
    assert java_question(read_java(config)) == question
    with pytest.raises(ConfigError, match="JAVA_EXTRA_ARGUMENTS"):
        read_java(make_config('JAVA_EXTRA_ARGUMENTS = "-Dx=\'1"\n'))


@shows("R071")
def test_java_tells_its_vendor_and_versions() -> None:
    assert read_java_answer(PROPERTIES) == {
        "JavaVendor": "Some 'Vendor'",
        "JavaVersion": "17.0.15",
        "JavaSpecificationVersion": "17",
        "HasJava": True,
    }
    with pytest.raises(NotAbleError):
        read_java_answer("java.vendor: none\n")


ANSWER = """\
VM_Type = "kvm"
VM_Memory = 2048
VM_Networking = true
VM_Networking_Types = "nat"
VM_HardwareVT = true
libvirt: not a line of an ad
Bad = )
"""
KVM = "VM_TYPE = KVM\nVM_GAHP_SERVER = /opt/vm-gahp\n"


@shows("R071", "H004", "H005")
def test_the_server_of_virtual_machines_is_asked_for_the_configured_kind() -> None:
    assert vm_question(make_config(""), is_root=True) is None
    words = ["/opt/vm-gahp", "-f", "-M", "0", "vmtype", "kvm"]
    assert vm_question(make_config(KVM), is_root=True) == words
    quiet = make_config(KVM + "VM_GAHP_LOG =\n")
    words.insert(2, "-t")
    assert vm_question(quiet, is_root=True) == words


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("VM_TYPE = vmware\n", "xen or kvm"),
        ("VM_TYPE = xen\nVM_GAHP_SERVER =\n", "VM_GAHP_SERVER is not set"),
        (KVM, "root"),
    ],
)
@shows("H001", "H009")
def test_what_cannot_work_is_said_and_nothing_is_asked(text: str, why: str) -> None:
    with pytest.raises(NotAbleError, match=why):
        vm_question(make_config(text), is_root="root" not in why)


def answered(answer: str, more: str = "") -> dict[str, object]:
    config: Config = make_config(KVM + more)
    return read_vm_answer(answer, config)


@shows("R071", "H004")
def test_a_server_that_answers_makes_the_machine_able() -> None:
    found = answered(ANSWER)
    assert found["HasVM"] is True
    assert (found["VM_Type"], found["VM_Memory"], found["VM_AvailNum"]) == ("kvm", 2048, 10000)
    # A network is there if both sides want one.
    assert found["VM_Networking"] is False
    found = answered(ANSWER, "VM_NETWORKING = true\nVM_MAX_NUMBER = 3\n")
    assert (found["VM_Networking"], found["VM_AvailNum"]) == (True, 3)
    without_types = ANSWER.replace("VM_Networking_Types", "Others")
    assert answered(without_types, "VM_NETWORKING = true\n")["VM_Networking"] is False


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "no VM_Type"),
        (ANSWER.replace("kvm", "xen"), "serves xen"),
        (ANSWER.replace("2048", "0"), "VM_Memory"),
        (ANSWER.replace("2048", '"much"'), "VM_Memory"),
    ],
)
def test_a_server_that_answers_nonsense_makes_it_unable(answer: str, why: str) -> None:
    with pytest.raises(NotAbleError, match=why):
        answered(answer)


def test_the_list_of_abilities_names_what_is_one() -> None:
    names = {"HasVM": True, "VM_Type": "kvm", "HasIOProxy": True, "HasJava": True}
    assert ability_list(names) == "HasVM,HasJava"
