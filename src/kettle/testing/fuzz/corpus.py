"""Inputs that are kept: each reaches a line of ours that none before it did.

What is found is tried with changes from then on, so that what is deep within a reader is come to
step by step. A corpus is a folder with a file for each decoder, an input a line.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from types import FrameType
from typing import Any

from kettle.runtime.storage.files import Files
from kettle.testing.fuzz.decoder import Decoder
from kettle.testing.fuzz.inputs import make_input
from kettle.testing.fuzz.run import try_one

# Limit: longer inputs are tried, and not kept.
_LONGEST_KEPT = 1500


def read_corpus(folder: Path, name: str) -> list[bytes]:
    """Return what is kept for a decoder."""
    path = folder / f"{name}.json"
    if not path.exists():
        return []
    return [text.encode("latin-1") for text in json.loads(path.read_text(encoding="ascii"))]


def write_corpus(folder: Path, name: str, inputs: Iterable[bytes]) -> None:
    """Keep inputs for a decoder."""
    lines = ",\n".join(json.dumps(data.decode("latin-1")) for data in inputs)
    Files().write_atomically(str(folder / f"{name}.json"), f"[\n{lines}\n]\n")


def with_corpus(decoder: Decoder, folder: Path | None) -> Decoder:
    """Return the decoder with what is kept for it among its samples."""
    kept = read_corpus(folder, decoder.name) if folder is not None else []
    return dataclasses.replace(decoder, samples=(*decoder.samples, *kept))


class _Lines:
    """The lines of ours that were reached."""

    def __init__(self) -> None:
        self.seen: set[tuple[str, int]] = set()

    def call(self, frame: FrameType, _event: str, _argument: object) -> Any:
        """Follow functions of ours, and no others."""
        path = frame.f_code.co_filename
        return self.line if "kettle" in path and "testing" not in path else None

    def line(self, frame: FrameType, event: str, _argument: object) -> Any:
        """Take note of a line."""
        if event == "line":
            self.seen.add((frame.f_code.co_filename, frame.f_lineno))
        return self.line


def distill(decoder: Decoder, seed: int, numbers: range, kept: list[bytes]) -> list[bytes]:
    """Return the kept inputs that are still of use, and those of a seed that reach new lines."""
    lines = _Lines()
    chosen: list[bytes] = []

    def reaches_more(data: bytes) -> bool:
        before = len(lines.seen)
        sys.settrace(lines.call)
        try:
            try_one(decoder, data)
        finally:
            sys.settrace(None)
        return len(lines.seen) > before

    for data in decoder.samples:
        reaches_more(data)
    chosen += [data for data in kept if reaches_more(data)]
    for number in numbers:
        samples = (*decoder.samples, *chosen)
        data = make_input(samples, decoder.name, seed, number, decoder.grammars)
        if len(data) <= _LONGEST_KEPT and reaches_more(data):
            chosen.append(data)
    return chosen
