"""A shell server beside a running job, for condor_ssh_to_job and interactive jobs.

For each request fresh keys and a configuration of its own are made in the sandbox, and sshd runs
in inetd mode on the very connection that asked, as the job's user and in its scratch directory.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import shlex
from dataclasses import dataclass

from kettle.errors import KettleError
from kettle.octets import to_text
from kettle.runtime.storage.fences import open_regular
from kettle.runtime.storage.small_files import require_regular
from kettle.starter.services.parts import Starter
from kettle.starter.services.view import has_shell

_CONFIG = """\
HostKey "{folder}/host_key"
AuthorizedKeysFile "{pattern}/authorized_keys"
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PubkeyAuthentication yes
PermitRootLogin no
PrintMotd no
PermitUserEnvironment no
X11Forwarding no
PermitTTY {terminal}
AllowUsers {user}
ForceCommand exec {shell}
Subsystem sftp internal-sftp
"""
_KEY_SECONDS = 30.0
_NO_TERMINAL = (
    "This machine gives a job's account no terminal (/dev/pts is not mounted with gid=5, for the "
    "group tty): what you type goes to a shell without a prompt."
)
# Where sshd's own "internal-sftp" is asked for, the session needs a program: sshd runs ours only.
SFTP_SERVERS = (
    "/usr/lib/openssh/sftp-server",
    "/usr/libexec/openssh/sftp-server",
    "/usr/libexec/sftp-server",
    "/usr/lib/ssh/sftp-server",
    "/usr/lib/sftp-server",
)


def render_config(folder: str, user: str, *, terminal: bool = True) -> str:
    """Return sshd's configuration; KettleError for a folder that it has no way to write.

    Without `terminal` a client's wish for one is refused: sshd would end on trying to grant it.
    Names are quoted: a pool may lie in a folder with blanks. In AuthorizedKeysFile a percent sign
    stands for something else, and the command goes through a shell.
    """
    if any(letter in folder for letter in '"\n\\'):
        raise KettleError(f"sshd cannot be told of a folder called {folder!r}")
    return _CONFIG.format(
        folder=folder,
        pattern=folder.replace("%", "%%"),
        shell=shlex.quote(f"{folder}/shell"),
        user=user,
        terminal="yes" if terminal else "no",
    )


@dataclass(frozen=True)
class Keys:
    """What the client needs: the server's public key and its own private key, base64."""

    server: str
    client: str


