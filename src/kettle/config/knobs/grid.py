"""Knobs of the grid universe: a pure table."""

from kettle.config.knob import (
    boolean,
    expression,
    integer,
    listing,
    path,
    place,
    real,
    seconds,
    size,
    string,
)
from kettle.config.ranges import COUNT, FRACTION, OR_NONE


class GridKnobs:
    """Knobs of the grid universe."""

    ARC_GAHP = path("$(SBIN)/arc_gahp", doc="Known path.", unread=True)
    ARC_GAHP_COMMAND_LIMIT = integer(
        "1000",
        doc="Known and checked as a number.",
        unread=True,
    )
    ARC_GAHP_LOG = path(
        "/tmp/ArcGahpLog.$(USERNAME)",
        doc="Known path.",
        unread=True,
    )
    ARC_GAHP_USE_THREADS = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    AZURE_GAHP = path(
        "$(SBIN)/AzureGAHPServer",
        doc="Known path.",
        unread=True,
    )
    BATCH_GAHP = path("$(BIN)/blahpd", doc="Known path.", unread=True)
    BATCH_GAHP_CHECK_STATUS_ATTEMPTS = integer(
        "5",
        doc="Known and checked as a number.",
        unread=True,
    )
    BLAHPD_LOCATION = path("$(RELEASE_DIR)", doc="Known path.", unread=True)
    CGAHP_SCHEDD_INTERACTION_TIME = seconds(
        "5",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    CONDORC_ATTRS_TO_COPY = string("", doc="Known text.", unread=True)
    CONDOR_GAHP = path("$(SBIN)/condor_c-gahp", doc="Known path.", unread=True)
    CONDOR_GAHP_WORKER = path(
        "$(SBIN)/condor_c-gahp_worker_thread",
        doc="Known path.",
        unread=True,
    )
    CONDOR_GATEKEEPER = string("", doc="Known text.", unread=True)
    C_GAHP_CONTACT_SCHEDD_DELAY = seconds(
        "5",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    C_GAHP_DEBUG = listing("D_STATS", doc="Known list of words.", unread=True)
    C_GAHP_LOCK = path(
        "/tmp/CGAHPLock.$(USERNAME)",
        doc="Known path.",
        unread=True,
    )
    C_GAHP_LOG = path(
        "/tmp/CGAHPLog.$(USERNAME)",
        doc="Known path.",
        unread=True,
    )
    C_GAHP_MAX_FILE_REQUESTS = integer(
        "10",
        doc="Known and checked as a number.",
        unread=True,
    )
    C_GAHP_WORKER_THREAD_LOCK = path(
        "/tmp/CGAHPWorkerLock.$(USERNAME)",
        doc="Known path.",
        unread=True,
    )
    C_GAHP_WORKER_THREAD_LOG = path(
        "/tmp/CGAHPWorkerLog.$(USERNAME)",
        doc="Known path.",
        unread=True,
    )
    DELEGATE_FULL_JOB_GSI_CREDENTIALS = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DELEGATE_JOB_GSI_CREDENTIALS = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DELEGATE_JOB_GSI_CREDENTIALS_LIFETIME = seconds(
        "86400",
        within=COUNT,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    DELEGATE_JOB_GSI_CREDENTIALS_REFRESH = real(
        "0.25",
        within=FRACTION,
        doc="Known and checked as a real number.",
        unread=True,
    )
    EC2_GAHP = path("$(SBIN)/ec2_gahp", doc="Known path.", unread=True)
    EC2_GAHP_DEBUG = listing("D_PID", doc="Known list of words.", unread=True)
    EC2_GAHP_LOG = path(
        "/tmp/EC2GahpLog.$(USERNAME)",
        doc="Known path.",
        unread=True,
    )
    GAHP_DEBUG_HIDE_SENSITIVE_DATA = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    GAHP_SSL_CADIR = string("", doc="Known text.", unread=True)
    GAHP_SSL_CAFILE = string("", doc="Known text.", unread=True)
    GCE_GAHP = path("$(SBIN)/gce_gahp", doc="Known path.", unread=True)
    GCE_GAHP_LIFETIME = seconds(
        "86400",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    GCE_GAHP_LOG = path(
        "/tmp/GceGahpLog.$(USERNAME)",
        doc="Known path.",
        unread=True,
    )
    GRIDMANAGER = place(
        "$(SBIN)/condor_gridmanager",
        doc="The grid manager's program.",
    )
    GRIDMANAGER_ARGS = string("", doc="Known text.", unread=True)
    GRIDMANAGER_CONNECT_FAILURE_RETRY_COUNT = integer(
        "3",
        doc="Known and checked as a number.",
        unread=True,
    )
    GRIDMANAGER_CONNECT_FAILURE_RETRY_INTERVAL = seconds(
        "5",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    GRIDMANAGER_CONTACT_SCHEDD_DELAY = seconds(
        "5",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    GRIDMANAGER_DEBUG = listing("", doc="Known list of words.", unread=True)
    GRIDMANAGER_GAHPCLIENT_DEBUG = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    GRIDMANAGER_GAHPCLIENT_DEBUG_SIZE = integer(
        "0",
        doc="Known and checked as a number.",
        unread=True,
    )
    GRIDMANAGER_GAHP_CALL_TIMEOUT_CONDOR = seconds(
        "28800",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    GRIDMANAGER_GAHP_RESPONSE_TIMEOUT = seconds(
        "20",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    GRIDMANAGER_LOCK = path(
        "$(LOCK)/GridmanagerLock",
        doc="Known path.",
        unread=True,
    )
    GRIDMANAGER_LOG = path(
        "$(LOG)/GridmanagerLog",
        doc="Known path.",
        unread=True,
    )
    GRIDMANAGER_LOG_APPEND_SELECTION_EXPR = expression(
        "false",
        doc="Known expression.",
        unread=True,
    )
    GRIDMANAGER_MAX_PENDING_REQUESTS = integer(
        "50",
        doc="Known and checked as a number.",
        unread=True,
    )
    GRIDMANAGER_MAX_PENDING_SUBMITS = integer(
        "",
        unset="0",
        doc="Known and checked as a number.",
        unread=True,
    )
    GRIDMANAGER_MAX_PENDING_SUBMITS_PER_RESOURCE = integer(
        "",
        unset="0",
        doc="Known and checked as a number.",
        unread=True,
    )
    GRIDMANAGER_MAX_SUBMITTED_JOBS_PER_RESOURCE = integer(
        "1000",
        doc="Known and checked as a number.",
        unread=True,
    )
    GRIDMANAGER_MAX_SUBMITTED_JOBS_PER_RESOURCE_EC2 = integer(
        "20",
        doc="Known and checked as a number.",
        unread=True,
    )
    GRIDMANAGER_PROXY_REFRESH_TIME = seconds(
        "21600",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    GRIDMANAGER_SELECTION_EXPR = expression(
        "",
        doc="Known expression.",
        unread=True,
    )
    MAX_C_GAHP_LOG = size(
        "$(MAX_DEFAULT_LOG)",
        doc="Known text.",
        unread=True,
    )
    MAX_GRIDMANAGER_LOG = size(
        "$(MAX_DEFAULT_LOG)",
        doc="Known text.",
        unread=True,
    )
    REMOTE_GAHP = path("$(SBIN)/remote_gahp", doc="Known path.", unread=True)
    SEC_C_GAHP_WORKER_THREAD_DEFAULT_SESSION_DURATION = seconds(
        "1800",
        within=COUNT,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    STARTER_LOCAL = path(
        "$(SBIN)/condor_starter",
        doc="Known path.",
        unread=True,
    )
