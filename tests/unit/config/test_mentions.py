"""A macro that nothing sets is told of wherever something asks for it."""

from __future__ import annotations

import pytest

from kettle.config import Config, load_config
from kettle.config.check import check_config
from kettle.config.mentions import find_missing
from kettle.config.sources import MemorySources


def told(text: str) -> list[tuple[str, int, str, str]]:
    config = Config.from_text(text, subsystem="MASTER")
    return [
        (found.severity, found.line, found.sentence, found.nearest)
        for found in check_config(config)
        if found.kind == "undefined"
    ]


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("$(A) $(B) $(A)", ["A", "B"]),
        ("$(A:) $(B:3) $(C:$(D))", ["D"]),
        ("$(SET:$(D))", []),
        ("$$(A) $$([ $(B) ])", ["B"]),
        ("$INT(A) $REAL(A2,%g) $INT(3 + 4) $INT(true) $INT($(C))", ["A", "A2", "C"]),
        ("$SUBSTR(A,B) $SUBSTR(SET,1,C) $REAL(inf) $INT( D )", ["A", "B", "C", "D"]),
        ("$CHOICE(A,B) $CHOICE(1,C) $CHOICE(0,x,y) $CHOICE(D,x,y)", ["A", "B", "C", "D"]),
        ("$Fn(file.txt) $F(B) $STRING(hello) $EVAL(time) $BASENAME(a) $DIRNAME(b)", []),
        ("$RANDOM_CHOICE(a)", []),
        ("$ENV(A) $RANDOM_CHOICE(A,B) $RANDOM_INTEGER(1,2)", []),
        ("$(DOLLAR)(A) $(SUBSYSTEM) $(ClusterId).$(Process)", []),
        ("$(1) $(A", []),
    ],
)
def test_what_is_asked_for_in_vain_is_found(text: str, missing: list[str]) -> None:
    assert find_missing(text, lambda name: name == "SET") == missing


def test_defaults_in_defaults_end() -> None:
    assert find_missing("$(A:" * 5000 + ")" * 5000, lambda name: False) == []


def test_a_value_tells_of_it_and_of_what_is_meant() -> None:
    text = "MINE = 3\nSTRATT = $(NOPE)\nFOO = $INT(MNE)\nSTART = $(FOO) $(MINE:$(WHAT)) $(STRATT)\n"
    assert told(text) == [
        ("warning", 2, "STRATT mentions $(NOPE), and nothing sets NOPE", ""),
        ("warning", 3, "FOO mentions $(MNE), and nothing sets MNE", "MINE"),
    ]


def test_a_text_that_a_function_takes_is_no_mention() -> None:
    assert told("A = $Fn(file.txt)\nB = $STRING(hello)\nC = $EVAL(time)\n") == []


def test_so_do_files_that_are_included_templates_and_what_is_said() -> None:
    text = (
        "include ifexist : $(NOPE)/x\n"
        "use FEATURE : StartdCronOneShot(x, $(NOPE)/y)\n"
        "include ifexist command into $(NOPE) : /bin/false\n"
        "warning : $(NOPE)\n"
    )
    assert [(line, sentence) for _, line, sentence, _ in told(text)] == [
        (1, "include mentions $(NOPE), and nothing sets NOPE"),
        (2, "use mentions $(NOPE), and nothing sets NOPE"),
        (3, "include mentions $(NOPE), and nothing sets NOPE"),
        (4, "warning mentions $(NOPE), and nothing sets NOPE"),
    ]


def test_a_statement_does_not_see_what_is_set_behind_it_and_a_value_does() -> None:
    text = "include ifexist : $(DIR)/x\nDIR = /etc\nLOG = $(LATER)\nLATER = /l\n"
    assert told(text) == [
        ("warning", 1, "include mentions $(DIR), and DIR is set only on line 2", "")
    ]
    assert told("DIR = /a\ninclude ifexist : $(DIR)/x\nDIR = /b\n") == []


def test_what_a_condition_asks_for_and_what_it_keeps_out_is_none() -> None:
    text = (
        "if defined NOPE\n include : $(NOPE)/x\n LOG = $(NOPE)\nendif\n"
        "if $(NOPE)\n SPOOL = $(NOPE)\nendif\n"
    )
    assert told(text) == []


def test_a_file_that_is_missing_for_it_is_told_of_beside_it() -> None:
    sources = MemorySources({"/a": "include : $(NOPE)/x\nMEMORY = 3\n"})
    broken: list[object] = []
    config = load_config(sources, {}, subsystem="MASTER", root="/a", tell=broken.append)
    assert len(broken) == 1
    assert [found.line for found in check_config(config)] == [1]
