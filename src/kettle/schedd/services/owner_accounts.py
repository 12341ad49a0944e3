"""The accounts of jobs' owners on this machine; who has none is lent one, and keeps it.

Which one that is stands in `SPOOL/lent_accounts` before it is used for the first time. Only the
schedd reads and writes that file: what works for an owner beside it (a shadow host, a starter of
the local universe, a writer of event logs) is told the account when it is started. What the file
says, and which id is next, is `runtime.process.lent_accounts`'.

An entry stays. Who has got an account meanwhile works as that; what he had as a guest is his again
when an administrator gives it to him (chown). An id that the system has given to somebody else
meanwhile is not used any more: its guest is refused, as he would act as that one, and with another
id he would have lost his files without a word.
Limit: an account that the name service says nothing of may be one that it does not tell of just
now. Whoever had an account in this schedd's life, or jobs that had run before it began, is
therefore never lent one; somebody else may be, who has an account and submits for the first time.

What may pass, a silence of the name service or a disk that has no room, costs nobody anything: it
is `NotKnownNow`, and who gets that tries again. Limit: after a day of it, it is believed; where the
name service itself says for some minutes that it knows him no more, it is sooner.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kettle.attributes.codes import HoldReasonCode
from kettle.errors import KettleError, NotForked, NotFoundError, NotKnownNow, StorageError
from kettle.runtime.process import lent_accounts, name_service
from kettle.runtime.process.lent_accounts import Register
from kettle.runtime.process.privileges import Account, find_account
from kettle.runtime.storage.files import PASSING
from kettle.runtime.storage.free_space import Reserve
from kettle.runtime.storage.owned_files import OwnedFiles
from kettle.schedd.beside import NotStarted

if TYPE_CHECKING:
    from collections.abc import Callable

    from kettle.runtime.context import Runtime
    from kettle.schedd.queue.job_queue import JobQueue
    from kettle.schedd.queue.jobs import Job

FILE_NAME = "lent_accounts"
"""The register, in the spool."""
# Limit: bytes of it that are read; so many entries, each with a uid, are fewer.
_LARGEST = (lent_accounts.LONGEST_USER + 16) * (lent_accounts.MOST_ENTRIES + 2)
LONGEST_SILENCE_SECONDS = 24 * 3600
"""What has lasted so long counts as what is so for good: jobs are held for it."""
LONGEST_ABSENCE_SECONDS = 300
"""The same where the name service answers, and has no account of one who had one."""
# How long what a silent name service has said is taken for what it would say: it may take seconds.
_AGAIN_SECONDS = 2.0
# Limit: damaged places that the log tells of.
_MOST_TOLD = 10


@dataclass(slots=True)
class _Silence:
    """Since when somebody cannot be found, when that was asked last, and what was said then.

    `longest` is how long that may pass.
    """

    since: float
    asked: float = 0.0
    why: str = ""
    longest: float = LONGEST_SILENCE_SECONDS

    def error(self, now: float) -> NotFoundError:
        """Return what that is, by the steady clock: it may pass, unless it has lasted too long."""
        passes = now < self.since + self.longest
        return NotKnownNow(self.why) if passes else NotFoundError(self.why)


class OwnerAccounts:
    """The accounts of the owners of one schedd's jobs."""

    def __init__(self, runtime: Runtime, spool: str, uid_domain: str) -> None:
        self._runtime = runtime
        self._path = f"{spool}/{FILE_NAME}"
        self._uid_domain = uid_domain
        self._register = Register()
        # Who had an account once: if there is none now, he is not lent one all the same.
        self._had_one: set[str] = set()
        # Who cannot be found just now.
        self._silent: dict[str, _Silence] = {}
        # Told of a user who cannot be found just now, and why.
        self.on_silent: Callable[[str, NotKnownNow], object] = lambda *_: None

    def open(self, queue: JobQueue) -> None:
        """Read the register, and note who ran jobs before this schedd and is not in it.

        They ran with accounts. A register that cannot be read keeps nobody from working but guests.
        """
        if self._runtime.privileges.can_switch:
            self._read()
            self._had_one |= {
                user
                for user, jobs in queue.by_user.items()
                if user not in self._register.uids and any(_has_run(job) for job in jobs.values())
            }

    def reconfigure(self) -> None:
        """Read a register again that was damaged: it may have been mended."""
        if self._register.damage:
            self._read()

    def _read(self) -> None:
        log = self._runtime.log
        try:
            text = self._runtime.files.read_text(self._path, limit=_LARGEST)
            self._register = lent_accounts.read_register(text)
        except NotFoundError:
            self._register = Register()
        except StorageError as error:
            self._register = Register(damage=(error.message,))
        for damage in self._register.damage[:_MOST_TOLD]:
            log.problem(f"{self._path}: {damage}")
        if self._register.damage:
            log.problem(
                f"{self._path} is damaged: what can be read of it counts, and nobody new is lent a "
                "uid until it is mended (condor_reconfig has it read again)"
            )

    def files_of(self, user: str, reserve: Reserve | None = None) -> OwnedFiles:
        """Return the files of an owner, which leave the `reserve` alone; NotFoundError as `of`."""
        return OwnedFiles(self._runtime.privileges, self.of(user), reserve)

    def to_start(self, user: str) -> Account:
        """Return the same for a job that is to start; NotStarted, which holds it, if there is none.

        Whoever would try again would be refused again, until an administrator has mended that.
        NotForked where it may pass: the job waits, and is tried again.
        """
        try:
            return self.of(user)
        except NotKnownNow as error:
            raise NotForked(error.message) from error
        except NotFoundError as error:
            code = HoldReasonCode.FailedToAccessUserAccount
            raise NotStarted(error.message, code) from error

    def of(self, user: str) -> Account:
        """Return as whom an owner's files are touched, and his jobs run that run here.

        `user` is his whole identity, as the attribute User has it. NotFoundError, with the reason,
        if he has no account and cannot be lent one; NotKnownNow where that may pass.
        """
        privileges = self._runtime.privileges
        if not privileges.can_switch:
            return privileges.daemon
        owner, at, _ = user.partition("@")
        if not at:
            user = f"{owner}@{self._uid_domain}"
        silence = self._silent.get(user)
        if silence is not None:
            now = self._runtime.clock.steady()
            if now < silence.asked + _AGAIN_SECONDS:
                raise silence.error(now)
        try:
            account = find_account(owner)
        except NotFoundError as error:
            account = self._lend(owner, user, error.message)
        else:
            self._had_one.add(user)
        self._silent.pop(user, None)
        return account

    def is_silent(self, user: str) -> bool:
        """Tell whether an owner could not be found when last asked for, and that may pass."""
        silence = self._silent.get(user)
        now = self._runtime.clock.steady() if silence is not None else 0.0
        return silence is not None and isinstance(silence.error(now), NotKnownNow)

    def _passing(
        self, user: str, why: str, longest: float = LONGEST_SILENCE_SECONDS
    ) -> NotFoundError:
        """Return the error of somebody who may be found later, unless that has lasted too long."""
        now = self._runtime.clock.steady()
        silence = self._silent.setdefault(user, _Silence(now))
        if longest < silence.longest:
            # A service that failed says no for the first time: that has not lasted yet.
            silence.since = now
        silence.asked, silence.why, silence.longest = now, why, longest
        error = silence.error(now)
        if isinstance(error, NotKnownNow):
            self.on_silent(user, error)
        return error

    def _lend(self, owner: str, user: str, why: str) -> Account:
        if user in self._had_one:
            # Also who was a guest before: as that he would find nothing of what is his now.
            sure = not name_service.why_unsure(owner)
            longest = LONGEST_ABSENCE_SECONDS if sure else LONGEST_SILENCE_SECONDS
            raise self._passing(user, f"{why}, and none is lent to {user}, who had one", longest)
        uid = self._register.uids.get(user)
        if uid is None:
            uid = self._enter(owner, user, why)
        elif uid not in _ids():
            raise NotFoundError(
                f"{why}, and the uid {uid} that {user} is lent is none to lend here"
            )
        elif self._is_taken(uid):
            holder = name_service.holder_of(uid) or "the daemons'"
            raise NotFoundError(f"{why}, and the uid {uid} that {user} was lent is {holder} now")
        return Account(owner, uid, uid, (), lent=True)

    def _enter(self, owner: str, user: str, why: str) -> int:
        """Give somebody his uid, once it stands in the register on disk."""
        register = self._register
        objection = self._why_not(owner, user)
        if objection:
            raise NotFoundError(f"{why}, and {objection}")
        unsure = name_service.why_unsure(owner)
        if unsure:
            raise self._passing(user, f"{why}, and {unsure}")
        lent = set(register.uids.values())
        uid = lent_accounts.choose_uid(user, _ids(), lent, self._is_taken)
        if uid is None:
            raise NotFoundError(f"{why}, and no uid to lend")
        uids = {**register.uids, user: uid}
        text = lent_accounts.render_register(uids)
        runtime = self._runtime
        try:
            # Whoever's rights we have just now: it is the daemons'. Rare: once for each guest.
            with runtime.privileges.as_account(runtime.privileges.daemon):
                runtime.files.write_atomically(self._path, text, mode=0o600, durable=True)
        except (KettleError, OSError) as error:
            said = f"{why}, and no uid can be lent: {error}"
            may_pass = isinstance(error, StorageError | OSError) and error.errno in PASSING
            raise (self._passing(user, said) if may_pass else NotFoundError(said)) from error
        self._register = replace(register, uids=uids)
        runtime.log(f"{why}: {user} is lent the uid {uid}")
        return uid

    def _why_not(self, owner: str, user: str) -> str:
        if not owner:
            return "there is no owner to lend one to"
        return lent_accounts.why_not_entered(self._register, user)

    def _is_taken(self, uid: int) -> bool:
        daemon = self._runtime.privileges.daemon
        return uid in {daemon.uid, daemon.gid} or bool(name_service.holder_of(uid))


def _has_run(job: Job) -> bool:
    """Tell whether a job runs or has run; of one that had just begun the queue has its claim."""
    return (job.ad.integer("NumJobStarts") or 0) > 0 or "ClaimId" in job.ad


@functools.cache
def _ids() -> range:
    try:
        with open("/proc/self/uid_map") as users, open("/proc/self/gid_map") as groups:
            return lent_accounts.lendable(users.read(), groups.read())
    except OSError:
        return range(0)
