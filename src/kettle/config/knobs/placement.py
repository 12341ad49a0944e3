"""Knobs of the placement daemon: a pure table."""

from kettle.config.knob import path, place


class PlacementKnobs:
    """Knobs of the placement daemon."""

    PLACEMENTD = place(
        "$(SBIN)/condor_placementd",
        doc="The placement daemon's program.",
    )
    PLACEMENTD_AUTHORIZATIONS_MAPFILE = path(
        "$(ETC)/placementd_authorizations_mapfile",
        doc="Known path.",
        unread=True,
    )
    PLACEMENTD_LOG = path(
        "$(LOG)/PlacementdLog",
        doc="Known path.",
        unread=True,
    )
    PLACEMENTD_MAPFILE = path(
        "$(ETC)/placementd_mapfile",
        doc="Known path.",
        unread=True,
    )
    TOKENS_DATABASE = path(
        "$(SPOOL)/TokensDatabase",
        doc="Known path.",
        unread=True,
    )
