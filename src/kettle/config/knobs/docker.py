"""Knobs of containers: Docker and Apptainer: a pure table."""

from kettle.config.knob import boolean, expression, integer, listing, path, seconds, string
from kettle.config.ranges import OR_NONE


class DockerKnobs:
    """Knobs of containers: Docker and Apptainer."""

    CONTAINER_IMAGES_COMMON_BY_DEFAULT = boolean(
        "false",
        doc="Whether the images of container jobs are common files unless a job says otherwise.",
    )
    CONTAINER_REGEX_COMMON_BY_DEFAULT = string(
        "",
        doc="Known text.",
        unread=True,
    )
    CONTAINER_SHARED_FS = path(
        "/cvmfs", doc="Folders whose container images are on every machine and never travel."
    )
    DOCKER = path("/usr/bin/docker", doc="The docker program.")
    DOCKER_CACHE_ADVERTISE_INTERVAL = seconds(
        "1200",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    DOCKER_DROP_ALL_CAPABILITIES = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DOCKER_EXTRA_ARGUMENTS = string("", doc="Known text.", unread=True)
    DOCKER_IMAGE_CACHE_SIZE = integer(
        "8",
        doc="Known and checked as a number.",
        unread=True,
    )
    DOCKER_LOG_DRIVER_NAME = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DOCKER_MOUNT_VOLUMES = string("", doc="Known text.", unread=True)
    DOCKER_NETWORKS = string("", doc="Known text.", unread=True)
    DOCKER_PAT_PRODUCER = path(
        "$(SBIN)/condor_docker_pat_producer",
        doc="Known path.",
        unread=True,
    )
    DOCKER_PERFORM_TEST = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DOCKER_RUN_UNDER_INIT = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DOCKER_SKIP_IMAGE_ARCH_CHECK = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DOCKER_TEST_IMAGE_NAME = string(
        "htcondor_docker_test",
        doc="Known text.",
        unread=True,
    )
    DOCKER_TEST_IMAGE_PATH = path(
        "$(LIBEXEC)/htcondor_docker_test",
        doc="Known path.",
        unread=True,
    )
    DOCKER_TRUST_LOCAL_IMAGES = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DOCKER_VOLUMES = string("", doc="Known text.", unread=True)
    MOUNT_UNDER_SCRATCH = string(
        '"/tmp,/var/tmp"',
        doc="Folders that a job of a root pool has for itself, below its scratch directory.",
    )
    OPENMPI_EXCLUDE_NETWORK_INTERFACES = string(
        "docker0,virbr0",
        doc="Known text.",
        unread=True,
    )
    OPENMPI_INSTALL_PATH = path(
        "/usr/lib64/openmpi",
        doc="Known path.",
        unread=True,
    )
    SINGULARITY = path("$(LIBEXEC)/apptainer", doc="The Apptainer program.")
    SINGULARITY_ADD_ROCM_FLAG = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    SINGULARITY_ALLOWED_JOB_ENV_VARS = listing(
        "",
        doc="Known list of words.",
        unread=True,
    )
    SINGULARITY_IMAGE_EXPR = expression(
        "SingularityImage",
        doc="Known expression.",
        unread=True,
    )
    SINGULARITY_JOB = expression(
        "false",
        doc="Known expression.",
        unread=True,
    )
    SINGULARITY_MOUNT_HOME = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    SINGULARITY_TEST_SANDBOX = path(
        "$(LIBEXEC)/singularity_test_sandbox",
        doc="Known path.",
        unread=True,
    )
    SINGULARITY_USE_PID_NAMESPACES = string(
        "auto",
        doc="Known text.",
        unread=True,
    )
    SINGULARITY_VERBOSITY = string("-s", doc="Known text.", unread=True)
