"""The client room over real local sockets, against a scripted daemon on a thread."""

from __future__ import annotations

import random
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kettle.attributes.codes import JobAction
from kettle.classad import ClassAd
from kettle.client import accounting, daemon, jobs, running_job
from kettle.client.advertise import send_ads
from kettle.client.connector import Connector
from kettle.client.daemon import ping
from kettle.client.pool import SCHEDD, Pool, make_query, query_ads
from kettle.client.queue import PROCS_AHEAD, Queue
from kettle.client.stream import BlockingStream
from kettle.config import Config
from kettle.errors import (
    AuthorizationDenied,
    ConnectionLost,
    KettleError,
    RefusedError,
    RemoteProtocolError,
)
from kettle.levels import Level
from kettle.runtime.credentials import SystemServerCredentials
from kettle.wire.commands import Command
from kettle.wire.messages import qmgmt
from kettle.wire.messages.accounting import AccountingReply
from kettle.wire.messages.collector import Query, QueryReply
from kettle.wire.messages.daemoncore import ConfigValue, ConfigValueReply, FetchLog
from kettle.wire.messages.queue_queries import ActOnJobs, QueryJobAds, StarterPeekReply
from kettle.wire.messages.rpc import Call
from kettle.wire.security.authorization import Authorization
from kettle.wire.security.claim_id import mint_session_id
from kettle.wire.security.negotiation import Policy
from kettle.wire.security.server_setup import Accepted, Registered, ServerSetup
from kettle.wire.security.server_side import server_handshake
from kettle.wire.security.session import SessionCache
from kettle.wire.sinful import Sinful

Handler = Callable[[BlockingStream, Accepted], None]
SECURE = "SEC_CLIENT_AUTHENTICATION=REQUIRED\nSEC_CLIENT_AUTHENTICATION_METHODS=FS\nUID_DOMAIN=x\n"
BARE = "SEC_CLIENT_NEGOTIATION=NEVER\n"


class ScriptedDaemon:
    """A daemon whose commands are answered by functions."""

    def __init__(self, handlers: dict[Command, Handler], folder: Path) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = Sinful.parse(f"<127.0.0.1:{self.listener.getsockname()[1]}>")
        self.handlers = handlers
        rules = {"ALLOW_DEFAULT": "*", "ALLOW_CONFIG": "nobody@x"}
        self.setup = ServerSetup(
            policies=dict.fromkeys(Level, Policy(methods=("FS",))),
            registered={
                int(one): Registered(one.levels(), one.force_authentication) for one in Command
            },
            authorization=Authorization.from_settings(rules.get, "SCHEDD"),
            sessions=SessionCache(),
            credentials=SystemServerCredentials(Config.from_text("")),
            addresses=(self.address,),
            random_bytes=random.SystemRandom().randbytes,
            session_name="here",
            uid_domain="x",
            fs_directory=str(folder),
        )
        self.accepted: list[Accepted] = []

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with BlockingStream(connection, remote_name="tool") as stream:
                try:
                    dialog = server_handshake(self.setup, "127.0.0.1", time.time())
                    accepted = stream.run(dialog)
                    self.accepted.append(accepted)
                    if not accepted.finished:
                        self.handlers[Command(accepted.command)](stream, accepted)
                except KettleError:
                    continue


@contextmanager
def scripted(tmp_path: Path, handlers: dict[Command, Handler]) -> Iterator[ScriptedDaemon]:
    server = ScriptedDaemon(handlers, tmp_path)
    thread = threading.Thread(target=server.serve)
    thread.start()
    try:
        yield server
    finally:
        server.listener.shutdown(socket.SHUT_RDWR)
        server.listener.close()
        thread.join()


def connector(text: str = SECURE) -> Connector:
    return Connector(Config.from_text(text, subsystem="TOOL"))


def answer_query(stream: BlockingStream, accepted: Accepted) -> None:
    Query.read(accepted.message or stream.receive())
    stream.send(QueryReply([ClassAd({"Name": "one"}), ClassAd({"Name": "two"})]))


@pytest.mark.parametrize("text", [SECURE, BARE], ids=["secure", "bare"])
def test_a_query_is_answered_with_and_without_negotiation(tmp_path: Path, text: str) -> None:
    with scripted(tmp_path, {Command.QUERY_STARTD_ADS: answer_query}) as server:
        ads = query_ads(
            connector(text), server.address, Command.QUERY_STARTD_ADS, make_query("Machine")
        )
    assert [ad.string("Name") for ad in ads] == ["one", "two"]
    (accepted,) = server.accepted
    assert (accepted.session is not None) == (text == SECURE)


