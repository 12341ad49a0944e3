"""`condor_store_cred`: who is asked for what, and what is said of the answer.

The command lines and what is said of them were recorded from HTCondor 25.14.1.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kettle.classad import ClassAd
from kettle.client.connector import Connector
from kettle.errors import AuthorizationDenied
from kettle.tools.programs import Streams
from kettle.tools.tokens import condor_store_cred
from kettle.wire.codec import Reader, Writer
from kettle.wire.commands import Command
from kettle.wire.messages.credentials import (
    CredentialAnswer,
    CredentialMode,
    StoreCredential,
    StoreCredentialReply,
    StorePoolPassword,
    StorePoolPasswordReply,
)
from kettle.wire.security.tokens import scramble

ACCOUNT = "Account: condor_pool@pool.example\nCredType: password\n\n"
MASTER = "<127.0.0.1:1001>"
SCHEDD = "<127.0.0.1:1002>"
CREDD = "<127.0.0.1:1003>"
DENIED_MASTER = """\
Operation failed.
    Make sure you have ALLOW_ADMINISTRATOR access to the target Master.
    If the Master is older than 23.2.0, ALLOW_CONFIG access is needed.
"""
DENIED = """\
Operation failed.
    Make sure your ALLOW_WRITE setting includes this host.
"""

# Who writes it gives it to root.
only_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to root")


class Tool:
    """The tool on a machine whose daemons answer what is wanted; `sent` is what they were asked."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.password = folder / "password"
        self.answer: Any = StorePoolPasswordReply(CredentialAnswer.OK)
        self.encrypted = True
        self.sent: list[tuple[str, Command, Any]] = []
        self.settings = f"SEC_PASSWORD_FILE = {self.password}\nUID_DOMAIN = pool.example\n"
        for name, address in (("master", MASTER), ("schedd", SCHEDD)):
            (folder / name).write_text(f"{address}\n")
            self.settings += f"{name.upper()}_ADDRESS_FILE = {folder / name}\n"
        monkeypatch.setattr(Connector, "connect", self._connect)

    @contextmanager
    def _connect(self, address: object, command: Command, **_: object) -> Iterator[Any]:
        if self.answer is None:
            raise AuthorizationDenied("no")
        tool, where = self, str(address)

        class Connection:
            encrypted = self.encrypted

            def send(self, message: Any) -> None:
                writer = Writer()
                message.write(writer)
                read = type(message).read(Reader(writer.getvalue()))
                tool.sent.append((where.split("?")[0], command, read))

            def receive(self) -> Reader:
                writer = Writer()
                tool.answer.write(writer)
                return Reader(writer.getvalue())

        yield Connection()

    def __call__(self, words: str, stdin: str = "") -> tuple[int, str, str]:
        (self.folder / "config").write_text(self.settings)
        out, err = io.StringIO(), io.StringIO()
        around = {"CONDOR_CONFIG": str(self.folder / "config"), "HOME": str(self.folder)}
        argv = ["condor_store_cred", *words.split()]
        code = condor_store_cred.main(argv, around, Streams(io.StringIO(stdin), out, err))
        return code, out.getvalue(), err.getvalue()


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tool:
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    return Tool(tmp_path, monkeypatch)


