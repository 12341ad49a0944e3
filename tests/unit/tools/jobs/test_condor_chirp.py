"""How condor_chirp ends where it cannot do what it was asked."""

from __future__ import annotations

import io
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.tools.jobs.condor_chirp import main
from kettle.tools.programs import Streams

MISSING = "No such file or directory"
# Words and exit codes are recorded from condor_chirp 25.14.1.
WHOLE = {"fetch": "getfile", "getdir": "getdir", "put": "putfile"}


def run(config: Path, *words: str) -> tuple[int, str]:
    streams = Streams(io.StringIO(), io.StringIO(), complaint := io.StringIO())
    code = main(["condor_chirp", *words], {"_CONDOR_CHIRP_CONFIG": str(config)}, streams)
    return code, complaint.getvalue()


@pytest.fixture
def refusing(tmp_path: Path) -> Path:
    """Return the configuration of a server that lets one client in and has nothing."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with server, server.accept()[0] as client, client.makefile("rb") as lines:
            for line in lines:
                client.sendall(b"0\n" if line.startswith(b"cookie ") else b"-3\n")

    threading.Thread(target=serve, daemon=True).start()
    config = tmp_path / "config"
    config.write_text(f"127.0.0.1 {server.getsockname()[1]} cake\n")
    return config


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("remove", "nope"), 255),
        (("stat", "nope"), 255),
        (("read", "nope", "3"), 255),
        (("fetch", "nope", "here"), 1),
        (("getdir", "nope"), 1),
    ],
)
def test_what_the_access_point_turns_down_ends_as_with_the_reference(
    refusing: Path, words: tuple[str, ...], code: int
) -> None:
    whole = WHOLE.get(words[0])
    said = f"chirp: couldn't {whole}: {MISSING}" if whole else f"\tError: 2 ({MISSING})"
    assert run(refusing, *words) == (code, f"{said}\n")


def test_what_chirp_says_is_the_references(refusing: Path, tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    no_local = f"Can't open local file {missing}\n\tError: 2 ({MISSING})\n"
    assert run(refusing, "put", missing, "there") == (255, no_local)
    no_starter = f"Can't open {missing} file\ncannot chirp_connect to condor_starter\n"
    assert run(Path(missing), "ulog", "x") == (255, f"{no_starter}\tError: 2 ({MISSING})\n")
    assert run(tmp_path / "config", "nosuch")[1].startswith("Unknown command nosuch\nUsage: ")


def test_a_refused_opening_is_told_with_the_files_name(refusing: Path, tmp_path: Path) -> None:
    (local := tmp_path / "local").touch()
    said = f"Can't chirp_client_open far:-1\n\tError: 2 ({MISSING})\n"
    assert run(refusing, "put", "-mode", "wa", str(local), "far") == (255, said)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("access", "x", "q"), 255, "invalid mode char 'q'\n"),
        (("chmod", "x", "9"), 22, ""),
        (("get_job_attr", "A", "B"), 255, "condor_chirp get_job_attr NAME\n"),
        (("ulog", "a", "b"), 255, "condor_chirp ulog TEXT\n"),
        (("read", "x"), 255, "condor_chirp read [-offset N] [-stride LENGTH SKIP] REMOTE LENGTH\n"),
    ],
)
def test_words_that_are_wrong_are_answered_as_by_the_reference(
    refusing: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    assert run(refusing, *words) == (code, said)


@pytest.mark.parametrize("words", [(), ("frob",), ("fetch", "a", "b"), ("remove", "x")])
def test_what_never_reaches_the_access_point_ends_with_255(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    assert run(tmp_path / "none", *words)[0] == 255


def test_missing_words_end_with_255(refusing: Path) -> None:
    assert run(refusing, "readlink", "x")[0] == 255


FACTS = "1 2 33188 1 1000 0 0 3 4096 8 0 60 120\n"
SHOWN = [
    "device: 1", "inode: 2", "mode: 33188", "nlink: 1", "uid: 1000", "gid: 0", "rdevice: 0",
    "size: 3", "blksize: 4096", "blocks: 8", "atime: Thu Jan  1 00:00:00 1970",
    "mtime: Thu Jan  1 00:01:00 1970", "ctime: Thu Jan  1 00:02:00 1970",
]  # fmt: skip


def ask(folder: Path, answer: str, *words: str, ends: int = 0) -> list[str]:
    """Run a command at a server with one answer; return its lines."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with server, server.accept()[0] as client, client.makefile("rb") as lines:
            for line in lines:
                client.sendall(b"0\n" if line.startswith(b"cookie ") else answer.encode())

    threading.Thread(target=serve, daemon=True).start()
    config = folder / "config"
    config.write_text(f"127.0.0.1 {server.getsockname()[1]} cake\n")
    streams = Streams(io.StringIO(), out := io.StringIO(), io.StringIO())
    assert main(["condor_chirp", *words], {"_CONDOR_CHIRP_CONFIG": str(config)}, streams) == ends
    return out.getvalue().splitlines()


@pytest.fixture
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Tell times as they are at Greenwich."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("utc")
def test_a_long_listing_has_what_each_number_is_as_the_reference_prints_it(tmp_path: Path) -> None:
    text = f"a b\n{FACTS}sub\n{FACTS}\n"
    shown = ["\t" + line for line in SHOWN]
    lines = ask(tmp_path, f"{len(text)}\n{text}", "getdir", "-l", "/d", ends=len(text))
    assert lines == ["a b", *shown, "sub", *shown]


