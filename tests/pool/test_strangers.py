"""Strangers at every door of a working pool: starters, shadow hosts and the shared port, too.

What they send is refused and logged in one line; floods and guesses hold nobody up, and jobs go on
meanwhile. What costs a daemon of the pool more is in `test_hostile.py`.
"""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from kettle.client.connector import Connector
from kettle.config import Config, load_config
from kettle.errors import WireError
from kettle.pool.personal import PersonalPool
from kettle.runtime.sockets.shared_port import endpoint_folder, read_public_address, short_name
from kettle.runtime.storage.files import Files, SystemSources
from kettle.testing.pool_fixture import personal_pool
from kettle.wire.commands import Command
from kettle.wire.security.claim_id import mint_claim_id
from kettle.wire.sinful import Sinful
from pool_jobs import Jobs, daemon_pids, run_tool, submit, wait_until
from strangers import AUTHENTICATE, SPOILED, dial, is_cut, packet, send_all, words

pytestmark = pytest.mark.timeout(180)

DAEMONS = ("MASTER", "COLLECTOR", "NEGOTIATOR", "SCHEDD", "STARTD")
DOORS = (*DAEMONS, "SHADOW", "STARTER")
SETTINGS = "NUM_CPUS = 4\nWANT_UDP_COMMAND_SOCKET = true\nCOLLECTOR_DEBUG = D_COMMAND\n"
SHARED = "USE_SHARED_PORT = true\nSHARED_PORT_PORT = 0\nDAEMON_LIST = {daemons} SHARED_PORT\n"
LOGS = {name: name.title() + "Log" for name in DAEMONS} | {
    "SCHEDD": "SchedLog",
    "STARTD": "StartLog",
    "SHADOW": "ShadowLog",
}


def config_of(pool: PersonalPool) -> Config:
    return load_config(SystemSources(), pool.environment(), subsystem="TOOL")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, work_folder: Path) -> Iterator[PersonalPool]:
    """The pool of all these tests; after the last of them it runs jobs as before."""
    with personal_pool(tmp_path_factory.mktemp("strangers"), SETTINGS) as pool:
        yield pool
        submit(pool, work_folder / "after", "executable = /bin/true\nqueue\n").wait_for(5, 20)


@pytest.fixture
def pool(shared: PersonalPool) -> Iterator[PersonalPool]:
    """The pool; afterwards its daemons are the same ones and have failed at nothing."""

    def alive() -> dict[str, list[int]]:
        return {name: daemon_pids(shared, f"condor_{name.lower()}") for name in DAEMONS}

    before = alive()
    yield shared
    assert alive() == before
    for path in Path(shared.log_folder).glob("*Log*"):
        assert "Traceback" not in path.read_text(errors="replace"), path.name


@pytest.fixture(scope="module")
def long_job(shared: PersonalPool, work_folder: Path) -> Iterator[Jobs]:
    """A job that runs for as long as the tests do: its starter and its shadow listen."""
    text = "executable = /bin/sleep\narguments = 3000\nqueue\n"
    jobs = submit(shared, work_folder / "long", text)
    jobs.wait_for(1, 20)
    yield jobs
    assert run_tool(shared, "condor_rm", str(jobs.cluster))[0] == 0
    jobs.wait_for(9, 20)


@pytest.fixture
def running(long_job: Jobs) -> Iterator[Jobs]:
    """The long job; whatever strangers send, it goes on."""
    yield long_job
    assert [event.number for event in long_job.events() if event.number in (4, 5, 12, 22)] == []


def door(pool: PersonalPool, name: str) -> Sinful:
    """Where a daemon listens; a starter and a shadow host say so in their logs or ads."""
    if name == "SHADOW":
        text = Path(pool.log_folder, "ShadowLog").read_text()
        return Sinful.parse(re.findall(r"A shadow host begins at (<[^>]*>)", text)[-1])
    if name == "STARTER":
        found: list[str] = []

        def known() -> bool:
            said = run_tool(pool, "condor_status", "-af", "StarterIpAddr")[1]
            found[:] = re.findall(r"<[^>]*>", said)
            return bool(found)

        wait_until(known, 20)
        return Sinful.parse(found[0])
    path = config_of(pool).get(f"{name}_ADDRESS_FILE")
    assert path is not None
    return Sinful.parse(Path(path).read_text().split("\n")[0])


