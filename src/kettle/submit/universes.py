"""Steps: containers, Java, virtual machines, parallel jobs and the grid."""

from __future__ import annotations

import re

from kettle.attributes.codes import JobUniverse
from kettle.errors import SubmitError
from kettle.submit import arguments
from kettle.submit.job import JobBuilder, split_list, strip_quotes
from kettle.submit.transfer import URL

GRID_TYPES = ("condor", "batch", "arc", "ec2", "gce", "azure", "pbs", "lsf", "nqs", "sge", "slurm")
UNIVERSE_NUMBERS = {universe.name.lower(): universe for universe in JobUniverse}
# Attributes whose text names a file and is made absolute.
CLOUD_FILES = (
    ("ec2_access_key_id", "EC2AccessKeyId"),
    ("ec2_secret_access_key", "EC2SecretAccessKey"),
    ("azure_auth_file", "AzureAuthFile"),
)


def set_container(job: JobBuilder) -> None:
    """Decide what kind of image a container job needs and whether it travels."""
    docker, image = job.param("docker_image"), job.param("container_image")
    if job.is_docker:
        if docker is None:
            raise SubmitError("ERROR: docker jobs require a docker_image")
        job.set_boolean("WantDocker", True)
        job.set_string("DockerImage", strip_quotes(docker))
        job.container_clause = "TARGET.HasDocker"
        return
    if docker is None and image is None:
        if (job.param("universe") or "").lower() == "container":
            raise SubmitError("ERROR: container jobs require a container_image or docker_image")
        return
    job.set_boolean("WantContainer", True)
    if image is None:
        job.set_string("DockerImage", strip_quotes(docker or ""))
        job.set_boolean("WantDockerImage", True)
        job.container_clause = "TARGET.HasContainer && TARGET.HasDockerURL"
        return
    _set_image(job, strip_quotes(image))


def _set_image(job: JobBuilder, image: str) -> None:
    if image.startswith("docker://"):
        kind, clause = "WantDockerImage", "TARGET.HasDockerURL"
    elif image.endswith(".sif"):
        kind, clause = "WantSIF", "TARGET.HasSIF"
    else:
        kind, clause = "WantSandboxImage", "TARGET.HasSandboxImage"
    job.set_boolean(kind, True)
    job.container_clause = f"TARGET.HasContainer && {clause}"
    url = URL.match(image)
    shared = split_list((job.config.get("CONTAINER_SHARED_FS") or "").replace(" ", ","))
    if kind == "WantDockerImage":
        source = "docker"
    elif job.boolean("transfer_container") is False or (
        any(image.startswith(f"{folder.rstrip('/')}/") for folder in shared)
    ):
        source = "local"
    else:
        source = url.group(1).lower() if url else "cedar"
        job.input_images.append(image)
        job.set_string("ContainerImageFullPath", image)
        image = image.rstrip("/").rpartition("/")[2]
    job.set_string("ContainerImage", image)
    job.set_string("ContainerImageSource", source)


def set_java(job: JobBuilder) -> None:
    """Decide the archives and arguments of a Java job."""
    if job.universe is not JobUniverse.JAVA:
        return
    jars = split_list(job.param("jar_files") or "")
    if jars:
        job.set_string("JarFiles", ",".join(jars))
    job.input_files += jars
    text = job.param("java_vm_args")
    if text is None:
        return
    if arguments.is_new_syntax(text):
        words = arguments.split_new(arguments.strip_outer_quotes(text))
        job.set_string("JavaVMArguments", arguments.join_new(words))
    else:
        job.set_string("JavaVMArgs", arguments.parse_old_arguments(text))


def set_parallel(job: JobBuilder) -> None:
    """Decide how many machines a parallel job needs."""
    hosts = 1
    if job.universe is JobUniverse.PARALLEL:
        wanted = job.integer("machine_count")
        if wanted is None:
            raise SubmitError("ERROR: No machine_count specified!")
        hosts = wanted
        job.set_boolean("WantIOProxy", True)
        job.set_boolean("JobRequiresSandbox", True)
    job.set_integer("MinHosts", hosts)
    job.set_integer("MaxHosts", hosts)


def read_grid_type(job: JobBuilder) -> None:
    """Find out where a grid job goes; raise SubmitError for nowhere and for what is unknown."""
    if job.universe is not JobUniverse.GRID:
        return
    text = job.param("grid_resource")
    if text is None:
        raise SubmitError("ERROR: grid_resource attribute not defined for grid universe job")
    word = strip_quotes(text).split()[0]
    if word.lower() not in GRID_TYPES:
        raise SubmitError(
            f"ERROR: Invalid value '{word}' for grid type\n"
            "Must be one of: condor, batch, arc, ec2, gce, or azure"
        )
    job.grid_type = word.lower()


def set_grid(job: JobBuilder) -> None:
    """Decide the attributes of grid jobs that do not come out of their text alone."""
    if job.universe is not JobUniverse.GRID:
        return
    job.set_string("GridResource", strip_quotes(job.param("grid_resource") or ""))
    remote = job.param("remote_universe")
    if remote is not None:
        universe = UNIVERSE_NUMBERS.get(remote.lower())
        if universe is None:
            raise SubmitError(f"ERROR: Unknown Universe of '{remote}' specified")
        job.set_integer("Remote_JobUniverse", universe)
    if job.grid_type in ("ec2", "azure", "gce"):
        _set_cloud(job)
    labels = job.param("cloud_label_names")
    if labels is not None:
        job.set_string("CloudLabelNames", labels)
        for label in split_list(labels.replace(" ", ",")):
            value = job.param(f"cloud_label_{label}")
            if value is not None:
                job.set_string(f"CloudLabel{label}", value)


def _set_cloud(job: JobBuilder) -> None:
    if job.grid_type == "ec2":
        if job.param("ec2_access_key_id") is None:
            raise SubmitError(
                "ERROR: EC2 jobs require a 'ec2_access_key_id' or 'aws_access_key_id_file' "
                "parameter"
            )
        name = job.param("executable") or ""
        job.set_string("EC2TagName", name)
        job.set_string("CloudLabelName", name)
    for command, attribute in CLOUD_FILES:
        value = job.param(command)
        if value is not None:
            job.set_string(attribute, job.path(value))


def set_virtual_machine(job: JobBuilder) -> None:
    """Decide the attributes of a virtual machine job."""
    if job.universe is not JobUniverse.VM:
        return
    memory = job.integer("vm_memory")
    if memory is None:
        raise SubmitError(
            "ERROR: vm_memory cannot be found.\n"
            "Please specify vm_memory for vm universe in your submit description file."
        )
    kind = job.param("vm_type")
    if kind is None:
        raise SubmitError("ERROR: 'vm_type' cannot be found.")
    job.set_string("JobVMType", kind.lower())
    job.set_integer("JobVMMemory", memory)
    vcpus = job.integer("vm_vcpus")
    job.set_integer("JobVM_VCPUS", 1 if vcpus is None else vcpus)
    for command, attribute in (
        ("vm_checkpoint", "JobVMCheckpoint"),
        ("vm_networking", "JobVMNetworking"),
        ("vm_vnc", "JobVMVNCConsole"),
    ):
        job.set_boolean(attribute, bool(job.boolean(command)))
    disk = job.param("vm_disk")
    if disk is not None:
        job.set_string("VMPARAM_vm_Disk", re.sub(r"\s*,\s*", ",", disk))
    kernel = job.param("xen_kernel")
    if kernel is not None:
        job.set_string("VMPARAM_Xen_Kernel", kernel)
    job.executable_kib = memory * 1024
