"""`condor_ssh_to_job`: a shell, or another ssh program, beside a running job.

The starter runs sshd on a connection of ours; this program keeps the connection, hands the other
end of a socket pair to ssh and carries bytes between the two. `run_session` is what interactive
`condor_submit` calls. Source: S001–S003.
"""

from __future__ import annotations

import base64
import os
import re
import selectors
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kettle.attributes.codes import JobStatus
from kettle.client.running_job import RETRY, Shell, find_starter, say_held, start_shell
from kettle.errors import ConnectionLost, NotFoundError, RefusedError, Unreached
from kettle.octets import to_bytes
from kettle.tools.options import BriefError, Option, UnknownOptionError, choose_option, run_tool
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach
from kettle.wire.sinful import Sinful

OPTIONS = (
    Option("help"),
    Option("version"),
    Option("debug", qualified=True),
    Option("name", 1, 1),
    Option("pool", 1, 1),
    Option("auto-retry"),
    Option("remove-on-interrupt"),
    Option("shells", 2, 1),
    Option("ssh", 2, 1),
    Option("keygen-options", 1, 1, ignored=True),
    Option("X", 0),
    Option("x", 0),
)
USAGE = """\
Usage: condor_ssh_to_job [OPTIONS] CLUSTER[.PROC] [COMMAND]

  -help, -version        say this, or the version, and end
  -name SCHEDD, -pool HOST
                         the schedd that has the job
  -auto-retry            wait for the job to run
  -remove-on-interrupt   remove the job on Ctrl-C
  -shells LIST           the shells to try, first to last
  -ssh COMMAND           run this instead of ssh (sftp, scp, …); %h stands for the host
  -X, -x                 with, without X11
  -keygen-options WORDS  taken and without effect: ssh-keygen is not used
"""
RETRY_SECONDS = 1.0
SAID_AFTER_SECONDS = 5.0
# Run by ssh as its proxy command: asks for a descriptor and hands it to ssh.
_HAND_OVER = (
    "import socket as s;"
    "c=s.socket(s.AF_UNIX);c.connect({path!r});"
    "f=s.recv_fds(c,1,1)[1];"
    "s.send_fds(s.socket(fileno=1),[b'x'],f)"
)
_PIECE = 1 << 16
# How long either end may take nothing of what is handed on to it.
_STUCK_SECONDS = 60.0


