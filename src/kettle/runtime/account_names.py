"""What an account is called, also one that the machine knows no name of.

In a container, or a job of a continuous integration, a user may be a mere number.
"""

from __future__ import annotations


def account_name(uid: int) -> str:
    """Return the name of an account; its number, where it has none here."""
    import pwd

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def account_home(uid: int) -> str:
    """Return the home of an account; nothing, where it has none here."""
    import pwd

    try:
        return pwd.getpwuid(uid).pw_dir
    except KeyError:
        return ""


def login_name() -> str:
    """Return who we are, as the environment or the machine says."""
    import getpass  # brings the terminal's settings
    import os

    try:
        return getpass.getuser()
    except KeyError:
        return str(os.getuid())
