"""Every decoder meets bytes from nobody; what the campaign does at length, for a few seconds."""

from __future__ import annotations

import random
import re
import sys
import time
from pathlib import Path

import pytest

from kettle.attributes.version import parse_version
from kettle.classad import ClassAd, parse_expression, unparse
from kettle.classad.forms import render_ads
from kettle.classad.functions.library import families
from kettle.errors import KettleError, RemoteProtocolError
from kettle.submit.requests import parse_size
from kettle.testing.fuzz.__main__ import main
from kettle.testing.fuzz.corpus import read_corpus, with_corpus
from kettle.testing.fuzz.decoder import Decoder, LawError
from kettle.testing.fuzz.decoders import DECODERS
from kettle.testing.fuzz.grammar import Grammar
from kettle.testing.fuzz.inputs import LONGEST, make_input
from kettle.testing.fuzz.languages.expressions import EXPRESSION_RULES
from kettle.testing.fuzz.reads_back import reads_back
from kettle.testing.fuzz.run import run, try_one
from kettle.testing.fuzz.texts import _compare, _is_reformed
from kettle.tools.printing import fuzz_row
from kettle.transfer.checkpoints import Entry, parse_manifest, render_manifest
from kettle.wire.codec import Reader, Writer
from kettle.wire.security.claim_id import ClaimId, mint_claim_id
from kettle.wire.security.methods.password import password_keys
from kettle.wire.security.policy_ad import PolicyAd
from kettle.wire.sinful import Sinful
from stopwatch import cpu_seconds


@pytest.mark.parametrize("name", [name for name in DECODERS if not DECODERS[name].grammars])
def test_a_decoder_knows_no_error_but_ours(name: str) -> None:
    found = run(DECODERS[name], 7, range(250))
    assert not found, "\n".join(map(str, found))


@pytest.mark.parametrize("name", DECODERS)
def test_every_decoder_reads_one_of_its_own_samples(name: str) -> None:
    decoder = DECODERS[name]
    problems = []
    for sample in decoder.samples:
        try:
            decoder.read(sample)
        except Exception as error:  # noqa: BLE001 - one of them has to be read
            problems.append(error)
    assert len(problems) < len(decoder.samples), problems


# The readers of the languages, and what each is given in the suite: a second, five where it may be
# slow.
LANGUAGES = [name for name, decoder in DECODERS.items() if decoder.grammars]
CORPUS = Path(__file__).parents[1] / "data" / "fuzz"


def try_for(seconds: float, name: str, seed: int) -> None:
    decoder = with_corpus(DECODERS[name], CORPUS)
    end = time.process_time() + seconds
    first = 0
    while time.process_time() < end:
        found = run(decoder, seed, range(first, first + 50))
        assert not found, "\n".join(map(str, found))
        first += 50


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_language_is_read_and_printed_for_a_while(name: str) -> None:
    try_for(0.5, name, 8)


@pytest.mark.slow
@pytest.mark.parametrize("name", LANGUAGES)
def test_a_language_is_read_and_printed_for_five_seconds(name: str) -> None:
    try_for(5.0, name, 9)


@pytest.mark.parametrize("name", sorted(path.stem for path in CORPUS.glob("*.json")))
def test_what_is_kept_is_read_as_before(name: str) -> None:
    decoder = DECODERS[name]
    kept = read_corpus(CORPUS, name)
    assert kept
    faults = [(data, fault) for data in kept if (fault := try_one(decoder, data)) is not None]
    assert not faults


def test_inputs_that_reach_new_lines_are_kept(tmp_path: Path) -> None:
    decoder = DECODERS["sinful"]
    assert main(["--distill", "--decoder", "sinful", "--inputs", "100"]) == 2
    options = ["--distill", "--decoder", "sinful", "--inputs", "100", "--corpus", str(tmp_path)]
    assert main(options) == 0
    kept = read_corpus(tmp_path, "sinful")
    assert 0 < len(kept) < 100
    assert with_corpus(decoder, tmp_path).samples == (*decoder.samples, *kept)


