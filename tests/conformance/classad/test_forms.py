"""Ads in and out of every form as observed."""

from __future__ import annotations

import pytest

from conformance.known_differences import differences
from kettle.classad import ClassAd, parse_ads, unparse
from kettle.classad.ad import parse_ad_at
from kettle.classad.forms import render_ads
from kettle.classad.forms_json import to_json
from kettle.classad.nodes import AdNode
from kettle.classad.pretty import pretty
from kettle.classad.unparse import quote, unquote
from kettle.errors import ClassAdSyntaxError

from .vectors import load


def _known(name: str, form: str) -> set[int]:
    """Return the numbers of the cases of one form that are known to differ."""
    cases = load(name)["cases"]
    return {number for number in differences(f"classad/{name}") if cases[number]["form"] == form}


def _read(text: str, form: str) -> tuple[list[ClassAd], bool]:
    ads: list[ClassAd] = []
    try:
        for ad in parse_ads(text, form):
            ads.append(ad)  # noqa: PERF402 - what came before an error counts
    except ClassAdSyntaxError:
        return ads, True
    return ads, False


def test_ads_of_new_syntax_print_in_every_form_as_observed() -> None:
    wrong = []
    for case in load("ads_new")["cases"]:
        start = len(case["text"]) - len(case["text"].lstrip())
        try:
            ad, _ = parse_ad_at(case["text"], start)
        except ClassAdSyntaxError:
            if not case.get("rejected"):
                wrong.append(f"{case['text']} does not parse")
            continue
        if case.get("rejected"):
            wrong.append(f"{case['text']} parses")
            continue
        table = {name.lower(): ad.lookup(name) for name in ad}
        node = AdNode(table, {name.lower(): name for name in ad})  # type: ignore[arg-type]
        found = {
            "new": unparse(ad),
            "old": unparse(ad, old=True),
            "json": to_json(ad),
            "pretty": pretty(node),
        }
        wrong += [
            f"{case['text']} as {key}: {text!r}, not {case[key]!r}"
            for key, text in found.items()
            if text != case[key]
        ]
    assert wrong == []


def test_the_first_ad_of_old_syntax_is_as_observed() -> None:
    wrong = []
    for case in load("ads_old")["cases"]:
        ads, failed = _read(case["text"], "long")
        if case.get("rejected"):
            if ads and not failed:
                wrong.append(f"{case['text']!r} parses")
        elif not ads or unparse(ads[0]) != case["new"]:
            wrong.append(f"{case['text']!r}: {[unparse(ad) for ad in ads]}, not {case['new']}")
        elif unparse(ads[0], old=True) != case["old"]:
            wrong.append(f"{case['text']!r}: {unparse(ads[0], old=True)!r}, not {case['old']!r}")
    assert wrong == []


@pytest.mark.parametrize("form", ["new", "old", "auto"])
def test_streams_of_ads_are_read_as_observed(form: str) -> None:
    wrong = {}
    for number, case in enumerate(load("ads_stream")["cases"]):
        if case["form"] != form:
            continue
        ads, failed = _read(case["text"], "long" if form == "old" else form)
        if "exception" in case:
            if not failed:
                wrong[number] = f"{case['text']} parses"
        elif [unparse(ad) for ad in ads] != case["ads"]:
            wrong[number] = f"{[unparse(ad) for ad in ads]}, not {case['ads']}"
    # What is listed and agrees now is taken off the list.
    assert set(wrong) == _known("ads_stream", form), wrong


@pytest.mark.parametrize("form", ["json", "xml", "long", "auto"])
def test_foreign_forms_are_read_as_observed(form: str) -> None:
    wrong = {}
    for number, case in enumerate(load("forms_in")["cases"]):
        if case["form"] != form:
            continue
        ads, _ = _read(case["text"], form)
        if case.get("hang") or case["exit"] != 0:
            continue
        if render_ads(ads, "new") != case["new"]:
            wrong[number] = f"{render_ads(ads, 'new')!r}, not {case['new']!r}"
    assert set(wrong) == _known("forms_in", form), wrong


def test_ads_are_printed_as_observed() -> None:
    wrong = []
    for case in load("forms_out")["cases"]:
        ads, _ = _read(case["new"], "new")
        if case.get("json") is not None and to_json(ads[0]) != case["json"]:
            wrong.append(f"{case['new']}: {to_json(ads[0])!r}, not {case['json']!r}")
        wrong += [
            f"{case['new']} as {form}: {render_ads(ads, form)!r}, not {case['tool_' + form]!r}"
            for form in ("xml", "json", "long", "new")
            if "tool_" + form in case and render_ads(ads, form) != case["tool_" + form]
        ]
    assert wrong == []


def test_strings_are_quoted_and_unquoted_as_observed() -> None:
    for case in load("quote")["cases"]:
        if "quote" in case:
            assert quote(case["quote"]) == case["result"]
        elif "exception" in case:
            with pytest.raises(ClassAdSyntaxError):
                unquote(case["unquote"])
        else:
            assert unquote(case["unquote"]) == case["result"]
