"""The configuration language and the tables of knobs."""

from kettle.config.knob import Family, Knob
from kettle.config.origin import Origin
from kettle.config.sources import MemorySources, Sources
from kettle.config.store import Config, load_config

__all__ = ["Config", "Family", "Knob", "MemorySources", "Origin", "Sources", "load_config"]
