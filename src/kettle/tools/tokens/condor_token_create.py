"""`condor_token_create`: sign a token with a key of this machine."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping

from kettle.errors import UsageError
from kettle.runtime.credentials import SigningKeys
from kettle.tools.options import Option
from kettle.tools.phrases import Phrases
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach
from kettle.tools.tokens.token_commands import MISSING, TOKEN, Wish, deliver, run
from kettle.wire.security.identity import is_one_word
from kettle.wire.security.tokens import POOL_KEY, mint_token

# What the program ends with when it cannot read the key to sign with.
NO_KEY_EXIT_CODE = 2
TOLD = ("version", "h", "he", "hel", "help")
OPTIONS = (Option("identity", shortest=2, values=1), Option("key", values=1), *TOKEN)
PHRASES = Phrases(
    unknown="condor_token_create: Invalid command line argument: {word}\n",
    missing="",
    missing_of={
        **{name: text.format(tool="condor_token_create") for name, text in MISSING.items()},
        "identity": "condor_token_create: -identity requires a condor identity as an argument\n",
        "key": "condor_token_create: -key requires a key ID as an argument\n",
    },
    missing_shows_usage=False,
)

USAGE = """\
Usage: condor_token_create -identity USER@DOMAIN [OPTIONS]

Sign a token with a key that this machine keeps (SEC_TOKEN_POOL_SIGNING_KEY_FILE).

  -identity USER@DOMAIN  who the token says its bearer is
  -authz LEVEL           allow this level only; may be given again
  -lifetime SECONDS      how long the token is good
  -key ID                the key to sign with (POOL)
  -token NAME            write it to this file in the token folder
  -file PATH             write it to this file
"""


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_token_create`."""
    # The reference has nothing to say about a single word.
    words = argv[:1] if len(argv) == 2 and argv[1].lstrip("-") not in TOLD else argv
    return run(words, environment, streams, OPTIONS, USAGE, create, phrases=PHRASES)


def create(wish: Wish, reach: Reach, streams: Streams) -> int:
    """Make the token and deliver it."""
    identity = wish.get("identity")
    if not identity:
        # Compat: the reference makes a token for nobody
        # (test_a_token_for_nobody_is_not_made).
        raise UsageError("whose token is it?", hint="-identity USER@DOMAIN")
    if not is_one_word(identity):
        # Compat: the reference makes it, and jobs of its bearer are idle for ever
        # (test_a_token_for_a_name_with_blanks_is_not_made).
        raise UsageError(
            f"nobody can be {identity!r}: a name has no blanks", hint="-identity USER@DOMAIN"
        )
    key_id = wish.get("key") or reach.config.get("SEC_TOKEN_ISSUER_KEY") or POOL_KEY
    key = SigningKeys(reach.config).key(key_id)
    if key is None:
        # Compat: exit code 2; shown by test_a_signing_key_that_is_not_there_ends_with_2.
        where = SigningKeys(reach.config).path(key_id)
        streams.stderr.write(
            f"Failed to generate a token.\nTOKEN:1:Failed to read file {where} securely.\n"
        )
        return NO_KEY_EXIT_CODE
    token = mint_token(
        key,
        key_id=key_id,
        issuer=reach.config.get("TRUST_DOMAIN") or "",
        subject=identity,
        issued_at=int(time.time()),
        token_id=secrets.token_hex(16),
        lifetime_seconds=wish.lifetime if wish.lifetime >= 0 else None,
        levels=tuple(wish.levels),
    )
    return deliver(token, wish, reach, streams)
