"""What a daemon gets from the master that starts it, and how that is written down.

The environment carries the reference's variables (wire notes, Family session): CONDOR_INHERIT
with the parent's pid and address, CONDOR_PARENT_ID, CONDOR_PRIVATE_INHERIT with the session keys.
Beside them there is one descriptor of our own, a pipe that nobody writes to and that ends when
the master does, so that a daemon notices the master's death at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kettle.attributes.secret_variables import (
    INHERIT,
    PARENT_PIPE,
    PRIVATE_INHERIT,
    without_secrets,
)

FAMILY_WORD = "FamilySessionKey:"
SESSION_WORD = "SessionKey:"
# The number of the pipe's descriptor.
PIPE_VARIABLE = PARENT_PIPE


@dataclass(frozen=True, slots=True)
class Inheritance:
    """What the parent left: nothing of it is there when a daemon was started by hand.

    `family` and `session` are secrets in the form of claim ids.
    """

    parent_pid: int = 0
    parent_address: str = ""
    parent_id: str = ""
    family: str = ""
    session: str = ""
    pipe: int = -1


def read_inheritance(environment: Mapping[str, str]) -> Inheritance:
    """Read what the environment says; words that do not fit are as good as absent."""
    words = environment.get(INHERIT, "").split()
    pid = int(words[0]) if words and words[0].isdecimal() else 0
    address = words[1] if len(words) > 1 and words[1].startswith("<") else ""
    family = session = ""
    for word in environment.get(PRIVATE_INHERIT, "").split(" "):
        if word.startswith(FAMILY_WORD):
            family = word.removeprefix(FAMILY_WORD)
        elif word.startswith(SESSION_WORD):
            session = word.removeprefix(SESSION_WORD)
    pipe = environment.get(PIPE_VARIABLE, "")
    return Inheritance(
        pid,
        address,
        environment.get("CONDOR_PARENT_ID", ""),
        family,
        session,
        int(pipe) if pipe.isdecimal() else -1,
    )


def render_inheritance(inheritance: Inheritance) -> dict[str, str]:
    """Return the variables for a child's environment."""
    variables = {
        INHERIT: f"{inheritance.parent_pid} {inheritance.parent_address} 0 0",
        "CONDOR_PARENT_ID": inheritance.parent_id,
    }
    words = []
    if inheritance.session:
        words.append(SESSION_WORD + inheritance.session)
    if inheritance.family:
        words.append(FAMILY_WORD + inheritance.family)
    if words:
        variables[PRIVATE_INHERIT] = " ".join(words)
    if inheritance.pipe >= 0:
        variables[PIPE_VARIABLE] = str(inheritance.pipe)
    return variables


def without_inheritance(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without these variables: for programs that are not our daemons.

    Nor have they any other secret (`SECRET_VARIABLES`).
    """
    passed = without_secrets(environment)
    passed.pop("CONDOR_PARENT_ID", None)
    return passed
