"""Knobs of the VM universe: a pure table."""

from kettle.config.knob import boolean, integer, path, place, seconds, size, string
from kettle.config.ranges import COUNT, OR_NONE


class VirtualMachineKnobs:
    """Knobs of the VM universe."""

    LIBVIRT_XML_SCRIPT = path(
        "$(LIBEXEC)/libvirt_simple_script.awk",
        doc="Known path.",
        unread=True,
    )
    MAX_VM_GAHP_LOG = size(
        "$(MAX_DEFAULT_LOG)",
        doc="Known text.",
        unread=True,
    )
    VM_GAHP_CONFIG = string("", doc="Known text.", unread=True)
    VM_GAHP_LOG = place(
        "$(LOG)/VMGahpLog",
        doc="The log of VM_GAHP_SERVER; without one it is asked to write to its error stream.",
    )
    VM_GAHP_REQ_TIMEOUT = seconds(
        "300",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    VM_GAHP_SEND_ALL_CLASSAD = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    VM_GAHP_SERVER = place(
        "$(SBIN)/condor_vm-gahp",
        doc="The program that manages virtual machines. With VM_TYPE, the startd asks it once, "
        "when it starts, what it offers.",
    )
    VM_HARDWARE_VT = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    VM_KILLING_TIMEOUT = seconds(
        "60",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    VM_MAX_MEMORY = integer(
        "0",
        doc="Known and checked as a number.",
        unread=True,
    )
    VM_MAX_NUMBER = integer(
        "",
        unset="0",
        sense=COUNT,
        doc="How many virtual machines there may be (VM_AvailNum); 0 is no limit.",
    )
    VM_MEMORY = integer(
        "",
        unset="0",
        doc="Known and checked as a number.",
        unread=True,
    )
    VM_NETWORKING = boolean(
        "false",
        doc="Whether virtual machines may have a network, where VM_GAHP_SERVER offers one.",
    )
    VM_NETWORKING_DEFAULT_TYPE = string("", doc="Known text.", unread=True)
    VM_NETWORKING_MAC_PREFIX = string("", doc="Known text.", unread=True)
    VM_NETWORKING_TYPE = string("", doc="Known text.", unread=True)
    VM_RECHECK_INTERVAL = seconds(
        "600",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    VM_SOFT_SUSPEND = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    VM_STATUS_INTERVAL = seconds(
        "60",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    VM_STATUS_MAX_ERROR = integer(
        "5",
        doc="Known and checked as a number.",
        unread=True,
    )
    VM_TYPE = string("", doc="Which virtual machines the machine offers: xen or kvm.")
    XEN_ALLOW_HARDWARE_VT_SUSPEND = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    XEN_BOOTLOADER = string("", doc="Known text.", unread=True)
    XEN_BRIDGE_SCRIPT = path("", doc="Known path.", unread=True)
    XEN_SCRIPT = path("", doc="Known path.", unread=True)
