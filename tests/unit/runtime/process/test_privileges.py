"""Switches between accounts: what is inside a switch, and that every switch is undone."""

from __future__ import annotations

import os

import pytest

from kettle.errors import NotFoundError
from kettle.runtime.process.privileges import Account, Privileges, find_account, for_good


def ids() -> tuple[int, int, list[int]]:
    return os.geteuid(), os.getegid(), os.getgroups()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can switch")
def test_switches_within_switches_leave_the_outer_one_in_force_and_are_all_undone() -> None:
    one = Account("one", 54321, 54321, (54321,))
    other = Account("other", 54322, 54322, (54322, 54323))
    privileges = Privileges(Account("root", 0, 0, (0,)), can_switch=True)
    before = ids()
    with privileges.as_account(one):
        assert ids() == (54321, 54321, [54321])
        with privileges.as_account(one):
            assert ids() == (54321, 54321, [54321])
            with privileges.as_root():
                assert os.geteuid() == 0
        assert ids() == (54321, 54321, [54321])
        with privileges.as_account(other):
            assert ids() == (54322, 54322, [54322, 54323])
        assert ids() == (54321, 54321, [54321])
    assert ids() == before


@pytest.mark.root
@pytest.mark.skipif(os.getuid() != 0, reason="only root can switch")
def test_what_is_started_for_good_is_who_we_work_as_and_a_switch_to_root_stays_root() -> None:
    one = Account("one", 54321, 54321, (54321,))
    privileges = Privileges(Account("root", 0, 0, (0,)), can_switch=True)
    before = os.getresuid(), os.getresgid(), os.getgroups()
    with privileges.as_account(one):
        outside = os.getresuid(), os.getresgid()
        with for_good():
            assert (os.getresuid(), os.getresgid()) == ((54321, 54321, 0), (54321, 54321, 0))
            with for_good():
                assert os.getresuid() == (54321, 54321, 0)
        assert (os.getresuid(), os.getresgid()) == outside
        with privileges.as_root(), for_good():
            assert os.getresuid() == (0, 0, 0)
    with for_good():
        assert os.getresuid() == before[0]
    assert (os.getresuid(), os.getresgid(), os.getgroups()) == before


def test_without_privileges_a_switch_changes_nothing() -> None:
    privileges = Privileges(Account("me", os.getuid(), os.getgid(), ()), can_switch=False)
    before = ids()
    with privileges.as_account(Account("one", 54321, 54321, ())):
        assert ids() == before


def test_a_job_runs_neither_as_root_nor_as_the_daemons() -> None:
    nobody = find_account("nobody")
    daemon = find_account("daemon")
    privileges = Privileges(daemon, can_switch=True)
    assert privileges.job_account("root") == nobody
    assert privileges.job_account("daemon") == nobody
    assert privileges.job_account("no such account") == nobody
    assert privileges.job_account("bin") == find_account("bin")


def test_accounts_of_the_system_run_jobs_only_where_the_administrator_names_them() -> None:
    privileges = Privileges(find_account("daemon"), can_switch=True, minimum_uid=100)
    assert privileges.job_account("bin") == find_account("nobody")
    assert privileges.job_account("bin", named_here=True) == find_account("bin")
    assert privileges.job_account("daemon", named_here=True) == find_account("nobody")
    assert privileges.job_account("root", named_here=True) == find_account("nobody")


def test_a_machine_without_a_harmless_account_runs_no_job() -> None:
    privileges = Privileges(find_account("nobody"), can_switch=True)
    with pytest.raises(NotFoundError, match="no account that a job may have"):
        privileges.job_account("root")
