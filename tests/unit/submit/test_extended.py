"""What administrators add to the submit language; every outcome as HTCondor 25.14.1 has it."""

from __future__ import annotations

import pytest

from kettle.classad import parse_old_ad
from kettle.config import Config
from kettle.errors import SubmitError
from kettle.submit.digest import render_digest
from kettle.submit.extended import describe_commands, read_commands_ad
from unit.submit.submitting import jobs_of, submission, values

COMMANDS = """\
LongJob = true
accounting_group_user = error
JobSite = "string"
FavoriteFruit = "a,b"
SomeFile = "filename"
FileList = "file,list"
SomeInt = -1
SomeUint = 0
getReal =1.0
some_expression=a+b
Nothing = undefined
"""
CONFIG = f"EXTENDED_SUBMIT_COMMANDS @=end\n{COMMANDS}@end\n"


@pytest.mark.parametrize(
    ("line", "name", "text"),
    [
        ("longjob = $(Process)", "LongJob", "false"),
        ("longjob = 1", "longjob", "true"),
        ('jobsite = " chtc "', "JobSite", '" chtc "'),
        ("jobsite = chtc", "JobSite", '"chtc"'),
        ("jobsite =", "JobSite", None),
        ('FavoriteFruit = "kiwi grapefruit"', "FavoriteFruit", '"kiwi,grapefruit"'),
        ("someFile = x.out", "SomeFile", '"/work/x.out"'),
        ('someFile = "a b"', "SomeFile", '"/work/a b"'),
        ("initialdir = /tmp\nsomeFile = q", "SomeFile", '"/tmp/q"'),
        ("filelist = a b", "FileList", '"a,b"'),
        ("someint = 6*7", "SomeInt", "42"),
        ("someint = 1.7", "SomeInt", "1"),
        ("someuint = 6*7+1", "SomeUint", "43"),
        ("getreal = 1e3", "getReal", "1000.0"),
        ("getreal = 1e3\nsome_expression = $(getreal)*$(Process)", "some_expression", "1000.0 * 0"),
        ("nothing = 3", "nothing", None),
        ("JobSite = here\nMY.JobSite = 4", "JobSite", "4"),
    ],
)
def test_an_added_command_makes_what_its_example_asks_for(
    line: str, name: str, text: str | None
) -> None:
    folders = {"files": {"/tmp/here": ""}}
    assert values(f"{line}\nqueue", name, config=CONFIG, **folders) == [text]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("someuint = -1", "SomeUint=-1 is invalid, must eval to a non-negative integer."),
        ("someint = foo", "SomeInt=foo is invalid, must eval to an integer."),
        ("longjob = foo", "LongJob=foo is invalid, must eval to a boolean."),
        (
            "accounting_group_user = bob",
            "accounting_group_user=bob has been disabled by the administrator.",
        ),
        ("getreal = a b", "Parse error in expression: \n\tgetReal = a b\n\t"),
    ],
)
def test_an_added_command_is_refused_where_its_text_does_not_fit(line: str, said: str) -> None:
    with pytest.raises(SubmitError) as error:
        jobs_of(f"{line}\nqueue", config=CONFIG)
    assert error.value.message == f"ERROR: {said}"


def test_an_added_command_is_used_and_an_undefined_one_is_a_typing_error() -> None:
    made, _ = jobs_of("jobsite = chtc\nnothing = 3\nqueue", config=CONFIG)
    said = "WARNING: the line 'nothing = 3' was unused by condor_submit. Is it a typo?"
    assert list(map(str, made.unused)) == [said]


def test_a_late_cluster_keeps_what_added_commands_need() -> None:
    made = submission("executable = job.sh\nlongjob = $(Process)\nqueue 2", config=CONFIG)
    digest = render_digest(made, made.first_of_later(), "")
    assert "longjob=$(Process)\n" in digest


def test_the_kinds_of_added_commands_are_shown_in_order() -> None:
    assert describe_commands(parse_old_ad(COMMANDS)) == [
        "accounting_group_user  value is forbidden",
        "FavoriteFruit          value is stringlist",
        "FileList               value is filename list",
        "getReal                value is expression",
        "JobSite                value is string",
        "LongJob                value is boolean true/false",
        "Nothing                value is expression",
        "some_expression        value is expression",
        "SomeFile               value is filename",
        "SomeInt                value is signed integer",
        "SomeUint               value is unsigned integer",
    ]


