"""What commands that a configuration includes are called, and how they fail.

Texts are HTCondor 25.14.1's, recorded from condor_config_val.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kettle.config import load_config
from kettle.config.sources import MemorySources, split_command
from kettle.errors import ConfigError


class Commands(MemorySources):
    """Programs that say what follows their name; /bin/false fails, others are not there."""

    def run_command(self, command: Sequence[str]) -> tuple[int, str]:
        if command[0] == "/bin/false":
            return 1, ""
        if command[0] != "/bin/echo":
            raise FileNotFoundError(2, "No such file or directory")
        return 0, " ".join(command[1:]) + "\n"


def read(text: str) -> MemorySources:
    sources = Commands(files={"/c": text})
    config = load_config(sources, {"CONDOR_CONFIG": "/c"})
    sources.files["read"] = " ".join(config.files)
    sources.files["at"] = str(config.origin("FOO"))
    sources.files["FOO"] = config.get("FOO") or ""
    return sources


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("include : /bin/echo FOO = 3|", "/bin/echo FOO = 3|"),
        ("include :/bin/echo FOO = 3   |   ", "/bin/echo FOO = 3   |"),
        ("include command : /bin/echo FOO = 3", "/bin/echo FOO = 3 |"),
        ("include output : /bin/echo FOO = 3", "/bin/echo FOO = 3 |"),
        ("include command ifexist : /bin/echo FOO = 3", "/bin/echo FOO = 3 |"),
        ("LOCAL_CONFIG_FILE = /bin/echo FOO = 3|", "/bin/echo FOO = 3|"),
    ],
)
def test_what_a_command_says_is_from_the_command_and_a_bar(text: str, source: str) -> None:
    files = read(f"{text}\n").files
    assert (files["read"], files["at"]) == (f"/c {source}", f"{source}, line 1")


IN = "Configuration Error Line 1 while reading global config source /c"
NOT_VALID = "not a valid command, errno=2 : No such file or directory"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "include : /nope |",
            f'Config source Error "/nope |", Line 0, Include Depth 1: {NOT_VALID}\n{IN}',
        ),
        (
            "include command : /nope -y",
            f'Config source Error "/nope -y", Line 0, Include Depth 1: {NOT_VALID}\n{IN}',
        ),
        (
            "include : /bin/echo error : gone |",
            (
                'Config source Error "/bin/echo error : gone |", Line 1: gone\n'
                f'Config source Error "/bin/echo error : gone |", Line 1, Include Depth 1: \n{IN}'
            ),
        ),
        (
            "include command : /bin/echo error : gone",
            (
                'Config source Error "/bin/echo error : gone |", Line 1: gone\n'
                f'Config source Error "/bin/echo error : gone", Line 1, Include Depth 1: \n{IN}'
            ),
        ),
        (
            "include : /bin/echo 'warning : hi' |",
            (
                "Config source Warning \"/bin/echo 'warning : hi' |\", Line 1: "
                "obsolete use of ':' for parameter assignment at 'warning : hi'\n"
                "Config source Error \"/bin/echo 'warning : hi' |\", Line 1: "
                "Illegal Identifier: <'warning>\n"
                "Config source Error \"/bin/echo 'warning : hi' |\", Line 1, Include Depth 1: \n"
                f"{IN}"
            ),
        ),
        (
            "include command into /k : /bin/false",
            (
                'Config source Error "/bin/false", Line 0, Include Depth 1: '
                f"exited with error 256\n{IN}"
            ),
        ),
        (
            "include command into : /bin/false",
            (
                "Config source Error \"/c\", Line 1: unexpected keyword(s) 'command into' "
                f"after include expected filename after keyword 'into'\n{IN}"
            ),
        ),
        (
            "LOCAL_CONFIG_FILE = /nope |",
            f"Configuration Error Line 0 while reading config source /nope |\n{NOT_VALID}",
        ),
        (
            "LOCAL_CONFIG_FILE = /bin/false |",
            (
                'Error "/bin/false |": command terminated with exit code 256\n'
                "Configuration Error Line 0 while reading config source /bin/false |"
            ),
        ),
    ],
)
def test_a_failing_command_is_named_as_the_reference_names_it(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(f"{text}\n")
    assert str(caught.value) == said


def test_a_failure_of_a_command_that_may_be_missing_counts_for_nothing() -> None:
    kept = read("include ifexist command into /k : /bin/false\nFOO = 1\n").files
    assert (kept["FOO"], kept["read"], "/k" in kept) == ("1", "/c", False)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("/bin/echo 'FOO = 2'  $HOME", ["/bin/echo", "'FOO", "=", "2'", "$HOME"]),
        ('"/bin/echo FOO = \'x  y\' ""z"""', ["/bin/echo", "FOO", "=", "x  y", '"z"']),
    ],
)
def test_an_included_command_has_quotes_as_letters_unless_all_of_it_is_quoted(
    text: str, words: list[str]
) -> None:
    assert split_command(text) == words


@pytest.mark.parametrize("text", ['"/bin/echo \'x"', '"/bin/echo'])
def test_a_command_whose_quote_is_open_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not closed"):
        split_command(text)
