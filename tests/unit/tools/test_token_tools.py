"""What the token tools make of their options, of files, and of a daemon's answer."""

from __future__ import annotations

import base64
import io
import json
import os
from pathlib import Path

import pytest

from kettle.classad import ClassAd
from kettle.errors import AuthenticationFailed, RefusedError
from kettle.tools.phrases import SaidError
from kettle.tools.programs import Streams
from kettle.tools.tokens import (
    condor_token_create,
    condor_token_fetch,
    condor_token_list,
    condor_token_request_approve,
    condor_token_request_list,
)
from kettle.tools.tokens.token_commands import BEGIN_LISTING, asking
from kettle.wire.commands import Command
from kettle.wire.security.tokens import parse_token
from kettle.wire.sinful import Sinful


def configuration(tmp_path: Path) -> dict[str, str]:
    path = tmp_path / "condor_config"
    path.write_text(f"SEC_PASSWORD_DIRECTORY = {tmp_path}/keys\n")
    return {"CONDOR_CONFIG": str(path)}


def test_a_signing_key_that_is_not_there_ends_with_2(tmp_path: Path) -> None:
    out, complaint = io.StringIO(), io.StringIO()
    argv = ["condor_token_create", "-identity", "ann@here", "-key", "nosuch"]
    where = Streams(io.StringIO(), out, complaint)
    assert condor_token_create.main(argv, configuration(tmp_path), where) == 2
    said = f"Failed to read file {tmp_path}/keys/nosuch securely."
    assert complaint.getvalue() == f"Failed to generate a token.\nTOKEN:1:{said}\n"
    assert out.getvalue() == ""


def test_a_token_that_others_may_read_is_listed_and_said_to_be_of_no_use(tmp_path: Path) -> None:
    folder = tmp_path / "tokens"
    (folder / "sub").mkdir(parents=True)
    # {"alg":"HS256","kid":"POOL"} and {"sub":"ann@here"}, signed by nobody.
    text = "eyJhbGciOiJIUzI1NiIsImtpZCI6IlBPT0wifQ.eyJzdWIiOiJhbm5AaGVyZSJ9.AAAA\n"
    for name, mode in (("mine", 0o600), ("open", 0o644)):
        (folder / name).write_text(text)
        (folder / name).chmod(mode)
    out, complaint = io.StringIO(), io.StringIO()
    argv = ["condor_token_list", "-dir", str(folder)]
    where = Streams(io.StringIO(), out, complaint)
    assert condor_token_list.main(argv, configuration(tmp_path), where) == 0
    said = 'Header: {"alg":"HS256","kid":"POOL"} Payload: {"sub":"ann@here"} File: '
    assert out.getvalue() == "".join(f"{said}{folder}/{name}\n" for name in ("mine", "open"))
    assert complaint.getvalue() == (
        f"no tool uses {folder}/open: others may read it, or it is not yours\n"
    )


def test_a_token_is_listed_as_whoever_signed_it_wrote_it(tmp_path: Path) -> None:
    """As the reference: an escape, a blank or a number keeps its form, even the end of a line."""
    header = rb'{"alg":"HS256", "kid":"P\/O"}'
    claims = b'{"iss":"a\\/b","sub":"c\\u00e9\xc3\xa9",\n"x":1.50}'
    parts = [base64.urlsafe_b64encode(part).rstrip(b"=") for part in (header, claims, b"sign")]
    path = tmp_path / "token"
    path.write_bytes(b".".join(parts) + b"\n")
    path.chmod(0o600)
    out = io.StringIO()
    argv = ["condor_token_list", "-file", str(path)]
    where = Streams(io.StringIO(), out, io.StringIO())
    assert condor_token_list.main(argv, configuration(tmp_path), where) == 0
    assert out.getvalue().encode("utf-8") == (
        b"Header: %s Payload: %s File: %s\n" % (header, claims, os.fsencode(path))
    )


def test_what_holds_no_tokens_is_passed_over_in_silence(tmp_path: Path) -> None:
    words = tmp_path / "words"
    words.write_text("neither\na.b.c\n# a note\n")
    words.chmod(0o644)
    (tmp_path / "loop").symlink_to("loop")
    for place in (["-dir", "/nonexistent"], ["-file", "/nonexistent"], ["-dir", str(tmp_path)]):
        out, complaint = io.StringIO(), io.StringIO()
        where = Streams(io.StringIO(), out, complaint)
        argv = ["condor_token_list", *place]
        assert condor_token_list.main(argv, configuration(tmp_path), where) == 0
        assert (out.getvalue(), complaint.getvalue()) == ("", "")


def test_levels_of_one_word_are_one_level(tmp_path: Path) -> None:
    """As the reference: `A,B` is the name of no level, and no tool splits it."""
    _, token, _ = create(tmp_path, "-identity", "a@b", "-authz", "READ,WRITE", "-authz", "DAEMON")
    assert parse_token(token.strip()).claims["scope"] == "condor:/READ,WRITE condor:/DAEMON"


