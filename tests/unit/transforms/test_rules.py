"""What rules do to an ad, where they end, and what is said of one that makes no sense."""

from __future__ import annotations

import random
import re

import pytest

from kettle.classad import ClassAd, parse_expression, parse_old_ad
from kettle.errors import TransformError
from kettle.submit.sources import MemorySubmitSources
from kettle.transforms import editor, source
from kettle.transforms.convert import convert_route
from kettle.transforms.editor import Journal
from kettle.transforms.iteration import read_iteration, rounds
from kettle.transforms.macros import TransformMacros
from kettle.transforms.old_form import read_old_form
from kettle.transforms.source import read_transform
from kettle.transforms.statements import STATEMENTS, Statement, take_apart

CONFIGURED = {"LOG": "/var/log", "LOOP": "$(LOOP)"}


def macros(**arguments: str) -> TransformMacros:
    return TransformMacros(
        lambda name: CONFIGURED.get(name.upper()),
        {"HOME": "/home/me"}.get,
        lambda: random.Random(1),
        arguments=arguments,
    )


def apply(rules: str, ad: str = 'A = 1\nB = "b"', **arguments: str) -> tuple[ClassAd, Journal]:
    changed, journal = parse_old_ad(ad), Journal()
    rule = read_transform(rules, "rules")
    if rule.applies_to(changed):
        rule.apply(changed, macros(**arguments), journal)
    return changed, journal


def texts(ad: ClassAd) -> dict[str, str | None]:
    return {name: ad.text(name) for name in ad.names()}


@pytest.mark.parametrize("row", STATEMENTS.values(), ids=lambda r: r.word)
def test_the_example_of_a_statement_has_the_effect_it_says(row: Statement) -> None:
    ad = parse_old_ad('A = 1\nB = "b"')
    rule = read_transform(row.example, "rules")
    journal = Journal()
    table = macros()
    if rule.iteration:
        (_,) = (
            rule.apply(ad, table, journal)
            for _ in rounds(read_iteration(rule, table, MemorySubmitSources()), table)
        )
    elif rule.applies_to(ad):
        rule.apply(ad, table, journal)
    name, _, text = row.effect.partition(" = ")
    assert ad.text(name) == text
    assert not journal.errors


@pytest.mark.parametrize("row", STATEMENTS.values(), ids=lambda r: r.word)
def test_a_statement_is_carried_out_on_the_ad_or_taken_out_of_the_rules_text(
    row: Statement,
) -> None:
    rule = read_transform(row.example, "rules")
    stays = any(line.startswith(row.word) for line in rule.body.split("\n"))
    assert stays == (row.carry_out is not None)


def test_a_statement_of_the_rule_that_nobody_takes_is_loud(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "_ENVELOPE", re.compile(r"(LATER)\s+(.*)$"))
    with pytest.raises(LookupError, match="LATER"):
        read_transform("LATER A", "rules")


def test_a_comma_after_the_attribute_is_no_part_of_it() -> None:
    assert texts(apply("SET C, 5\nSET D = 6\nSET E , 7\nSET F= 8")[0]) == {
        "A": "1", "B": '"b"', "C": "5", "D": "6", "E": "7", "F": "8",
    }  # fmt: skip


def test_macros_are_looked_for_in_the_rule_the_ad_and_the_configuration() -> None:
    rules = 'MY.B = own\n+G = 3\nSET C "$(MY.B)$(MY.A)$(MY.G)$(LOG)$(No)$(No:d)$(x)$ENV(HOME)"'
    assert apply(rules, x="arg")[0]["C"] == "own13/var/logdarg/home/me"


def test_eval_is_worked_out_in_the_ad_and_int_is_not() -> None:
    ad, journal = apply("SET C A + 1\nSET D $EVAL(MY.C)\nSET E $INT(MY.C)")
    assert ad["D"] == 2
    assert "E" not in ad
    assert 'ERROR "$INT() macro: A + 1 does not evaluate to an integer!"' in journal.errors


