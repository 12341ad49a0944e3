"""What is kept from one job of a claim to the next, and what is not."""

from __future__ import annotations

from kettle.classad import ClassAd, parse_old_ad
from kettle.config import Config
from kettle.starter.place import Place, Process, add_shown
from kettle.starter.settings import StarterSettings, read_settings

MACHINE = ClassAd({"OpSys": "LINUX", "TotalCpus": 8.0})
PROCESS = Process(17, "<127.0.0.1:9618>", {"_CONDOR_ANCESTOR_1": "17:1:2"})


def first_slot() -> ClassAd:
    slot = ClassAd({"Name": "slot1_1@ep", "Cpus": 2, "Memory": 100, "MyCurrentTime": 10})
    slot.update({"JobUniverse": 5, "GlobalJobId": "a#1.0#1", "TotalTimeClaimedIdle": 3})
    slot.parent = MACHINE
    return slot


def place(**settings: str) -> Place:
    return Place(
        StarterSettings(**{"execute": "/execute", **settings}), first_slot(), "slot1_1@ep", PROCESS
    )  # type: ignore[arg-type]


def test_the_machine_ad_of_a_later_job_has_its_own_times_and_job_and_all_else() -> None:
    where = place()
    slot = where.slot_for(
        ClassAd({"MyCurrentTime": 20, "TotalTimeClaimedIdle": 4}),
        ClassAd({"GlobalJobId": "a#1.1#1", "JobUniverse": 5, "Cmd": "/bin/true"}),
    )
    read = parse_old_ad(where.text_of(slot))
    expected = first_slot().flattened()
    expected.update({"MyCurrentTime": 20, "GlobalJobId": "a#1.1#1", "TotalTimeClaimedIdle": 4})
    assert read == expected
    assert slot.flattened() == expected


def test_the_first_job_s_machine_ad_is_the_ad_without_secrets() -> None:
    slot = first_slot()
    slot["ClaimId"] = "secret"
    where = Place(StarterSettings(), slot, "slot1_1@ep", PROCESS)
    assert "secret" not in where.text_of(slot)
    slot.discard("ClaimId")
    assert parse_old_ad(where.text_of(slot)) == slot.flattened()


def test_folders_that_depend_on_the_job_are_asked_for_every_job() -> None:
    jobs = [ClassAd({"Wants": text}) for text in ("/a", "/b")]
    dependent = place(private_folders="TARGET.Wants")
    slot = first_slot()
    assert [dependent.private_folders(slot, job, "") for job in jobs] == [("/a",), ("/b",)]
    constant = place(private_folders='"/tmp,/var/tmp"')
    assert constant.private_folders(slot, jobs[0], "") == ("/tmp", "/var/tmp")
    assert constant.private_folders(slot, jobs[0], "/tmp/work") == ("/var/tmp",)


def test_scripts_run_where_the_machine_does_not_say_otherwise() -> None:
    jobs = [ClassAd({"Owner": owner}) for owner in ("ann", "bob")]
    for expression, allowed in (
        ("true", [True, True]),
        ("False", [False, False]),
        ('TARGET.Owner == "ann" && MY.Cpus == 2', [True, False]),
        ("Nothing", [False, False]),
        ("no (", [False, False]),
        (None, [True, True]),
    ):
        text = "" if expression is None else f"STARTER_ALLOW_JOB_PRE_AND_POST_CMD = {expression}"
        settings = read_settings(Config.from_text(text), version="", platform="")
        where = Place(settings, first_slot(), "slot1_1@ep", PROCESS)
        assert [where.allows_scripts(first_slot(), job) for job in jobs] == allowed, expression


def test_shared_memory_is_the_job_s_own_unless_something_of_its_lies_there() -> None:
    assert place().private_shared_memory("/home/alice")
    assert not place().private_shared_memory("/dev/shm/work")
    assert not place(execute="/dev/shm/execute").private_shared_memory("")
    assert not place(private_shared_memory=False).private_shared_memory("")


def test_niceness_that_depends_on_the_job_is_asked_for_every_job() -> None:
    assert place(renice_expression="7").renice(ClassAd()) == 7
    dependent = place(renice_expression="JobPrio + 1")
    assert [dependent.renice(ClassAd({"JobPrio": prio})) for prio in (3, 30)] == [4, 19]


def test_a_starter_tells_what_the_job_wants_its_log_to_show_and_overwrites_nothing() -> None:
    slot = ClassAd({"Arch": "X86_64", "Name": "slot1_1@h", "Cpus": 4, "ChildCpus": [1]})
    slot.insert_text("Start", "Cpus > 2")
    info = ClassAd({"Name": "other"})
    add_shown(info, ClassAd({"UserLogExecuteEventAttrs": "Arch,Start ChildCpus, Nope,Name"}), slot)
    assert dict(info.own_texts()) == {"Name": '"other"', "Arch": '"X86_64"', "Start": "true"}