def test_a_reader_above_the_campaign_is_tried_where_its_module_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(DECODERS, "print-formats")
    monkeypatch.delitem(sys.modules, fuzz_row.__name__)
    options = ["--decoder", "print-formats", "--inputs", "20"]
    with pytest.raises(SystemExit):
        main(options)
    assert main(["--with", fuzz_row.__name__, *options]) == 0
    assert "20 inputs, 0 findings" in capsys.readouterr().out


def test_every_function_is_called_with_what_its_examples_give_it() -> None:
    calls = "\n".join(EXPRESSION_RULES["typed"]).lower()
    names = {row.name for rows in families().values() for row in rows}
    assert {name for name in names if f"{name.lower()}(" not in calls} == set()


def test_a_grammar_without_an_end_is_refused() -> None:
    with pytest.raises(ValueError, match="without an end"):
        Grammar({"a": ("x`b`",), "b": ("`a`", "`b`y")}, "a")


def test_a_grammar_gives_its_texts_and_no_others() -> None:
    grammar = Grammar(
        {"sum": ("`number`", "`sum`+`sum`"), "number": ("`digit+`",), "digit": "12"}, "sum"
    )
    texts = [grammar.make(random.Random(seed)) for seed in range(200)]
    assert all(re.fullmatch(r"[12]+(\+[12]+)*", text) for text in texts)
    assert len(set(texts)) > 50
    assert max(map(len, texts)) < 10_000


def test_what_does_not_read_back_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kettle.testing.fuzz.texts.unparse", lambda expr, old: "1 +")
    assert (try_one(DECODERS["expressions"], b"1 + 1") or ("",))[0].startswith("LawError")


@pytest.mark.parametrize(
    ("text", "new", "old"),
    [
        ('"it\'s"', True, True),
        ("'a b' + 1", True, True),
        ("'it\\'s' + 1", True, False),
        ("[ 'it\\'s' = 1 ]", True, False),
        ("'a\\\\' + 1", True, False),
        ("x.'a b'", False, False),
        ("[ n = {x.'a b'} ]", False, False),
        ("x.parent", True, True),
        ("x.'true'", False, False),
        ('absTime("0900-01-01T00:00:00Z")', True, True),
        ('relTime("-99999999+00:00:00")', True, True),
        ('"absTime(\\"0 --24855+ \\\\000"', True, True),
    ],
)
def test_what_is_not_read_back_is_told_by_what_it_is(text: str, new: bool, old: bool) -> None:
    """Whoever is left out of the law would be a fault of it; nobody else is."""
    tree = parse_expression(text)
    for syntax, expected in ((False, new), (True, old)):
        printed = unparse(tree, old=syntax)
        try:
            again = unparse(parse_expression(printed, old=syntax), old=syntax) == printed
        except KettleError:
            again = False
        assert again is reads_back(tree, old=syntax) is expected


def test_an_input_follows_from_its_seed_and_number() -> None:
    samples = (b"a sample", b"another one")
    first = [make_input(samples, "x", 1, number) for number in range(300)]
    assert first == [make_input(samples, "x", 1, number) for number in range(300)]
    assert first != [make_input(samples, "x", 2, number) for number in range(300)]
    assert len(set(first)) > 250
    assert max(map(len, first)) <= LONGEST


def test_crashes_and_hangs_are_found_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kettle.testing.fuzz.run.SLOWEST_SECONDS", 0.1)

    def crash(data: bytes) -> None:
        if len(data) % 7 == 3:
            raise IndexError("beyond")
        if len(data) % 7 == 4:
            raise RemoteProtocolError("as it should be")

    (found,) = run(Decoder("crash", crash, (b"some text",)), 1, range(100))
    assert found.what == "IndexError: beyond"
    assert f"--only {found.number}" in str(found)

    def hang(data: bytes) -> None:
        while len(data) % 7 == 3:
            pass

    (found,) = run(Decoder("hang", hang, (b"some text",)), 1, range(15))
    assert "more than 0.1 s" in found.what