def test_a_circle_of_macros_fails_the_rule_and_names_it() -> None:
    with pytest.raises(TransformError, match="LOOP refers to itself") as caught:
        apply("SET C 1\nSET D $(LOOP)")
    assert (caught.value.source, caught.value.line) == ("rules", 2)


@pytest.mark.parametrize(
    ("rules", "line", "message"),
    [
        ("SET A 1\n\nbogus A 1", 3, "bogus is not a valid transform keyword"),
        ("COPY A", 1, "COPY needs 2 arguments"),
        ("SET A =", 1, "SET needs 2 arguments"),
        ("DELETE", 1, "DELETE needs an argument"),
        ("DELETE /A", 1, "invalid regex"),
        ("DELETE /A/z", 1, "invalid regex"),
        ("if true\nSET A 1", 2, "endif"),
        ("use feature:gpus", 1, "use has no place"),
        ("include : x", 1, "include has no place"),
        ("error : not here", 1, "not here"),
        ("x @=e\n1", 2, "end-of-file while scanning for '@e'"),
        ("REQUIREMENTS (\nSET A 1", 1, "invalid REQUIREMENTS"),
    ],
)
def test_a_rule_that_makes_no_sense_is_told_with_its_line(
    rules: str, line: int, message: str
) -> None:
    with pytest.raises(TransformError, match=message) as caught:
        apply(rules)
    assert (caught.value.source, caught.value.line) == ("rules", line)


def test_a_mistyped_statement_is_told_with_the_nearest() -> None:
    with pytest.raises(TransformError, match="keyword") as caught:
        take_apart("EVALSETT A 1")
    assert caught.value.hint == "did you mean EVALSET?"


def test_what_is_left_of_an_error_goes_on() -> None:
    ad, journal = apply("SET C (\nCOPY A A-1\nRENAME A A-1\nDELETE /(/\nDELETE /a)/U\nSET D 1")
    assert texts(ad) == {"A": "1", "B": '"b"', "D": "1"}
    assert journal.errors == [
        "ERROR: SET C invalid expression : (",
        "ERROR: COPY A new name A-1 is not valid",
        "ERROR: RENAME A new name A-1 is not valid",
        "ERROR: Error compiling regex '('. 114. this entry will be ignored.",
        "ERROR: Error compiling regex 'a)'. 122. this entry will be ignored.",
    ]


def test_patterns_may_take_as_little_as_they_can() -> None:
    for letters, made in (("", "NewabbcX"), ("U", "NewaXbbc")):
        ad, _ = apply(rf"COPY /^(.+)(.*?)$/{letters} New\1X\2", "abbc = 1")
        assert list(texts(ad)) == ["abbc", made]


def test_patterns_know_groups_and_places() -> None:
    ad, _ = apply(r"COPY /^(.)x?(z)?/ New\1\2" + "\nDELETE /b/g", "Ax = 1\nabx = 2")
    assert texts(ad) == {"Ax": "1", "abx": "2"}
    ad, _ = apply(r"COPY /^(.)(.?)/ New\1\2" + "\nDELETE /b/g", "Ax = 1\nbx = 2")
    assert texts(ad) == {"Ax": "1", "NewAx": "1", "Newbx": "2"}


def test_what_is_evaluated_ends_where_its_expression_ends() -> None:
    ad, journal = apply("EVALSET C A + 1, 2\nEVALSET D A;\nEVALMACRO m A 5\nSET E $(m)\nSET F A 5")
    assert [ad.text(name) for name in "CDEF"] == ["2", "1", "1", None]
    assert journal.errors == ["ERROR: SET F invalid expression : A 5"]
    ad, _ = apply('SET C "a\\tb"\nEVALSET D "a\\tb"')
    assert (ad["C"], ad["D"]) == ("a\\tb", "a\tb")


def test_a_macro_can_be_an_ad() -> None:
    ad, _ = apply("EVALMACRO m [ x = A ]\nSET C $(m)\nEVALSET D C.x")
    assert (ad.text("C"), ad["D"]) == ("[ x = A ]", 1)


