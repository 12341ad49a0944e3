"""The maps of userMap(), from the configuration of a daemon to what its expressions find."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.classad import UNDEFINED, ClassAd, Value, parse_expression
from kettle.classad.context import Context, ambient, set_ambient
from kettle.config import Config
from kettle.runtime.user_maps import install_user_maps


@pytest.fixture(autouse=True)
def world() -> Iterator[None]:
    before = set_ambient(Context())
    yield
    set_ambient(before)


def install(text: str, subsystem: str = "SCHEDD") -> list[str]:
    problems: list[str] = []
    install_user_maps(Config.from_text(text, subsystem=subsystem), problems.append)
    return problems


def worth(text: str) -> Value:
    return ClassAd().evaluate_expression(parse_expression(text))


def find(name: str, user: str) -> str | None:
    found = ambient().user_maps.get(name)
    return found(user) if found is not None else None


GROUPS = """\
SCHEDD_CLASSAD_USER_MAP_NAMES = Groups, none
CLASSAD_USER_MAPDATA_Groups @=end
# who is where
* John  chemistry,physics
* "Juan Carlos" physics
local John glass
* /^(.*)@home$/ at-\\1
* John never
@end
"""


def test_expressions_find_the_maps_of_their_own_daemon_alone() -> None:
    assert install(GROUPS) == []
    assert worth('userMap("GROUPS", "John")') == "chemistry,physics"
    assert worth('userMap("groups", "John", "physics")') == "physics"
    assert worth('userMap("groups", "eve@home")') == "at-eve"
    assert worth('userMap("groups", "Eve", "x", "nobody")') == "nobody"
    assert worth('userMap("groups.local", "John")') == "glass"
    assert find("groups", "Juan Carlos") == "physics"
    assert install(GROUPS, subsystem="STARTD") == []
    assert worth('userMap("groups", "John")') is UNDEFINED


def test_a_reconfiguration_replaces_what_was_read(tmp_path: Path) -> None:
    file = tmp_path / "map"
    knobs = f"SCHEDD_CLASSAD_USER_MAP_NAMES = m\nCLASSAD_USER_MAPFILE_m = {file}\n"
    # The file is asked before the data.
    knobs += "CLASSAD_USER_MAPDATA_m = * a data\n"
    file.write_text("* a one\n")
    install(knobs)
    assert find("m", "a") == "one"
    file.write_text("* a two\n")
    install(knobs)
    assert find("m", "a") == "two"
    file.unlink()
    assert "The user map m is not read" in install(knobs)[0]
    assert find("m", "a") is None


def test_lines_that_are_none_are_told_of_and_left_out(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "1").write_text("* c three\n")
    file = tmp_path / "map"
    file.write_text("* a\n* /(/ x\n@include none\n* b two\n@include more\n")
    problems = install(f"SCHEDD_CLASSAD_USER_MAP_NAMES=m\nCLASSAD_USER_MAPFILE_m={file}\n")
    assert [find("m", user) for user in "abc"] == [None, "two", "three"]
    told = ("line 1 of", "line 2 of", "includes what cannot be read")
    assert len(problems) == len(told)
    assert all(words in problem for words, problem in zip(told, problems, strict=True))


def test_a_map_of_prefixes_gives_what_the_longest_of_them_has() -> None:
    install(
        "TOOL_CLASSAD_USER_MAP_NAMES = places\nCLASSAD_USER_MAP_PREFIX_places = true\n"
        "CLASSAD_USER_MAPDATA_places @=end\n* s3:// all\n* s3://mine/ own\n@end\n",
        subsystem="TOOL",
    )
    assert find("places", "s3://mine/x") == "own"
    assert find("places", "s3://other") == "all"
    assert find("places", "http://") is None
