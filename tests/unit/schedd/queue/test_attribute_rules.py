"""Who may set which attribute of a job: a table for new jobs and one for queued ones (R069)."""

from __future__ import annotations

import errno
from dataclasses import replace

import pytest

from kettle.classad.text import LONGEST_FORMULA
from kettle.errors import RefusedError
from kettle.schedd.queue.actors import Actor
from kettle.schedd.queue.attribute_rules import (
    LONGEST_NAME,
    LONGEST_TEXT,
    check_shape,
    decide_change,
    decide_new,
)
from unit.schedd.queue_fixture import ALICE, ROOT, SETTINGS

REFUSED = "refused"


def verdict(decide: object, *arguments: object, **more: object) -> str | None:
    try:
        found: str | None = decide(*arguments, **more)  # type: ignore[operator]
    except RefusedError:
        return REFUSED
    return found


@pytest.mark.parametrize(
    ("name", "text", "alice", "root"),
    [
        ("Foo", "1 + 1", "1 + 1", "1 + 1"),
        # Identity follows from the connection; only the owner's name is stored.
        ("Owner", "undefined", '"alice"', '"root"'),
        ("Owner", '"alice"', '"alice"', '"alice"'),
        ("owner", '"bob"', REFUSED, '"bob"'),
        ("User", '"alice@vm"', None, None),
        ("User", '"bob@vm"', REFUSED, None),
        ("OsUser", '"anything"', None, None),
        # Ids are the schedd's.
        ("ClusterId", "7", "7", "7"),
        ("ClusterId", "8", REFUSED, REFUSED),
        ("ProcId", "0", "0", "0"),
        ("ProcId", "1", REFUSED, REFUSED),
        # A job begins idle or held.
        ("JobStatus", "1", "1", "1"),
        ("JobStatus", "5", "5", "5"),
        *[("JobStatus", number, None, None) for number in ("0", "2", "3", "4", "7", "1 + 3")],
        # What the schedd says itself is passed over, what is secret refused.
        ("x509UserProxySubject", '"me"', None, None),
        ("KettleShadowEvents", '"/etc/passwd|x"', None, None),
        ("GlobalJobId", '"vm#3.0#1"', None, None),
        ("ClaimId", '"<a>#1"', REFUSED, '"<a>#1"'),
    ],
)
def test_an_attribute_of_a_new_job(
    name: str, text: str, alice: str | None, root: str | None
) -> None:
    settings = replace(SETTINGS, root_may_own=True)
    assert verdict(decide_new, 7, 0, name, text, ALICE, settings) == alice
    assert verdict(decide_new, 7, 0, name, text, ROOT, settings) == root


def test_a_cluster_s_ad_may_carry_any_proc_id() -> None:
    assert decide_new(7, -1, "ProcId", "3", ALICE, SETTINGS) == "3"


def test_root_owns_no_job_unless_the_pool_is_root_s() -> None:
    assert verdict(decide_new, 7, 0, "Owner", "undefined", ROOT, SETTINGS) == REFUSED
    assert verdict(decide_new, 7, 0, "Owner", '"root"', Actor("root@vm", "root"), SETTINGS) == (
        REFUSED
    )


@pytest.mark.parametrize(
    ("name", "alice", "root"),
    [
        ("Foo", "5", "5"),
        ("Owner", REFUSED, REFUSED),
        ("clusterid", REFUSED, REFUSED),
        ("AuthTokenId", REFUSED, REFUSED),
        ("TotalSubmitProcs", None, None),
        ("ClaimId", REFUSED, "5"),
        ("JobStatus", REFUSED, "5"),
        ("LastJobStatus", REFUSED, "5"),
        ("KettleScheddEvents", REFUSED, "5"),
    ],
)
def test_an_attribute_of_a_queued_job(name: str, alice: str | None, root: str | None) -> None:
    for actor, wanted in ((ALICE, alice), (ROOT, root)):
        found = verdict(decide_change, name, "5", actor, SETTINGS, protected_allowed=False)
        assert found == wanted


@pytest.mark.parametrize("text", ['"physics.alice"', '""', 'strcat(Owner, " b")'])
def test_a_group_is_a_word_of_the_accounts(text: str) -> None:
    check_shape("AccountingGroup", text)


@pytest.mark.parametrize("text", ['"a b"', '"a\tb"', 'strcat("a", " ", "b")'])
def test_a_group_with_blanks_is_refused_on_every_road(text: str) -> None:
    with pytest.raises(RefusedError, match="cannot be charged: its name has blanks") as caught:
        check_shape("accountinggroup", text)
    assert caught.value.code == errno.EINVAL


def test_nobody_makes_a_job_whose_owner_has_blanks() -> None:
    with pytest.raises(RefusedError, match="owner cannot be 'a b': a name has no blanks"):
        decide_new(7, 0, "Owner", '"a b"', ROOT, SETTINGS)


def test_protected_attributes_are_for_those_who_asked_for_them() -> None:
    assert decide_change("AuthTokenId", "5", ALICE, SETTINGS, protected_allowed=True) == "5"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("", "1"),
        ("A B", "1"),
        ("1A", "1"),
        ("A.B", "1"),
        ("Two\nLines", "1"),
        ("A" * (LONGEST_NAME + 1), "1"),
        ("A", ""),
        ("A", "1\n103 0.0 Owner root"),
        ("A", "1\r"),
        ("A", '"' + "x" * LONGEST_TEXT + '"'),
        ("A", "1" + "+1" * (LONGEST_FORMULA // 2)),
        ("A", '"x"' + ' + "x"' * (LONGEST_FORMULA // 6)),
    ],
)
def test_what_is_no_line_of_the_queue_log_is_refused(name: str, text: str) -> None:
    with pytest.raises(RefusedError) as caught:
        check_shape(name, text)
    assert caught.value.code == errno.EINVAL


def test_names_and_texts_of_the_greatest_length_pass() -> None:
    check_shape("A" * LONGEST_NAME, '"' + "x" * (LONGEST_TEXT - 2) + '"')
    check_shape("A", "1" + "+1" * 65000)
    machines = " || ".join(
        f'Machine == "node{number}.cluster.example.org"' for number in range(9000)
    )
    check_shape("Requirements", machines)
    check_shape("ChirpX_1", "1")


def test_no_job_gets_a_status_that_there_is_not() -> None:
    admin = verdict(decide_change, "JobStatus", "9", ROOT, SETTINGS, protected_allowed=True)
    assert admin == REFUSED
    assert decide_change("JobStatus", "5", ROOT, SETTINGS, protected_allowed=True) == "5"
