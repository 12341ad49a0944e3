"""Which of our tokens a server is offered, and when one is made."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from kettle.config import Config
from kettle.runtime.credentials import SystemClientCredentials
from kettle.wire.security.tokens import mint_token, scramble, signing_key
from kettle.wire.sinful import Sinful

OURS, THEIRS = b"our key", b"their key"
HERE, ELSEWHERE = Sinful.parse("<127.0.0.1:9618>"), Sinful.parse("<192.0.2.1:9618>")


def token(name: str, key: bytes, *, key_id: str = "POOL", issuer: str = "pool") -> str:
    return mint_token(
        signing_key(key_id, scramble(key)),
        key_id=key_id,
        issuer=issuer,
        subject=f"{name}@pool",
        issued_at=1000,
        token_id=name,
    )


def offered(
    folder: Path,
    texts: Sequence[str],
    address: Sinful,
    *,
    holds_key: bool = True,
    shared: bool = True,
) -> str | None:
    """Return the subject of the token that is offered to a server of `pool`."""
    tokens, key = folder / ".condor/tokens.d", folder / "POOL"
    tokens.mkdir(parents=True)
    for number, text in enumerate(texts):
        path = tokens / str(number)
        path.write_text(text)
        path.chmod(0o600)
    if holds_key:
        key.write_bytes(scramble(OURS))
        key.chmod(0o600)
    config = Config.from_text(
        ("" if shared else f"SEC_TOKEN_DIRECTORY = {tokens}\n") + "TRUST_DOMAIN = pool\n"
        f"SEC_TOKEN_POOL_SIGNING_KEY_FILE = {key}\nSEC_PASSWORD_DIRECTORY = {folder / 'none'}\n"
        f"SEC_TOKEN_SYSTEM_DIRECTORY = {folder / 'none'}\n",
        subsystem="TOOL",
        environment={"HOME": str(folder)},
    )
    found = SystemClientCredentials(config, lambda: 1500.0).find_token("pool", ("POOL",), address)
    return None if found is None else found.subject


MINTED = "condor@password"


@pytest.mark.parametrize(
    ("texts", "here", "elsewhere"),
    [
        ([], MINTED, MINTED),
        ([token("a", OURS)], "a@pool", "a@pool"),
        ([token("a", OURS, issuer="other")], MINTED, MINTED),
        ([token("a", OURS, key_id="other")], MINTED, MINTED),
        ([token("a", THEIRS)], MINTED, "a@pool"),
        ([token("a", THEIRS), token("b", OURS)], "b@pool", "b@pool"),
        ([token("a", OURS), token("b", OURS)], "a@pool", "a@pool"),
    ],
)
def test_a_token_that_our_key_disproves_is_for_other_machines(
    tmp_path: Path, texts: list[str], here: str, elsewhere: str
) -> None:
    (tmp_path / "1").mkdir()
    (tmp_path / "2").mkdir()
    assert offered(tmp_path / "1", texts, HERE) == here
    assert offered(tmp_path / "2", texts, ELSEWHERE) == elsewhere


def test_a_token_in_the_pool_s_own_folder_is_offered_whatever_key_is_there(tmp_path: Path) -> None:
    assert offered(tmp_path, [token("a", THEIRS)], HERE, shared=False) == "a@pool"


@pytest.mark.parametrize(("texts", "wanted"), [([], None), ([token("a", THEIRS)], "a@pool")])
def test_without_the_key_the_first_fitting_token_is_offered(
    tmp_path: Path, texts: list[str], wanted: str | None
) -> None:
    assert offered(tmp_path, texts, HERE, holds_key=False) == wanted
