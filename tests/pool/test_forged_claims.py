"""Claim ids that are nearly right, and jobs of somebody else: neither opens anything.

Whoever comes with a claim here is trusted as a daemon of the pool is: the claim alone keeps him
out.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.classad import ClassAd
from kettle.client.connector import Connector
from kettle.client.stream import BlockingStream
from kettle.config import Config, load_config
from kettle.errors import WireError
from kettle.pool.personal import PersonalPool
from kettle.runtime.storage.files import SystemSources
from kettle.testing.pool_fixture import personal_pool
from kettle.tools.programs import Streams, load_tool
from kettle.wire.commands import Command
from kettle.wire.messages import claims, qmgmt
from kettle.wire.messages.fields import Message
from kettle.wire.messages.rpc import Call, Reply
from kettle.wire.security.claim_id import ClaimId
from kettle.wire.sinful import Sinful
from pool_jobs import Jobs, daemon_pids, run_tool, submit, wait_until

pytestmark = pytest.mark.timeout(240)

SLEEP = "executable = /bin/sleep\narguments = 3000\ntransfer_executable = false\nqueue\n"
# What is answered where something is: codes and ads that refuse.
REFUSALS = ("0", "-1", "[ Start = false ]", 'Result = "Failure"')


def config_of(pool: PersonalPool, **changed: str) -> Config:
    environment = pool.environment() | {f"_CONDOR_{name}": text for name, text in changed.items()}
    return load_config(SystemSources(), environment, subsystem="TOOL")


def address_of(pool: PersonalPool, name: str) -> Sinful:
    path = config_of(pool).get(f"{name}_ADDRESS_FILE")
    assert path is not None
    return Sinful.parse(Path(path).read_text(encoding="utf-8").split("\n")[0])


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    settings = "NUM_CPUS = 4\nALLOW_WRITE = *\nCLAIM_WORKLIFE = 0\n"
    with personal_pool(tmp_path_factory.mktemp("forged"), settings) as pool:
        yield pool


def claim_of(pool: PersonalPool, jobs: Jobs) -> str:
    """Return the claim that a job runs with, as the queue's log has it."""
    found: list[str] = []

    def known() -> bool:
        text = (Path(pool.folder) / "spool" / "job_queue.log").read_text()
        found[:] = re.findall(rf'^103 0?{jobs.cluster}\.0 ClaimId "(.*)"$', text, re.MULTILINE)
        return bool(found)

    wait_until(known, 20)
    return found[-1].replace('\\"', '"')


def forge(claim: str, other: str, ended: str) -> dict[str, str]:
    """What somebody may make of a claim whose public part he knows, and of claims that he had."""
    public, _, secret = claim.rpartition("]")
    return {
        "its last letter": claim[:-1] + ("0" if claim[-1] != "0" else "1"),
        "no secret": f"{public}]",
        "its public name": ClaimId(claim).public,
        "its address": claim.partition("#")[0],
        "zeros": f"{public}]" + "0" * len(secret),
        "another claim's secret": f"{public}]{other.rpartition(']')[2]}",
        "capitals": claim.upper(),
        "a letter more": f"{claim}0",
        "nothing": "",
        "an ended claim": ended,
        "another startd": re.sub(r"^<[^>]*>", "<127.0.0.1:1>", claim),
        "the next number": re.sub(r"#(\d+)#\[", lambda found: f"#{int(found[1]) + 1}#[", claim),
        "a huge one": claim + "x" * 500_000,
        "odd bytes": f"{claim[:20]}\udcff\x01\x7f{claim[20:]}",
    }