@pytest.mark.parametrize(("text", "code"), [("\n", 1), ("a\n\n", 3), ("a" * 300 + "\n\n", 46)])
def test_a_listing_ends_with_how_much_it_is(tmp_path: Path, text: str, code: int) -> None:
    ask(tmp_path, f"{len(text)}\n{text}", "getdir", "/d", ends=code)


@pytest.mark.usefixtures("utc")
def test_a_file_and_a_file_system_are_told_of_in_the_words_of_the_reference(tmp_path: Path) -> None:
    assert ask(tmp_path, f"0\n{FACTS}", "stat", "x") == SHOWN
    assert ask(tmp_path, "0\n0 1 2 3 4 5 6\n", "statfs", "x") == [
        "f_type: 0", "f_bsize: 1", "f_blocks: 2", "f_bfree: 3", "f_bavail: 4", "f_files: 5",
        "f_ffree: 6",
    ]  # fmt: skip


# Who has opened a file is told at once what it is.
ANSWERS = {b"sread": b"2\nab", b"pread": b"2\nab", b"open": b"7\n" + FACTS.encode()}


@pytest.fixture
def noting(tmp_path: Path) -> tuple[Path, list[bytes]]:
    """Return the configuration of a server that does what it is asked, and what it was asked."""
    server = socket.create_server(("127.0.0.1", 0))
    asked: list[bytes] = []

    def serve() -> None:
        with server, server.accept()[0] as client, client.makefile("rb") as lines:
            for line in lines:
                asked.append(line.strip())
                verb, *words = line.split()
                if verb in {b"write", b"pwrite", b"swrite"}:
                    asked.append(lines.read(int(words[1])))
                elif verb == b"putfile" and words[2] != b"0":
                    client.sendall(b"11\n")
                    asked.append(lines.read(int(words[2])))
                client.sendall(ANSWERS.get(verb, b"7\n"))

    threading.Thread(target=serve, daemon=True).start()
    config = tmp_path / "config"
    config.write_text(f"127.0.0.1 {server.getsockname()[1]} cake\n")
    return config, asked


def test_a_file_is_read_in_pieces(noting: tuple[Path, list[bytes]]) -> None:
    config, asked = noting
    assert run(config, "read", "-offset", "2", "-stride", "1", "3", "far", "2") == (2, "")
    assert asked[2] == b"sread 7 2 2 1 3"


def test_an_opened_file_is_told_of_before_the_next_answer(
    noting: tuple[Path, list[bytes]],
) -> None:
    config, asked = noting
    # Compat: the exit code is how much was read.
    assert run(config, "read", "far", "2") == (2, "")
    assert asked[1:] == [b"open far r 0", b"pread 7 2 0", b"close 7"]


def test_a_file_is_put_with_a_mode_of_its_own(
    noting: tuple[Path, list[bytes]], tmp_path: Path
) -> None:
    config, asked = noting
    local = tmp_path / "local"
    local.write_text("hello")
    assert run(config, "put", "-mode", "wa", "-perm", "600", str(local), "far") == (0, "")
    assert asked[1:] == [b"open far wa 384", b"write 7 5", b"hello", b"close 7"]


def test_an_empty_file_has_one_answer(noting: tuple[Path, list[bytes]], tmp_path: Path) -> None:
    config, asked = noting
    local = tmp_path / "local"
    local.touch()
    assert run(config, "put", "-perm", "600", str(local), "far") == (0, "")
    assert asked[1:] == [b"putfile far 384 0"]


def test_an_empty_piece_is_not_written(noting: tuple[Path, list[bytes]], tmp_path: Path) -> None:
    config, asked = noting
    local = tmp_path / "local"
    local.touch()
    assert run(config, "write", "far", str(local)) == (0, "")
    assert asked[1:] == [b"open far w 0", b"close 7"]


def test_a_file_is_written_in_pieces(noting: tuple[Path, list[bytes]], tmp_path: Path) -> None:
    config, asked = noting
    local = tmp_path / "local"
    local.write_text("hello")
    assert run(config, "write", "-stride", "1", "3", "far", str(local), "4") == (4, "")
    assert asked[2:4] == [b"swrite 7 4 0 1 3", b"hell"]


@pytest.mark.parametrize(
    ("options", "bits"), [((), 0o755), (("-perm", "600"), 0o600), (("-mode", "cw"), 0o755)]
)
def test_a_file_that_is_put_may_be_executed_unless_it_is_said_otherwise(
    noting: tuple[Path, list[bytes]], tmp_path: Path, options: tuple[str, ...], bits: int
) -> None:
    config, asked = noting
    local = tmp_path / "local"
    local.write_text("hello\n")
    local.chmod(0o600)
    run(config, "put", *options, str(local), "far")
    assert asked[1].split()[:2] in ([b"putfile", b"far"], [b"open", b"far"])
    assert str(bits).encode() in asked[1].split()


@pytest.mark.parametrize(
    "words",
    [
        ("access", "one", "rq"),
        ("fetch", "-l", "one", "two"),
        ("put", "one", "two", "three"),
        ("read", "-stride", "1", "one", "3"),
        ("read", "one", "3", "4"),
    ],
)
def test_words_that_a_command_has_no_use_for_end_with_255(
    noting: tuple[Path, list[bytes]], words: tuple[str, ...]
) -> None:
    config, asked = noting
    assert run(config, *words)[0] == 255
    assert len(asked) == 1


def test_what_is_read_ends_with_a_newline(noting: tuple[Path, list[bytes]]) -> None:
    streams = Streams(io.StringIO(), out := io.StringIO(), io.StringIO())
    environment = {"_CONDOR_CHIRP_CONFIG": str(noting[0])}
    assert main(["condor_chirp", "read", "far", "2"], environment, streams) == 2
    assert out.getvalue() == "ab\n"