def test_a_session_is_used_again_and_made_anew_when_forgotten(tmp_path: Path) -> None:
    with scripted(tmp_path, {Command.QUERY_STARTD_ADS: answer_query}) as server:
        client = connector()
        for forget in (False, False, True):
            if forget:
                server.setup.sessions.forget(server.accepted[0].peer.session_id)
            query_ads(client, server.address, Command.QUERY_STARTD_ADS, make_query("Machine"))
    ids = [one.peer.session_id for one in server.accepted]
    assert ids[0] == ids[1] != ids[2]
    assert server.setup.sessions_made == 2


@pytest.mark.parametrize("found", ["known", "forgotten", "no session"])
def test_a_job_beside_the_schedd_is_known_there_by_the_session_in_its_environment(
    tmp_path: Path, found: str
) -> None:
    info = f'[CryptoMethods="AES";ValidCommands="{int(Command.QUERY_JOB_ADS)}";]'
    secret = mint_session_id("scheduler-universe-7.0", b"k" * 32, info)
    with scripted(tmp_path, {Command.QUERY_JOB_ADS: answer_query}) as server:
        if found == "known":
            server.setup.sessions.add(secret.session("job@x"))
        (tmp_path / "address").write_text(f"{server.address}\n")
        told = {"CONDOR_SECURITY_SESSION": "nonsense" if found == "no session" else secret.text}
        text = f"{SECURE}SCHEDD_ADDRESS_FILE = {tmp_path}/address\n"
        client = Connector(Config.from_text(text, subsystem="TOOL", environment=told))
        schedd = Pool(client).locate(SCHEDD).address
        query_ads(client, schedd, Command.QUERY_JOB_ADS, make_query("Job"))
        # What the session is not good for is negotiated, whoever runs us.
        assert daemon.ping(client, schedd, Command.DC_NOP_WRITE).method == "FS"
    user = server.accepted[-2].peer.user
    assert (user == "job@x") == (found == "known")


def test_a_denied_command_says_who_we_are(tmp_path: Path) -> None:
    with scripted(tmp_path, {}) as server, pytest.raises(AuthorizationDenied, match="@x"):
        daemon.tell(connector(), server.address, Command.DC_NOP_CONFIG)


def test_a_daemon_that_closes_is_a_lost_connection(tmp_path: Path) -> None:
    def close(stream: BlockingStream, _: Accepted) -> None:
        stream.receive()

    with scripted(tmp_path, {Command.QUERY_STARTD_ADS: close}) as server:
        with pytest.raises(ConnectionLost, match="closed the connection"):
            query_ads(connector(), server.address, Command.QUERY_STARTD_ADS, ClassAd())
        address = server.address
    with pytest.raises(ConnectionLost, match="cannot connect"):
        connector().connect(address, Command.DC_NOP)


@pytest.mark.parametrize("text", [SECURE, BARE], ids=["encrypted", "clear"])
@pytest.mark.parametrize("size", [0, 5, 700_000])
def test_a_log_is_fetched_whole(tmp_path: Path, text: str, size: int) -> None:
    content = random.Random(size).randbytes(size)

    def send_log(stream: BlockingStream, accepted: Accepted) -> None:
        FetchLog.read(accepted.message or stream.receive())
        writer = stream.writer().integer(0).integer(size)
        stream.send(writer.integer(262144) if stream.encrypted else writer)
        if not size:
            stream.send(stream.writer().integer(666))
        elif stream.encrypted:
            for start in range(0, size, 262144):
                stream.send(stream.writer().raw(content[start : start + 262144]))
        else:
            stream.send_raw(content)
            stream.flush()

    with scripted(tmp_path, {Command.DC_FETCH_LOG: send_log}) as server:
        assert b"".join(daemon.fetch_log(connector(text), server.address, "SCHEDD")) == content


def test_a_configuration_name_has_a_value_or_none(tmp_path: Path) -> None:
    def answer(stream: BlockingStream, _: Accepted) -> None:
        name = ConfigValue.read(stream.receive()).name
        stream.send(ConfigValueReply("7" if name == "KNOWN" else "Not defined"))

    with scripted(tmp_path, {Command.CONFIG_VAL: answer}) as server:
        assert daemon.read_config_value(connector(), server.address, "KNOWN") == "7"
        assert daemon.read_config_value(connector(), server.address, "OTHER") is None