def test_a_new_name_has_no_dot() -> None:
    ad, journal = apply("COPY A a.b\nRENAME A a.b\nSET a.b 5")
    assert texts(ad) == {"A": "1", "B": '"b"', "a.b": "5"}
    assert len(journal.errors) == 2


def test_here_documents_continuations_and_comments() -> None:
    rules = 'x @=end\nNAME no\n1\n@end\n# a comment\nSET C 1 \\\n + 2\nSET D "$(x)"\n'
    ad, _ = apply(rules)
    assert ad.text("C") == "1 + 2"
    assert ad["D"] == "NAME no\n1"


def test_name_universe_and_requirements_count_wherever_they_stand() -> None:
    rule = read_transform("SET A 1\nNAME two\nUNIVERSE grid\nif 0\nREQUIREMENTS B\nendif", "one")
    assert (rule.name, rule.universe) == ("two", "grid")
    assert not rule.applies_to(ClassAd({"A": 1}))
    assert rule.applies_to(ClassAd({"B": True}))
    assert read_transform("NAME two", "one", may_name_itself=False).name == "one"


def test_each_item_begins_with_the_macros_as_they_were() -> None:
    rule = read_transform("x = $(x)1\nSET C $(x)$(Row)$(Step)\nTRANSFORM 2 y in (a b)", "rules")
    table = macros(x="9")
    statement = read_iteration(rule, table, MemorySubmitSources())
    found = []
    for _ in rounds(statement, table):
        ad = ClassAd()
        rule.apply(ad, table, Journal())
        found.append(ad["C"])
    assert found == [9100, 91101, 9110, 91111]
    assert table.raw("x") == "9"
    assert table.raw("y") is None


def test_a_rule_may_set_an_item_s_variable_for_its_next_step() -> None:
    rule = read_transform("SET C $(x)\nx = 7\nTRANSFORM 2 x in (1 2)", "rules")
    table = macros()
    found = []
    for _ in rounds(read_iteration(rule, table, MemorySubmitSources()), table):
        ad = ClassAd()
        rule.apply(ad, table, Journal())
        found.append(ad["C"])
    assert found == [1, 7, 2, 7]


def test_items_may_follow_and_the_rest_is_left() -> None:
    rule = read_transform("SET C 1\nTRANSFORM x,y from (\n1 2\n3,4\n)\nA = 5\n", "rules")
    table = macros()
    statement = read_iteration(rule, table, MemorySubmitSources())
    assert [(table.raw("x"), table.raw("y")) for _ in rounds(statement, table)] == [
        ("1", "2"),
        ("3", "4"),
    ]
    assert rule.rest == "A = 5"


@pytest.mark.parametrize(
    ("statement", "items"),
    [
        ("x in [1:] (a b)", ["b"]),
        # No items are one of nothing, as in the reference.
        ("x in ()", [""]),
        ("2 x in (,)", ["", ""]),
        ("x from (\n)", [""]),
        ("x in ($(NONE))", [""]),
        ("from TABLE (\nx,y\n1,2\n)", ["1"]),
        ("from TABLE(header=1) [2:] (\nnone\nx,y\n1,2\n3,4\n)", ["3"]),
    ],
)
def test_a_rule_is_applied_to_the_items_that_its_statement_says(
    statement: str, items: list[str]
) -> None:
    rule = read_transform(f"SET C 1\nTRANSFORM {statement}", "rules")
    table = macros()
    iteration = read_iteration(rule, table, MemorySubmitSources())
    assert [table.raw("x") for _ in rounds(iteration, table)] == items


def test_an_attribute_with_a_minus_is_taken_and_does_nothing() -> None:
    ad, _ = apply("-A = 5\n-Z=\nSET C 1")
    assert texts(ad) == {"A": "1", "B": '"b"', "C": "1"}
    with pytest.raises(TransformError, match="- is not a valid transform keyword"):
        apply("- A = 5")