@pytest.fixture
def roots(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> Tool:
    monkeypatch.setattr(os, "getuid", lambda: 0)
    return tool


def test_the_master_of_this_machine_keeps_the_pool_password(tool: Tool) -> None:
    done = ACCOUNT + "Operation succeeded.\n"
    assert tool("add -c -p s3cret") == (0, done, "")
    assert tool("delete -c") == (0, done, "")
    assert tool.sent == [
        (MASTER, Command.STORE_POOL_CRED, StorePoolPassword("pool.example", "s3cret")),
        (MASTER, Command.STORE_POOL_CRED, StorePoolPassword("pool.example", "")),
    ]
    assert not tool.password.exists()
    tool.answer = StorePoolPasswordReply(CredentialAnswer.NOT_FOUND)
    assert tool("delete -c") == (1, ACCOUNT + "Operation failed: username not found.\n", "")
    tool.answer = None
    assert tool("add -c -p s3cret") == (1, ACCOUNT + DENIED_MASTER, "")


@only_root
def test_root_writes_the_password_itself(roots: Tool) -> None:
    assert roots("add -c -p s3cret") == (0, ACCOUNT + "Operation succeeded.\n", "")
    # As the reference: without a NUL, which would be part of the key that signs tokens.
    assert roots.password.read_bytes() == scramble(b"s3cret")
    assert roots.password.stat().st_mode & 0o777 == 0o600
    assert roots("query -c")[2] == "Querying the pool password is not supported.\n"
    assert roots("delete -c")[0] == 0
    assert roots("delete -c") == (1, ACCOUNT + "Operation failed: username not found.\n", "")
    assert roots(f"add -c -p {'x' * 256}") == (1, ACCOUNT + DENIED_MASTER, "")
    assert not roots.sent


def test_root_asks_the_master_that_is_named(roots: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    roots.encrypted = False
    monkeypatch.setattr("kettle.client.pool.Pool.locate", lambda *_, **__: _located())
    code, _, complaint = roots("add -c -p s3cret -n ann@far")
    # Compat: the reference asks whether to send it in the clear, and never does.
    said = "Operation aborted because communiction was not secure\n"
    assert (code, complaint, roots.sent) == (1, said, [])
    roots.encrypted = True
    assert roots("add -c -p s3cret -n ann@far")[0] == 0
    assert [where for where, *_ in roots.sent] == [CREDD]
    assert not roots.password.exists()


def _located() -> Any:
    from kettle.client.pool import Located
    from kettle.wire.sinful import Sinful

    return Located(Sinful.parse(CREDD), "far")


def test_a_name_that_no_daemon_has_is_refused(tool: Tool) -> None:
    said = "ERROR: nosuchhost is not a valid daemon name\n"
    assert tool("add -c -p s3cret -n nosuchhost") == (1, "", said)


@only_root
@pytest.mark.parametrize(
    ("words", "stdin", "kept"),
    [
        ("-p -", "secret\n", b"secret\n"),
        ("-i -", "ab\0cd\n", b"ab"),
        ("", "typed\nmore", b"typed"),
    ],
)
def test_a_password_comes_from_the_input(roots: Tool, words: str, stdin: str, kept: bytes) -> None:
    code, said, _ = roots(f"add -c {words}", stdin)
    assert (code, scramble(roots.password.read_bytes())) == (0, kept)
    assert ("Enter password: \n" in said) is (not words)


@pytest.mark.parametrize("words", ["", "-p -", "-i -"])
def test_an_empty_password_is_refused(tool: Tool, words: str) -> None:
    code, said, complaint = tool(f"add -c {words}")
    assert (code, complaint) == (1, "Operation failed: no password was given.\n")
    assert said.startswith(ACCOUNT)
    assert not tool.sent


def test_a_file_is_written_without_a_word(tool: Tool) -> None:
    path = tool.folder / "other"
    assert tool(f"-f {path} -p abc") == (0, "", "")
    assert path.read_bytes() == scramble(b"abc")
    said = "error writing password file: /nonexistent/other\n"
    assert tool("add -f /nonexistent/other -p abc") == (1, "", said)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("add-foo -c", "ERROR: -foo is not a known credential type"),
        ("-c add-", "ERROR: - is not a known credential type"),
        ("add delete", "ERROR: exactly one command must be provided"),
        ("add -u foo -p x", "ERROR: Username 'foo' is not of the form: account@domain"),
        ("add -p a -p b", "ERROR: only one '-p' arg may be provided"),
        ("add -c -u a@b", "ERROR: only one of '-s' or '-u' may be provided"),
        ("add -u a@b -c", "ERROR: only one '-c' or '-u' arg may be provided"),
        ("add-krb", "ERROR: add-krb and add-oauth commands require a credential filename argument"),
        ("add-oauth -i x", "ERROR: add-oauth command requires a service name"),
        ("add -i a -i b", "ERROR: credential filename already specified"),
    ],
)
def test_options_that_mean_nothing_are_complained_of(tool: Tool, words: str, said: str) -> None:
    code, out, complaint = tool(words)
    assert (code, out, complaint.partition("\n")[0]) == (1, "", said)


@pytest.mark.parametrize("words", ["add -c -p y -s x", "add-krb -c -i {here}", "query -s x"])
def test_options_that_do_not_go_together_are_bad_arguments(tool: Tool, words: str) -> None:
    code, _, complaint = tool(words.format(here=tool.folder / "master"))
    assert (code, complaint) == (1, "Operation aborted due to missing or bad arguments\n")
    assert not tool.sent


def test_whose_credential_it_is(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(condor_store_cred, "account_name", lambda _: "ann")
    tool.answer = StoreCredentialReply(CredentialAnswer.NOT_FOUND)
    said = "Account: ann@pool.example\nCredType: password\n\nNo credential is stored.\n"
    assert tool("query") == (1, said, "")
    mode = CredentialMode.QUERY | CredentialMode.PASSWORD | CredentialMode.LEGACY
    asked = StoreCredential("ann@pool.example", "", mode, None, None)
    assert tool.sent == [(SCHEDD, Command.STORE_CRED, asked)]
    tool.settings += "SEC_PASSWORD_DOMAIN = other.example\n"
    tool.answer = StorePoolPasswordReply(CredentialAnswer.OK)
    assert tool("delete -c")[1].startswith("Account: condor_pool@other.example\n")
    tool.answer = None
    assert tool("add -u eve@b -p x")[1] == f"Account: eve@b\nCredType: password\n\n{DENIED}"


def test_the_credential_daemon_is_asked_where_it_is_configured(
    tool: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(condor_store_cred, "account_name", lambda _: "ann")
    tool.settings += f"CREDD_HOST = {CREDD}\n"
    ticket = tool.folder / "ticket"
    ticket.write_bytes(b"\0\xfftoken")
    tool.answer = StoreCredentialReply(CredentialAnswer.PENDING, ClassAd({"CredTime": 5}))
    code, said, _ = tool(f"add-oauth -i {ticket} -s box -H mine -P")
    assert code == 0
    assert said == (
        "Account: <current> (ann)\nCredType: oauth\n\n"
        "Operation succeeded and is waiting for processing.\n\nCredential info:\nCredTime = 5\n\n"
    )
    about = ClassAd({"service": "box", "handle": "mine", "NeedRefresh": False})
    sent = StoreCredential("", "", CredentialMode.OAUTH, b"\0\xfftoken", about)
    assert tool.sent.pop() == (CREDD, Command.STORE_CRED, sent)
    tool.answer = StoreCredentialReply(86400, ClassAd())
    monkeypatch.setenv("TZ", "UTC")
    assert "\nA credential was stored on 1970-01-02 " in tool("query-krb")[1]
    tool.answer = StoreCredentialReply(CredentialAnswer.MISMATCH, ClassAd())
    said = "Credential was found but it did not match requested scopes or audience\n"
    assert (tool("query-oauth -s box")[0], tool("query-oauth -s box")[2]) == (2, said)


def test_root_of_a_machine_without_a_credential_daemon_stores_nothing_for_users(
    roots: Tool,
) -> None:
    assert roots("add -u eve@b -p x")[1].endswith(DENIED)
    assert roots("query-krb")[1].endswith(DENIED)
    assert not roots.password.exists()