@dataclass
class Wish:
    """Which job, and what to run beside it."""

    cluster: int = -1
    proc: int = 0
    command: list[str] = field(default_factory=list)
    retry: bool = False
    remove: bool = False
    shells: str = ""
    ssh: str = "ssh"
    flags: list[str] = field(default_factory=list)
    reach: dict[str, str] = field(default_factory=dict)


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_ssh_to_job`; the exit code is the session's."""

    def act(wish: Wish, environment: Mapping[str, str], streams: Streams) -> int:
        return run_session(wish, Reach(environment, **wish.reach), streams)

    return run_tool(
        argv, environment, streams, usage=USAGE, read_wish=read_wish, act=act, wrong_usage=2
    )


def read_wish(words: Sequence[str]) -> Wish:
    """Return what the command line asks for; UsageError for what it cannot mean."""
    wish = Wish()
    rest = iter(words)
    for word in rest:
        if not word.startswith("-"):
            found = re.fullmatch(r"(\d+)(?:\.(\d+))?", word)
            if found is None:
                raise BriefError(f"Invalid job id: {word}")
            wish.cluster, wish.proc = int(found[1]), int(found[2] or 0)
            # Everything after the job is the command's.
            wish.command = list(rest)
            break
        try:
            option, _ = choose_option(word, OPTIONS)
        except UnknownOptionError:
            raise BriefError(f"Unrecognized argument: {word}") from None
        value = next(rest, None) if option.values else ""
        if value is None:
            raise BriefError(f"-{option.name} requires an argument")
        _apply(wish, option.name, value)
    if wish.cluster < 0:
        raise BriefError("ERROR: You must specify a job!\n")
    return wish


def _apply(wish: Wish, name: str, value: str) -> None:
    match name:
        case "name" | "pool":
            wish.reach[name] = value
        case "auto-retry":
            wish.retry = True
        case "remove-on-interrupt":
            wish.remove = True
        case "shells":
            wish.shells = value
        case "ssh":
            wish.ssh = value
        case "X" | "x":
            wish.flags.append(f"-{name}")


def run_session(wish: Wish, reach: Reach, streams: Streams) -> int:
    """Open a session beside a job and return its exit code; KettleError if there can be none."""
    program = shlex.split(wish.ssh)
    if not program or shutil.which(program[0]) is None:
        raise NotFoundError(f"there is no program {wish.ssh} here", hint="install OpenSSH's client")
    try:
        shell, host = _reach_shell(wish, reach, streams)
        with shell.stream, tempfile.TemporaryDirectory(prefix="ssh_to_job_") as folder:
            return _run_ssh(wish, program, shell, host, Path(folder), streams)
    except KeyboardInterrupt:
        if wish.remove:
            _remove(wish, reach)
        return 130


def _reach_shell(wish: Wish, reach: Reach, streams: Streams) -> tuple[Shell, str]:
    try:
        schedd = reach.schedd_or_none_such().address
    except NotFoundError as error:
        raise error if reach.name else NotFoundError(f"ERROR: {error}") from None
    try:
        _check_job(wish, reach, schedd)
    except Unreached:
        raise NotFoundError("Can't connect to schedd") from None
    waiting, since = "", 0.0
    while True:
        try:
            starter = find_starter(reach.connector, schedd, wish.cluster, wish.proc)
            return start_shell(reach.connector, starter, wish.shells), starter.remote_host
        except RefusedError as error:
            if error.code == RETRY and not wish.retry:
                # Compat: the reference says the second line alone (tests/pool/test_queue_tools.py).
                advice = "(Use -auto-retry to keep trying periodically.)"
                raise RefusedError(f"{error}\n{advice}") from None
            if error.code != RETRY:
                raise
            # The peer's own words: the code is the same whatever the job still waits for.
            if str(error) != waiting:
                waiting, since = str(error), time.monotonic()
            elif since and time.monotonic() - since >= SAID_AFTER_SECONDS:
                # What is over at once, such as a claim whose starter is not there yet, is not said.
                streams.stderr.write(f"Waiting for job {wish.cluster}.{wish.proc}: {waiting}\n")
                streams.stderr.flush()
                since = 0.0
        time.sleep(RETRY_SECONDS)


def _check_job(wish: Wish, reach: Reach, schedd: Sinful) -> None:
    """Raise for a job that is not in the queue, or is held."""
    from kettle.client.jobs import query_jobs

    test = f"ClusterId == {wish.cluster} && ProcId == {wish.proc}"
    names = ("JobStatus", "HoldReason")
    for ad in query_jobs(reach.connector, schedd, constraint=test, projection=names):
        reason = ad.string("HoldReason")
        if ad.integer("JobStatus") == JobStatus.HELD and reason:
            raise RefusedError(say_held(reason))
        return
    raise NotFoundError("Unable to fetch job ad; is it still in the queue?")


def _remove(wish: Wish, reach: Reach) -> None:
    from kettle.attributes.codes import JobAction
    from kettle.client.jobs import act_on_jobs

    job = f"{wish.cluster}.{wish.proc}"
    act_on_jobs(reach.connector, reach.schedd_or_none_such().address, JobAction.REMOVE, ids=[job])


def _run_ssh(
    wish: Wish, program: list[str], shell: Shell, host: str, folder: Path, streams: Streams
) -> int:
    """Run ssh over the connection that the starter's sshd is at the other end of."""
    known, key, meeting = folder / "known_hosts", folder / "key", folder / "meeting"
    target = f"condor-job.{host.rpartition('@')[2] or 'host'}"
    known.write_bytes(to_bytes(f"{target} ") + base64.b64decode(shell.server_key))
    key.touch(mode=0o600)
    key.write_bytes(base64.b64decode(shell.client_key))
    proxy = shlex.join([sys.executable, "-I", "-S", "-c", _HAND_OVER.format(path=str(meeting))])
    options = [
        f"-oUser={shell.remote_user}",
        f"-oIdentityFile={key}",
        "-oIdentitiesOnly=yes",
        "-oStrictHostKeyChecking=yes",
        # Whatever name the command has for the other side (scp's is any), it is this one.
        f"-oHostKeyAlias={target}",
        f"-oUserKnownHostsFile={known}",
        "-oGlobalKnownHostsFile=/dev/null",
        f"-oProxyCommand={proxy.replace('%', '%%')}",
        "-oProxyUseFdpass=yes",
        "-oControlPath=none",
        "-oLogLevel=ERROR",
        "-F/dev/null",
    ]
    argv = [*program, *options, *wish.flags]
    named = os.path.basename(program[0]) == "scp" or any("%h" in word for word in wish.command)
    argv += [] if named else [target]
    argv += [word.replace("%h", target) for word in wish.command]
    streams.stdout.flush()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(meeting))
        listener.listen(1)
        ssh = subprocess.Popen(argv)
        try:
            ours = _hand_over(listener, ssh)
            if ours is not None:
                with ours:
                    carry(shell.stream.fileno(), shell.stream.take_rest(), ours)
            return ssh.wait()
        finally:
            if ssh.poll() is None:
                ssh.terminate()
                ssh.wait()


def _hand_over(listener: socket.socket, ssh: subprocess.Popen[bytes]) -> socket.socket | None:
    """Give ssh's proxy command one end of a socket pair; None if ssh ended before it asked."""
    listener.settimeout(0.1)
    while ssh.poll() is None:
        try:
            asking, _ = listener.accept()
        except TimeoutError:
            continue
        ours, theirs = socket.socketpair()
        with asking, theirs:
            socket.send_fds(asking, [b"x"], [theirs.fileno()])
        return ours
    return None


def carry(remote: int, first: bytes, ours: socket.socket) -> None:
    """Carry bytes both ways between the connection `remote` and `ours` until either side ends."""
    with socket.socket(fileno=os.dup(remote)) as connection:
        connection.settimeout(_STUCK_SECONDS)
        ours.settimeout(_STUCK_SECONDS)
        try:
            if first:
                ours.sendall(first)
            _exchange(connection, ours)
        except OSError as error:
            raise ConnectionLost(f"the connection to the job broke: {error}") from None


def _exchange(one: socket.socket, other: socket.socket) -> None:
    """Hand on what comes from either, until one of them ends."""
    to = {one: other, other: one}
    with selectors.DefaultSelector() as ready:
        for source in to:
            ready.register(source, selectors.EVENT_READ, source)
        while True:
            for event, _ in ready.select():
                source = event.data
                data = source.recv(_PIECE)
                if not data:
                    return
                to[source].sendall(data)
