"""Knobs of the exporters of metrics: a pure table."""

from kettle.config.knob import boolean, expression, integer, path, seconds, string


class MetricsKnobs:
    """Knobs of the exporters of metrics."""

    GANGLIAD = path(
        "$(LIBEXEC)/condor_gangliad",
        doc="The program that is started where DAEMON_LIST names it: HTCondor's own.",
    )
    GANGLIAD_INTERVAL = seconds(
        "60",
        doc="Known and checked as a span of seconds; no part of Kettle acts on it yet.",
    )
    GANGLIAD_LOG = path("$(LOG)/GangliadLog", doc="Known path; no part of Kettle acts on it yet.")
    GANGLIAD_METRICS_CONFIG_DIR = path(
        "$(ETC)/ganglia.d",
        doc="Known path; no part of Kettle acts on it yet.",
    )
    GANGLIAD_PER_EXECUTE_NODE_METRICS = boolean(
        "true",
        doc="Known and checked as a truth value; no part of Kettle acts on it yet.",
    )
    GANGLIAD_REQUIREMENTS = expression(
        "",
        doc="Known expression; no part of Kettle evaluates it yet.",
    )
    GANGLIAD_RESET_METRICS_FILE = path(
        "$(SPOOL)/metricsToReset.ganglia_metrics",
        doc="Known path; no part of Kettle acts on it yet.",
    )
    GANGLIAD_VERBOSITY = integer(
        "0",
        doc="Known and checked as a number; no part of Kettle acts on it yet.",
    )
    GANGLIAD_WANT_PROJECTION = boolean(
        "true",
        doc="Known and checked as a truth value; no part of Kettle acts on it yet.",
    )
    GANGLIAD_WANT_RESET_METRICS = boolean(
        "false",
        doc="Known and checked as a truth value; no part of Kettle acts on it yet.",
    )
    GANGLIA_CONFIG = path(
        "/etc/ganglia/gmond.conf",
        doc="Known path; no part of Kettle acts on it yet.",
    )
    GANGLIA_GMETRIC = string("", doc="Known text; no part of Kettle acts on it yet.")
    GANGLIA_GSTAT_COMMAND = string(
        "gstat --all --mpifile --gmond_ip=localhost --gmond_port=8649",
        doc="Known text; no part of Kettle acts on it yet.",
    )
    GANGLIA_LIB = string("", doc="Known text; no part of Kettle acts on it yet.")
    GANGLIA_LIB64_PATH = path(
        "/lib64,/usr/lib64,/usr/local/lib64",
        doc="Known path; no part of Kettle acts on it yet.",
    )
    GANGLIA_LIB_PATH = path(
        "/lib,/usr/lib,/usr/local/lib",
        doc="Known path; no part of Kettle acts on it yet.",
    )
    GANGLIA_RESET_METRICS_FILE = path(
        "$(SPOOL)/metricsToReset.ganglia_metrics",
        doc="Known path; no part of Kettle acts on it yet.",
    )
    GANGLIA_SEND_DATA_FOR_ALL_HOSTS = boolean(
        "false",
        doc="Known and checked as a truth value; no part of Kettle acts on it yet.",
    )
    GANGLIA_WANT_RESET_METRICS = boolean(
        "true",
        doc="Known and checked as a truth value; no part of Kettle acts on it yet.",
    )
    METRICD_DEFAULT_EXPORT_METRIC = string(
        "prometheus",
        doc="Known text; no part of Kettle acts on it yet.",
    )
    METRICD_INTERVAL = seconds(
        "60",
        doc="Known and checked as a span of seconds; no part of Kettle acts on it yet.",
    )
    METRICD_LOG = path("$(LOG)/MetricdLog", doc="Known path; no part of Kettle acts on it yet.")
    METRICD_METRICS_CONFIG_DIR = path(
        "$(ETC)/metrics.d",
        doc="Known path; no part of Kettle acts on it yet.",
    )
    METRICD_PER_EXECUTE_NODE_METRICS = boolean(
        "true",
        doc="Known and checked as a truth value; no part of Kettle acts on it yet.",
    )
    METRICD_REQUIREMENTS = expression(
        "",
        doc="Known expression; no part of Kettle evaluates it yet.",
    )
    METRICD_VERBOSITY = integer(
        "0",
        doc="Known and checked as a number; no part of Kettle acts on it yet.",
    )
    METRICD_WANT_PROJECTION = boolean(
        "true",
        doc="Known and checked as a truth value; no part of Kettle acts on it yet.",
    )
    PROMETHEUS_DEFAULT_LABELS = string(
        "[machine=MetricMachine; pool=MetricPool]",
        doc="Known text; no part of Kettle acts on it yet.",
    )
    PROMETHEUS_HTTP_AUTH_FILE = path("", doc="Known path; no part of Kettle acts on it yet.")
    PROMETHEUS_HTTP_PORT = string(
        "$(SHARED_PORT_PORT)",
        doc="Known text; no part of Kettle acts on it yet.",
    )
    PROMETHEUS_METRICS_FILE = path(
        "$(LOG)/metrics.prom",
        doc="Known path; no part of Kettle acts on it yet.",
    )
    PROMETHEUS_METRICS_INCLUDE_TIMESTAMP = boolean(
        "true",
        doc="Known and checked as a truth value; no part of Kettle acts on it yet.",
    )
