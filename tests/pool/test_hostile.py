"""What strangers and spoilers may send: it costs them the connection, and the pool nothing.

Every test speaks raw bytes, or messages no client of ours would compose, to the daemons of one
real pool. At the end of each the same processes are there, no larger, and a job still runs.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from kettle.classad import ClassAd, parse_expression
from kettle.client.connector import Connector
from kettle.client.stream import BlockingStream
from kettle.config import Config, load_config
from kettle.errors import WireError
from kettle.pool.personal import PersonalPool
from kettle.runtime.storage.files import SystemSources
from kettle.testing.pool_fixture import personal_pool
from kettle.wire.commands import Command
from kettle.wire.messages import qmgmt
from kettle.wire.messages.rpc import Call, Reply
from kettle.wire.security.claim_id import ClaimId
from kettle.wire.sinful import Sinful
from pool_jobs import daemon_pid, daemon_pids, run_tool, submit
from strangers import AUTHENTICATE, PATIENCE, SPOILED, dial, is_cut, packet, send_all, words

DAEMONS = ("MASTER", "COLLECTOR", "NEGOTIATOR", "SCHEDD", "STARTD")
# A daemon of a small pool has some 60 MB; what a message may cost it for a moment is bounded too.
MOST_KIB = 400 * 1024
# Costs time only where a daemon keeps a connection that it should end.
# One question may cost a daemon so many times what it costs this process to read an expression of
# twenty thousand comparisons: a processor that is shared is slower for both.
MOST_YARDSTICKS = 40
YARD = " || ".join(["ClusterId == -1"] * 20_000)


def config_of(pool: PersonalPool, **changed: str) -> Config:
    environment = pool.environment() | {f"_CONDOR_{name}": text for name, text in changed.items()}
    return load_config(SystemSources(), environment, subsystem="TOOL")


def address_of(pool: PersonalPool, name: str) -> Sinful:
    path = config_of(pool).get(f"{name}_ADDRESS_FILE")
    assert path is not None
    return Sinful.parse(Path(path).read_text(encoding="utf-8").split("\n")[0])


def pids(pool: PersonalPool) -> dict[str, list[int]]:
    found = {name: daemon_pids(pool, f"condor_{name.lower()}") for name in DAEMONS}
    assert all(found.values()), found
    return found


def largest_kib(pool: PersonalPool) -> int:
    """Return the most memory any daemon has held at any time."""
    most = 0
    for pid in itertools.chain(*pids(pool).values()):
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
        most = max(most, *(int(line.split()[1]) for line in lines if line.startswith("VmHWM")))
    return most


def most_cpu_seconds() -> float:
    """Return how much of a processor one question may cost at the moment."""
    before = time.process_time()
    parse_expression(YARD)
    return MOST_YARDSTICKS * (time.process_time() - before)


def cpu_seconds(pool: PersonalPool, name: str) -> float:
    """Return how much of a processor a daemon has used."""
    used = psutil.Process(daemon_pid(pool, f"condor_{name.lower()}")).cpu_times()
    return used.user + used.system


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    with personal_pool(tmp_path_factory.mktemp("hostile"), "NUM_CPUS = 2\n") as pool:
        yield pool


@pytest.fixture
def pool(shared: PersonalPool, work: Path) -> Iterator[PersonalPool]:
    """The pool; after the test its daemons are the same ones, not swollen, and at work."""
    before = pids(shared)
    yield shared
    assert pids(shared) == before
    assert largest_kib(shared) < MOST_KIB
    submit(shared, work / "after", "executable = /bin/true\nqueue\n").wait_for(5, 20)


@pytest.mark.parametrize("name", DAEMONS)
def test_bytes_that_are_no_message_end_their_connection(pool: PersonalPool, name: str) -> None:
    address = address_of(pool, name)
    for what, data in SPOILED.items():
        with dial(address) as sock:
            send_all(sock, data)
            if what in {"zeros", "noise", "more noise"}:
                sock.shutdown(socket.SHUT_WR)
            assert is_cut(sock), f"{name} keeps a connection that sent {what}"


def test_connections_that_say_nothing_or_half_a_word_hold_nobody_up(pool: PersonalPool) -> None:
    held = []
    for name in DAEMONS:
        for number in range(60):
            sock = dial(address_of(pool, name))
            send_all(sock, packet(words(AUTHENTICATE, 3))[: number % 20])
            held.append(sock)
    code, said, complaint = run_tool(pool, "condor_status", "-af", "Name")
    assert (code, bool(said), complaint) == (0, True, "")
    assert run_tool(pool, "condor_q")[0] == 0
    for sock in held:
        sock.close()


class Recorder(socket.socket):
    """A socket that keeps what is sent through it, one entry for each call."""

    sent: list[bytes]

    def sendall(self, data: bytes, flags: int = 0) -> None:  # type: ignore[override]
        self.sent.append(bytes(data))
        super().sendall(data, flags)


def record(pool: PersonalPool, monkeypatch: pytest.MonkeyPatch, command: Command) -> list[bytes]:
    """Return what an honest client sends to the schedd, piece by piece, as it negotiates."""
    recorder = Recorder()
    recorder.sent = []

    def open_recorded(address: Sinful, seconds: float) -> BlockingStream:
        recorder.settimeout(seconds)
        recorder.connect((address.host, address.port))
        return BlockingStream(recorder, timeout=seconds)

    with monkeypatch.context() as patch:
        patch.setattr("kettle.client.connector.open_stream", open_recorded)
        connector = Connector(config_of(pool))
        with connector.connect(
            address_of(pool, "SCHEDD"), command, force_authentication=True
        ) as stream:
            stream.send(qmgmt.NewCluster())
            assert stream.receive().integer() > 0
    return recorder.sent


def test_a_handshake_may_break_off_anywhere_and_cannot_be_replayed(
    pool: PersonalPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = record(pool, monkeypatch, Command.QMGMT_WRITE_CMD)
    assert len(sent) >= 3
    address = address_of(pool, "SCHEDD")
    for count, piece in enumerate(sent):
        for part in (b"", piece[:3], piece[: len(piece) // 2], piece[:-1], piece[:-1] + b"\0"):
            with dial(address) as sock:
                send_all(sock, b"".join(sent[:count]) + part)
                sock.shutdown(socket.SHUT_WR)
                assert is_cut(sock), f"message {count} of a handshake, {len(part)} bytes of it"
    with dial(address) as sock:
        send_all(sock, b"".join(sent))
        assert is_cut(sock), "the bytes of another's handshake are taken for one"


def connect(pool: PersonalPool, name: str, command: int, **options: bool) -> BlockingStream:
    return Connector(config_of(pool)).connect(address_of(pool, name), command, **options)


def ends(stream: BlockingStream) -> bool:
    """Whether the daemon hangs up rather than answers."""
    try:
        stream.timeout = PATIENCE
        while True:
            stream.receive()
    except WireError as error:
        return "in time" not in str(error)


@pytest.mark.parametrize("name", DAEMONS)
def test_unknown_commands_are_refused_bare_and_negotiated(pool: PersonalPool, name: str) -> None:
    for number in (999, 424_242, 60_999):
        with dial(address_of(pool, name)) as sock:
            send_all(sock, packet(words(number)))
            assert is_cut(sock)
        with pytest.raises(WireError, match="closed"):
            connect(pool, name, number)


def test_bytes_that_are_left_over_in_a_message_cost_the_connection(pool: PersonalPool) -> None:
    with connect(pool, "SCHEDD", Command.QMGMT_WRITE_CMD, force_authentication=True) as stream:
        stream.send(stream.writer().integer(10002).raw(b"and more"))
        assert ends(stream)


def write(pool: PersonalPool) -> BlockingStream:
    return connect(pool, "SCHEDD", Command.QMGMT_WRITE_CMD, force_authentication=True)


def ask(stream: BlockingStream, call: Call) -> Reply:
    stream.send(call)
    return call.read_answer(stream.receive())


def test_queue_calls_out_of_order_or_measure_are_refused_one_by_one(pool: PersonalPool) -> None:
    with write(pool) as stream:
        refused: list[Call] = [
            qmgmt.SetAttribute(1, 0, "1", "BeforeAnyCluster"),
            qmgmt.SetAttribute(-1, -1, "1", "Nowhere"),
            qmgmt.SetAttribute(0, 0, "1", "NextClusterNum"),
            qmgmt.SetAttribute(2**62, 2**62, "1", "FarOut"),
            qmgmt.NewProc(7_000_000),
            qmgmt.DestroyCluster(7_000_000),
            qmgmt.DestroyProc(7_000_000, -5),
            qmgmt.DeleteAttribute(7_000_000, 0, "A"),
            qmgmt.GetAttributeInt(7_000_000, 0, "A"),
            qmgmt.SetAttributeByConstraint("1 +", "1", "A"),
        ]
        for call in refused:
            assert ask(stream, call).value < 0, call
        cluster = ask(stream, qmgmt.NewCluster()).value
        assert ask(stream, qmgmt.NewProc(cluster)).value == 0
        spoiled = {
            "Two\nLines": "1",
            "": "1",
            "A B": "1",
            "a" * 5000: "1",
            "NewlineInValue": "1\n103 0.0 Owner root",
            "TooLong": '"' + "x" * 2_000_000 + '"',
            "Empty": "",
            "ClusterId": str(cluster + 1),
            "ProcId": "99",
        }
        for name, text in spoiled.items():
            assert ask(stream, qmgmt.SetAttribute(cluster, 0, text, name)).value < 0, name[:40]
    code, said, _ = run_tool(pool, "condor_q", "-all", "-af", "ClusterId")
    assert (code, str(cluster) in said.split()) == (0, False)


def test_what_makes_a_job_what_it_is_cannot_be_changed_later(
    pool: PersonalPool, work: Path
) -> None:
    jobs = submit(pool, work, "executable = /bin/true\nhold = true\nqueue\n")
    with write(pool) as stream:
        for name in ("ClusterId", "ProcId", "Owner", "MyType"):
            call = qmgmt.SetAttribute(jobs.cluster, 0, '"x"', name)
            assert ask(stream, call).value < 0, name
        deep = "(" * 400_000 + "1" + ")" * 400_000
        assert ask(stream, qmgmt.SetAttribute(jobs.cluster, 0, deep, "Deep")).value < 0
    assert run_tool(pool, "condor_rm", str(jobs.cluster))[0] == 0


def test_expressions_that_are_deep_or_slow_answer_or_are_refused(
    pool: PersonalPool, work: Path
) -> None:
    jobs = submit(pool, work, "executable = /bin/true\nhold = true\nqueue 20\n")
    constraints = {
        "brackets": "(" * 200_000 + "true" + ")" * 200_000,
        "a long or": YARD,
        "a long and": " && ".join(["ClusterId >= 0"] * 20_000),
        "negations": "!" * 300_000 + "true",
        "a long sum": "0" + "+1" * 20_000 + " > 5",
        "a pattern that backtracks": 'regexp("^(a+)+$", "' + "a" * 30 + 'b")',
        "a list of its own": "size({" + ",".join(["1"] * 100_000) + "}) > 1",
        "a word": "a" * 1_000_000,
    }
    for what, constraint in constraints.items():
        for name, command, kind in (
            ("SCHEDD", Command.QUERY_JOB_ADS, "Job"),
            ("COLLECTOR", Command.QUERY_ANY_ADS, "Any"),
        ):
            query = ClassAd({"MyType": "Query", "TargetType": kind, "Projection": "Name"})
            query.insert_text("Requirements", constraint)
            before = cpu_seconds(pool, name)
            with connect(pool, name, command) as stream, contextlib.suppress(WireError):
                stream.send(stream.writer().ad(query))
                stream.receive()
            spent = cpu_seconds(pool, name) - before
            assert spent < most_cpu_seconds(), f"{name} takes its time with {what}"
        before = cpu_seconds(pool, "SCHEDD")
        with contextlib.suppress(WireError), write(pool) as stream:
            stream.send(qmgmt.GetAllJobsByConstraint(constraint, "ClusterId"))
            stream.receive()
        spent = cpu_seconds(pool, "SCHEDD") - before
        assert spent < most_cpu_seconds(), f"the queue takes its time with {what}"
    assert run_tool(pool, "condor_rm", str(jobs.cluster))[0] == 0


def test_a_projection_of_ten_thousand_names_is_one_and_a_longer_one_is_dropped(
    pool: PersonalPool,
) -> None:
    for name, command in (
        ("SCHEDD", Command.QUERY_JOB_ADS),
        ("COLLECTOR", Command.QUERY_ANY_ADS),
    ):
        for count in (10_000, 100_000):
            names = " ".join(f"Attribute{number}" for number in range(count))
            query = ClassAd({"MyType": "Query", "TargetType": "Any", "Projection": names})
            query.insert_text("Requirements", "true")
            with connect(pool, name, command) as stream:
                stream.timeout = PATIENCE
                stream.send(stream.writer().ad(query))
                if count == 10_000:
                    stream.receive()
                elif name == "COLLECTOR":
                    assert ends(stream)


FORGED = '<127.0.0.1:1?noUDP>#1700000000#1#[Encryption="YES";CryptoMethods="AES";]' + "0" * 40


@pytest.mark.parametrize(
    "claim", [FORGED, FORGED.rpartition("#")[0], "#", "<", "", "a" * 60_000, FORGED[:30]]
)
def test_claims_that_nobody_gave_open_nothing(pool: PersonalPool, claim: str) -> None:
    address = address_of(pool, "STARTD")
    for command in (Command.REQUEST_CLAIM, Command.ACTIVATE_CLAIM, Command.RELEASE_CLAIM):
        connector = Connector(config_of(pool))
        with pytest.raises(WireError):
            connector.connect(address, command, session=ClaimId(claim))
    # The right session, as far as the startd's administrator has one, and a claim that is none.
    with connect(pool, "STARTD", Command.DEACTIVATE_CLAIM) as stream:
        stream.send(stream.writer().secret(claim))
        assert ends(stream)


def test_a_wrong_transfer_key_transfers_nothing(pool: PersonalPool, work: Path) -> None:
    jobs = submit(pool, work, "executable = /bin/sleep\narguments = 300\nqueue\n")
    jobs.wait_for(1, 20)
    lines = Path(pool.log_folder, "ShadowLog").read_text(encoding="utf-8")
    found = re.findall(r"A shadow host begins at (<[^>]*>)", lines)[-1]
    connector = Connector(config_of(pool))
    with contextlib.ExitStack() as stack:
        # The answer to a guess is slow, so all are made at once.
        streams = []
        for command in (Command.FILETRANS_UPLOAD, Command.FILETRANS_DOWNLOAD):
            for key in ("", "1#0123456789abcdef", "x" * 100_000):
                stream = stack.enter_context(connector.connect(found, command))
                stream.send(stream.writer().secret(key))
                streams.append(stream)
        for stream in streams:
            assert stream.receive().integer() == 0
            assert ends(stream)
    assert run_tool(pool, "condor_rm", str(jobs.cluster))[0] == 0
    jobs.wait_for(9, 20)


def test_another_user_may_not_touch_a_job(tmp_path: Path, work: Path) -> None:
    with personal_pool(tmp_path, "ALLOW_WRITE = *\n") as pool:
        jobs = submit(pool, work, "executable = /bin/true\nhold = true\nqueue\n")
        code, token, complaint = run_tool(
            pool, "condor_token_create", "-identity", "stranger@elsewhere"
        )
        assert code == 0, complaint
        tokens = tmp_path / "tokens"
        tokens.mkdir(mode=0o700)
        (tokens / "one").write_text(token, encoding="utf-8")
        (tokens / "one").chmod(0o600)
        config = config_of(
            pool,
            SEC_CLIENT_AUTHENTICATION_METHODS="IDTOKENS",
            SEC_TOKEN_DIRECTORY=str(tokens),
        )
        with Connector(config).connect(
            address_of(pool, "SCHEDD"), Command.QMGMT_WRITE_CMD, force_authentication=True
        ) as stream:
            assert stream.user == "stranger@elsewhere"
            for call in (
                qmgmt.SetAttribute(jobs.cluster, 0, "7", "JobPrio"),
                qmgmt.DeleteAttribute(jobs.cluster, 0, "JobPrio"),
                qmgmt.DestroyProc(jobs.cluster, 0),
            ):
                assert ask(stream, call).value < 0, call
