"""`condor_version`: two lines that say which version and platform this is."""

from __future__ import annotations

from collections.abc import Mapping

from kettle.attributes.version import CONDOR_VERSION, condor_platform, parse_os_release
from kettle.tools.programs import Streams

USAGE = "Usage: condor_version [-version] [-platform] [-arch] [-opsys] [-help]\n"


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Print version and platform; 1 for an option that does not exist."""
    del environment
    said = ""
    for argument in argv[1:]:
        word = argument.lstrip("-").lower()
        if word and "help".startswith(word):
            streams.stderr.write(USAGE)
            return 0
        if word in ("v", "version"):
            streams.stdout.write(f"{CONDOR_VERSION}\n")
            return 0
        if word in ("p", "platform"):
            streams.stdout.write(f"{platform_text()}\n")
            return 0
        if word in ("arch", "opsys"):
            # `$CondorPlatform: X86_64-Debian_13 $`
            arch, _, opsys = platform_text().split()[1].partition("-")
            said += f"{arch if word == 'arch' else opsys}\n"
            continue
        what = "unrecognized" if argument.startswith("-") else "invalid"
        streams.stderr.write(f"ERROR: {what} argument: '{argument}'\n{USAGE}")
        return 1
    streams.stdout.write(said or version_text())
    return 0


def version_text() -> str:
    """Return the two lines that `-version` prints, of every tool."""
    return f"{CONDOR_VERSION}\n{platform_text()}\n"


def platform_text() -> str:
    """Return the platform text of this machine."""
    try:
        with open("/etc/os-release", encoding="utf-8", errors="replace") as file:
            fields = parse_os_release(file.read())
    except OSError:
        fields = {}
    return condor_platform(fields)