def test_a_ping_is_answered_or_refused(tmp_path: Path) -> None:
    with scripted(tmp_path, {}) as server:
        granted = daemon.ping(connector(), server.address, Command.DC_NOP_WRITE)
        refused = daemon.ping(connector(), server.address, Command.DC_NOP_CONFIG)
    assert (granted.allowed, granted.method, granted.encrypted) == (True, "FS", True)
    assert not refused.allowed


class Schedd:
    """Just enough queue management to submit to."""

    def __init__(self, refuse_from: int = 10**9) -> None:
        self.refuse_from = refuse_from
        self.procs = 0
        self.attributes: dict[tuple[int, str], str] = {}
        self.committed = False

    def serve(self, stream: BlockingStream, _: Accepted) -> None:
        while True:
            call = qmgmt.read_request(stream.receive())
            if isinstance(call, qmgmt.CloseSocket):
                return
            self.answer(stream, call)

    def answer(self, stream: BlockingStream, call: Call) -> None:
        match call:
            case qmgmt.NewCluster():
                stream.send(call.answer(9))
            case qmgmt.NewProc() if self.procs >= self.refuse_from:
                details = ClassAd({"ErrorReason": "too many jobs"})
                stream.send(call.answer(-2, errno=1, details=details))
            case qmgmt.NewProc():
                self.procs += 1
                stream.send(call.answer(self.procs - 1))
            case qmgmt.SetAttribute2():
                self.attributes[call.proc, call.name] = call.value
                assert call.flags == qmgmt.SetAttributeFlags.NO_ACK
            case _:
                self.committed = True
                stream.send(call.answer(details=ClassAd({"WarningReason": "careful"})))


def procs_up_to(count: int) -> Callable[[int, int], ClassAd | None]:
    return lambda _, number: ClassAd({"Number": number}) if number < count else None


def test_a_submission_sets_the_numbers_and_checks_every_answer(tmp_path: Path) -> None:
    schedd = Schedd()
    count = PROCS_AHEAD * 2 + 7
    with (
        scripted(tmp_path, {Command.QMGMT_WRITE_CMD: schedd.serve}) as server,
        Queue(connector(), server.address) as queue,
    ):
        made = queue.submit(lambda _: ClassAd({"Cmd": "/bin/true"}), procs_up_to(count))
        warning = queue.commit()
    assert made == (9, count)
    assert warning == "careful"
    assert schedd.committed
    assert schedd.attributes[-1, "ClusterId"] == "9"
    assert schedd.attributes[-1, "Cmd"] == '"/bin/true"'
    assert schedd.attributes[count - 1, "ProcId"] == str(count - 1)


def test_a_refused_proc_ends_the_submission_with_the_schedds_reason(tmp_path: Path) -> None:
    schedd = Schedd(refuse_from=3)
    with (
        scripted(tmp_path, {Command.QMGMT_WRITE_CMD: schedd.serve}) as server,
        pytest.raises(RefusedError, match="too many jobs"),
        Queue(connector(), server.address) as queue,
    ):
        queue.submit(lambda _: ClassAd(), procs_up_to(10))
    assert not schedd.committed


def test_jobs_come_one_by_one_and_the_summary_last(tmp_path: Path) -> None:
    def answer(stream: BlockingStream, _: Accepted) -> None:
        QueryJobAds.read(stream.receive())
        for number in range(3):
            stream.send(stream.writer().ad(ClassAd({"ProcId": number, "Owner": "a"})))
        stream.send(stream.writer().ad(ClassAd({"Owner": 0, "ErrorCode": 0, "Jobs": 3})))

    with scripted(tmp_path, {Command.QUERY_JOB_ADS: answer}) as server:
        found = jobs.query_jobs(connector(), server.address)
        assert [ad.integer("ProcId") for ad in found] == [0, 1, 2]
        assert found.summary.integer("Jobs") == 3


