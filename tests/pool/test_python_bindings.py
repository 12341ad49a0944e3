"""`kettle.compat.htcondor2` does in a pool what the wheel's `htcondor2` does, script by script."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import binding_reports as reports
from interop.wheel_pool import CONFIGURATION
from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    with personal_pool(tmp_path_factory.mktemp("pool"), CONFIGURATION) as found:
        yield found


# What of the terms of a session a client of Kettle's does not keep.
NOT_KEPT = {
    *("ConnectSinful", "CryptoMethodsList", "IssuerKeys", "OutgoingNegotiation"),
    *("SessionDuration", "SessionLease", "TrackState"),
}
_FAILED = {"raised": "HTCondorException"}
# What ours reports otherwise than the wheel, by script and step.
DIFFERENCES: dict[str, dict[str, Any]] = {
    "submit": {
        # Compat: no exception that ends a loop of the program's.
        "no items": {"raised": "ValueError", "text": "itemdata is empty"},
        # Compat: the line that is wrong is named, and what it may have meant.
        "an unknown universe": {
            **_FAILED,
            "text": "Failed to create job ad, errmsg=Submit:-1:I don't know about the 'parallel "
            "world' universe.\n       , line 5: universe = parallel world. Did you mean 'parallel'?"
            "\n",
        },
        "requirements that are none": {
            **_FAILED,
            "text": "Failed to create job ad, errmsg=Submit:-1:Parse error in expression: \n\t"
            'Requirements = (Memory >) && (TARGET.Arch == "X86_64") && (TARGET.OpSys == "LINUX") '
            '&& (versionGE(split(TARGET.CondorVersion)[1], "25.12.0") || (TARGET.Disk >= '
            "RequestDisk)) && (TARGET.Memory >= RequestMemory) && (TARGET.HasFileTransfer)\n\t\n"
            "WARNING: Could not get attribute references from Requirements: (Memory >)\n"
            "       , line 5: requirements = Memory >\n",
        },
    },
    "act": {
        # Compat: a reason that is a text and no pair counts; the wheel forgets it.
        "plain reason": "a plain word",
    },
    "users": {
        # Compat: the wheel has a name here that it did not import.
        "check oauth": {**_FAILED, "text": "startCommand failed"},
        # What the reference's security library says of commands that nobody knows.
        "dag of nobody": [False, "Failed to get contact information: No result ad"],
    },
}


@pytest.mark.parametrize("script", reports.SCRIPTS)
def test_a_script_reports_what_it_reports_under_the_wheel(pool: PersonalPool, script: str) -> None:
    ours = reports.normalized(reports.run_under_kettle(pool, script))
    theirs = reports.recorded(script)
    if script == "locate_and_query":
        names = theirs["ping nothing named"]
        theirs["ping nothing named"] = [name for name in names if name not in NOT_KEPT]
    assert ours == {**theirs, **reports.normalized(DIFFERENCES.get(script, {}))}
