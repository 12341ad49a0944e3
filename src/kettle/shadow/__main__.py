"""`python -m kettle.shadow`: condor_shadow.

Shadows live in hosts that the schedd forks, one a user, and never come through here; the program
says what a shadow can do (`-classad`) and who starts it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from kettle.attributes.version import CONDOR_VERSION
from kettle.classad.text import quote_old
from kettle.runtime.standard_streams import settle_streams

_ABILITIES = ("IsDaemonCore", "HasFileTransfer", "HasPerFileEncryption", "HasReconnect")
_HELP = """Usage: condor_shadow [-help | -classad]

Shadows run in hosts that condor_schedd starts, one for each user.

  -classad  print what a shadow can do
"""


def main(argv: Sequence[str]) -> int:
    """Print the abilities, or say who starts shadows."""
    if "-classad" in argv[1:]:
        lines = [f"{name} = True" for name in _ABILITIES]
        lines.append(f"CondorVersion = {quote_old(CONDOR_VERSION)}")
        sys.stdout.write("\n".join(lines) + "\n")
        return 0
    if "-help" in argv[1:] or "-h" in argv[1:]:
        sys.stdout.write(_HELP)
        return 0
    sys.stderr.write("condor_shadow: shadows are started by condor_schedd\n")
    return 4


def program() -> None:
    """Be the command `condor_shadow`."""
    settle_streams("condor_shadow")
    sys.exit(main(sys.argv))


if __name__ == "__main__":
    program()