def test_added_commands_end_at_the_first_line_that_is_none() -> None:
    config = Config.from_text('EXTENDED_SUBMIT_COMMANDS @=end\nA = 1\n"\nB = 2\n@end\n')
    assert read_commands_ad(config).names() == ["A"]


TEMPLATES = """\
SUBMIT_TEMPLATE_NAMES = Slurm Pilot, FlockTo Bare Missing Self
SUBMIT_TEMPLATE_Slurm @=tpl
   if ! $(2?)
      error : Template:Slurm requires at least 2 arguments
   endif
   universe = grid
   grid_resource = batch slurm $(3)
   batch_project = $(1)
   batch_queue = $(2)
@tpl
SUBMIT_TEMPLATE_Pilot @=tpl
   use template : Slurm(CHTC, $(1:primary), $(2:$(USERNAME)@x) --glite ~/bosco)
   TPL.BASE_ID = $(3:$RANDOM_INTEGER(7,7))
   TPL.PILOT_ID = $INT(TPL.BASE_ID,%08X)-$INT(ProcId,%06X)
   My.Pilotid = $Fq(TPL.PILOT_ID)
@tpl
USERNAME = me
DEFAULT_FLOCK_LIST = NEST,$(OTHERS)
OTHERS = UTA
SUBMIT_TEMPLATE_FlockTo = +FlockList = "$(0:$(DEFAULT_FLOCK_LIST))-$(Process)-$(UNSET)"
SUBMIT_TEMPLATE_Bare = priority 7
SUBMIT_TEMPLATE_Self = use template : Self
"""


def test_templates_use_others_and_hold_what_changes_from_job_to_job() -> None:
    text = "use template : Pilot\nqueue 2"
    made, jobs = jobs_of(text, config=TEMPLATES)
    assert made.cluster.get("GridResource") == '"batch slurm me@x --glite ~/bosco"'
    assert made.cluster.get("BatchQueue") == '"primary"'
    assert made.cluster.get("PilotId") == '"00000007-000000"'
    assert jobs[1].differences.get("PilotId") == '"00000007-000001"'


def test_templates_take_arguments_and_several_are_one_statement() -> None:
    text = "use Template:FlockTo(Thither, Yon), Pilot(Secondary, Me, 10+10*16)\nqueue"
    assert values(text, "FlockList", config=TEMPLATES) == ['"Thither, Yon-0-"']
    assert values(text, "PilotId", config=TEMPLATES) == ['"000000AA-000000"']
    assert values("use template : flockto\nqueue", "FlockList", config=TEMPLATES) == [
        '"NEST,UTA-0-"'
    ]


def test_a_template_may_leave_out_the_equals_sign() -> None:
    assert values("use template : Bare\nqueue", "JobPrio", config=TEMPLATES) == ["7"]


@pytest.mark.parametrize(
    ("use", "details"),
    [
        (
            "template : Slurm",
            (
                "at use template:Slurm\n|Submit:-1:Error : Template:Slurm requires at least "
                "2 arguments"
            ),
        ),
        (
            "Template : Missing",
            "at use Template:Missing\n|Submit:-1:Error: use Template: does not recognise Missing",
        ),
        (
            "template : names",
            "at use template:names\n|Submit:-1:Error: use template: does not recognise names",
        ),
        (
            "template : Self",
            "at use template:Self\n|Submit:-1:Error: use template: Self nesting too deep",
        ),
        ("role : x", "at use role:x"),
    ],
)
def test_a_template_that_cannot_be_used_is_an_error_with_its_place(use: str, details: str) -> None:
    with pytest.raises(SubmitError) as error:
        jobs_of(f"use {use}\nqueue", config=TEMPLATES)
    assert error.value.message == (
        "\nERROR: on Line 2 of job.sub: \n"
        f'Submit:-1:Error "job.sub", Line 2: {details}\n\n'
        "ERROR: Failed to parse command file (line 2)."
    )
