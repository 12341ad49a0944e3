"""What a submit file can say about files, each said to a real pool."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.classad import ClassAd
from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import Jobs, ask_queue, run_tool, submit, submit_script, wait_until

pytestmark = pytest.mark.timeout(120)

FAILING = "success_exit_code = 0\nmax_retries = 0\n"
SMALL = "request_cpus = 1\nrequest_memory = 10MB\nrequest_disk = 1MB\nshould_transfer_files = yes\n"


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    with personal_pool(tmp_path_factory.mktemp("breadth"), "PERIODIC_EXPR_INTERVAL = 1\n") as pool:
        yield pool


def shell(pool: PersonalPool, work: Path, script: str, lines: str = "") -> Jobs:
    """Queue a shell script as a small job whose output is `out` and `err`."""
    return submit_script(pool, work, script, SMALL + lines)


def held(jobs: Jobs) -> tuple[str, int, int]:
    """Wait for a hold and return its reason, code and subcode."""
    jobs.wait_for(12, 20)
    text = jobs.log.read_text()
    found = re.search(r"Job was held\.\n\t(.*)\n\tCode (\d+) Subcode (\d+)", text)
    assert found is not None, text
    run_tool(jobs.pool, "condor_rm", str(jobs.cluster))
    return found[1], int(found[2]), int(found[3])


def test_a_folder_with_a_slash_is_its_contents_and_without_it_itself(
    pool: PersonalPool, work: Path
) -> None:
    for name in ("one", "two"):
        (work / name / "sub").mkdir(parents=True)
        (work / name / "sub" / name).write_text(name)
    jobs = shell(pool, work, "find . -name '[ot]*' | sort", "transfer_input_files = one, two/")
    jobs.wait_for(5, 20)
    found = (work / "out").read_text().split()
    assert "./one/sub/one" in found
    assert "./sub/two" in found
    assert "./two" not in found


def test_relative_paths_are_kept_on_both_ways_if_the_job_wants_it(
    pool: PersonalPool, work: Path
) -> None:
    (work / "in").mkdir()
    (work / "in/x").write_text("x\n")
    (work / "tree/sub").mkdir(parents=True)
    (work / "tree/sub/y").write_text("y\n")
    # As a real 25.14.1 does it: the folder keeps its name, slash or not.
    script = "mkdir -p a/b; cat in/x tree/sub/y > a/b/c"
    lines = (
        "transfer_input_files = in/x, tree/\npreserve_relative_paths = true\n"
        "transfer_output_files = a/b/c\n"
    )
    shell(pool, work, script, lines).wait_for(5, 20)
    assert (work / "a/b/c").read_text() == "x\ny\n"


def test_remaps_rename_files_take_folders_along_and_go_to_urls(
    pool: PersonalPool, work: Path
) -> None:
    (work / "put").mkdir()
    (work / "put").chmod(0o777)
    (work / "there").mkdir()
    script = "mkdir d; echo 1 > d/one; echo 2 > two; echo 3 > 'th;ree'"
    lines = (
        "transfer_output_files = d, two, th;ree\n"
        f'transfer_output_remaps = "d=there/e; two = file://{work}/put/two ;th\\;ree=three"\n'
    )
    (work / "there/e").mkdir()
    shell(pool, work, script, lines).wait_for(5, 20)
    assert (work / "there/e/one").read_text() == "1\n"
    assert (work / "put/two").read_text() == "2\n"
    # Nothing takes a `;` into the name before the `=`: that rule is one of "ree".
    assert (work / "th;ree").read_text() == "3\n"


def test_all_output_but_the_streams_goes_to_the_output_destination(
    pool: PersonalPool, work: Path
) -> None:
    (work / "put").mkdir()
    (work / "put").chmod(0o777)
    jobs = shell(
        pool,
        work,
        "echo said; echo 1 > one; mkdir d; echo 2 > d/two",
        f"transfer_output_files = one, d\noutput_destination = file://{work}/put\n",
    )
    jobs.wait_for(5, 20)
    assert (work / "put/one").read_text() == "1\n"
    assert (work / "put/d/two").read_text() == "2\n"
    assert (work / "out").read_text() == "said\n"
    assert not (work / "one").exists()


def test_an_empty_list_of_output_brings_nothing_back(pool: PersonalPool, work: Path) -> None:
    (work / "keep").write_text("mine\n")
    script = "echo said; echo theirs > keep; echo new > new"
    jobs = shell(pool, work, script, 'transfer_output_files = ""\n')
    jobs.wait_for(5, 20)
    assert (work / "out").read_text() == "said\n"
    assert (work / "keep").read_text() == "mine\n"
    assert jobs.record().string("SpooledOutputFiles") == ""
    assert not (work / "new").exists()


def test_too_much_input_holds_the_job_before_it_runs(pool: PersonalPool, work: Path) -> None:
    (work / "big").write_bytes(bytes(3 << 20))
    jobs = shell(pool, work, "true", "transfer_input_files = big\nmax_transfer_input_mb = 1\n")
    reason, code, subcode = held(jobs)
    # The words of a real 25.14.1; its sizes count the program too.
    assert reason == (
        "TransferInputSizeMB (4) is greater than MAX_TRANSFER_INPUT_MB (1) at submit time"
    )
    assert (code, subcode) == (32, 0)
    assert jobs.count_events(1) == {}


def test_too_much_output_holds_the_job_and_says_which_file(pool: PersonalPool, work: Path) -> None:
    script = "dd if=/dev/zero of=large bs=1M count=3 2>/dev/null; echo s > small"
    # The disk has room for it: only what travels is too much.
    lines = "transfer_output_files = small, large\nmax_transfer_output_mb = 1\nrequest_disk = 9MB\n"
    jobs = shell(pool, work, script, lines)
    reason, code, subcode = held(jobs)
    assert (code, subcode) == (33, 0)
    assert "large: max total download bytes exceeded (max=1 MB, this file=3 MB)" in reason
    assert re.match(r"Error from \S+: STARTER at \S+ failed to send file\(s\) to <", reason)


@pytest.mark.parametrize(
    ("files", "remapped", "count"),
    [("large, small", "large", 2), ("small, large", "large", 1), ("large, small", "small", 2)],
)
def test_too_much_output_is_told_of_whatever_else_fails(
    pool: PersonalPool, work: Path, files: str, remapped: str, count: int
) -> None:
    """Nothing fits behind what is too much; of a place that cannot be written nothing is said.

    The words of a real pool, with the same jobs.
    """
    script = "dd if=/dev/zero of=large bs=1M count=3 2>/dev/null; echo s > small"
    lines = (
        f'transfer_output_files = {files}\ntransfer_output_remaps = "{remapped}=/nowhere/big"\n'
        "max_transfer_output_mb = 1\nrequest_disk = 9MB\n"
    )
    reason, code, subcode = held(shell(pool, work, script, lines))
    assert (code, subcode) == (33, 0)
    exceeded = "max total download bytes exceeded (max=1 MB, this file=3 MB)"
    assert re.fullmatch(
        r"Error from \S+: STARTER at 127\.0\.0\.1 failed to send file\(s\) to <\S+>: \|Error: "
        rf"{count} total failures: first failure: sending file \S+/scratch/large: "
        rf"{re.escape(exceeded)}; SHADOW failed to receive file\(s\) from <\S+>",
        reason,
    ), reason


PLUGIN = """\
#!/bin/sh
if [ "$1" = -classad ]; then
    echo 'PluginType = "FileTransfer"'; echo 'SupportedMethods = "{methods}"'
    echo 'MultipleFileSupport = {many}'; exit 0
