"""`python -m kettle.starter`: condor_starter.

Starters that run jobs are forked by their startd or schedd and never come through here; the
program says what a starter can do (`-classad`), as the reference's does.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence

from kettle.attributes.abilities import STARTER_ABILITIES, offered_methods
from kettle.classad.text import quote_old
from kettle.config import Config
from kettle.errors import KettleError
from kettle.runtime import life
from kettle.runtime.life import Life
from kettle.runtime.remote_settings import load_for_child
from kettle.runtime.standard_streams import settle_streams
from kettle.runtime.storage.url_fetching import MachinePlugins, plan_trials

_METHODS = "HasFileTransferPluginMethods"

_HELP = """Usage: condor_starter [-help | -classad]

Starters are forked by condor_startd and condor_schedd, one for each run of a job.

  -classad  print what a starter can do
"""


def _complain(problem: str) -> None:
    sys.stderr.write(f"{problem}\n")


async def _print_abilities(config: Config) -> int:
    """Ask the configured plug-ins what they serve, try what is to be tried, and print it all."""
    own = Life("STARTER", _complain)
    try:
        plugins = MachinePlugins(
            own.processes, config.get("FILETRANSFER_PLUGINS") or "", tempfile.gettempdir()
        )
        served = await plugins.served_methods()
        broken = await plugins.failing(plan_trials(config, served))
    finally:
        await own.end()
    for name, value in {**STARTER_ABILITIES, _METHODS: offered_methods(served, broken)}.items():
        text = quote_old(value) if isinstance(value, str) else str(value)
        sys.stdout.write(f"{name} = {text}\n")
    return 0


def main(argv: Sequence[str]) -> int:
    """Print the abilities, or say who starts starters."""
    if "-classad" in argv[1:]:
        try:
            config = load_for_child("STARTER")
        except KettleError as error:
            sys.stderr.write(f"ERROR: {error}\n")
            return 1
        return life.run(_print_abilities(config))
    if "-help" in argv[1:] or "-h" in argv[1:]:
        sys.stdout.write(_HELP)
        return 0
    sys.stderr.write("condor_starter: starters are forked by condor_startd and condor_schedd\n")
    return 1


def program() -> None:
    """Be the command `condor_starter`."""
    settle_streams("condor_starter")
    sys.exit(main(sys.argv))


if __name__ == "__main__":
    program()
