"""Knobs of containers: Docker and Apptainer: a pure table."""

from kettle.config.knob import boolean, expression, integer, listing, path, seconds, string


class DockerKnobs:
    """Knobs of containers: Docker and Apptainer."""

    CONTAINER_IMAGES_COMMON_BY_DEFAULT = boolean(
        "false",
        doc="Whether the images of container jobs are common files unless a job says otherwise.",
    )
    CONTAINER_REGEX_COMMON_BY_DEFAULT = string(
        "",
        doc="Known text; no part of Kettle acts on it yet.",
    )
    CONTAINER_SHARED_FS = path(
        "/cvmfs", doc="Folders whose container images are on every machine and never travel."
    )
    DOCKER = path("/usr/bin/docker", doc="The docker program.")
    DOCKER_CACHE_ADVERTISE_INTERVAL = seconds(
        "1200",
        doc="Known and checked as a span of seconds; no part of Kettle acts on it yet.",
    )
    DOCKER_DROP_ALL_CAPABILITIES = boolean(
        "true",
        doc="Known and checked as a truth value; no part of Kettle acts on it yet.",
    )
    DOCKER_EXTRA_ARGUMENTS = string("", doc="Known text; no part of Kettle acts on it yet.")
    DOCKER_IMAGE_CACHE_SIZE = integer(
        "8",
        doc="Known and checked as a number; no part of Kettle acts on it yet.",
    )
    DOCKER_LOG_DRIVER_NAME = boolean(
        "true",
        doc="Known and checked as a truth value; no part of Kettle acts on it yet.",
    )
    DOCKER_MOUNT_VOLUMES = string("", doc="Known text; no part of Kettle acts on it yet.")
    DOCKER_NETWORKS = string("", doc="Known text; no part of Kettle acts on it yet.")
    DOCKER_PAT_PRODUCER = path(
        "$(SBIN)/condor_docker_pat_producer",
        doc="Known path; no part of Kettle acts on it yet.",
    )
    DOCKER_PERFORM_TEST = boolean(
        "true",
        doc="Known and checked as a truth value; no part of Kettle acts on it yet.",
    )
    DOCKER_RUN_UNDER_INIT = boolean(
        "true",
        doc="Known and checked as a truth value; no part of Kettle acts on it yet.",
    )
    DOCKER_SKIP_IMAGE_ARCH_CHECK = boolean(
        "false",
        doc="Known and checked as a truth value; no part of Kettle acts on it yet.",
    )
    DOCKER_TEST_IMAGE_NAME = string(
        "htcondor_docker_test",
        doc="Known text; no part of Kettle acts on it yet.",
    )
    DOCKER_TEST_IMAGE_PATH = path(
        "$(LIBEXEC)/htcondor_docker_test",
        doc="Known path; no part of Kettle acts on it yet.",
    )
    DOCKER_TRUST_LOCAL_IMAGES = boolean(
        "false",
        doc="Known and checked as a truth value; no part of Kettle acts on it yet.",
    )
    DOCKER_VOLUMES = string("", doc="Known text; no part of Kettle acts on it yet.")
    MOUNT_UNDER_SCRATCH = string(
        '"/tmp,/var/tmp"',
        doc="Folders that a job of a root pool has for itself, below its scratch directory.",
    )
    OPENMPI_EXCLUDE_NETWORK_INTERFACES = string(
        "docker0,virbr0",
        doc="Known text; no part of Kettle acts on it yet.",
    )
    OPENMPI_INSTALL_PATH = path(
        "/usr/lib64/openmpi",
        doc="Known path; no part of Kettle acts on it yet.",
    )
    SINGULARITY = path("$(LIBEXEC)/apptainer", doc="The Apptainer program.")
    SINGULARITY_ADD_ROCM_FLAG = boolean(
        "false",
        doc="Known and checked as a truth value; no part of Kettle acts on it yet.",
    )
    SINGULARITY_ALLOWED_JOB_ENV_VARS = listing(
        "",
        doc="Known list of words; no part of Kettle acts on it yet.",
    )
    SINGULARITY_IMAGE_EXPR = expression(
        "SingularityImage",
        doc="Known expression; no part of Kettle evaluates it yet.",
    )
    SINGULARITY_JOB = expression(
        "false",
        doc="Known expression; no part of Kettle evaluates it yet.",
    )
    SINGULARITY_MOUNT_HOME = boolean(
        "false",
        doc="Known and checked as a truth value; no part of Kettle acts on it yet.",
    )
    SINGULARITY_TEST_SANDBOX = path(
        "$(LIBEXEC)/singularity_test_sandbox",
        doc="Known path; no part of Kettle acts on it yet.",
    )
    SINGULARITY_USE_PID_NAMESPACES = string(
        "auto",
        doc="Known text; no part of Kettle acts on it yet.",
    )
    SINGULARITY_VERBOSITY = string("-s", doc="Known text; no part of Kettle acts on it yet.")