class ShellServer:
    """Makes keys and starts sshd."""

    def __init__(self, starter: Starter) -> None:
        self._starter = starter
        self._count = 0

    async def prepare(self, shells: str) -> tuple[str, Keys]:
        """Make the folder with keys and configuration; KettleError or OSError if that cannot be."""
        starter, settings = self._starter, self._starter.settings
        if not settings.ssh_to_job:
            raise KettleError("ssh_to_job is turned off on this machine (ENABLE_SSH_TO_JOB)")
        if not os.access(settings.sshd, os.X_OK):
            raise KettleError(f"there is no {settings.sshd} on this machine")
        account, view = starter.keeper.account, starter.jobs.view
        if not has_shell(account.name) and (view is None or not view.possible):
            raise KettleError(
                f"the job runs as {account.name}, an account without a shell, and this machine "
                "lets us give it none"
            )
        self._count += 1
        folder = f"{starter.sandbox.user}/.condor_ssh_to_job_{self._count}"
        keeper = starter.keeper
        with keeper.privileges.as_account(keeper.account):
            make = os.mkdir if keeper.fence is None else keeper.fence.make_directory
            make(folder, 0o700)
        for name in ("host_key", "client_key"):
            await self._make_key(f"{folder}/{name}")
        server = self._read(f"{folder}/host_key.pub")
        client = self._read(f"{folder}/client_key")
        keeper.write(
            f"{folder}/authorized_keys", to_text(self._read(f"{folder}/client_key.pub")), 0o600
        )
        terminal = starter.jobs.may_have_terminal()
        keeper.write(f"{folder}/shell", self._shell_script(shells, terminal=terminal), 0o700)
        text = render_config(folder, keeper.account.name, terminal=terminal)
        keeper.write(f"{folder}/sshd_config", text, 0o600)
        # The client puts a host pattern in front of the server's key.
        return folder, Keys(_encode(server), _encode(client))

    async def _make_key(self, path: str) -> None:
        starter, keeper = self._starter, self._starter.keeper
        argv = [starter.settings.ssh_keygen, "-q", "-N", "", "-C", "", "-t", "rsa", "-f", path]
        try:
            # The job may lay links into the folder, which lead the program nowhere that it does not
            # see itself.
            with starter.jobs.beside(), keeper.privileges.as_job(keeper.account):
                child = starter.world.processes.spawn(argv, environment={"PATH": "/usr/bin:/bin"})
            async with asyncio.timeout(_KEY_SECONDS):
                status = await child.wait()
        except (OSError, TimeoutError) as error:
            raise KettleError(f"cannot make keys with {argv[0]}: {error}") from error
        if status != 0:
            raise KettleError(f"{argv[0]} failed with status {status}")

    def _read(self, path: str) -> bytes:
        descriptor = require_regular(self._starter.keeper.open(path))
        try:
            return os.read(descriptor, 64 * 1024)
        finally:
            os.close(descriptor)

    def _shell_script(self, shells: str, *, terminal: bool) -> str:
        """Return the program that becomes the session: the job's directory and environment."""
        plan = self._starter.launch_plan
        lines = ["#!/bin/sh"]
        for name, value in plan.environment.items():
            if name.replace("_", "a").isalnum():
                lines.append(f"export {name}={shlex.quote(value)}")
        pid = self._starter.jobs.pid_inside
        lines.append(f"export _CONDOR_JOB_PIDS={pid or ''}")
        lines.append(f"cd {shlex.quote(plan.cwd)}")
        lines.append('if [ "$SSH_ORIGINAL_COMMAND" = internal-sftp ]; then')
        lines += [f"[ -x {server} ] && exec {server}" for server in SFTP_SERVERS]
        lines.append("echo this machine has no sftp-server >&2; exit 127; fi")
        lines.append('[ -n "$SSH_ORIGINAL_COMMAND" ] && exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"')
        if not terminal:
            lines.append(f"echo {shlex.quote(_NO_TERMINAL)} >&2")
        lines += [
            f"[ -x {shlex.quote(shell)} ] && exec {shlex.quote(shell)}"
            for shell in shells.split(",")
            if shell.startswith("/")
        ]
        lines.append("exec /bin/sh")
        return "\n".join([*lines, ""])

    def serve(self, folder: str, connection: int) -> None:
        """Run sshd on a connection (closed here afterwards); it ends with the session."""
        starter, keeper = self._starter, self._starter.keeper
        argv = [starter.settings.sshd, "-i", "-e", "-f", f"{folder}/sshd_config"]
        os.set_blocking(connection, True)
        said = -1
        try:
            with keeper.privileges.as_account(keeper.account):
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
                said = open_regular(keeper.fence, f"{folder}/sshd.log", flags, 0o600)
            os.set_blocking(said, True)
            with (
                starter.jobs.inside_with_shell(starter.sandbox.scratch),
                keeper.privileges.as_job(keeper.account),
            ):
                starter.world.processes.spawn(
                    argv,
                    environment={"PATH": "/usr/bin:/bin"},
                    cwd=starter.sandbox.scratch,
                    fds={0: connection, 1: connection, 2: said},
                    new_session=True,
                    name="sshd",
                )
        except OSError as error:
            starter.log(f"cannot start {argv[0]}: {error}")
        finally:
            for descriptor in (connection, said):
                with contextlib.suppress(OSError):
                    os.close(descriptor)


def _encode(data: bytes) -> str:
    text = base64.b64encode(data).decode("ascii")
    # The reference's decoder wants lines; all on one line it takes for nothing.
    return "".join(f"{text[at : at + 64]}\n" for at in range(0, len(text), 64))
