"""What a shadow and a starter of ours spare each other: attributes that only the two know.

The calls are HTCondor's, and so is their order; with a peer that does not know these names
everything goes the long way. A shadow that knows the short way says so in the ad of
ACTIVATE_CLAIM, which then is all that `GetJobInfo` would bring. Its starter needs no word of
guidance, and where no file travels it opens no connection for files: it says with its other
words that there was none. Two calls are left of ten: `RegisterStarterInfo` says that the program
begins, and its reply lets it; `JobExit` brings the last measurements too.

The two sides are `shadow.service_calls` and `starter.service` (docs/decisions/0009-short-way.md).
"""

from __future__ import annotations

SHORT_WAY = "KettleShortWay"
"""Boolean, in the job's ad of ACTIVATE_CLAIM: the shadow knows what is told here."""

NOTHING_TO_FETCH = "KettleNothingToFetch"
"""Boolean, in the job's ad of ACTIVATE_CLAIM: the job has no input files to be fetched."""

NO_INPUT = "KettleNoInput"
"""Boolean, in `RegisterStarterInfo`: the transfer of input is over; nothing was to be fetched."""

BEGINS = "KettleBegins"
"""Boolean, in `RegisterStarterInfo`, which then is `RegisterJobInfo` and `BeginExecution` too."""

LAST_REPORT = "KettleLastReport"
"""Boolean, in `JobExit`, which then is the last `RegisterJobInfo` too."""

NO_OUTPUT = "KettleNoOutput"
"""Boolean, in `JobExit`: the transfer of output is over, as nothing was to be sent."""

FOR_THE_STARTER = (SHORT_WAY, NOTHING_TO_FETCH, "_condor_send_activation_failure_ad")
"""What the ad of ACTIVATE_CLAIM has beside the job's own attributes; the job never sees it."""