fi
{body}
"""
MANY = """\
upload=no; [ "$5" = -upload ] && upload=yes
tr -d '\\n' < "$2" | sed 's/\\]/]\\n/g' | while read -r ad; do
    url=$(echo "$ad" | sed 's/.*Url = "\\([^"]*\\)".*/\\1/')
    file=$(echo "$ad" | sed 's/.*LocalFileName = "\\([^"]*\\)".*/\\1/')
    if [ $upload = yes ]; then cp "$file" "${url#mine://}"; else cp "${url#mine://}" "$file"; fi
    echo "[ TransferUrl = \\"$url\\"; TransferSuccess = true; TransferFileBytes = 3 ]"
done > "$4"
echo "$0 $*" >> RUNS
"""


def test_a_job_brings_its_own_plug_in_and_it_moves_many_files_at_once(
    pool: PersonalPool, work: Path
) -> None:
    plugin = work / "mine.sh"
    plugin.write_text(
        PLUGIN.format(methods="mine", many="true", body=MANY.replace("RUNS", f"{work}/runs"))
    )
    plugin.chmod(0o755)
    (work / "runs").touch()
    (work / "runs").chmod(0o666)
    for name in ("a", "b"):
        (work / name).write_text(f"{name}\n")
    (work / "put").mkdir()
    (work / "put").chmod(0o777)
    jobs = shell(
        pool,
        work,
        "cat a b > both",
        f"transfer_plugins = mine={plugin}\n"
        f"transfer_input_files = mine://{work}/a, mine://{work}/b\n"
        "transfer_output_files = both\n"
        f'transfer_output_remaps = "both=mine://{work}/put/both"\n',
    )
    jobs.wait_for(5, 20)
    assert (work / "put/both").read_text() == "a\nb\n"
    # Once for both inputs, once for the output.
    assert len((work / "runs").read_text().splitlines()) == 2


def test_a_plug_in_that_fails_holds_the_job_with_its_words(pool: PersonalPool, work: Path) -> None:
    plugin = work / "bad.sh"
    plugin.write_text(
        PLUGIN.format(methods="bad", many="false", body="echo 'the shelf is empty' >&2; exit 3")
    )
    plugin.chmod(0o755)
    jobs = shell(
        pool, work, "true", f"transfer_plugins = bad={plugin}\ntransfer_input_files = bad://x/y\n"
    )
    reason, code, _ = held(jobs)
    assert code == 13
    assert "the shelf is empty" in reason


def test_files_that_must_be_encrypted_arrive_where_connections_are(
    pool: PersonalPool, work: Path
) -> None:
    (work / "secret").write_text("s\n")
    jobs = shell(
        pool,
        work,
        "cp secret back",
        "transfer_input_files = secret\nencrypt_input_files = *\nencrypt_output_files = back\n"
        "transfer_output_files = back\n",
    )
    jobs.wait_for(5, 20)
    assert (work / "back").read_text() == "s\n"


def test_output_on_success_only_leaves_a_failed_job_s_streams(
    pool: PersonalPool, work: Path
) -> None:
    lines = (
        "when_to_transfer_output = ON_SUCCESS\nsuccess_exit_code = 0\nmax_retries = 0\n"
        "transfer_output_files = made\n"
    )
    jobs = shell(pool, work, "echo said; echo 1 > made; exit 4", lines)
    jobs.wait_for(5, 20)
    assert (work / "out").read_text() == "said\n"
    assert not (work / "made").exists()
    good = work / "good"
    good.mkdir()
    jobs = shell(pool, good, "echo 1 > made", lines)
    jobs.wait_for(5, 20)
    assert (good / "made").read_text() == "1\n"


def test_a_job_that_does_not_say_what_success_is_brings_its_output_however_it_ends(
    pool: PersonalPool, work: Path
) -> None:
    # As a real 25.14.1 does it.
    lines = "when_to_transfer_output = ON_SUCCESS"
    shell(pool, work, "echo 1 > made; exit 2", lines).wait_for(5, 20)
    assert (work / "made").read_text() == "1\n"


@pytest.mark.parametrize("lines", ["", "when_to_transfer_output = ON_SUCCESS\n" + FAILING])
def test_output_and_error_in_one_file_keep_the_order_of_writing(
    pool: PersonalPool, work: Path, lines: str
) -> None:
    script = "echo x; echo y >&2; echo z; exit 2"
    shell(pool, work, script, f"error = out\n{lines}").wait_for(5, 20)
    assert (work / "out").read_text() == "x\ny\nz\n"


def test_a_failed_job_may_have_a_list_of_its_own(pool: PersonalPool, work: Path) -> None:
    lines = (
        "when_to_transfer_output = ON_SUCCESS\nsuccess_exit_code = 0\nmax_retries = 0\n"
        'transfer_output_files = made\n+FailureFiles = "core.txt"\n'
    )
    jobs = shell(pool, work, "echo 1 > made; echo why > core.txt; exit 4", lines)
    jobs.wait_for(5, 20)
    assert (work / "core.txt").read_text() == "why\n"
    assert not (work / "made").exists()


def test_what_an_evicted_job_left_waits_in_the_spool_and_comes_back_with_it(
    pool: PersonalPool, work: Path
) -> None:
    """Only changes travel: what the first run left is still there in the third one."""
    script = (
        "trap 'exit 1' TERM\n"
        "runs=$(ls state.* 2>/dev/null | wc -l); echo run $runs > state.$runs\n"
        f"[ $runs = 2 ] && {{ cat state.*; exit 0; }}\ntouch {work}/began.$runs\n"
        "while :; do sleep 0.1; done"
    )
    (work / "began").mkdir()
    lines = "when_to_transfer_output = ON_EXIT_OR_EVICT\n+JobMaxVacateTime = 5\n"
    jobs = shell(pool, work, script, lines)
    for run in (0, 1):
        jobs.wait_for(1, 20, each=run + 1)
        wait_until((work / f"began.{run}").exists, 20)
        assert run_tool(pool, "condor_vacate_job", str(jobs.cluster))[0] == 0
    jobs.wait_for(5, 30)
    assert (work / "out").read_text() == "run 0\nrun 1\nrun 2\n"
    spool = Path(pool.folder, "spool")
    wait_until(lambda: not list(spool.glob(f"{jobs.cluster}/0/*subproc0*")), 10)


def test_a_checkpoint_lies_at_its_destination_and_the_job_goes_on_from_it(
    pool: PersonalPool, work: Path
) -> None:
    """checkpoint_destination: files at the URL, the manifest in the spool, both checked."""
    (work / "ck").mkdir()
    (work / "ck").chmod(0o777)
    script = (
        "n=$(cat state 2>/dev/null || echo 0); n=$((n + 1)); echo $n > state\n"
        "[ $n -ge 3 ] && { echo done $n; exit 0; }\n"
        f"if [ $n = 2 ] && [ ! -e {work}/stopped ]; then touch {work}/stopped; sleep 60; fi\n"
        "exit 85"
    )
    lines = (
        "checkpoint_exit_code = 85\ntransfer_checkpoint_files = state\n"
        f"checkpoint_destination = file://{work}/ck\ntransfer_output_files =\n"
        "+JobMaxVacateTime = 1\n"
    )
    jobs = shell(pool, work, script, lines)
    wait_until((work / "stopped").exists, 20)
    (row,) = ask_queue(pool, str(jobs.cluster), "GlobalJobId")
    place = work / "ck" / row[0].replace("#", "_") / "0000"
    assert (place / "state").read_text() == "1\n"
    assert run_tool(pool, "condor_vacate_job", "-fast", str(jobs.cluster))[0] == 0
    jobs.wait_for(5, 30)
    assert (work / "out").read_text() == "done 3\n"
    assert jobs.record().integer("NumJobStarts") == 2
    # The machine's own history says which checkpoint it was.
    records = Path(pool.log_folder, "transfer_history").read_text().split("***\n")
    [came] = [
        record
        for record in records
        if f"JobClusterId = {jobs.cluster}\n" in record and '"cedar"' in record
    ]
    assert 'TransferFileName = "./_condor_checkpoint_MANIFEST.0000"' in came


def test_older_checkpoints_are_deleted_while_a_job_runs_and_all_when_it_has_left(
    pool: PersonalPool, work: Path
) -> None:
    """Only the last ones are of use; the plug-in for mounted places is built in."""
    (work / "ck").mkdir()
    (work / "ck").chmod(0o777)
    rule = f"cleanup_locally_mounted_checkpoint,-prefix,\\0,-path,{work}/ck"
    (Path(pool.folder) / "checkpoint-destination-mapfile").write_text(
        f"* file://{work}/ck {rule}\n"
    )
    script = (
        "n=$(cat state 2>/dev/null || echo 0); n=$((n + 1)); echo $n > state\n"
        f"[ $n -le 4 ] && exit 85; touch {work}/waits; while [ ! -e {work}/go ]; do sleep 0.1; done"
    )
    lines = (
        "checkpoint_exit_code = 85\ntransfer_checkpoint_files = state\n"
        f"checkpoint_destination = file://{work}/ck\ntransfer_output_files =\n"
    )
    jobs = shell(pool, work, script, lines)
    wait_until((work / "waits").exists, 30)
    (row,) = ask_queue(pool, str(jobs.cluster), "GlobalJobId")
    place = work / "ck" / row[0].replace("#", "_")
    wait_until(lambda: sorted(os.listdir(place)) == ["0002", "0003"], 20)
    (work / "go").touch()
    jobs.wait_for(5, 30)
    wait_until(lambda: not place.exists(), 20)
    waiting = Path(pool.folder) / "spool/checkpoint-cleanup"
    wait_until(lambda: not list(waiting.glob(f"*/cluster{jobs.cluster}.*")), 10)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ("rm {}", "Failed to open checkpoint file ('state') to compute checksum., aborting."),
        ("echo 7 > {}", "Checkpoint file 'state' did not have expected checksum ("),
    ],
)
def test_a_checkpoint_that_is_damaged_where_it_lies_is_not_used_and_the_job_starts_anew(
    pool: PersonalPool, work: Path, damage: str, words: str
) -> None:
    """It is said so, and the same one is not tried again and again."""
    script = (
        "n=$(cat state 2>/dev/null || echo 0); n=$((n + 1)); echo $n > state\n"
        "[ $n -ge 3 ] && { echo done $n; exit 0; }\n"
        f"if [ $n = 2 ] && [ ! -e {work}/stopped ]; then touch {work}/stopped; sleep 60; fi\n"
        "exit 85"
    )
    (work / "shelf").write_text(DAMAGING_PLUGIN.replace("DAMAGE", damage.format('"$name"')))
    (work / "shelf").chmod(0o755)
    (work / "ck").mkdir()
    (work / "ck").chmod(0o777)
    lines = (
        "checkpoint_exit_code = 85\ntransfer_checkpoint_files = state\ntransfer_output_files =\n"
        f"checkpoint_destination = shelf://{str(work).strip('/')}/ck\n"
        f"transfer_plugins = shelf={work}/shelf\n+JobMaxVacateTime = 1\n"
    )
    jobs = shell(pool, work, script, lines)
    wait_until((work / "stopped").exists, 20)
    assert run_tool(pool, "condor_vacate_job", "-fast", str(jobs.cluster))[0] == 0
    jobs.wait_for(5, 40)
    assert (work / "out").read_text() == "done 3\n"
    assert jobs.count_events(21) == {0: 1}
    assert f"\n\t{words}" in jobs.log.read_text()


# Takes what is below a folder, and brings it back damaged.
DAMAGING_PLUGIN = """#!/bin/sh
if [ "$1" = -classad ]; then
  echo 'PluginType = "FileTransfer"'
  echo 'SupportedMethods = "shelf"'
  echo 'MultipleFileSupport = true'
  exit 0
