"""Defaults of no table of knobs: those that one subsystem alone has, and those of facts."""

from kettle.attributes.version import VERSION, condor_platform

# Compat: what a file says otherwise counts, as for any knob; of the reference's daemons each sets
# its own word (`IsSchedd`) whatever files say, and a text that is the default but for the case of
# its letters is shown there as the default has it
# (test_what_a_file_says_counts_as_it_is_written).
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
    "TOOL": {"ISTOOL": ("IsTool", "true")},
}

# What is no knob and has a default all the same, as the reference's own list has it: what stands
# for a fact of the machine until that is found out, or where it is not.
OF_FACTS: dict[str, str] = {
    # Built for no system in particular, as the reference's own of a distribution's package is for
    # no version of it.
    "CONDOR_BUILD_PLATFORM": condor_platform({}).split()[1],
    "CONDOR_VERSION": VERSION,
    "DETECTED_CORES": "1",
    "DETECTED_CPUS": "1",
    "DETECTED_CPUS_LIMIT": "$(DETECTED_CPUS)",
    "DETECTED_PHYSICAL_CPUS": "1",
    "SYSAPI_GET_LOADAVG": "1",
}
