"""Hides the sandboxes of other jobs from a job that runs as the same account (`nobody`).

Which folders are hidden is `private_view.py`. Each shows an empty file system in the job's view,
and its own sandbox alone in that, with what is shown to it besides; outside, all is as it was.
"""

from __future__ import annotations

import contextlib
import os
import posixpath
from collections.abc import Callable

from kettle.runtime.process import kernel
from kettle.runtime.process.namespaces import MountNamespace, is_refusal


class Curtain:
    """Before these folders, in one view; the sandbox of the job, in one of them, is seen.

    So are the `shown` folders in them, unless they are links.
    """

    def __init__(self, folders: tuple[str, ...], sandbox: str, shown: tuple[str, ...] = ()) -> None:
        self._folders = folders
        self._sandbox = sandbox
        # Those that are shown besides, opened where they are.
        self._besides = dict.fromkeys(shown, -1)
        self._home = posixpath.dirname(sandbox)
        # Behind it: the folder that has the sandbox. -1 where the sandbox is not hidden.
        self._behind = -1
        self._shown: tuple[int, int] | None = None

    def draw(self, tell: Callable[[str], None]) -> None:
        """Hide the folders from whoever is in the present view, as root.

        `tell` why that can never be here; OSError where it cannot be now. Nothing is hidden then.
        """
        if not self._folders:
            return
        drawn: list[str] = []
        try:
            flags = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
            self._behind = os.open(self._home, flags)
            for path in self._besides:
                with contextlib.suppress(OSError):
                    self._besides[path] = os.open(path, flags | os.O_NOFOLLOW)
            for folder in self._folders:
                # One in another that is hidden is not there any more.
                if os.path.isdir(folder):
                    self._hide(folder)
                    drawn.append(folder)
            if os.path.lexists(self._sandbox):
                self.close()
            else:
                self._show()
        except OSError as error:
            for folder in reversed(drawn):
                kernel.unmount(folder)
            self.close()
            if not is_refusal(error):
                raise
            tell(f"The sandboxes of other jobs cannot be hidden from this one: {error.strerror}")

    def follow(self, view: MountNamespace) -> None:
        """Show the sandbox that is there now, if it was made anew since. OSError if it cannot.

        What was shown before stays below: the kernel takes ten times as long to take it away, and
        while it stays its number is nobody else's. Limit: so each such job of a claim leaves a file
        system and two mounts in the view; MOST_ACTIVATIONS (`tenure.py`) bounds their number.
        """
        if self._shown is not None and _identity(self._sandbox) != self._shown:
            with view.entered():
                self._hide(self._home)
                self._show()

    def _hide(self, folder: str) -> None:
        flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
        kernel.mount("tmpfs", folder, "tmpfs", flags, "mode=0755,size=64k")
        for path, opened in self._besides.items():
            if opened >= 0 and posixpath.dirname(path) == folder:
                os.mkdir(path)
                # The new file system covers its name: only what was opened before leads there.
                os.fchdir(opened)
                kernel.mount(".", path, flags=kernel.MS_BIND | kernel.MS_REC)

    def _show(self) -> None:
        os.makedirs(self._sandbox)
        # By its name there: /proc in a view may be of processes that we are none of.
        os.fchdir(self._behind)
        kernel.mount(posixpath.basename(self._sandbox), self._sandbox, flags=kernel.MS_BIND)
        self._shown = _identity(self._sandbox)

    def close(self) -> None:
        """Let go of what is behind; what is hidden stays so as long as the view."""
        if self._behind >= 0:
            os.close(self._behind)
        for opened in self._besides.values():
            if opened >= 0:
                os.close(opened)
        self._besides = dict.fromkeys(self._besides, -1)
        self._behind, self._shown = -1, None


def _identity(path: str) -> tuple[int, int]:
    facts = os.stat(path)
    return facts.st_dev, facts.st_ino
