"""`condor_preen`: tidy up what daemons and jobs that ended badly left behind.

Looked at are core files in LOG, the sandboxes of dead starters in EXECUTE, and checkpoints at URLs
that could not be deleted when their job left (`SPOOL/checkpoint-cleanup`). The files of jobs in
SPOOL are the schedd's, which removes what belongs to no job when it starts.
"""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kettle.classad import ClassAd, parse_old_ad
from kettle.config import Config
from kettle.config.knobs.master import MasterKnobs
from kettle.config.knobs.transfer import TransferKnobs
from kettle.errors import ClassAdSyntaxError, KettleError, NotFoundError, RefusedError, UsageError
from kettle.octets import AS_IS
from kettle.patterns import late_pattern
from kettle.runtime.process.privileges import Account, account_of, first_closed
from kettle.runtime.storage import checkpoint_cleanup
from kettle.runtime.storage.removal import remove_tree
from kettle.runtime.storage.small_files import AT_EASE, require_regular
from kettle.tools.jobs.checkpoint_deletion import plugin_for
from kettle.tools.options import Option, read_options, run_tool
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach
from kettle.transfer.checkpoints import JOB_AD

if TYPE_CHECKING:
    from typing import TextIO

USAGE = """\
Usage: condor_preen [-mail] [-remove] [-verbose] [-debug] [-log FILE]
  -mail      mail what was found to the administrator; else it is printed
  -remove    remove it; else it is only told
  -verbose   say what is looked at, too
  -debug     say what is done on standard error
  -log FILE  append that to a file instead
  -help      this screen
"""
OPTIONS = (
    Option("help", 1),
    Option("version", 3),
    Option("debug", 1),
    Option("log", 1, 1),
    Option("verbose", 1),
    Option("mail", 1),
    Option("remove", 1),
)
_SANDBOX = late_pattern(r"dir_(\d{1,10})")
_CORE = late_pattern(r"core(\..*)?")
# A sandbox that has just been made may be that of a starter that begins.
_YOUNGEST_SECONDS = 30 * 60
# Limit: what is read of a job's ad; its owner may write it.
_LARGEST_AD = 4 * 1024 * 1024
_NO_MAIL = 2


