"""The real condor_dagman, as a job of our schedd's scheduler universe, drives graphs of our jobs.

It runs on this host, out of a folder with its program and libraries, as an account that submits.

Known by: FS.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest

from interop.large_graph import LargeGraph
from interop.real_pool import inside, peer_root
from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from kettle.tools.programs import Streams, load_tool
from pool_jobs import ask_queue, daemon_pid, run_tool, wait_until

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

OPEN = """\
ALLOW_WRITE = $(ALLOW_DEFAULT), *@$(UID_DOMAIN)
ALLOW_READ = *
DAGMAN_USER_LOG_SCAN_INTERVAL = 1
DAGMAN_SUBMIT_DELAY = 0
DAGMAN_USE_STRICT = 0
MASTER_BACKOFF_CEILING = 2
NUM_CPUS = 4
MEMORY = 4000
"""
PROGRAMS = ("condor_dagman", "condor_submit_dag", "condor_submit")
DIAMOND = """\
JOB A node.sub
JOB B node.sub
JOB C node.sub
JOB D node.sub
PARENT A CHILD B C
PARENT B C CHILD D
VARS ALL_NODES name="$(JOB)"
RETRY B 2
"""
# A node fails as often as its file of failures has lines, and takes one line away each time.
NODE = """\
executable = /bin/sh
transfer_executable = false
program = test -s fails.$(name) || exit 0; sed -i 1d fails.$(name); exit 1
arguments = "-c 'cd $(here); echo $(name) >> order; $(program)'"
should_transfer_files = no
request_memory = 10
request_disk = 1MB
queue
"""


def copy_programs(root: Path, folder: Path) -> None:
    """Copy the real programs and what they are linked with to where every account can run them."""
    libraries = folder / "lib"
    libraries.mkdir(parents=True)
    for program in PROGRAMS:
        listed = subprocess.run(
            [*inside(root), "ldd", f"/usr/bin/{program}"],
            capture_output=True,
            text=True,
            check=True,
        )
        for word in listed.stdout.split():
            if word.startswith("/") and not (libraries / Path(word).name).exists():
                shutil.copy((root / word[1:]).resolve(), libraries / Path(word).name)
        shutil.copy(root / "usr/bin" / program, libraries / program)
        script = folder / program
        loader = libraries / "ld-linux-x86-64.so.2"
        script.write_text(
            f'#!/bin/sh\nexec {loader} --library-path {libraries} {libraries}/{program} "$@"\n'
        )
        script.chmod(0o755)


@dataclass
class Site:
    """A pool of ours, an account, its folder, and the real programs."""

    pool: PersonalPool
    account: pwd.struct_passwd
    home: Path
    programs: Path

    def real(self, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a real program as the account."""
        environment = {
            "CONDOR_CONFIG": self.pool.config_file,
            "PATH": f"{self.programs}:/usr/bin:/bin",
            "HOME": str(self.home),
            "USER": self.account.pw_name,
        }
        return subprocess.run(
            [str(self.programs / words[0]), *words[1:]],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            cwd=folder,
            env=environment,
            user=self.account.pw_uid,
            group=self.account.pw_gid,
            extra_groups=[],
        )

    def graph(self, name: str, text: str, **fails: int) -> Path:
        """Write a graph and how often its nodes fail; return its folder."""
        folder = self.home / name
        folder.mkdir()
        (folder / "graph.dag").write_text(
            text.replace("VARS ALL_NODES", f'VARS ALL_NODES here="{folder}"')
        )
        (folder / "node.sub").write_text(NODE)
        for node in "ABCD":
            (folder / f"fails.{node}").write_text("once\n" * fails.get(node, 0))
        for path in (folder, *folder.iterdir()):
            os.chown(path, self.account.pw_uid, self.account.pw_gid)
        return folder

    def start(self, folder: Path, *words: str) -> str:
        """Submit a graph; return the cluster of its condor_dagman."""
        dagman = str(self.programs / "condor_dagman")
        done = self.real(folder, "condor_submit_dag", "-dagman", dagman, *words, "graph.dag")
        assert done.returncode == 0, (done.stdout, done.stderr)
        return done.stdout.split("cluster ")[1].split(".")[0].strip()

    def wait_for_end(self, folder: Path, cluster: str) -> str:
        """Wait until condor_dagman has left the queue; return its exit code."""

        def told() -> str:
            out = folder / "graph.dag.dagman.out"
            return "\n".join(out.read_text().splitlines()[-40:]) if out.exists() else "no output"

        wait_until(lambda: ask_queue(self.pool, cluster, "JobStatus") == [], 40, told)
        words = ("condor_history", cluster, "-af", "ExitCode")
        wait_until(lambda: bool(run_tool(self.pool, *words)[1]), 10)
        return run_tool(self.pool, *words)[1].strip()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    root = peer_root()
    folder = Path(tempfile.mkdtemp(prefix="kettle-dag-"))
    folder.chmod(0o755)
    name = f"ktdag{os.getpid() % 100000}"
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        copy_programs(root, folder / "programs")
        subprocess.run(["useradd", "--no-create-home", "--shell", "/bin/sh", name], check=True)
        stack.callback(subprocess.run, ["userdel", "--force", name], capture_output=True)
        account = pwd.getpwnam(name)
        home = folder / "home"
        home.mkdir()
        os.chown(home, account.pw_uid, account.pw_gid)
        settings = f"{OPEN}DAGMAN_CONDOR_SUBMIT_EXE = {folder}/programs/condor_submit\n"
        pool = stack.enter_context(personal_pool(tmp_path_factory.mktemp("dag"), settings))
        yield Site(pool, account, home, folder / "programs")


def order(folder: Path) -> str:
    return "".join((folder / "order").read_text().split())


