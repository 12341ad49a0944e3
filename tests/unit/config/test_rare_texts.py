"""What few configurations have: texts without an end, items that are nothing, defaults of lines."""

from __future__ import annotations

import random
import re

import pytest

from kettle.config import Config, MemorySources, load_config
from kettle.config.single_pass import expand_once
from kettle.errors import ConfigError
from kettle.tools.configuration.listing import sections


def read(text: str) -> Config:
    return Config.from_text(text)


def test_a_here_document_without_an_end_in_an_open_if_is_told_with_both() -> None:
    with pytest.raises(ConfigError) as raised:
        read("if true\nA @=end\nx\nendif\n")
    assert str(raised.value) == (
        "Config source Found end-of-file while scanning for '@end' in /condor_config\n"
        'Config source Error "/condor_config", Line 4: \n'
        "Configuration Error Line 4 while reading global config source /condor_config\n"
        "endif(s) not found before end-of-file"
    )
    inner = MemorySources(files={"/root": "include : /inner\n", "/inner": "if true\nif 1\nA @=e\n"})
    with pytest.raises(ConfigError) as raised:
        load_config(inner, {"CONDOR_CONFIG": "/root"})
    assert str(raised.value) == (
        "Config source Found end-of-file while scanning for '@e' in /inner\n"
        'Config source Error "/inner", Line 3: \n'
        'Config source Error "/inner", Line 3, Include Depth 1: '
        "endif(s) not found before end-of-file\n"
        "Configuration Error Line 1 while reading global config source /root"
    )


@pytest.mark.parametrize(
    ("items", "of_value", "in_one_pass"),
    [
        ("a,", {"a"}, {"a", ""}),
        (",a,,b", {"a", "b"}, {"a", "b", ""}),
        ("L", {"p", "q", "r"}, {"p", "q r", ""}),
        ("L,", {"p", "q", "r"}, {"L", ""}),
        ("L,a", {"L", "a"}, {"L", "a"}),
    ],
)
def test_one_of_several_items_is_drawn(
    items: str, of_value: set[str], in_one_pass: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Observed of the reference, where each of them comes alike often."""
    config = read(f"L = p, q r,\nX = $RANDOM_CHOICE({items})\n")
    dice = random.Random(7)
    sources = config.sources
    monkeypatch.setattr(sources, "random", lambda: dice)
    drawing = Config(sources, {})
    for entry in config.entries():
        drawing.assign(entry.name, entry.text, entry.origin)
    assert {drawing.get("X") or "" for _ in range(99)} == of_value
    assert {expand_once(drawing.raw("X") or "", drawing).text for _ in range(99)} == in_one_pass


def test_what_was_built_for_what_is_known_by_default() -> None:
    found = read("").find("CONDOR_BUILD_PLATFORM")
    assert found is not None
    assert (found.text, str(found.origin)) == ("X86_64-linux_", "<Default>")


def test_a_default_of_several_lines_has_its_blanks() -> None:
    text = read("").get("MODIFY_REQUEST_EXPR_REQUESTDISK") or ""
    assert text.startswith('quantize(RequestDisk -     ifthenelse(\n        MappingMethod ?: ""')
    assert text.endswith("\n        0\n),{Target.DiskQuantum?:1024})")


@pytest.mark.parametrize("after", ["\nB = 1\n", " \t\nB = 1\n", "\\\n\nB = 1\n", ""])
def test_blanks_before_a_continuation_that_nothing_follows_are_kept(after: str) -> None:
    assert read("A = x  \\\n" + after).raw("A") == "x  "
    assert read("A = x \\\n  y\t \\\n" + after).raw("A") == "x y\t "


def test_what_is_no_default_stays_none() -> None:
    config = read("B = b\nX = <$(NO:$$([ $(B) ]) c)>\nY = <$(NO:$(B) c)>\n")
    assert config.get("X") == "<$(NO:$$([ b ]) c)>"
    assert config.get("Y") == "<b c>"


@pytest.mark.parametrize("name", ["/bin/a | /b", "/b|x", "| /b", "/bin/a |, /b"])
def test_a_command_ends_with_its_bar(name: str) -> None:
    said = "not a valid command, | must be at the end"
    for statement in ("include", "include command"):
        sources = MemorySources(files={"/root": f"{statement} : {name}\n", "/b": "B = 1\n"})
        with pytest.raises(ConfigError, match=f"Line 0, Include Depth 1: {re.escape(said)}"):
            load_config(sources, {"CONDOR_CONFIG": "/root"})
    text = f"LOCAL_CONFIG_FILE = {name}\nREQUIRE_LOCAL_CONFIG_FILE = false\n"
    sources = MemorySources(files={"/root": text, "/b": "B = 1\n"})
    with pytest.raises(ConfigError) as raised:
        load_config(sources, {"CONDOR_CONFIG": "/root"})
    assert str(raised.value) == (
        f"Configuration Error Line 0 while reading config source {name}\n{said}\n"
    )


def test_a_command_may_have_more_than_one_bar_behind_it() -> None:
    for line in (
        "include : /bin/a ||",
        "include command : /bin/a| |",
        "LOCAL_CONFIG_FILE=/bin/a ||",
    ):
        sources = MemorySources(files={"/root": f"{line}\n"}, commands={"/bin/a": "A = 1\n"})
        assert load_config(sources, {"CONDOR_CONFIG": "/root"}).get("A") == "1"


def test_the_depth_of_an_include_is_that_in_its_own_file() -> None:
    files = {
        "/root": "include : /a\ninclude : /a\nLOCAL_CONFIG_FILE = /b\n",
        "/a": "A = 1\n",
        "/b": "include : /no\n",
    }
    with pytest.raises(ConfigError, match=r'"/no", Line 0, Include Depth 1: can.t open file /no'):
        load_config(MemorySources(files=files), {"CONDOR_CONFIG": "/root"})


def test_what_is_wrong_in_a_text_and_in_what_it_asks_for_is_told_in_this_order() -> None:
    config = read("B = $RANDOM_INTEGER(4,4,x)\n")
    assert expand_once("$REAL(B,%e)-", config).problem == (
        'ERROR "$RANDOM_INTEGER() error: invalid step"\n'
        'ERROR "$REAL() error: $RANDOM_INTEGER(4,4,x) does not evaluate to a real"'
    )
    assert expand_once("$SUBSTR(A,x,x)", config).problem.endswith('x is invalid length"')
    assert "x is invalid start" in expand_once("$SUBSTR(A,x,1)", config).problem


def test_sections_stand_where_their_file_was_read_last() -> None:
    files = {
        "/root": "include : /a\ninclude : /b\ninclude : /a\n",
        "/a": "A = 1\n",
        "/b": "B = 1\nA = 2\n",
    }
    config = load_config(MemorySources(files=files), {"CONDOR_CONFIG": "/root"})
    assert sections(config, {"file"}) == ("\n#\n# from /b\n#\nB = 1\n\n#\n# from /a\n#\nA = 1\n")
    defaults = sections(config, {"default"})
    assert "\nCATALOG_SPACE @=end\n       ifthenelse(\n" in defaults
    assert Config.from_text(defaults).get("CATALOG_SPACE") is not None
