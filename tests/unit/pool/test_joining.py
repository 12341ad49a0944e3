"""What keeps a machine out of a pool is said in one sentence, before a daemon is started."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from kettle.errors import ConnectionLost, KettleError, NotFoundError, RefusedError, UsageError
from kettle.pool import joining
from kettle.wire.security.tokens import mint_token

NOW = 1_800_000_000.0


def token_file(folder: Path, *, age: float = 0, lifetime: int | None = None) -> str:
    token = mint_token(
        b"key",
        key_id="POOL",
        issuer="there",
        subject="execute@members.there",
        issued_at=int(NOW - age),
        token_id="0" * 32,
        lifetime_seconds=lifetime,
    )
    path = folder / "token"
    path.write_text(f"# of the pool there\n\n{token}\n")
    return str(path)


def test_the_first_token_of_the_file_is_taken(tmp_path: Path) -> None:
    offered = joining.read_token_file(token_file(tmp_path), NOW)
    assert offered.token.claim("iss") == "there"
    assert offered.line.count(".") == 2


@pytest.mark.parametrize(("mode", "is_open"), [(0o600, False), (0o640, True), (0o644, True)])
def test_a_token_that_others_can_read_is_known_as_such(
    tmp_path: Path, mode: int, is_open: bool
) -> None:
    path = Path(token_file(tmp_path))
    path.chmod(mode)
    assert joining.read_token_file(str(path), NOW).is_open is is_open


def test_a_missing_file_is_named_with_the_command_that_makes_one(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"there is no file .*/none \(kettle token"):
        joining.read_token_file(str(tmp_path / "none"), NOW)


@pytest.mark.parametrize("text", ["", "# nothing\n", "this is no token\n", "e30.e30\n"])
def test_a_file_without_a_token_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "token"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"holds (no|a) token"):
        joining.read_token_file(str(path), NOW)


def test_an_expired_token_is_refused_with_both_times(tmp_path: Path) -> None:
    path = token_file(tmp_path, age=100, lifetime=50)
    with pytest.raises(RefusedError, match=r"expired on 2027-.*; here it is 2027-.*kettle token"):
        joining.read_token_file(path, NOW)


def test_a_token_of_tomorrow_says_that_the_clocks_are_apart(tmp_path: Path) -> None:
    path = token_file(tmp_path, age=-3600)
    with pytest.raises(RefusedError, match="the clocks are apart"):
        joining.read_token_file(path, NOW)


def test_a_token_of_a_few_seconds_from_now_is_good(tmp_path: Path) -> None:
    assert joining.read_token_file(token_file(tmp_path, age=-30), NOW)


def test_a_port_where_nobody_listens_is_told_from_a_host_that_is_not_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert joining.find_way("127.0.0.1", port) == ("127.0.0.1", "127.0.0.1")
    with pytest.raises(ConnectionLost, match=rf"nothing listens at 127.0.0.1:{port}"):
        joining.find_way("127.0.0.1", port)
    with pytest.raises(NotFoundError, match=r"there is no host no-such-host.invalid"):
        joining.find_way("no-such-host.invalid", port)


def test_a_host_that_does_not_answer_is_said_to(monkeypatch: pytest.MonkeyPatch) -> None:
    def times_out(*_: object, **__: object) -> None:
        raise TimeoutError

    monkeypatch.setattr(socket, "create_connection", times_out)
    with pytest.raises(KettleError, match=r"10.0.0.1:9618 does not answer within 10 s"):
        joining.find_way("10.0.0.1", 9618)


def test_a_private_address_on_the_way_to_a_public_one_is_behind_a_wall() -> None:
    assert joining.is_evidently_walled("192.168.1.5", "8.8.8.8")
    assert not joining.is_evidently_walled("192.168.1.5", "192.168.1.6")
    assert not joining.is_evidently_walled("8.8.4.4", "8.8.8.8")
