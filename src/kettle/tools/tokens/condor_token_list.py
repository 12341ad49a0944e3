"""`condor_token_list`: the tokens that this user's tools would offer."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from kettle.errors import KettleError
from kettle.runtime.credentials import read_private_file
from kettle.runtime.storage.texts import read_bytes
from kettle.tools.options import Option
from kettle.tools.phrases import Phrases, SaidError
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach
from kettle.tools.tokens.token_commands import DAEMON, MISSING, Wish, run, token_folder
from kettle.wire.security.tokens import parse_token

OPTIONS = (Option("dir", values=1), Option("file", values=1), Option("capability"), *DAEMON)
NAMING = ("pool", "name", "type")
PHRASES = Phrases(
    unknown="condor_token_list: Invalid command line argument: {word}\n",
    missing="",
    missing_of={
        "dir": "condor_token_list: -dir requires path argument.\n",
        "file": "condor_token_list: -file requires file argument.\n",
        **{name: MISSING[name].replace("{tool}", "condor_token_list") for name in NAMING},
    },
)
USAGE = """\
Usage: condor_token_list [-dir PATH | -file FILE]

List the tokens of this user: header, claims and file of each, without their signatures.

  -dir PATH    look in this folder instead of the configured one
  -file FILE   look in this file only
  -capability  look for the daemon that knows tokens of abilities; none of Kettle's gives such
  -type SUBSYSTEM, -name NAME, -pool HOST
               which daemon
"""


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_token_list`."""
    return run(
        argv, environment, streams, OPTIONS, USAGE, list_tokens, after_help=0, phrases=PHRASES
    )


def list_tokens(wish: Wish, reach: Reach, streams: Streams) -> int:
    """Print one line for each token; what cannot be read, and what is none, is passed over.

    Compat: of a token that no tool uses it is said why; the reference lists it like any other.
    Shown by test_a_token_that_others_may_read_is_listed_and_said_to_be_of_no_use. -capability looks
    for its daemon and asks it nothing: no daemon of ours gives such tokens.
    """
    if "capability" in wish.flags:
        find_daemon(wish, reach)
    folder = wish.get("dir") or token_folder(reach)
    for path in [wish.get("file")] if wish.get("file") else files_in(folder):
        note = ""
        content = read_private_file(path)
        if content is None:
            try:
                content = read_bytes(path)
            except OSError:
                continue
            note = f"no tool uses {path}: others may read it, or it is not yours\n"
        for line in content.decode("utf-8", "replace").splitlines():
            text = line.strip()
            if not text or text.startswith("#"):
                continue
            try:
                token = parse_token(text)
            except KettleError:
                continue
            streams.stderr.write(note)
            note = ""
            header, claims = token.documents
            streams.stdout.write(f"Header: {header} Payload: {claims} File: {path}\n")
    return 0


def find_daemon(wish: Wish, reach: Reach) -> None:
    """Raise SaidError if the daemon that -type, -name and -pool mean is nowhere."""
    from kettle.client.pool import KINDS, SCHEDD

    word = wish.get("type").lower()
    try:
        reach.locate(KINDS[word] if word else SCHEDD)
    except KettleError:
        raise SaidError("ERROR: couldn't locate daemon.") from None


def files_in(folder: str) -> Iterator[str]:
    """Yield the files of the token folder; one that is not there has none, which is no failure."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    yield from (os.path.join(folder, name) for name in names if not name.startswith("."))
