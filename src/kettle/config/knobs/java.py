"""Knobs of the Java universe: a pure table."""

from kettle.config.knob import path, string


class JavaKnobs:
    """Knobs of the Java universe."""

    JAVA = path("/usr/bin/java", doc="The Java machine.")
    JAVA_CLASSPATH_ARGUMENT = string(
        "-classpath",
        doc="Known text; no part of Kettle acts on it yet.",
    )
    JAVA_CLASSPATH_DEFAULT = string("$(LIB) .", doc="Known text; no part of Kettle acts on it yet.")
    JAVA_CLASSPATH_SEPARATOR = string(":", doc="Known text; no part of Kettle acts on it yet.")
    JAVA_EXTRA_ARGUMENTS = string("", doc="Known text; no part of Kettle acts on it yet.")
    JAVA_MAXHEAP_ARGUMENT = string("-Xmx", doc="Known text; no part of Kettle acts on it yet.")
