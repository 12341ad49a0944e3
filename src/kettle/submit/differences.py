"""What a job has otherwise than its cluster: what it sets itself, and to something else there.

Whatever a job does not set it has of its cluster. There is no other rule, however a job was made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.submit.job import Attributes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kettle.submit.job import JobBuilder
    from kettle.submit.watched_job import Texts


def differences(job: JobBuilder) -> Attributes:
    """Return what a job that was made as a whole has otherwise; what is forced overrides."""
    own = {**job.attributes.texts, **job.forced.texts}
    return otherwise(own, job.attributes.cluster)


def otherwise(own: Texts, cluster: Mapping[str, tuple[str, str]]) -> Attributes:
    """Return what a job that sets these texts has otherwise than the cluster."""
    found = Attributes()
    found.texts = {
        key: one for key, one in own.items() if key not in cluster or cluster[key][1] != one[1]
    }
    return found
