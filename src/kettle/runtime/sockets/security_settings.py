"""What the configuration says about security, read once for each configuration.

A process that is forked from a warmed one (a starter, a shadow host) finds it read already: call
`read_security` before the fork. Lists and policies are decided on in `wire.security`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from kettle.config.knobs.security import SecurityKnobs
from kettle.errors import KettleError, NotFoundError
from kettle.levels import Level
from kettle.runtime.process.privileges import find_account
from kettle.runtime.sockets.listening import ListenPlan, plan_listening
from kettle.runtime.storage.texts import read_text
from kettle.wire.security.authorization import Authorization, LevelRules, read_rules
from kettle.wire.security.mapfile import MapFile, parse_mapfile
from kettle.wire.security.negotiation import Policy, read_policy

if TYPE_CHECKING:
    from kettle.config import Config


@dataclass(frozen=True, slots=True)
class SecuritySettings:
    """The SEC_, ALLOW_ and DENY_ settings and what goes with them.

    `listening` is where a daemon of this configuration listens if its command line names no port.
    """

    policies: Mapping[Level, Policy]
    rules: Mapping[Level, LevelRules]
    pool_equivalence: bool
    mapfile: MapFile | None
    uid_domain: str
    trust_domain: str
    fs_directory: str
    fs_remote_directory: str
    root_is_condor: bool
    token_maximum_age_seconds: int
    claims_domain: bool
    ssl_needs_mapping: bool
    listening: ListenPlan

    def authorization(self) -> Authorization:
        """Return a fresh decision maker, to which holes can be added."""
        return Authorization(dict(self.rules), pool_equivalence=self.pool_equivalence)


@lru_cache(maxsize=4)
def read_security(config: Config) -> SecuritySettings:
    """Read the settings; ConfigError if the map file does not parse."""
    subsystem = config.subsystem
    return SecuritySettings(
        policies={level: read_policy(config.get, level, subsystem=subsystem) for level in Level},
        rules={level: read_rules(config.get, level, subsystem) for level in Level},
        pool_equivalence=config.value(SecurityKnobs.USE_POOL_USERNAME_EQUIVALENT),
        mapfile=read_mapfile(config),
        uid_domain=uid_domain(config),
        trust_domain=config.get("TRUST_DOMAIN") or "",
        fs_directory=config.value(SecurityKnobs.FS_LOCAL_DIR),
        fs_remote_directory=config.get("FS_REMOTE_DIR") or "",
        root_is_condor=root_is_condor(config),
        token_maximum_age_seconds=max(0, config.value(SecurityKnobs.SEC_TOKEN_MAX_AGE)),
        claims_domain=config.value(SecurityKnobs.SEC_CLAIMTOBE_INCLUDE_DOMAIN),
        ssl_needs_mapping=config.value(SecurityKnobs.AUTH_SSL_REQUIRE_CLIENT_MAPPING),
        listening=plan_listening(config, None),
    )


def root_is_condor(config: Config) -> bool:
    """Tell whether root is to be called `condor`: not where nobody has that name.

    A pool that root starts in a container has no such account, and root's jobs have to have an
    owner whose files somebody can touch.
    """
    if not config.value(SecurityKnobs.FS_ROOT_TO_CONDOR):
        return False
    if (config.get("CONDOR_IDS") or "").partition(".")[0].strip() == "0":
        # The pool keeps to root, so its jobs' files are root's.
        return False
    try:
        find_account("condor")
    except NotFoundError:
        return False
    return True


def uid_domain(config: Config) -> str:
    """Return UID_DOMAIN, by default this host's name."""
    return config.get("UID_DOMAIN") or config.get("FULL_HOSTNAME") or "localhost"


def read_mapfile(config: Config) -> MapFile | None:
    """Read CERTIFICATE_MAPFILE; None if there is none. ConfigError if it does not parse."""
    path = config.get("CERTIFICATE_MAPFILE")
    if not path:
        return None
    try:
        text = read_text(path, errors="replace")
    except OSError:
        return None
    literal = config.value(SecurityKnobs.CERTIFICATE_MAPFILE_ASSUME_HASH_KEYS)
    return parse_mapfile(
        text, literal_keys=literal, source=path, read_included=_read_included_mapfiles
    )


def _read_included_mapfiles(path: str) -> list[tuple[str, str]]:
    names = [path]
    if os.path.isdir(path):
        names = sorted(os.path.join(path, name) for name in os.listdir(path))
    found = []
    for name in names:
        try:
            found.append((name, read_text(name, errors="replace")))
        except OSError as error:
            raise KettleError(f"cannot read the map file {name}: {error.strerror}") from error
    return found
