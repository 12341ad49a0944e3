"""What is refused, in the reference's words and lines (recorded from HTCondor 25.14.1)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kettle.classad.text import LONGEST_FORMULA
from kettle.errors import SubmitError
from unit.submit.submitting import jobs_of, submission, values

ORDER = Path(__file__).parents[2] / "data" / "submit_order.json"


def complaint(text: str) -> str:
    with pytest.raises(SubmitError) as raised:
        jobs_of(f"{text}\nqueue\n")
    return raised.value.message


@pytest.mark.parametrize("universe", ["vanilla", "local", "java"])
def test_a_program_that_is_empty_is_refused_where_it_travels(universe: str) -> None:
    text = f"universe = {universe}\nexecutable = empty\narguments = Main\n"
    files = {"empty": ""}
    with pytest.raises(SubmitError) as raised:
        list(submission(f"{text}queue\n", files).jobs())
    assert raised.value.message == "\nERROR: Executable file empty has zero length"
    assert len(list(submission(f"{text}transfer_executable = false\nqueue\n", files).jobs())) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "should_transfer_files = no\nwhen_to_transfer_output = on_exit",
            (
                "WhenToTransferOutput specified as on_exit yet ShouldTransferFiles \n"
                "defined as no. Please remove this contradiction from your submit file and try \n"
                "again. "
            ),
        ),
        (
            "should_transfer_files = no\nwhen_to_transfer_output = never",
            (
                "WhenToTransferOutput specified as never yet ShouldTransferFiles \n"
                "defined as no. Please remove this contradiction from your submit file and try \n"
                "again. "
            ),
        ),
        (
            "when_to_transfer_output = none",
            (
                "WhenToTransferOutput specified as none yet ShouldTransferFiles \n"
                "defined as IF_NEEDED. Please remove this contradiction from your submit file \n"
                "and try again. "
            ),
        ),
        (
            "should_transfer_files = if_needed\nwhen_to_transfer_output = on_exit_or_evict",
            (
                '"when_to_transfer_output = ON_EXIT_OR_EVICT" and \n'
                '"should_transfer_files = IF_NEEDED" are incompatible. The behavior of these \n'
                "two settings together would produce incorrect file access in some cases. \n"
                "Please decide which one of those two settings you're more interested in. If \n"
                'you really want "IF_NEEDED", set "when_to_transfer_output = ON_EXIT". If you \n'
                'really want "ON_EXIT_OR_EVICT", please set "should_transfer_files = YES". \n'
                "After you have corrected this incompatibility, please try running \n"
                "condor_submit again.\n "
            ),
        ),
        (
            "should_transfer_files = no\ntransfer_input_files = a\ntransfer_output_files = b",
            (
                "you specified files you want Condor to transfer via \n"
                '"transfer_input_files" and "transfer_output_files", but you disabled \n'
                "should_transfer_files. "
            ),
        ),
        (
            "should_transfer_files = foo",
            (
                "invalid value (foo) for ShouldTransferFiles. Please either specify \n"
                "YES, NO, or IF_NEEDED and try again. "
            ),
        ),
    ],
)
def test_contradictions_of_file_transfer_break_their_lines_where_the_reference_does(
    text: str, said: str
) -> None:
    assert complaint(text) == f"\nERROR: {said}"


# Whether the program travels, and what is refused where nothing does: nothing, that it was asked
# to travel, or that the value is no truth as well (25.14.1).
SPELLINGS = {
    "false": (False, ""), "FaLsE": (False, ""), "$(Z:false)": (False, ""),
    "f": (False, "no truth"), "F": (False, "no truth"),
    "0": (True, ""), "0.0": (True, ""), "1 == 2": (True, ""), "$(Z:0)": (True, ""),
    "no": (True, "no truth"), "NO": (True, "no truth"), "n": (True, "no truth"),
    "yes": (True, "no truth"), "t": (True, "no truth"), "undefined": (True, "no truth"),
    '"false"': (True, "no truth"), "off": (True, "no truth"),
    "true": (True, "asked"), "TRUE": (True, "asked"), "1": (True, "asked"), "0.5": (True, "asked"),
}  # fmt: skip


@pytest.mark.parametrize("text", SPELLINGS)
def test_spellings_of_transfer_executable(text: str) -> None:
    travels, refused = SPELLINGS[text]
    line = f"transfer_executable = {text}\n"
    for should in ("", "should_transfer_files = YES\n", "should_transfer_files = IF_NEEDED\n"):
        made, _ = jobs_of(f"{line}{should}queue\n")
        assert made.cluster.get("TransferExecutable") == (None if travels else "false")
        assert made.cluster.get("Cmd") == ('"/work/job.sh"' if travels else '"job.sh"')
    nothing = f"{line}should_transfer_files = NO\nqueue\n"
    if not refused:
        assert jobs_of(nothing)[0].cluster.get("Cmd") == (
            '"/work/job.sh"' if travels else '"job.sh"'
        )
        return
    said = complaint(f"{line}should_transfer_files = NO")
    assert said.startswith(
        "\nERROR: You explicitly requested that the executable be transfered, but for \n"
    )
    invalid = f"ERROR: transfer_executable={text} is invalid, must eval to a boolean."
    last = invalid if refused == "no truth" else "the Condor manual for more details. "
    assert said.split("\n")[-1] == last


@pytest.mark.parametrize(
    ("universe", "is_refused"),
    [
        ("local", True),
        ("scheduler", True),
        ("docker\ndocker_image = x", True),
        ("java\narguments = Main", False),
        ("grid\ngrid_resource = batch slurm", False),
    ],
)
def test_a_program_that_is_asked_to_travel_where_nothing_does_is_refused(
    universe: str, is_refused: bool
) -> None:
    text = f"universe = {universe}\ntransfer_executable = true\nshould_transfer_files = NO\n"
    if is_refused:
        assert complaint(text).startswith("\nERROR: You explicitly requested")
    else:
        assert jobs_of(f"{text}queue\n")


def test_requirements_that_do_not_parse_are_warned_of_as_well() -> None:
    lines = complaint("requirements = 1 +").split("\n")
    assert lines[0] == "ERROR: Parse error in expression: "
    assert lines[1].startswith("\tRequirements = (1 +) && (TARGET.Arch ==")
    assert '[1], "25.12.0")' in lines[1]
    assert lines[2:] == [
        "\t",
        "WARNING: Could not get attribute references from Requirements: (1 +)",
    ]


@pytest.mark.parametrize(
    ("line", "attribute", "value"),
    [
        ('transfer_output_remaps = ""', "TransferOutputRemaps", None),
        ('transfer_output_remaps = " a = b ; "', "TransferOutputRemaps", '" a = b ; "'),
        ("public_input_files = ,", "PublicInputFiles", None),
        ("public_input_files = a,", "PublicInputFiles", '"a"'),
        ("email_attributes = ,", "EmailAttributes", '""'),
    ],
)
def test_what_lists_nothing_may_be_no_attribute(
    line: str, attribute: str, value: str | None
) -> None:
    assert values(f"{line}\nqueue\n", attribute) == [value]


@pytest.mark.parametrize(
    ("line", "attribute", "value"),
    [
        ("environment = ,", "Environment", '""'),
        ("environment = |a=b|c=d;e", "Environment", '"a=b c=d;e"'),
        ("environment = a=b|c=d", "Environment", '"a=b|c=d"'),
        ("environment = ;a=1;  ;b=2", "Environment", '"a=1 b=2"'),
        ("environment = _a=1_b=2", "Environment", '"_a=1_b=2"'),
        ("env = |a=b|c=d", "Env", '"a=b;c=d"'),
    ],
)
def test_an_old_environment_may_begin_with_what_parts_it(
    line: str, attribute: str, value: str
) -> None:
    assert values(f"{line}\nqueue\n", attribute) == [value]


def test_an_environment_parted_otherwise_is_refused_for_what_it_lacks() -> None:
    assert complaint("environment = ,=").startswith("ERROR: ERROR: missing variable in '='.\n")


@pytest.mark.parametrize("name", ["a.b", "x" * 201])
def test_a_change_at_eviction_has_a_name_that_an_attribute_can_end_with(name: str) -> None:
    text = f"on_evict_checks = {name}\ntransform_body_{name} = SET RequestMemory 400\nqueue\n"
    with pytest.raises(SubmitError, match=r"on_evict_checks = .* is invalid"):
        jobs_of(text)


@pytest.mark.parametrize(
    "command", ["rank", "requirements", "+Go", "request_memory", "on_exit_hold"]
)
def test_an_expression_that_takes_seconds_to_read_is_refused(command: str) -> None:
    """A schedd that makes jobs reads them, too, and every item may bring one."""
    text = f"{command} = 1{'+1' * (LONGEST_FORMULA // 2)}\nqueue\n"
    with pytest.raises(SubmitError, match="is longer than 1024 KiB or has over 65536 operators"):
        jobs_of(text)


def test_a_string_may_be_long() -> None:
    text = f'+Go = "{"y" * LONGEST_FORMULA}"\nqueue\n'
    assert values(text, "Go") == [f'"{"y" * LONGEST_FORMULA}"']


@pytest.mark.parametrize(
    ("later", "first", "said"),
    [
        ("on_exit_hold = 1 +", "hold = maybe", "ERROR: hold=maybe is invalid"),
        ("request_memory = 1 +", "x509userproxy = nope", "ERROR: unable to read proxy file"),
        ("kill_sig = x", "x509userproxy = nope", "ERROR: unable to read proxy file"),
        ("disk_usage = 0", "accounting_group = a b", "ERROR: Invalid accounting_group: a b"),
        ("disk_usage = 0", "nice_user = maybe", "ERROR: nice_user=maybe is invalid"),
        ("image_size = -1", "concurrency_limits = a b!", "ERROR: Invalid concurrency limit"),
        ("skip_filechecks = x", "remote_universe = foo", "ERROR: Unknown Remote_Universe"),
    ],
)
def test_of_two_faults_that_is_told_which_the_reference_tells(
    later: str, first: str, said: str
) -> None:
    """Recorded from HTCondor 25.14.1."""
    assert complaint(f"{later}\n{first}").startswith(said)
    assert complaint(f"{first}\n{later}").startswith(said)


def test_what_a_refused_job_was_warned_of_is_told_with_the_refusal() -> None:
    made = submission("executable = job.sh\nnotify_user = never\nrequirements = 1 +\nqueue\n")
    with pytest.raises(SubmitError):
        list(made.jobs())
    assert ["notify_user=never" in one for one in map(str, made.warnings)] == [True]


def test_the_order_of_faults_is_the_reference_s() -> None:
    """Recorded from HTCondor 25.14.1: all pairs of these, of which the one above is told."""
    faults = json.loads(ORDER.read_text(encoding="utf-8"))
    said = {fault: complaint(fault) for fault in faults}
    assert len(set(said.values())) == len(faults)
    wrong = []
    for behind in (1, 2, 3, 10, 40):
        for first, later in zip(faults, faults[behind:], strict=False):
            told = complaint(f"{later}\n{first}")
            wrong += [] if told == said[first] else [(first, later, told)]
    assert wrong == []


@pytest.mark.parametrize("command", ["deferral_time", "deferral_window", "deferral_prep_time"])
def test_what_is_written_out_for_a_deferral_is_a_number_from_0(command: str) -> None:
    """What is no value by itself passes, whatever it is worth: recorded from HTCondor 25.14.1."""
    first = "" if command == "deferral_time" else "deferral_time = 5\n"
    for text in (
        "5",
        "+5",
        "0-0",
        "1-6",
        "- 5",
        "-(5)",
        "time() > 5",
        "!true",
        "1.5+1",
        "x",
        "{1}",
    ):
        assert jobs_of(f"{first}{command} = {text}\nqueue\n")[1]
    for text in ("-5", "(-5)", "true", "(true)", "1.5", '"x"', "undefined", "(undefined)", "error"):
        said = f"ERROR: {command} = {text} is invalid, must eval to a non-negative integer."
        assert complaint(f"{first}{command} = {text}") == said


@pytest.mark.parametrize("line", ["rank = 1 +", "hold = perhaps", "deferral_time = true"])
def test_a_job_that_is_made_later_is_refused_in_the_same_words(line: str) -> None:
    assert complaint(f"{line}\nmax_idle = 1") == complaint(line)


def test_a_whole_path_is_one_also_where_a_universe_is_asked_for() -> None:
    with pytest.raises(SubmitError, match="I don't know about the '/work/local' universe"):
        jobs_of("u = local\nuniverse = $Ff(u)\nqueue\n")


@pytest.mark.parametrize("command", ["max_idle", "max_materialize"])
@pytest.mark.parametrize("items", ["in ()", "matching files none*", "from /dev/null"])
def test_where_no_job_is_made_nobody_asks_how_many_at_a_time(command: str, items: str) -> None:
    text = f"executable = job.sh\n{command} = 1b\nqueue A {items}\n"
    made = submission(text, {"/dev/null": ""})
    assert not made.wants_factory()
    assert list(made.jobs()) == []


@pytest.mark.parametrize("is_asked", [True, False])
def test_where_a_job_is_made_it_must_be_known_how_many_at_a_time(*, is_asked: bool) -> None:
    made = submission("executable = job.sh\nmax_idle = 1b\nqueue A in (a)\n")
    if is_asked:
        assert not made.wants_factory()
    with pytest.raises(SubmitError, match="max_idle=1b is invalid, must eval to an integer"):
        list(made.jobs())
    with pytest.raises(SubmitError, match="max_idle=1b is invalid, must eval to an integer"):
        submission("executable = job.sh\nmax_idle = 1b\nqueue\n").first_of_later()
