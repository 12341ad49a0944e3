"""What expressions need, in cases that the wheel was asked about (htcondor2 25.14.1)."""

from __future__ import annotations

import pytest

from kettle.classad import parse_ad, parse_expression
from kettle.classad.references import find_references
from kettle.compat import classad2

AD = classad2.ClassAd(
    """[a=1; b=2; s=a+c; n=[k=x;q=a;r=[s=b;u=nope]]; un=undefined; bu=un+nope; bb=s.c;
    cc=ifThenElse(a==1,un,nope); t=TARGET.x; tw2=tw; h2=TARGET.tw; h3=TARGET.tx; h4=TARGET.ty;
    h6=tw+TARGET.tx+TARGET.no; h7=h6+h3; h8=TARGET.n2.k; h9=TARGET.n2.j; h11=TARGET.a;
    h12=TARGET.tq]"""
)
TARGET = classad2.ClassAd(
    """[x=5; tw=nope; tx=tw+nope2+TARGET.a+TARGET.nope3+a; ty=TARGET.h2; n2=[k=x;w=nope]; tq=a+c;
    tn=TARGET.nope4+y]"""
)


@pytest.mark.parametrize(
    ("text", "internal", "external"),
    [
        # From an ad that is written out, what it does not say is outside, though the ad has it.
        ("[x=1].a", [""], ["a"]),
        ("[x=a].x", [""], ["a"]),
        ("([x=a]).x", [""], ["a"]),
        ("[a=1].b", [""], ["b"]),
        ("[x=a;y=x].y", [""], ["a"]),
        ("[x=parent.a].x", [""], ["'parent'.a"]),
        ("[x=a]", ["a"], [""]),
        ("n.k", ["n"], ["x"]),
        # What has no value is nothing to select from: what it is made of is used nevertheless.
        ("s.c", ["a", "s"], ["s.c"]),
        ("bb", ["a", "bb", "s"], ["s.c"]),
        ("bb.c", ["a", "bb", "s"], ["bb.c"]),
        ("bu.c", ["bu", "un"], ["bu.c"]),
        ("cc.x", ["a", "cc", "un"], ["cc.x"]),
        ("(a + zz).x", ["a"], ["(a + zz).x"]),
        ("undefined.c", [""], ["undefined.c"]),
        ("MY.CurrentTime", [""], [""]),
    ],
)
def test_what_a_selection_needs(text: str, internal: list[str], external: list[str]) -> None:
    tree = classad2.ExprTree(text)
    assert (AD.internalRefs(tree), AD.externalRefs(tree)) == (internal, external)


@pytest.mark.parametrize(
    ("name", "alone", "matched"),
    [
        ("t", "x", ""),
        ("h2", "tw", "nope"),
        ("h3", "tx", "a,nope,nope2,nope3"),
        ("h4", "ty", "nope"),
        ("tw2", "tw", "tw"),
        ("h6", "no,tx,tw", "a,no,nope,nope2,nope3,tw"),
        ("h7", "no,tx,tw", "a,no,nope,nope2,nope3,tw"),
        ("h8", "n2.k", ""),
        ("h9", "n2.j", "j"),
        ("h11", "a", "a"),
        ("h12", "tq", "a,c"),
        ("n.r", "nope", "nope"),
        ("CurrentTime", "", ""),
        ("MY.CurrentTime", "", ""),
    ],
)
def test_what_is_unresolved_in_a_match_is_what_neither_ad_has(
    name: str, alone: str, matched: str
) -> None:
    tree = classad2.ExprTree(f"unresolved({name})")
    assert (tree.eval(AD), tree.eval(AD, TARGET)) == (alone, matched)


@pytest.mark.parametrize(
    ("name", "matched"),
    [("tx", "a,nope,nope2,nope3"), ("tn", "nope4,y"), ("n2", "nope"), ("x", "")],
)
def test_a_name_that_only_the_other_ad_has_is_its_expression(name: str, matched: str) -> None:
    tree = classad2.ExprTree(f"unresolved({name})")
    assert tree.eval(AD) is classad2.Value.Undefined
    assert tree.eval(AD, TARGET) == matched


def test_what_all_of_an_ad_needs() -> None:
    ad = classad2.ClassAd("[a=b+c; c=TARGET.d; e=MY.a]")
    for scope in ("MY", "self"):
        assert classad2.ExprTree(f"unresolved({scope})").eval(ad) == "b,d"
    assert classad2.ExprTree("unresolved(TARGET.CurrentTime)").eval(ad) is classad2.Value.Undefined


def test_references_in_a_circle_of_selections_end() -> None:
    ad = parse_ad("[a=b.x; b=a.x; c=c.c; d=[e=d.e]]")
    internal, _ = find_references(parse_expression("a.y + c.c + d.e"), ad)
    assert sorted(internal) == ["a", "b", "c", "d"]


def test_an_element_of_what_a_function_returns_is_worked_out() -> None:
    assert AD.flatten(classad2.ExprTree('split("a b")[1]')) == "b"
    assert repr(AD.flatten(classad2.ExprTree('split("a b")[zz]'))) == '{ "a","b" }[zz]'
    assert repr(AD.flatten(classad2.ExprTree("([x = a]).x"))) == "([ x = a ]).x"


def test_a_name_is_spelled_as_it_is_where_it_stands_first() -> None:
    ad = classad2.ClassAd("[n = [k = 3 > Bee; m = [q = bee]]]")
    assert ad.externalRefs(classad2.ExprTree("n")) == ["Bee"]
    assert ad.externalRefs(classad2.ExprTree("[k = Zed; m = zed]")) == ["Zed"]
