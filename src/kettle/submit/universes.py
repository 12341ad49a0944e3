"""Steps: containers, Java, virtual machines, parallel jobs and the grid."""

from __future__ import annotations

import re

from kettle.attributes.codes import JobUniverse
from kettle.digits import whole
from kettle.errors import SubmitError
from kettle.octets import BLANKS, to_bytes
from kettle.submit.arguments import split_list
from kettle.submit.job import JobBuilder, leading_number, split_at_commas, strip_quotes, unquoted
from kettle.submit.program import NAMES, name_program
from kettle.submit.transfer import URL

# Images in a registry of Docker's kind, which the machine fetches itself.
REGISTRIES = ("docker", "oras")
# What says of which kind an image is, and what machines have that run it.
KINDS = (
    ("WantDockerImage", "TARGET.HasDockerURL"),
    ("WantSIF", "TARGET.HasSIF"),
    ("WantSandboxImage", "TARGET.HasSandboxImage"),
)
NO_IMAGES = ("instance://", "library://", "shub://")


def set_container(job: JobBuilder) -> None:
    """Decide what kind of image a container job needs and whether it travels."""
    if job.universe not in (JobUniverse.VANILLA, JobUniverse.LOCAL):
        return
    docker, image = job.param("docker_image"), job.param("container_image")
    if job.is_docker:
        _set_docker(job, docker, image)
        return
    if job.is_later and not _stays_container(job, docker or image):
        return
    if docker is not None and image is not None:
        raise SubmitError("cannot declare both docker_image and container_image")
    if docker is None and image is None:
        if (job.param("universe") or "").lower() == "container":
            raise SubmitError("container jobs require a container_image or docker_image")
        return
    job.is_container = True
    job.set_boolean("WantContainer", True)
    if image is None:
        name = strip_quotes(docker or "")
        if not name:
            said = f"'{name}' is not a valid docker_image for container universe"
            raise SubmitError(said, command="docker_image")
        job.set_string("DockerImage", name)
        job.set_boolean("WantDockerImage", True)
        job.container_clause = "TARGET.HasContainer && TARGET.HasDockerURL"
    else:
        # Blanks around it stay, as in the reference.
        # Compat: quotes around it do not, as they do not around docker_image; there they do, so
        # that no machine finds the image, and its job asks for another kind than it has
        # (test_quotes_around_an_image_are_no_part_of_it).
        _set_image(job, unquoted(image))
    _set_services(job)


def _stays_container(job: JobBuilder, image: str | None) -> bool:
    """Tell whether a later job is a container job with an image of its own.

    It is one if the cluster's first job is, whose image it has where it names none.
    """
    job.is_container = job.stays("WantContainer", otherwise=image is not None)
    if job.is_container and image is None:
        kinds = [clause for name, clause in KINDS if job.of_cluster(name) == "true"]
        job.container_clause = " && ".join(("TARGET.HasContainer", *kinds[:1]))
    return job.is_container and image is not None


def _set_docker(job: JobBuilder, docker: str | None, image: str | None) -> None:
    if image is not None:
        raise SubmitError("docker universe does not allow use of container_image.")
    if docker is None and job.is_later:
        docker = job.said("docker_image", "DockerImage")
    if docker is None:
        raise SubmitError("docker jobs require a docker_image", command="docker_image")
    if not strip_quotes(docker):
        said = f"'{unquoted(docker)}' is not a valid docker_image"
        raise SubmitError(said, command="docker_image")
    job.set_boolean("WantDocker", True)
    job.set_string("DockerImage", strip_quotes(docker))
    job.container_clause = "TARGET.HasDocker"
    network = job.said("docker_network_type", "DockerNetworkType")
    if network is not None and network not in ("host", "none", "nat"):
        job.container_clause += " && StringListMember(My.DockerNetworkType,TARGET.DockerNetworks)"
    _set_services(job)


def _set_services(job: JobBuilder) -> None:
    """Decide the services that a container offers; each must have a port."""
    names = job.param("container_service_names")
    if names is None:
        return
    job.set_string("ContainerServiceNames", names)
    for name in split_list(names):
        port = job.integer(f"{name}_container_port")
        if port is None or not 0 <= port <= 65535:
            raise SubmitError(
                f"Requested container service '{name}' was not assigned a port, or the "
                "assigned port was not valid.",
                command="container_service_names" if port is None else f"{name}_container_port",
            )
        job.set_integer(f"{name}_ContainerPort", port)