@contextmanager
def jobs_meanwhile(pool: PersonalPool, work: Path, count: int = 4) -> Iterator[None]:
    """Jobs that are submitted at the beginning have ended well at the end."""
    text = f"executable = /bin/sleep\narguments = 0.2\nrequest_disk = 1MB\nqueue {count}\n"
    jobs = submit(pool, work / "meanwhile", text)
    yield
    jobs.wait_for(5, 60)


@pytest.mark.parametrize("name", DOORS)
def test_no_door_opens_to_noise_and_each_refusal_is_a_line(
    pool: PersonalPool, running: Jobs, work: Path, name: str
) -> None:
    address = door(pool, name)
    ports = set()
    with jobs_meanwhile(pool, work):
        for what, data in SPOILED.items():
            with dial(address) as sock:
                ports.add(sock.getsockname()[1])
                send_all(sock, data)
                if what in {"zeros", "noise", "more noise"}:
                    sock.shutdown(socket.SHUT_WR)
                assert is_cut(sock), f"{name} keeps a connection that sent {what}"
    if name in LOGS:
        lines = Path(pool.log_folder, LOGS[name]).read_text(errors="replace").splitlines()
        about = [line for line in lines if re.search(r"from 127\.0\.0\.1:\d+", line)]
        told = [re.search(r"from 127\.0\.0\.1:(\d+)", line) for line in about]
        ours = [int(one[1]) for one in told if one and int(one[1]) in ports]
        assert len(ours) == len(set(ours)), "one line for each connection"
        assert len(ours) > len(SPOILED) / 2


@pytest.mark.parametrize("name", DOORS)
def test_half_open_floods_hold_nobody_up(
    pool: PersonalPool, running: Jobs, work: Path, name: str
) -> None:
    address = door(pool, name)
    beginning = packet(words(AUTHENTICATE, 3))
    with ExitStack() as held, jobs_meanwhile(pool, work):
        for number in range(300):
            sock = held.enter_context(dial(address))
            send_all(sock, beginning[: number % len(beginning)])
        code, said, complaint = run_tool(pool, "condor_status", "-af", "Name")
        assert (code, bool(said), complaint) == (0, True, "")


@pytest.mark.parametrize("name", DOORS)
def test_guessed_sessions_and_forged_claims_are_refused(
    pool: PersonalPool, running: Jobs, name: str
) -> None:
    address = door(pool, name)
    host = config_of(pool).get("FULL_HOSTNAME")
    pid = daemon_pids(pool, "condor_schedd")[0]
    connector = Connector(config_of(pool))
    for guess in (
        f"{host}:{pid}:{int(time.time())}:1",
        "family:" + "0" * 48,
        f"{address}#{int(time.time())}#1",
        "",
        "x" * 10_000,
    ):
        claim = mint_claim_id(guess, 1, 1, bytes(32))
        for command in (Command.DC_NOP_DAEMON, Command.DC_OFF_FAST):
            with pytest.raises(WireError):
                connector.connect(address, command, session=claim).finish_bare()


def test_a_session_under_a_wrong_key_says_nothing_that_is_heard(pool: PersonalPool) -> None:
    address = door(pool, "MASTER")
    honest = Connector(config_of(pool))
    stream = honest.connect(address, Command.DC_NOP_READ)
    session = stream.session
    stream.close()
    assert session is not None
    session.key = bytes(32)
    forger = Connector(config_of(pool))
    forger._sessions.add(session, address=str(address))
    with forger.connect(address, Command.CONFIG_VAL) as stream:
        assert stream.session is not session or is_deaf(stream)


def is_deaf(stream: object) -> bool:
    from kettle.client.stream import BlockingStream
    from kettle.wire.dialog import Words

    assert isinstance(stream, BlockingStream)
    try:
        stream.send(Words("LOG"))
        stream.receive()
    except WireError:
        return True
    return False


