"""A description becomes a cluster and what its jobs have otherwise."""

from __future__ import annotations

import pytest

from kettle.classad.text import quote_old
from kettle.errors import SubmitError
from kettle.submit.build import SubmitOptions
from kettle.submit.digest import encode_items, render_digest
from stopwatch import cpu_seconds
from unit.submit.submitting import FACTS, jobs_of, submission, values


def test_a_job_has_only_what_differs_from_its_cluster() -> None:
    made, jobs = jobs_of("arguments = $(Process)\noutput = o\nqueue 3\n")
    assert made.cluster.get("Args") == '"0"'
    assert [dict(job.differences) for job in jobs] == [{}, {"Args": '"1"'}, {"Args": '"2"'}]


def test_a_job_names_its_submitter_where_the_configuration_wants_it() -> None:
    # Observed of a real condor_submit; who submits from afar may be another one there.
    config = "SUBMIT_SHOULD_SET_LOCAL_OWNER = true\n"
    assert values("queue 2\n", "Owner") == ["undefined"] * 2
    assert values("queue 2\n", "Owner", config=config) == ['"me"'] * 2
    spooled = SubmitOptions(spooled=True)
    assert values("queue\n", "Owner", config=config, options=spooled) == ["undefined"]


def test_a_request_that_changes_changes_the_requirements_with_it() -> None:
    requirements = values("request_cpus = $(Process)\nqueue 3\n", "Requirements")
    assert ["RequestCpus" in (text or "") for text in requirements] == [False, False, True]


def test_what_a_later_job_lacks_is_undefined_there() -> None:
    made, jobs = jobs_of("if true\nlog = $(name)\nendif\nqueue name in (a, b)\n")
    assert made.cluster.get("UserLog") == '"/work/a"'
    assert jobs[1].differences.get("UserLog") == '"/work/b"'
    made, jobs = jobs_of("log = $(name)\nqueue name,x from (\na,1\n,2\n)\n")
    assert made.cluster.get("UserLog") == '"/work/a"'


def test_what_is_added_to_a_command_follows_what_it_had() -> None:
    lines = "arguments = a\narguments += b\nrequirements = x\nrequirements +&&= y\nqueue\n"
    made, _ = jobs_of(lines)
    assert made.cluster.get("Args") == '"a b"'
    assert (made.cluster.get("Requirements") or "").startswith("(x && y)")


def test_own_attributes_override_commands_and_are_seen_by_requirements() -> None:
    made, _ = jobs_of("request_cpus = 1\n+RequestCpus = 8\nqueue\n")
    assert made.cluster.get("RequestCpus") == "8"
    assert "TARGET.Cpus >= RequestCpus" in (made.cluster.get("Requirements") or "")


def test_an_unused_line_is_told_with_the_nearest_command() -> None:
    made, _ = jobs_of("outptu = 1\nqueue\n")
    assert len(made.unused) == 1
    assert "'outptu = 1' was unused" in str(made.unused[0])
    assert "Did you mean 'output'?" in str(made.unused[0])


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("x = 1\nx = $(x)1\n", []),
        ("x = 1\nx = $Fn(x)1\nx = 7\n", []),
        ("x = $(x)1\n", ["x"]),
        ("x = 1\nx = $INT(y)\n", ["x"]),
    ],
)
def test_a_line_that_another_of_its_name_mentions_is_used(lines: str, told: list[str]) -> None:
    made, _ = jobs_of(f"{lines}queue\n")
    assert [each.command for each in made.unused] == told


def test_of_very_many_unused_lines_each_is_told_and_the_first_have_the_nearest_command() -> None:
    made, _ = jobs_of("".join(f"transfer_input_files_{n} = 1\n" for n in range(2_000)) + "queue\n")
    assert len(made.unused) == 2_000
    assert all("was unused" in text for text in map(str, made.unused))
    assert [text.count("Did you mean") for text in map(str, made.unused)].count(1) == 50


def test_a_misspelt_request_is_a_custom_resource_and_told() -> None:
    made, _ = jobs_of("request_memry = 1\nqueue\n")
    assert "Did you mean request_memory?" in str(made.warnings[0])


def test_a051_request_cpu_is_told_to_be_a_slip_and_asks_for_nothing() -> None:
    made, _ = jobs_of("request_cpu = 3\nrequest_gpu = 1\nqueue\n")
    assert list(map(str, made.warnings)) == [
        "WARNING: request_cpu is not a valid submit keyword, did you mean request_cpus?",
        "WARNING: request_gpu is not a valid submit keyword, did you mean request_gpus?",
    ]
    assert sorted(line.partition(" =")[0] for line in map(str, made.unused)) == [
        "WARNING: the line 'request_cpu",
        "WARNING: the line 'request_gpu",
    ]
    cluster = made.cluster
    assert (cluster.get("RequestCpus"), cluster.get("Requestcpu")) == ("1", None)
    assert "cpu" not in (cluster.get("Requirements") or "").replace("Cpu", "")


