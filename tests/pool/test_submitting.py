"""condor_submit and condor_config_val against a real pool."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from kettle.tools import kettle
from kettle.tools.configuration import condor_config_val
from kettle.tools.programs import Streams
from kettle.tools.queue import condor_q
from kettle.tools.submitting import condor_submit
from pool_jobs import run_tool, wait_until

HELD = "executable = /bin/true\nhold = true\n"


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    with personal_pool(tmp_path_factory.mktemp("submit")) as pool:
        yield pool


def submit(
    pool: PersonalPool, folder: Path, text: str, *options: str, stdin: str = ""
) -> tuple[int, str, str]:
    (folder / "job.sub").write_text(text)
    out, err = io.StringIO(), io.StringIO()
    name = [] if stdin else [str(folder / "job.sub")]
    code = condor_submit.main(
        ["condor_submit", *options, *name],
        pool.environment(),
        Streams(io.StringIO(stdin), out, err),
    )
    return code, out.getvalue(), err.getvalue()


def ask(pool: PersonalPool, *arguments: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = condor_config_val.main(
        ["condor_config_val", *arguments], pool.environment(), Streams(io.StringIO(), out, err)
    )
    return code, out.getvalue(), err.getvalue()


def test_the_summary_says_how_many_jobs_are_in_which_cluster(
    pool: PersonalPool, tmp_path: Path
) -> None:
    code, stdout, stderr = submit(pool, tmp_path, HELD + "queue 3\n")
    assert code == 0
    found = re.fullmatch(
        r"Submitting job\(s\)\.\.\.\n3 job\(s\) submitted to cluster (\d+)\.\n", stdout
    )
    assert found is not None
    assert stderr == f"To monitor your job(s), run: condor_watch_q -clusters {found[1]}\n"


def test_terse_and_verbose_say_less_and_more(pool: PersonalPool, tmp_path: Path) -> None:
    code, stdout, stderr = submit(pool, tmp_path, HELD + "queue 2\n", "-terse")
    assert (code, stderr) == (0, "")
    assert re.fullmatch(r"(\d+)\.0 - \1\.1\n", stdout)
    code, stdout, _ = submit(pool, tmp_path, HELD + "queue 2\n", "-verbose")
    assert code == 0
    assert re.search(r"^Submitting job\(s\)\n\*\* Proc \d+\.0:\n\w+ = ", stdout)
    assert "submitted to cluster" not in stdout


def test_a_description_may_come_on_standard_input(pool: PersonalPool, tmp_path: Path) -> None:
    code, stdout, _ = submit(pool, tmp_path, "", stdin=HELD + "queue\n")
    assert code == 0
    assert "1 job(s) submitted" in stdout


def test_jobs_made_later_are_counted_at_once(pool: PersonalPool, tmp_path: Path) -> None:
    text = HELD + "arguments = $(x)\nmax_idle = 1\nqueue 500 x in (a b)\n"
    code, stdout, _ = submit(pool, tmp_path, text)
    assert code == 0
    said = re.fullmatch(
        r"Submitting job\(s\)\n1000 job\(s\) submitted to cluster (\d+)\.\n", stdout
    )
    assert said is not None
    shown = io.StringIO()
    argv = ["condor_q", "-allusers", "-factory"]
    assert condor_q.main(argv, pool.environment(), Streams(io.StringIO(), shown, shown)) == 0
    row = rf"^ +{said[1]}\. .* Norm .*condor_submit\.{said[1]}\.digest$"
    assert re.search(row, shown.getvalue(), re.MULTILINE)
    code, why = explain(pool, f"{said[1]}.900")
    assert code == 0
    assert f"Job {said[1]}.900: It has not been made yet" in why
    assert re.search(r"\d+ of 1000 are made, \d+ are still to come\. At most 1 idle \(max_", why)
    assert explain(pool, f"{said[1]}.1000")[0] == 1


def explain(pool: PersonalPool, job: str) -> tuple[int, str]:
    out = io.StringIO()
    argv = ["kettle", "why", job]
    code = kettle.main(argv, pool.environment(), Streams(io.StringIO(), out, io.StringIO()))
    return code, out.getvalue()


def test_nothing_is_queued_by_a_description_that_ends_in_an_error(
    pool: PersonalPool, tmp_path: Path
) -> None:
    _, before, _ = submit(pool, tmp_path, HELD + "queue\n", "-terse")
    text = 'executable = /bin/true\narguments = "$(x)"\nqueue x in (a, b"c)\n'
    code, _, stderr = submit(pool, tmp_path, text)
    assert code == 1
    assert "Unexpected characters following double-quote" in stderr
    _, after, _ = submit(pool, tmp_path, HELD + "queue\n", "-terse")
    # A cluster number may be lost, its jobs may not appear.
    log = Path(pool.folder, "spool", "job_queue.log").read_text()
    lost = int(before.split(".")[0]) + 1
    assert int(after.split(".")[0]) >= lost
    assert f"101 {lost}.0 " not in log or int(after.split(".")[0]) == lost


def test_a_running_daemon_says_what_its_configuration_is(pool: PersonalPool) -> None:
    code, stdout, _ = ask(pool, "-schedd", "LOG", "SCHEDD_ADDRESS_FILE")
    assert code == 0
    assert stdout.splitlines()[0] == f"{pool.folder}/log"
    _, stdout, _ = ask(pool, "-startd", "-verbose", "LOG")
    assert " # raw: LOG = " in stdout
    assert ask(pool, "-master", "NO_SUCH_NAME")[:2] == (0, "Not defined\n")


def test_a_running_daemon_lists_what_is_set_in_it(pool: PersonalPool) -> None:
    code, stdout, complaint = ask(pool, "-schedd", "-dump", "^DAEMON_LI", "^NO_SUCH$")
    assert (code, complaint) == (0, "")
    heading, *lines = stdout.splitlines()
    assert heading.startswith("# Configuration from schedd on ")
    assert lines[:3] == [
        "",
        "# Parameters with names that match ^DAEMON_LI:",
        "DAEMON_LIST = MASTER COLLECTOR NEGOTIATOR SCHEDD STARTD",
    ]
    assert lines[-1] == "# Parameters with names that match ^NO_SUCH$:"
    code, stdout, _ = ask(pool, "-startd", "-summary")
    assert code == 0
    assert stdout.startswith("# STARTD $CondorVersion: ")
    assert f"\n#\n# from {pool.config_file}\n#\nLOCAL_DIR = {pool.folder}\n" in stdout
    assert "<Detected>" not in stdout
    assert "\n# from <Detected>\n#\nARCH = " in ask(pool, "-startd", "-summary:detected")[1]


def test_ask_a_daemon(pool: PersonalPool) -> None:
    # Undefined is said on stdout and no failure, unless more than the value is wanted.
    assert ask(pool, "-schedd", "NO_SUCH") == (0, "Not defined\n", "")
    assert ask(pool, "-schedd", "-raw", "LOG", "NO_SUCH") == (
        1,
        "$(LOCAL_DIR)/log\n",
        "Not defined: NO_SUCH\n",
    )
    assert ask(pool, "-schedd", "use", "ROLE")[::2] == (
        1,
        "remote query not supported for use ROLE\n",
    )


def test_what_is_set_in_a_running_daemon_counts_from_the_next_reconfiguration(
    tmp_path: Path,
) -> None:
    config = "ENABLE_RUNTIME_CONFIG = true\nSETTABLE_ATTRS_ADMINISTRATOR = OUR_*\nOUR_A = 1\n"
    with personal_pool(tmp_path, config) as pool:
        assert ask(pool, "-schedd", "-rset", "START = false")[0] == 1

        def says(value: str, *words: str) -> None:
            code, _, complaint = ask(pool, "-schedd", *words)
            assert code == 0, complaint
            assert run_tool(pool, "condor_reconfig", "-schedd")[0] == 0
            wait_until(lambda: ask(pool, "-schedd", "OUR_A")[1] == value, 10)

        says("2\n", "-rset", "OUR_A = 2")
        says("1\n", "-runset", "OUR_A")
        assert ask(pool, "-startd", "OUR_A")[1] == "1\n"


def test_what_is_set_for_good_outlives_the_daemon(tmp_path: Path) -> None:
    config = "use FEATURE : REMOTE_CONFIG(OUR_*)\nOUR_A = 1\n"
    with personal_pool(tmp_path, config) as pool:
        for words in (("-set", "OUR_A = 2"), ("-rset", "OUR_B = 3")):
            code, _, complaint = ask(pool, "-startd", *words)
            assert code == 0, complaint
        assert run_tool(pool, "condor_restart", "-startd")[0] == 0
        wait_until(lambda: ask(pool, "-startd", "OUR_A")[1] == "2\n", 30)
        assert ask(pool, "-startd", "OUR_B")[1] == "Not defined\n"
        assert ask(pool, "-startd", "-unset", "OUR_A")[0] == 0
        assert run_tool(pool, "condor_reconfig", "-startd")[0] == 0
        wait_until(lambda: ask(pool, "-startd", "OUR_A")[1] == "1\n", 10)


def test_a_daemon_that_may_not_be_set_is_not_set(pool: PersonalPool) -> None:
    code, _, stderr = ask(pool, "-schedd", "-rset", "FOO = 1")
    assert code == 1
    assert stderr.startswith('Attempt to set configuration "FOO = 1" on schedd ')