@pytest.mark.parametrize(
    ("more", "mine", "command"),
    [
        ("", "ann", Command.QUERY_JOB_ADS_WITH_AUTH),
        ("", "", Command.QUERY_JOB_ADS),
        ("SCHEDD.SEC_READ_AUTHENTICATION = NEVER\n", "ann", Command.QUERY_JOB_ADS),
        ("SEC_READ_AUTHENTICATION = NEVER\n", "ann", Command.QUERY_JOB_ADS),
        ("SEC_CLIENT_NEGOTIATION = OPTIONAL\n", "ann", Command.QUERY_JOB_ADS),
    ],
)
def test_who_asks_for_jobs_of_his_own_says_who_he_is(
    tmp_path: Path, more: str, mine: str, command: Command
) -> None:
    """A schedd shows everybody's jobs to its masters, if it knows that one of them asks."""
    asked = []

    def answer(stream: BlockingStream, accepted: Accepted) -> None:
        asked.append(accepted.command)
        QueryJobAds.read(stream.receive())
        stream.send(stream.writer().ad(ClassAd({"Owner": 0})))

    both = (Command.QUERY_JOB_ADS, Command.QUERY_JOB_ADS_WITH_AUTH)
    with scripted(tmp_path, dict.fromkeys(both, answer)) as server:
        assert not list(jobs.query_jobs(connector(SECURE + more), server.address, mine=mine))
    assert asked == [command]


def test_an_action_is_confirmed_before_it_counts(tmp_path: Path) -> None:
    def answer(stream: BlockingStream, _: Accepted) -> None:
        request = ActOnJobs.read(stream.receive()).request
        assert request.string("ActionIds") == "3.1"
        stream.send(stream.writer().ad(ClassAd({"ActionResult": 1, "job_3_1": 1})))
        assert stream.receive().integer() == 1
        stream.send(stream.writer().integer(1))

    with scripted(tmp_path, {Command.ACT_ON_JOBS: answer}) as server:
        acted = jobs.act_on_jobs(connector(), server.address, JobAction.HOLD, ids=["3.1"])
    assert acted.succeeded
    assert list(acted.results) == [(3, 1)]


def test_priorities_are_an_ad_without_types(tmp_path: Path) -> None:
    def answer(stream: BlockingStream, _: Accepted) -> None:
        stream.send(AccountingReply(ClassAd({"NumSubmittors": 0})))

    with scripted(tmp_path, {Command.GET_PRIORITY: answer}) as server:
        ad = accounting.read_priorities(connector(), server.address)
    assert ad.integer("NumSubmittors") == 0


def test_a_negotiator_of_ours_says_what_came_of_a_change(tmp_path: Path) -> None:
    verdicts = {Command.DELETE_USER: 0, Command.RESET_ALL_USAGE: 1}

    def answer(stream: BlockingStream, accepted: Accepted) -> None:
        code = verdicts[Command(accepted.command)]
        if code == 0:
            stream.receive()
        ad = ClassAd({"ErrorCode": code, "ErrorString": "no room"})
        stream.send(stream.writer().ad(ad))

    with scripted(tmp_path, dict.fromkeys(verdicts, answer)) as server:
        accounting.delete_user(connector(), server.address, "a@b")
        with pytest.raises(RefusedError, match="no room"):
            accounting.reset_usage(connector(), server.address)


def test_a_negotiator_that_is_not_ours_is_not_listened_to(tmp_path: Path) -> None:
    said: list[str] = []

    def close(stream: BlockingStream, _: Accepted) -> None:
        said.append(stream.receive().string())

    with scripted(tmp_path, {Command.DELETE_USER: close}) as server:
        server.setup.version = "$CondorVersion: 25.14.1 2026-10-16 BuildID: 837000 $"
        accounting.delete_user(connector(), server.address, "a@b")
    assert said == ["a@b"]


def test_a_file_longer_than_announced_is_refused(tmp_path: Path) -> None:
    def answer(stream: BlockingStream, _: Accepted) -> None:
        FetchLog.read(stream.receive())
        stream.send(stream.writer().integer(0).integer(3).integer(262144))
        stream.send(stream.writer().raw(b"12345"))

    with (
        scripted(tmp_path, {Command.DC_FETCH_LOG: answer}) as server,
        pytest.raises(RemoteProtocolError, match="longer"),
    ):
        list(daemon.fetch_log(connector(), server.address, "SCHEDD"))


def ask_what_is_new(tmp_path: Path, announcement: dict[str, object], *sizes: int) -> list[object]:
    """Look at a job whose starter announces and sends that; `most` is 10 bytes."""

    def answer(stream: BlockingStream, _: Accepted) -> None:
        stream.receive()
        stream.send(StarterPeekReply(ClassAd({"Result": True, **announcement})))
        for size in sizes:
            stream.send(stream.writer().integer(size).integer(262144))
            stream.send(stream.writer().raw(b"x" * size))
        stream.send(stream.writer().integer(len(sizes)))

    claim = mint_session_id("claim#" + running_job.SESSION_INFO, b"k" * 32)
    with scripted(tmp_path, {Command.STARTER_PEEK: answer}) as server:
        session = claim.session("owner@x")
        server.setup.sessions.add(session)
        starter = running_job.StarterAccess(server.address, claim, "slot1@x")
        return list(running_job.peek(connector(), starter, [running_job.Wanted(0)], 10))


