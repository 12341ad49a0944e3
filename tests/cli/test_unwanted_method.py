"""What tools say of a daemon that has no way of authentication in common with them.

Recorded from HTCondor 25.14.1, whose tools were given SSL alone, at a schedd that wanted CLAIMTOBE.
"""

from __future__ import annotations

import io

import pytest

from kettle.client.connector import Connector
from kettle.errors import AuthenticationFailed
from kettle.tools.programs import Streams, load_tool

WHY = "SECMAN:2005:Protocol Error: No auth methods."
AT = "<127.0.0.1:1>"
SAID = {
    ("condor_rm", "-addr", AT, "1"): f"{WHY}\nCouldn't find/remove all jobs in cluster 1\n",
    ("condor_hold", "-addr", AT, "-all"): f"{WHY}\nCouldn't find/hold all jobs\n",
    ("condor_rm", "-addr", AT, "1.0"): f"{WHY}\nNo result found for job 1.0\n",
    ("condor_transfer_data", "-addr", AT, "1"): f"\n{WHY}\nERROR: Failed to spool job files.\n",
    (
        "condor_reschedule",
        "-addr",
        AT,
    ): f"ERROR\n{WHY}\nCan't send Reschedule command to daemon at {AT}\n",
    ("condor_status",): f"Error: communication error\n{WHY}\n",
}


@pytest.mark.parametrize("words", SAID, ids=" ".join)
def test_a_daemon_that_wants_another_method_is_told_of_as_by_the_reference(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AuthenticationFailed(f"{AT} has no method in common with us")

    monkeypatch.setattr(Connector, "_connect", refuse)
    environment = {
        "CONDOR_CONFIG": "ONLY_ENV",
        "_CONDOR_COLLECTOR_HOST": AT,
        "_CONDOR_NETWORK_HOSTNAME": "ap.example.org",
    }
    streams = Streams(io.StringIO(), io.StringIO(), err := io.StringIO())
    assert load_tool(words[0])(list(words), environment, streams) == 1
    assert err.getvalue() == SAID[words]