def test_a_job_whose_input_is_spooled_cannot_be_submitted_on_hold() -> None:
    with pytest.raises(SubmitError, match="Cannot set hold to 'true' when using -remote or -spool"):
        jobs_of("hold = true\nqueue\n", options=SubmitOptions(spooled=True))
    _, jobs = jobs_of("hold = false\nqueue\n", options=SubmitOptions(spooled=True))
    assert len(jobs) == 1


def test_an_unused_variable_of_the_queue_statement_is_told() -> None:
    made, _ = jobs_of("queue x in (a)\n")
    assert list(map(str, made.unused)) == [
        "WARNING: the Queue variable 'x' was unused by condor_submit. Is it a typo?"
    ]


def test_a_second_queue_statement_is_refused_after_the_first_ones_jobs() -> None:
    made = submission("executable = job.sh\nqueue 2\narguments = b\nqueue\n")
    jobs = made.jobs()
    assert next(jobs).proc == 0
    assert next(jobs).proc == 1
    with pytest.raises(SubmitError, match="Extra data found after queue statement") as caught:
        next(jobs)
    assert caught.value.line == 3


def test_many_queue_statements_are_possible_where_the_configuration_allows_them() -> None:
    options = SubmitOptions(allow_many_queues=True)
    text = "arguments = a\nqueue 2\narguments = b\nqueue x in (1 2)\n"
    made, jobs = jobs_of(text, options=options)
    shown = [job.differences.get("Args") or made.cluster.get("Args") for job in jobs]
    assert shown == ['"a"', '"a"', '"b"', '"b"']
    assert [job.proc for job in jobs] == [0, 1, 2, 3]


@pytest.mark.parametrize("wrong", ["", "max_idle = a\n", "max_materialize = a\n"])
def test_oauth_services_are_refused_before_anything_is_queued(wrong: str) -> None:
    with pytest.raises(SubmitError, match="needs a credd"):
        jobs_of(f"{wrong}use_oauth_services = box\nqueue\n")


def test_a_circle_of_macros_is_an_error() -> None:
    with pytest.raises(SubmitError, match="refers to itself"):
        jobs_of("arguments = $(a)\na = $(b)\nb = $(a)\nqueue\n")


@pytest.mark.parametrize("name", ['"A"', "1a", "a-b", "é"])
def test_a_name_that_no_attribute_can_have_is_refused(name: str) -> None:
    with pytest.raises(SubmitError, match=f"{name} is no attribute name"):
        jobs_of(f"+{name} = 1\nqueue\n")


@pytest.mark.parametrize("line", ["a b=5", "MY.Foo Bar = 1", "a.b c @=end\n5\n@end"])
def test_a_name_of_two_words_is_refused(line: str) -> None:
    with pytest.raises(SubmitError, match="Failed to parse command file") as caught:
        jobs_of(f"{line}\nqueue\n")
    assert "on Line 2 of" in str(caught.value)


def test_lines_of_the_command_line_count_before_the_queue_statement() -> None:
    options = SubmitOptions(appended=("+A = 5",), assignments=(("b", "7"),))
    made, _ = jobs_of("+A = 1\n+B = $(b)\nqueue\n", options=options)
    assert (made.cluster.get("A"), made.cluster.get("B")) == ("5", "7")


def test_the_number_of_the_cluster_is_known_when_the_jobs_are_made() -> None:
    made = submission("executable = job.sh\nlog = $(Cluster).log\nqueue\n")
    made.begin(42)
    list(made.jobs())
    assert made.cluster.get("UserLog") == '"/work/42.log"'


def test_a_digest_has_what_changes_and_not_what_does_not() -> None:
    made = submission(
        "executable = job.sh\nfoo = bar\narguments = $(x) $(foo) $(Process)\nlog = l\n"
        "max_materialize = 2\nqueue 2 x,y from (\na,1\nb c\n)\n"
    )
    assert made.wants_factory()
    made.begin(5)
    statement = made.first_of_later()
    assert made.job_count == 4
    assert render_digest(made, statement, "/spool/items").splitlines() == [
        "FACTORY.Requirements=MY.Requirements",
        "arguments=$(x) bar $(Process)",
        "FACTORY.Iwd=/work",
        "foo=bar",
        "max_materialize=2",
        "",
        "Queue 2 x,y from /spool/items",
    ]
    assert b"".join(encode_items(statement)) == b"a\x1f1\nb\x1fc\n"


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        ("jobset.foo = 3\n", '"1"'),
        ("jobset.name =\njobset.foo = 3\n", '"1"'),
        ("jobset.name = n\njobset.foo = 3\n", '"n"'),
        ("jobset = q\njobset.foo = 3\n", '"q"'),
        ("jobset.foo =\n", None),
        ("jobset.name =\n", None),
    ],
)
def test_a_set_that_is_described_has_a_name(lines: str, name: str | None) -> None:
    made, _ = jobs_of(f"{lines}queue\n")
    assert made.cluster.get("JobSetName") == name


