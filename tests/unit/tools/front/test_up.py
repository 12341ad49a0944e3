"""What `kettle up` says of a file of settings that cannot be read."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from kettle.errors import ConfigError
from kettle.runtime.storage.files import SystemSources
from kettle.tools.front.up import check_settings
from kettle.tools.programs import Streams


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("include : /no/such/file", "can't open file /no/such/file: No such file or directory"),
        ("\nno assignment", '"no assignment" is neither an assignment nor a statement'),
        ("NEGOTIATOR_INTERVAL = often", "NEGOTIATOR_INTERVAL = often is not a number of seconds"),
    ],
)
def test_the_place_and_the_thing_that_is_wrong_are_named(
    text: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "settings"
    path.write_text(text + "\n")
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    with pytest.raises(ConfigError) as failure:
        check_settings([str(path)], SystemSources(), {}, streams)
    assert str(failure.value).startswith(f"{path}, line {text.count(chr(10)) + 1}: {said}")
