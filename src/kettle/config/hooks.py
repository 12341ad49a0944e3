"""Which hooks a configuration names, so that a daemon can say that it calls none of them.

A hook is a program that a daemon is to call at some point of a job's life, set as
`<keyword>_HOOK_<point>`. Kettle calls no hooks yet: what is configured is found here and named in
the logs of the daemons that would call it (startd, starter), so that nobody waits for it in vain.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kettle.classad import ClassAd
    from kettle.config.store import Config

_JOB_POINTS = frozenset(
    {"PREPARE_JOB_BEFORE_TRANSFER", "PREPARE_JOB", "UPDATE_JOB_INFO", "JOB_EXIT"}
)
_FETCH_POINTS = frozenset({"FETCH_WORK", "REPLY_FETCH", "REPLY_CLAIM", "EVICT_CLAIM"})
_HOOK = re.compile(r"(\w+?)_HOOK_([A-Z_]+)")


@dataclass(frozen=True)
class JobHooks:
    """Hooks around a job: which keyword counts for it, and the knobs that are set for each."""

    keyword: str = ""
    default_keyword: str = ""
    knobs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def meant_for(self, job: ClassAd) -> tuple[str, ...]:
        """Return the names of the knobs whose programs the job would have around it.

        The machine's keyword counts before the job's own (HookKeyword), and that before the
        machine's default.
        """
        word = self.keyword or job.string("HookKeyword") or self.default_keyword
        return self.knobs.get(word.upper(), ())


def read_job_hooks(config: Config) -> JobHooks:
    """Return what is configured around jobs."""
    found: dict[str, list[str]] = {}
    for keyword, name in _find(config, _JOB_POINTS):
        found.setdefault(keyword, []).append(name)
    return JobHooks(
        config.get("STARTER_JOB_HOOK_KEYWORD") or "",
        config.get("STARTER_DEFAULT_JOB_HOOK_KEYWORD") or "",
        {keyword: tuple(sorted(names)) for keyword, names in found.items()},
    )


def fetch_hooks(config: Config) -> list[str]:
    """Return the knobs that would have a startd fetch work, if its own keyword has any."""
    keyword = (config.get("STARTD_JOB_HOOK_KEYWORD") or "").upper()
    return sorted(name for word, name in _find(config, _FETCH_POINTS) if word == keyword)


def explain_uncalled(names: tuple[str, ...] | list[str]) -> str:
    """Return the sentence for the log about hooks that are configured and not called."""
    return f"WARNING: {', '.join(names)} will not be called: there are no hooks yet"


def _find(config: Config, points: frozenset[str]) -> list[tuple[str, str]]:
    """Return (keyword, knob) of every hook of these points that is set to something."""
    found = []
    for macro in config.entries():
        match = _HOOK.fullmatch(macro.name.upper())
        if match and match[2] in points and config.get(macro.name):
            found.append((match[1], macro.name.upper()))
    return found