def say_with(claim: str) -> dict[Command, Message]:
    """Whatever a startd is told that names a claim."""
    job = ClassAd({"Owner": "root", "User": "root@here", "Cmd": "/bin/sh", "JobUniverse": 5})
    locate = ClassAd({"Command": "CA_LOCATE_STARTER", "ClaimId": claim})
    locate["ScheddIpAddr"] = "<127.0.0.1:1>"
    return {
        Command.DEACTIVATE_CLAIM: claims.DeactivateClaim(claim),
        Command.DEACTIVATE_CLAIM_FORCIBLY: claims.DeactivateClaimForcibly(claim),
        Command.DEACTIVATE_CLAIM_JOB_DONE: claims.DeactivateClaimJobDone(claim),
        Command.DEACTIVATE_CLAIM_FINAL_XFER: claims.DeactivateClaimFinalTransfer(claim),
        Command.REACTIVATE_CLAIM_CHECK: claims.ReactivateClaimCheck(claim),
        Command.SUSPEND_CLAIM: claims.SuspendClaim(claim),
        Command.CONTINUE_CLAIM: claims.ContinueClaim(claim),
        Command.RELEASE_CLAIM: claims.ReleaseClaim(claim),
        Command.ALIVE: claims.Alive(claim),
        Command.REQUEST_CLAIM: claims.RequestClaim(claim, job, "<127.0.0.1:1>", 300, []),
        Command.ACTIVATE_CLAIM: claims.ActivateClaim(claim, 2, job),
        Command.CA_CMD: claims.ClaimCommand(locate),
        Command.CA_AUTH_CMD: claims.AuthenticatedClaimCommand(locate),
    }


def sessions(claim: str) -> list[ClaimId]:
    """Return the claim's session; none where it is too long to be one."""
    return [ClaimId(claim)] if len(claim) < 100_000 else []


def answer_to(stream: BlockingStream, message: Message) -> str:
    """Return what is answered to a message, empty where the connection ends instead."""
    stream.timeout = 25
    try:
        stream.send(message)
        answer = stream.receive()
        if message.command in (Command.ALIVE, Command.REQUEST_CLAIM, Command.ACTIVATE_CLAIM):
            return str(answer.integer())
        return str(answer.ad())
    except WireError:
        return ""


def test_a_claim_that_is_nearly_right_opens_nothing(pool: PersonalPool, work: Path) -> None:
    mine, other, gone = (submit(pool, work / name, SLEEP) for name in "abc")
    for each in (mine, other, gone):
        each.wait_for(1, 30)
    claim, another, ended = (claim_of(pool, each) for each in (mine, other, gone))
    assert run_tool(pool, "condor_rm", str(gone.cluster))[0] == 0
    gone.wait_for(9, 30)
    asked = ("condor_status", "-af", "Name", "State", "Activity", "JobId")
    # The collector hears of a job that runs a moment after its claim.
    wait_until(lambda: run_tool(pool, *asked)[1].count("Claimed Busy") == 2, 60)
    before, starters = run_tool(pool, *asked)[1], daemon_pids(pool, "condor_starter")
    startd, config = address_of(pool, "STARTD"), config_of(pool)
    for what, forged in forge(claim, another, ended).items():
        for command, message in say_with(forged).items():
            # As a daemon of the pool, and as whoever has the claim's session.
            for session in (None, *sessions(forged)):
                answer = ""
                with (
                    contextlib.suppress(WireError),
                    Connector(config).connect(startd, command, session=session) as stream,
                ):
                    answer = answer_to(stream, message)
                assert not answer or any(each in answer for each in REFUSALS), (what, command)
    # The session of a claim is for that claim, and for nothing that administrators do.
    for command in (Command.VACATE_ALL_FAST, Command.DRAIN_JOBS, Command.DC_OFF_FAST):
        with Connector(config).connect(startd, command, session=ClaimId(another)) as stream:
            stream.finish_bare()
            with pytest.raises(WireError):
                stream.receive(20)
    assert run_tool(pool, *asked)[1] == before
    assert daemon_pids(pool, "condor_starter") == starters
    for each in (mine, other):
        assert not {4, 5, 7, 9, 10, 12} & {event.number for event in each.events()}
        assert run_tool(pool, "condor_rm", str(each.cluster))[0] == 0


# ---- other users' jobs ------------------------------------------------------------------------