def test_a_million_jobs_made_later_cost_as_much_as_one() -> None:
    made = submission("executable = job.sh\nmax_idle = 1\narguments = $(Process)\nqueue 1000000\n")
    statement = made.first_of_later()
    assert made.job_count == 1_000_000
    assert render_digest(made, statement, "").endswith("\nQueue 1000000 \n")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("request_memory = 1 XB\nqueue\n", "Parse error in expression"),
        ('arguments = a "b\nqueue\n', "illegal unescaped double-quote"),
        ("initialdir = nowhere\nqueue\n", "No such directory: /work/nowhere"),
        ("universe = vanila\nqueue\n", "vanila"),
        ("notification = sometimes\nqueue\n", "Notification must be"),
        ("kill_sig = SIGFOO\nqueue\n", "invalid signal"),
        ("queue x in\n", "Invalid Queue count expression"),
        ("queue x in [a] (a b)\n", r"Invalid \[::\] statement"),
        (
            "universe = scheduler\ndeferral_time = 5\nqueue\n",
            "DeferralTime does not work for scheduler universe jobs",
        ),
        (
            "universe = scheduler\ncron_hour = 3\ndeferral_time = 5\nqueue\n",
            "CronHour does not work for scheduler universe jobs",
        ),
        ("forech x in (a)\nqueue\n", "neither an assignment nor a statement"),
    ],
)
def test_what_cannot_be_made_into_a_job_is_one_sentence(text: str, words: str) -> None:
    with pytest.raises(SubmitError, match=words):
        jobs_of(text)


def test_s001_s003_an_interactive_job_is_one_job_that_waits_for_a_person() -> None:
    options = SubmitOptions(interactive=True)
    made, jobs = jobs_of("arguments = a b\nqueue 5\n", options=options)
    assert len(jobs) == 1
    assert made.cluster.get("InteractiveJob") == "true"
    assert made.cluster.get("Cmd") == '"/bin/sh"'
    assert made.cluster.get("Args") is None
    assert "condor_ssh_to_job_1" in (made.cluster.get("Arguments") or "")
    assert made.cluster.get("JobUniverse") == "5"
    with pytest.raises(SubmitError, match="vanilla"):
        jobs_of("universe = local\nqueue\n", options=options)


def test_s003_an_interactive_job_needs_no_program_of_its_own() -> None:
    made = submission("queue\n", options=SubmitOptions(interactive=True))
    assert len(list(made.jobs())) == 1
    assert made.cluster.get("Cmd") == '"/bin/sh"'
    assert made.cluster.get("TransferExecutable") == "false"


def test_whether_a_removed_job_may_end_by_itself_is_an_expression() -> None:
    made, _ = jobs_of("want_graceful_removal = NumJobStarts > 1\nqueue\n")
    assert made.cluster.get("WantGracefulRemoval") == "NumJobStarts > 1"
    assert made.warnings == []


def test_a_group_counts_more_than_niceness_and_that_is_said() -> None:
    made, _ = jobs_of("nice_user = true\naccounting_group = g\nqueue\n")
    assert made.cluster.get("AccountingGroup") == '"g.me"'
    assert list(map(str, made.warnings)) == [
        "WARNING: nice_user conflicts with accounting_group. nice_user will be ignored"
    ]


def test_mail_at_the_start_is_a_known_wish() -> None:
    assert values("notification = start\nqueue\n", "JobNotification") == ["4"]


def test_output_that_never_travels_travels_at_the_end() -> None:
    text = "when_to_transfer_output = never\nqueue\n"
    assert values(text, "WhenToTransferOutput") == ['"ON_EXIT"']
    assert values(text, "ShouldTransferFiles") == ['"IF_NEEDED"']


def test_a_java_job_needs_its_class_file_unless_that_is_not_transferred() -> None:
    text = "universe = java\nexecutable = {}\narguments = Main\njar_files = nosuch.jar\nqueue\n"
    with pytest.raises(SubmitError, match="Can't access executable file Nosuch"):
        jobs_of(text.format("Nosuch.class"))
    made, _ = jobs_of(text.format("job.sh"))
    assert made.cluster.get("Cmd") == '"java"'
    made, _ = jobs_of("transfer_executable = false\n" + text.format("Nosuch.class"))
    assert made.cluster.get("Cmd") == '"java"'


JAVA = "universe = java\narguments = Main\njar_files = b.jar\n"
JAVA_FILES = {"a.class": "x" * 3000, "b.jar": "x" * 5000, "in": "x" * 1000}