def create(tmp_path: Path, *words: str) -> tuple[int, str, str]:
    (tmp_path / "keys").mkdir(mode=0o700, exist_ok=True)
    key = tmp_path / "keys/POOL"
    key.write_bytes(bytes(64))
    key.chmod(0o600)
    environment = {
        **configuration(tmp_path),
        "_CONDOR_SEC_TOKEN_POOL_SIGNING_KEY_FILE": str(key),
        "_CONDOR_SEC_TOKEN_DIRECTORY": str(tmp_path / "own/tokens.d"),
    }
    out, complaint = io.StringIO(), io.StringIO()
    argv = ["condor_token_create", *words]
    code = condor_token_create.main(argv, environment, Streams(io.StringIO(), out, complaint))
    return code, out.getvalue(), complaint.getvalue()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("60", 60), ("5x", 5), (" +7", 7), ("0", 0), ("-3", None), ("0" * 5000, 0)],
)
def test_a_lifetime_is_the_number_it_begins_with_and_below_zero_for_ever(
    tmp_path: Path, text: str, seconds: int | None
) -> None:
    code, out, _ = create(tmp_path, "-identity", "ann", "-lifetime", text)
    claims = parse_token(out.strip()).claims
    assert (code, claims["sub"]) == (0, "ann")
    lasts = claims["exp"] - claims["iat"] if "exp" in claims else None  # type: ignore[operator]
    assert lasts == seconds


@pytest.mark.parametrize("text", ["x", "", "9" * 20, "9" * 5000])
def test_a_lifetime_that_is_no_number_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    said = f"condor_token_create: Invalid argument for -lifetime: {text}.\n"
    assert create(tmp_path, "-identity", "a@b", "-lifetime", text) == (1, "", said)


def test_a_token_for_nobody_is_not_made(tmp_path: Path) -> None:
    code, out, complaint = create(tmp_path, "-lifetime", "5")
    assert (code, out) == (1, "")
    assert "whose token is it?" in complaint


@pytest.mark.parametrize("name", ["a b@dom", "ann@d ", "\tann", "ann@d\nbob@d"])
def test_a_token_for_a_name_with_blanks_is_not_made(tmp_path: Path, name: str) -> None:
    code, out, complaint = create(tmp_path, "-identity", name)
    assert (code, out) == (1, "")
    assert f"nobody can be {name!r}: a name has no blanks" in complaint


def test_a_token_is_written_where_the_last_word_about_it_says(tmp_path: Path) -> None:
    file = tmp_path / "file"
    assert create(tmp_path, "-identity", "a@b", "-token", "t", "-file", str(file)) == (0, "", "")
    assert file.stat().st_mode & 0o777 == 0o600
    assert not (tmp_path / "own").exists()
    assert create(tmp_path, "-identity", "a@b", "-file", "no", "-token", ".t") == (0, "", "")
    assert (tmp_path / "own/tokens.d").stat().st_mode & 0o777 == 0o700
    assert [path.name for path in (tmp_path / "own/tokens.d").iterdir()] == [".t"]


def test_a_place_where_no_token_can_be_written_is_said(tmp_path: Path) -> None:
    said = "Token name isn't a plain filename\n"
    assert create(tmp_path, "-identity", "a@b", "-token", "a/b") == (1, "", said)
    path = f"{tmp_path}/none/x"
    said = f"Cannot write token to {path}: No such file or directory (errno=2)\n"
    assert create(tmp_path, "-identity", "a@b", "-file", path) == (1, "", said)


REQUESTS = [
    ClassAd({"ClientId": "here-1", "RequestId": "17", "RequestedIdentity": "ann@here"}),
    ClassAd({"ClientId": "here-2", "RequestId": "18", "RequestedIdentity": "bob@here"}),
]


def test_every_request_is_shown_and_approved_until_the_answer_is_not_yes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    approved = []
    tool = condor_token_request_approve
    monkeypatch.setattr(tool, "choose_daemon", lambda *_: Sinful.parse("<127.0.0.1:1>"))
    monkeypatch.setattr(tool, "list_token_requests", lambda *_: REQUESTS)
    monkeypatch.setattr(tool, "approve_token_request", lambda *_, **words: approved.append(words))
    out, complaint = io.StringIO(), io.StringIO()
    where = Streams(io.StringIO("yes\n"), out, complaint)
    assert tool.main(["condor_token_request_approve"], configuration(tmp_path), where) == 1
    assert approved == [{"client_id": "here-1", "request_id": "17"}]
    shown = 'ClientId = "here-{}"\nRequestId = "1{}"\nRequestedIdentity = "{}@here"\n\n'
    assert out.getvalue() == (
        f"Request contents:\n{shown.format(1, 7, 'ann')}To approve, please type 'yes'\n"
        "Request 17 approved successfully.\n"
        f"Request contents:\n{shown.format(2, 8, 'bob')}To approve, please type 'yes'\n"
    )
    assert complaint.getvalue() == "Request was NOT approved.\n"