def test_packets_by_udp_that_are_no_messages_are_dropped(pool: PersonalPool, work: Path) -> None:
    address = door(pool, "COLLECTOR")
    assert not address.no_udp
    magic = b"MaGic6.0"
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock,
        jobs_meanwhile(pool, work),
    ):
        for number in range(400):
            for data in (
                *(one[:60_000] for one in SPOILED.values()),
                magic + bytes([0, 0, 1, 3, 232]) + number.to_bytes(12, "big") + bytes(1000),
                words(int(Command.DC_OFF_FAST)),
                words(int(Command.INVALIDATE_MASTER_ADS)) + words(0) + b"\0\0",
                b"CRAP\0\2\0\0\0\x05abcde" + bytes(50),
            )[number % 8 :: 8]:
                sock.sendto(data, (address.host, address.port))
    assert run_tool(pool, "condor_status", "-master", "-af", "Name")[1]


def test_the_pool_works_while_hundreds_of_strangers_come_and_go(
    pool: PersonalPool, running: Jobs, work: Path
) -> None:
    doors = [door(pool, name) for name in DOORS]
    stop = threading.Event()
    came = [0]

    def come_and_go() -> None:
        noise = list(SPOILED.values())
        while not stop.is_set():
            address = doors[came[0] % len(doors)]
            try:
                with dial(address) as sock:
                    send_all(sock, noise[came[0] % len(noise)][:4096])
            except OSError:
                pass
            came[0] += 1
            # Hundreds a second; as fast as it can a thread would only measure the machine.
            stop.wait(0.005)

    thread = threading.Thread(target=come_and_go)
    thread.start()
    try:
        with jobs_meanwhile(pool, work, 20):
            wait_until(lambda: came[0] > 300, 60)
    finally:
        stop.set()
        thread.join()


def test_the_shared_port_hands_web_requests_to_whom_they_are_for(tmp_path: Path) -> None:
    text = SHARED.format(daemons="MASTER COLLECTOR") + "SHARED_PORT_HTTP_FORWARDING_ID = web\n"
    with personal_pool(tmp_path / "pool", text) as pool:
        config = config_of(pool)
        public = read_public_address(config, Files())
        assert public is not None
        folder = endpoint_folder(config)
        with socket.socket(socket.AF_UNIX) as door, short_name(f"{folder}/web") as name:
            door.bind(name)
            door.listen()
            door.settimeout(100)
            with socket.create_connection((public.host, public.port), timeout=100) as client:
                client.sendall(b"GET /page HTTP/1.1\r\n\r\n")
                handed, _ = door.accept()
                with handed:
                    fds: list[int] = []
                    while not fds:
                        data, fds, _, _ = socket.recv_fds(handed, 4096, 1)
                        assert data
                with socket.socket(fileno=fds[0]) as server:
                    server.settimeout(100)
                    assert server.recv(100) == b"GET /page HTTP/1.1\r\n\r\n"
                    server.sendall(b"HTTP/1.1 200 OK\r\n\r\nhere")
                assert client.recv(100).endswith(b"here")


def test_the_shared_port_hands_on_nothing_that_names_nobody(tmp_path: Path, work: Path) -> None:
    settings = SHARED.format(daemons=" ".join(DAEMONS)) + "NUM_CPUS = 2\n"
    with personal_pool(tmp_path / "pool", settings) as pool:
        said = run_tool(pool, "condor_status", "-schedd", "-af", "MyAddress")[1]
        address = Sinful.parse(said.split()[0])
        assert address.shared_port_id
        with ExitStack() as held, jobs_meanwhile(pool, work):
            for number in range(200):
                send_all(held.enter_context(dial(address)), packet(words(75, 3))[: number % 20])
            for what, data in SPOILED.items():
                with dial(address) as sock:
                    send_all(sock, data)
                    sock.shutdown(socket.SHUT_WR)
                    assert is_cut(sock), f"the shared port keeps what sent {what}"
            for name in ("nobody", "../collector", "/etc/passwd", "", "x" * 5000, ".."):
                body = words(75) + name.encode() + b"\0TOOL\0" + words(-1, 0)
                with dial(address) as sock:
                    send_all(sock, packet(body) + packet(words(int(Command.DC_NOP))))
                    assert is_cut(sock), name
        for path in Path(pool.log_folder).glob("*Log*"):
            assert "Traceback" not in path.read_text(errors="replace"), path.name