@pytest.mark.parametrize(
    ("more", "program", "is_sent", "listed", "kib"),
    [
        ("", "java", "false", None, 11),
        ("should_transfer_files = NO\n", "/work/a.class", None, None, 3),
        (
            "should_transfer_files = NO\ntransfer_executable = false\n",
            *("a.class", "false", None, 3),
        ),
        ("transfer_input_files = in\n", "java", "false", "in,/work/a.class,b.jar", 12),
        (
            "transfer_input_files = in\ntransfer_executable = false\n",
            *("java", "false", "in,a.class,b.jar", 12),
        ),
    ],
)
def test_a_java_jobs_class_is_its_program_where_nothing_travels(
    more: str, program: str, is_sent: str | None, listed: str | None, kib: int
) -> None:
    text = f"executable = a.class\n{JAVA}{more}queue\n"
    made, _ = jobs_of(text, files=JAVA_FILES)
    assert made.cluster.get("Cmd") == f'"{program}"'
    assert made.cluster.get("TransferExecutable") == is_sent
    assert made.cluster.get("TransferInput") == (listed and f'"{listed}"')
    assert made.cluster.get("DiskUsage") == str(kib)


def test_a_java_jobs_class_is_found_from_where_it_is_submitted() -> None:
    text = f"executable = a.class\n{JAVA}initialdir = sub\ntransfer_input_files = ../in\nqueue\n"
    files = {**JAVA_FILES, "sub/x": ""}
    assert values(text, "TransferInput", files=files) == ['"../in,/work/a.class,b.jar"']


def test_each_java_job_of_a_cluster_has_the_program_that_its_transfer_asks_for() -> None:
    text = f"executable = a.class\n{JAVA}should_transfer_files = $(yes)\nqueue yes in (no,yes,no)\n"
    programs = ['"/work/a.class"', '"java"', '"/work/a.class"']
    assert values(text, "Cmd", files=JAVA_FILES) == programs
    assert values(text, "DiskUsage", files=JAVA_FILES) == ["3", "11", "3"]


def test_whether_machines_are_there_together_is_said_by_the_first_job() -> None:
    said = "WantParallelScheduling = $CHOICE(Process,{})\nmachine_count = $(Process)4\nqueue 3\n"
    for words, wanted, hosts in [
        ("false,true,x", [None] * 3, ["1"] * 3),
        ("true,false,x", ["true"] * 3, ["4", "14", "24"]),
    ]:
        text = said.format(words)
        assert values(text, "WantParallelScheduling") == wanted
        assert values(text, "MaxHosts") == hosts


def test_output_that_travels_never_is_said_where_no_file_does() -> None:
    text = "when_to_transfer_output = NONE\n"
    made, _ = jobs_of(f"should_transfer_files = NO\n{text}queue\n")
    assert made.cluster.get("ShouldTransferFiles") == '"NO"'
    assert made.cluster.get("WhenToTransferOutput") is None
    for should in ("", "should_transfer_files = YES\n"):
        with pytest.raises(SubmitError, match="WhenToTransferOutput specified as NONE"):
            jobs_of(f"{should}{text}queue\n")


def test_an_empty_list_of_output_is_a_list() -> None:
    empty = [(text, '""') for text in ('""', '" "', ",")]
    for text, listed in [("", None), *empty, ('"a , b"', '"a,b"')]:
        line = f"should_transfer_files = yes\ntransfer_output_files = {text}\nqueue\n"
        assert values(line, "TransferOutput") == [listed], text
    with pytest.raises(SubmitError, match="transfer_output_files"):
        jobs_of('should_transfer_files = no\ntransfer_output_files = ""\nqueue\n')


def test_quotes_around_one_of_several_names_stay() -> None:
    for text, listed in [
        ('d, "in put.txt"', r'"d,\"in put.txt\""'),
        ('"in put.txt"', '"in put.txt"'),
        ('"a, b"', '"a,b"'),
        ('"a", b', r'"\"a\",b"'),
    ]:
        line = f"should_transfer_files = yes\ntransfer_input_files = {text}\nqueue\n"
        assert values(line, "TransferInput") == [listed], text


def test_a_kind_of_url_is_asked_for_as_its_first_url_has_it() -> None:
    made, _ = jobs_of(
        "transfer_plugins = Box=/bin/plug\n"
        "transfer_input_files = FTP://a/b, ftp://c/d, BOX://e, Chirp://f\nqueue\n"
    )
    assert made.cluster.get("WantTransferPluginMethods") == '"Chirp,FTP"'
    assert 'stringListIMember("Chirp",' in (made.cluster.get("Requirements") or "")


def test_an_object_store_in_capitals_wants_its_keys_too() -> None:
    with pytest.raises(SubmitError, match="access_key_id_file"):
        jobs_of("transfer_input_files = S3://bucket/file\nqueue\n")


