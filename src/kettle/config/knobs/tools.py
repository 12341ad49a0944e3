"""Knobs of the command-line tools: a pure table."""

from kettle.config.knob import boolean, seconds
from kettle.config.ranges import OR_NONE


class ToolKnobs:
    """Knobs of the command-line tools."""

    CONDOR_Q_DASH_BATCH_IS_DEFAULT = boolean(
        "true",
        doc="Whether condor_q shows jobs in batches unless it is told otherwise.",
    )
    CONDOR_Q_ONLY_MY_JOBS = boolean(
        "true",
        doc="Whether condor_q shows only the caller's own jobs.",
    )
    CONDOR_Q_SHOW_OLD_SUMMARY = boolean(
        "false",
        doc="Whether condor_q ends with one line about the jobs shown, not with one for each of "
        "the query, the user and everybody.",
    )
    CONDOR_Q_USE_V3_PROTOCOL = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    ENABLE_DEPRECATION_WARNINGS = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    Q_QUERY_TIMEOUT = seconds(
        "20",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
