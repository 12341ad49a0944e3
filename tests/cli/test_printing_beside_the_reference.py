"""Combinations of printing options, with what the real tools 25.14.1 said to them."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from kettle.tools.programs import Streams, load_tool

SLOT = 'MyType = "Machine"\nName = "slot1@a"\nState = "Claimed"\nActivity = "Idle"\n'


def run(*argv: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = load_tool(argv[0])(list(argv), {}, Streams(io.StringIO(), out, err))
    return code, out.getvalue(), err.getvalue()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("-claimed -server", "Error:  arg 4 (-server) contradicts arg 3 (-claimed)\n"),
        ("-master -state", "Error:  arg 4 (-state) contradicts arg 3 (-master)\n"),
        ("-state -server", "Error:  arg 4 (-server) contradicts arg 3 (-state)\n"),
        ("-server -claimed", ""),
        ("-avail -state", ""),
        ("-server -server", ""),
        ("-server -state", ""),
        ("-long -claimed -server", ""),
        ("-af Name -claimed -server", ""),
        ("-claimed -server -long", "Error:  arg 4 (-server) contradicts arg 3 (-claimed)\n"),
    ],
)
def test_a_style_of_slots_gives_way_to_the_table_before(
    words: str, said: str, tmp_path: Path
) -> None:
    file = tmp_path / "slots.ads"
    file.write_text(SLOT)
    code, out, err = run("condor_status", "-ads", str(file), *words.split())
    assert (code, err) == (0, said)
    if said and "-long" not in words:
        kept = run("condor_status", "-ads", str(file), words.split()[0])
        assert out == kept[1]


def test_history_in_full_keeps_the_form_that_was_chosen_before(tmp_path: Path) -> None:
    file = tmp_path / "history"
    banner = '*** Offset = 0 ClusterId = 1 ProcId = 0 Owner = "a" CompletionDate = 1\n'
    file.write_text("ClusterId = 1\nProcId = 0\n" + banner)
    for form in ("-xml", "-json", "-jsonl"):
        before = run("condor_history", "-file", str(file), form)
        assert before[0] == 0
        assert run("condor_history", "-file", str(file), form, "-long") == before
        assert run("condor_history", "-file", str(file), "-long", form) == before
    both = run("condor_history", "-file", str(file), "-json", "-xml")
    assert both[::2] == (1, "Error: Cannot use more than one of XML and JSON[L]\n")


def test_an_owner_that_is_not_there_fills_its_column(tmp_path: Path) -> None:
    file = tmp_path / "jobs.ads"
    file.write_text("ClusterId = 1\nProcId = 0\nJobStatus = 1\n")
    rows = run("condor_q", "-jobads", str(file))[1].splitlines()
    assert any(row.startswith("[??????] ID: 1 ") for row in rows)
    rows = run("condor_q", "-jobads", str(file), "-nobatch")[1].splitlines()
    assert any(row.startswith("   1.0   [????????????] ") for row in rows)


def test_a_disk_of_three_terabytes_is_that_large(tmp_path: Path) -> None:
    file = tmp_path / "slots.ads"
    speeds = "Memory = 1\nMips = 1\nKFlops = 3000000000\n"
    file.write_text(f'{SLOT}Arch = "X86_64"\nOpSys = "LINUX"\nDisk = 3000000000\n{speeds}')
    lines = run("condor_status", "-ads", str(file), "-server")[1].splitlines()
    assert lines[2].split()[-3:] == ["3000000000", "1", "3000000000"]
    assert lines[-1].split() == ["Total", "1", "1", "1", "3000000000", "1", "3000000000"]


JOBS = """\
ClusterId = 1
ProcId = 0
Owner = "ann"
JobStatus = 5
JobUniverse = 9
AutoClusterId = 4
TransferringInput = true