def test_quotes_are_part_of_the_name_of_a_stream() -> None:
    text = 'output = "o"\nerror = \'e e\'\ninput = "i"\nqueue\n'
    made, _ = jobs_of(text)
    assert made.cluster.get("Out") == r'"\"o\""'
    assert made.cluster.get("Err") == "\"'e e'\""
    assert made.cluster.get("In") == r'"\"i\""'


@pytest.mark.parametrize("command", ["kill_sig", "remove_kill_sig", "hold_kill_sig"])
def test_a_signal_is_a_number_or_a_name_with_its_sig(command: str) -> None:
    name = {"kill_sig": "KillSig", "remove_kill_sig": "RemoveKillSig"}.get(command, "HoldKillSig")
    for text, signal in (("sighup", "SIGHUP"), ("15", "SIGTERM"), ("9x", "SIGKILL")):
        assert values(f"{command} = {text}\nqueue\n", name) == [f'"{signal}"']
    for text in ("HUP", "0", "-1", "64", "SIGRTMIN", '"SIGHUP"', "9" * 5000):
        with pytest.raises(SubmitError, match="invalid signal"):
            jobs_of(f"{command} = {text}\nqueue\n")


def test_sizes_below_zero_are_what_the_reference_makes_of_them() -> None:
    for text, memory, disk in (
        ("-5", "-4", "-4"),
        ("-1.5", "0", "0"),
        ("-5M", "-4", "-5119"),
        ("-1G", "-1023", "-1048575"),
        ("-0", "0", "0"),
    ):
        asked = f"request_memory = {text}\nrequest_disk = {text}\nqueue\n"
        assert values(asked, "RequestMemory") == [memory], text
        assert values(asked, "RequestDisk") == [disk], text


def test_a_request_of_two_numbers_asks_for_the_second_when_the_first_was_too_little() -> None:
    """What somebody means who writes 1,000 is 1 and then 000, as in the reference."""
    for attribute, command in (
        ("RequestMemory", "request_memory"),
        ("RequestDisk", "request_disk"),
    ):
        for text in ("1,000", "1,000MB", "1,000 MB"):
            asked = f"{command} = {text}\nqueue\n"
            assert values(asked, attribute) == ["1"], text
            [body] = values(asked, f"TransformBody_{attribute}")
            assert body.endswith(f'\x1eSET {attribute} 0"')
        with pytest.raises(SubmitError, match="0 is not greater than 0"):
            jobs_of(f"{command} = 1,000,5\nqueue\n")


def test_the_date_of_the_submission_and_the_names_of_a_job_are_macros() -> None:
    facts = FACTS.changed(now=0, date="2026-11-02")
    text = "$(Year) $(month) $(DAY:7) $(JobId) $(JobListId:x) $(TaskId)"
    made, jobs = jobs_of(f'+A = "{text}"\noutput = o.$(JobId)\nqueue 2 in (a, b)\n', facts=facts)
    assert made.cluster.get("A") == '"2026 11 02 1.0 1 0"'
    outputs = [job.differences.get("Out") for job in jobs]
    assert outputs == [None, '"o.1.1"', '"o.1.2"', '"o.1.3"']
    assert made.cluster.get("Out") == '"o.1.0"'
    assert values("+A = $(Year)$(Month)$(Day)\nqueue\n", "A") == ["19700101"]
    assert values('Day = x\n+A = "$(Day)"\nqueue\n', "A") == ['"x"']


def test_the_old_names_of_requests_stand_for_the_new_ones() -> None:
    lines = '+A = "$(Request_CPUs) $(Request_Memory) $(VM_VCPUS) $(VM_MEMORY)"\nqueue\n'
    assert values(f"RequestCpus = 3\nRequestMemory = 5\n{lines}", "A") == ['"3 5 3 5"']
    assert values(f"request_cpus = 3\nrequest_memory = 5\n{lines}", "A") == ['"3 5 3 5"']
    assert values(f"RequestCpus = 3\nvm_vcpus = 4\n{lines}", "A") == ['"3  4 "']
    assert values("RequestCpus = 3\nqueue\n", "RequestCpus") == ["3"]


def test_the_date_stays_and_the_number_changes_where_jobs_are_made_later() -> None:
    made = submission(
        "executable = job.sh\nmax_idle = 1\n+A = $(Year)\noutput = o.$(JobId).$(Year)\nqueue 3\n"
    )
    lines = render_digest(made, made.first_of_later(), "").split("\n")
    assert "output=o.$(JobId).1970" in lines
    assert not any(line.startswith("MY.A") for line in lines)


def test_y_and_n_are_names_in_a_condition() -> None:
    _, jobs = jobs_of("if ! defined N\nN = 4\nendif\nqueue $(N)\n")
    assert len(jobs) == 4
    with pytest.raises(SubmitError, match="y is not a valid if condition because expression is"):
        jobs_of("if y\nendif\nqueue\n")
    assert values("if defined use ROLE:Execute\n+A = 1\nendif\nqueue\n", "A") == ["1"]