def test_an_iteration_that_makes_no_sense_is_told() -> None:
    rule = read_transform("TRANSFORM foo", "rules")
    with pytest.raises(TransformError, match="invalid TRANSFORM statement"):
        read_iteration(rule, macros(), MemorySubmitSources())
    rule = read_transform("TRANSFORM x in (a", "rules")
    with pytest.raises(TransformError, match=r"closing brace.*TRANSFORM command on line 1"):
        read_iteration(rule, macros(), MemorySubmitSources())


@pytest.mark.parametrize(
    "rules",
    [
        'SET C "' + "x" * 1000 + '"\n' + 'SET C "$(MY.C)$(MY.C)"\n' * 40,
        'SET C "' + "x" * 1000 + '"\n' + "EVALSET C strcat(C, C)\n" * 40,
        "x = 1234567\n" + "x = $(x)$(x)\n" * 40,
        "SET C 1\n" + "".join(f"COPY /(.*)/ p{n}\\1\n" for n in range(40)),
        "SET C 1\n" * 20_000,
    ],
)
def test_a_rule_that_doubles_again_and_again_ends(rules: str) -> None:
    with pytest.raises(TransformError):
        apply(rules)


def test_a_name_that_doubles_again_and_again_is_none_in_the_end() -> None:
    ad, journal = apply("SET C 1\n" + "RENAME /(.*)/ \\1\\1\n" * 40, "")
    assert [len(name) for name in ad.names()] == [1024]
    assert len(journal.errors) == 30


def test_all_that_one_rule_writes_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(editor, "MOST_WRITTEN", 3000)
    with pytest.raises(TransformError, match="writes more than any ad has"):
        apply('x = "' + "x" * 900 + '"\n' + "SET C $(x)\n" * 4)


@pytest.mark.parametrize("rule", ["COPY L C{n}\n", "COPY /^L$/ C{n}\n", "RENAME {n} {m}\n"])
def test_what_a_rule_copies_counts_as_written(monkeypatch: pytest.MonkeyPatch, rule: str) -> None:
    monkeypatch.setattr(editor, "MOST_WRITTEN", 10_000)
    text = f'"{"x" * 900}"'
    lines = [rule.format(n=f"L{n or ''}", m=f"L{n + 1}") for n in range(12)]
    ad, _ = apply("".join(lines[:8]), f"L = {text}")
    assert sum(ad.text(name) == text for name in ad.names()) in (1, 9)
    with pytest.raises(TransformError, match="writes more than any ad has"):
        apply("".join(lines), f"L = {text}")


def test_a_value_longer_than_a_rule_s_own_can_be_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(editor, "LONGEST_VALUE", 100)
    ad, _ = apply("COPY L C\n", f'L = "{"x" * 900}"')
    assert ad.text("C") == ad.text("L")


def test_a_chained_ad_hides_what_it_deletes() -> None:
    cluster = ClassAd({"A": 1, "B": 2})
    ad = ClassAd({"C": 3}, parent=cluster)
    rule = read_transform("DELETE A\nDELETE C\nRENAME B D\nSET E MY.A", "rules")
    assert set(rule.apply(ad, macros(), Journal())) == {"a", "b", "c", "d", "e"}
    assert {name: ad.text(name) for name in ad.names()} == {
        "A": "undefined", "B": "undefined", "D": "2", "E": "MY.A",
    }  # fmt: skip
    assert cluster.text("A") == "1"


def test_patterns_see_what_a_job_has_of_its_cluster() -> None:
    ad = ClassAd({"C": 3}, parent=ClassAd({"PatOne": 1, "DelOne": 2}))
    rule = read_transform("COPY /^Pat(.*)$/ New\\1\nDELETE /^Del/", "rules")
    rule.apply(ad, macros(), Journal())
    assert (ad.text("NewOne"), ad.text("DelOne"), ad.text("PatOne")) == ("1", "undefined", "1")


