"""Whose a job is, as its ad says it. One reading of it: whatever is kept by owner goes by this."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kettle.classad import ClassAd


def user_of(job: ClassAd, uid_domain: str = "") -> str:
    """Return the whole identity of a job's owner, his name with its domain (`User`).

    Two users of one name and two domains are two, with rights of their own. An ad without it, of
    a schedd that had none, means its `Owner`, at `uid_domain` where that is known; empty for none.
    """
    user = job.string("User")
    if user:
        return user
    owner = job.string("Owner") or ""
    return f"{owner}@{uid_domain}" if uid_domain else owner
