"""Where a daemon is found: by its own address file, or by the collector."""

from __future__ import annotations

from pathlib import Path

import pytest

from kettle.classad import ClassAd
from kettle.client.connector import Connector
from kettle.client.pool import NEGOTIATOR, SCHEDD, STARTD, Pool
from kettle.config import Config
from kettle.errors import NotFoundError
from kettle.wire.commands import Command

HERE = "<127.0.0.1:4000?alias=here.example.org>"


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pool:
    """A pool on this host, whose collector knows nobody."""
    (tmp_path / "address").write_text(f"{HERE}\n$CondorVersion: 25.14.1 $\n")
    text = f"FULL_HOSTNAME = here.example.org\nSCHEDD_ADDRESS_FILE = {tmp_path}/address\n"

    def query(_self: Pool, _command: Command, _query: ClassAd) -> list[ClassAd]:
        return []

    monkeypatch.setattr(Pool, "query", query)
    return Pool(Connector(Config.from_text(text, subsystem="TOOL")))


def test_this_hosts_own_daemon_is_found_by_its_file_also_under_its_name(pool: Pool) -> None:
    """As the reference: what NETWORK_HOSTNAME calls this host need not be what the ad says."""
    for name in ("", "here.example.org"):
        found = pool.locate(SCHEDD, name)
        assert (str(found.address), found.name, found.here) == (HERE, "here.example.org", True)
    for name in ("there.example.org", "a@here.example.org"):
        with pytest.raises(NotFoundError):
            pool.locate(SCHEDD, name)


def test_a_name_that_is_an_address_is_where_the_daemon_is(pool: Pool) -> None:
    """As `condor_status -startd -direct` with what stands in an address file."""
    there = "<10.0.0.9:4002?sock=startd_1>"
    assert str(pool.locate(STARTD, there).address) == there
    with pytest.raises(NotFoundError):
        pool.locate(STARTD, "<nonsense>")


def test_what_asks_the_collector_about_a_name_asks_it_about_this_host_too(pool: Pool) -> None:
    """As condor_q and condor_rm do with -name; the negotiator is always the collector's to say."""
    with pytest.raises(NotFoundError):
        pool.locate(SCHEDD, "here.example.org", far=True)
    with pytest.raises(NotFoundError):
        pool.locate(NEGOTIATOR, "here.example.org")


def test_a_pool_that_is_named_has_its_own_daemons(pool: Pool) -> None:
    pool.named = "127.0.0.1:4001"
    with pytest.raises(NotFoundError):
        pool.locate(SCHEDD, "here.example.org")


def test_a_collector_that_is_named_with_port_0_has_said_where_it_is(tmp_path: Path) -> None:
    """As in COLLECTOR_HOST, and as the reference's -pool."""
    file = tmp_path / "collector"
    config = Config.from_text(f"COLLECTOR_ADDRESS_FILE = {file}\n", subsystem="TOOL")
    pool = Pool(Connector(config), "127.0.0.1:0")
    with pytest.raises(NotFoundError, match=r"127\.0\.0\.1:0 has not said where it is"):
        pool.collectors()
    file.write_text(f"{HERE}\n$CondorVersion: 25.14.1 $\n")
    assert [str(one) for one in pool.collectors()] == [HERE]