ClusterId = 2
ProcId = 0
Owner = "bob"
JobStatus = 5
JobUniverse = 9
AutoClusterId = 4
TransferringInput = true
"""


def show_jobs(tmp_path: Path, *words: str) -> list[str]:
    file = tmp_path / "jobs.ads"
    file.write_text(JOBS)
    code, out, err = run("condor_q", "-jobads", str(file), *words)
    assert (code, err) == (0, "")
    return out.splitlines()


@pytest.mark.parametrize("mode", ["-io", "-grid", "-hold-codes"])
def test_batches_have_their_own_columns_whatever_jobs_are_meant(mode: str, tmp_path: Path) -> None:
    for words in ((mode, "-batch"), ("-batch", mode)):
        lines = show_jobs(tmp_path, *words)
        assert lines[3].split()[:2] == ["OWNER", "BATCH_NAME"]
        assert [line.split()[-1] for line in lines[4:6]] == ["1.0", "2.0"]


def test_each_job_of_a_file_is_a_group(tmp_path: Path) -> None:
    lines = show_jobs(tmp_path, "-autocluster")
    assert [line.split()[0] for line in lines[3:]] == ["ID", "4", "4"]


def test_columns_beside_a_file_stay_with_totals(tmp_path: Path) -> None:
    form = tmp_path / "form"
    form.write_text("SELECT\nClusterId AS C\nSUMMARY NONE\n")
    for words in (("-totals", "-af", "Owner"), ("-af", "Owner", "-totals")):
        lines = show_jobs(tmp_path, "-pr", str(form), *words)
        assert lines[:2] == ["1 ann  ", "2 bob  "] or lines[:2] == ["1 ann", "2 bob"]
        assert lines[2].startswith("Total for query: 2 jobs")


def test_totals_behind_columns_take_their_place(tmp_path: Path) -> None:
    for words in (("-af", "Owner"), ("-format", "%s", "Owner"), ("-af", "Owner", "-totals")):
        lines = show_jobs(tmp_path, *words, "-totals")
        assert lines[3].startswith("Total for query: 2 jobs")
    assert show_jobs(tmp_path, "-af", "Owner", "-totals", "-af", "Jobs") == ["undefined 2", ""]
    lines = show_jobs(tmp_path, "-af", "Owner", "-totals", "-aaf", "Owner")
    assert lines[3:5] == ["ann", "bob"]
    words = ("-jobads", str(tmp_path / "jobs.ads"), "-af", "Owner", "-totals", "-batch")
    assert run("condor_q", *words)[2].startswith("Error: -batch conflicts")


def test_an_ad_without_a_name_is_shown_by_its_machine(tmp_path: Path) -> None:
    file = tmp_path / "slots.ads"
    file.write_text('MyType = "Machine"\nMachine = "host"\nState = "Claimed"\n')
    for words in ((), ("-state",), ("-server",)):
        _, out, _ = run("condor_status", "-ads", str(file), *words)
        assert out.splitlines()[2].startswith("host ")


def show_slots(tmp_path: Path, *words: str, slots: str = SLOT) -> list[str]:
    file = tmp_path / "slots.ads"
    file.write_text(slots)
    code, out, err = run("condor_status", "-ads", str(file), *words)
    assert (code, err) == (0, "")
    return out.splitlines()


def test_a_host_that_nobody_knows_has_no_ad_in_a_file(tmp_path: Path) -> None:
    assert show_slots(tmp_path, "nosuchhost.invalid", "-af", "Name") == []


def test_a_file_of_ads_shows_its_form_itself(tmp_path: Path) -> None:
    for form in ("-json", "-xml", "-long:new"):
        written = "\n".join(show_slots(tmp_path, form))
        assert show_slots(tmp_path, "-af", "Name", slots=written) == ["slot1@a"]


def test_a_format_before_added_columns_has_the_width_that_it_says(tmp_path: Path) -> None:
    form = tmp_path / "form"
    form.write_text("SELECT\nActivity AS A\n")
    lines = show_slots(tmp_path, "-pr", str(form), "-format", "%s", "Name", "-aaf", "State")
    assert [line.rstrip() for line in lines] == ["A    State", "Idle slot1@a Claimed"]


def test_a_length_before_a_letter_changes_nothing(tmp_path: Path) -> None:
    for length in ("", "l", "h", "ll"):
        assert show_slots(tmp_path, "-format", f"%10{length}v|", "Name") == ["   slot1@a|"]


def test_slots_of_one_side_are_rolled_up(tmp_path: Path) -> None:
    slot = 'MyType = "Machine"\nName = "slot{}@a"\nMachine = "a"\nState = "Claimed"\n'
    slots = [slot.format(number) for number in range(1, 4)]
    other = tmp_path / "other.ads"
    other.write_text(slots[0])
    words = ("-merge", str(other), "-compact")
    lines = show_slots(tmp_path, *words, slots="\n".join(slots))
    assert sum(line.startswith("a ") for line in lines) == 2
    both = next(at for at, line in enumerate(lines) if "in both" in line)
    assert lines[both - 1] == ""


def test_parts_of_a_comparison_are_members_of_one_object_in_json(tmp_path: Path) -> None:
    slot = 'MyType = "Machine"\nName = "slot{}@a"\nMachine = "a"\nState = "Claimed"\n'
    one, two, three = (slot.format(number) for number in (1, 2, 3))
    other = tmp_path / "other.ads"
    words = ("-merge", str(other), "-json", "-attributes", "Name")

    def compared(ours: list[str], theirs: list[str]) -> str:
        other.write_text("\n".join(theirs))
        return "\n".join(show_slots(tmp_path, *words, slots="\n".join(ours)))

    shown = compared([one, two], [one, three])
    assert json.loads(shown) == {
        "query-only": [{"Name": "slot2@a"}],
        "both": [{"Name": "slot1@a"}],
        "file-only": [{"Name": "slot3@a"}],
    }
    ad = '[\n{{\n  "Name": "slot{}@a"\n}}\n]'
    assert compared([one], [one]) == (
        f'{{\n"query-only": [ ],\n"both": {ad.format(1)}\n,\n"file-only": [ ]\n}}'
    )
    assert compared([one], [two]) == (
        f'{{\n"query-only": {ad.format(1)}\n,\n"both": [ ],\n"file-only": {ad.format(2)}\n\n}}'
    )


def test_sums_count_ads_without_a_name(tmp_path: Path) -> None:
    ad = 'MyType = "Scheduler"\nMachine = "h"\nTotalRunningJobs = 1\nTotalIdleJobs = 2\n'
    schedds = (ad + "TotalHeldJobs = 3\n\n") * 2 + f'{ad}Name = "s"\n\n'
    lines = show_slots(tmp_path, "-schedd", "-total", slots=schedds)
    assert [line.split() for line in lines if "Total " in line] == [["Total", "3", "6", "6"]]
    assert "(Omitted 1 malformed ads" in lines[-2]
