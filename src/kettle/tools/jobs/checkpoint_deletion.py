"""Deletes checkpoints that lie at a URL, file by file, by the plug-in for the place.

CHECKPOINT_DESTINATION_MAPFILE says which program deletes what is below a beginning of URLs, and
with which arguments; it is told the place, the file, and where the job's ad is. A program without a
folder is looked for in LIBEXEC. `cleanup_locally_mounted_checkpoint`, for places that are mounted
here, is built in and used where LIBEXEC has none.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import subprocess
from collections.abc import Mapping, Sequence

from kettle.config import Config
from kettle.config.knobs.starter import StarterKnobs
from kettle.config.knobs.transfer import TransferKnobs
from kettle.errors import ConfigError, RefusedError
from kettle.octets import AS_IS, to_text
from kettle.runtime.storage.files import give_name
from kettle.runtime.storage.small_files import AT_EASE, require_regular
from kettle.transfer.checkpoints import FAILURE, JOB_AD, MANIFEST, MANIFEST_STEM, file_of
from kettle.wire.security.mapfile import parse_prefix_map

# The plug-in that is built in.
MOUNTED = "cleanup_locally_mounted_checkpoint"
# How the name of a manifest ends: with four digits, or more where there need to be.
_NUMBER = re.compile(r"[0-9]{4}|[1-9][0-9]{4,8}")


class Deletion:
    """Deletes the checkpoints whose manifests are in `folder`, with the ad of their job."""

    def __init__(self, config: Config, environment: Mapping[str, str], folder: str) -> None:
        self._config = config
        self._environment = environment
        self._folder = folder
        self._job_ad = os.path.join(folder, JOB_AD)

    def manifests(self, stem: str = MANIFEST_STEM) -> list[tuple[int, str]]:
        """Return the manifests that are there, with the numbers of their checkpoints, in order.

        Those of checkpoints that failed have another name. OSError if they cannot be listed.
        """
        stems = {stem}
        if stem.endswith(MANIFEST):
            stems.add(f"{stem.removesuffix(MANIFEST)}{FAILURE}")
        parts = (name.rpartition(".") for name in os.listdir(self._folder or os.curdir))
        return sorted(
            (int(digits), f"{start}.{digits}")
            for start, _, digits in parts
            if start in stems and _NUMBER.fullmatch(digits)
        )

    def delete(self, place: str, number: int, name: str) -> None:
        """Delete a checkpoint's files below `place`, then its manifest, which is called `name`.

        RefusedError or OSError, with the sentence, at the first file that cannot be deleted: its
        manifest is left. Of a checkpoint that failed not all files may be there.
        """
        manifest = os.path.join(self._folder, name)
        try:
            descriptor = require_regular(os.open(manifest, os.O_RDONLY | AT_EASE))
            with open(descriptor, encoding="utf-8", errors=AS_IS, newline="\n") as file:
                lines = [line.strip() for line in file]
        except OSError:
            raise RefusedError("Failed to open MANIFEST, aborting.") from None
        command = self._command(f"{place}/{number:04d}")
        has_failed = name.rpartition(".")[0].endswith(FAILURE)
        more = ["-ignore-missing-files"] if has_failed else []
        # It was called otherwise when it was written.
        own = {name, name.replace(FAILURE, MANIFEST)}
        for line in lines:
            file_name = file_of(line)
            if file_name not in own:
                self._run([*command, "-delete", file_name, "-jobad", self._job_ad, *more])
        with contextlib.suppress(FileNotFoundError):
            os.unlink(manifest)

    def finish(self) -> list[str]:
        """Remove the job's ad and the folder if nothing else is there; return what was removed.

        Somebody may put a manifest there at any time, whose ad must not get lost: it is back when
        the folder turns out not to be empty.
        """
        if [name for name in os.listdir(self._folder) if name != JOB_AD]:
            return []
        spare = f"{self._folder}{JOB_AD}.{os.getpid()}"
        with contextlib.suppress(FileNotFoundError):
            os.rename(self._job_ad, spare)
        removed = [self._job_ad, self._folder]
        try:
            os.rmdir(self._folder)
        except FileNotFoundError:
            pass
        except OSError:
            removed = []
            with contextlib.suppress(FileExistsError, FileNotFoundError):
                give_name(spare, self._job_ad)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(spare)
        return removed

    def _command(self, place: str) -> list[str]:
        """Return the beginning of the command that deletes what is at `place`."""
        source = str(self._config.value(StarterKnobs.CHECKPOINT_DESTINATION_MAPFILE))
        words = plugin_for(source, place)
        if words is None:
            raise RefusedError(
                f"Failed to find checkpoint destination {place} in map file, aborting"
            )
        program = words[0]
        if not os.path.isabs(program):
            program = os.path.join(self._config.get("LIBEXEC") or "", program)
        if os.path.exists(program):
            words[0] = program
        elif words[0] != MOUNTED:
            raise RefusedError(
                f"Clean-up plug-in for '{place}' ({program}) does not exist, aborting"
            )
        return [*words, "-from", place]

    def _run(self, command: Sequence[str]) -> None:
        if command[0] == MOUNTED:
            delete_mounted(command)
            return
        limit = self._config.value(TransferKnobs.CHECKPOINT_CLEANUP_TIMEOUT)
        shown = shlex.join(command)
        try:
            process = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=dict(self._environment),
                start_new_session=True,
            )
        except OSError as error:
            raise RefusedError(f"Failed to run '{shown}': {error.strerror}, aborting.") from None
        try:
            output = to_text(process.communicate(timeout=limit)[0])
        except subprocess.TimeoutExpired:
            # What it started might keep its output open.
            os.killpg(process.pid, signal.SIGKILL)
            output = to_text(process.communicate()[0])
            partial = f"(Partial output: '{output}')\n" if output else ""
            raise RefusedError(
                f"Timed out after {limit} seconds waiting for '{shown}', aborting.\n{partial}"
            ) from None
        if process.returncode:
            said = f"(Output: '{output}')\n" if output else ""
            raise RefusedError(
                f"Failure running '{shown}': exit code was {process.returncode}, aborting.\n{said}"
            )


def plugin_for(source: str, place: str) -> list[str] | None:
    """Return the program, and its arguments, that the map file has for a place; None without one.

    RefusedError if there is no map file, or it is none.
    """
    try:
        with open(source, encoding="utf-8", errors=AS_IS) as file:
            words = parse_prefix_map(file.read(), source=source).map("*", place)
    except (OSError, ConfigError) as error:
        detail = error.strerror if isinstance(error, OSError) else error
        raise RefusedError(
            f"Failed to parse checkpoint destination map file ({source}), aborting: {detail}"
        ) from error
    return words.replace(",", " ").split() if words else None


def delete_mounted(command: Sequence[str]) -> None:
    """Delete a file of a checkpoint whose place is mounted here, and folders that are empty then.

    The arguments are those of the plug-in: `-prefix` the beginning of URLs that `-path` is.
    RefusedError if the place does not begin so or an argument is missing.
    """
    words = dict(zip(command[1::2], command[2::2], strict=False))
    try:
        prefix, path, place, name = (
            words[option] for option in ("-prefix", "-path", "-from", "-delete")
        )
    except KeyError as missing:
        raise RefusedError(f"{MOUNTED} was not told {missing.args[0]}, aborting.") from None
    if not place.startswith(prefix):
        raise RefusedError(f"{place} is not below {prefix}, aborting.")
    folder = os.path.normpath(f"{path}/{place.removeprefix(prefix)}")
    file = os.path.normpath(f"{folder}/{name}")
    # A manifest is the job's words.
    if os.path.commonpath((folder, file)) != folder or folder == os.path.normpath(path):
        raise RefusedError(f"{name} is not in the checkpoint's place, aborting.")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(file)
    # The folders of the file, of the checkpoint, and of the job's checkpoints.
    last = os.path.dirname(os.path.dirname(folder))
    above = os.path.dirname(file)
    while above != last:
        try:
            os.rmdir(above)
        except FileNotFoundError:
            pass
        except OSError:
            return
        above = os.path.dirname(above)
