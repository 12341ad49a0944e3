"""What is written wrongly gets a sentence with its file, line and thing, as from the real tools."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from kettle.tools.programs import Streams, load_tool


def run(folder: Path, *words: str, config: str = "") -> tuple[int, str, str]:
    settings = folder / "condor_config"
    settings.write_text(f"LOCAL_DIR = {folder}\n{config}", encoding="utf-8")
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    main = load_tool(words[0])
    code: int = main(list(words), {"CONDOR_CONFIG": str(settings), "PATH": "/bin"}, streams)
    assert isinstance(streams.stdout, io.StringIO)
    assert isinstance(streams.stderr, io.StringIO)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()


# Recorded from the real condor_submit -dry-run; where ours says more, the sentence begins so.
SUBMIT = {
    "queue foo": "on Line 2 of {0}: Invalid Queue count expression",
    "quueu": 'on Line 2 of {0}: \n"quueu" is neither an assignment nor a statement',
    "queue x in (a b": "on Line 2 of {0}: Reached end of file without finding closing brace ')'",
    "queue x from nofile": "on Line 2 of {0}: can't open file nofile: No such file or directory",
    "endif\nqueue": "on Line 2 of {0}: endif without matching if",
    "rank = a b\nqueue": "Parse error in expression: \n\tRank = a b",
    "+Foo = a b\nqueue": "Parse error in expression: \n\tFoo = a b",
    "universe = nonesuch\nqueue": "I don't know about the 'nonesuch' universe.",
    "request_cpus = lots of\nqueue": "Parse error in expression: \n\tRequestCpus = lots of",
    "hold = maybe\nqueue": "hold=maybe is invalid, must eval to a boolean.",
    "priority = high\nqueue": "priority=high is invalid, must eval to an integer.",
    "initialdir = /nonesuch\nqueue": "No such directory: /nonesuch",
    "kill_sig = NOSIG\nqueue": "invalid signal NOSIG",
    'arguments = "a\nqueue': "Unterminated double-quote.\nThe full arguments you specified were: ",
    'environment = "a\nqueue': "Unterminated double-quote.\nThe environment you specified was: '",
    "universe = vm\nqueue": "vm_memory cannot be found.\n",
    "universe = container\nqueue": "container jobs require a container_image or docker_image",
    "should_transfer_files = maybe\nqueue": "invalid value (maybe) for ShouldTransferFiles. Please",
    "when_to_transfer_output = maybe\nqueue": (
        "invalid value (maybe) for WhenToTransferOutput. Please either specify \n"
        "ON_EXIT, or ON_EXIT_OR_EVICT and try again. "
    ),
    "deferral_time = abc def\nqueue": (
        "deferral_time = abc def is invalid, must eval to a non-negative integer.\n"
        "ERROR: Parse error in expression: \n\tDeferralTime = abc def\n\t"
    ),
    "should_transfer_files = NO\ntransfer_output_files = a\nqueue": (
        'you specified files you want Condor to transfer via \n"transfer_output_files", but'
    ),
    "queue\n$(": "on Line 3 of {0}: Extra data found after queue statement",
}


@pytest.mark.parametrize("lines", SUBMIT)
def test_a_wrong_submit_file_is_refused_with_its_line(tmp_path: Path, lines: str) -> None:
    path = tmp_path / "job.sub"
    path.write_text(f"executable = /bin/true\n{lines}\n", encoding="utf-8")
    code, _, complaint = run(tmp_path, "condor_submit", "-dry-run", "-", str(path))
    assert code == 1
    assert f"ERROR: {SUBMIT[lines].replace('{0}', str(path))}" in complaint


def test_a_warning_of_the_submit_file_is_passed_on(tmp_path: Path) -> None:
    path = tmp_path / "job.sub"
    path.write_text("executable = /bin/true\nwarning : mind the gap\nqueue\n", encoding="utf-8")
    code, _, complaint = run(tmp_path, "condor_submit", "-dry-run", "-", str(path))
    assert code == 0
    assert complaint == f'WARNING: Warning "{path}", Line 2: mind the gap\n'


CONFIG = {
    "FOO 1": '"FOO 1" is neither an assignment nor a statement',
    "if foo": "foo is not a valid if condition because expression is not a conditional",
    "endif": "endif without matching if",
    "else": "else without matching if",
    "include : /nonesuch": "can't open file /nonesuch: No such file or directory",
    "error : this is wrong": "this is wrong",
    "= 3": "Illegal Identifier: <>",
}


@pytest.mark.parametrize("line", CONFIG)
@pytest.mark.parametrize("tool", [("condor_config_val", "FOO"), ("condor_q",)])
def test_a_wrong_configuration_is_one_error_of_every_tool(
    tmp_path: Path, line: str, tool: tuple[str, ...]
) -> None:
    code, said, complaint = run(tmp_path, *tool, config=f"{line}\n")
    place = f"Configuration Error Line 2 while reading global config source {tmp_path}"
    assert (code, said) == (1, "")
    assert place in complaint
    assert CONFIG[line] in complaint
    assert "Failed to fetch" not in complaint


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("condor_submit", "-dump", "x", "/nonesuch"),
            "\nERROR: Failed to open command file (/nonesuch) (No su",
        ),
        (("condor_submit", "-append"), "condor_submit: -append requires another argument"),
        (("condor_q", "-constraint", "a &&"), "Error: could not parse constraint a &&"),
        (("condor_q", "-constraint"), "Error: -constraint requires another parameter"),
        (("condor_q", "-af"), "Error: -autoformat requires at least one attribute parameter"),
        (("condor_status", "-nonesuch"), "Error:  Unknown option -nonesuch"),
        (("condor_rm",), "You did not specify any jobs"),
        (("condor_rm", "-nonesuch"), "Unrecognized option: -nonesuch"),
        (("condor_history", "-file", "/nonesuch"), "Error opening history file /nonesuch: No such"),
        (("condor_wait", "/nonesuch"), "Couldn't open /nonesuch: No such file or directory"),
        (("condor_ping", "NOPE"), 'ERROR: Could not understand TOKEN "NOPE".'),
        (("condor_advertise", "NOPE", "/nonesuch"), "Unknown command name NOPE"),
        (("classad_eval", "a &&"), "Unable to turn 'a &&' into a ClassAd or an expression."),
        (("condor_tail", "x"), "Invalid Job ID: x"),
    ],
)
def test_a_wrong_command_line_names_the_word(
    tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    code, _, complaint = run(tmp_path, *words)
    assert code == 1
    assert complaint.startswith(sentence)
