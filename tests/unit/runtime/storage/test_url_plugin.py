"""The built-in plug-in against files and a small HTTP server of the test's own."""

from __future__ import annotations

import http.server
import io
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, ClassVar, cast
from urllib.parse import quote

import pytest

from kettle.classad import parse_ads, parse_expression
from kettle.runtime.storage import url_plugin
from kettle.transfer.plugin_records import file_record
from kettle.transfer.plugins import (
    Ran,
    parse_abilities,
    read_result_ads,
    read_results,
    render_requests,
)
from kettle.transfer.plugins import built_in_plugin as built_in

TRIES = parse_expression("DeveloperData.TransferTries")


class Handler(http.server.BaseHTTPRequestHandler):
    stored: ClassVar[dict[str, bytes]] = {}
    busy: ClassVar[int] = 0

    def do_GET(self) -> None:
        if Handler.busy > 0:
            Handler.busy -= 1
            self.send_error(503)
            return
        if self.path.startswith("/status/"):
            self.send_error(int(self.path.removeprefix("/status/")))
            return
        body = self.stored.get(self.path)
        if body is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_PUT(self) -> None:
        self.stored[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(201)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(url_plugin.time, "sleep", lambda _: None)
    Handler.stored, Handler.busy = {"/data": b"from the web"}, 0
    web = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=web.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{web.server_address[1]}"
    web.shutdown()
    web.server_close()
    thread.join()


def test_it_tells_its_abilities_in_the_form_that_starters_read(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert url_plugin.main(["-classad"]) == 0
    said = capsys.readouterr().out
    assert 'PluginVersion = "0.2"\n' in said
    plugin = parse_abilities("p", said)
    assert plugin is not None
    assert plugin.methods == {"file", "http", "https"}
    assert plugin.many


def test_a_local_file_is_copied(tmp_path: Path) -> None:
    source = tmp_path / "a b"
    source.write_bytes(b"local")
    assert url_plugin.main([f"file://{quote(str(source))}", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out").read_bytes() == b"local"


def test_a_web_page_is_fetched_and_a_busy_server_is_asked_again(
    server: str, tmp_path: Path
) -> None:
    Handler.busy = 2
    assert url_plugin.main([f"{server}/data", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out").read_bytes() == b"from the web"


def test_what_is_not_there_fails_with_a_reason_and_leaves_no_file(
    server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert url_plugin.main([f"{server}/nope", str(tmp_path / "out")]) == 1
    assert "404" in capsys.readouterr().err
    assert url_plugin.main(["file:///no/such/file", str(tmp_path / "out")]) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("url", "code", "data"),
    [
        ("file://$(staging/a", 3, {"ErrorType": "Parameter", "PluginLaunched": True}),
        ("http://[::1/a", 3, {"ErrorType": "Parameter"}),
        ("gopher://h/a", 3, {"ErrorType": "Parameter"}),
        (
            "http://nonexistent.invalid:81/a",
            6,
            {"ErrorType": "Resolution", "FailedName": "nonexistent.invalid:81"},
        ),
        ("http://127.0.0.1:1/a", 7, {"ErrorType": "Contact", "FailedServer": "Unknown"}),
        ("{server}/status/400", 22, {"ErrorType": "Specification", "FailedServer": "{host}"}),
        ("{server}/status/403", 22, {"ErrorType": "Authorization", "FailedServer": "{host}"}),
        ("{server}/status/404", 22, {"ErrorType": "Specification", "FailedServer": "{host}"}),
        ("{server}/status/501", 22, {}),
        ("file:///no-such.file", 37, {"ErrorType": "Specification"}),
    ],
)
def test_what_fails_is_told_by_its_kind(
    server: str, tmp_path: Path, url: str, code: int, data: dict[str, object]
) -> None:
    host = server.partition("//")[2]
    result = url_plugin.move(url.format(server=server), str(tmp_path / "a"), upload=False)
    assert result.boolean("TransferSuccess") is False
    failures = file_record(result).evaluate("TransferErrorData")
    assert isinstance(failures, list)
    first = failures[0]
    assert first.integer("ErrorCode") == code
    assert first.string("ErrorString")
    for name, value in data.items():
        wanted = value.format(host=host) if isinstance(value, str) else value
        assert first.evaluate(name) == wanted, name
    assert len(failures) == result.evaluate_expression(TRIES)


def test_a_server_that_keeps_silent_is_too_slow_at_once(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent(*_: object, **__: object) -> None:
        raise TimeoutError("timed out")

    monkeypatch.setattr(url_plugin.urllib.request, "urlopen", silent)
    result = url_plugin.move(f"{server}/data", str(tmp_path / "a"), upload=False)
    assert "Aborted due to lack of progress" in (result.string("TransferError") or "")
    [failure] = result.evaluate("TransferErrorData")
    assert failure.string("FailureType") == "TooSlow"


@pytest.mark.parametrize(
    ("environment", "tries"),
    [
        ({}, 3),
        ({"CURL_MAX_RETRY_ATTEMPTS": "1"}, 2),
        ({"CURL_MAX_RETRY_ATTEMPTS": "4x", "HOME": "/"}, 5),
        ({"CURL_MAX_RETRY_ATTEMPTS": "1", "CONDOR_CURL_MAX_RETRY_ATTEMPTS": "6"}, 7),
        ({"CURL_MAX_RETRY_ATTEMPTS": "0"}, 3),
        ({"CURL_MAX_RETRY_ATTEMPTS": "many"}, 3),
    ],
)
def test_a_transfer_is_tried_as_often_as_it_is_told(
    server: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    environment: dict[str, str],
    tries: int,
) -> None:
    del server
    for name, text in environment.items():
        monkeypatch.setenv(name, text)
    result = url_plugin.move("http://127.0.0.1:1/a", str(tmp_path / "a"), upload=False)
    assert result.evaluate_expression(TRIES) == tries


def test_a_host_that_nobody_knows_is_asked_for_once(server: str, tmp_path: Path) -> None:
    del server
    result = url_plugin.move("http://nonexistent.invalid/a", str(tmp_path / "a"), upload=False)
    assert result.evaluate_expression(TRIES) == 1


def test_the_environment_says_which_proxy_and_certificates_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    handler = url_plugin.urllib.request.HTTPRedirectHandler
    monkeypatch.setattr(handler, "max_redirections", handler.max_redirections)
    told = {"http_proxy": "http://p", "CURL_MAX_REDIRS": "3", "X509_CERT_DIR": "/certs"}
    url_plugin.heed_environment(told)
    assert handler.max_redirections == 3
    assert (told["http_proxy"], told["SSL_CERT_DIR"]) == ("http://p", "/certs")
    told["CURL_IGNORE_HTTP_PROXY"] = "1"
    url_plugin.heed_environment(told)
    assert "http_proxy" not in told


def test_many_files_are_moved_with_a_result_for_each(server: str, tmp_path: Path) -> None:
    pairs = [(f"{server}/data", str(tmp_path / "1")), (f"{server}/nope", str(tmp_path / "2"))]
    (tmp_path / "in").write_text(render_requests(pairs))
    status = url_plugin.main(
        ["-infile", str(tmp_path / "in"), "-outfile", str(tmp_path / "results")]
    )
    assert status == 1
    ads = read_result_ads((tmp_path / "results").read_text())
    good, bad = read_results(built_in(), pairs, ads, Ran(status))
    assert (good.size, good.error) == (12, "")
    assert "404" in bad.error


def test_files_are_put_to_the_web_and_to_folders(server: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"mine")
    pairs = [
        (f"{server}/up", str(tmp_path / "f")),
        (f"file://{tmp_path}/deep/er/f", str(tmp_path / "f")),
    ]
    (tmp_path / "in").write_text(render_requests(pairs))
    arguments = ["-infile", str(tmp_path / "in"), "-outfile", str(tmp_path / "out"), "-upload"]
    assert url_plugin.main(arguments) == 0
    assert Handler.stored["/up"] == b"mine"
    assert (tmp_path / "deep/er/f").read_bytes() == b"mine"
    assert len(list(parse_ads((tmp_path / "out").read_text()))) == 2


def test_a_wrong_command_line_says_how_to_use_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert url_plugin.main([]) == 2
    assert "usage" in capsys.readouterr().err


class Dripping(io.RawIOBase):
    """Gives its pieces one by one, each after so many seconds on its own clock."""

    def __init__(self, pieces: list[tuple[float, bytes]]) -> None:
        self.now = 0.0
        self._pieces = iter(pieces)

    def read1(self, _: int) -> bytes:
        seconds, piece = next(self._pieces, (0.0, b""))
        self.now += seconds
        return piece


@pytest.mark.parametrize(
    ("pieces", "came"),
    [
        ([(1.0, b"x" * 1024), (28.0, b"y")], 1025),
        ([(1.0, b"x" * 1024), (28.0, b"y" * 35), (28.0, b"z")], 1060),
        ([(29.0, b"xy"), (2.0, b"z")], None),
        ([(1.0, b"x" * 1024), (29.5, b"y"), (20.0, b"z"), (20.0, b"z")], None),
    ],
)
def test_less_than_a_byte_a_second_is_no_transfer(
    pieces: list[tuple[float, bytes]], came: int | None
) -> None:
    source, target = Dripping(pieces), io.BytesIO()
    if came is None:
        with pytest.raises(url_plugin.TransferError, match="bytes came in"):
            url_plugin.copy(cast("IO[bytes]", source), target, lambda: source.now)
    else:
        url_plugin.copy(cast("IO[bytes]", source), target, lambda: source.now)
        assert len(target.getvalue()) == came
