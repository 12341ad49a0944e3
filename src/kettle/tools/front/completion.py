"""`kettle completion`: a script that completes subcommands and options in a shell.

The words come from the table of subcommands and from each parser, so nothing is written twice.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from kettle.tools.kettle import SUBCOMMANDS, load_front
from kettle.tools.programs import Streams


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of `kettle completion`."""
    parser = argparse.ArgumentParser(description="Print a completion script for a shell.")
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell it is for")
    return parser


def run(arguments: argparse.Namespace, environment: Mapping[str, str], streams: Streams) -> int:  # noqa: ARG001
    """Print the script."""
    words = {row.name: collect_options(row.name) for row in SUBCOMMANDS}
    render = {"bash": render_bash, "zsh": render_zsh, "fish": render_fish}[arguments.shell]
    streams.stdout.write(render(words))
    return 0


def collect_options(name: str) -> list[str]:
    """Return the words of a subcommand's own, and its long options in the order of its help."""
    actions = load_front(name).build_parser()._actions  # noqa: SLF001 - argparse has no other way
    plain = (action for action in actions if not action.option_strings)
    words = [str(word) for action in plain for word in action.choices or ()]
    options = (word for action in actions for word in action.option_strings)
    return words + [word for word in options if word.startswith("--")]


def render_bash(words: Mapping[str, list[str]]) -> str:
    """Return the script for bash."""
    cases = "".join(
        f"        {name}) options='{' '.join(own)}' ;;\n" for name, own in words.items()
    )
    return (
        "_kettle() {\n"
        '    local word=${COMP_WORDS[COMP_CWORD]} options=""\n'
        '    if [ "$COMP_CWORD" -eq 1 ]; then options=\'' + " ".join(words) + "'\n"
        "    else case ${COMP_WORDS[1]} in\n" + cases + "        esac\n    fi\n"
        '    COMPREPLY=($(compgen -W "$options" -- "$word"))\n'
        "}\n"
        "complete -o default -F _kettle kettle\n"
    )


def render_zsh(words: Mapping[str, list[str]]) -> str:
    """Return the script for zsh, which can use bash's."""
    return "autoload -U +X bashcompinit && bashcompinit\n" + render_bash(words)


def render_fish(words: Mapping[str, list[str]]) -> str:
    """Return the script for fish."""
    first = f"complete -c kettle -n __fish_use_subcommand -f -a '{' '.join(words)}'\n"
    rest = "".join(
        f"complete -c kettle -n '__fish_seen_subcommand_from {name}' {render_fish_word(option)}\n"
        for name, own in words.items()
        for option in own
    )
    return first + rest


def render_fish_word(word: str) -> str:
    """Return what fish is told of a word: an option, or one that stands for itself."""
    return f"-l {word[2:]}" if word.startswith("--") else f"-a {word}"