def test_the_command_says_what_it_did(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--inputs", "50", "--decoder", "sinful", "--seed", "3"]) == 0
    assert "50 inputs, 0 findings" in capsys.readouterr().out
    assert main(["--only", "620", "--decoder", "sinful"]) == 0


# What campaigns found, each once.


@pytest.mark.parametrize(
    "text",
    ["<127.0.0.1:1?addrs=1.2.3.4-²1>", "<127.0.0.1:1?%aadrs=x>", "<127.0.0.1:1?addrs=a-99999>"],
)
def test_addresses_with_strange_digits_and_bytes_are_addresses(text: str) -> None:
    address = Sinful.parse(text)
    assert address.addresses[0].port == 1
    assert Sinful.parse(str(address)) == address


def test_a_number_beyond_all_bounds_in_a_policy_is_the_default() -> None:
    writer = Writer()
    PolicyAd({"Lease": "9" * 5000, "Command": 1}).write(writer)
    body = writer.getvalue().replace(b"Command = 1", b"Command = 1e999")
    ad = PolicyAd.read(Reader(body))
    assert (ad.number("Command", -1), ad.number("Lease", 7)) == (-1, 7)


def test_numbers_of_peers_that_are_too_long_are_no_numbers() -> None:
    assert parse_version("$CondorVersion: " + "9" * 5000 + ".1.1 $") is None
    info = f'[CryptoMethods="AES";ValidCommands="{"1" * 5000}";SessionExpires={"1" * 5000};]'
    claim = ClaimId(mint_claim_id("<1.2.3.4:5>", 1, 2, bytes(32), info).text)
    assert claim.session("x").valid_commands == frozenset()


STRANGE = b"caf\xe9 \xff".decode("utf-8", "surrogateescape")


def test_a_secret_of_strange_bytes_is_a_key_like_any_other() -> None:
    honest = mint_claim_id("<1.2.3.4:5>", 1, 2, bytes(32), '[CryptoMethods="AES";]').text
    assert ClaimId(honest + STRANGE).session("x").key != ClaimId(honest).session("x").key


def test_names_of_strange_bytes_travel_as_they_are() -> None:
    writer = Writer()
    PolicyAd({"User": STRANGE}).write(writer)
    assert PolicyAd.read(Reader(writer.getvalue()))["User"] == STRANGE
    keys = password_keys(b"secret")
    assert keys.client_proof(STRANGE, b"x") != keys.client_proof("cafe", b"x")
    assert keys.server_proof(STRANGE, STRANGE, b"x", b"y")


def test_a_manifest_names_files_of_strange_bytes() -> None:
    entries = [Entry("0" * 64, STRANGE)]
    assert parse_manifest(render_manifest(1, entries).encode(errors="surrogateescape")) == entries


def test_a_size_beyond_all_machines_is_no_size() -> None:
    assert parse_size("9" * 400, "M") is None
    assert parse_size("1e3", "M") is None
    assert cpu_seconds(lambda: parse_size("9" * 16_000 + "x", "M"), below=1) < 1
    assert parse_size("9" * 16_000 + "x", "M") is None
    assert parse_size("2 G", "M") == 2048


def test_what_old_syntax_and_a_minus_cannot_keep_is_no_fault() -> None:
    _compare("- 1", lambda _: "-1")
    with pytest.raises(LawError, match="becomes"):
        _compare("- 1", lambda _: "- 2")
    for name, text, long in (("A", "a", True), ("a b", "a", False), ("A", "a\nB = 1", False)):
        ad = ClassAd({name: text})
        assert _is_reformed([ad], "long", render_ads([ad], "long")) is long
        assert _is_reformed([ad], "new", render_ads([ad], "new"))
