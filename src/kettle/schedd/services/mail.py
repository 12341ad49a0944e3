"""Sending mail about jobs through the system's mailer (the MAIL knob)."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from kettle.runtime import tasks
from kettle.schedd import notices

if TYPE_CHECKING:
    from kettle.runtime.context import Runtime
    from kettle.schedd.queue.jobs import Job


class Mailer:
    """Mails owners of jobs; `uid_domain` is where a user without another address has his.

    The mailer reads what users say, and is never root (`SystemProcesses.spawn`).
    """

    def __init__(self, runtime: Runtime, uid_domain: Callable[[], str]) -> None:
        self._runtime = runtime
        self._uid_domain = uid_domain

    def notify(self, job: Job) -> None:
        """Send mail about a job's present state, if its owner wants it.

        Never raises: what is said in a mail is users' words, and whoever has it sent goes on to
        what matters more.
        """
        with tasks.reported("Mail about a job"):
            self._notify(job)

    def _notify(self, job: Job) -> None:
        if not notices.is_wanted(job):
            return
        runtime = self._runtime
        program = runtime.config.get("MAIL")
        if not program:
            runtime.log.full(f"No mail about job {job.id}: there is no MAIL program")
            return
        mail = notices.compose(job, machine=runtime.identity.name, uid_domain=self._uid_domain())
        if not mail.recipients:
            runtime.log(f"No mail about job {job.id}: NotifyUser is no address")
            return
        if mail.left_out:
            runtime.log(
                f"The mail about job {job.id} goes to {len(mail.recipients)} of the people that "
                f"NotifyUser names, and not to {mail.left_out} others"
            )
        text = os.memfd_create("mail", os.MFD_CLOEXEC)
        try:
            os.write(text, mail.body.encode("utf-8", "surrogateescape"))
            os.lseek(text, 0, os.SEEK_SET)
            runtime.processes.spawn(
                (program, "-s", mail.subject, *mail.recipients),
                environment={"PATH": os.environ.get("PATH", os.defpath), "HOME": "/"},
                fds={0: text},
                name="mail",
            )
        except OSError as error:
            runtime.log.problem(f"No mail about job {job.id}: {error}")
        finally:
            os.close(text)
