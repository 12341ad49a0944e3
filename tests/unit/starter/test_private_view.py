"""What a job has for itself: its own /tmp, and for a login an account with a shell."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.errors import KettleError
from kettle.starter.private_view import (
    accounts_with_shell,
    groups_without_tty,
    hidden_folders,
    only_local,
    private_folders,
    shown_folders,
)
from kettle.starter.services.ssh import render_config

SLOT, JOB = ClassAd({"OpSys": "LINUX"}), ClassAd({"WantTmp": True})


@pytest.mark.parametrize(
    ("expression", "needed", "expected"),
    [
        ('"/tmp,/var/tmp"', ("/var/lib/execute/dir_1", ""), ("/tmp", "/var/tmp")),
        ('"/tmp, /var/tmp/,/tmp"', (), ("/tmp", "/var/tmp")),
        ('"/tmp,/var/tmp"', ("/tmp/pool/execute/dir_1",), ("/var/tmp",)),
        ('"/tmp,/var/tmp"', ("/tmp",), ("/var/tmp",)),
        ('"/tmp"', ("/tmpfs/job",), ("/tmp",)),
        ('ifThenElse(TARGET.WantTmp, "/tmp", "")', (), ("/tmp",)),
        ('"/,relative,,"', (), ()),
        ("undefined", (), ()),
        ("", (), ()),
    ],
)
def test_folders_are_the_expressions_but_for_those_the_job_needs(
    expression: str, needed: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    assert private_folders(expression, SLOT, JOB, needed) == expected


@pytest.mark.parametrize(
    ("executes", "expected"),
    [
        (("/exec", "/exec2/", "", "/exec"), ("/exec", "/exec2")),
        (("/exec/slots", "/exec"), ("/exec", "/exec/slots")),
        (("/tmp", "/tmp/execute", "/dev/shm", "/", "relative"), ("/tmp/execute",)),
    ],
)
def test_folders_of_sandboxes_are_hidden_but_for_those_that_are_for_more(
    executes: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    assert hidden_folders(executes) == expected


@pytest.mark.parametrize(
    ("needed", "expected"),
    [
        ("", ()),
        ("/exec2/own", ()),
        ("/exec", ()),
        ("/exec/", ()),
        ("/exec/own/folder", ("/exec/own",)),
        ("/exec/dir_1", ()),
        ("/exec/own/../dir_1/scratch", ()),
        ("/exec/.private_1/0", ()),
        ("/exec/slots/dir_1", ("/exec/slots",)),
        ("/exec/slots/own", ("/exec/slots", "/exec/slots/own")),
    ],
)
def test_of_folders_of_sandboxes_a_job_sees_where_it_works_unless_that_is_a_sandbox(
    needed: str, expected: tuple[str, ...]
) -> None:
    assert shown_folders(("/exec", "/exec/slots"), needed) == expected


def test_an_account_gets_a_shell_and_the_others_stay_as_they_are() -> None:
    text = "root:x:0:0:root:/root:/bin/bash\nnobody:x:9:9:n:/none:/usr/sbin/nologin\n"
    assert accounts_with_shell(text, "nobody", (9, 9), "/bin/sh", "/job") == (
        "root:x:0:0:root:/root:/bin/bash\nnobody:x:9:9::/job:/bin/sh\n"
    )


def test_only_the_files_are_asked_for_accounts() -> None:
    text = "passwd: files systemd\ngroup:  files systemd\nshadow:\tfiles systemd\n"
    assert only_local(text, ["passwd", "shadow"]) == (
        "group:  files systemd\npasswd: files\nshadow: files\n"
    )


def test_the_group_that_terminals_are_handed_to_is_left_out_and_no_other() -> None:
    text = "root:x:0:\ntty:x:5:alice\nttys:x:6:\n"
    assert groups_without_tty(text) == "root:x:0:\nttys:x:6:\n"


def test_sshd_refuses_a_terminal_where_granting_it_would_end_the_session() -> None:
    assert "PermitTTY yes\n" in render_config("/ssh", "alice")
    assert "PermitTTY no\n" in render_config("/ssh", "alice", terminal=False)


def test_sshd_is_told_of_folders_with_blanks_and_signs() -> None:
    text = render_config("/pool of 100%/user/ssh", "alice")
    assert 'HostKey "/pool of 100%/user/ssh/host_key"' in text
    assert 'AuthorizedKeysFile "/pool of 100%%/user/ssh/authorized_keys"' in text
    assert "ForceCommand exec '/pool of 100%/user/ssh/shell'" in text
    with pytest.raises(KettleError, match="cannot be told"):
        render_config('/a"b', "alice")
