"""`condor_token_list`: the tokens that this user's tools would offer."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from kettle.errors import KettleError
from kettle.runtime.credentials import read_private_file
from kettle.tools.options import Option
from kettle.tools.phrases import Phrases
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach
from kettle.tools.tokens.token_commands import Wish, run, token_folder
from kettle.wire.security.tokens import parse_token

OPTIONS = (Option("dir", values=1), Option("file", values=1))
PHRASES = Phrases(
    unknown="condor_token_list: Invalid command line argument: {word}\n",
    missing="",
    missing_of={
        "dir": "condor_token_list: -dir requires path argument.\n",
        "file": "condor_token_list: -file requires file argument.\n",
    },
)
USAGE = """\
Usage: condor_token_list [-dir PATH | -file FILE]

List the tokens of this user: header, claims and file of each, without their signatures.

  -dir PATH    look in this folder instead of the configured one
  -file FILE   look in this file only
"""


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_token_list`."""
    return run(
        argv, environment, streams, OPTIONS, USAGE, list_tokens, after_help=0, phrases=PHRASES
    )


def list_tokens(wish: Wish, reach: Reach, streams: Streams) -> int:
    """Print one line for each token."""
    folder = wish.get("dir") or token_folder(reach)
    for path in [wish.get("file")] if wish.get("file") else files_in(folder, wish, streams):
        content = read_private_file(path)
        if content is None:
            try:
                content = Path(path).read_bytes()
            except OSError as error:
                # A folder in the folder holds no tokens, here as where tools look for them.
                if not isinstance(error, IsADirectoryError):
                    streams.stderr.write(f"cannot read {path}: {error.strerror}\n")
                continue
            streams.stderr.write(f"no tool uses {path}: others may read it, or it is not yours\n")
        for line in content.decode("utf-8", "replace").splitlines():
            text = line.strip()
            if not text or text.startswith("#"):
                continue
            try:
                token = parse_token(text)
            except KettleError as error:
                streams.stderr.write(f"{path}: {error}\n")
                continue
            header = json.dumps(token.header, separators=(",", ":"))
            claims = json.dumps(token.claims, separators=(",", ":"))
            streams.stdout.write(f"Header: {header} Payload: {claims} File: {path}\n")
    return 0


def files_in(folder: str, wish: Wish, streams: Streams) -> Iterator[str]:
    """Yield the files of the token folder; of one that was named and cannot be read it is said.

    Compat: a folder that is not there holds no tokens, which is no failure; shown by
    test_a_token_folder_that_is_not_there_is_named_and_holds_none.
    """
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        if wish.get("dir"):
            streams.stderr.write(f"cannot read {folder}: {error.strerror}\n")
        return
    yield from (os.path.join(folder, name) for name in names if not name.startswith("."))
