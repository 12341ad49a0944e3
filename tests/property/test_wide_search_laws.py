"""What array operations find of slots and expressions is what the evaluator finds one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given as over
from hypothesis import settings
from hypothesis import strategies as st

from kettle.classad import ClassAd, parse_expression, symmetric_match
from kettle.matchmaking import candidates
from kettle.matchmaking.candidates import Market
from kettle.matchmaking.columns import Columns
from kettle.matchmaking.kept_slots import KeptSlots
from kettle.matchmaking.plan import Plan
from kettle.matchmaking.rank import number
from kettle.matchmaking.references import REQUEST, SLOT
from kettle.matchmaking.slots import SlotTable
from kettle.matchmaking.vectors import Vectors
from kettle.matchmaking.wide_search import WideSearch
from unit.matchmaking.pools import RANKS, plan, pslot, request, slot, submitter

NAMES = ("Cpus", "Memory", "Os", "Flag", "Odd", "Limit", "Missing", "Wanted")
VALUES = ("1", "2", "3.5", "-4", "true", "false", '"LINUX"', '"linux"', '"x"', "undefined")
DEFINITIONS = (
    *VALUES,
    "error",
    "Cpus * 2",
    "MY.Memory > 2",
    "TARGET.Wanted",
    "Flag && Cpus > 1",
    "{ 1 }",
)
TARGETS = tuple(f"TARGET.{name}" for name in NAMES)
MINE = tuple(f"MY.{name}" for name in NAMES)
# What may look at more than its names say: a slot stands for itself alone then.
ELSEWHERE = (
    *("OTHER.Cpus", "RIGHT.Cpus", ".RIGHT.Memory", "LEFT.Wanted", ".LEFT.Wanted", "SELF.Memory"),
    *("PARENT.other.Cpus", "TOPLEVEL.RIGHT.Cpus", 'TARGET["Cpus"]', "{TARGET}[0].Cpus"),
    *("(Flag ? TARGET : MY).Cpus", "AD.Wanted", "lCtx.my.Wanted", "rightRankValue"),
)
ATOMS = (*NAMES, *TARGETS, *MINE, "1", "2", "2.5", "true", "false", '"linux"', "undefined", "error")
JOINED = ("&&", "||", "<", "<=", ">", ">=", "==", "!=", "+", "-", "*", "=?=", "/")


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3, atoms: tuple[str, ...] = ATOMS) -> str:
    """Expressions over what slots and requests have and lack."""
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from(atoms))
    kind = draw(st.integers(0, 7))
    part = expressions(depth=depth - 1, atoms=atoms)
    if kind == 0:
        return f"!({draw(part)})"
    if kind == 1:
        return f"ifThenElse({draw(part)}, {draw(part)}, {draw(part)})"
    if kind == 2:
        return f"isUndefined({draw(part)})"
    return f"({draw(part)} {draw(st.sampled_from(JOINED))} {draw(part)})"


def ads(values: tuple[str, ...]) -> st.SearchStrategy[dict[str, str]]:
    return st.dictionaries(st.sampled_from(NAMES), st.sampled_from(values), max_size=6)


def made(base: ClassAd, texts: dict[str, str]) -> ClassAd:
    for name, text in texts.items():
        base.insert_text(name, text)
    return base


def table_of(rows: list[dict[str, str]], requirements: list[str]) -> SlotTable:
    return KeptSlots().table(
        made(slot(f"s{index}", Requirements=f"={requirements[index % len(requirements)]}"), texts)
        for index, texts in enumerate(rows)
    )


def truth_of(ad: ClassAd, text: str, target: ClassAd) -> bool:
    value = ad.evaluate_expression(parse_expression(f"({text}) && true"), target)
    return value is True


@settings(deadline=None, max_examples=60)
@over(expressions(), st.lists(ads(VALUES), min_size=1, max_size=7), ads(DEFINITIONS))
def test_an_expression_of_a_request_means_the_same_for_all_slots(
    text: str, rows: list[dict[str, str]], wishes: dict[str, str]
) -> None:
    table = table_of(rows, ["true"])
    ad = made(ClassAd(), wishes)
    expression = parse_expression(text)
    node = Vectors(Columns(table.rows)).node(expression, REQUEST, ad)
    where = np.ones(len(rows), np.bool_)
    assert node.holds(ad, where).tolist() == [truth_of(ad, text, row.ad) for row in table]
    values = np.broadcast_to(np.nan_to_num(node.numbers(ad, where)[0], nan=0.0), where.shape)
    assert values.tolist() == [number(ad, expression, row.ad) for row in table]


@settings(deadline=None, max_examples=60)
@over(expressions(), st.lists(ads(VALUES), min_size=1, max_size=7), ads(DEFINITIONS))
def test_an_expression_of_the_slots_means_the_same_for_all_of_them(
    text: str, rows: list[dict[str, str]], wishes: dict[str, str]
) -> None:
    table = table_of(rows, ["true"])
    ad = made(ClassAd(), wishes)
    node = Vectors(Columns(table.rows)).node(parse_expression(text), SLOT, table.rows[0].ad)
    where = np.ones(len(rows), np.bool_)
    assert node.holds(ad, where).tolist() == [truth_of(row.ad, text, ad) for row in table]


@pytest.mark.parametrize("form", ["P && P", "!P && P", "P + P > 1", "isUndefined(P) || P"])
@pytest.mark.parametrize("rows", [3, 9, 14, 17])
@pytest.mark.parametrize("side", [REQUEST, SLOT])
def test_definitions_that_double_with_every_row_mean_the_same_to_all(
    form: str, rows: int, side: str
) -> None:
    """Up to the end of what the evaluator does, and beyond it."""
    table = table_of([{"Wanted": str(index % 3)} for index in range(3)], ["true"])
    homes = [ClassAd()] if side == REQUEST else [row.ad for row in table]
    for home in homes:
        home.insert_text("A0", "TARGET.Wanted > 1" if side == REQUEST else "Wanted > 1")
        for row in range(1, rows + 1):
            home.insert_text(f"A{row}", form.replace("P", f"A{row - 1}"))
    asking = homes[0] if side == REQUEST else ClassAd()
    node = Vectors(Columns(table.rows)).node(parse_expression(f"A{rows}"), side, homes[0])
    found = node.holds(asking, np.ones(len(table), np.bool_)).tolist()
    pairs = [(asking, row.ad) if side == REQUEST else (row.ad, asking) for row in table]
    assert found == [truth_of(mine, f"A{rows}", other) for mine, other in pairs]


@settings(deadline=None, max_examples=60)
@over(
    expressions(),
    st.lists(expressions(), min_size=1, max_size=3),
    st.lists(ads(DEFINITIONS), min_size=1, max_size=8),
    ads(DEFINITIONS),
)
def test_a_request_matches_the_same_slots(
    text: str, theirs: list[str], rows: list[dict[str, str]], wishes: dict[str, str]
) -> None:
    table = table_of(rows, theirs)
    ad = made(ClassAd(), wishes)
    ad.insert_text("Requirements", text)
    found = WideSearch(table.rows, RANKS).matching(ad)
    assert found.tolist() == [symmetric_match(ad, row.ad) for row in table]


ANYWHERE = expressions(depth=2, atoms=(*NAMES, *TARGETS[:2], "1", *ELSEWHERE))


@settings(deadline=None, max_examples=100)
@over(
    ANYWHERE,
    st.lists(ANYWHERE, min_size=1, max_size=2),
    st.lists(ads((*VALUES, *ELSEWHERE)), min_size=1, max_size=6),
    ads((*DEFINITIONS, *ELSEWHERE)),
    st.sampled_from([1, 10**9]),
)
def test_slots_stand_for_no_others_where_somebody_looks_elsewhere(
    text: str,
    theirs: list[str],
    rows: list[dict[str, str]],
    wishes: dict[str, str],
    wide_from: int,
) -> None:
    """With arrays and with classes of slots, each slot is judged as if it were alone."""
    judge_alike(table_of(rows, theirs), {**wishes, "Requirements": text}, wide_from)


@pytest.mark.parametrize("wide_from", [1, 10**9])
@pytest.mark.parametrize("wish", ["TARGET.Cpus > 3", "OTHER.Cpus > 3", 'TARGET["Cpus"] > 3'])
@pytest.mark.parametrize(
    ("text", "theirs", "attributes"),
    [
        ("WISH", "true", {}),
        ("MY.Wanted", "true", {"Wanted": "WISH"}),
        # What a slot asks of a request may look back at the slot.
        ("true", "TARGET.Wanted", {"Wanted": "WISH"}),
    ],
)
def test_the_one_slot_that_fits_is_found(
    wide_from: int, wish: str, text: str, theirs: str, attributes: dict[str, str]
) -> None:
    table = table_of([{"Cpus": "8" if place == 0 else "1"} for place in range(4)], [theirs])
    texts = {"Requirements": text, **attributes}
    wishes = {name: each.replace("WISH", wish) for name, each in texts.items()}
    assert judge_alike(table, wishes, wide_from) == ["s0"]


def judge_alike(table: SlotTable, wishes: dict[str, str], wide_from: int) -> list[str]:
    """Return the slots that a market finds for a request; those that match one by one."""
    wanting = request(count=1, rank="0.0", requirements="true")
    made(wanting.ad, wishes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "WIDE_FROM", wide_from)
        market = Market(table, table.rows, RANKS, lambda _one, _other: False)
        found = market.candidates(wanting)
        names = []
        while (best := market.top(found, wanting)) is not None:
            names.append(best.slot.name)
            best.slot.taken = True
            market.note(best.slot)
    fitting = [row.name for row in table if symmetric_match(wanting.ad, row.ad)]
    assert sorted(names) == sorted(fitting)
    return fitting


@pytest.mark.parametrize("theirs", [["true", "false"], ["false", "true"], ["1", "0", "true"]])
def test_slots_whose_requirements_are_values_are_not_taken_for_each_other(
    theirs: list[str],
) -> None:
    table = table_of([{} for _ in theirs], theirs)
    ad = ClassAd({"Requirements": True})
    found = WideSearch(table.rows, RANKS).matching(ad)
    assert found.tolist() == [text in {"true", "1"} for text in theirs]


def shape(found: Plan) -> list[tuple[str, int, str]]:
    return [
        (each.request.submitter, each.request.cluster, each.slot_name) for each in found.matches
    ]


WISHES = st.tuples(
    st.sampled_from(("ann@d", "bob@d")),
    st.integers(1, 5),
    st.integers(1, 3),
    st.integers(1, 20),
    st.sampled_from(("0.0", "TARGET.Memory", "TARGET.Os =?= MY.Os", "10 - TARGET.Cpus")),
    st.sampled_from(("true", "TARGET.Memory > 5", 'TARGET.Os == "x"', "TARGET.Odd =!= 3")),
)
SIZES = st.tuples(
    st.booleans(), st.integers(1, 4), st.integers(1, 40), st.sampled_from(("x", "y")), st.booleans()
)


@settings(deadline=None, max_examples=40)
@over(st.lists(SIZES, max_size=9), st.lists(WISHES, max_size=6))
def test_a_cycle_is_the_same_with_arrays_and_without(
    sizes: list[tuple[bool, int, int, str, bool]],
    wishes: list[tuple[str, int, int, int, str, str]],
) -> None:
    def cycle() -> Plan:
        rows = []
        for number_, (divided, cpus, memory, system, held) in enumerate(sizes):
            make = pslot if divided else slot
            ad = make(f"s{number_}", cpus=cpus, memory=memory, Os=system, Rank="=TARGET.Wanted")
            if held and not divided:
                ad.update({"RemoteUser": "cid@d", "State": "Claimed", "CurrentRank": 1.0})
            rows.append(ad)
        users = {name: submitter(name) for name in ("ann@d", "bob@d")}
        for cluster, (name, count, cpus, memory, rank, requirements) in enumerate(wishes):
            users[name].requests.append(
                request(
                    name, count=count, cluster=cluster, cpus=cpus, memory=memory, rank=rank,
                    requirements=requirements, divides=True, Wanted=cluster,
                )
            )  # fmt: skip
        return plan(rows, *users.values(), submitter("cid@d", usage=1.0))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "WIDE_FROM", 10**9)
        expected = cycle()
        patch.setattr(candidates, "WIDE_FROM", 1)
        found = cycle()
    assert shape(found) == shape(expected)
    assert [each.reason for each in found.rejections] == [
        each.reason for each in expected.rejections
    ]


@pytest.mark.parametrize(
    "rank",
    [
        # A sum beyond all numbers is an error, and worth 0 like what is no number.
        "TARGET.Memory * 1e308 - TARGET.Memory * 1e308",
        "0 - TARGET.Memory * 1e308",
        'real("inf") - TARGET.Memory * 0',
        '(TARGET.Cpus > 2) * (real("inf") - real("inf"))',
        "TARGET.Much",
        "0 - TARGET.Much",
        "TARGET.Much - TARGET.Much",
        "TARGET.Much * 0",
        "ifThenElse(TARGET.Cpus > 1, TARGET.Much, 1e308)",
    ],
)
def test_wishes_that_are_infinite_or_no_numbers_have_one_order(rank: str) -> None:
    def order(wide_from: int) -> list[str]:
        much = ("1.0", "1.7e308", 'real("nan")', 'real("inf")', '-real("inf")', "2.0")
        rows = [
            slot(f"s{index}", cpus=1 + index // 2, memory=index + 1, Much=f"={text}")
            for index, text in enumerate(much)
        ]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(candidates, "WIDE_FROM", wide_from)
            found = plan(rows, submitter("u@d", request(rank=rank, memory=1, count=9)))
        assert [each.error for each in found.faults] == []
        return [each.slot_name for each in found.matches]

    assert len(order(1)) == 6
    assert order(1) == order(10**9)
