"""Knobs of the exporter of history to Elasticsearch: a pure table."""

from kettle.config.knob import boolean, integer, listing, path, seconds, string
from kettle.config.ranges import OR_NONE


class AdstashKnobs:
    """Knobs of the exporter of history to Elasticsearch."""

    ADSTASH_CHECKPOINT_FILE = path(
        "$(LOG)/adstash_checkpoint.json",
        doc="Known path.",
        unread=True,
    )
    ADSTASH_DEBUG = listing(
        "D_ALWAYS",
        doc="Known list of words.",
        unread=True,
    )
    ADSTASH_INTERFACE = string("elasticsearch", doc="Known text.", unread=True)
    ADSTASH_JSON_DIR = path("$(LOG)", doc="Known path.", unread=True)
    ADSTASH_LOG = path("$(LOG)/adstash.log", doc="Known path.", unread=True)
    ADSTASH_NUM_THREADS = integer(
        "1",
        doc="Known and checked as a number.",
        unread=True,
    )
    ADSTASH_READ_POOLS = string(
        "$(CONDOR_HOST)",
        doc="Known text.",
        unread=True,
    )
    ADSTASH_READ_SCHEDDS = listing(
        "*",
        doc="Known and checked as a number.",
        unread=True,
    )
    ADSTASH_READ_STARTDS = listing(
        "*",
        doc="Known and checked as a number.",
        unread=True,
    )
    ADSTASH_SAMPLE_INTERVAL = seconds(
        "1200",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    ADSTASH_SCHEDD_HISTORY = boolean(
        "False",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    ADSTASH_SCHEDD_HISTORY_MAX_ADS = integer(
        "10000",
        doc="Known and checked as a number.",
        unread=True,
    )
    ADSTASH_SCHEDD_HISTORY_TIMEOUT = seconds(
        "240",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    ADSTASH_SCHEDD_JOB_EPOCH_HISTORY = boolean(
        "False",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    ADSTASH_SCHEDD_TRANSFER_EPOCH_HISTORY = boolean(
        "False",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    ADSTASH_SE_BUNCH_SIZE = integer(
        "250",
        doc="Known and checked as a number.",
        unread=True,
    )
    ADSTASH_SE_HOST = string(
        "$(FULL_HOSTNAME):9200",
        doc="Known text.",
        unread=True,
    )
    ADSTASH_SE_INDEX_NAME = string("htcondor", doc="Known text.", unread=True)
    ADSTASH_SE_LOG_MAPPINGS = boolean(
        "True",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    ADSTASH_SE_PASSWORD_FILE = path("", doc="Known path.", unread=True)
    ADSTASH_SE_TIMEOUT = seconds(
        "240",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    ADSTASH_SE_USERNAME = string("", doc="Known text.", unread=True)
    ADSTASH_SE_USE_HTTPS = boolean(
        "False",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    ADSTASH_STARTD_HISTORY = boolean(
        "False",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    ADSTASH_STARTD_HISTORY_MAX_ADS = integer(
        "10000",
        doc="Known and checked as a number.",
        unread=True,
    )
    ADSTASH_STARTD_HISTORY_TIMEOUT = seconds(
        "240",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
