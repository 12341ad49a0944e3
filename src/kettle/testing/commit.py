"""Which commit a campaign ran on."""

from __future__ import annotations

import subprocess
from pathlib import Path


def commit_of_this() -> str:
    """Return the commit of the source that runs, with `+` if it was changed since.

    "unknown" outside a checkout.
    """
    here = str(Path(__file__).parent)
    git = ("git", "-C", here)
    try:
        commit = _said(*git, "rev-parse", "--short=12", "HEAD")
        changed = _said(*git, "status", "--porcelain", "--untracked-files=no", here)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{commit}+" if changed else commit


def _said(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.strip()
