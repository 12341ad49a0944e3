"""Knobs of the Java universe: a pure table."""

from kettle.config.knob import path, string


class JavaKnobs:
    """Knobs of the Java universe."""

    JAVA = path(
        "/usr/bin/java",
        doc="The Java machine. The startd asks it for its version when it starts and is "
        "reconfigured, and offers HasJava if it works.",
    )
    JAVA_CLASSPATH_ARGUMENT = string(
        "-classpath",
        doc="The option after which the Java machine takes its class path.",
    )
    JAVA_CLASSPATH_DEFAULT = string(
        "$(LIB) .",
        doc="What is on the class path of all Java jobs, before the job's own folder and archives.",
    )
    JAVA_CLASSPATH_SEPARATOR = string(":", doc="What separates the parts of a class path.")
    JAVA_EXTRA_ARGUMENTS = string(
        "",
        doc="What the Java machine is always given, before the job's own arguments for it.",
    )
    JAVA_MAXHEAP_ARGUMENT = string("-Xmx", doc="Known text.", unread=True)