def _set_image(job: JobBuilder, image: str) -> None:
    if not image.strip(BLANKS) or image.startswith(NO_IMAGES):
        raise SubmitError(f"'{image}' is not a valid container image")
    if image.startswith("docker:"):
        kind, clause = KINDS[0]
    elif image.endswith(".sif"):
        kind, clause = KINDS[1]
    else:
        kind, clause = KINDS[2]
    job.set_boolean(kind, True)
    job.container_clause = f"TARGET.HasContainer && {clause}"
    job.set_string("ContainerImage", image)
    url = URL.match(image)
    shared = split_at_commas((job.config.get("CONTAINER_SHARED_FS") or "").replace(" ", ","))
    if job.boolean("transfer_container") is False or image.startswith(tuple(shared)):
        job.set_string("ContainerImageSource", "local")
    elif url and url.group(1) in REGISTRIES:
        job.set_string("ContainerImageSource", url.group(1))
    else:
        _send_image(job, image)


def _send_image(job: JobBuilder, image: str) -> None:
    """Have the image sent along, or once for all jobs that share it."""
    job.input_files_named = True
    common = job.boolean("container_is_common")
    if common is None:
        common = bool(job.config.boolean("CONTAINER_IMAGES_COMMON_BY_DEFAULT"))
    if common:
        _share_image(job, image)
    else:
        job.input_images += (image,)
    bare = image.removesuffix("/")
    job.set_string("ContainerImage", bare.rpartition("/")[2])
    job.set_string("ContainerImageFullPath", image)
    scheme, colon, _ = bare.partition(":")
    job.set_string("ContainerImageSource", scheme if colon else "cedar")


def _share_image(job: JobBuilder, image: str) -> None:
    """Name a catalog of files that is sent once; its name comes from where the image is."""
    import hashlib  # for those alone who share images

    place = image if URL.match(image) else job.path(image)
    catalog = f"container_{hashlib.sha256(to_bytes(place)).hexdigest()[:8]}"
    job.set_string(f"_x_catalog_{catalog}", image)
    job.set_string("CommonInputCatalogs", catalog)


def set_java(job: JobBuilder) -> None:
    """Decide which files of a Java job's own travel, if any do: its class and its archives."""
    if job.universe is not JobUniverse.JAVA:
        return
    name = job.param("executable")
    jars = split_at_commas(job.said("jar_files", "JarFiles") or "")
    job.java_files = (*((name_program(job, name),) if name else ()), *jars)


def set_parallel(job: JobBuilder) -> None:
    """Decide how many machines a job needs; those of a parallel job are there together.

    Whether those of another job are, too, is the cluster's affair, as in the reference.
    """
    if job.is_later:
        wanted: bool | None = job.of_cluster("WantParallelScheduling") == "true"
    else:
        wanted = job.boolean("WantParallelScheduling")
    if wanted:
        job.set_boolean("WantParallelScheduling", True)
    hosts = 1
    if wanted or job.universe in (JobUniverse.PARALLEL, JobUniverse.MPI):
        count = job.param("machine_count")
        if count is None and job.is_later:
            return
        if count is None:
            asking = "WantParallelScheduling" if wanted else "machine_count"
            raise SubmitError("No machine_count specified!", command=asking)
        digits = re.match(r"[-+]?\d+", count)
        hosts = whole(digits.group()) if digits else 0
    if job.universe is JobUniverse.PARALLEL:
        job.set_boolean("WantIOProxy", True)
        job.set_boolean("JobRequiresSandbox", True)
    job.set_integer("MinHosts", hosts)
    job.set_integer("MaxHosts", hosts)


def set_remote_universe(job: JobBuilder) -> None:
    """Decide the universe of the job on the remote sides, which is that of the cluster."""
    if job.is_later:
        return
    for command, side in (
        ("remote_universe", "Remote_"),
        ("remote_remote_universe", "Remote_Remote_"),
    ):
        text = job.param(command)
        if text is None:
            continue
        universe = NAMES.get(text.lower())
        number = leading_number(text, 32) or universe
        if not number:
            raise SubmitError(f"Unknown {side}Universe of '{text}' specified")
        job.set_integer(f"{side}JobUniverse", number)
