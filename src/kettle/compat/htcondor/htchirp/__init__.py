"""The wheel's `htcondor.htchirp`, which is that of version 2."""

from __future__ import annotations

from kettle.compat.htcondor2.htchirp import HTChirp, condor_chirp

__all__ = ["HTChirp", "condor_chirp"]
