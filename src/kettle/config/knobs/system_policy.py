"""Knobs of the schedd's own policy for all jobs: a pure table."""

from kettle.config.knob import expression


class SystemPolicyKnobs:
    """Knobs of the schedd's own policy for all jobs."""

    SYSTEM_PERIODIC_HOLD = expression(
        None, doc="When a job is put on hold, whatever its owner says."
    )
    SYSTEM_PERIODIC_HOLD_REASON = expression(None, doc="Why, in words that the owner reads.")
    SYSTEM_PERIODIC_HOLD_SUBCODE = expression(None, doc="Why, as a number.")
    SYSTEM_PERIODIC_RELEASE = expression(None, doc="When a held job is released.")
    SYSTEM_PERIODIC_RELEASE_REASON = expression(None, doc="Why, in words that the owner reads.")
    SYSTEM_PERIODIC_RELEASE_SUBCODE = expression(None, doc="Why, as a number.")
    SYSTEM_PERIODIC_REMOVE = expression(None, doc="When a job is removed.")
    SYSTEM_PERIODIC_REMOVE_REASON = expression(None, doc="Why, in words that the owner reads.")
    SYSTEM_PERIODIC_REMOVE_SUBCODE = expression(None, doc="Why, as a number.")
    SYSTEM_PERIODIC_VACATE = expression(None, doc="When a running job loses its slot.")
    SYSTEM_PERIODIC_VACATE_REASON = expression(None, doc="Why, in words that the owner reads.")
    SYSTEM_PERIODIC_VACATE_SUBCODE = expression(None, doc="Why, as a number.")
