"""What is said of a schedd that does not answer."""

from __future__ import annotations

import pytest

from kettle.client.pool import Located
from kettle.errors import ConnectionLost
from kettle.tools.queue.sources import NoAnswerError
from kettle.wire.sinful import Sinful


@pytest.mark.parametrize(("machine", "place"), [("ap.example", "ap.example"), ("", "sam@ap")])
def test_a_schedd_that_breaks_off_is_named_with_its_address_and_why(
    machine: str, place: str
) -> None:
    schedd = Located(Sinful.parse("<10.0.0.1:9618>"), "sam@ap", machine)
    said = str(NoAnswerError(schedd, ConnectionLost("nothing came in time")))
    assert said.split("\n") == [
        f"Failed to fetch ads from: <10.0.0.1:9618> : {place}",
        "nothing came in time",
    ]
