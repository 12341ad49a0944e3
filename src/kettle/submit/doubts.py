"""What of a description would be taken, and comes to nothing when its jobs are to run.

Part of the check of a description (`check.py`), which finds the lines that are to blame.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kettle.config.finding import ERROR, WARNING
from kettle.named_tuples import NamedTuple
from kettle.nearest import Nearest
from kettle.patterns import late_pattern
from kettle.policy.crontab import RANGES, CronTabError, read_crontab
from kettle.submit.arguments import split_list
from kettle.submit.job import evaluate
from kettle.submit.macros import LIVE_NAMES
from kettle.submit.policy import CRON
from kettle.submit.registry import commands_of
from kettle.submit.requests import REQUESTS
from kettle.submit.slips import find_slips

if TYPE_CHECKING:
    from kettle.submit.build import Submission

_LIMIT = late_pattern(r"[A-Za-z_][\w.]*(?::\d+(?:\.\d+)?)?", re.ASCII)
_MENTION = late_pattern(r"(?<!\$)\$\(([A-Za-z_]\w*)\)")


class Doubt(NamedTuple):
    """What is odd, and the command that says it; `nearest` is what may be meant."""

    severity: str
    kind: str
    command: str
    sentence: str
    nearest: str = ""


def find_doubts(submission: Submission) -> Iterator[Doubt]:
    """Find what the jobs of a description that was gone through would fail of."""
    yield from _find_mentions(submission)
    if not submission.cluster:
        return
    yield from _find_folders(submission)
    for command, name, nearest in find_slips(submission):
        sentence = f"{command} asks for {name}, which no machine and no job has by itself"
        yield Doubt(WARNING, "attribute", command, sentence, nearest)
    for attribute, command in REQUESTS.items():
        number = evaluate(submission.cluster.get(attribute) or "undefined")
        if isinstance(number, int | float) and number < 0:
            sentence = f"{command} is below zero: no machine has less than nothing"
            yield Doubt(WARNING, "value", command, sentence)
    yield from _find_schedule(submission)
    limits = evaluate(submission.cluster.get("ConcurrencyLimits") or "undefined")
    for word in split_list(limits) if isinstance(limits, str) else ():
        if not _LIMIT.fullmatch(word):
            sentence = f"{word} is no limit: a name, or NAME:NUMBER"
            yield Doubt(ERROR, "value", "concurrency_limits", sentence)


def _find_mentions(submission: Submission) -> Iterator[Doubt]:
    """Find macros that nothing sets: they stand for an empty text."""
    if submission.statement is None:
        # What is not read of the description, its queue statement for one, may set them.
        return
    macros = submission.macros
    own = {**macros.variables, **macros.row_variables}
    words = Nearest(variable.name for variable in own.values())
    for variable in own.values():
        for name in dict.fromkeys(_MENTION.findall(variable.text)):
            key = name.upper()
            if key in own or key in LIVE_NAMES or key in macros.defaults:
                continue
            sentence = f"{variable.name} mentions $({name}), and nothing sets {name}"
            yield Doubt(WARNING, "undefined", variable.name, sentence, words.of(name))


def _find_folders(submission: Submission) -> Iterator[Doubt]:
    """Find files that are to be written into folders that are not there."""
    cluster = submission.cluster
    here = evaluate(cluster.get("Iwd") or "undefined")
    for attribute, command in commands_of("written").items():
        name = evaluate(cluster.get(attribute) or "undefined")
        if not isinstance(name, str) or not isinstance(here, str) or "://" in name:
            continue
        folder = posixpath.dirname(posixpath.join(here, name))
        if name == "/dev/null" or folder == here.rstrip("/"):
            continue
        fact = submission.sources.look_at(folder)
        if fact is None or not fact.is_directory:
            what = "the job is held" if command == "log" else "the job is held at its end"
            yield Doubt(WARNING, "folder", command, f"the folder {folder} is not there: {what}")


def _find_schedule(submission: Submission) -> Iterator[Doubt]:
    """Find a schedule that is none: its jobs are held, and not at submission."""
    texts = {}
    for name in RANGES:
        text = evaluate(submission.cluster.get(name) or "undefined")
        if isinstance(text, str | int) and not isinstance(text, bool):
            texts[name] = str(text)
    try:
        if texts:
            read_crontab(texts)
    except CronTabError as error:
        is_told = error.wrong != error.without_step
        said = error.message if is_told else "a step of 0 comes to nothing"
        command = next((command for command, name in CRON if name in error.wrong), "")
        yield Doubt(ERROR, "value", command, f"{said}: the jobs would be held")