def test_what_is_new_in_a_running_jobs_files_is_told(tmp_path: Path) -> None:
    announced = {"TransferFiles": [0, "a"], "TransferOffsets": [0, 0]}
    assert ask_what_is_new(tmp_path, announced, 4, 6) == [(0, b"x" * 4), ("a", b"x" * 6)]


@pytest.mark.parametrize(
    ("announcement", "sizes"),
    [
        ({}, ()),
        ({"TransferFiles": [0, 1], "TransferOffsets": [0]}, (1, 1)),
        ({"TransferFiles": [1.5], "TransferOffsets": [0]}, (1,)),
        ({"TransferFiles": [0], "TransferOffsets": ["0"]}, (1,)),
        ({"TransferFiles": [0], "TransferOffsets": [0]}, (11,)),
        ({"TransferFiles": [0, 1], "TransferOffsets": [0, 0]}, (6, 6)),
        ({"TransferFiles": [0, 1], "TransferOffsets": [0, 0]}, (1,)),
    ],
)
def test_a_starter_that_says_or_sends_nonsense_is_refused(
    tmp_path: Path, announcement: dict[str, object], sizes: tuple[int, ...]
) -> None:
    with pytest.raises(KettleError):
        ask_what_is_new(tmp_path, announcement, *sizes)


def test_a_schedd_that_does_not_say_where_the_starter_is_is_an_error(tmp_path: Path) -> None:
    def answer(stream: BlockingStream, _: Accepted) -> None:
        stream.receive()
        stream.send(StarterPeekReply(ClassAd({"Result": True, "ClaimId": 7})))

    with (
        scripted(tmp_path, {Command.GET_JOB_CONNECT_INFO: answer}) as server,
        pytest.raises(KettleError),
    ):
        running_job.find_starter(connector(), server.address, 1, 0)


def test_a_command_that_must_be_proven_is_also_without_negotiation(tmp_path: Path) -> None:
    """Neither side sends an ad then: the proof comes between the command and its arguments."""

    def answer(stream: BlockingStream, accepted: Accepted) -> None:
        assert accepted.message is None
        ActOnJobs.read(stream.receive())
        stream.send(stream.writer().ad(ClassAd({"ActionResult": 1, "job_3_1": 1})))
        assert stream.receive().integer() == 1
        stream.send(stream.writer().integer(1))

    methods = "SEC_CLIENT_AUTHENTICATION_METHODS=FS\nUID_DOMAIN=x\n"
    with scripted(tmp_path, {Command.ACT_ON_JOBS: answer}) as server:
        acted = jobs.act_on_jobs(
            connector(BARE + methods), server.address, JobAction.HOLD, ids=["3.1"]
        )
    assert acted.succeeded
    [accepted] = server.accepted
    assert (accepted.peer.method, accepted.session) == ("FS", None)
    assert accepted.peer.user.endswith("@x")


def test_ads_are_sent_after_the_bare_command_they_are_for(tmp_path: Path) -> None:
    took: list[str | None] = []

    def answer(stream: BlockingStream, accepted: Accepted) -> None:
        assert accepted.message is not None
        took.append(accepted.message.ad().string("Name"))
        stream.send(stream.writer().integer(1))
        again = stream.receive()
        assert again.integer() == Command.UPDATE_STARTD_AD_WITH_ACK
        took.append(again.ad().string("Name"))
        stream.send(stream.writer().integer(1))

    command = Command.UPDATE_STARTD_AD_WITH_ACK
    ads = [ClassAd({"Name": "one"}), ClassAd({"Name": "two"})]
    with scripted(tmp_path, {command: answer}) as server:
        sent = send_ads(connector(BARE), server.address, command, ads)
    assert (sent, took) == (2, ["one", "two"])


def test_what_is_allowed_is_negotiated_by_who_never_negotiates(tmp_path: Path) -> None:
    """A bare question what is allowed has no answer: it would wait for it in vain."""
    with scripted(tmp_path, {}) as server:
        answer = ping(connector(BARE), server.address, Command.DC_NOP_READ)
    assert answer.allowed
    assert answer.user == "unauthenticated@unmapped"