def test_the_status_that_is_asked_for_is_the_jobs_own_and_none_of_the_cluster() -> None:
    asked = {"4": 4, "5": 5, "1 + 1": 2, '"x"': 1, "undefined": 1, "-1": -1}
    for text, status in asked.items():
        made, jobs = jobs_of(f"+JobStatus = {text}\nqueue 2\n")
        assert [job.status for job in jobs] == [status, status]
        assert made.cluster.get("JobStatus") is None
        assert all("JobStatus" not in dict(job.differences) for job in jobs)


@pytest.mark.parametrize("more", ["", "request_memory = 1$(Process)\n", "hold = true\n"])
def test_each_job_has_the_status_that_it_asks_for(more: str) -> None:
    for asked in ([1, 5, 1], [5, 1], [1, 1, 1, 5, 1]):
        items = ",".join(str(status) for status in asked)
        _, jobs = jobs_of(f"{more}+JobStatus = $(s)\nqueue s in ({items})\n")
        assert [job.status for job in jobs] == asked


def test_a_macro_without_a_name_is_nothing_and_its_default_counts() -> None:
    text = '+A = "[$()][$(:d)][$( )][$(:$())][$$()]"\nqueue\n'
    assert values(text, "A") == ['"[][d][$( )][][$$()]"']


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$$$(x)", "$$7"),
        ("a$$$(y)b", "a$$xb"),
        ("$$$$(x)", "$$$$(x)"),
        ("$$$$$(x)", "$$$$7"),
        ("$$$(none:$(x))", "$$7"),
        ("$$$INT(x)", "$$7"),
        ("$$(Memory) $$([$(x)])", "$$(Memory) $$([7])"),
        ("$(z)", "$$7"),
    ],
)
def test_a_macro_may_follow_two_dollars(text: str, expected: str) -> None:
    described = f'x = 7\ny = x\nz = $$$(x)\n+A = "{text}"\nqueue\n'
    assert values(described, "A") == [f'"{expected}"']


def test_a_custom_request_may_be_undefined() -> None:
    made, _ = jobs_of("request_foo = undefined\nrequest_cpus = undefined\nqueue\n")
    assert made.cluster.get("RequestFoo") == "undefined"
    assert "(TARGET.foo >= Requestfoo)" in (made.cluster.get("Requirements") or "")
    assert made.cluster.get("RequestCpus") is None


def test_a_blank_after_the_plus_of_an_attribute_is_a_mistake() -> None:
    with pytest.raises(SubmitError, match="Failed to parse command file"):
        jobs_of("+ A = 1\nqueue\n")


def test_what_a_macro_function_cannot_do_is_told_with_its_place_and_once() -> None:
    made, _ = jobs_of('if $INT(x)\nendif\n+A = "$CHOICE(5,a,b)"\nqueue 3\n')
    (_, first), (proc, second) = made.problems
    assert proc == 0
    assert str(first) == (
        "ERROR on Line 2 of submit file: $INT() macro: x does not evaluate to an integer!"
    )
    assert str(second).startswith(
        "ERROR at Queue statement on Line 5: $CHOICE() config macro: index 5"
    )
    assert str(second).endswith(" is out of range!\n\t at Step 0, ItemIndex 0")


def test_an_item_that_nobody_looks_at_is_told_as_any_variable() -> None:
    made, _ = jobs_of("queue in (a, b)\n")
    assert list(map(str, made.unused)) == [
        "WARNING: the Queue variable 'Item' was unused by condor_submit. Is it a typo?"
    ]
    for text in (
        "arguments = $(Item)\nqueue in (a, b)\n",
        "queue 3\n",
        "arguments=$(Item)\nqueue\n",
    ):
        assert jobs_of(text)[0].unused == []
    assert values("arguments = $(ITEM)\nqueue 1 in (a, b)\n", "Args") == ['"a"', '"b"']


