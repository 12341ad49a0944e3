"""`classad`, ads and expressions, version 1: Kettle's module by the wheel's name."""

from kettle.compat.classad import *  # noqa: F403 - for those who only read this
from kettle.compat.real_names import stand_in

stand_in(__name__, __file__)
