"""Keys for condor_ssh_to_job travel as base64 in lines, as the reference's decoder wants them."""

from __future__ import annotations

import base64

from kettle.starter.services.ssh import _encode


def test_a_key_is_sent_in_lines_of_64_characters() -> None:
    key = bytes(range(256)) * 3
    lines = _encode(key).splitlines(keepends=True)
    assert all(len(line) <= 65 and line.endswith("\n") for line in lines)
    assert base64.b64decode("".join(lines)) == key
