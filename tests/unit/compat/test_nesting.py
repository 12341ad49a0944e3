"""No interface raises Python's RecursionError: what lies too deep is refused in a sentence."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kettle.classad.unparse import unparse
from kettle.compat import classad, classad2, htcondor2
from kettle.compat.classad2.depth import MOST_LEVELS, VALUE_LEVELS, NestingError

Module = Any
BOTH = pytest.mark.parametrize("module", [classad, classad2], ids=["version 1", "version 2"])


@pytest.fixture(autouse=True)
def _no_collection() -> Iterator[None]:
    # Hypothesis counts collections in a callback, which has no room where the stack ends.
    gc.disable()
    yield
    gc.enable()


def nested(levels: int, wrap: Callable[[Any], Any]) -> Any:
    """Return 1 in so many lists or dictionaries."""
    value: Any = 1
    for _ in range(levels):
        value = wrap(value)
    return value


WRAPS = {
    "lists": lambda value: [value],
    "tuples": lambda value: (value,),
    "sets of what is frozen": lambda value: frozenset([value]),
    "generators": lambda value: (each for each in [value]),
    "dictionaries": lambda value: {"a": value},
    "both": lambda value: [{"a": value}],
}


@BOTH
@pytest.mark.parametrize("wrap", WRAPS.values(), ids=list(WRAPS))
def test_values_nested_too_deeply_are_refused(module: Module, wrap: Callable[[Any], Any]) -> None:
    ad = module.ClassAd({"a": 1})
    for put in (
        lambda value: module.ClassAd({"a": value}),
        lambda value: ad.__setitem__("a", value),
        lambda value: ad.update({"a": value}),
        lambda value: ad.setdefault("b", value),
    ):
        with pytest.raises(ValueError, match="nested more than 165 levels deep"):
            put(nested(3000, wrap))
    assert repr(ad) == "[ a = 1 ]"


def in_itself() -> dict[str, Any]:
    """Return values that are in themselves."""
    items: list[Any] = []
    items.append(items)
    table: dict[str, Any] = {}
    table["a"] = [table]
    return {"list": items, "dictionary": table}


@BOTH
@pytest.mark.parametrize("value", in_itself().values(), ids=list(in_itself()))
def test_what_is_in_itself_is_refused(module: Module, value: Any) -> None:
    with pytest.raises(ValueError, match="nested more than"):
        module.ClassAd({"a": value})
    if isinstance(value, dict):
        with pytest.raises(classad2.ClassAdException, match="nested more than"):
            module.ClassAd(value)


@BOTH
def test_what_is_as_deep_as_may_be_is_printed_and_read_back(module: Module) -> None:
    assert VALUE_LEVELS == MOST_LEVELS - 1
    for wrap in (WRAPS["lists"], WRAPS["dictionaries"]):
        ad = module.ClassAd({"a": nested(VALUE_LEVELS, wrap)})
        assert pickle.loads(pickle.dumps(ad)) == ad
        assert copy.deepcopy(ad) == ad
        for printed in (str(ad), ad.printOld(), ad.printJson()):
            assert printed.count("1") == 1
        with pytest.raises(ValueError, match="nested more than"):
            module.ClassAd({"a": nested(VALUE_LEVELS + 1, wrap)})


def grown_ad(module: Module) -> Any:
    """Return an ad in an ad in an ad, each put into the next one."""
    ad = module.ClassAd({"a": 1})
    for _ in range(3000):
        around = module.ClassAd()
        around["a"] = ad
        ad = around
    return ad


def grown_list(module: Module) -> Any:
    """Return an expression of a list in a list in a list."""
    tree = module.ExprTree("x")
    for _ in range(3000):
        ad = module.ClassAd()
        ad["a"] = [tree]
        tree = ad.lookup("a")
    return tree


def walk_ad(module: Module, ad: Any) -> list[Callable[[], Any]]:
    """Return all that walks through an ad."""
    return [
        lambda: str(ad),
        lambda: repr(ad),
        ad.printOld,
        ad.printJson,
        lambda: ad["a"],
        lambda: ad.get("a"),
        lambda: list(ad.items()),
        lambda: ad == grown_ad(module),
        lambda: ad.eval("a"),
        lambda: ad.flatten(module.ExprTree("a")),
        lambda: ad.flatten(ad.lookup("a")),
        lambda: ad.externalRefs(ad.lookup("a")),
        lambda: ad.internalRefs(module.ExprTree("a")),
        lambda: ad.symmetricMatch(ad),
        lambda: module.ClassAd(ad) if module is classad else module.ClassAd({"b": ad}),
        lambda: pickle.dumps(ad),
        lambda: copy.deepcopy(ad),
    ]


def walk_tree(module: Module, tree: Any) -> list[Callable[[], Any]]:
    """Return all that walks through an expression."""
    ad = module.ClassAd({"x": 1, "e": tree})
    same = tree.sameAs if module is classad else tree.__eq__
    return [
        lambda: str(tree),
        lambda: repr(tree),
        lambda: module.ExprTree(tree),
        tree.eval,
        lambda: tree.eval(ad, module.ClassAd()),
        lambda: tree.simplify(ad),
        lambda: same(grown_list(module)),
        lambda: ad.flatten(tree),
        lambda: ad.externalRefs(tree),
        lambda: ad["e"],
        lambda: ad.eval("e"),
        lambda: repr(ad),
        lambda: pickle.dumps(tree),
    ]


def refusals(walks: list[Callable[[], Any]]) -> list[str]:
    """Return what is said where something is refused; any other exception is raised."""
    said = []
    for walk in walks:
        try:
            walk()
        except NestingError as error:
            said.append(str(error))
    return said


@BOTH
def test_an_expression_too_deep_to_walk_is_refused(module: Module) -> None:
    said = refusals(walk_ad(module, grown_ad(module)))
    said += refusals(walk_tree(module, grown_list(module)))
    assert set(said) == {"The expression is nested too deeply."}
    assert len(said) > 5


@pytest.mark.parametrize(
    "grow",
    [
        lambda tree: 1 + tree,
        lambda tree: tree + 1,
        lambda tree: classad.ExprTree("y").or_(tree),
        lambda tree: classad.Function("strcat", tree),
        lambda tree: classad.Attribute("y")._get(tree),
    ],
    ids=["right", "left", "or", "call", "subscript"],
)
def test_operators_without_end_are_refused_where_they_are_walked(
    grow: Callable[[Any], Any],
) -> None:
    tree = classad.Attribute("x")
    for _ in range(3000):
        tree = grow(tree)
    assert set(refusals(walk_tree(classad, tree))) <= {"The expression is nested too deeply."}


def test_a_deep_ad_is_no_advertisement(monkeypatch: pytest.MonkeyPatch) -> None:
    def send(*given: Any) -> None:
        unparse(given[3][0], old=True)

    monkeypatch.setattr("kettle.client.advertise.send_ads", send)
    with pytest.raises(ValueError, match="nested too deeply"):
        htcondor2.Collector("127.0.0.1:9").advertise([grown_ad(classad2)])
