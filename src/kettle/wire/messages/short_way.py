"""What a shadow and a starter of ours spare each other: attributes that only the two know.

The calls are HTCondor's, and so is their order; with a peer that does not know these names
everything goes the long way. A shadow that knows the short way says so in the ad of
ACTIVATE_CLAIM, which then is all that `GetJobInfo` would bring. Its starter needs no word of
guidance, and where no file travels it opens no connection for files: it says with its other
words that there was none. Two calls are left of ten: `RegisterStarterInfo` says that the program
begins, and its reply lets it; `JobExit` brings the last measurements too.

Where the starter stays for the next job of its claim, the connection stays too: `JobExit` says so,
and whether the claim may run another (`GOES_ON`); no process of the job is left then. With its
answer the activation is over for the shadow, and the shadow of the next job may say `NextJob`. The
starter, which tells its startd first, asks it; that decides as it decides about ACTIVATE_CLAIM, and
the answer is the first call of that job, or `ActivationRefused`.
A connection that breaks meanwhile leaves the ordinary commands to the startd.

The two sides are `shadow.services.calls` and `starter.conversation`
(docs/decisions/0009-short-way.md).
"""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.wire.messages.fields import Message, counted_bytes, integer, optional
from kettle.wire.messages.fields import ad as ad_field
from kettle.wire.messages.rpc import Call, Shape

# Limit: the ad of one job, encoded.
_MAXIMUM_JOB = 16 * 1024 * 1024

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

GOES_ON = "KettleGoesOn"
"""Boolean, in `JobExit`, which then ends the activation: whether the claim may run another job.

Where it is true the starter waits on this connection for `NextJob`.
"""

FOR_THE_STARTER = (SHORT_WAY, NOTHING_TO_FETCH, "_condor_send_activation_failure_ad")
"""What the ad of ACTIVATE_CLAIM has beside the job's own attributes; the job never sees it."""


class NextJob(Message, word=1):
    """Shadow to starter, after JobExit's answer: run this job; the ad is that of ACTIVATE_CLAIM.

    `job` is encoded as in a message in the clear: the starter hands it on as it came.
    """

    job: bytes = counted_bytes(_MAXIMUM_JOB)


class ActivationRefused(Call, word=-9002, reply=Shape.NOTHING):
    """The startd does not grant NextJob; code and reason are ActivateClaimReply's."""

    code: int = integer()
    failure: ClassAd | None = optional(ad_field())