def test_a_pattern_in_brackets_is_no_slice() -> None:
    files = {"a.dat": "", "b.dat": "", "c.dat": ""}
    found = {
        "matching [ab].dat": ["a.dat", "b.dat"],
        "matching files [bc].dat": ["b.dat", "c.dat"],
        "matching [1:] [ab].dat": ["b.dat"],
        "in [1]": ["[1]"],
        "in [1:] (x y)": ["y"],
    }
    for text, items in found.items():
        said = values(f'+A = "$(v)"\nqueue v {text}\n', "A", files=files)
        assert said == [f'"{item}"' for item in items]
    with pytest.raises(SubmitError, match="Invalid"):
        jobs_of("queue v matching [ab].dat c.dat\n", files=files)


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("log = //a///b", "UserLog", "/a/b"),
        ("log = a//b", "UserLog", "/work/a/b"),
        (r"log = \\a\b", "UserLog", r"/work/a\b"),
        ("dagman_log = .//d", "DAGManNodesLog", "/work/./d"),
        ("initialdir = //work//", "Iwd", "/work/"),
        ("executable = .//job.sh", "Cmd", "/work/./job.sh"),
        # A program that stays where it is, and names for the job, are as they were written.
        ("executable = a//b\ntransfer_executable = false", "Cmd", "a//b"),
        ("output = a//b", "Out", "a//b"),
    ],
)
def test_of_slashes_in_a_row_one_stays_in_whole_paths(line: str, name: str, value: str) -> None:
    made, _ = jobs_of(
        f"{line}\nqueue", files={"./job.sh": "x", "/work/./job.sh": "x", "/work/": ""}
    )
    assert made.cluster.get(name) == quote_old(value)


@pytest.mark.parametrize(
    "name",
    [
        *("In", "Out", "Err", "ConcurrencyLimits", "TransferInput", "TransferOutput", "AcctGroup"),
        *("SuccessCheckpointExitSignal", "SuccessCheckpointExitBySignal", "OAuthServicesNeeded"),
    ],
)
def test_the_attributes_of_a_few_commands_are_no_commands(name: str) -> None:
    made, _ = jobs_of(f"{name} = abc\nqueue\n")
    assert str(made.unused[0]).startswith(f"WARNING: the line '{name} = abc' was unused")
    assert made.cluster.get(name) in (None, '"/dev/null"')


@pytest.mark.parametrize(
    ("wanted", "is_taken"),
    [("1", True), ("-1", True), ("1.0", True), ("2 > 1", True), ("0.0", False), ("1 > 2", False)],
)
def test_getenv_takes_all_where_its_value_is_true(wanted: str, is_taken: bool) -> None:
    (found,) = values(f"getenv = {wanted}\nqueue\n", "Environment")
    assert ("HOME=/home/me" in (found or "")) == is_taken


def test_what_a_function_cannot_do_is_told_once() -> None:
    """The reference tells it for each job, so that a million jobs have a million lines."""
    made, jobs = jobs_of("x = a\narguments = $INT(x) $CHOICE(7,l,m)\nqueue 3\n")
    assert len(jobs) == 3
    assert [number for number, _ in made.problems] == [0, 0]


def test_what_came_by_standard_input_has_no_file() -> None:
    facts = FACTS.changed(file_name="-")
    assert values('+File = "$(SUBMIT_FILE)"\nqueue\n', "File", facts=facts) == ['""']
    assert values('+File = "$(SUBMIT_FILE)"\nqueue\n', "File") == ['"job.sub"']


def test_names_of_a_description_may_mention_each_other_without_end() -> None:
    chain = "".join(f"A{number} = $(A{number + 1})\n" for number in range(1000))
    assert values(f"{chain}A1000 = 7$(Process)\n+X = $(A0)\nqueue 2\n", "X") == ["70", "71"]


@pytest.mark.parametrize("last", ["x", "$(Process)"])
def test_names_that_double_each_other_are_refused_with_little_work(last: str) -> None:
    doubled = "".join(f"A{number} = $(A{number + 1})$(A{number + 1})\n" for number in range(60))
    why = r"the expansion of A0 has no end .*A0 mentions A1 twice"

    def refused() -> None:
        with pytest.raises(SubmitError, match=why):
            jobs_of(f'{doubled}A60 = {last}\n+X = "$(A0)"\nqueue 3\n')

    # It took 11 s.
    assert cpu_seconds(refused, below=2) < 2


@pytest.mark.parametrize("image", ["docker://a", "/images/a.sif", "https://h.x/a"])
def test_quotes_around_an_image_are_no_part_of_it(image: str) -> None:
    made, quoted = (
        jobs_of(f"universe = container\ncontainer_image = {text}\nqueue\n")[0].cluster
        for text in (image, f'"{image}"')
    )
    assert list(made) == list(quoted)
    assert quote_old(image) in (quoted.get("ContainerImage"), quoted.get("ContainerImageFullPath"))


@pytest.mark.parametrize(
    ("said", "clause"),
    [
        ("3", "ExitCode =?= 3"),
        ("2 + 1", "ExitCode =?= 3"),
        ("ExitCode =!= 1", "ExitCode =!= 1"),
        ("(ExitCode =?= 2) || (ExitCode =?= 3)", "(ExitCode =?= 2) || (ExitCode =?= 3)"),
        ("isUndefined(ExitSignal)", "isUndefined(ExitSignal)"),
        ("ExitBySignal =!= true", "ExitBySignal =!= true"),
    ],
)
def test_what_asks_for_an_attribute_ends_retries_as_it_is_written(said: str, clause: str) -> None:
    """Without a job it has a value, which says nothing of one (as dry runs of 25.14.1 show)."""
    (found,) = values(f"max_retries = 3\nretry_until = {said}\nqueue\n", "OnExitRemove")
    assert found is not None
    assert found.endswith(f"ExitCode =?= 0 || {clause}")


