"""Defaults that one subsystem sees differently from all others: a pure table."""

SUBSYSTEM_DEFAULTS: dict[str, dict[str, tuple[str, str]]] = {
    "COLLECTOR": {"ISCOLLECTOR": ("IsCollector", "true")},
    "MASTER": {
        "ENABLE_CLASSAD_CACHING": ("ENABLE_CLASSAD_CACHING", "false"),
        "ISMASTER": ("IsMaster", "true"),
        "PID_SNAPSHOT_INTERVAL": ("PID_SNAPSHOT_INTERVAL", "60"),
    },
    "NEGOTIATOR": {"ISNEGOTIATOR": ("IsNegotiator", "true")},
    "SCHEDD": {"ISSCHEDD": ("IsSchedd", "true")},
    "SHADOW": {
        "ENABLE_CLASSAD_CACHING": ("ENABLE_CLASSAD_CACHING", "false"),
        "ISSHADOW": ("IsShadow", "true"),
    },
    "STARTD": {"ISSTARTD": ("IsStartd", "true")},
    "STARTER": {
        "ENABLE_CLASSAD_CACHING": ("ENABLE_CLASSAD_CACHING", "false"),
        "ISSTARTER": ("IsStarter", "true"),
    },
    "SUBMIT": {"ISSUBMIT": ("IsSubmit", "true")},
}