fi
sed -n 's/.*Url = "\\([^"]*\\)".*/\\1/p' "$2" >.urls
while read -r url; do
  name=${url##*/}
  there=/${url#shelf://}
  if [ "$5" = -upload ]; then
    mkdir -p "${there%/*}" && cp "$name" "$there"
  else
    cp "$there" "$name"
    [ "$name" = state ] && DAMAGE
  fi
  echo "[ TransferUrl = \\"$url\\"; TransferSuccess = true; TransferFileName = \\"$name\\" ]"
done <.urls >"$4"
exit 0
"""

# Takes what is below a folder, and says of files named `bad` that they cannot be taken.
CHECKPOINT_PLUGIN = """#!/bin/sh
if [ "$1" = -classad ]; then
  echo 'PluginType = "FileTransfer"'
  echo 'SupportedMethods = "shelf"'
  echo 'MultipleFileSupport = true'
  exit 0
fi
sed -n 's/.*Url = "\\([^"]*\\)".*/\\1/p' "$2" >.urls
while read -r url; do
  name=${url##*/}
  there=/${url#shelf://}
  if [ -e bad-one ] && [ "$name" = state ]; then
    echo "[ TransferUrl = \\"$url\\"; TransferSuccess = false; TransferError = \\"no room\\" ]"
  else
    mkdir -p "${there%/*}" && cp "$name" "$there"
    echo "[ TransferUrl = \\"$url\\"; TransferSuccess = true; TransferFileBytes = 2 ]"
  fi
done <.urls >"$4"
exit $(cat bad-one 2>/dev/null || echo 0)
"""


@pytest.mark.parametrize("code", [0, 1])
def test_a_checkpoint_that_a_plug_in_refuses_is_tried_again_and_one_that_breaks_it_holds_the_job(
    pool: PersonalPool, work: Path, code: int
) -> None:
    """What the plug-in's exit code says, as in the reference."""
    (work / "ck").mkdir()
    (work / "ck").chmod(0o777)
    (work / "shelf").write_text(CHECKPOINT_PLUGIN)
    (work / "shelf").chmod(0o755)
    script = (
        "n=$(cat state 2>/dev/null || echo 0); n=$((n + 1)); echo $n > state\n"
        f"rm -f bad-one; [ $n = 1 ] && echo {code} > bad-one\n"
        "[ $n = 3 ] && exit 0\n"
        "exit 85"
    )
    lines = (
        "checkpoint_exit_code = 85\ntransfer_checkpoint_files = state\ntransfer_output_files =\n"
        f"checkpoint_destination = shelf://{str(work).strip('/')}/ck\n"
        f"transfer_plugins = shelf={work}/shelf\n"
    )
    jobs = shell(pool, work, script, lines)
    if code:
        jobs.wait_for(12, 30)
        text = r"\tStarter failed to upload checkpoint: uploading .+\n\tCode 36 Subcode -1\n"
        assert re.search(text, jobs.log.read_text())
        run_tool(pool, "condor_rm", str(jobs.cluster))
        return
    jobs.wait_for(5, 30)
    assert jobs.count_events(12) == {}
    record = jobs.record()
    assert (record.integer("CheckpointNumber"), record.integer("NumCkpts")) == (1, 1)
    place = work / "ck" / (record.string("GlobalJobId") or "").replace("#", "_")
    assert [path.parent.name for path in place.glob("*/state")] == ["0001"]


def test_what_was_printed_before_a_checkpoint_is_there_after_another_run(
    pool: PersonalPool, work: Path
) -> None:
    script = (
        "n=$(cat state 2>/dev/null || echo 0); n=$((n + 1)); echo $n > state; echo part $n\n"
        "[ $n = 3 ] && exit 0\n"
        f"if [ $n = 2 ] && [ ! -e {work}/stopped ]; then touch {work}/stopped; sleep 60; fi\n"
        "exit 85"
    )
    lines = (
        "checkpoint_exit_code = 85\ntransfer_checkpoint_files = state\ntransfer_output_files =\n"
        "+JobMaxVacateTime = 1\n"
    )
    jobs = shell(pool, work, script, lines)
    wait_until((work / "stopped").exists, 20)
    assert run_tool(pool, "condor_vacate_job", "-fast", str(jobs.cluster))[0] == 0
    jobs.wait_for(5, 30)
    assert (work / "out").read_text() == "part 1\npart 2\npart 3\n"


def test_a_checkpoint_without_a_file_says_so_and_the_next_run_has_the_last_good_one(
    pool: PersonalPool, work: Path
) -> None:
    """With the codes of the reference, and the cause, which that keeps to its logs."""
    script = (
        "n=$(cat state 2>/dev/null || echo 0); n=$((n + 1)); echo $n > state; echo part $n\n"
        f"[ -e {work}/held ] && exit 0\n"
        f"[ $n = 1 ] && touch more || {{ rm more; touch {work}/held; }}\n"
        "exit 85"
    )
    lines = (
        "checkpoint_exit_code = 85\ntransfer_checkpoint_files = state, more\n"
        "transfer_output_files =\n"
    )
    jobs = shell(pool, work, script, lines)
    jobs.wait_for(12, 30)
    text = jobs.log.read_text()
    numbers = [line[:3] for line in text.splitlines() if re.match(r"\d{3} \(", line)]
    assert numbers[-3:] == ["021", "004", "012"]
    said = r"\tStarter failed to upload checkpoint: .*\bmore\b.*\n\tCode 36 Subcode -1\n"
    assert re.search(said, text), text
    run_tool(pool, "condor_release", str(jobs.cluster))
    jobs.wait_for(5, 30)
    assert (work / "out").read_text() == "part 1\npart 2\n"
    reasons = jobs.record().evaluate("NumHoldsByReason")
    assert isinstance(reasons, ClassAd)
    assert reasons.integer("FailedToCheckpoint") == 1


def test_a_job_that_does_nothing_but_checkpoints_has_about_one_a_second(
    pool: PersonalPool, work: Path
) -> None:
    jobs = shell(pool, work, f"echo >> {work}/runs; exit 85", "checkpoint_exit_code = 85\n")
    (work / "runs").touch()
    (work / "runs").chmod(0o666)
    wait_until(lambda: len((work / "runs").read_text()) > 9, 40)
    began = time.monotonic()
    wait_until(lambda: len((work / "runs").read_text()) > 12, 40)
    assert time.monotonic() - began > 1.5
    run_tool(pool, "condor_rm", str(jobs.cluster))
    jobs.wait_for(9, 20)


@pytest.mark.parametrize("lines", ["", "transfer_output_files = res\n"])
def test_a_core_file_comes_back_under_the_job_s_name_and_the_log_tells_where(
    pool: PersonalPool, work: Path, lines: str
) -> None:
    jobs = shell(pool, work, "echo dump > core; echo > res; kill -SEGV $$", lines)
    jobs.wait_for(5, 20)
    core = work / f"core.{jobs.cluster}.0"
    assert core.read_text() == "dump\n"
    assert not (work / "core").exists()
    assert f"(0) Abnormal termination (signal 11)\n\t(1) Corefile in: {core}\n" in (
        jobs.log.read_text()
    )
    record = jobs.record()
    assert (record.boolean("JobCoreDumped"), record.string("JobCoreFileName")) == (True, str(core))


def test_a_job_that_leaves_no_core_file_has_none_in_its_log(pool: PersonalPool, work: Path) -> None:
    jobs = shell(pool, work, "ln -s nothing core; kill -SEGV $$", "transfer_output_files =\n")
    jobs.wait_for(5, 20)
    assert "\t(0) No core file\n" in jobs.log.read_text()
    assert "JobCoreDumped" not in jobs.record()


def statistics(ad: ClassAd, name: str) -> dict[str, int | None]:
    found = ad.evaluate(name)
    assert isinstance(found, ClassAd)
    return {each: found.integer(each) for each in found.own_names()}


def test_what_travelled_is_counted_in_the_job_s_ad(pool: PersonalPool, work: Path) -> None:
    (work / "in").write_text("12345")
    (work / "web").write_text("123")
    jobs = shell(
        pool,
        work,
        "cat in > res",
        f"transfer_input_files = in, file://{work}/web\ntransfer_output_files = res\n",
    )
    jobs.wait_for(5, 20)
    ad = jobs.record()
    counts = ad.evaluate("TransferInputFileCounts")
    assert isinstance(counts, ClassAd)
    assert (counts.integer("CEDAR"), counts.integer("FILE")) == (2, 1)
    size = 5 + os.path.getsize(work / "job.sh")
    expected = {
        "CedarSizeBytes": size,
        "CedarFilesCount": 2,
        "FILEFilesCount": 1,
        "FILESizeBytes": 3,
    }
    assert statistics(ad, "TransferInputStats") == {
        f"{name}{when}": count for name, count in expected.items() for when in ("Total", "LastRun")
    }
    expected = {"CedarSizeBytes": 5, "CedarFilesCount": 3}
    assert statistics(ad, "TransferOutputStats") == {
        f"{name}{when}": count for name, count in expected.items() for when in ("Total", "LastRun")
    }
    for name in ("TransferInStarted", "TransferInFinished", "TransferOutStarted"):
        assert ad.integer(name)


def test_folders_that_travelled_are_counted_as_the_reference_counts_them(
    pool: PersonalPool, work: Path
) -> None:
    """Of input the files that came and their bytes, of output all that the machine sent.

    Recorded of a real pool, with the same files.
    """
    files = {"tree/f1": "one", "tree/a/f2": "two2", "tree/a/b/f3": "three33", "tree/a/zero": ""}
    for name, text in {**files, "tree2/c/g": "x", "single": "y"}.items():
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n" * bool(text))
    (work / "tree/empty").mkdir()
    jobs = shell(
        pool,
        work,
        "mkdir -p out.d/d/e out.d/none; echo hello > out.d/d/h; echo hi > out.d/d/e/i\n"
        ": > out.d/z; cp -r tree out.d/tree; echo done; echo err >&2",
        "transfer_input_files = tree, tree2/, single\ntransfer_output_files = out.d, out.d/d/\n",
    )
    jobs.wait_for(5, 20)
    ad = jobs.record()
    sent = 4 + 5 + 8 + 2 + 2 + os.path.getsize(work / "job.sh")
    assert (ad.real("BytesRecvd"), ad.real("BytesSent")) == (sent + 5 * 4, 44)
    for direction, size, count in (("Input", sent, 7), ("Output", 44, 20)):
        assert statistics(ad, f"Transfer{direction}Stats") == {
            f"Cedar{name}{when}": value
            for when in ("Total", "LastRun")
            for name, value in (("SizeBytes", size), ("FilesCount", count))
        }
    log = jobs.log.read_text()
    assert "\t44  -  Run Bytes Sent By Job\n" in log
    assert f"\t{sent + 20}  -  Run Bytes Received By Job\n" in log


def test_large_inputs_take_their_turn_in_the_transfer_queue(work: Path, tmp_path: Path) -> None:
    """MAX_CONCURRENT_UPLOADS: never two at once, and the log says who waited."""
    text = "MAX_CONCURRENT_UPLOADS = 1\nBYTES_REQUIRED_TO_QUEUE_FOR_TRANSFER = 1000\nNUM_CPUS = 4\n"
    with personal_pool(tmp_path, text) as pool:
        (work / "in").write_bytes(bytes(20 << 20))
        path = work / "job.sh"
        path.write_text("#!/bin/sh\ntest $(wc -c < in) = 20971520\n")
        path.chmod(0o755)
        jobs = submit(
            pool,
            work,
            f"executable = {path}\n{SMALL}transfer_input_files = in\n"
            "request_disk = 40MB\nqueue 4\n",
        )
        jobs.wait_for(5, 40)
    under_way = most = 0
    queued = started = 0
    for event in jobs.events():
        kind = getattr(event, "kind", None)
        if event.number == 40 and kind == 1:
            queued += 1
        elif event.number == 40 and kind == 2:
            started += 1
            under_way += 1
            assert getattr(event, "queue_seconds", None) is not None
        elif event.number == 40 and kind == 3:
            under_way -= 1
        most = max(most, under_way)
    assert (queued, started, most) == (4, 4, 1)


def test_a_machine_offers_the_kinds_of_url_that_its_own_plug_ins_serve(
    work: Path, tmp_path: Path
) -> None:
    plugin = work / "shelf.sh"
    body = 'cp "${1#shelf://}" "$2"'
    plugin.write_text(PLUGIN.format(methods="shelf", many="false", body=body))
    plugin.chmod(0o755)
    with personal_pool(tmp_path, f"FILETRANSFER_PLUGINS = /no/such/plugin, {plugin}\n") as pool:
        (work / "book").write_text("b\n")
        jobs = shell(pool, work, "cat book", f"transfer_input_files = shelf://{work}/book\n")
        jobs.wait_for(5, 20)
        said = run_tool(pool, "condor_status", "-af", "HasFileTransferPluginMethods")[1]
    assert set(said.split()) == {"file,http,https,shelf"}
    assert (work / "out").read_text() == "b\n"


def test_a_running_job_that_is_removed_brings_its_output_if_that_is_asked_for(
    pool: PersonalPool, work: Path
) -> None:
    jobs = shell(
        pool,
        work,
        "echo made > made; sync; echo ready > $1/ready; sleep 600",
        f"arguments = {work}\ntransfer_output_files = made",
    )
    wait_until((work / "ready").exists, 20)
    code, said, complaint = run_tool(pool, "condor_rm", "-transfer", f"{jobs.cluster}.0")
    assert code == 0, complaint
    assert said == f"Job {jobs.cluster}.0 marked for removal after file transfer\n"
    jobs.wait_for(9, 20)
    assert (work / "made").read_text() == "made\n"
    assert "via condor_rm -transfer" in jobs.log.read_text()


def test_output_goes_into_folders_that_are_made_for_it_below_the_jobs_own(
    pool: PersonalPool, work: Path
) -> None:
    (work / "job").mkdir()
    lines = (
        f"initialdir = {work}/job\noutput = new/logs/out\ntransfer_output_files = made, tree\n"
        'transfer_output_remaps = "made=1/2/made;tree=3/4/tree"\n'
    )
    jobs = shell(pool, work, "echo made | tee made; mkdir tree; touch tree/leaf", lines)
    jobs.wait_for(5, 20)
    assert (work / "job/1/2/made").read_text() == "made\n"
    assert (work / "job/new/logs/out").read_text() == "made\n"
    assert (work / "job/3/4/tree/leaf").exists()


def test_a_folder_outside_of_the_jobs_own_is_not_made(pool: PersonalPool, work: Path) -> None:
    (work / "job").mkdir()
    lines = (
        f"initialdir = {work}/job\ntransfer_output_files = made\n"
        'transfer_output_remaps = "made=../beside/made"\n'
    )
    jobs = shell(pool, work, "echo made > made", lines)
    reason, code, subcode = held(jobs)
    assert (code, subcode) == (12, 2), reason
    assert not (work / "beside").exists()


@pytest.mark.parametrize(
    ("line", "folder"), [("manifest = true", None), ("manifest_dir = lists", "lists")]
)
def test_lists_of_the_sandbox_come_back_if_they_are_wanted(
    pool: PersonalPool, work: Path, line: str, folder: str | None
) -> None:
    (work / "in").touch()
    lines = f"transfer_input_files = in\ntransfer_output_files = made\nenvironment = SEEN=1\n{line}"
    jobs = shell(pool, work, "mkdir deep; touch deep/file made", lines)
    jobs.wait_for(5, 20)
    place = work / (folder or f"{jobs.cluster}_0_manifest")
    before = (place / "in").read_text().splitlines()
    after = (place / "out").read_text().splitlines()
    assert "./in" in before
    assert "./deep/file" not in before
    assert {"./in", "./made", "./deep/file"} <= set(after)
    assert "SEEN=1" in (place / "environment").read_text()
    assert (work / "made").exists()


def limited(work: Path) -> str:
    """Make a folder with a way out, and return what keeps a job in it."""
    (work / "job").mkdir()
    (work / "job" / "link").symlink_to(work)
    (work / "job" / "in").touch()
    (work / "secret").touch()
    return (
        f'initialdir = {work}/job\n+LimitDirectoryAccess = "{work}/job, {work}/job.sh*"\n'
        "transfer_output_files = made\n"
    )


@pytest.mark.parametrize("file", ["../secret", "link/secret"])
def test_a_limited_job_gets_no_files_from_elsewhere(
    pool: PersonalPool, work: Path, file: str
) -> None:
    jobs = shell(pool, work, "touch made", f"{limited(work)}transfer_input_files = {file}\n")
    reason, code, subcode = held(jobs)
    assert (code, subcode) == (13, 13), reason


def test_a_limited_job_s_output_stays_within_its_limits(pool: PersonalPool, work: Path) -> None:
    lines = limited(work)
    jobs = shell(pool, work, "echo made > made", f"{lines}transfer_input_files = in\n")
    jobs.wait_for(5, 20)
    assert (work / "job" / "made").exists()
    remap = 'transfer_output_remaps = "made=link/new/made"\n'
    reason, code, subcode = held(shell(pool, work, "echo made > made", f"{lines}{remap}"))
    assert (code, subcode) == (12, 13), reason
    assert not (work / "new").exists()
