"""`htchirp` where it departs from the wheel's: against a server that answers from a list.

Where it does not, tests/data/compat/htcondor2/chirp.py shows it.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kettle.compat.htcondor import htchirp as htchirp_of_version_1
from kettle.compat.htcondor2.htchirp import HTChirp, condor_chirp


@contextmanager
def server(*answers: bytes) -> Iterator[tuple[HTChirp, list[bytes]]]:
    """Answer line after line, the cookies aside, and close the connection at the end."""
    heard: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        left = list(answers)
        while left:
            connection, _ = listener.accept()
            with connection, connection.makefile("rwb") as stream:
                while left and (line := stream.readline()):
                    if line.startswith(b"cookie "):
                        stream.write(b"0\n")
                    else:
                        heard.append(line)
                        stream.write(left.pop(0))
                    stream.flush()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    chirp = HTChirp("127.0.0.1", listener.getsockname()[1], cookie="secret")
    chirp.connect()
    try:
        yield chirp, heard
    finally:
        chirp.disconnect()
        listener.close()


def test_several_lines_are_never_another_request() -> None:
    with server(b"0\n") as (chirp, heard):
        with pytest.raises(HTChirp.InvalidRequest, match="ulog: no request can say several"):
            chirp.ulog("a\nunlink /home/me/thesis")
        chirp.ulog("a")
    assert heard == [b"ulog a\n"]


def test_a_file_of_no_bytes_is_put(tmp_path: Path) -> None:
    """The wheel waits for a second answer, which no server gives."""
    (tmp_path / "empty").touch()
    with server(b"0\n") as (chirp, heard):
        assert chirp.putfile(tmp_path / "empty", "there") == 0
    assert heard == [b"putfile there 511 0\n"]


def test_a_connection_that_ends_is_said_and_not_waited_for(tmp_path: Path) -> None:
    """The wheel reads nothing for ever."""
    with server(b"100\nshort") as (chirp, _), pytest.raises(RuntimeError, match="has closed the"):
        chirp.getfile("there", tmp_path / "here")


def test_an_answer_that_is_no_number_is_said() -> None:
    with server(b"hello\n") as (chirp, _), pytest.raises(RuntimeError, match="answered 'hello'"):
        chirp.unlink("a")


def test_an_empty_folder_has_no_names() -> None:
    """In the wheel it has one, which is empty."""
    with server(b"0\n") as (chirp, _):
        assert chirp.getdir("there") == []


def test_half_a_stride_is_refused_before_anything_is_asked_of_the_file() -> None:
    with server(b"5\n1\n") as (chirp, _), pytest.raises(HTChirp.InvalidRequest, match="Both"):
        chirp.read("there", 10, stride_length=2)


def test_a_command_prints_bytes_as_they_are_and_writes_those_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the wheel `read` prints Python's way to write bytes down, and `write` fails."""
    (tmp_path / "local").write_bytes(b"\xff\n\n")
    config = tmp_path / "config"
    monkeypatch.setenv("_CONDOR_CHIRP_CONFIG", str(config))
    answers = [b"5\n1\n", b"4\ntext", b"0\n", b"5\n1\n", b"", b"2\n", b"0\n", b"0\n"]
    with server(*answers) as (chirp, heard):
        config.write_text(f"{chirp.host} {chirp.port} {chirp.cookie}\n")
        chirp.disconnect()
        assert condor_chirp("read there 4", return_exit_code=True) == 0
        assert condor_chirp(["write", "there", str(tmp_path / "local"), "2"]) == 2
    assert capsys.readouterr().out == "text\n"
    assert heard[3:5] == [b"open there w 511\n", b"write 5 2\n"]
    assert heard[5:] == [b"\xff\n", b"fsync 5\n", b"close 5\n"]


def test_a_command_that_is_none_or_has_too_few_words_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_CONDOR_CHIRP_CONFIG", str(tmp_path / "none"))
    assert condor_chirp(["frobnicate"], return_exit_code=True) == 1
    assert "Command must be one of: access, chmod" in capsys.readouterr().err
    assert condor_chirp(["stat", "a"], return_exit_code=True) == 1
    assert "you must provide a host and port" in capsys.readouterr().err


def test_version_1_has_the_same() -> None:
    assert htchirp_of_version_1.HTChirp is HTChirp
    assert htchirp_of_version_1.condor_chirp is condor_chirp


def test_a_line_that_no_server_takes_is_not_sent() -> None:
    with server(b"0\n") as (chirp, heard):
        with pytest.raises(HTChirp.TooBig, match="the request is too large: 5121 bytes"):
            chirp.unlink("a" * (5121 - len("unlink \n")))
        chirp.unlink("a" * (5120 - len("unlink \n")))
    assert [len(line) for line in heard] == [5120]
