"""Knobs that HTCondor does not have: a pure table."""

from kettle.config.knob import listing, path, place, string


class KettleKnobs:
    """Knobs of Kettle's own."""

    KETTLE_CLIENT_METHODS_FIRST = listing(
        "",
        doc="Authentication methods that a client tries before all others, in this order, where "
        "the server has them. Else the server chooses.",
    )
    KETTLE_CONFIG_DIR = path(
        "",
        doc="A further folder like those of LOCAL_CONFIG_DIR; its name may have blanks in it.",
    )
    KETTLE_METRICS_ADDRESS = string(
        "127.0.0.1",
        doc="The address that it serves them at; everybody who reaches it may read them.",
    )
    KETTLE_METRICS_ADDRESS_FILE = place(
        "$(LOG)/.metrics_address",
        doc="Where the master says at which URL it serves them.",
    )
    KETTLE_METRICS_PORT = string(
        "",
        doc="The port at which the master serves /metrics and /healthz; empty for none, 0 for any.",
    )
    POOL_MEMBERS = string(
        None, doc="The domain of the identities of machines that join; lists of rights mention it."
    )