@pytest.mark.parametrize(
    ("name", "chooses"),
    [
        *((f"OpSys{rest}", True) for rest in ("", "AndVer", "Legacy", "LongName", "Name")),
        ("OpSysShortName", True),
        *((f"OpSys{rest}", False) for rest in ("MajorVer", "Ver", "Foo", "_And_Ver")),
    ],
)
def test_who_names_an_operating_system_gets_no_other_clause_for_it(
    name: str, chooses: bool
) -> None:
    """As dry runs of 25.14.1 have it."""
    (found,) = values(f"requirements = target.{name} == 9\nqueue\n", "Requirements")
    assert ('(TARGET.OpSys == "LINUX")' in (found or "")) is not chooses


@pytest.mark.parametrize(
    ("command", "attribute", "value"),
    [
        ("batch_name", "JobBatchName", '""'),
        ("jobset", "JobSetName", '""'),
        ("starter_debug", "JobStarterDebug", '""'),
        ("starter_log", "JobStarterLog", '""'),
        ("transfer_input_files", "TransferInput", None),
        ("transfer_output_files", "TransferOutput", '""'),
        ("transfer_output_remaps", "TransferOutputRemaps", None),
        ("description", "JobDescription", '"\\""'),
    ],
)
def test_a_lone_quote_is_an_empty_text_where_quotes_are_taken_off(
    command: str, attribute: str, value: str | None
) -> None:
    assert values(f'{command} = "\nqueue\n', attribute) == [value]


@pytest.mark.parametrize("command", ["docker_image", "container_image"])
def test_a_lone_quote_is_no_image(command: str) -> None:
    with pytest.raises(SubmitError, match=r"'' is not a valid (docker_|container )image"):
        jobs_of(f'{command} = "\nqueue\n')


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        # The cluster's file, or none: what does not travel for it may for others.
        (["false,,false,true,true", ""], [None, None, None, "true", "true"]),
        (["true,true,false", ""], [None, "true", None]),
        (["true,false,true,,false", "output = a\n"], [None, "false", None, None, "false"]),
        (["false,true", "output = a\n"], [None, "true"]),
        (["false,true", "output = /dev/null\n"], [None, None]),
    ],
)
def test_a_later_job_says_whether_its_output_travels(
    written: list[str], seen: list[str | None]
) -> None:
    choices, lines = written
    count = len(seen)
    text = f"{lines}transfer_output = $CHOICE(Process,{choices})\nqueue {count}\n"
    _, jobs = jobs_of(text)
    assert [job.differences.get("TransferOut") for job in jobs] == seen


@pytest.mark.parametrize(
    "lines", ["+Requirements = true\n", "universe = grid\ngrid_resource = batch pbs\n"]
)
def test_a_version_of_cuda_is_a_text_where_no_clause_is_made_of_it(lines: str) -> None:
    made, _ = jobs_of(f"{lines}cuda_version = 11.2\nqueue\n")
    assert made.cluster.get("CUDAVersion") == '"11.2"'
    assert made.unused == []


@pytest.mark.parametrize(
    ("text", "travels"),
    [("false", False), ("F x", False), ("foo || true", False), ("no", True), ("0", True)],
)
def test_a_program_travels_unless_it_is_said_with_an_f(text: str, travels: bool) -> None:
    (said,) = values(f"transfer_executable = {text}\nqueue\n", "TransferExecutable")
    assert said == (None if travels else "false")


@pytest.mark.parametrize(
    "lines",
    [
        "+WantDocker = true",
        '+WantDocker = true\n+DockerImage = "ubuntu"',
        "MY.WantContainer = true",
        '+WantContainer = true\n+ContainerImage = "docker://foo"',
    ],
)
def test_a_forced_attribute_makes_no_later_job_one_of_a_container(lines: str) -> None:
    """Source: dry runs of 25.14.1. The first job is none either."""
    _, jobs = jobs_of(f"{lines}\nqueue 2\n")
    assert [job.differences.get("Requirements") for job in jobs] == [None, None]


@pytest.mark.parametrize("forced", ["", "+WantDocker = true\n"])
def test_all_jobs_of_a_docker_cluster_are_docker_jobs_whatever_is_forced(forced: str) -> None:
    lines = f"universe = docker\ndocker_image = a$(Process)\n{forced}queue 2\n"
    assert values(lines, "DockerImage") == ['"a0"', '"a1"']
    requirements = values(lines, "Requirements")
    assert all("HasDocker" in (text or "HasDocker") for text in requirements)
