"""Knobs of cloud annexes: a pure table."""

from kettle.config.knob import boolean, path, seconds, string
from kettle.config.ranges import OR_NONE


class AnnexKnobs:
    """Knobs of cloud annexes."""

    ANNEX_AUDIT_LOG = path(
        "$(LOG)/AnnexAuditLog",
        doc="Known path.",
        unread=True,
    )
    ANNEX_COLLECTOR = string("", doc="Known text.", unread=True)
    ANNEX_COMMAND_STATE = path(
        "$(LOG)/AnnexCommand.state",
        doc="Known path.",
        unread=True,
    )
    ANNEX_DEFAULT_AWS_REGION = string(
        "us-east-1",
        doc="Known text.",
        unread=True,
    )
    ANNEX_DEFAULT_CF_URL = string(
        "https://cloudformation.us-east-1.amazonaws.com/",
        doc="Known text.",
        unread=True,
    )
    ANNEX_DEFAULT_CONNECTIVITY_FUNCTION_ARN = string(
        "HTCondorAnnex-CheckConnectivity",
        doc="Known text.",
        unread=True,
    )
    ANNEX_DEFAULT_CWE_URL = string(
        "https://events.us-east-1.amazonaws.com",
        doc="Known text.",
        unread=True,
    )
    ANNEX_DEFAULT_EC2_URL = string(
        "https://ec2.us-east-1.amazonaws.com",
        doc="Known text.",
        unread=True,
    )
    ANNEX_DEFAULT_LAMBDA_URL = string(
        "https://lambda.us-east-1.amazonaws.com",
        doc="Known text.",
        unread=True,
    )
    ANNEX_DEFAULT_LEASE_DURATION = seconds(
        "3000",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    ANNEX_DEFAULT_ODI_INSTANCE_TYPE = string(
        "$(ANNEX_DEFAULT_ODI_INSTANCE_TYPE_V8_7_0)",
        doc="Known text.",
        unread=True,
    )
    ANNEX_DEFAULT_ODI_INSTANCE_TYPE_V8_7_0 = string(
        "m4.large",
        doc="Known text.",
        unread=True,
    )
    ANNEX_DEFAULT_S3_URL = string(
        "https://s3.amazonaws.com",
        doc="Known text.",
        unread=True,
    )
    ANNEX_DEFAULT_UNCLAIMED_TIMEOUT = seconds(
        "900",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    ANNEX_GAHP = string("$(EC2_GAHP)", doc="Known text.", unread=True)
    ANNEX_GAHP_LOG = path(
        "$(LOG)/AnnexGahpLog",
        doc="Known path.",
        unread=True,
    )
    ANNEX_LOG = path("$(LOG)/AnnexLog", doc="Known path.", unread=True)
    ANNEX_TOKEN_DOMAIN = string(
        "$(TRUST_DOMAIN)",
        doc="Known text.",
        unread=True,
    )
    ANNEX_USE_OLD_CREATE = boolean(
        "False",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    HPC_ANNEX_ENABLED = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
