"""`htcondor2`, HTCondor's bindings: Kettle's module by the wheel's name."""

from kettle.compat.htcondor2 import *  # noqa: F403 - for those who only read this
from kettle.compat.real_names import stand_in

stand_in(__name__, __file__)
