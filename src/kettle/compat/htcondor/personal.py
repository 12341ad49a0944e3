"""The wheel's `htcondor.personal` by the same names: the pools of version 2, asked by version 1."""

from __future__ import annotations

from kettle.compat import classad, htcondor
from kettle.compat.htcondor2 import personal
from kettle.compat.htcondor2.personal import PersonalPoolState, SetCondorConfig

__all__ = ["PersonalPool", "PersonalPoolState", "SetCondorConfig"]


class PersonalPool(personal.PersonalPool):
    """A pool in a folder; see version 2."""

    _param = htcondor.param

    @property
    def collector(self) -> htcondor.Collector:
        """The pool's collector, also when CONDOR_CONFIG names another pool."""
        with self.use_config():
            found = htcondor.Collector().locate(htcondor.DaemonTypes.Collector)
            return htcondor.Collector(found)

    @property
    def schedd(self) -> htcondor.Schedd:
        """The pool's schedd, also when CONDOR_CONFIG names another pool."""
        with self.use_config():
            return htcondor.Schedd()

    def who(self) -> classad.ClassAd:
        """Return the daemons that run, as `condor_who -quick` says it; empty where none does."""
        return classad.parseOne(self._who())
