"""Knobs of the exporters of metrics: a pure table."""

from kettle.config.knob import boolean, expression, integer, path, place, seconds, string
from kettle.config.ranges import OR_NONE


class MetricsKnobs:
    """Knobs of the exporters of metrics."""

    GANGLIAD = place(
        "$(LIBEXEC)/condor_gangliad",
        doc="The program that is started where DAEMON_LIST names it: HTCondor's own.",
    )
    GANGLIAD_INTERVAL = seconds(
        "60",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    GANGLIAD_LOG = path("$(LOG)/GangliadLog", doc="Known path.", unread=True)
    GANGLIAD_METRICS_CONFIG_DIR = path(
        "$(ETC)/ganglia.d",
        doc="Known path.",
        unread=True,
    )
    GANGLIAD_PER_EXECUTE_NODE_METRICS = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    GANGLIAD_REQUIREMENTS = expression(
        "",
        doc="Known expression.",
        unread=True,
    )
    GANGLIAD_RESET_METRICS_FILE = path(
        "$(SPOOL)/metricsToReset.ganglia_metrics",
        doc="Known path.",
        unread=True,
    )
    GANGLIAD_VERBOSITY = integer(
        "0",
        doc="Known and checked as a number.",
        unread=True,
    )
    GANGLIAD_WANT_PROJECTION = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    GANGLIAD_WANT_RESET_METRICS = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    GANGLIA_CONFIG = path(
        "/etc/ganglia/gmond.conf",
        doc="Known path.",
        unread=True,
    )
    GANGLIA_GMETRIC = string("", doc="Known text.", unread=True)
    GANGLIA_GSTAT_COMMAND = string(
        "gstat --all --mpifile --gmond_ip=localhost --gmond_port=8649",
        doc="Known text.",
        unread=True,
    )
    GANGLIA_LIB = string("", doc="Known text.", unread=True)
    GANGLIA_LIB64_PATH = path(
        "/lib64,/usr/lib64,/usr/local/lib64",
        doc="Known path.",
        unread=True,
    )
    GANGLIA_LIB_PATH = path(
        "/lib,/usr/lib,/usr/local/lib",
        doc="Known path.",
        unread=True,
    )
    GANGLIA_RESET_METRICS_FILE = path(
        "$(SPOOL)/metricsToReset.ganglia_metrics",
        doc="Known path.",
        unread=True,
    )
    GANGLIA_SEND_DATA_FOR_ALL_HOSTS = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    GANGLIA_WANT_RESET_METRICS = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    METRICD_DEFAULT_EXPORT_METRIC = string(
        "prometheus",
        doc="Known text.",
        unread=True,
    )
    METRICD_INTERVAL = seconds(
        "60",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    METRICD_LOG = path("$(LOG)/MetricdLog", doc="Known path.", unread=True)
    METRICD_METRICS_CONFIG_DIR = path(
        "$(ETC)/metrics.d",
        doc="Known path.",
        unread=True,
    )
    METRICD_PER_EXECUTE_NODE_METRICS = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    METRICD_REQUIREMENTS = expression(
        "",
        doc="Known expression.",
        unread=True,
    )
    METRICD_VERBOSITY = integer(
        "0",
        doc="Known and checked as a number.",
        unread=True,
    )
    METRICD_WANT_PROJECTION = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    PROMETHEUS_DEFAULT_LABELS = string(
        "[machine=MetricMachine; pool=MetricPool]",
        doc="Known text.",
        unread=True,
    )
    PROMETHEUS_HTTP_AUTH_FILE = path("", doc="Known path.", unread=True)
    PROMETHEUS_HTTP_PORT = string(
        "$(SHARED_PORT_PORT)",
        doc="Known text.",
        unread=True,
    )
    PROMETHEUS_METRICS_FILE = path(
        "$(LOG)/metrics.prom",
        doc="Known path.",
        unread=True,
    )
    PROMETHEUS_METRICS_INCLUDE_TIMESTAMP = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
