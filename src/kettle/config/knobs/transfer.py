"""Knobs of file transfer: a pure table."""

from kettle.config.knob import (
    boolean,
    expression,
    family,
    integer,
    listing,
    path,
    place,
    seconds,
    string,
)
from kettle.config.ranges import BYTES, COUNT, OR_NONE, POSITIVE


class TransferKnobs:
    """Knobs of file transfer."""

    ALLOW_COMMON_FILES_ON_LVS = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    ALLOW_TRANSFER_REMAP_TO_MKDIR = boolean(
        "true",
        strictest="false",
        doc="Whether output may be put into folders that are missing below the job's directory.",
    )
    BYTES_REQUIRED_TO_QUEUE_FOR_TRANSFER = integer(
        None,
        unset="104857600",
        sense=BYTES,
        doc="From which size on a transfer waits for its turn, in bytes.",
    )
    CHECKPOINT_CLEANUP_TIMEOUT = seconds(
        None,
        unset="20",
        sense=COUNT,
        doc="How long a plug-in may take to delete a file of a checkpoint at a URL, in seconds.",
    )
    CHECKPOINT_JOB_ATTRS = listing(
        None, doc="TRANSFER_JOB_ATTRS for the transfers of checkpoints alone."
    )
    DEFAULT_NUM_EXTRA_CHECKPOINTS = integer(
        None,
        unset="1",
        sense=COUNT,
        doc="How many checkpoints at a URL are kept of a running job beside the last one.",
    )
    ENABLE_HTTP_PUBLIC_FILES = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    ENABLE_MULTIFILE_TRANSFER_PLUGINS = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    ENABLE_URL_TRANSFERS = boolean(
        "true",
        strictest="false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    FILETRANSFER_PLUGINS = listing(
        (
            "$(LIBEXEC)/curl_plugin, $(LIBEXEC)/data_plugin, $(LIBEXEC)/box_plugin.py, "
            "$(LIBEXEC)/gdrive_plugin.py, $(LIBEXEC)/onedrive_plugin.py, $(STASH_PLUGIN)"
        ),
        doc="Programs that fetch and store URLs.",
    )
    FILE_TRANSFER_DISK_LOAD_THROTTLE = string(
        "2.0",
        doc="A load, or two as `1.8 to 2.2`.",
        unread=True,
    )
    FILE_TRANSFER_DISK_LOAD_THROTTLE_LONG_HORIZON = string(
        "5m",
        doc="Known text.",
        unread=True,
    )
    FILE_TRANSFER_DISK_LOAD_THROTTLE_SHORT_HORIZON = string(
        "1m",
        doc="Known text.",
        unread=True,
    )
    FILE_TRANSFER_DISK_LOAD_THROTTLE_WAIT_BETWEEN_INCREMENTS = integer(
        "60",
        doc="Known and checked as a number.",
        unread=True,
    )
    FILE_TRANSFER_STATS_LOG = place(
        "$(LOG)/transfer_history",
        doc="Where it is told how each file fared that a URL plug-in moved.",
    )
    HTTP_PUBLIC_FILES_ADDRESS = string(
        "127.0.0.1:80",
        doc="Known text.",
        unread=True,
    )
    HTTP_PUBLIC_FILES_ROOT_DIR = path(
        "/usr/share/nginx/html",
        doc="Known path.",
        unread=True,
    )
    HTTP_PUBLIC_FILES_STALE_AGE = seconds(
        "604800",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    INPUT_JOB_ATTRS = listing(None, doc="TRANSFER_JOB_ATTRS for the transfers of input alone.")
    KEEP_DATA_CLAIM_IDLE = integer(
        "300",
        doc="Known and checked as a number.",
        unread=True,
    )
    LIMIT_DIRECTORY_ACCESS = listing(
        None,
        strictest="/dev/null",
        doc="Folders below which shadows may read and write jobs' files, and from which the schedd "
        "has them fetched; empty for anywhere.",
    )
    LOG_FILETRANSFER_PLUGIN_STDOUT_ON_FAILURE = string(
        "D_ALWAYS",
        doc="The category of a starter's log that has what a failed URL plug-in printed.",
    )
    LOG_FILETRANSFER_PLUGIN_STDOUT_ON_SUCCESS = string(
        None,
        doc="The category of a starter's log that has what a URL plug-in printed; else nobody has.",
    )
    MAX_CHECKPOINT_CLEANUP_PROCS = integer(
        None,
        unset="100",
        sense=POSITIVE,
        doc="For how many jobs at once condor_preen, and for how many owners the schedd, deletes "
        "checkpoints.",
    )
    MAX_CONCURRENT_DOWNLOADS = integer(
        "100",
        within=COUNT,
        doc="How many jobs' outputs come to the access point at a time; 0 is any number.",
    )
    MAX_CONCURRENT_UPLOADS = integer(
        "100",
        within=COUNT,
        doc="How many jobs' inputs leave the access point at a time; 0 is any number.",
    )
    MAX_CONCURRENT_UPLOADS_PER_USER = integer(
        "$(MAX_CONCURRENT_UPLOADS:100)/5",
        within=COUNT,
        doc="How many inputs of one user's jobs leave the access point at a time.",
    )
    MAX_FILE_TRANSFER_PLUGIN_LIFETIME = seconds(
        "72000",
        sense=COUNT,
        doc="How long such a program may take, in seconds.",
    )
    MAX_TRANSFER_INPUT_MB = expression(
        "-1",
        strictest="0",
        doc="Most input of a job in MB; negative for no limit.",
    )
    MAX_TRANSFER_LIFETIME = seconds(
        "300",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    MAX_TRANSFER_OUTPUT_MB = expression(
        "-1",
        strictest="0",
        doc="Most output of a job in MB; negative for no limit.",
    )
    MY_POPEN_KEEPALIVE_INTERVAL = seconds(
        None,
        unset="60",
        sense=COUNT,
        doc="How often a starter's log (D_TEST) says that such a program still runs, in seconds.",
    )
    OUTPUT_JOB_ATTRS = listing(None, doc="TRANSFER_JOB_ATTRS for the transfers of output alone.")
    METHOD_TEST_URL = family(
        "{method}_TEST_URL",
        string,
        "",
        doc="A URL that a startd fetches once for its kind (HTTPS_TEST_URL and so on); where that "
        "fails, the machine does not offer such URLs.",
    )
    PLUGINS = listing("", doc="Known list of words.", unread=True)
    PLUGIN_DIR = path("", doc="Known path.", unread=True)
    PREEN_CHECKPOINT_CLEANUP_TIMEOUT = seconds(
        None,
        unset="300",
        sense=COUNT,
        doc="How long condor_preen lets the deletion of a job's checkpoints take, in seconds.",
    )
    PROTECTED_URL_TRANSFER_MAPFILE = path(
        None,
        unset="",
        doc=(
            "Map of the beginnings of URLs that a job fetches apart from its other files: lines "
            "of `SCHEME BEGINNING QUEUE`."
        ),
    )
    RUN_FILETRANSFER_PLUGINS_WITH_ROOT = boolean(
        "false",
        strictest="false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    SCHEDD_CHECKPOINT_CLEANUP_TIMEOUT = seconds(
        None,
        unset="300",
        sense=COUNT,
        doc="How long a process may take that deletes the checkpoints of jobs that have left, in "
        "seconds; what it hangs at is condor_preen's.",
    )
    SHADOW_CHECKPOINT_CLEANUP_TIMEOUT = seconds(
        None,
        unset="300",
        sense=COUNT,
        doc="How long the deletion of older checkpoints of a running job may take, in seconds.",
    )
    SIGN_S3_URLS = boolean(
        "true",
        doc="Whether URLs of S3 and Google stores need the keys of a job that names them.",
    )
    SPAWN_JOB_ATTRS = listing(
        None, doc="Which of the job's attributes its record of a run's beginning has."
    )
    STARTER_DISABLE_USER_SUPPLIED_TRANSFER_PLUGINS = listing(
        "",
        doc="Known list of words.",
        unread=True,
    )
    STARTER_FILE_XFER_STALL_TIMEOUT = seconds(
        "3600",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    STASH_PLUGIN = place(
        "$(LIBEXEC)/stash_plugin",
        doc="The program for osdf:// and stash://, which FILETRANSFER_PLUGINS names.",
    )
    SUBMIT_CONTAINER_NEVER_XFER_ABSOLUTE_CMD = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    TRANSFER_IO_REPORT_INTERVAL = seconds(
        "10",
        within=COUNT,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    TRANSFER_IO_REPORT_TIMESPANS = string(
        "1m:60 5m:300 1h:3600 1d:86400",
        doc="Over how long the rates of transfers in the schedd's ad are smoothed: name:seconds.",
    )
    TRANSFER_JOB_ATTRS = listing(
        "NumShadowStarts,DAGManJobId,DAGNodeName",
        doc="Job attributes that every transfer's history record has.",
    )
    TRANSFER_QUEUE_USER_EXPR = expression(
        'strcat("Owner_",Owner)',
        doc="Whose share of the queue of transfers a job takes, evaluated in the schedd's ad.",
    )
