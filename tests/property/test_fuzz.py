"""Every decoder meets bytes from nobody; what the campaign does at length, for a few seconds."""

from __future__ import annotations

import time

import pytest

from kettle.attributes.version import parse_version
from kettle.errors import RemoteProtocolError
from kettle.submit.requests import parse_size
from kettle.testing.fuzz.__main__ import main
from kettle.testing.fuzz.decoder import Decoder
from kettle.testing.fuzz.decoders import DECODERS
from kettle.testing.fuzz.inputs import LONGEST, make_input
from kettle.testing.fuzz.run import run
from kettle.tools.printing.print_format import parse_print_format
from kettle.transfer.checkpoints import Entry, parse_manifest, render_manifest
from kettle.wire.codec import Reader, Writer
from kettle.wire.security.claim_id import ClaimId, mint_claim_id
from kettle.wire.security.methods.password import password_keys
from kettle.wire.security.policy_ad import PolicyAd
from kettle.wire.sinful import Sinful


@pytest.mark.parametrize("name", DECODERS)
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


def test_print_format_files_are_read_or_refused() -> None:
    """Here and not in the table, which lies below the tools."""
    sample = (
        b"SELECT NOSUMMARY FROM AUTOCLUSTER\n  ClusterId AS ID PRINTF %5d\n"
        b'  Owner AS "the owner" WIDTH AUTO OR ??\n  JobStatus PRINTAS JOB_STATUS\n'
        b"WHERE JobStatus == 2\nGROUP BY Owner DESCENDING\nSUMMARY STANDARD\n"
    )

    def read(data: bytes) -> None:
        parse_print_format(data.decode("utf-8", "surrogateescape"), {}, {})

    found = run(Decoder("print-formats", read, (sample,)), 7, range(2_000))
    assert not found, "\n".join(map(str, found))


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
    assert parse_manifest(render_manifest(1, entries)) == entries


def test_a_size_beyond_all_machines_is_no_size() -> None:
    assert parse_size("9" * 400, "M") is None
    assert parse_size("1e3", "M") is None
    began = time.process_time()
    assert parse_size("9" * 16_000 + "x", "M") is None
    assert time.process_time() - began < 1
    assert parse_size("2 G", "M") == 2048