def calls_about(cluster: int) -> list[Call]:
    """Every call of queue management that changes something, about somebody else's job."""
    whole = f"ClusterId == {cluster}"
    return [
        qmgmt.NewProc(cluster),
        qmgmt.DestroyCluster(cluster),
        qmgmt.DestroyProc(cluster, 0),
        qmgmt.SetAttribute(cluster, 0, "7", "JobPrio"),
        qmgmt.SetAttribute(cluster, -1, "7", "JobPrio"),
        qmgmt.SetAttribute(cluster, 0, '"/bin/rm"', "Cmd"),
        qmgmt.SetAttribute(0, 0, "99999", "NextClusterNum"),
        qmgmt.SetAttribute2(cluster, 0, "7", "JobPrio", 0),
        qmgmt.SetAttribute2(cluster, 0, "7", "JobPrio", 0x80),
        qmgmt.SetTimerAttribute(cluster, 0, "DeferralTime", 100),
        qmgmt.DeleteAttribute(cluster, 0, "JobPrio"),
        qmgmt.DeleteAttribute(cluster, -1, "Cmd"),
        qmgmt.SetAttributeByConstraint(whole, "7", "JobPrio"),
        qmgmt.SetAttributeByConstraint("true", "7", "JobPrio"),
        qmgmt.SetAttributeByConstraint2("true", "7", "JobPrio", 0),
        qmgmt.SetEffectiveOwner("root"),
        qmgmt.SendSpoolFile("../../../etc/passwd"),
        qmgmt.SendSpoolFileIfNeeded(ClassAd({"Owner": "root"})),
        qmgmt.SetJobFactory(cluster, 10, "/etc/passwd", "executable = /bin/sh\nqueue 5\n"),
        qmgmt.SendMaterializeData(cluster, 0, b"x\n" * 100),
        qmgmt.SendJobQueueAd(cluster, -100, 0, ClassAd({"JobSetName": "theirs"})),
    ]


def ask(stream: BlockingStream, call: Call) -> Reply:
    stream.send(call)
    return call.read_answer(stream.receive())


def stranger(pool: PersonalPool, folder: Path) -> dict[str, str]:
    """Return the settings of somebody who may submit, and is nobody here."""
    made = run_tool(pool, "condor_token_create", "-identity", "stranger@elsewhere")
    assert made[0] == 0, made
    folder.mkdir(mode=0o700)
    (folder / "one").write_text(made[1], encoding="utf-8")
    (folder / "one").chmod(0o600)
    return {"SEC_CLIENT_AUTHENTICATION_METHODS": "IDTOKENS", "SEC_TOKEN_DIRECTORY": str(folder)}


def run_as_stranger(
    pool: PersonalPool, settings: dict[str, str], name: str, *words: str
) -> tuple[int, str, str]:
    said, complaint = io.StringIO(), io.StringIO()
    changed = {f"_CONDOR_{knob}": text for knob, text in settings.items()}
    streams = Streams(io.StringIO(), said, complaint)
    code: int = load_tool(name)([name, *words], pool.environment() | changed, streams)
    return code, said.getvalue(), complaint.getvalue()


def test_no_call_changes_the_job_of_somebody_else(
    pool: PersonalPool, work: Path, tmp_path: Path
) -> None:
    mine = submit(pool, work / "mine", f"hold = true\n{SLEEP}")
    shown = ("condor_q", "-l", str(mine.cluster))

    def lines() -> list[str]:
        text = run_tool(pool, *shown)[1]
        return [each for each in text.splitlines() if not each.startswith("ServerTime")]

    before = lines()
    settings = stranger(pool, tmp_path / "tokens")
    config = config_of(pool, **settings)
    schedd = address_of(pool, "SCHEDD")
    for call in calls_about(mine.cluster):
        with (
            contextlib.suppress(WireError),
            Connector(config).connect(
                schedd, Command.QMGMT_WRITE_CMD, force_authentication=True
            ) as stream,
        ):
            assert stream.user == "stranger@elsewhere"
            assert ask(stream, call).value < 0, call
            ask(stream, qmgmt.CommitTransaction(0))
        assert lines() == before, call
    # And with the tools, for whom the stranger is whoever has this token.
    number = str(mine.cluster)
    for words in (
        ("condor_rm", number),
        ("condor_rm", "-forcex", number),
        ("condor_release", number),
        ("condor_hold", number),
        ("condor_suspend", number),
        ("condor_continue", number),
        ("condor_vacate_job", number),
        ("condor_prio", "-p", "7", number),
        ("condor_qedit", number, "JobPrio", "7"),
        ("condor_transfer_data", number),
        ("condor_tail", f"{number}.0"),
        ("condor_rm", "-all"),
        ("condor_release", "-constraint", "true"),
        ("condor_off", "-schedd"),
        ("condor_drain", "-graceful", config.get("FULL_HOSTNAME") or ""),
        ("condor_userprio", "-setfactor", "root@here", "1000"),
    ):
        answer = run_as_stranger(pool, settings, *words)
        assert lines() == before, (words, answer)
    assert run_tool(pool, "condor_rm", number)[0] == 0
