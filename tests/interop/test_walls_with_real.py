"""Execution points that only a broker reaches: Kettle's and the real one's, for both access points.

Two pools, one with our collector as the broker and one with the real one; in each an access point
and a walled execution point of either side, and the queue of the broker's own machine. A job
brings its input, is suspended and continued, shows what it has written, and brings its output back.

Known by: IDTOKENS between machines, FS on one; encrypted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from interop.machines import Machine, network, tool, wait_for
from interop.real_machine import CENTRE, Real, make_real_token, real_on
from interop.real_pool import peer_root

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

WALLED = """\
COLLECTOR_HOST={centre}:9618
DAEMON_LIST=MASTER, STARTD
CCB_ADDRESS=$(COLLECTOR_HOST)
PRIVATE_NETWORK_NAME=behind
"""
ACCESS = """\
COLLECTOR_HOST={centre}:9618
DAEMON_LIST=MASTER, SCHEDD
"""
# It ends when it is continued.
JOB = """\
executable = /bin/sh
transfer_executable = false
arguments = "-c 'cat in.txt; trap ended=yes CONT; \
while test -z $ended; do sleep 0.1; done; hostname; echo more > made'"
transfer_input_files = in.txt
transfer_output_files = made
should_transfer_files = yes
output = said.txt
request_memory = 16
log = job.log
requirements = Machine == "{where}"
queue
"""


@dataclass
class Site:
    """A pool: who submits for either side, and what can be told if something fails."""

    ours: Machine
    theirs: Real
    centre: Machine | Real
    walled: Machine
    hidden: Real

    def describe(self) -> str:
        """The ends of the logs of both sides."""
        logs = self.theirs.logs() + self.hidden.logs()
        if isinstance(self.centre, Real):
            logs += self.centre.logs()
        for machine in (self.ours, self.walled):
            for path in sorted((machine.folder / "pool/log").glob("*Log*")):
                logs += f"\n== {machine.name} {path.name}\n{path.read_text()[-2500:]}"
        return logs


@pytest.fixture(scope="module", params=["our broker", "the real broker"])
def site(request: pytest.FixtureRequest) -> Iterator[Site]:
    peer_root()
    with network("walls") as made, ExitStack() as stack:
        token = made.folder / "token"
        centre = made.add("centre")
        home: Machine | Real = centre
        if request.param == "our broker":
            centre.kettle("up", "--host")
            centre.kettle("token", "--for", "both", "--output", str(token))
        else:
            extra = CENTRE.format(address=centre.address, host=centre.name)
            home = real = stack.enter_context(real_on(centre, extra))
            real.start()
            wait_for(lambda: "centre" in real.tool("condor_status", "-af", "Machine"), 60, "up")
            make_real_token(real, token)
        members = [made.add(name) for name in ("ours", "theirs", "walled", "behind")]
        ours, other, walled, behind = members
        for machine in (walled, behind):
            machine.build_wall()
        join = ("up", "--join", centre.address, "--token-file", str(token))
        ours.kettle(*join, "--role", "submit")
        theirs = stack.enter_context(real_on(other, ACCESS.format(centre=centre.address)))
        theirs.start(token)
        walled.kettle(*join, "--behind-firewall")
        hidden = stack.enter_context(real_on(behind, WALLED.format(centre=centre.address)))
        hidden.start(token)
        wait_for(
            lambda: (
                {"walled", "behind"} <= set(tool(ours, "condor_status", "-af", "Machine").split())
            ),
            60,
            hidden.logs,
        )
        yield Site(ours, theirs, home, walled, hidden)


@pytest.mark.parametrize("where", ["walled", "behind"])
@pytest.mark.parametrize("access", ["ours", "theirs", "centre"])
def test_a_job_behind_the_wall_is_reached_at_every_step(
    site: Site, access: str, where: str
) -> None:
    here: Machine | Real = getattr(site, access)
    home = (here.folder / "user" if isinstance(here, Real) else here.folder) / where
    home.mkdir()
    home.chmod(0o777)
    (home / "in.txt").write_text("brought along\n")
    (home / "job.sub").write_text(f"initialdir = {where}\n" + JOB.format(where=where))

    def ask(*words: str, user: str = "") -> str:
        return here.tool(*words, user=user) if isinstance(here, Real) else tool(here, *words)

    def wait(event: str) -> None:
        log = home / "job.log"
        wait_for(
            lambda: log.exists() and f"\n{event} (" in "\n" + log.read_text(), 60, site.describe
        )

    job = ask("condor_submit", f"{where}/job.sub", "-terse", user="tester").split()[0]
    wait("001")
    # The broker of another machine knows the pool's token alone, which is root's.
    assert ask("condor_tail", job) == "brought along\n"
    ask("condor_suspend", job)
    wait("010")
    ask("condor_continue", job)
    wait("005")
    assert (home / "said.txt").read_text() == f"brought along\n{where}\n"
    assert (home / "made").read_text() == "more\n"
