"""Where a pool stands among machines, as settings and as a line that is read again."""

from __future__ import annotations

import pytest

from kettle.config import Config
from kettle.errors import UsageError
from kettle.levels import Level
from kettle.pool.location import (
    Alone,
    Centre,
    Location,
    Member,
    Role,
    is_own_name,
    parse_endpoint,
    read_mark,
    render_mark,
)
from kettle.pool.settings import PoolSettings, read_given, render_configuration
from kettle.wire.security.authorization import Authorization
from kettle.wire.security.tokens import scope_levels

CENTRE = Centre("10.0.0.1")
MEMBER = Member("10.0.0.1", 9618, Role.BOTH, "10.0.0.2", "second", walled=True)


def settings(location: Location, extra: str = "") -> str:
    return render_configuration(
        PoolSettings("/d", ("alice",), "here", "/opt/bin", location=location, extra=extra)
    )


def config(location: Location, subsystem: str = "TOOL") -> Config:
    text = settings(location).replace("LOCAL_CONFIG_DIR = $(LOCAL_DIR)/config.d\n", "")
    return Config.from_text(text, subsystem=subsystem)


@pytest.mark.parametrize("location", [Alone(), CENTRE, MEMBER])
def test_a_folder_remembers_where_it_stands(location: Location) -> None:
    assert read_mark(settings(location)) == location


def test_a_folder_that_does_not_say_stands_alone() -> None:
    assert read_mark("LOG = /d/log\n") == Alone()


def test_a_damaged_line_is_named() -> None:
    line = render_mark(MEMBER).replace('"both"', '"neither"')
    with pytest.raises(UsageError, match="damaged: # Stands"):
        read_mark(line)


def test_its_users_own_settings_are_found_again() -> None:
    assert read_given(settings(CENTRE, "NUM_CPUS = 2\n")) == "NUM_CPUS = 2\n"
    assert read_given(settings(CENTRE)) == ""


def test_a_centre_listens_at_its_address_and_a_member_at_its_own() -> None:
    centre, member = config(CENTRE), config(MEMBER)
    assert centre.get("COLLECTOR_HOST") == member.get("COLLECTOR_HOST") == "10.0.0.1:9618"
    assert (centre.get("NETWORK_INTERFACE"), member.get("NETWORK_INTERFACE")) == (
        "10.0.0.1",
        "10.0.0.2",
    )
    assert member.get("DAEMON_LIST") == "MASTER SCHEDD STARTD"
    assert member.get("CCB_ADDRESS") == "10.0.0.1:9618"
    assert member.get("STARTD_NAME") == "second"
    for one in (centre, member):
        assert one.get("SEC_DEFAULT_AUTHENTICATION") == "REQUIRED"
        assert one.get("SEC_DEFAULT_ENCRYPTION") == "REQUIRED"


def allowed(subsystem: str, role: Role) -> set[Level]:
    """Return what the bearer of a token may do at a daemon of the centre."""
    lists = Authorization.from_settings(config(CENTRE, subsystem).get, subsystem)
    limits = scope_levels(" ".join(f"condor:/{level}" for level in role.levels))
    return set(lists.levels_of(f"{role}@members.here", "10.0.0.2", limits=limits)) - {Level.ALLOW}


READ, MASTER = Level.READ, Level.ADVERTISE_MASTER
STARTD, SCHEDD = Level.ADVERTISE_STARTD, Level.ADVERTISE_SCHEDD


@pytest.mark.parametrize(
    ("role", "at_collector", "at_negotiator"),
    [
        (Role.EXECUTE, {READ, MASTER, STARTD}, {READ}),
        (Role.SUBMIT, {READ, MASTER, SCHEDD}, {READ, SCHEDD}),
        (Role.BOTH, {READ, MASTER, STARTD, SCHEDD}, {READ, SCHEDD}),
    ],
)
def test_a_member_may_do_what_its_role_needs_and_nothing_else(
    role: Role, at_collector: set[Level], at_negotiator: set[Level]
) -> None:
    assert allowed("COLLECTOR", role) == at_collector
    assert allowed("NEGOTIATOR", role) == at_negotiator
    for other in ("SCHEDD", "STARTD", "MASTER"):
        assert allowed(other, role) == set()


def test_a_role_in_the_name_of_a_token_without_limits_does_not_grant_more() -> None:
    lists = Authorization.from_settings(config(CENTRE, "COLLECTOR").get, "COLLECTOR")
    assert not lists.allows(SCHEDD, "execute@members.here", "10.0.0.2")
    assert not lists.allows(Level.DAEMON, "both@members.here", "10.0.0.2")
    assert not lists.allows(STARTD, "execute@here", "10.0.0.2")


@pytest.mark.parametrize(
    ("text", "endpoint"),
    [
        ("cm", ("cm", 9618)),
        ("cm.example.org:1234", ("cm.example.org", 1234)),
        ("10.0.0.1", ("10.0.0.1", 9618)),
        ("[fd00::1]:77", ("fd00::1", 77)),
        ("[fd00::1]", ("fd00::1", 9618)),
        ("fd00::1", ("fd00::1", 9618)),
    ],
)
def test_an_endpoint_is_a_host_and_perhaps_a_port(text: str, endpoint: tuple[str, int]) -> None:
    assert parse_endpoint(text) == endpoint


@pytest.mark.parametrize(
    "text", ["", ":9618", "cm:port", "cm:0", "cm:65536", "a b", "<10.0.0.1:1>"]
)
def test_what_is_no_endpoint_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_endpoint(text)


def test_a_member_knows_its_own_ads() -> None:
    assert is_own_name(MEMBER, "slot1@second@host", "host")
    assert is_own_name(MEMBER, "second@host", "host")
    assert not is_own_name(MEMBER, "slot1@host", "host")
    nameless = Member("10.0.0.1", 9618, Role.EXECUTE, "10.0.0.2")
    assert is_own_name(nameless, "slot1_2@host", "host")
    assert not is_own_name(nameless, "slot1@second@host", "host")
    assert is_own_name(CENTRE, "anything", "host")
