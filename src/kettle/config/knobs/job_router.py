"""Knobs of the job router: a pure table."""

from kettle.config.knob import boolean, expression, listing, path, place, seconds, size, string
from kettle.config.ranges import OR_NONE


class JobRouterKnobs:
    """Knobs of the job router."""

    JOB_ROUTER = place(
        "$(LIBEXEC)/condor_job_router",
        doc="The job router's program.",
    )
    JOB_ROUTER_DEBUG = listing("", doc="Known list of words.", unread=True)
    JOB_ROUTER_LOCK = path(
        "$(LOCK)/$(JOB_ROUTER_NAME)Lock",
        doc="Known path.",
        unread=True,
    )
    JOB_ROUTER_LOG = path(
        "$(LOG)/JobRouterLog",
        doc="Known path.",
        unread=True,
    )
    JOB_ROUTER_NAME = string("jobrouter", doc="Known text.", unread=True)
    JOB_ROUTER_POLLING_PERIOD = seconds(
        "10",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    JOB_ROUTER_POST_ROUTE_TRANSFORM_NAMES = listing(
        None, doc="Transforms that come after each route.", unread=True
    )
    JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES = listing(
        None, doc="Transforms that come before each route.", unread=True
    )
    JOB_ROUTER_ROUND_ROBIN_SELECTION = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    JOB_ROUTER_ROUTE_NAMES = listing(
        None, doc="The routes, in order; condor_transform_ads names them where it is not set."
    )
    JOB_ROUTER_SOURCE_JOB_CONSTRAINT = expression(
        "",
        doc="Known expression.",
        unread=True,
    )
    MAX_JOB_MIRROR_UPDATE_LAG = seconds(
        "600",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    MAX_JOB_ROUTER_LOG = size(
        "$(MAX_DEFAULT_LOG)",
        doc="Known text.",
        unread=True,
    )
    MERGE_JOB_ROUTER_DEFAULT_ADS = boolean(
        None, doc="Whether routes of the older form are read as merged with their defaults."
    )
