"""What Kettle calls itself to peers and users.

Peers choose features by the version number, so it is the one whose behaviour is reproduced
(wire notes, Versions); the build id says that it is Kettle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = "25.14.1"
VERSION_NUMBERS = (25, 14, 1)
RELEASE_DATE = "2026-10-16"
_BUILD = "BuildID: Kettle"
CONDOR_VERSION = f"$CondorVersion: {VERSION} {RELEASE_DATE} {_BUILD}-{__version__} $"


def is_ours(version: str | None) -> bool:
    """Return whether a `$CondorVersion: …$` text, or the lack of one, is that of a Kettle."""
    return _BUILD in (version or "")


def condor_platform(os_release: Mapping[str, str]) -> str:
    """Return the platform text from the fields of os-release, such as ID and VERSION_ID."""
    name = os_release.get("ID", "linux")
    number = os_release.get("VERSION_ID", "")
    return f"$CondorPlatform: X86_64-{name}_{number} $"


def parse_os_release(text: str) -> dict[str, str]:
    """Read the fields of /etc/os-release, quotes removed."""
    fields = {}
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if equals and not name.startswith("#"):
            fields[name.strip()] = value.strip().strip("\"'")
    return fields


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) < 10


def parse_version(text: str) -> tuple[int, int, int] | None:
    """Return the three numbers of a `$CondorVersion: …$` text, None if there are none."""
    words = text.replace("$CondorVersion:", "").split()
    if not words:
        return None
    parts = words[0].split(".")
    if len(parts) < 3 or not all(_is_number(part) for part in parts[:3]):
        return None
    return int(parts[0]), int(parts[1]), int(parts[2])