def test_the_classad_form_fills_in_its_own_attributes_and_knows_the_job_as_target() -> None:
    rule = read_old_form(
        '[ Name = "n"; Foo = 7; Str = "q"; Requirements = TARGET.A == 1 && Foo == 7;'
        " eval_set_V = Foo + A; eval_set_W = strcat(Str, TARGET.B); set_X = Foo;"
        ' copy_A = "Old"; copy_B = 5; delete_A = false; eval_set_L = { 1, A } ]',
        "T",
    )
    ad = parse_old_ad('A = 1\nB = "b"')
    assert rule.name == "n"
    assert rule.applies_to(ad)
    assert not rule.applies_to(parse_old_ad("A = 2"))
    journal = Journal()
    rule.apply(ad, macros(), journal)
    assert texts(ad) == {
        "B": '"b"', "Old": "1", "X": "Foo", "L": "{ 1,A }", "V": "undefined", "W": '"qb"',
    }  # fmt: skip
    assert journal.steps[:3] == ["COPY A to Old", "DELETE A", "SET X to Foo"]


def test_what_a_rule_computes_with_its_own_attributes_may_ask_for_the_job_s() -> None:
    rule = read_old_form(
        "[ Most = (1 + 2) * A; Two = TARGET.A == 1 || false; Deep = Most; Loop = Loop + A;"
        " eval_set_V = Deep - 1; eval_set_W = ifThenElse(Two is undefined, 0, 5);"
        " eval_set_X = Loop; Requirements = Deep > 2 ]",
        "T",
    )
    ad = parse_old_ad("A = 1")
    assert rule.applies_to(ad)
    assert not rule.applies_to(parse_old_ad("A = 0"))
    rule.apply(ad, macros(), Journal())
    assert texts(ad) == {"A": "1", "V": "2", "W": "5", "X": "undefined"}


@pytest.mark.parametrize(
    ("text", "shown", "value"),
    [
        ("A + 1", "A + 1", "2"),
        ("A && true", "A && true", "true"),
        ("1 + 2 + A", "1 + 2 + A", "4"),
        ("Own + A + 1", "3 + A", "4"),
        ("MY.Own + 1", "3", "3"),
        ("TARGET.Own + 1", "TARGET.Own + 1", "undefined"),
        ("TARGET.A + 1", "TARGET.A + 1", "2"),
    ],
)
def test_an_expression_that_asks_for_nothing_of_the_rule_is_as_it_is_written(
    text: str, shown: str, value: str
) -> None:
    """As of the reference, where `A && true` would be A."""
    rule, journal = read_old_form(f"[ Own = 2; eval_set_V = {text} ]", "T"), Journal()
    ad = parse_old_ad("A = 1")
    rule.apply(ad, macros(), journal)
    assert journal.steps[0] == f"EVALSET V to {shown}"
    assert texts(ad)["V"] == value


def test_a_count_may_be_a_macro() -> None:
    rule = read_transform("TRANSFORM $(N)", "rules")
    table = macros(N="2")
    assert len(list(rounds(read_iteration(rule, table, MemorySubmitSources()), table))) == 2


def test_what_is_filled_in_stays_together() -> None:
    route = ClassAd()
    route.insert_text("Sum", "TARGET.A + 1")
    route.insert_text("eval_set_B", "Sum * 2")
    route.insert_text("Requirements", "!(TARGET.A && B)")
    assert "REQUIREMENTS !(A && B)" in convert_route(route)[1]
    assert "EVALSET B 2 * (1 + MY.A)" in convert_route(route)[1]


def test_a_rule_that_mentions_itself_again_and_again_is_refused() -> None:
    text = "; ".join(f"a{n} = a{n + 1} + a{n + 1} + x" for n in range(18))
    with pytest.raises(TransformError, match="again and again"):
        read_old_form(f"[ {text}; eval_set_B = a0 ]", "T")


@pytest.mark.parametrize("nested", [40, 150])
def test_a_rule_whose_names_stand_deep_in_one_another_is_refused(nested: int) -> None:
    """Deeper than what is read, or than the stack is: neither is printed, so neither is made."""
    text = "; ".join(f"a{n} = {'(' * nested}a{n + 1}{')' * nested}" for n in range(18))
    with pytest.raises(TransformError, match="nested too deeply"):
        read_old_form(f"[ {text}; eval_set_B = a0 ]", "T")