def test_requests_are_listed_as_one_list_of_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = condor_token_request_list
    monkeypatch.setattr(tool, "choose_daemon", lambda *_: Sinful.parse("<127.0.0.1:1>"))
    monkeypatch.setattr(tool, "list_token_requests", lambda *_: REQUESTS)
    out = io.StringIO()
    where = Streams(io.StringIO(), out, io.StringIO())
    assert tool.main([tool.__name__, "-json"], configuration(tmp_path), where) == 0
    assert json.loads(out.getvalue()) == [
        {name: ad.string(name) for name in ad.names()} for ad in REQUESTS
    ]
    assert out.getvalue().startswith('[\n{\n  "ClientId": "here-1",\n')
    assert out.getvalue().endswith('  "RequestId": "18"\n}\n]\n')


def test_a_refusal_has_the_daemon_s_number_and_a_failed_beginning_its_place() -> None:
    address = Sinful.parse("<127.0.0.1:1>")
    with pytest.raises(SaidError) as caught, asking(address, "It failed", BEGIN_LISTING):
        raise RefusedError("Not that key.", code=3)
    assert str(caught.value) == "It failed: DAEMON:3:Not that key."
    begun = f"DAEMON:1:{BEGIN_LISTING} with remote daemon at '<127.0.0.1:1>'."
    with pytest.raises(SaidError) as caught, asking(address, "It failed", BEGIN_LISTING):
        raise AuthenticationFailed("no", tried=("FS",))
    tried = "AUTHENTICATE:1004:Failed to authenticate using FS"
    outer = "AUTHENTICATE:1003:Failed to authenticate with any method"
    assert str(caught.value) == f"It failed: {begun}|{outer}|{tried}"


class Daemons:
    """A machine with a schedd, whose collector answers a request for a token."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[tuple[str, Command, ClassAd]] = []
        self.answer = ClassAd({"Token": "a.b.c"})
        (folder / "schedd").write_text("<127.0.0.1:1002>\n")
        self.around = configuration(folder)
        with open(self.around["CONDOR_CONFIG"], "a", encoding="utf-8") as file:
            file.write(f"SCHEDD_ADDRESS_FILE = {folder}/schedd\nSCHEDD_NAME = me@here.example\n")
            file.write("COLLECTOR_HOST = 127.0.0.1:1001\n")
        monkeypatch.setattr("kettle.client.daemon.ask_ad", self._ask)

    def _ask(self, _: object, address: Sinful, command: Command, request: ClassAd) -> ClassAd:
        self.asked.append((f"{address.host}:{address.port}", command, request))
        return self.answer

    def fetch(self, words: str) -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        argv = ["condor_token_fetch", *words.split()]
        code = condor_token_fetch.main(argv, self.around, Streams(io.StringIO(), out, err))
        return code, out.getvalue(), err.getvalue()


def test_a_collector_fetches_the_token_of_a_schedd(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words and exit codes were recorded from HTCondor 25.14.1."""
    here = Daemons(tmp_path, monkeypatch)
    assert here.fetch("-remote -authz READ -lifetime 5") == (0, "a.b.c\n", "")
    assert here.fetch("-remote -name ap.example")[0] == 0
    command = Command.IMPERSONATION_TOKEN_REQUEST
    limited = ClassAd({"Name": "me@here.example", "LimitAuthorization": "READ", "TokenLifetime": 5})
    assert here.asked == [
        ("127.0.0.1:1001", command, limited),
        ("127.0.0.1:1001", command, ClassAd({"Name": "ap.example"})),
    ]
    unknown = "Schedd me@here.example is not known to the collector."
    here.answer = ClassAd({"ErrorCode": 5, "ErrorString": unknown})
    failed = "Remote token fetch failed with the following error:\n\n"
    assert here.fetch("-remote") == (5, "", f"{failed}DAEMON:5:{unknown}\n")
    only = "condor_token_fetch: Remote fetch (-remote) is only valid with the schedd.\n"
    assert here.fetch("-remote -type collector") == (1, "", only)


def test_the_daemons_of_this_machine_are_asked_whatever_pool_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Daemons(tmp_path, monkeypatch)
    assert here.fetch("-pool 127.0.0.1:1")[0] == 0
    assert here.fetch("-pool 127.0.0.1:1 -type collector")[0] == 0
    assert [where for where, *_ in here.asked] == ["127.0.0.1:1002", "127.0.0.1:1"]


@pytest.mark.parametrize("kind", ["credd", "HAD", "lease_manager"])
def test_a_daemon_that_no_pool_of_ours_has_is_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    here = Daemons(tmp_path, monkeypatch)
    said = "ERROR: couldn't locate default daemon type.\n"
    assert here.fetch(f"-type {kind}") == (1, "", said)
    assert here.fetch("-type nosuch")[2].startswith("ERROR: unrecognized daemon type: nosuch\n")
