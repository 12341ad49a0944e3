"""Where and what of a complaint are fields; the reference's bytes are made of them in one place."""

from __future__ import annotations

import pytest

from kettle.config.knobs.negotiator import NegotiatorKnobs
from kettle.config.remarks import innermost, render, render_all, sentence
from kettle.config.sources import MemorySources
from kettle.config.store import Config, load_config
from kettle.errors import ConfigError, Form, Remark


def at(text: str = "wrong", line: int = 3, depth: int = 0, **more: bool) -> Remark:
    return Remark(text, "a.conf", line, depth, Form.PLACED, **more)


AT = at()


def read(text: str, **files: str) -> Config:
    sources = MemorySources({"/root": text, **{f"/{name}": body for name, body in files.items()}})
    return load_config(sources, {}, root="/root")


def fault(text: str, **files: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        read(text, **files)
    return caught.value


@pytest.mark.parametrize(
    ("remark", "config", "submit"),
    [
        (AT, 'Config source Error "a.conf", Line 3: wrong', 'Submit:-1:Error "a.conf", Line 3: '),
        (at(depth=2), 'Config source Error "a.conf", Line 3, Include Depth 2: wrong', ""),
        (at(is_warning=True), 'Config source Warning "a.conf", Line 3: wrong', "Warning "),
        (Remark("wrong", form=Form.STATED), " Error : wrong", " Error : wrong"),
        (Remark("no such"), "no such", "no such"),
    ],
)
def test_a_remark_is_written_as_the_reference_writes_it(
    remark: Remark, config: str, submit: str
) -> None:
    assert render(remark) == config
    assert render(remark, of_submit=True).startswith(submit)


def test_remarks_without_text_are_no_lines() -> None:
    assert render_all((Remark(""), AT, Remark("b"))).splitlines() == [render(AT), "b"]


def test_the_innermost_place_comes_first_and_warnings_have_none_of_an_error() -> None:
    outer = Remark("", "root", 9, form=Form.PLACED)
    warned = Remark("old", "w", 1, form=Form.PLACED, is_warning=True)
    assert innermost((warned, AT, outer), "x", 1) == ("a.conf", 3)
    assert innermost((warned, at(line=0)), "x", 1) == ("x", 1)
    assert sentence((AT, outer, Remark("more\nlines")), "; ") == "wrong; more; lines"


def test_a_fault_in_an_included_file_is_a_chain_of_places() -> None:
    error = fault("A = 1\ninclude : /b\n", b="\ninclude : /c\n", c="\n\nfoo$ = 1\n")
    places = [
        (remark.source, remark.line, remark.depth)
        for remark in error.remarks
        if remark.form == Form.PLACED
    ]
    assert places == [("/c", 3, 0), ("/c", 3, 2), ("/b", 2, 1)]
    assert (error.source, error.line) == ("/root", 2)
    assert error.message == render_all(error.remarks)


def test_a_warning_is_a_value_with_its_place() -> None:
    config = read("A = 1\nwarning : take care\nB : 2\n")
    said, old = config.warnings
    assert (said.text, said.source, said.line) == ("take care", "/root", 2)
    assert (said.is_warning, said.is_obsolete) == (True, False)
    assert (old.line, old.is_warning, old.is_obsolete) == (3, True, True)


def test_a_complaint_about_a_value_is_apart_from_its_place() -> None:
    config = read("A = 1\nNEGOTIATOR_INTERVAL = many\n")
    with pytest.raises(ConfigError) as caught:
        _ = config.strictly()[NegotiatorKnobs.NEGOTIATOR_INTERVAL]
    error = caught.value
    assert error.message == f"/root, line 2: {error.complaint}"
    assert (error.source, error.line) == ("/root", 2)