# A graph's jobs are submitted by a condor_submit each, or by condor_dagman itself.
@pytest.mark.parametrize("method", ["0", "1"])
def test_a_diamond_runs_in_its_order_and_tries_a_failing_node_again(
    site: Site, method: str
) -> None:
    folder = site.graph(f"diamond{method}", DIAMOND, B=2)
    cluster = site.start(folder, "-SubmitMethod", method)
    assert site.wait_for_end(folder, cluster) == "0"
    ran = order(folder)
    assert (ran[0], ran[-1], ran.count("B"), ran.count("C")) == ("A", "D", 3, 1)
    events = (folder / "graph.dag.nodes.log").read_text()
    assert events.count("\n005 (") + events.startswith("005 (") == 6
    assert events.count('DAGNodeName = "B"') == 3


def test_a_graph_that_fails_leaves_a_rescue_from_which_it_goes_on(site: Site) -> None:
    folder = site.graph("rescued", DIAMOND.replace("RETRY B 2\n", ""), C=1)
    assert site.wait_for_end(folder, site.start(folder)) == "1"
    assert "D" not in order(folder)
    rescue = (folder / "graph.dag.rescue001").read_text()
    assert {"DONE A", "DONE B"} <= set(rescue.splitlines())
    assert "DONE C" not in rescue
    assert site.wait_for_end(folder, site.start(folder)) == "0"
    assert sorted(order(folder)) == ["A", "B", "C", "C", "D"]


SAID_BY_DAGMAN = (
    "dag_node_name = A",
    "My.DAGManJobId = 7",
    "submit_event_notes = DAG Node: A",
    "dagman_log = /tmp/graph.dag.nodes.log",
    'My.DAGManNodesMask = "0,1,2,4,5,7,9,10,11,12,13,16,17,24,27,35,36,46"',
    'My.DAGParentNodeNames = ""',
    "keep_claim_idle = 20",
    "priority = 3",
)


def test_our_condor_submit_makes_of_dagmans_words_what_the_real_one_does(tmp_path: Path) -> None:
    root = peer_root()
    words = [word for said in SAID_BY_DAGMAN for word in ("-a", said)]
    (tmp_path / "node.sub").write_text("executable = /bin/true\nqueue\n")
    environment = {"CONDOR_CONFIG": str(tmp_path / "config")}
    (tmp_path / "config").write_text("SCHEDD_HOST = nowhere\n")
    out = StringIO()
    argv = ["condor_submit", "-dry-run", str(tmp_path / "ours"), *words, str(tmp_path / "node.sub")]
    assert load_tool("condor_submit")(argv, environment, Streams(StringIO(), out, out)) == 0
    there = Path(tempfile.mkdtemp(prefix="kettle-node-", dir=root / "tmp"))
    try:
        for name in ("node.sub", "config"):
            shutil.copy(tmp_path / name, there / name)
        place = f"/tmp/{there.name}"
        real = [*inside(root), "env", "-C", place, f"CONDOR_CONFIG={place}/config", *argv]
        real[real.index("-dry-run") + 1] = "theirs"
        real[-1] = "node.sub"
        done = subprocess.run(real, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done
        theirs = (there / "theirs").read_text()
    finally:
        shutil.rmtree(there)
    names = ("DAG", "SubmitEventNotes", "JobPrio", "JobKeepClaimIdle", "KeepClaimIdle")
    said = [
        sorted(line for line in text.splitlines() if line.startswith(names))
        for text in ((tmp_path / "ours").read_text(), theirs)
    ]
    assert said[0] == said[1]
    assert 'DAGNodeName="A"' in said[0]
    assert "unused" not in out.getvalue()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_large_graph_ends_as_it_has_to_whatever_of_the_access_point_is_killed(
    site: Site,
) -> None:
    folder, graph = site.home / "large", LargeGraph(300)
    folder.mkdir()
    graph.write(folder)
    for path in (folder, *folder.iterdir()):
        os.chown(path, site.account.pw_uid, site.account.pw_gid)
    cluster = site.start(folder, "-SubmitMethod", "1", "-maxidle", "60")
    for name in ("condor_schedd", "condor_shadow", "condor_schedd", "condor_shadow"):
        ran = len(order_of(folder))
        wait_until(lambda ran=ran: len(order_of(folder)) > ran + 30, 120)  # type: ignore[misc]
        os.kill(daemon_pid(site.pool, name), signal.SIGKILL)
    out = folder / "graph.dag.dagman.out"
    wait_until(lambda: "EXITING WITH STATUS 1" in out.read_text(), 400)
    words = ("condor_history", cluster, "-af", "ExitCode")
    wait_until(lambda: run_tool(site.pool, *words)[1] == "1\n", 60)
    rescue = (folder / "graph.dag.rescue001").read_text()
    assert set(re.findall(r"^DONE (N\d+)", rescue, re.MULTILINE)) == graph.done()
    assert re.findall(r"^# Nodes that failed: (\d+)", rescue, re.MULTILINE) == ["3"]
    # A submission that was not acknowledged may have been heard; the node is submitted again then.
    asked = Counter(re.findall(r"Submitting node (N\d+) from file", out.read_text()))
    ran, wanted = Counter(order_of(folder)), graph.runs()
    for node in {*ran, *wanted}:
        assert wanted[node] <= ran[node] <= max(wanted[node], asked[node]), node
    ends = re.findall(
        r"^005 \((\d+\.\d+)\.", (folder / "graph.dag.nodes.log").read_text(), re.MULTILINE
    )
    assert len(ends) == len(set(ends)) == ran.total()


def order_of(folder: Path) -> list[str]:
    path = folder / "order"
    return path.read_text().split() if path.exists() else []
