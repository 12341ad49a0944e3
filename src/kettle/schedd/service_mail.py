"""Sending mail about jobs through the system's mailer (the MAIL knob)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kettle.schedd import notices

if TYPE_CHECKING:
    from kettle.schedd.job_queue import Job
    from kettle.schedd.service import ScheddService


class Mailer:
    """Mails owners of jobs."""

    def __init__(self, service: ScheddService) -> None:
        self._service = service

    def notify(self, job: Job) -> None:
        """Send mail about a job's present state, if its owner wants it."""
        if not notices.is_wanted(job):
            return
        service = self._service
        runtime = service.runtime
        program = runtime.config.get("MAIL")
        if not program:
            runtime.log.full(f"No mail about job {job.id}: there is no MAIL program")
            return
        mail = notices.compose(
            job, machine=service.name, uid_domain=service.queue_settings.uid_domain
        )
        text = os.memfd_create("mail", os.MFD_CLOEXEC)
        try:
            os.write(text, mail.body.encode("utf-8", "surrogateescape"))
            os.lseek(text, 0, os.SEEK_SET)
            runtime.processes.spawn(
                (program, "-s", mail.subject, mail.recipient),
                environment={"PATH": os.environ.get("PATH", os.defpath), "HOME": "/"},
                fds={0: text},
                name="mail",
            )
        except OSError as error:
            runtime.log.problem(f"No mail about job {job.id}: {error}")
        finally:
            os.close(text)
