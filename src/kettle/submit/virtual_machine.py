"""Step: the attributes of a virtual machine (vm universe). Source: vectors, submit commands."""

from __future__ import annotations

import re

from kettle.attributes.codes import JobUniverse
from kettle.digits import whole
from kettle.errors import SubmitError
from kettle.submit.grid import has_fields
from kettle.submit.job import JobBuilder
from kettle.submit.notices import ERROR_MARK
from kettle.submit.sizes import parse_size

SWITCHES = (
    ("vm_checkpoint", "JobVMCheckpoint"),
    ("vm_networking", "JobVMNetworking"),
    ("vm_vnc", "JobVMVNCConsole"),
)
# Kernels that are no file: the disk's own, and one that runs on the bare processor.
INCLUDED, BARE = "included", "vmx"
DISK_FORMAT = (
    "'vm_disk' has incorrect format.\n"
    'The format shoud be like "<filename>:<devicename>:<permission>"\n'
    "e.g.> For single disk: <vm>_disk = filename1:hda1:w\n"
    "      For multiple disks: <vm>_disk = filename1:hda1:w,filename2:hda2:w"
)


def set_virtual_machine(job: JobBuilder) -> None:
    """Decide the attributes of a virtual machine job."""
    if job.universe is not JobUniverse.VM:
        return
    _refuse_checkpoint_and_network(job)
    kind = (job.said("vm_type", "JobVMType") or "").lower()
    if kind:
        job.set_string("JobVMType", kind)
    for command, attribute in SWITCHES:
        if not job.is_later or job.param(command) is not None:
            job.set_boolean(attribute, bool(job.boolean(command)))
    if job.boolean("vm_networking"):
        network = job.param("vm_networking_type")
        if network is not None:
            job.set_string("JobVMNetworkingType", network)
    _set_memory(job)
    vcpus = re.match(r"\s*[-+]?\d+", job.param("vm_vcpus") or job.param("request_cpus") or "1")
    job.set_integer("JobVM_VCPUS", max(1, whole(vcpus.group()) if vcpus else 0))
    address = job.param("vm_macaddr")
    if address is not None:
        job.set_string("JobVM_MACADDR", address)
    stays = job.boolean("vm_no_output_vm")
    if stays is not None:
        job.set_boolean("VMPARAM_No_Output_VM", stays)
    if kind == "xen":
        _set_kernel(job)
    _set_disk(job, kind)


def tell_of_memory(job: JobBuilder) -> None:
    """Warn of a virtual machine whose job does not ask for memory itself."""
    if job.universe is not JobUniverse.VM:
        return
    if job.param("request_memory") is None and not job.is_later:
        job.warn(
            "vm_memory",
            "request_memory was NOT specified.  Using RequestMemory = MY.JobVMMemory",
        )


def _refuse_checkpoint_and_network(job: JobBuilder) -> None:
    when = (job.param("when_to_transfer_output") or "").lower()
    if when != "on_exit_or_evict" and job.boolean("vm_checkpoint") and job.boolean("vm_networking"):
        raise SubmitError(
            "You explicitly requested both VM checkpoint and VM networking. \n"
            "However, VM networking is currently conflict with VM checkpoint. If you still \n"
            "want to use both VM networking and VM checkpoint, you explicitly must define \n"
            '"when_to_transfer_output = ON_EXIT_OR_EVICT"\n ',
            mark=f"\n{ERROR_MARK}",
        )


def _set_memory(job: JobBuilder) -> None:
    text = job.param("vm_memory")
    if text is None:
        text = job.of_cluster("JobVMMemory")
    if text is None:
        raise SubmitError(
            "vm_memory cannot be found.\n"
            "Please specify vm_memory for vm universe in your submit description file.",
            command="vm_memory",
        )
    memory = parse_size(text, "M") or 0
    if memory <= 0:
        raise SubmitError(
            "vm_memory is incorrectly specified\n"
            "For example, for vm memroy of 128 Megabytes,\n"
            "you need to use 128 in your submit description file."
        )
    job.set_integer("JobVMMemory", memory)
    # A suspended machine's memory is a file.
    job.executable_kib = memory * 1024


def _set_kernel(job: JobBuilder) -> None:
    kernel = job.said("xen_kernel", "VMPARAM_Xen_Kernel")
    if kernel is None:
        raise SubmitError(
            "'xen_kernel' cannot be found.\n"
            "Please specify 'xen_kernel' for the xen virtual machine in your submit description "
            f'file.\nxen_kernel must be one of "{INCLUDED}", "{BARE}", <file-name>.',
            command="xen_kernel",
        )
    job.set_string("VMPARAM_Xen_Kernel", kernel)
    if kernel.lower() == BARE:
        job.set_boolean("JobVMHardwareVT", True)
    is_file = kernel.lower() not in (INCLUDED, BARE)
    initrd = job.param("xen_initrd")
    if initrd is not None:
        if not is_file:
            raise SubmitError("To use xen_initrd, xen_kernel should be a real kernel file.")
        job.set_string("VMPARAM_Xen_Initrd", initrd)
    if is_file:
        root = job.said("xen_root", "VMPARAM_Xen_Root")
        if root is None:
            raise SubmitError(
                "'xen_root' cannot be found.\nPlease specify 'xen_root' for the xen "
                "virtual machine in your submit description file.",
                command="xen_root",
            )
        job.set_string("VMPARAM_Xen_Root", root)
    words = job.param("xen_kernel_params")
    if words is not None:
        job.set_string("VMPARAM_Xen_Kernel_Params", words.strip("\"'"))


def _set_disk(job: JobBuilder, kind: str) -> None:
    if kind == "vmware":
        raise SubmitError("A vm_type of 'vmware' is no longer supported", command="vm_type")
    if kind not in ("xen", "kvm"):
        return
    disk = job.said("vm_disk", "VMPARAM_vm_Disk")
    if disk is None:
        raise SubmitError(
            "'<vm>_disk' cannot be found.\n"
            "Please specify '<vm>_disk' for the virtual machine in your submit description file.",
            command="vm_disk",
        )
    if not has_fields(disk, 3, 4):
        raise SubmitError(DISK_FORMAT)
    job.set_string("VMPARAM_vm_Disk", disk)
