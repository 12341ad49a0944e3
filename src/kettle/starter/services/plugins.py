"""The URL plug-ins of one job: run in scratch as the job's user, and reported to the shadow.

What they are asked and what they answer is `kettle.transfer.plugins`', the running of programs
`runtime.storage.url_fetching`'s, which is loaded only by jobs that have URLs. Programs are in the
job's control group, what they leave running is the job's; the built-in one, a fork of ours that
runs no program, is not.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kettle.classad import ClassAd
from kettle.errors import KettleError, LanguageError
from kettle.octets import to_bytes
from kettle.runtime.storage.files import Files
from kettle.starter import syscalls
from kettle.starter.argument_syntax import parse_environment
from kettle.starter.services.parts import Starter
from kettle.transfer.items import ReportUrl
from kettle.transfer.outcome import UrlResult
from kettle.transfer.plugin_records import TransferClass, history_text, split_records
from kettle.transfer.plugins import plugin_environment
from kettle.wire.messages import syscalls as calls

if TYPE_CHECKING:
    from kettle.runtime.process.processes import Child
    from kettle.runtime.storage.url_fetching import UrlFetcher

# How long the history of transfers becomes before it is moved aside: the reference's.
_LONGEST_HISTORY = 5_000_000


def _variables_of(job: ClassAd) -> Mapping[str, str]:
    """Return the environment that a job asks for; nothing of one that makes no sense."""
    try:
        return parse_environment(
            job.string("Environment"), job.string("Env"), job.string("EnvDelim") or ";"
        )
    except LanguageError:
        return {}


class JobPlugins:
    """The plug-ins of one transfer of one job."""

    def __init__(self, starter: Starter) -> None:
        self._starter = starter
        self._fetcher: UrlFetcher | None = None

    async def fetch(self, wanted: Sequence[tuple[str, str]]) -> list[UrlResult]:
        """Bring every (URL, path)."""
        return self._explain(await self._made().fetch(wanted))

    async def put(
        self, to_urls: Sequence[tuple[str, str, str]], kind: TransferClass
    ) -> list[ReportUrl]:
        """Send files, (name, URL, path) each, to their URLs; return a report for each of them."""
        pairs = [(url, path) for _, url, path in to_urls]
        results = self._explain(await self._made().put(pairs, kind))
        await self.report(kind)
        fared = {(result.url, result.path): result for result in results}
        reports = []
        for name, url, path in to_urls:
            silent = UrlResult(url, path, error="the plug-in said nothing of it", subcode=1 << 8)
            one = fared.get((url, path), silent)
            reports.append(
                ReportUrl(
                    name,
                    url,
                    not one.error,
                    one.error,
                    one.subcode,
                    one.orderly,
                    size=one.size,
                    broke=one.broke,
                    told=one.told,
                )
            )
        return reports

    def _explain(self, results: list[UrlResult]) -> list[UrlResult]:
        """Say with what failed that the kernel killed for want of memory, if it did."""
        excess = self._starter.killed_by_kernel() if any(one.error for one in results) else None
        if excess is None:
            return results
        return [
            replace(one, error=f"{one.error}: {excess.message}") if one.error else one
            for one in results
        ]

    async def report(self, kind: TransferClass) -> None:
        """Tell the shadow what the plug-ins did, if there was anything."""
        if self._fetcher is None or not self._fetcher.records:
            return
        ad = ClassAd({kind.list_name: self._fetcher.records})
        self.note(split_records(self._fetcher.records)[0])
        await self._starter.shadow.call(lambda: syscalls.must(calls.RegisterJobInfo(ad)))

    def note(self, records: Sequence[ClassAd]) -> None:
        """Tell in this machine's own history of transfers how the files fared.

        Compat: the reference has also each file that comes from the access point; these are counted
        in TransferInputStats alone, for a line a file is more than a short job is worth
        (test_the_machine_keeps_what_plug_ins_did). Of the checkpoint that a run goes on from there
        is one.
        """
        starter = self._starter
        path = starter.world.settings.transfer_history
        if not path or not records:
            return
        text = "".join(history_text(record, starter.job) for record in records)
        files = Files()
        try:
            if files.exists(path) and os.path.getsize(path) > _LONGEST_HISTORY:
                files.rename(path, f"{path}.old")
            files.append(path, to_bytes(text))
        except (KettleError, OSError) as error:
            starter.world.log.problem(f"the history of transfers is not written: {error}")

    def _made(self) -> UrlFetcher:
        if self._fetcher is None:
            self._fetcher = self._make()
        return self._fetcher

    def _make(self) -> UrlFetcher:
        from kettle.runtime.storage.url_fetching import (
            UrlFetcher,
            fork_built_in,
            inherited_environment,
        )

        starter = self._starter
        world, box = starter.world, starter.sandbox
        account, fence = starter.keeper.account, starter.keeper.fence

        def spawn(
            argv: Sequence[str],
            environment: Mapping[str, str],
            cwd: str,
            descriptors: Mapping[int, int],
        ) -> Child:
            with starter.jobs.beside(), world.privileges.as_job(account):
                return world.processes.spawn(
                    argv, environment=environment, cwd=cwd, fds=descriptors, name="URL plug-in"
                )

        def run_built_in(
            arguments: Sequence[str], cwd: str, output: int, more: Mapping[str, str]
        ) -> Child:
            def become() -> None:
                world.privileges.become(account)

            return fork_built_in(world.processes, become, arguments, cwd, output, more, fence)

        environment = plugin_environment(
            inherited_environment(account.home), box.job_ad, box.machine_ad
        )
        return UrlFetcher(
            spawn,
            environment,
            box.scratch,
            rules=world.settings.transfer_plugins,
            of_the_job=starter.job.string("TransferPlugins"),
            variables=_variables_of(starter.job),
            run_built_in=run_built_in,
            log=world.log,
            job=starter.job,
            as_owner=lambda: world.privileges.as_account(account),
            fence=fence,
        )