def test_a_classad_form_that_does_not_parse_is_told() -> None:
    with pytest.raises(TransformError, match="Could not parse transform classad T"):
        read_old_form("[ set_A = ", "T")


SAYS = "$(LOG) $ENV(HOME) $(DOLLAR)(LOG) $RANDOM_CHOICE(1) $$(Name) $"


@pytest.mark.parametrize(
    "rule",
    [
        'SET New "$(MY.Says)"',
        'm = $(MY.Says)\nSET New "$(m)"',
        'SET New "$(nothing:$(MY.Says))"',
        'SET New "$STRING(MY.Says)"',
        'SET New "$SUBSTR(MY.Says,0)"',
        'SET New "$F(MY.Says)"',
        'SET New "$EVAL(MY.Made)"',
        'SET New "$STRING(MY.Made)"',
        'EVALMACRO m MY.Says\nSET New "$(m)"',
        'EVALMACRO m Made\nm = $(m)\nSET New "$(m)"',
        'SET First "$(MY.Says)"\nSET New "$(MY.First)"',
        "SET New $(MY.Quoted)",
    ],
)
def test_what_a_job_says_is_no_macro(rule: str) -> None:
    ad = f'Says = "{SAYS}"\nQuoted = strcat("{SAYS}","")\n'
    ad += 'Made = strcat("$","' + SAYS[1:] + '")'
    changed, journal = apply(rule, ad)
    assert changed.evaluate("New") == SAYS
    assert not journal.errors


def test_what_the_rule_itself_says_is_expanded_beside_it() -> None:
    changed, _ = apply('SET New "$(LOG)/$(MY.A)/$INT(MY.A,%02d)/$(DOLLAR)(x)"', "A = 1")
    assert changed.evaluate("New") == "/var/log/1/01/$(x)"


def test_a_rule_makes_only_so_many_changes() -> None:
    changing = editor.Editor(ClassAd(), Journal())
    value = parse_expression("1")
    for _ in range(50_000):
        changing.telling = Journal()
        changing.set_expression("A", value)
        changing.delete("A")
    with pytest.raises(TransformError, match="writes more than any ad has"):
        changing.set_expression("A", value)


@pytest.mark.parametrize(
    ("condition", "is_true"),
    [
        # As the reference has them.
        ("$(MY.W)", True), ("1+1", True), ("A == 1", True), ("MY.A == 1", True), ("(true)", True),
        ("$(MY.A) == 1", True), ("$INT(A) + 1", True), ("isUndefined(No)", True), ("- 1", True),
        ("!(1)", False), ("! (A == 1)", False), ("! $(MY.W)", False),
        # The rule fails there.
        ("1-1", False), ("A == 2", False), ('B == "x"', False), ("! (A == 2)", True),
    ],
)  # fmt: skip
def test_a_condition_may_be_an_expression_over_the_ad(condition: str, is_true: bool) -> None:
    text = (
        f"if {condition}\nSET X 1\nelse\nSET X 2\nendif\nif false\nelif {condition}\nSET Y 1\nendif"
    )
    assert read_transform(text, "rules").check(macros()) == 3
    changed, _ = apply(text, 'A = 1\nB = "b"\nW = A + 1')
    assert texts(changed)["X"] == ("1" if is_true else "2")
    assert ("Y" in changed) is is_true


@pytest.mark.parametrize(
    "condition",
    [
        "{1}", "No + 1", "error + 1", "strcat(B)", "A +", "$(MY.No) == 1", "$(MY.L)",
        "A > 0 && defined MY.B", "A", "MY.A", "$(MY.B)",
    ],
)  # fmt: skip
def test_a_condition_without_a_truth_in_the_ad_fails_the_rule(condition: str) -> None:
    with pytest.raises(TransformError, match="is not a valid if condition"):
        apply(f"if {condition}\nSET X 1\nendif", 'A = 1\nB = "b"\nL = { 1 }')
