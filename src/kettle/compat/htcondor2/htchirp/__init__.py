"""The wheel's `htcondor2.htchirp` by the same names: what a job asks of its access point.

with HTChirp() as chirp:
    chirp.ulog("half of it is done")
    chirp.put("part.dat", "/home/me/part.dat")
"""

from __future__ import annotations

from kettle.compat.htcondor2.htchirp.client import HTChirp
from kettle.compat.htcondor2.htchirp.command_lines import condor_chirp

__all__ = ["HTChirp", "condor_chirp"]