@dataclass(slots=True)
class Wish:
    """What the command line asks for."""

    mail: bool = False
    remove: bool = False
    verbose: bool = False
    debug: bool = False
    log: str = ""


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_preen`; 0 whatever was found, 1 for a wrong command line, 2 if mail failed."""
    return run_tool(
        argv, environment, streams, usage=USAGE, read_wish=read_wish, act=act, after_help=1
    )


def read_wish(words: Sequence[str]) -> Wish:
    """Read the command line."""
    wish = Wish()
    for given in read_options(words, OPTIONS):
        match given.name:
            case "log":
                wish.log = given.value
            case "":
                raise UsageError(f"unexpected argument {given.word}")
            case name:
                setattr(wish, name, True)
    return wish


def act(wish: Wish, environment: Mapping[str, str], streams: Streams) -> int:
    """Look at everything and tell what is bad."""
    config = Reach(environment).config
    if not wish.log:
        return _act(wish, config, environment, streams, streams.stderr)
    with open(wish.log, "a", encoding="utf-8", errors=AS_IS) as log:
        return _act(wish, config, environment, streams, log)


def _act(
    wish: Wish, config: Config, environment: Mapping[str, str], streams: Streams, log: TextIO
) -> int:
    preen = Preen(wish, config, environment, log if wish.debug or wish.log else None)
    preen.say(f"STARTING: condor_preen PID: {os.getpid()}")
    preen.look_at_log()
    preen.look_at_execute()
    preen.look_at_checkpoints()
    code = 0
    if not preen.bad:
        preen.say("Results: No files preened")
    elif wish.mail:
        code = _mail(preen, config)
    else:
        streams.stdout.writelines(f"  {line}\n" for line in preen.bad)
    preen.say(f"ENDING: condor_preen PID: {os.getpid()} STATUS: {code}")
    return code


@dataclass(slots=True)
class Preen:
    """One tidying; `bad` says what was found, a line each."""

    wish: Wish
    config: Config
    environment: Mapping[str, str]
    log: TextIO | None
    bad: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        """Say what is done, where that is wanted."""
        if self.log is not None:
            self.log.write(f"{time.strftime('%m/%d/%y %H:%M:%S')} {text}\n")

    def look_at_log(self) -> None:
        """Find core files in LOG: those too old, too large, or too many of them."""
        folder = self.config.get("LOG") or ""
        limit = self.config.value(MasterKnobs.PREEN_COREFILE_MAX_SIZE)
        age = self.config.value(MasterKnobs.PREEN_COREFILE_STALE_AGE)
        most = self.config.value(MasterKnobs.PREEN_COREFILES_PER_PROCESS)
        cores = []
        for path, facts in _files(folder):
            name = os.path.basename(path)
            if not _CORE.fullmatch(name) or not stat.S_ISREG(facts.st_mode):
                self._good(path)
            elif facts.st_size > limit or time.time() - facts.st_mtime > age:
                self._bad(path)
            else:
                cores.append((facts.st_mtime, path))
        for place, (_, path) in enumerate(sorted(cores, reverse=True)):
            (self._good if place < most else self._bad)(path)

    def look_at_execute(self) -> None:
        """Find sandboxes in EXECUTE whose starter is dead."""
        for path, facts in _files(self.config.get("EXECUTE") or ""):
            match = _SANDBOX.fullmatch(os.path.basename(path))
            young = time.time() - facts.st_mtime < _YOUNGEST_SECONDS
            if not match or young or os.path.exists(f"/proc/{match[1]}"):
                self._good(path)
            else:
                self._bad(path)

    def look_at_checkpoints(self) -> None:
        """Try again to delete the checkpoints that jobs left behind, several jobs' at once."""
        top = os.path.join(self.config.get("SPOOL") or "", checkpoint_cleanup.FOLDER)
        most = self.config.value(TransferKnobs.MAX_CHECKPOINT_CLEANUP_PROCS)
        running: list[_Deleting] = []
        for owner, owner_facts in _files(top):
            if not stat.S_ISDIR(owner_facts.st_mode):
                continue
            # The folder of an owner is made by daemons; what is in it, the owner may choose.
            uid = owner_facts.st_uid
            for folder, facts in _files(owner):
                if not stat.S_ISDIR(facts.st_mode):
                    continue
                if facts.st_uid != uid:
                    self.bad.append(f"{folder} - it is not the owner's, but of uid {facts.st_uid}")
                    continue
                if len(running) >= most:
                    self._await(running.pop(0))
                deleting = self._begin(folder, uid)
                if deleting is not None:
                    running.append(deleting)
        for deleting in running:
            self._await(deleting)

    def _begin(self, folder: str, uid: int) -> _Deleting | None:
        """Begin to delete a job's checkpoints as the owner; what cannot be begun is told."""
        try:
            os.rmdir(folder)
        except OSError:
            pass
        else:
            self.say(f"Removed empty orphan cleanup directory {folder}.")
            return None
        try:
            account = account_of(uid)
            command = self._command(folder)
            return _Deleting(folder, self._start(account, command), self._limit())
        except (OSError, KettleError) as error:
            self.bad.append(f"{folder} - {error}")
            return None

    def _command(self, folder: str) -> list[str]:
        job = _read_job(os.path.join(folder, JOB_AD))
        unwanted = checkpoint_cleanup.unwanted(job, folder)
        if unwanted is None:
            raise RefusedError("the job's ad has no CheckpointDestination")
        destination = job.string("CheckpointDestination") or ""
        source = self.config.get("CHECKPOINT_DESTINATION_MAPFILE") or ""
        if plugin_for(source, destination) is None:
            raise NotFoundError(f"no clean-up plug-in is registered for {destination}")
        return checkpoint_cleanup.deletion_command([unwanted])

    def _limit(self) -> float:
        return time.monotonic() + self.config.value(TransferKnobs.PREEN_CHECKPOINT_CLEANUP_TIMEOUT)

    def _start(self, account: Account, command: Sequence[str]) -> subprocess.Popen[bytes]:
        """Start it as the account, for good where we are root."""
        environment = checkpoint_cleanup.deletion_environment(self.environment, account.home)
        self.say(f"Running {' '.join(command)}")
        who: dict[str, Any] = {}
        if os.geteuid() == 0 and account.uid != 0:
            closed = first_closed(account, sys.executable)
            if closed is not None:
                raise RefusedError(f"{account.name} cannot read {closed}")
            who = {"user": account.uid, "group": account.gid, "extra_groups": account.groups}
        process: subprocess.Popen[bytes] = subprocess.Popen(
            list(command),
            cwd="/",
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if self.log is None else self.log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            **who,
        )
        return process

    def _await(self, deleting: _Deleting) -> None:
        try:
            status = deleting.process.wait(max(0.0, deleting.until - time.monotonic()))
        except subprocess.TimeoutExpired:
            os.killpg(deleting.process.pid, 9)
            deleting.process.wait()
            self.bad.append(f"{deleting.folder} - Timed out.")
            return
        # Two of us may have been at it: what counts is what is left.
        if status and os.path.lexists(deleting.folder):
            pid = deleting.process.pid
            self.bad.append(f"{deleting.folder} - checkpoint clean-up proc {pid} returned {status}")

    def _good(self, path: str) -> None:
        if self.wish.verbose:
            self.say(f"{path} - OK")

    def _bad(self, path: str) -> None:
        removed = ""
        if self.wish.remove:
            if os.path.isdir(path) and not os.path.islink(path):
                remove_tree(path)
            else:
                os.unlink(path)
            removed = " - Not Removed" if os.path.lexists(path) else " - Removed"
        self.bad.append(f"{path}{removed}")


@dataclass(frozen=True, slots=True)
class _Deleting:
    """A deletion that runs, and until when it may."""

    folder: str
    process: subprocess.Popen[bytes]
    until: float


def _files(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield what is in a folder, in order; nothing if it cannot be read."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        path = os.path.join(folder, name)
        try:
            yield path, os.lstat(path)
        except FileNotFoundError:
            continue


def _read_job(path: str) -> ClassAd:
    """Return the ad beside the manifests; RefusedError if it is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | AT_EASE)
        with open(require_regular(descriptor), encoding="utf-8", errors=AS_IS) as file:
            job = parse_old_ad(file.read(_LARGEST_AD))
    except (OSError, ClassAdSyntaxError) as error:
        raise RefusedError(f"its {JOB_AD} cannot be read: {error}") from None
    return job


def _mail(preen: Preen, config: Config) -> int:
    """Mail what was found to the administrator."""
    host = socket.getfqdn()
    program, to = config.get("MAIL"), config.get("PREEN_ADMIN") or config.get("CONDOR_ADMIN")
    count = len(preen.bad)
    subject = f"condor_preen results {host}: {count} old file{'s' * (count > 1)} found"
    body = f"\nOn {host} condor_preen found what nothing needs any more:\n\n"
    body += "".join(f"  {line}\n" for line in preen.bad)
    if not program or not to:
        preen.say("There is nobody to mail to (MAIL, PREEN_ADMIN, CONDOR_ADMIN)")
        return _NO_MAIL
    try:
        done = subprocess.run(
            [program, "-s", subject, *to.replace(",", " ").split()],
            input=body.encode("utf-8", AS_IS),
            check=False,
        )
    except OSError as error:
        preen.say(f"No mail: {error}")
        return _NO_MAIL
    return _NO_MAIL if done.returncode else 0
