"""What our starter can do, as attributes of slot ads and answers of `condor_starter -classad`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

STARTER_ABILITIES: Mapping[str, object] = {
    "HasVM": False,
    "HasTDP": True,
    "HasSshd": False,
    "HasOsUser": True,
    "HasIOProxy": True,
    "HasReconnect": True,
    "HasJobDeferral": True,
    "HasFileTransfer": True,
    "HasJICLocalStdin": True,
    "HasJICLocalConfig": True,
    "HasJobNetworking": True,
    "HasPerFileEncryption": True,
    "HasSelfCheckpointTransfers": True,
    "HasTransferInputRemaps": True,
    "HasFileTransferPluginMethods": "file,http,https",
    "HasJobTransferPlugins": True,
}
"""What our starter can do, as jobs' Requirements ask for it."""


def offered_methods(served: Iterable[str], broken: Collection[str]) -> str:
    """Return HasFileTransferPluginMethods: our own kinds of URL and others' but those that fail."""
    own = str(STARTER_ABILITIES["HasFileTransferPluginMethods"]).split(",")
    return ",".join(one for one in dict.fromkeys([*own, *served]) if one not in broken)


SCRATCH_DIRECTORY_MARK = "#CoNdOrScRaTcHdIr#"
"""What stands for the job's scratch directory in slot ads, where it is not known yet: a job's
`$$(CondorScratchDir)` becomes this, and the starter puts the directory there (Environment only)."""
