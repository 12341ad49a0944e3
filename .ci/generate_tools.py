"""Write the manual's pages of commands from what each says when it is asked for -help.

`python .ci/generate_tools.py` rewrites `docs/reference/tools.md` and the pages of `docs/tools/`;
`tests/tidy/test_generated_tools.py` fails when it is out of date. GROUPS has the one sentence
about each command.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import tool_pages

from kettle.tools import kettle
from kettle.tools.programs import Streams, load_tool

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/reference/tools.md"

# Compat: these end with 1 after their help, as the reference's do
# (tests/cli/test_admin_recordings.py).
EXIT_CODES = dict.fromkeys(
    (
        "condor_config_val",
        "condor_drain",
        "condor_manifest",
        "condor_preen",
        "condor_prio",
        "condor_run",
        "condor_store_cred",
        "condor_token_create",
        "condor_token_fetch",
        "condor_token_request",
        "condor_token_request_approve",
        "condor_token_request_list",
        "condor_userprio",
        "condor_who",
    ),
    1,
) | {"classad_eval": 255, "condor_chirp": 255}

GROUPS: dict[str, dict[str, str]] = {
    "The front door": {
        "kettle": "Start and stop a pool of your own, run commands in it, look at it.",
    },
    "Submitting": {
        "condor_submit": "Queue the jobs that a submit description makes.",
        "condor_run": "Run one shell command as a job and wait for it.",
        "condor_transfer_data": "Fetch the output of jobs whose files were spooled.",
    },
    "Looking at jobs": {
        "condor_q": "Show the jobs in the queue.",
        "condor_history": "Show the jobs that have left it.",
        "condor_userlog": "Sum up event logs: each run, and what hosts and jobs used.",
        "condor_userlog_job_counter": "Count the jobs that an event log says are queued.",
        "condor_check_userlogs": "Tell whether the events of the jobs in event logs fit together.",
        "condor_manifest": "Look at the lists of checkpoints at a URL, and delete what they list.",
        "condor_wait": "Wait until the jobs in an event log have ended.",
        "condor_watch_q": "Follow jobs by their event logs.",
        "condor_tail": "Show the ends of a running job's files.",
        "condor_ssh_to_job": "Open a shell beside a running job.",
    },
    "Acting on jobs": {
        "condor_rm": "Remove jobs from the queue.",
        "condor_hold": "Keep jobs from running until they are released.",
        "condor_release": "Let held jobs run again.",
        "condor_suspend": "Stop the processes of running jobs.",
        "condor_continue": "Let suspended jobs go on.",
        "condor_vacate_job": "Take running jobs off their machines and queue them again.",
        "condor_qedit": "Change attributes of jobs in the queue.",
        "condor_prio": "Change the order of one owner's jobs.",
        "condor_reschedule": "Have a schedd ask for matches now.",
    },
    "From inside a job": {
        "condor_chirp": "Read and write files, attributes and log lines at the access point.",
    },
    "Looking at a pool": {
        "condor_status": "Show the machines and daemons of a pool.",
        "condor_who": "Show what runs on this machine.",
        "condor_findhost": "Name machines that are free and fit a condition.",
        "condor_userprio": "Show who used how much and has which priority; change both.",
        "condor_ping": "Say what you may do at a daemon, as whom, and how that was proven.",
        "condor_version": "Say which version this is.",
    },
    "Running a pool": {
        "condor_on": "Start daemons.",
        "condor_off": "Stop daemons.",
        "condor_restart": "Stop daemons and start them again.",
        "condor_reconfig": "Have daemons read their configuration again.",
        "condor_set_shutdown": "Choose the program that runs when a master has shut down.",
        "condor_vacate": "Take the jobs off a machine.",
        "condor_drain": "Have a machine give up its jobs and take no new ones.",
        "condor_preen": "Tidy up what jobs and daemons that ended badly left behind.",
        "condor_fetchlog": "Print a log of a daemon on another machine.",
        "condor_config_val": "Show what the configuration says, and where; change it in a daemon.",
        "condor_advertise": "Send an ad to the collector.",
    },
    "Security": {
        "condor_token_create": "Sign a token with a key of this machine.",
        "condor_token_fetch": "Have a daemon issue a token for who you are there.",
        "condor_token_list": "List the tokens that your tools would show.",
        "condor_token_request": "Ask for a token that an administrator must approve.",
        "condor_token_request_list": "List the requests that wait.",
        "condor_token_request_approve": "Approve a request.",
        "condor_store_cred": "Store the pool password, or a credential at another pool.",
    },
    "Languages": {
        "classad_eval": "Evaluate ClassAd expressions.",
        "condor_transform_ads": "Print ads as rules change them; write old routes as rules.",
    },
    "Daemons": {
        "condor_master": "Start the other daemons and watch over them.",
        "condor_collector": "Keep everybody's ads and answer questions about them.",
        "condor_negotiator": "Match idle jobs with slots, fairly.",
        "condor_schedd": "Keep the queue and run its jobs.",
        "condor_startd": "Offer this machine's slots.",
        "condor_shadow": "Watch over one running job, beside the schedd.",
        "condor_starter": "Run one job, beside the startd.",
        "condor_shared_port": "Let all daemons of a machine be reached at one port.",
    },
}


def read_scripts() -> dict[str, str]:
    """Return the installed commands and their entry points."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    scripts: dict[str, str] = project["project"]["scripts"]
    return scripts


def ask_help(name: str, words: list[str]) -> tuple[int, str]:
    """Return the exit code of a command and what it printed."""
    out = io.StringIO()
    module, _, _ = read_scripts()[name].partition(":")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        if module == "kettle.tools.programs":
            main = load_tool(name)
            code = main([name, *words], {}, Streams(io.StringIO(), out, out))
        else:
            code = importlib.import_module(module).main([name, *words])
    return code, out.getvalue()


def describe(name: str) -> Iterator[str]:
    """Yield the lines about one command."""
    sentence = next(g[name] for g in GROUPS.values() if name in g)
    if name in tool_pages.TOOLS and name != "kettle":
        yield f"- [{name}](../tools/{name}.md): {sentence}"
        return
    yield from ("", f"### {name}", "", sentence, "")
    yield from ("```text", ask_help(name, ["-help"])[1].rstrip(), "```")


def render() -> str:
    """Return the page."""
    os.environ.update(COLUMNS="100", NO_COLOR="1")  # what argparse looks at
    lines = [
        "# Commands",
        "",
        "Every command has its page: what it does, its options, an example, its exit codes. An",
        "option with one dash may be shortened, as long as it stays clear; with two dashes it must",
        "be whole.",
    ]
    for title, commands in GROUPS.items():
        lines += ["", f"## {title}", ""]
        for name in commands:
            lines += describe(name)
            if name == "kettle":
                for row in kettle.SUBCOMMANDS:
                    text = ask_help("kettle", [row.name, "--help"])[1].rstrip()
                    lines += ["", f"### kettle {row.name}", "", row.sentence, ""]
                    lines += ["```text", text, "```"]
    return "\n".join(lines) + "\n"


def render_pages() -> dict[Path, str]:
    """Return every page of this manual's part by its place."""
    pages = {PAGE: render()}
    for commands in GROUPS.values():
        for name, sentence in commands.items():
            if name in tool_pages.TOOLS and name != "kettle":
                text = tool_pages.render_page(name, sentence, ask_help(name, ["-help"])[1])
                pages[tool_pages.FOLDER / f"{name}.md"] = text
    return pages


if __name__ == "__main__":
    for path, text in render_pages().items():
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{path}\n")
